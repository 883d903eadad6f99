"""What providers call: Twilio about texts and calls, signed; and inbound mail, with a secret."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Sequence
from html import escape
from urllib.parse import parse_qsl, urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from notifiers.spoken import spoken
from notifiers.voice import call_twiml, goodbye_twiml, recorded_twiml
from service import bounces, mailed_reports, receipts, replies
from service.errors import NotAllowed, NotKnown
from service.incoming_bodies import MAX_MAIL_BYTES, read_mail
from service.settings import Settings
from service.transaction import House, transaction

router = APIRouter(prefix="/hooks", include_in_schema=False)
_Form = Sequence[tuple[str, str]]
_PORTS = {"https": 443, "http": 80}


def _house(request: Request) -> House:
    house: House = request.app.state.house
    return house


@router.post("/twilio/status/{key}")
async def status(request: Request, key: str) -> Response:
    """What became of a text or a call."""
    form = await _signed(request)
    async with transaction(_house(request), "twilio") as tx:
        message = await receipts.message_of(tx, key)
        if message is None:
            raise NotKnown("there is no such message")
        await receipts.note_from_twilio(tx, message, form)
    return Response(status_code=204)


@router.post("/twilio/sms")
async def text(request: Request) -> Response:
    """A text that came in, and what it is answered."""
    answer = await replies.take_text(_house(request), await _signed(request))
    return _twiml(f"<Response>{f'<Message>{escape(answer, quote=False)}</Message>' if answer else ''}</Response>")


@router.post("/twilio/voice/{key}")
async def voice(request: Request, key: str) -> Response:
    """The key that was pressed in a call: 1 acknowledges, 2 says it again, anything else ends it."""
    form, house = await _signed(request), _house(request)
    digit = form.get("Digits", "")
    message = await replies.take_key(house, key, digit, form.get("CallSid", ""))
    if message is None:
        raise NotKnown("there is no such message")
    match digit:
        case "1":
            course = recorded_twiml(message.language)
        case "2":
            course = call_twiml(spoken(message.text, message.language), message.language, f"{house.settings.public_url}{request.url.path}")
        case _:
            course = goodbye_twiml(message.language)
    return _twiml(course.partition("?>")[2])


def _twiml(course: str) -> Response:
    return Response(f'<?xml version="1.0" encoding="UTF-8"?>{course}', media_type="application/xml")


async def _signed(request: Request) -> dict[str, str]:
    """The form of a call that Twilio signed. Raises NotAllowed for any other, whatever is wrong with it."""
    body = (await request.body()).decode("utf-8", "replace")
    form = parse_qsl(body, keep_blank_values=True)
    settings = _house(request).settings
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    given = request.headers.get("x-twilio-signature", "")
    token = settings.twilio_auth_token.get_secret_value()
    # All are compared, so that the time taken tells nothing.
    right = [hmac.compare_digest(signature(url, form, token).encode(), given.encode()) for url in _as_called(settings, path)]
    if not token or not any(right):
        raise NotAllowed("this call is not signed by the account's token, for this address")
    return dict(form)


def _as_called(settings: Settings, path: str) -> list[str]:
    """The address as it was told to Twilio: the public one, whatever a proxy made of host and scheme. Twilio may name the port or not."""
    base = settings.public_url
    parts = urlsplit(base)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    bare = parts._replace(netloc=host).geturl()
    ported = parts._replace(netloc=f"{host}:{parts.port or _PORTS.get(parts.scheme, 443)}").geturl()
    return [f"{each}{path}" for each in dict.fromkeys((base, bare, ported))]


def signature(url: str, form: _Form, token: str) -> str:
    """X-Twilio-Signature: HMAC-SHA1 over the address and the sorted fields, each name with its value."""
    told = url + "".join(f"{name}{value}" for name, value in sorted(set(form)))
    return base64.b64encode(hmac.new(token.encode(), told.encode(), hashlib.sha1).digest()).decode()


@router.post("/mail")
async def mail(request: Request) -> Response:
    """A mail as it came (RFC 822), from a pipe or a provider's inbound route, which may also send it as the field `email` of a form."""
    house = _house(request)
    _require_secret(request, house.settings.mail_hook_secret.get_secret_value())
    raw, recipient = await read_mail(request)
    return JSONResponse({"taken": await bounces.take_mail(house, raw, recipient or request.query_params.get("recipient", ""))}, 202)


@router.post("/mail/report")
async def mailed_report(request: Request) -> Response:
    """A mail to the mailbox for reports, whole, from a pipe or a provider's inbound route as above. It becomes a report."""
    house = _house(request)
    _require_secret(request, house.settings.mail_hook_secret.get_secret_value())
    raw, _ = await read_mail(request, MAX_MAIL_BYTES)
    return JSONResponse({"taken": await mailed_reports.take_report(house, raw)}, 202)


def _require_secret(request: Request, secret: str) -> None:
    """The secret as a bearer token, or as the password of a basic login, which is all that some providers can send."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        try:
            given = base64.b64decode(given).decode("utf-8", "replace").partition(":")[2]
        except ValueError:
            given = ""
    elif scheme.lower() != "bearer":
        given = ""
    same = hmac.compare_digest(given.strip().encode("utf-8", "replace"), secret.encode())
    if not secret or not same:
        raise NotAllowed("this call needs the secret of SPILLCLOCK_MAIL_HOOK_SECRET")
