"""How long the record of a spill is kept: what keeps it, why and until when; and legal holds, which keep it whatever the date says.

Reports that were merged are one record here: what keeps any of them keeps all. A date of keeping is a date before which nothing may be
destroyed, not an alarm (docs/counting.md), and not the date on which it is: that takes a person (service/destruction.py).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, or_, select
from sqlmodel import col

from service import staff_log
from service.board_tables import BoardLine
from service.errors import BadInput, NotKnown
from service.events import HoldLifted, HoldPlaced, SpillClosed, SpillReopened
from service.grouping import head_of, members_of
from service.ladders import OPEN_STATES
from service.settings import LEAST_YEARS
from service.spills import stated
from service.tables import EventRow, LegalHold, Obligation, Spill
from service.transaction import Transaction

# Why a record is kept: a clock of the law, the city's own policy, a legal hold, an open case, a duty to be done, a report nobody judged.
LAW, POLICY, HOLD, OPEN, DUTY, UNREAD = "law", "policy", "hold", "open", "duty", "unread"
# So soon a record is listed before its time is over.
SOON = timedelta(days=90)
LONGEST_REASON = 2000
MOST_LISTED = 200
# What the law of a state lets no city destroy earlier, by the letters of the state: the citation, and for how many years.
CITY_RECORDS = {"CA": ("California Government Code 34090(d)", LEAST_YEARS)}
_KEEPING = "retention"


@dataclass(frozen=True, slots=True)
class Keeper:
    """One thing that keeps a record: of which report, why (a word of this module), and what it is, in a sentence.

    `until`: up to and with this moment, UTC; None: until somebody does what `says` names. `citation`, `duty`, `owed_by` of a clock of the
    law; of the city's policy the law that sets its least.
    """

    of: str
    why: str
    says: str
    until: datetime | None = None
    citation: str = ""
    duty: str = ""
    owed_by: str = ""

    def keeps(self, now: datetime) -> bool:
        """Whether it still does."""
        return self.until is None or now <= self.until


@dataclass(frozen=True, slots=True)
class Kept:
    """How long a record is kept: of the spill that is worked on, with the reports merged into it; what keeps it, the longest first."""

    spill: Spill
    members: Sequence[Spill]
    keepers: Sequence[Keeper]

    @property
    def until(self) -> datetime | None:
        """The moment up to which something keeps it; None where something does without a date."""
        moments = [one.until for one in self.keepers if one.until is not None]
        return None if len(moments) < len(self.keepers) or not moments else max(moments)

    def still(self, now: datetime) -> list[Keeper]:
        """What keeps it now; nothing where its time is over."""
        return [one for one in self.keepers if one.keeps(now)]

    @property
    def is_held(self) -> bool:
        """Whether a legal hold is on it."""
        return any(one.why == HOLD for one in self.keepers)


async def kept_until(tx: Transaction, spill: Spill) -> Kept:
    """What keeps the record of a spill, and of every report that counts with it, and until when; the same for each of them."""
    head = await head_of(tx, spill)
    members = await members_of(tx, head)
    keepers = [await _by_closing(tx, head)]
    for one in (head, *members):
        keepers += [*await _by_clocks(tx, one), *_by_reading(one)]
    keepers += await _by_holds(tx, [head, *members])
    return Kept(head, members, sorted(keepers, key=_longest_first))


def _longest_first(one: Keeper) -> tuple[bool, float, str, str]:
    return one.until is not None, -(one.until.timestamp() if one.until else 0.0), one.why, one.of


async def _by_closing(tx: Transaction, head: Spill) -> Keeper:
    kinds = (SpillClosed.kind, SpillReopened.kind)
    query = select(col(EventRow.kind), col(EventRow.recorded_at)).where(col(EventRow.spill_id) == head.id, col(EventRow.kind).in_(kinds))
    last = (await tx.session.execute(query.order_by(col(EventRow.id).desc()).limit(1))).one_or_none()
    if last is None or last.kind != SpillClosed.kind:
        return Keeper(head.reference, OPEN, "it is not closed")
    years = tx.house.settings.keep_years
    law = city_records_law(tx, head.city)
    least = f"; no city may keep it less than {law[1]}" if law else ""
    says = f"the city keeps its records for {years} years after they are closed (SPILLCLOCK_KEEP_YEARS){least}"
    until = years_after(last.recorded_at, years, zone_of(tx, head))
    return Keeper(head.reference, POLICY, says, until, citation=law[0] if law else "")


async def _by_clocks(tx: Transaction, spill: Spill) -> list[Keeper]:
    """The clocks of the law that keep a record, whoever owes them, and the duties that are still to be done.

    A clock of keeping that was waived keeps it all the same: who waives a duty ends its alarms, not a law about records.
    """
    found = []
    for row in (await tx.session.execute(select(Obligation).where(col(Obligation.spill_id) == spill.id))).scalars():
        clock = row.clock
        if row.act == _KEEPING and row.state != "withdrawn":
            presumed = ", presumed while a fact is not known" if clock.get("applies") == "presumed" else ""
            unknown = "" if row.due_at else ", from a moment that is not known yet"
            says = f"{clock['title']}{presumed}{unknown}"
            found.append(
                Keeper(spill.reference, LAW, says, row.due_at, str(clock.get("citation") or ""), row.duty, str(clock.get("owed_by") or ""))
            )
        elif row.state in OPEN_STATES and row.act != _KEEPING:
            found.append(Keeper(spill.reference, DUTY, f"{clock['title']}: it is neither done nor waived", None, duty=row.duty))
    return found


def _by_reading(spill: Spill) -> list[Keeper]:
    if spill.held_at is not None and spill.assess_at is not None:
        return [Keeper(spill.reference, UNREAD, "it looks automatic, and nobody has judged it")]
    if not spill.facts and spill.held_at is None:
        return [Keeper(spill.reference, UNREAD, "the report has not been put to the law")]
    return []


async def _by_holds(tx: Transaction, spills: Sequence[Spill]) -> list[Keeper]:
    names = {one.id: one.reference for one in spills}
    return [
        Keeper(names[one.spill_id], HOLD, f"legal hold by {one.placed_by} since {one.placed_at:%Y-%m-%d}: {one.reason}")
        for one in await holds_of(tx, [number or 0 for number in names])
        if one.lifted_at is None
    ]


def zone_of(tx: Transaction, spill: Spill) -> ZoneInfo:
    """The zone that the days of a record are counted in: its city's, else that of the first city served."""
    return tx.house.rulebook.zones[spill.city or tx.house.first_city]


