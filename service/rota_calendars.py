"""Rotas kept elsewhere: an iCalendar address is fetched, its entries of the next weeks are matched with contacts and kept as shifts.

What is fetched was named by a manager and written by who knows whom: only public addresses are asked, for so long and so much, and a rule
of repetition is worked out in a window of some weeks. A reading that fails keeps what was read before.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx
from dateutil.rrule import rrulestr
from icalendar import Calendar
from sqlalchemy import select
from sqlmodel import col

from notifiers.public_addresses import Resolve, address_of, is_local_name, is_public, resolve
from service.errors import BadInput
from service.on_call import IMPORTED, forget_rosters, roster_of
from service.quiet_hours import instant
from service.tables import Contact, Rota, Shift
from service.transaction import House, Transaction, reading, transaction

READ_EVERY = timedelta(minutes=15)
BEHIND, AHEAD = timedelta(days=2), timedelta(days=70)
_LONGEST_ADDRESS, _LONGEST_BYTES, _TIMEOUT_SECONDS, _WHOLE_SECONDS = 2000, 1_000_000, 10.0, 30.0
_MOST_ENTRIES, _MOST_RULES, _MOST_SHIFTS = 3000, 100, 2000
_OLDEST_RULE = timedelta(days=20 * 366)
# Rules of a rota are made of these; others can take a machine minutes to find that they never apply.
_PARTS = {
    "DAILY": {"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY"},
    "WEEKLY": {"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY"},
    "MONTHLY": {"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", "BYMONTHDAY"},
    "YEARLY": {"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", "BYMONTHDAY", "BYMONTH"},
}
_RIGHT = "right would be: https://calendar.example.gov/on-call.ics"


@dataclass(frozen=True, slots=True)
class Entry:
    """One time of a calendar: from when to when (UTC), whom it names, under which UID."""

    starts_at: datetime
    ends_at: datetime
    uid: str
    summary: str
    emails: tuple[str, ...]


def problem_with_calendar(url: str, *, allow_private: bool = False) -> str | None:
    """What is wrong with the address of a calendar and what would be right; None if it can be tried."""
    if len(url) > _LONGEST_ADDRESS or not url.isascii() or not url.isprintable() or " " in url:
        return f"it is too long, or has a space or a letter outside a-z in it; {_RIGHT}"
    try:
        parts = httpx.URL(_https(url))
    except httpx.InvalidURL:
        return f"it cannot be read as a web address; {_RIGHT}"
    if parts.scheme != "https" and not (allow_private and parts.scheme == "http"):
        return f"it does not begin with https://; {_RIGHT}"
    if not parts.host or parts.port == 0:
        return f"it names no machine; {_RIGHT}"
    literal = address_of(parts.host)
    if not allow_private and (is_local_name(parts.host) if literal is None else not is_public(literal)):
        return f"{parts.host} is a name or address of a private network, and nothing is fetched from those; {_RIGHT}"
    return None


def _https(url: str) -> str:
    return re.sub(r"^webcal://", "https://", url, flags=re.IGNORECASE)


async def fetch(url: str, *, allow_private: bool = False, tls_context: ssl.SSLContext | None = None, resolver: Resolve = resolve) -> bytes:
    """What a calendar's address holds. Raises BadInput with the reason in words: it cannot be used, reached or read, or is too large."""
    if problem := problem_with_calendar(url, allow_private=allow_private):
        raise BadInput(problem)
    parts = httpx.URL(_https(url))
    # No proxy of the machine: it would resolve the name once more, to whatever it leads to by then.
    transport = httpx.AsyncHTTPTransport(verify=tls_context or True, trust_env=False)
    try:
        async with asyncio.timeout(_WHOLE_SECONDS):
            return await _get(transport, parts, await _address(parts, resolver, allow_private=allow_private))
    except (httpx.HTTPError, OSError, TimeoutError) as error:
        raise BadInput(f"it could not be fetched: {str(error)[:200] or type(error).__name__}") from None
    finally:
        await transport.aclose()


async def _address(url: httpx.URL, resolver: Resolve, *, allow_private: bool) -> str:
    literal = address_of(url.host)
    found = [str(literal)] if literal else await resolver(url.host, url.port or {"http": 80}.get(url.scheme, 443))
    private = [] if allow_private else [address for address in found if not is_public(address)]
    if private or not found:
        raise BadInput(f"{url.host} leads to {private[0]}, of a private network" if private else f"{url.host} has no address")
    return found[0]


async def _get(transport: httpx.AsyncHTTPTransport, url: httpx.URL, address: str) -> bytes:
    request = httpx.Request(
        "GET",
        url.copy_with(host=address),
        headers={"Host": url.netloc.decode("ascii"), "User-Agent": "Spillclock", "Accept": "text/calendar", "Accept-Encoding": "identity"},
        extensions={"sni_hostname": url.host, "timeout": httpx.Timeout(_TIMEOUT_SECONDS).as_dict()},
    )
    response = await transport.handle_async_request(request)
    try:
        if 300 <= response.status_code < 400:
            raise BadInput(f"it has moved to {response.headers.get('location', 'somewhere else')[:200]}; enter that address")
        if response.status_code != 200:
            raise BadInput(f"its server answered {response.status_code}")
        body = b""
        async for chunk in response.aiter_raw(65536):
            body += chunk
            if len(body) > _LONGEST_BYTES:
                raise BadInput(f"it is larger than {_LONGEST_BYTES // 1000} kB")
        return body
    finally:
        await response.aclose()


