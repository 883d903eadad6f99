"""Twilio's "create a message" on 127.0.0.1, checked against Twilio's own published description."""

import asyncio
import base64
import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl

import jsonschema
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

SPECIFICATION: dict[str, Any] = json.loads((Path(__file__).parent / "twilio_create_message.json").read_text(encoding="utf-8"))
PATH = "/2010-04-01/Accounts/{AccountSid}/Messages.json"
ACCOUNT_SID = "AC0123456789abcdef0123456789abcdef"
TOKEN = "a-token-that-nobody-may-see"
_CREATE = SPECIFICATION["paths"][PATH]["post"]


@dataclass(frozen=True)
class TakenSms:
    """One request that was taken: its form fields, its headers and the sid that was given out for it."""

    form: dict[str, str]
    headers: dict[str, str]
    sid: str


class FakeTwilio:
    """Takes what a real one takes. `answer` is given in place of the ordinary one; `wait_seconds` passes before any answer."""

    def __init__(self) -> None:
        self.taken: list[TakenSms] = []
        self.complaints: list[str] = []  # what is wrong with our requests by Twilio's description
        self.answer: Response | None = None
        self.wait_seconds = 0.0
        self.asked = asyncio.Event()  # set by the first request
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        routes = [Route(PATH, self._create, methods=["POST"])]
        config = uvicorn.Config(Starlette(routes=routes), log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=1)
        self._server = _Server(config)
        self._task: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    async def __aenter__(self) -> Self:
        self._task = asyncio.ensure_future(self._server.serve(sockets=[self._socket]))
        await self._server.ready.wait()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.should_exit = self._server.force_exit = True
        assert self._task is not None
        await self._task
        self._socket.close()

    async def _create(self, request: Request) -> Response:
        self.asked.set()
        await asyncio.sleep(self.wait_seconds)
        form = dict(parse_qsl((await request.body()).decode(), keep_blank_values=True, strict_parsing=True))
        if request.headers.get("authorization") != _basic(ACCOUNT_SID, TOKEN) or request.path_params["AccountSid"] != ACCOUNT_SID:
            return error(401, 20003, "Authenticate")
        if faults := [*_content_type_faults(request), *_faults(form)]:
            self.complaints += faults
            return error(400, 20001, "; ".join(faults))
        if self.answer is not None:
            return self.answer
        sid = f"SM{len(self.taken) + 1:032x}"
        self.taken.append(TakenSms(form, dict(request.headers), sid))
        return JSONResponse(message(sid, form), status_code=201)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # Ctrl-C belongs to pytest


def error(status: int, code: int, text: str) -> JSONResponse:
    """An error in the form that Twilio gives it."""
    more = f"https://www.twilio.com/docs/errors/{code}"
    return JSONResponse({"code": code, "message": text, "more_info": more, "status": status}, status_code=status)


def message(sid: str, form: dict[str, str], status: str = "queued") -> dict[str, Any]:
    """A created message as Twilio answers it: its published example with our values, checked against its published schema."""
    created = _CREATE["responses"]["201"]["content"]["application/json"]
    answer: dict[str, Any] = created["examples"]["create"]["value"] | {"sid": sid, "to": form["To"], "body": form["Body"], "status": status}
    jsonschema.validate(answer, _closed(_nullable(created["schema"])))
    return answer


def _basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def _content_type_faults(request: Request) -> list[str]:
    [expected] = _CREATE["requestBody"]["content"]
    given = request.headers.get("content-type")
    return [] if given == expected else [f"content type {given}, not {expected}"]


def _faults(form: dict[str, str]) -> list[str]:
    schema = _CREATE["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]
    validator = jsonschema.Draft202012Validator(_closed(schema | {"additionalProperties": False}))
    faults = [fault.message for fault in validator.iter_errors(form)]
    # What the description says in words only: E.164, one of two senders, a body of at most 1,600 characters.
    if not re.fullmatch(r"\+[1-9]\d{6,14}", form.get("To", "")):
        faults.append("To is not E.164")
    if ("From" in form) == ("MessagingServiceSid" in form):
        faults.append("one of From and MessagingServiceSid is needed")
    if not 1 <= len(form.get("Body", "")) <= 1600:
        faults.append("Body is empty or over 1600 characters")
    return faults


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with the components that its references point to."""
    return {**schema, "components": _nullable(SPECIFICATION["components"])}


def _nullable(schema: Any) -> Any:
    """OpenAPI 3.0's `nullable` in the words of JSON Schema."""
    if isinstance(schema, list):
        return [_nullable(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {name: _nullable(part) for name, part in schema.items()}
    if changed.pop("nullable", None) is True and isinstance(changed.get("type"), str):
        changed["type"] = [changed["type"], "null"]
    return changed
