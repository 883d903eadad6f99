"""Advisories: what the public is told about a spill, its updates and the all-clear that ends it; sent to subscribers in batches.

How far a batch came is kept with it, so that a worker that is stopped goes on where it was, and nobody gets one twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, String, bindparam, cast, exists, func, literal, or_, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import col

from deadlines.areas import LEAST_METRES, MOST_METRES, Circle
from service.access import Staff
from service.city_texts import own_texts
from service.errors import BadInput, Conflict
from service.events import AdvisoryIssued, AdvisorySent
from service.outbox import PATIENCE
from service.public_alerts import circle_of
from service.speech import LANGUAGES, notice_speech
from service.spills import stated
from service.tables import Advisory, MessageRow, Meta, Spill, Subscription, Suppression
from service.transaction import House, Transaction
from service.wording import advisory as worded
from service.wording import first_words, near

KINDS = ("advisory", "update", "all_clear")
PARTS = ("where", "what", "advice")
LONGEST_PART = 500
BATCH = 1000
# Where a city's boundary is not known, its advisories reach circles within so far of the spill.
_WITHOUT_A_BOUNDARY = 10_000.0
_RANK = 3
_MARK = "advisory:"
_STREET = re.compile(
    r"^\s*\d{1,6}[A-Za-z]?\s+((?:[NSEW]\.?\s+|North |South |East |West )?(?:[A-Z0-9][\w'.-]*\s+){1,3}"
    r"(?:St|Street|Ave|Avenue|Rd|Road|Blvd|Boulevard|Dr|Drive|Ln|Lane|Way|Ct|Court|Pl|Place|Hwy|Highway|Pkwy|Parkway|Cir|Circle)\b)"
)


# -- what stands


_ABOUT = select(Advisory).where(col(Advisory.spill_id) == bindparam("spill_id")).order_by(col(Advisory.id))


async def chain_of(tx: Transaction, spill: Spill) -> list[Advisory]:
    """Everything that was issued about a spill, the oldest first."""
    return list((await tx.session.execute(_ABOUT, {"spill_id": spill.id})).scalars())


def standing_in(chain: Iterable[Advisory]) -> Advisory | None:
    """The first advisory that no all-clear has ended yet; what follows is linked to it."""
    root = None
    for one in chain:
        root = None if one.kind == "all_clear" else root or one
    return root


def draft(house: House, spill: Spill, kind: str, before: Advisory | None) -> dict[str, str]:
    """The words to begin with: those of the advisory that is followed, else what can be said from facts that tell nothing of anybody."""
    found: dict[str, str] = {}
    title = house.rulebook.law_of(spill.city or house.first_city).city.title
    street = _STREET.match(spill.address)
    for language in LANGUAGES:
        speech = notice_speech(language)
        said = first_words(kind, spill, near(street[1] if street else "", title, speech), speech)
        kept = {part: before.words[f"{part}.{language}"] for part in PARTS} if before is not None else {}
        said = {**said, **kept, **({"advice": said["advice"]} if kind == "all_clear" else {})}
        found |= {f"{part}.{language}": said[part] for part in PARTS}
    return found


# -- issuing


def area_of(spill: Spill, metres: float | None) -> dict[str, Any]:
    """The area of an advisory: a circle around the spill, or with None its whole city. Raises BadInput."""
    if metres is None:
        return {"city": spill.city} | ({"lat": spill.lat, "lon": spill.lon} if spill.lat is not None else {})
    if spill.lat is None or spill.lon is None:
        raise BadInput("there is no circle", ["area: the spill has no point; right would be: the whole city, or a pin first"])
    if not LEAST_METRES <= metres <= MOST_METRES:
        raise BadInput("there is no such circle", [f"area: right would be: {LEAST_METRES:.0f} to {MOST_METRES:,.0f} metres"])
    return {"city": spill.city, "lat": spill.lat, "lon": spill.lon, "metres": metres}


def checked_words(words: Mapping[str, str]) -> dict[str, str]:
    """The words of an advisory in every language. Raises BadInput with one line a fault."""
    said = {f"{part}.{language}": stated(words.get(f"{part}.{language}", "")) for language in LANGUAGES for part in PARTS}
    faults = [f"{key}: missing; right would be: plain words, without names" for key, text in said.items() if not text]
    faults += [f"{key}: it is too long; right would be at most {LONGEST_PART} characters" for key in said if len(said[key]) > LONGEST_PART]
    if faults:
        raise BadInput("the advisory cannot be issued so", faults)
    return said


async def issue(
    tx: Transaction, staff: Staff, spill: Spill, kind: str, words: Mapping[str, str], metres: float | None, last: int
) -> Advisory:
    """Issue an advisory, an update or the all-clear. `last` is the newest that its author had seen, 0 for none.

    Raises NotAllowed below officer, BadInput, and Conflict where somebody was first.
    """
    staff.require("officer", spill.city)
    if spill.city is None:
        raise BadInput("there is no city", ["city: it is not known yet; right would be: set the city first"])
    chain = await chain_of(tx, spill)
    if (chain[-1].id if chain else 0) != last:
        raise Conflict("another one was issued meanwhile; look at it first")
    root = standing_in(chain)
    if kind not in KINDS or (kind == "advisory") != (root is None):
        right = "an advisory first" if root is None else "an update, or the all-clear"
        raise BadInput("it cannot be issued now", [f"kind: right would be: {right}"])
    said = checked_words(words)
    row = Advisory(
        spill_id=spill.id or 0, kind=kind, follows=root.id if root else None, words=said, area=area_of(spill, metres), issued_at=tx.now,
        issued_by=staff.email,
    )  # fmt: skip
    tx.session.add(row)
    await tx.session.flush()
    tx.session.add(Meta(key=f"{_MARK}{row.id}", value="0"))
    await tx.record(spill, AdvisoryIssued(advisory=row.id or 0, advisory_kind=kind, follows=row.follows, words=said, area=row.area))
    tx.wakes_worker = True
    return row


# -- whom it reaches


def _reaches(house: House, area: Mapping[str, Any], wants: Mapping[str, Any]) -> bool:
    """Whether an advisory's area and what a subscriber asked for share a place."""
    point = None if area.get("lat") is None else (area["lat"], area["lon"])
    theirs = circle_of(wants)
    if theirs is not None:
        if "metres" in area:
            return theirs.meets(Circle(area["lat"], area["lon"], area["metres"]))
        off = house.places.metres_to(area["city"], theirs.lat, theirs.lon)
        if off is None:
            return point is not None and theirs.meets(Circle(*point, _WITHOUT_A_BOUNDARY))
        return off <= theirs.metres
    cities = wants.get("cities", [])
    if area["city"] in cities:
        return True
    if point is None or "metres" not in area:
        return False
    away = [house.places.metres_to(city, *point) for city in cities]
    return any(off is not None and off <= area["metres"] for off in away)


