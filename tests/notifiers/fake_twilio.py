"""Twilio's "create a message" and "create a call" on 127.0.0.1, checked against Twilio's own published descriptions.

It also calls back, as Twilio does, with its signature: what became of a message or a call, a key that was pressed, a text that came in.

    response = await twilio.call_back(client, url, {"MessageSid": "SM...", "MessageStatus": "delivered"})
    await twilio.tell_status(client, twilio.taken[0], "delivered")        # to the StatusCallback that our request named
    await twilio.tell_status(client, twilio.calls[0], "completed", AnsweredBy="human")
    await twilio.press(client, twilio.calls[0], "1")                      # to the action that our TwiML named
    await twilio.text_in(client, "https://spills.example.gov/hooks/twilio/sms", "+19095550100", "ACK")

`client` is an httpx.AsyncClient that leads to the application, as Household.client() is.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl
from xml.etree import ElementTree

import httpx
import jsonschema
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


def _specification(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
    return found


SPECIFICATION = _specification("twilio_create_message.json")
CALLS = _specification("twilio_create_call.json")
PATH = "/2010-04-01/Accounts/{AccountSid}/Messages.json"
CALLS_PATH = "/2010-04-01/Accounts/{AccountSid}/Calls.json"
ACCOUNT_PATH = "/2010-04-01/Accounts/{AccountSid}.json"
ACCOUNT_SID = "AC0123456789abcdef0123456789abcdef"
TOKEN = "a-token-that-nobody-may-see"
_CREATE = SPECIFICATION["paths"][PATH]["post"]
_CREATE_CALL = CALLS["paths"][CALLS_PATH]["post"]


@dataclass(frozen=True)
class TakenSms:
    """One request that was taken: its form fields, its headers and the sid that was given out for it."""

    form: dict[str, str]
    headers: dict[str, str]
    sid: str


@dataclass(frozen=True)
class TakenCall(TakenSms):
    """One call that was taken. What it says is TwiML, read as XML."""

    @property
    def course(self) -> ElementTree.Element:
        """The TwiML of the call."""
        return ElementTree.fromstring(self.form["Twiml"])  # noqa: S314 - ours

    @property
    def said(self) -> list[str]:
        """What is said, in order."""
        return ["".join(say.itertext()) for say in self.course.iter("Say")]

    @property
    def action(self) -> str:
        """Where a pressed key is told."""
        return next(self.course.iter("Gather")).attrib["action"]


class FakeTwilio:
    """Takes what a real one takes. `answer` is given in place of the ordinary one; `wait_seconds` passes before any answer."""

    def __init__(self) -> None:
        self.taken: list[TakenSms] = []
        self.calls: list[TakenCall] = []
        self.account_status = "active"
        self.complaints: list[str] = []  # what is wrong with our requests by Twilio's description
        self.answer: Response | None = None
        self.wait_seconds = 0.0
        self.texts_in = 0
        self.asked = asyncio.Event()  # set by the first request
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        routes = [
            Route(PATH, self._create, methods=["POST"]),
            Route(CALLS_PATH, self._create_call, methods=["POST"]),
            Route(ACCOUNT_PATH, self._account, methods=["GET"]),
        ]
        config = uvicorn.Config(Starlette(routes=routes), log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=1)
        self._server = QuietServer(config)
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
        form, refusal = await self._look_at(request, _CREATE, _faults)
        if refusal is not None:
            return refusal
        sid = f"SM{len(self.taken) + 1:032x}"
        self.taken.append(TakenSms(form, dict(request.headers), sid))
        return JSONResponse(message(sid, form), status_code=201)

    async def _create_call(self, request: Request) -> Response:
        form, refusal = await self._look_at(request, _CREATE_CALL, _call_faults)
        if refusal is not None:
            return refusal
        sid = f"CA{len(self.calls) + 1:032x}"
        self.calls.append(TakenCall(form, dict(request.headers), sid))
        return JSONResponse(call(sid, form), status_code=201)

    async def _account(self, request: Request) -> Response:
        self.asked.set()
        await asyncio.sleep(self.wait_seconds)
        if not _is_us(request):
            return error(401, 20003, "Authenticate")
        return self.answer or JSONResponse({"sid": ACCOUNT_SID, "status": self.account_status, "type": "Full"})

    async def _look_at(
        self, request: Request, described: Mapping[str, Any], faults_of: Callable[[dict[str, str]], list[str]]
    ) -> tuple[dict[str, str], Response | None]:
        """The form of a request, and what it is answered with where it is not taken."""
        self.asked.set()
        await asyncio.sleep(self.wait_seconds)
        form = dict(parse_qsl((await request.body()).decode(), keep_blank_values=True, strict_parsing=True))
        if not _is_us(request):
            return form, error(401, 20003, "Authenticate")
        if faults := [*_content_type_faults(request, described), *faults_of(form)]:
            self.complaints += faults
            return form, error(400, 20001, "; ".join(faults))
        return form, self.answer

    # -- what Twilio sends us

    async def call_back(self, client: httpx.AsyncClient, url: str, form: Mapping[str, str], **headers: str) -> httpx.Response:
        """Post a form to an address of ours as Twilio does, signed for that very address."""
        whole = {"AccountSid": ACCOUNT_SID, "ApiVersion": "2010-04-01", **form}
        return await client.post(url, data=whole, headers={"X-Twilio-Signature": signature(url, whole), **headers})

    async def tell_status(self, client: httpx.AsyncClient, taken: TakenSms, status: str, **more: str) -> httpx.Response:
        """Tell what became of a message or a call, at the StatusCallback that it was created with."""
        ends = {"From": taken.form.get("From", ""), "To": taken.form["To"]}
        if isinstance(taken, TakenCall):
            told = {"CallSid": taken.sid, "CallStatus": status, "Direction": "outbound-api", **ends}
        else:
            told = {"MessageSid": taken.sid, "SmsSid": taken.sid, "MessageStatus": status, "SmsStatus": status, **ends}
        return await self.call_back(client, taken.form["StatusCallback"], {**told, **more})

    async def press(self, client: httpx.AsyncClient, taken: TakenCall, digit: str, **more: str) -> httpx.Response:
        """Tell a key that was pressed, at the action that the TwiML of the call named."""
        told = {"CallSid": taken.sid, "CallStatus": "in-progress", "From": taken.form["From"], "To": taken.form["To"], "Digits": digit}
        return await self.call_back(client, taken.action, {**told, **more})

    async def text_in(
        self, client: httpx.AsyncClient, url: str, sender: str, text: str, to: str = "+19095550123", sid: str | None = None, **more: str
    ) -> httpx.Response:
        """Pass on a text that somebody sent to our number, each with an id of its own unless it is the same one once more."""
        self.texts_in += 1
        sid = sid or f"SM{0xFFFF0000 + self.texts_in:032x}"
        told = {"MessageSid": sid, "SmsSid": sid, "From": sender, "To": to, "Body": text, "NumMedia": "0", "NumSegments": "1"}
        return await self.call_back(client, url, {**told, **more})


class QuietServer(uvicorn.Server):
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


def call(sid: str, form: dict[str, str], status: str = "queued") -> dict[str, Any]:
    """A created call as Twilio answers it: its published example with our values, checked against its published schema."""
    created = _CREATE_CALL["responses"]["201"]["content"]["application/json"]
    example = created["examples"]["createWithTwiml"]["value"]
    answer: dict[str, Any] = example | {"sid": sid, "to": form["To"], "from": form["From"], "status": status, "direction": "outbound-api"}
    jsonschema.validate(answer, _closed(_nullable(created["schema"]), CALLS))
    return answer


def signature(url: str, form: Mapping[str, str], token: str = TOKEN) -> str:
    """X-Twilio-Signature: HMAC-SHA1 over the address and, sorted by name, every name with its value."""
    told = url + "".join(f"{name}{form[name]}" for name in sorted(form))
    return base64.b64encode(hmac.new(token.encode(), told.encode(), hashlib.sha1).digest()).decode()


def _is_us(request: Request) -> bool:
    login = request.headers.get("authorization") == _basic(ACCOUNT_SID, TOKEN)
    return login and request.path_params["AccountSid"] == ACCOUNT_SID


def _basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def _content_type_faults(request: Request, described: Mapping[str, Any]) -> list[str]:
    [expected] = described["requestBody"]["content"]
    given = request.headers.get("content-type")
    return [] if given == expected else [f"content type {given}, not {expected}"]


def _form_faults(form: dict[str, str], described: Mapping[str, Any], specification: dict[str, Any]) -> list[str]:
    schema = described["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]
    validator = jsonschema.Draft202012Validator(_closed(schema | {"additionalProperties": False}, specification))
    read = {name: _read(value, schema["properties"].get(name, {}).get("type")) for name, value in form.items()}
    return [fault.message for fault in validator.iter_errors(read)]


def _read(value: str, kind: str | None) -> Any:
    """A value of a form as the type that its description names, where it can be read as one."""
    if kind == "integer" and value.isdigit():
        return int(value)
    return {"true": True, "false": False}.get(value, value) if kind == "boolean" else value


def _faults(form: dict[str, str]) -> list[str]:
    faults = _form_faults(form, _CREATE, SPECIFICATION)
    # What the description says in words only: E.164, one of two senders, a body of at most 1,600 characters.
    if not re.fullmatch(r"\+[1-9]\d{6,14}", form.get("To", "")):
        faults.append("To is not E.164")
    if ("From" in form) == ("MessagingServiceSid" in form):
        faults.append("one of From and MessagingServiceSid is needed")
    if not 1 <= len(form.get("Body", "")) <= 1600:
        faults.append("Body is empty or over 1600 characters")
    return faults + _callback_faults(form)


def _call_faults(form: dict[str, str]) -> list[str]:
    faults = _form_faults(form, _CREATE_CALL, CALLS)
    # What the description says in words only.
    faults += [f"{end} is not E.164" for end in ("To", "From") if not re.fullmatch(r"\+[1-9]\d{6,14}", form.get(end, ""))]
    if "Url" in form or len(form.get("Twiml", "")) > 4000:
        faults.append("Twiml stands beside Url, or is over 4000 characters")
    if form.get("MachineDetection", "Enable") not in ("Enable", "DetectMessageEnd") or int(form.get("Timeout", "60")) > 600:
        faults.append("MachineDetection or Timeout has a value that the description does not name")
    try:
        root = ElementTree.fromstring(form.get("Twiml", ""))  # noqa: S314 - ours
    except ElementTree.ParseError as fault:
        return [*faults, f"Twiml is no XML: {fault}"]
    if root.tag != "Response" or {element.tag for element in root.iter()} - {"Response", "Gather", "Say", "Pause", "Hangup"}:
        faults.append("Twiml is no Response, or has a verb that is not Twilio's or not ours")
    return faults + _callback_faults(form)


def _callback_faults(form: dict[str, str]) -> list[str]:
    """Twilio asks for a valid host name, without underscores."""
    named = [form[name] for name in ("StatusCallback", "AsyncAmdStatusCallback") if name in form]
    return [f"{url} is no address to call back" for url in named if not re.fullmatch(r"https?://[A-Za-z0-9.-]+(:\d+)?/\S*", url)]


def _closed(schema: dict[str, Any], specification: dict[str, Any] = SPECIFICATION) -> dict[str, Any]:
    """The schema with the components that its references point to."""
    return {**schema, "components": _nullable(specification["components"])}


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
