"""How often one sender may do what anybody may: reports, photos, sign-ups, sign-ins. Counted in the database, by one UPSERT.

A sender is an address of the network, as far as one household or office shares it: an IPv4 address, the first 64 bits of an IPv6 one. No
address is kept: a count stands under a keyed hash of gate, sender and stretch of time, unlike that of any other stretch, and is swept when
the stretch is over. A report is never refused for its rate before `most`, which no person reaches; above `free` it has to be proved first
that a real browser sends it, or a person looks before anybody is alerted (service/held_reports.py).
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import Request
from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col

from service.errors import SpillclockError
from service.tables import Passage
from service.transaction import House, reading, transaction

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limit:
    """What one sender may do in a stretch of time, which divides a day. Above `most` it is refused; above `free` a proof is asked for.

    `crowd`: above so many of all senders together a proof is asked of everybody.
    """

    every: timedelta
    most: int
    free: int | None = None
    crowd: int | None = None


_MINUTES, _HOUR, _DAY = timedelta(minutes=10), timedelta(hours=1), timedelta(days=1)
REPORT, API_REPORT = "report", "api report"
# All limits there are. An address may be that of a whole office or of a telephone company: each leaves room for many people.
GATES: Mapping[str, Sequence[Limit]] = {
    REPORT: (Limit(_MINUTES, 200, free=6, crowd=120), Limit(_HOUR, 200, free=20)),
    API_REPORT: (Limit(_MINUTES, 60), Limit(_HOUR, 200)),
    "photos": (Limit(_MINUTES, 60), Limit(_HOUR, 150)),
    "addition": (Limit(_MINUTES, 40), Limit(_HOUR, 100)),
    "hint": (Limit(_MINUTES, 120), Limit(_HOUR, 400)),
    "paper": (Limit(_MINUTES, 30), Limit(_HOUR, 100)),
    "alerts sign-up": (Limit(_HOUR, 20), Limit(_DAY, 60)),
    "sign-in": (Limit(_MINUTES, 20), Limit(_HOUR, 60)),
    "link": (Limit(_MINUTES, 60), Limit(_HOUR, 200)),
    "settings check": (Limit(_MINUTES, 20), Limit(_HOUR, 60)),
    "test message": (Limit(_MINUTES, 5), Limit(_HOUR, 20)),
}
# In the OpenAPI description of a call that has a limit.
DOCUMENTED: Mapping[int | str, dict[str, Any]] = {
    429: {
        "description": "Too many calls from one address. `Retry-After` says in how many seconds one more is taken.",
        "content": {"application/problem+json": {}},
    }
}
# Senders who are over their limit are remembered in the process, so that a flood costs no database; at most so many of them.
_MOST_REMEMBERED = 10_000
_SWEPT_AT_A_TIME = 5_000
_EVERYBODY = "everybody"


class TooOften(SpillclockError):
    """More was asked for than one sender is given. `retry_after`: in how many seconds one more is taken."""

    status = 429
    title = "Too many at once"

    def __init__(self, gate: str, retry_after: int) -> None:
        super().__init__(f"too many from this address; right would be: try again in {retry_after} seconds")
        self.gate = gate
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Standing:
    """How a sender stands after a passage, this one included: whether it is one too many, and whether a proof is asked for."""

    retry_after: int = 0
    needs_proof: bool = False


@dataclass(frozen=True, slots=True)
class _Count:
    """One count that a passage adds to: its key, how many are allowed or free, and when its stretch is over."""

    key: str
    limit: Limit
    ends_at: datetime
    is_crowd: bool = False


def sender_of(request: Request) -> str:
    """Who sends, as far as counting goes: the network of the other end, or of the client that a trusted proxy names."""
    return network_of(request.client.host if request.client else "")


def network_of(host: str) -> str:
    """The network that one sender counts as: an IPv4 address alone, the /64 of an IPv6 one; `unknown` for what is no address."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is None:
            return str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))
        address = address.ipv4_mapped
    return str(address)


async def check(request: Request, gate: str) -> Standing:
    """Count one passage of whoever sends a request. Raises TooOften; where the database cannot count, nobody is turned away."""
    house: House = request.app.state.house
    standing = await pass_through(house, gate, sender_of(request))
    if standing.retry_after:
        raise TooOften(gate, standing.retry_after)
    return standing


def at(gate: str) -> Callable[[Request], Awaitable[None]]:
    """A dependency of a route that counts each call of it: `dependencies=[Depends(turnstile.at("link"))]`."""

    async def counted(request: Request) -> None:
        await check(request, gate)

    return counted


