"""What changes on the board, told to every page that is open on it, by server-sent events.

A process looks once every two seconds for all its connections together, and only while there are any: which lines were drawn since, and
whose sessions are still good. A page that was away says how far it had come and is told what it missed. To look on is not to use a
session: it ends when it would have ended, and the connection with it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from sqlalchemy import select
from sqlmodel import col

from deadlines import as_z
from service.access import Staff, still_signed_in
from service.board_tables import BoardLine
from service.errors import SpillclockError
from service.pages.board_rows import row_of
from service.pages.entrance import StaffRoute, watching
from service.pages.rendering import house_of
from service.pages.speech import ENGLISH, utc_mark
from service.transaction import House, reading

log = logging.getLogger(__name__)
router = APIRouter(prefix="/staff", include_in_schema=False, route_class=StaffRoute)

LOOK_SECONDS = 2.0
# Proxies hang up on what is silent for a minute, some sooner.
BEAT_SECONDS = 15.0
AGAIN_SECONDS = 5
MOST_PAGES, MOST_OF_A_SESSION = 300, 20
# A transaction is seen when it is over and dated when it began: so far back is looked each time, and what was told is not told again.
_OVERLAP = timedelta(seconds=30)
# Whoever was away for longer, or missed more, had better load the page.
_LONGEST_AWAY = timedelta(minutes=10)
_MOST_LINES = 500
_MOST_WAITING = 50


class TooManyPages(SpillclockError):
    """More pages are open on the board than one process serves."""

    status = 429
    title = "Too many pages"
    retry_after = 30


@dataclass(eq=False, slots=True)
class Listener:
    """One open page: whose it is, up to when it was told, what it was told lately, whether it was told to load anew
    because too much has changed, and what waits to be sent. None is the end."""

    staff: Staff
    since: datetime
    told: dict[int, tuple[int, datetime]] = field(default_factory=dict)
    is_behind: bool = False
    waiting: asyncio.Queue[str | None] = field(default_factory=lambda: asyncio.Queue(_MOST_WAITING + 1))

    def send(self, message: str | None) -> bool:
        """Let a message wait to be sent. Returns False where so many wait that nobody can be listening."""
        if message is not None and self.waiting.qsize() >= _MOST_WAITING:
            return False
        self.waiting.put_nowait(message)
        return True


class Live:
    """All pages of a process that are open on the board, and the one loop that looks for them."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._listeners: set[Listener] = set()
        self._looking: asyncio.Task[None] | None = None
        self._is_over = False

    def join(self, staff: Staff, since: datetime) -> Listener:
        """A page listens from a moment on. Raises TooManyPages."""
        mine = sum(1 for one in self._listeners if one.staff.credential == staff.credential)
        if self._is_over or len(self._listeners) >= MOST_PAGES or mine >= MOST_OF_A_SESSION:
            raise TooManyPages("more pages are open on the board than can be told what changes; load this page to see it")
        listener = Listener(staff, since)
        self._listeners.add(listener)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_again_and_again(), name="live board")
        return listener

    def leave(self, listener: Listener) -> None:
        """A page listens no more."""
        self._listeners.discard(listener)

    @property
    def pages(self) -> int:
        """How many pages listen."""
        return len(self._listeners)

    def close(self) -> None:
        """End every connection: the process stops. Pages come back by themselves, to whichever process there is then."""
        self._is_over = True
        self._dismiss(list(self._listeners))
        if self._looking is not None:
            self._looking.cancel()

    def _dismiss(self, listeners: Sequence[Listener]) -> None:
        for listener in listeners:
            self._listeners.discard(listener)
            listener.send(None)

    async def _look_again_and_again(self) -> None:
        while self._listeners:
            try:
                await self.look()
            except Exception:  # a blip of the database ends nothing; the pages show what they showed
                log.exception("what changes on the board could not be looked for; trying again")
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """Look once, and tell every page what changed since it was last told."""
        listeners = list(self._listeners)
        if not listeners:
            return
        async with reading(self._house) as tx:
            signed_in = await still_signed_in(tx, {one.staff.credential for one in listeners})
            since = min(one.since for one in listeners) - _OVERLAP
            query = select(BoardLine).where(col(BoardLine.drawn_at) >= since).order_by(col(BoardLine.drawn_at).desc())
            lines = list((await tx.session.execute(query.limit(_MOST_LINES + 1))).scalars())
            now = tx.now
        messages = {line.spill_id: told_of(self._house, line, now) for line in lines}
        for listener in listeners:
            staff = signed_in.get(listener.staff.credential)
            if staff is None:
                listener.send("event: end\ndata: {}\n\n")
                self._dismiss([listener])
                continue
            listener.staff = staff
            if not self._tell(listener, lines, messages, now):
                self._dismiss([listener])

    def _tell(self, listener: Listener, lines: Sequence[BoardLine], messages: Mapping[int, dict[str, Any]], now: datetime) -> bool:
        too_many, was_behind = len(lines) > _MOST_LINES, listener.is_behind
        listener.is_behind = too_many
        if too_many:
            listener.since = now
            return was_behind or listener.send("event: reload\ndata: {}\n\n")
        fresh = [
            line for line in reversed(lines)
            if line.drawn_at >= listener.since - _OVERLAP and listener.told.get(line.spill_id) != (line.draws, line.drawn_at)
            and listener.staff.may_see(line.city)
        ]  # fmt: skip
        listener.since = now
        listener.told = {
            number: drawn for number, drawn in {**listener.told, **{one.spill_id: (one.draws, one.drawn_at) for one in fresh}}.items()
            if drawn[1] >= now - 2 * _OVERLAP
        }  # fmt: skip
        if not fresh:
            return True
        data = json.dumps([messages[line.spill_id] for line in fresh], separators=(",", ":"))
        return listener.send(f"id: {utc_mark(now)}\nevent: spills\ndata: {data}\n\n")