def _subscribers(at: datetime) -> tuple[ColumnElement[bool], ...]:
    """Who had said yes by then, and still wants them."""
    barred = exists().where(
        col(Suppression.channel) == col(Subscription.channel), col(Suppression.address) == col(Subscription.address),
        col(Suppression.lifted_at).is_(None),
    )  # fmt: skip
    return col(Subscription.kind) == "public", col(Subscription.confirmed_at) <= at, col(Subscription.ended_at).is_(None), ~barred


def _had_it(root: int, chain: Iterable[int]) -> ColumnElement[bool]:
    """Whether an address was promised the advisory or an update of it, whatever it asks for by now."""
    climbs = [f"{_MARK}{number}" for number in (root, *chain)]
    told = select(col(MessageRow.channel), col(MessageRow.address)).where(
        col(MessageRow.climb).in_(climbs), col(MessageRow.state) != "cancelled"
    )
    # The list is made once; asking for each subscriber by itself would take minutes for thousands.
    return tuple_(col(Subscription.channel), col(Subscription.address)).in_(told)


async def _before(tx: Transaction, follows: int | None, before: int | None = None) -> list[int]:
    """The advisory that is followed, and what followed it before."""
    if follows is None:
        return []
    query = select(col(Advisory.id)).where(or_(col(Advisory.id) == follows, col(Advisory.follows) == follows))
    if before is not None:
        query = query.where(col(Advisory.id) < before)
    return [number for number in (await tx.session.execute(query)).scalars() if number is not None]


async def count_reached(tx: Transaction, area: Mapping[str, Any], follows: int | None) -> int:
    """How many subscribers would get it now."""
    query = select(col(Subscription.id), col(Subscription.wants)).where(*_subscribers(tx.now))
    reached = {number for number, wants in await tx.session.execute(query) if _reaches(tx.house, area, wants)}
    if told := await _before(tx, follows):
        had = select(col(Subscription.id)).where(*_subscribers(tx.now), _had_it(told[0], told[1:]))
        reached.update((await tx.session.execute(had)).scalars())
    return len(reached)


# -- sending


_UNDER_WAY = select(Meta).where(col(Meta.key).startswith(_MARK)).order_by(func.length(col(Meta.key)), col(Meta.key)).limit(1)


async def is_under_way(tx: Transaction) -> bool:
    """Whether an advisory has not been promised to everybody yet."""
    return (await tx.session.execute(_UNDER_WAY)).first() is not None