async def pass_through(house: House, gate: str, sender: str) -> Standing:
    """Count one passage in a transaction of its own, so that it counts whatever becomes of the request."""
    now = house.now()
    counts = _counts(house, gate, sender, now)
    if not counts:
        return Standing()
    known = [one for one in counts if house.turned_away.get(one.key, now) > now]
    if known:
        return Standing(retry_after=_seconds_until(known, now))
    try:
        numbers = await _add(house, [(one.key, one.ends_at) for one in counts])
    except SQLAlchemyError:
        log.exception("a passage of %s could not be counted; it is let through", gate)
        return Standing()
    factor = house.settings.limit_factor
    over = [one for one in counts if not one.is_crowd and numbers[one.key] > one.limit.most * factor]
    if over:
        _remember(house, over, now)
        return Standing(retry_after=_seconds_until(over, now))
    return Standing(needs_proof=_asks_proof(counts, numbers, factor))


async def would_need_proof(house: House, gate: str, sender: str, ahead: int = 3) -> bool:
    """Whether one of the next passages, `ahead` of them, would need a proof. Nothing is counted."""
    counts = [one for one in _counts(house, gate, sender, house.now()) if one.limit.free is not None]
    async with reading(house) as tx:
        query = select(col(Passage.key), col(Passage.n)).where(col(Passage.key).in_([one.key for one in counts]))
        numbers = {key: n for key, n in await tx.session.execute(query)}
    return _asks_proof(counts, {one.key: numbers.get(one.key, 0) + ahead for one in counts}, house.settings.limit_factor)


async def is_first_use(house: House, purpose: str, token: str, until: datetime) -> bool:
    """Note that something that holds once was used, and say whether this was the first time. Forgotten after `until`."""
    key = _keyed(house, f"once|{purpose}|{token}")
    return (await _add(house, [(key, until)]))[key] == 1


async def sweep(house: House) -> int:
    """Remove what stretches that are over have left. Returns how many counts that was."""
    swept = 0
    while True:
        async with transaction(house, "spillclock") as tx:
            old = select(col(Passage.key)).where(col(Passage.ends_at) <= tx.now).limit(_SWEPT_AT_A_TIME)
            keys = list((await tx.session.execute(old)).scalars())
            await tx.session.execute(delete(Passage).where(col(Passage.key).in_(keys), col(Passage.ends_at) <= tx.now))
        swept += len(keys)
        if len(keys) < _SWEPT_AT_A_TIME:
            return swept


def _counts(house: House, gate: str, sender: str, now: datetime) -> list[_Count]:
    """The counts of a gate at a moment; none where limits are switched off."""
    found = []
    for limit in GATES[gate] if house.settings.limit_factor else ():
        seconds = int(limit.every.total_seconds())
        began = int(now.timestamp()) // seconds * seconds
        ends_at = datetime.fromtimestamp(began + seconds, UTC)
        found.append(_Count(_keyed(house, f"{gate}|{seconds}|{began}|{sender}"), limit, ends_at))
        if limit.crowd is not None:
            found.append(_Count(_keyed(house, f"{gate}|{seconds}|{began}|{_EVERYBODY}"), limit, ends_at, is_crowd=True))
    return found


def _keyed(house: House, text: str) -> str:
    """Nobody can tell from it who was counted without the secret key; the date in `text` salts it anew each time."""
    return hmac.new(house.signing_key, f"turnstile|{text}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()


async def _add(house: House, keys: Iterable[tuple[str, datetime]]) -> dict[str, int]:
    """Add one to each count and return them, in one statement: two at the same moment never see the same number."""
    # In one order for all, so that two of them never wait for one another.
    rows = [{"key": key, "n": 1, "ends_at": ends_at} for key, ends_at in sorted(keys)]
    tongue: Any = sqlite if house.settings.is_embedded else postgresql
    insert = tongue.insert(Passage).values(rows)
    counted = insert.on_conflict_do_update(index_elements=["key"], set_={"n": col(Passage.n) + 1}).returning(
        col(Passage.key), col(Passage.n)
    )
    async with transaction(house, "turnstile") as tx:
        return {key: n for key, n in await tx.session.execute(counted)}


def _asks_proof(counts: Sequence[_Count], numbers: Mapping[str, int], factor: float) -> bool:
    allowed = [(one.key, one.limit.crowd if one.is_crowd else one.limit.free) for one in counts]
    return any(most is not None and numbers[key] > most * factor for key, most in allowed)


def _seconds_until(over: Sequence[_Count], now: datetime) -> int:
    return max(1, int((max(one.ends_at for one in over) - now).total_seconds()) + 1)


def _remember(house: House, over: Sequence[_Count], now: datetime) -> None:
    known = house.turned_away
    if len(known) >= _MOST_REMEMBERED:
        for key in [key for key, until in known.items() if until <= now] or list(known):
            del known[key]
    known.update({one.key: one.ends_at for one in over})
