"""The addresses of the feeds. Each may be kept for a minute, and is 304 to whoever has it as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select
from sqlmodel import col

from service import advisories, public_record
from service.advisories import link_of
from service.errors import BadInput, NotKnown
from service.feeds.atom import Atom, Entry
from service.feeds.cap import MEDIA_TYPE, message_of
from service.public_filters import read_wanted
from service.public_words import ISSUED
from service.speech import notice_speech, speech
from service.tables import Advisory, PublicSpill, Spill
from service.transaction import House, Transaction, reading
from service.unchanged import answer
from service.xml_writing import document

router = APIRouter(prefix="/feeds", tags=["feeds"])
# Whoever reads once a month still hears of the end.
STILL_SHOWN = timedelta(days=30)
MOST = 100
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_City = Annotated[str, Query(max_length=100, description="One city, by the id of its pack.")]
_Lang = Annotated[Literal["en", "es"], Query(description="The language of the words.")]
_UNCHANGED = {"description": "Unchanged since the ETag or the time given."}


@router.get("/cap", response_class=Response, responses={200: {"content": {Atom.media_type: {}}}, 304: _UNCHANGED})
async def cap_index(request: Request, city: _City = "") -> Response:
    """Advisories as CAP 1.2 messages, in an Atom feed, the newest first: those in force, and those that ended in the last 30 days.

    An advisory is an Alert, each update of it an Update, its all-clear a Cancel; the later ones name the earlier in `references`.
    """
    house = _house(request)
    async with reading(house) as tx:
        chains, changed = await _chains(tx, _city(house, city))
        messages = sorted(
            (chain[: place + 1] for chain in chains for place in range(len(chain))), key=lambda one: -(one[-1].id or 0)
        )[:MOST]  # fmt: skip
        spills, shown = await _spills(tx, [chain[0].spill_id for chain in chains])
    feed = Atom(_here(house, request), "CAP 1.2", f"{house.settings.public_url}/advisories", changed or _NEVER, "en")
    for chain in messages:
        one, spill = chain[-1], spills[chain[-1].spill_id]
        alert = message_of(house, chain, spill, shown.get(one.spill_id))
        title = f"{ISSUED[one.kind]}: {one.words['where.en']}"
        address = f"{house.settings.public_url}/feeds/cap/{one.id}.xml"
        entry = Entry(address, title, one.issued_at, one.issued_at, address, one.words["what.en"], MEDIA_TYPE, content=alert)
        feed.add(entry)
    return answer(request, document(feed.root), Atom.media_type, changed_at=changed, now=house.now())


@router.get("/cap/{number}.xml", response_class=Response, responses={200: {"content": {MEDIA_TYPE: {}}}, 304: _UNCHANGED})
async def cap_message(request: Request, number: int) -> Response:
    """One CAP 1.2 message, by the number of its advisory, update or all-clear."""
    house = _house(request)
    async with reading(house) as tx:
        chain = await advisories.chain_up_to(tx, number) if 0 < number < 2**31 else []
        spills, shown = await _spills(tx, [one.spill_id for one in chain[:1]])
    spill = spills[chain[0].spill_id] if chain else None
    if spill is None or spill.city not in house.cities:
        raise NotKnown(f"there is no advisory {number}")
    content = document(message_of(house, chain, spill, shown.get(spill.id or 0)))
    return answer(request, content, MEDIA_TYPE, changed_at=None, now=house.now())


@router.get("/advisories.atom", response_class=Response, responses={200: {"content": {Atom.media_type: {}}}, 304: _UNCHANGED})
async def advisories_feed(request: Request, city: _City = "", lang: _Lang = "en") -> Response:
    """Advisories for feed readers: each once, as its last update or its all-clear has it, with a new date each time."""
    house, said = _house(request), notice_speech(lang)
    async with reading(house) as tx:
        chains, changed = await _chains(tx, _city(house, city))
    feed = Atom(_here(house, request), said.say("Advisories"), f"{house.settings.public_url}/advisories", changed or _NEVER, lang)
    for chain in sorted(chains, key=lambda one: one[-1].issued_at, reverse=True)[:MOST]:
        first, newest = chain[0], chain[-1]
        words = [newest.words[f"{part}.{lang}"] for part in ("advice", "what", "where")]
        title = f"{said.say(ISSUED[newest.kind])}: {words[2]}"
        feed.add(Entry(link_of(house, first), title, newest.issued_at, first.issued_at, link_of(house, first), "\n".join(words)))
    return answer(request, document(feed.root), Atom.media_type, changed_at=changed, now=house.now())


@router.get("/spills.atom", response_class=Response, responses={200: {"content": {Atom.media_type: {}}}, 304: _UNCHANGED})
async def spills_feed(request: Request, city: _City = "", lang: _Lang = "en") -> Response:
    """The newest public spills for feed readers, with a point where one is shown."""
    house, said = _house(request), speech(lang)
    async with reading(house) as tx:
        rows = await public_record.found(tx, read_wanted(house, {"city": city}), MOST)
        changed = await public_record.changed_at(tx)
    base, hours = house.settings.public_url, public_record.Hours()
    feed = Atom(_here(house, request), said.say("Spills: list and map"), f"{base}/map", changed or _NEVER, lang)
    for row in rows:
        words = public_record.in_words(house, row, said, hours)
        told = [words["state"], words["amount"], words["reached"], words["received"], words["advisory"] if row.advisory != "none" else ""]
        where = None if row.lat is None or row.lon is None else (row.lat, row.lon)
        page = f"{base}/advisories/{row.advisory_id}" if row.advisory_id else f"{base}/map?{urlencode({'city': row.city})}#{row.reference}"
        title = f"{words['title']}, {words['place']} ({row.reference})"
        feed.add(Entry(
            f"{base}/map#{row.reference}", title, row.changed_at, row.received_at, page, ". ".join(filter(None, told)),
            category=row.material, point=where,
        ))  # fmt: skip
    return answer(request, document(feed.root), Atom.media_type, changed_at=changed, now=house.now())


def _house(request: Request) -> House:
    house: House = request.app.state.house
    return house


def _here(house: House, request: Request) -> str:
    return f"{house.settings.public_url}{request.url.path}" + (f"?{request.url.query}" if request.url.query else "")


def _city(house: House, given: str) -> str | None:
    if given and given not in house.cities:
        raise BadInput("there is no such feed", [f"city: {given[:60]!r} is none of the choices; right would be: {', '.join(house.cities)}"])
    return given or None


async def _chains(tx: Transaction, city: str | None) -> tuple[list[list[Advisory]], datetime | None]:
    """The advisories shown in one city, or all, each with what followed it; and when that last changed, also by one growing too old."""
    served = (city,) if city else tx.house.cities
    chains = [chain for chain in await advisories.public_ones(tx, tx.now - _NEVER) if chain[0].area["city"] in served]
    shown, changed = [], [chain[-1].issued_at for chain in chains]
    for chain in chains:
        if chain[-1].kind == "all_clear" and chain[-1].issued_at <= tx.now - STILL_SHOWN:
            changed.append(chain[-1].issued_at + STILL_SHOWN)
        else:
            shown.append(chain)
    return shown, max(changed, default=None)


async def _spills(tx: Transaction, numbers: Sequence[int]) -> tuple[Mapping[int, Spill], Mapping[int, PublicSpill]]:
    """These spills, and how the public sees those that it sees, by number."""
    spills = (await tx.session.execute(select(Spill).where(col(Spill.id).in_(numbers)))).scalars()
    shown = (await tx.session.execute(select(PublicSpill).where(col(PublicSpill.spill_id).in_(numbers)))).scalars()
    return {one.id or 0: one for one in spills}, {one.spill_id: one for one in shown}