async def send_batch(tx: Transaction) -> int:
    """Promise the oldest advisory under way to its next thousand subscribers. Returns 0 where none is under way."""
    mark: Meta | None = (await tx.session.execute(_UNDER_WAY.with_for_update(skip_locked=True))).scalar_one_or_none()
    if mark is None:
        return 0
    advisory = await tx.session.get_one(Advisory, int(mark.key.removeprefix(_MARK)))
    spill = await tx.session.get_one(Spill, advisory.spill_id)
    who = (*_subscribers(advisory.issued_at), col(Subscription.id) > int(mark.value))
    query = select(col(Subscription.id), col(Subscription.wants)).where(*who).order_by(col(Subscription.id)).limit(BATCH)
    rows = (await tx.session.execute(query)).all()
    chosen = {number for number, wants in rows if _reaches(tx.house, advisory.area, wants)}
    told = await _before(tx, advisory.follows, advisory.id)
    if told and rows:
        had = select(col(Subscription.id)).where(*who, col(Subscription.id) <= rows[-1][0], _had_it(told[0], told[1:]))
        chosen.update((await tx.session.execute(had)).scalars())
    if chosen:
        await _promise(tx, advisory, spill, sorted(chosen))
    if len(rows) < BATCH:
        await tx.session.delete(mark)
        mine = select(func.count()).select_from(MessageRow).where(col(MessageRow.climb) == f"{_MARK}{advisory.id}")
        number = await tx.session.scalar(mine) or 0
        await tx.record(spill, AdvisorySent(advisory=advisory.id or 0, advisory_kind=advisory.kind, people=number))
    else:
        mark.value = str(rows[-1][0])
    tx.wakes_worker = True
    return len(rows) or 1


async def _promise(tx: Transaction, advisory: Advisory, spill: Spill, chosen: list[int]) -> None:
    """One statement for each channel and language: a message to each of the chosen, in the words of the advisory."""
    law = tx.house.rulebook.law_of(spill.city or tx.house.first_city)
    own = await own_texts(tx, spill.city)
    insert = sqlite.insert if tx.house.settings.is_embedded else postgresql.insert
    for language in LANGUAGES:
        said = {part: advisory.words[f"{part}.{language}"] for part in PARTS}
        said |= {"reference": spill.reference, "city": law.city.title, "link": link_of(tx.house, advisory)}
        for channel in ("email", "sms"):
            words = worded(advisory.kind, said, advisory.issued_at, law.zone, notice_speech(language), own, channel)
            values = {
                "climb": f"{_MARK}{advisory.id}", "person": "subscriber", "role": "public", "channel": channel, "subject": words.subject,
                "text": words.body(channel), "html": words.html if channel == "email" else "", "step": advisory.kind, "language": language,
                "reason": f"{advisory.kind} {advisory.id}", "rank": _RANK, "sort_at": advisory.issued_at, "state": "waiting", "tries": 0,
                "promised_at": tx.now, "queued": True, "next_at": tx.now, "give_up_at": tx.now + PATIENCE, "code": "", "receipt": "",
                "city": spill.city or "",
            }  # fmt: skip
            names, rows = _rows(tx, values, advisory, chosen, channel, language)
            await tx.session.execute(insert(MessageRow).from_select(names, rows).on_conflict_do_nothing())


def _rows(
    tx: Transaction, values: Mapping[str, Any], advisory: Advisory, chosen: list[int], channel: str, language: str
) -> tuple[list[str], Select[Any]]:
    columns = MessageRow.__table__.c  # type: ignore[attr-defined]
    made: dict[str, Any] = {name: literal(value, type_=columns[name].type).label(name) for name, value in values.items()}
    random = func.lower(func.hex(func.randomblob(16)))
    if not tx.house.settings.is_embedded:
        random = func.replace(cast(func.gen_random_uuid(), String), "-", "")
    made["id"] = random.label("id")
    made["once"] = (literal(f"{_MARK}{advisory.id}|{channel}|") + col(Subscription.address)).label("once")
    made["address"], made["subscription_id"] = col(Subscription.address), col(Subscription.id)
    mine = (col(Subscription.id).in_(chosen), col(Subscription.channel) == channel, col(Subscription.language) == language)
    return list(made), select(*made.values()).where(*mine)


def link_of(house: House, advisory: Advisory) -> str:
    """The public page of an advisory."""
    return f"{house.settings.public_url}/advisories/{advisory.follows or advisory.id}"


# -- for everybody


async def public_ones(tx: Transaction, cleared_within: timedelta) -> list[list[Advisory]]:
    """What the public sees, the newest first: each advisory with what followed it; ended ones for so long after their all-clear."""
    found: dict[int, list[Advisory]] = {}
    for one in (await tx.session.execute(select(Advisory).order_by(col(Advisory.id)))).scalars():
        found.setdefault(one.follows or one.id or 0, []).append(one)
    shown = [chain for chain in found.values() if chain[-1].kind != "all_clear" or chain[-1].issued_at > tx.now - cleared_within]
    return sorted(shown, key=lambda chain: (chain[-1].kind == "all_clear", -chain[-1].issued_at.timestamp()))


async def public_one(tx: Transaction, number: int) -> list[Advisory]:
    """An advisory with what followed it; nothing where there is none of this number."""
    first = or_(col(Advisory.id) == number, col(Advisory.follows) == number)
    chain = list((await tx.session.execute(select(Advisory).where(first).order_by(col(Advisory.id)))).scalars())
    return chain if chain and chain[0].follows is None else []


async def chain_up_to(tx: Transaction, number: int) -> list[Advisory]:
    """What was issued under a number, after all that it follows, the oldest first; nothing where there is none of this number."""
    one = await tx.session.get(Advisory, number)
    return [] if one is None else [each for each in await public_one(tx, one.follows or number) if (each.id or 0) <= number]