def years_after(moment: datetime, years: int, zone: ZoneInfo) -> datetime:
    """The end of the local day that many years later, UTC. The 29th of February becomes the 1st of March: nothing goes a day early."""
    day = moment.astimezone(zone).date()
    try:
        later = day.replace(year=day.year + years)
    except ValueError:
        later = date(day.year + years, 3, 1)
    return (datetime.combine(later + timedelta(days=1), time.min, zone) - timedelta(seconds=1)).astimezone(UTC)


def city_records_law(tx: Transaction, city: str | None) -> tuple[str, int] | None:
    """What the law of a city's state says of the records of cities: its citation and years; None where none is known here."""
    state = tx.house.rulebook.law_of(city).city.state if city else None
    return CITY_RECORDS.get(state or "")


# -- what is listed


async def listed(tx: Transaction, cities: Collection[str] | None) -> list[Kept]:
    """The records whose time is over or soon will be, the longest closed first, and those under a legal hold. `cities` None: of all.

    At most MOST_LISTED of each. Only what the city's own policy keeps no longer is looked at: that keeps every record.
    """
    over = tx.now - timedelta(days=365 * tx.house.settings.keep_years) + SOON
    query = (
        select(Spill)
        .join(BoardLine, col(BoardLine.spill_id) == col(Spill.id))
        .where(col(Spill.merged_into).is_(None), col(Spill.destroyed_at).is_(None), col(BoardLine.closed_at) <= over)
        .where(*_in(cities))
        .order_by(col(BoardLine.closed_at), col(Spill.id))
        .limit(MOST_LISTED)
    )
    held = select(col(LegalHold.spill_id)).where(col(LegalHold.lifted_at).is_(None))
    under_hold = select(Spill).where(col(Spill.id).in_(held), *_in(cities)).order_by(col(Spill.id)).limit(MOST_LISTED)
    found: dict[int, Kept] = {}
    for chosen in (query, under_hold):
        for spill in (await tx.session.execute(chosen)).scalars().all():
            kept = await kept_until(tx, spill)
            found.setdefault(kept.spill.id or 0, kept)
    soon = tx.now + SOON
    return [one for one in found.values() if one.is_held or (one.until is not None and one.until <= soon)]


