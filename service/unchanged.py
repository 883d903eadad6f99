"""Answers that a caller may have already: with ETag and Last-Modified, and 304 without a body where nothing changed (RFC 9110, 13)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime

from fastapi import Request, Response

FRESH_SECONDS = 60
_A_SECOND = timedelta(seconds=1)


def answer(
    request: Request,
    content: bytes,
    media_type: str,
    *,
    changed_at: datetime | None,
    now: datetime,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The content, or 304 where the caller names its ETag, or without one a time since which nothing changed.

    `changed_at`: the last change of anything that the content is made of, also of what has left it; None where that is not known. It is
    told in whole seconds, and so not before its second is over. The answer may be kept for a minute.
    """
    mark = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    told = {"ETag": mark, "Cache-Control": f"public, max-age={FRESH_SECONDS}", **(headers or {})}
    since = None
    if changed_at is not None and now - (second := changed_at.replace(microsecond=0)) > _A_SECOND:
        since = second
        told["Last-Modified"] = format_datetime(second.astimezone(UTC), usegmt=True)
    return Response(status_code=304, headers=told) if _has_it(request, mark, since) else Response(content, 200, told, media_type)


def _has_it(request: Request, mark: str, since: datetime | None) -> bool:
    given = request.headers.get("if-none-match")
    if given is not None:
        return bool({part.strip().removeprefix("W/") for part in given.split(",")} & {mark, "*"})
    try:
        known = parsedate_to_datetime(request.headers.get("if-modified-since", ""))
    except ValueError:
        return False  # RFC 9110, 13.1.3: what is no date is passed over
    return since is not None and since <= (known if known.tzinfo else known.replace(tzinfo=UTC))