def entries_of(content: bytes, zone: ZoneInfo, handover: time, now: datetime) -> list[Entry]:
    """The entries of a calendar around now. A day without a time runs from handover to handover. Raises BadInput for no calendar."""
    try:
        calendar = Calendar.from_ical(content)
    except (ValueError, IndexError, KeyError) as error:
        raise BadInput(f"it is no calendar: {str(error)[:200]}") from None
    events = list(calendar.walk("VEVENT"))
    if calendar.name != "VCALENDAR":
        raise BadInput("it is no calendar")
    if len(events) > _MOST_ENTRIES:
        raise BadInput(f"it has more than {_MOST_ENTRIES} entries")
    if sum("RRULE" in event for event in events) > _MOST_RULES:
        raise BadInput(f"it has more than {_MOST_RULES} entries that repeat")
    reader = _Reader(zone, handover, now - BEHIND, now + AHEAD)
    # An entry of one occurrence that was changed stands beside the one that repeats, and takes its place.
    changed = {(_text(event, "UID"), reader.moment(event.decoded("RECURRENCE-ID"))) for event in events if "RECURRENCE-ID" in event}
    found: list[Entry] = []
    for event in events:
        if _text(event, "STATUS").upper() == "CANCELLED" or "DTSTART" not in event:
            continue
        alone = "RECURRENCE-ID" in event
        found += [one for one in reader.entries(event) if alone or (one.uid, one.starts_at) not in changed]
        if len(found) > _MOST_SHIFTS:
            raise BadInput(f"it has more than {_MOST_SHIFTS} times in the next weeks")
    return found


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the entries of one calendar, for a span of time, with the city's zone for times that name none."""

    zone: ZoneInfo
    handover: time
    since: datetime
    until: datetime

    def moment(self, value: date | datetime) -> datetime:
        """A value as a moment (UTC)."""
        naive, zone = self._local(value)
        return instant(naive.date(), naive.time(), zone) if isinstance(zone, ZoneInfo) else naive.replace(tzinfo=zone).astimezone(UTC)

    def _local(self, value: date | datetime) -> tuple[datetime, Any]:
        """A value as a local time and its zone."""
        if not isinstance(value, datetime):
            return datetime.combine(value, self.handover), self.zone
        return value.replace(tzinfo=None), value.tzinfo or self.zone

    def entries(self, event: Any) -> Iterator[Entry]:
        """Every time of an entry that touches the span."""
        begins, zone = self._local(event.decoded("DTSTART"))
        length = self._length(event, begins)
        left_out = {self.moment(value) for value in _dates(event, "EXDATE")}
        starts = [begins, *(self._local(value)[0] for value in _dates(event, "RDATE"))]
        if "RRULE" in event and "RECURRENCE-ID" not in event:
            starts += self._repeated(event, begins, zone, length)
        uid, summary, emails = _text(event, "UID"), _text(event, "SUMMARY"), tuple(_emails(event))
        for naive in sorted(set(starts)):
            starts_at, ends_at = (self.moment(moment.replace(tzinfo=zone)) for moment in (naive, naive + length))
            if starts_at not in left_out and starts_at < self.until and ends_at > self.since and ends_at > starts_at:
                yield Entry(starts_at, ends_at, uid[:400], summary, emails)

    def _length(self, event: Any, begins: datetime) -> timedelta:
        if "DTEND" in event:
            return self._local(event.decoded("DTEND"))[0] - begins
        if "DURATION" in event:
            duration: timedelta = event.decoded("DURATION")
            return duration
        return timedelta(days=1)

    def _repeated(self, event: Any, begins: datetime, zone: Any, length: timedelta) -> list[datetime]:
        rule = event["RRULE"]
        parts = {str(name).upper() for name in (rule[0] if isinstance(rule, list) else rule)}
        text = (rule[0] if isinstance(rule, list) else rule).to_ical().decode()
        kind = re.search(r"FREQ=(\w+)", text)
        if isinstance(rule, list) or not kind or not parts <= _PARTS.get(kind[1], set()):
            raise BadInput(f"the rule {text[:100]} is not worked out here; right would be: DAILY, WEEKLY, MONTHLY or YEARLY with BYDAY")
        first, last = ((moment.astimezone(zone)).replace(tzinfo=None) for moment in (self.since - length, self.until))
        if begins < first - _OLDEST_RULE:
            raise BadInput("an entry repeats since more than 20 years; right would be: one that begins later")
        # UNTIL is told in UTC where the entry has a zone; worked out here in local time.
        text = re.sub(r"UNTIL=(\d{8}T\d{6})Z", lambda found: f"UNTIL={self._until(found[1], zone)}", text)
        return [moment for moment in rrulestr(text, dtstart=begins).between(first, last, inc=True)]

    @staticmethod
    def _until(text: str, zone: Any) -> str:
        moment = datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
        return moment.astimezone(zone).strftime("%Y%m%dT%H%M%S")