def told_of(house: House, line: BoardLine, now: datetime) -> dict[str, Any]:
    """A line as it is told to pages: how the spill stands, what is due next, and where it belongs in the list."""
    row = row_of(house, line, now)
    return {
        "reference": line.reference, "state": row["state"], "word": row["word"], "due": as_z(line.due_at), "left": row["left"],
        "what": row["what"], "title": row["title"], "at_once": row["at_once"],
        "when": ENGLISH.when(line.due_at, row["zone"]) if line.due_at else "", "late": row["late"], "overdue": row["overdue"],
        "to_do": row["to_do"], "sort": row["sort"], "on": line.stands == "open", "first": line.city is None or line.alarms > 0,
    }  # fmt: skip


@router.get("/events")
async def events(request: Request) -> Response:
    """What changes on the board, as it changes. `since`: up to when a page shows it; a browser that comes back says that by itself."""
    staff = await watching(request)
    if "text/event-stream" not in request.headers.get("accept", ""):  # somebody opened the address itself
        return RedirectResponse("/staff", 303)
    live: Live = request.app.state.live
    now = house_of(request).now()
    since = _moment(request.headers.get("last-event-id", "")) or _moment(request.query_params.get("since", "")) or now
    is_stale = since < now - _LONGEST_AWAY
    listener = live.join(staff, now if is_stale or since > now else since)
    headers = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
    return StreamingResponse(_stream(live, listener, is_stale=is_stale), media_type="text/event-stream", headers=headers)


def _moment(said: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(said)
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else None


async def _stream(live: Live, listener: Listener, *, is_stale: bool) -> AsyncIterator[str]:
    try:
        yield f"retry: {AGAIN_SECONDS * 1000}\n\n"
        if is_stale:
            yield "event: reload\ndata: {}\n\n"
        while True:
            try:
                message = await asyncio.wait_for(listener.waiting.get(), BEAT_SECONDS)
            except TimeoutError:
                message = ": still here\n\n"
            if message is None:
                return
            yield message
    finally:
        live.leave(listener)
