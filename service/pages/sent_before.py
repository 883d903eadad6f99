"""What a browser has just sent: a signed note in a cookie, by which a report that is sent again is told of before it is kept twice.

The note names the report and holds digests of what was typed, nothing that was. It tells of the same browser alone: an address of the
network is shared by whole offices, and a private page must not open to a neighbour who typed the same words. Nothing is refused for it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from datetime import UTC, datetime, timedelta

from fastapi import Request
from fastapi.responses import Response

from service.errors import NotKnown
from service.pages.fields import Fields
from service.pages.rendering import house_of, is_secure
from service.parties import status_url
from service.transaction import House, reading

COOKIE = "spillclock_sent"
# Whoever goes back and presses the button again does so within minutes.
LASTS = timedelta(minutes=30)
_MOST_NOTES = 3
_NOTE = re.compile(
    r"(?P<body>(?P<reference>SP-\d{4}-\d{5,12})\.(?P<at>\d{10})\.(?P<typed>[0-9a-f]{32})\.(?P<once>[0-9a-f]{8}))\.(?P<mac>[0-9a-f]{32})"
)
# Not what was typed: the showing of the form, what scripts put in, the language of the page, and the buttons.
_NOT_TYPED = ("once", "proof", "seen_chosen_at", "turn", "another", "language")


async def report_sent_before(request: Request, fields: Fields) -> tuple[str, str] | None:
    """The reference of the report that this browser sent with the same words on another showing of the form, and the path of its page."""
    house = house_of(request)
    typed, once = _digest(_typed(fields)), _digest(fields.text("once"))[:8]
    for note in _notes(house, request.cookies.get(COOKIE, ""), house.now()):
        if note["typed"] == typed and note["once"] != once:
            try:
                async with reading(house) as tx:
                    return note["reference"], status_url(house, await tx.spill(note["reference"])).removeprefix(house.settings.public_url)
            except NotKnown:  # of a database that was put back since
                return None
    return None


def note_sent(request: Request, response: Response, reference: str, fields: Fields) -> None:
    """Have the browser keep a note of the report that it sent, beside those of the last half an hour."""
    house, now = house_of(request), house_of(request).now()
    body = f"{reference}.{int(now.timestamp()):010d}.{_digest(_typed(fields))}.{_digest(fields.text('once'))[:8]}"
    before = [note[0] for note in _notes(house, request.cookies.get(COOKIE, ""), now) if note["body"] != body]
    kept = "~".join([f"{body}.{_mac(house, body)}", *before][:_MOST_NOTES])
    response.set_cookie(
        COOKIE, kept, max_age=int(LASTS.total_seconds()), path="/report", samesite="lax", httponly=True, secure=is_secure(house)
    )  # fmt: skip


def _notes(house: House, cookie: str, now: datetime) -> list[re.Match[str]]:
    """The notes of a cookie that are ours and fresh."""
    found = [note for part in cookie.split("~")[:_MOST_NOTES] if (note := _NOTE.fullmatch(part))]
    return [
        note
        for note in found
        if hmac.compare_digest(_mac(house, note["body"]), note["mac"])
        and timedelta() <= now - datetime.fromtimestamp(int(note["at"]), UTC) + timedelta(seconds=1) <= LASTS
    ]


def _mac(house: House, body: str) -> str:
    return hmac.new(house.signing_key, f"sent|{body}".encode(), hashlib.sha256).hexdigest()[:32]


def _typed(fields: Fields) -> str:
    return json.dumps(sorted((name, list(values)) for name, values in fields.values.items() if name not in _NOT_TYPED))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