def _text(event: Any, name: str) -> str:
    return str(event.get(name, "")).strip()


def _dates(event: Any, name: str) -> list[date | datetime]:
    given = event.get(name)
    lists = given if isinstance(given, list) else [given] if given is not None else []
    return [one.dt for each in lists for one in each.dts if isinstance(one.dt, date)]


def _emails(event: Any) -> Iterator[str]:
    """Whom an entry names by e-mail: who attends, and where nobody does, who organizes it."""
    for name in ("ATTENDEE", "ORGANIZER"):
        given = event.get(name)
        found = [str(one) for one in (given if isinstance(given, list) else [given] if given is not None else [])]
        if found:
            yield from (re.sub(r"^mailto:", "", one, flags=re.IGNORECASE).strip().lower() for one in found)
            return


def matched(entry: Entry, contacts: Sequence[Contact]) -> list[Contact]:
    """Whom an entry names: by e-mail, else by a name that stands in its title."""
    by_email = [contact for contact in contacts if contact.email and contact.email.lower() in entry.emails]
    title = " ".join(entry.summary.casefold().split())
    return by_email or [
        contact for contact in contacts if re.search(rf"(?<!\w){re.escape(' '.join(contact.name.casefold().split()))}(?!\w)", title)
    ]


async def take_in(tx: Transaction, rota: Rota, entries: Sequence[Entry]) -> None:
    """Keep the entries of a calendar as shifts, in place of those read before; what names nobody is told as a problem."""
    contacts = (await roster_of(tx, rota.city, rota.role)).contacts
    unknown: dict[str, None] = {}
    new: dict[tuple[str, int, datetime, datetime], Entry] = {}
    for entry in entries:
        people = matched(entry, contacts)
        if not people:
            unknown[entry.summary or ", ".join(entry.emails) or "without a title"] = None
        new.update({(entry.uid, person.id or 0, entry.starts_at, entry.ends_at): entry for person in people})
    mine = (col(Shift.rota_id) == rota.id, col(Shift.kind) == IMPORTED, col(Shift.ends_at) > tx.now - BEHIND)
    for shift in (await tx.session.execute(select(Shift).where(*mine, col(Shift.removed_at).is_(None)))).scalars():
        if new.pop((shift.uid, shift.contact_id or 0, shift.starts_at, shift.ends_at), None) is None:
            shift.removed_at = tx.now
    for (uid, contact, starts_at, ends_at), entry in new.items():
        tx.session.add(Shift(
            rota_id=rota.id or 0, contact_id=contact, starts_at=starts_at, ends_at=ends_at, kind=IMPORTED, reason=entry.summary[:500],
            uid=uid, added_by="calendar", added_at=tx.now,
        ))  # fmt: skip
    rota.ics_read_at = tx.now
    named = "; ".join(list(unknown)[:3])[:300]
    rota.ics_problem = f"{len(unknown)} of its titles name nobody in the role: {named}" if unknown else ""
    await tx.session.flush()
    forget_rosters(tx)


class Calendars:
    """Reads every rota's calendar again and again, each when it was not tried for 15 minutes."""

    def __init__(self, house: House, resolver: Resolve = resolve, tls_context: ssl.SSLContext | None = None) -> None:
        self._house = house
        self._resolver = resolver
        self._tls_context = tls_context
        self._tried: dict[int, datetime] = {}

    async def read_due(self) -> int:
        """Read those that are due. Returns how many were tried."""
        async with reading(self._house) as tx:
            query = select(Rota).where(col(Rota.ics_url) != "", col(Rota.ended_at).is_(None)).order_by(col(Rota.id))
            rotas = (await tx.session.execute(query)).scalars().all()
            due = [rota for rota in rotas if tx.now - (self._tried.get(rota.id or 0) or rota.ics_read_at or _LONG_AGO) >= READ_EVERY]
        for rota in due:
            self._tried[rota.id or 0] = self._house.now()
            await self.read(rota)
        return len(due)

    async def read(self, rota: Rota) -> None:
        """Read the calendar of one rota; what goes wrong is noted with it."""
        problem, entries = "", []
        try:
            content = await fetch(
                rota.ics_url, allow_private=self._house.settings.webhook_private, tls_context=self._tls_context, resolver=self._resolver
            )
            zone, handover = self._house.rulebook.zones[rota.city], time.fromisoformat(rota.handover)
            entries = await asyncio.to_thread(entries_of, content, zone, handover, self._house.now())
        except BadInput as error:
            problem = str(error)
        except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:  # a calendar that no reader foresaw
            problem = f"it cannot be read: {type(error).__name__}: {error}"
        async with transaction(self._house, "calendar") as tx:
            stored = await tx.session.get(Rota, rota.id)
            if stored is None or stored.ended_at is not None:
                return
            if problem:
                stored.ics_problem = problem[:500]
            else:
                await take_in(tx, stored, entries)


_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
