"""Answers as GeoReport v2 has them: lists of objects in JSON, the same as elements in XML, and errors with a code and a sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from fastapi import Request
from fastapi.responses import Response

from service.errors import BadInput, NotAllowed, NotKnown, NotSignedIn, SpillclockError
from service.xml_writing import child, document, element, sayable

MEDIA_TYPES = {"json": "application/json; charset=utf-8", "xml": "text/xml; charset=utf-8"}
# How one of a list is called, by what the list is called.
_ONE_OF = {
    "services": "service", "service_requests": "request", "attributes": "attribute", "values": "value", "errors": "error",
    "endpoints": "endpoint", "formats": "format",
}  # fmt: skip
_STATUSES = ((NotKnown, 404), (NotSignedIn, 403), (NotAllowed, 403), (BadInput, 400))


class NoSuchFormat(NotKnown):
    """Something else than JSON or XML was asked for."""


def written(name: str, told: Any, form: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """What is told, as the elements of `name` or as JSON. Raises NoSuchFormat."""
    return Response(content_of(name, told, form), status, dict(headers or {}), media_type=MEDIA_TYPES[form])


def content_of(name: str, told: Any, form: str) -> bytes:
    """The same as bytes. Raises NoSuchFormat."""
    if form == "json":
        return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
    if form == "xml":
        root = element(name)
        _fill(root, name, told)
        return document(root)
    raise NoSuchFormat(f"there is no format {form[:20]!r}; right would be: json or xml")


def _fill(at: Element, name: str, told: Any) -> None:
    if isinstance(told, Mapping):
        for key, value in told.items():
            _fill(child(at, key), key, value)
    elif isinstance(told, Sequence) and not isinstance(told, str):
        for one in told:
            _fill(child(at, _ONE_OF[name]), "", one)
    elif told is not None:
        at.text = sayable(str(told).lower() if isinstance(told, bool) else str(told))


def fault(request: Request, error: SpillclockError, form: str) -> Response:
    """An error as the standard has it: its code is also that of the answer."""
    status = next((code for kind, code in _STATUSES if isinstance(error, kind)), error.status)
    told = [{"code": status, "description": line} for line in (error.faults or [str(error)])]
    headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    chosen = form if form in MEDIA_TYPES else "xml" if "xml" in request.headers.get("accept", "") else "json"
    return written("errors", told, chosen, status, headers)