def _in(cities: Collection[str] | None) -> tuple[ColumnElement[bool], ...]:
    # A report of no city is everybody's, as on the board.
    return () if cities is None else (or_(col(Spill.city).in_(cities), col(Spill.city).is_(None)),)


async def destroyed(tx: Transaction, cities: Collection[str] | None, most: int = MOST_LISTED) -> list[Spill]:
    """The spills whose record was destroyed, the latest first."""
    query = select(Spill).where(col(Spill.destroyed_at).is_not(None), *_in(cities))
    return list((await tx.session.execute(query.order_by(col(Spill.destroyed_at).desc(), col(Spill.id)).limit(most))).scalars())


# -- legal holds


async def holds_of(tx: Transaction, spill_ids: Collection[int]) -> list[LegalHold]:
    """The legal holds that were ever placed on spills, by their numbers, the oldest first."""
    query = select(LegalHold).where(col(LegalHold.spill_id).in_(spill_ids)).order_by(col(LegalHold.id))
    return list((await tx.session.execute(query)).scalars())


async def place_hold(tx: Transaction, spill: Spill, reason: str) -> LegalHold:
    """Keep the record of a spill until the hold is lifted, and with it all that it is merged with. Who may is for the caller to check.

    Raises BadInput without a reason; Conflict, as everything that is recorded, for a record that was destroyed.
    """
    said = _reason(reason, "which suit, audit or inquiry asks for it, and who said so")
    row = LegalHold(spill_id=spill.id or 0, reason=said, placed_by=tx.actor[:320], placed_at=tx.now)
    tx.session.add(row)
    await tx.session.flush()
    await tx.record(spill, HoldPlaced(hold=row.id or 0, reason=said))
    await staff_log.note(tx, "hold:placed", city=spill.city, spill=spill.reference, hold=row.id)
    return row


async def lift_hold(tx: Transaction, spill: Spill, number: int, why: str) -> LegalHold:
    """Let a hold of a spill count no more. Raises BadInput without a reason, NotKnown for a hold that is none or was lifted."""
    said = _reason(why, "why it is over, and who said so")
    query = select(LegalHold).where(col(LegalHold.id) == number, col(LegalHold.spill_id) == spill.id, col(LegalHold.lifted_at).is_(None))
    row: LegalHold | None = (await tx.session.execute(tx.held(query))).scalar_one_or_none()
    if row is None:
        raise NotKnown(f"no hold {number} is on {spill.reference}")
    row.lifted_by, row.lifted_at, row.lifted_why = tx.actor[:320], tx.now, said
    await tx.record(spill, HoldLifted(hold=number, reason=said))
    await staff_log.note(tx, "hold:lifted", city=spill.city, spill=spill.reference, hold=number)
    return row


def _reason(text: str, right: str) -> str:
    said = stated(text)
    if not said or len(said) > LONGEST_REASON:
        raise BadInput("a reason is needed", [f"reason: {'too long' if said else 'missing'}; right would be: {right}"])
    return said
