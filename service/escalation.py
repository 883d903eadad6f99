"""Climbing the ladders: who is told when, until the duty is done. Acknowledging rests a person until the next rung, never the duty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, not_, or_, select
from sqlmodel import col

from deadlines import PlannedRung, due_rungs, next_rung
from service import outbox, resting
from service.bundles import Told, alert_about
from service.city_texts import own_texts
from service.codes import new_code
from service.events import (
    ObligationAcknowledged,
    ObligationMet,
    ObligationMoved,
    ObligationOpened,
    ObligationOverdue,
    ObligationWaived,
    ObligationWithdrawn,
    RungReached,
    RungReachedNobody,
    RungRested,
    TriageAsked,
)
from service.ladders import OPEN_STATES, Step, planned, steps_of
from service.outbox import Promise
from service.parties import Person, last_resort, link_for, people_for_triage, people_of, staff_url
from service.resting import acknowledgements
from service.speech import notice_speech
from service.tables import EventRow, MessageRow, Obligation, Spill
from service.transaction import Recorded, Transaction
from service.turns import cities_waiting
from service.wording import Alert, Values, Words, alert, local, triage
from service.wording.alerts import alert_values

BATCH = 20
# A message that goes out within so long is on its way; one that waits longer waits for the end of quiet hours.
_SOON = timedelta(minutes=5)
_Closing = ObligationMet | ObligationWithdrawn | ObligationWaived


# A rung at its moment: its step, and the time of the clock that it counts from.
_Moment = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class _Told:
    """What was told about an obligation before it was planned anew: which rungs at which moments, and to which address each last."""

    reached: set[_Moment]
    sent: set[tuple[_Moment, str, str]]

    def is_old(self, rung: PlannedRung, clock: Mapping[str, Any]) -> bool:
        """Whether a rung was climbed at this very moment and everybody it told has it."""
        return _moment_of(rung.step, clock) in self.reached

    def has_it(self, step: Step, clock: Mapping[str, Any], person: Person, channel: str) -> bool:
        """Whether an address was told all that a step stands for."""
        return all((_moment_of(name, clock), channel, person.addresses[channel]) in self.sent for name in step.steps)


def _moment_of(step: str, clock: Mapping[str, Any]) -> _Moment:
    return step, clock["due_at"] if step.startswith("due") else clock["starts_at"]


async def begin(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to an opened or moved obligation: plan its ladder, and climb what is already due."""
    event = recorded.event
    if not isinstance(event, (ObligationOpened, ObligationMoved)):
        return
    obligation = await tx.obligation(event.obligation)
    moved = isinstance(event, ObligationMoved)
    if isinstance(event, ObligationMoved) and not event.replanned:
        return
    told = await _told_before(tx, obligation) if isinstance(event, ObligationMoved) and (event.calendar or event.regrouped) else None
    if moved:
        await outbox.cancel(tx, obligation)
    outbox.plan_anew(tx, obligation)
    obligation.climbed_to = None
    is_past = tx.rests_before is not None and obligation.due_at is not None and obligation.due_at < tx.rests_before
    rungs = planned(obligation) if obligation.state in OPEN_STATES and not is_past else []
    obligation.next_at = rungs[0].at if rungs else None
    if obligation.next_at is not None and obligation.next_at <= tx.now:
        await climb(tx, recorded.spill, obligation, rungs, changed=moved, told=told)
    tx.wakes_worker = True


async def _told_before(tx: Transaction, obligation: Obligation) -> _Told:
    """What the plans so far have told about an obligation. Asked before that which still waits is taken back."""
    kinds = (ObligationOpened.kind, ObligationMoved.kind, RungReached.kind, RungRested.kind, RungReachedNobody.kind)
    # Columns, not rows: a change of a calendar does this for hundreds of clocks, and a session looks through every row it holds.
    happened = select(col(EventRow.kind), col(EventRow.opened)).where(
        col(EventRow.spill_id) == obligation.spill_id, col(EventRow.kind).in_(kinds)
    )
    plans: list[Mapping[str, Any]] = []
    reached: set[_Moment] = set()
    for kind, payload in await tx.session.execute(happened.order_by(col(EventRow.id))):
        if payload["obligation"] != obligation.id:
            continue
        if kind == ObligationOpened.kind or payload.get("replanned"):
            plans.append(payload["clock"])
        elif "steps" in payload and plans and not payload.get("at_once"):
            moments = {_moment_of(step, plans[-1]) for step in payload["steps"]}
            # What an acknowledgement still keeps back is looked at anew.
            reached = reached - moments if payload.get("until", "") > tx.now.isoformat() else reached | moments
    last: dict[tuple[str, str, str], str | None] = {}  # what each address was told last of each rung
    columns = (col(MessageRow.climb), col(MessageRow.state), col(MessageRow.channel), col(MessageRow.address))
    mine = select(*columns).where(col(MessageRow.obligation_id) == obligation.id)
    messages = [(climb_id.split(":"), state, channel, address) for climb_id, state, channel, address in await tx.session.execute(mine)]
    for parts, state, channel, address in sorted(messages, key=lambda one: int(one[0][1])):
        _, number, steps, *at_once = parts
        if at_once or int(number) > len(plans):
            continue
        moments = {_moment_of(step, plans[int(number) - 1]) for step in steps.split(",")}
        if state in ("accepted", "refused", "gave_up"):
            last.update({(step, channel, address): moment for step, moment in moments})
        else:  # taken back or under way: whoever has not got it is told by the new plan
            reached -= moments
    sent = {((step, moment), channel, address) for (step, channel, address), moment in last.items()}
    superseded = {(step, moment) for step, moment in reached for (other, *_), said in last.items() if other == step and said != moment}
    return _Told(reached - superseded, sent)


async def stop(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to a duty met, withdrawn or waived: nothing planned about it stays."""
    event = recorded.event
    if isinstance(event, _Closing):
        obligation = await tx.obligation(event.obligation)
        obligation.next_at = None
        await outbox.cancel(tx, obligation)


async def rest(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to an acknowledgement: what that person was still to get about this rung is taken back."""
    if isinstance(recorded.event, ObligationAcknowledged):
        obligation = await tx.obligation(recorded.event.obligation)
        await outbox.cancel(tx, obligation, recorded.event.person)


async def climb(
    tx: Transaction,
    spill: Spill,
    obligation: Obligation,
    rungs: list[PlannedRung] | None = None,
    *,
    changed: bool = False,
    told: _Told | None = None,
) -> None:
    """Climb every rung that is due, all of them in one message a person and channel, and say when to climb next.

    `rungs`: the ladder, where whoever calls has planned it already. A rung that finds nobody is recorded as an alarm, and the next one is
    climbed at once. What was `told` before is not told again.
    """
    if obligation.state not in OPEN_STATES:
        obligation.next_at = None
        return
    rungs = planned(obligation) if rungs is None else rungs
    due = due_rungs(rungs, obligation.climbed_to, tx.now)
    if told is not None:
        obligation.climbed_to = tx.now
        due = [rung for rung in due if not told.is_old(rung, obligation.clock)]
    await _note_overdue(tx, spill, obligation)
    can_rest = resting.can_rest(rungs, tx.now)
    kept = await resting.kept_back(tx, spill, obligation, rungs) if can_rest else []
    obligation.climbed_to = max(tx.now, due[-1].at) if due else obligation.climbed_to
    steps = await resting.run_out(tx, spill, obligation, rungs, kept)
    if wanted := await resting.wanted(tx, spill, obligation, rungs, due):
        steps.append(Step(wanted))
    for step in steps:
        await _tell(tx, spill, obligation, step, rungs, changed=changed, told=told)
    kept = await resting.kept_back(tx, spill, obligation, rungs) if can_rest else []
    obligation.next_at = _next_climb(obligation, rungs, tx.now, [one.until for one in kept])


def _next_climb(obligation: Obligation, rungs: list[PlannedRung], now: datetime, kept_until: list[datetime]) -> datetime | None:
    following = next_rung(rungs, max(obligation.climbed_to or now, now))
    moments = [*kept_until, *([following.at] if following else [])]
    if not obligation.overdue_noted and obligation.due_at is not None:
        # The due moment itself is still on time; the record of a missed duty is made the second after.
        moments.append(max(obligation.due_at + timedelta(seconds=1), now))
    return min(moments, default=None)


async def _note_overdue(tx: Transaction, spill: Spill, obligation: Obligation) -> None:
    if obligation.due_at is not None and tx.now > obligation.due_at and not obligation.overdue_noted:
        obligation.overdue_noted = True
        obligation.state = "overdue"
        event = ObligationOverdue(obligation=obligation.id or 0, duty=obligation.duty, due_at=obligation.due_at.isoformat())
        await tx.record(spill, event, obligation.due_at)


async def _tell(
    tx: Transaction,
    spill: Spill,
    obligation: Obligation,
    step: Step,
    rungs: list[PlannedRung],
    *,
    changed: bool,
    told: _Told | None = None,
) -> None:
    """Promise the messages of a step; where it finds nobody, raise the alarm and take the next rung at once, and so on to the top."""
    while True:
        people = await _people(tx, spill, step)
        if people:
            lacking = [one for one in people if told is None or not told.has_it(step, obligation.clock, *one)]
            if lacking:
                await _promise(tx, spill, obligation, step, lacking, changed=changed)
            return
        roles = ", ".join(sorted({role for rung in step.rungs for role in rung.tell}))
        await _alarm(tx, spill, obligation, step.steps, f"nobody with an address fills the role: {roles}")
        following = next_rung(rungs, step.rungs[-1].at)
        if following is None:
            last = [(person, channel) for person in await last_resort(tx, spill) for channel in person.addresses]
            if last:
                await _promise(tx, spill, obligation, step, last, changed=changed)
            return
        step = Step([following], at_once=True)


async def _alarm(tx: Transaction, spill: Spill, obligation: Obligation, steps: list[str], reason: str) -> None:
    await tx.record(spill, RungReachedNobody(obligation=obligation.id or 0, duty=obligation.duty, steps=steps, reason=reason))


async def _people(tx: Transaction, spill: Spill, step: Step) -> list[tuple[Person, str]]:
    """Each address once, however many roles and rungs lead to it."""
    roles = dict.fromkeys(role for rung in step.rungs for role in rung.tell)
    filled = {role: await people_of(tx, spill, role) for role in roles}
    found: dict[tuple[str, str], tuple[Person, str]] = {}
    for rung in step.rungs:
        for role in rung.tell:
            for person in filled[role]:
                for channel in rung.by:
                    if channel in person.addresses:
                        found.setdefault((channel, person.addresses[channel].lower()), (person, channel))
    return list(found.values())


async def _promise(
    tx: Transaction,
    spill: Spill,
    obligation: Obligation,
    step: Step,
    people: list[tuple[Person, str]],
    *,
    changed: bool,
    again: bool = False,
) -> None:
    """Promise a step to people; `again` where they were promised it before, by a channel that failed."""
    late_since = None if again else step.late_since(tx.now, spill.received_at)
    reason = f"{obligation.duty}, rung {step.name}"
    if late_since is not None:
        reason += f" (stands for {', '.join(step.steps)})"
    if step.seen is not None:
        reason += f" (acknowledged by {step.seen[0]}, not done yet)"
    said = Told(step, late_since, changed)
    drafts: dict[str, tuple[Alert, Values]] = {}
    words: dict[tuple[str, ...], Words] = {}
    told = []
    for person, channel in people:
        code = await new_code(tx, channel, person.addresses[channel])
        key = (link_for(tx.house, spill, person.role), person.language, code, channel)
        if person.language not in drafts:
            draft = await alert_about(tx, spill, obligation, said, person.role, person.language)
            drafts[person.language] = draft, alert_values(draft, notice_speech(person.language))
        if key not in words:
            draft, values = drafts[person.language]
            words[key] = alert(replace(draft, link=key[0], code=code), channel, values)
        about = Promise(spill, obligation, step.name, f"{reason}, to the {person.role.replace('_', ' ')}", step.climb_of(obligation))
        promised = await outbox.promise(tx, about, person, channel, words[key], code)
        told.append(f"{person.name} ({channel}{_waits(tx, spill, person, promised.next_at)})")
    if again:
        return
    told = list(dict.fromkeys(told))
    await tx.record(
        spill, RungReached(obligation=obligation.id or 0, duty=obligation.duty, steps=step.steps, told=told, at_once=step.at_once)
    )


def _waits(tx: Transaction, spill: Spill, person: Person, at: datetime | None) -> str:
    """Until when a message waits for the end of quiet hours, in words; nothing for one that goes at once or in a few minutes."""
    if person.quiet is None or at is None or at <= tx.now + _SOON:
        return ""
    return f", after their quiet hours, {local(at, tx.house.rulebook.law_of(spill.city or '').zone)}"


async def tell_otherwise(tx: Transaction, spill: Spill, obligation: Obligation, message: MessageRow, person: Person, channel: str) -> None:
    """Promise a person by another channel what a message to them said that did not get through."""
    rungs = _rungs_of(obligation, message)
    if rungs:
        step = Step(rungs, message.climb.endswith(":at once"))
        await _promise(tx, spill, obligation, step, [(person, channel)], changed=False, again=True)


def _rungs_of(obligation: Obligation, message: MessageRow) -> list[PlannedRung]:
    """The rungs that a message stands for, as they are planned now."""
    steps = steps_of(message.climb)
    return [rung for rung in planned(obligation) if rung.step in steps]


def channels_for(obligation: Obligation, message: MessageRow) -> list[str]:
    """The channels by which a message may be told: those of its rungs first, then those of the whole ladder."""
    rungs = [*_rungs_of(obligation, message), *planned(obligation)]
    return list(dict.fromkeys(channel for rung in rungs for channel in rung.by))


async def has_seen(tx: Transaction, spill: Spill, obligation: Obligation, message: MessageRow) -> bool:
    """Whether the person whom a message tells has acknowledged since it was promised."""
    names = (message.person.lower(), message.address.lower())
    return any(person.lower() in names and at >= message.promised_at for person, at in await acknowledgements(tx, spill, obligation))


async def wake_somebody_else(tx: Transaction, spill: Spill, obligation: Obligation, message: MessageRow, reason: str) -> None:
    """A message got nowhere: where it was the last hope of its rung, that is an alarm and the next rung is climbed at once."""
    got_nowhere = or_(col(MessageRow.state).in_(("refused", "gave_up")), col(MessageRow.receipt).in_(("undelivered", "bounced")))
    alive = await tx.session.scalar(
        select(func.count()).select_from(MessageRow).where(col(MessageRow.climb) == message.climb, not_(got_nowhere))
    )
    if alive or obligation.state not in OPEN_STATES:
        return
    steps = steps_of(message.climb)
    failed = "arrived" if message.state == "accepted" else "could be handed over"
    await _alarm(tx, spill, obligation, steps, f"none of its messages {failed}, the last: {reason}")
    at = max((rung.at for rung in _rungs_of(obligation, message)), default=tx.now)
    following = next_rung(planned(obligation), at)
    if following is not None:
        await _tell(tx, spill, obligation, Step([following], at_once=True), planned(obligation), changed=False)


async def climb_now(tx: Transaction, spill: Spill, obligation: Obligation) -> list[str]:
    """Tell the next people up at once because somebody asked for it: of the lowest rung with any whom no alert of this duty told.

    The rung's own moment stands. Where the roles further up reach nobody, that is an alarm and the administrators are told. Returns the
    roles that are told; none where nobody stands further up.
    """
    rungs = planned(obligation)
    roles, addresses = await _told_of(tx, obligation)
    nobody: PlannedRung | None = None
    for rung in rungs:
        step = Step([rung], at_once=True)
        people = await _people(tx, spill, step)
        new = [one for one in people if one[0].role not in roles and _address_of(*one) not in addresses]
        if new:
            await _promise(tx, spill, obligation, step, new, changed=False)
            return list(dict.fromkeys(person.role for person, _ in new))
        nobody = nobody or (None if people else rung)
    last = [(person, channel) for person in await last_resort(tx, spill) for channel in person.addresses]
    last = [one for one in last if _address_of(*one) not in addresses]
    if nobody is None or not last:
        return []
    step = Step([nobody], at_once=True)
    await _alarm(tx, spill, obligation, step.steps, f"nobody with an address fills the role: {', '.join(sorted(nobody.tell))}")
    await _promise(tx, spill, obligation, step, last, changed=False)
    return list(dict.fromkeys(person.role for person, _ in last))


def _address_of(person: Person, channel: str) -> tuple[str, str]:
    return channel, person.addresses[channel].lower()


async def _told_of(tx: Transaction, obligation: Obligation) -> tuple[set[str], set[tuple[str, str]]]:
    """The roles and addresses that an alert about an obligation went to or goes to now; one that waits for the morning tells nobody yet."""
    columns = (col(MessageRow.role), col(MessageRow.channel), func.lower(col(MessageRow.address)))
    soon = col(MessageRow.next_at) <= tx.now + _SOON
    went = or_(col(MessageRow.state) != "waiting", col(MessageRow.tries) > 0, col(MessageRow.next_at).is_(None), soon)
    mine = (col(MessageRow.obligation_id) == obligation.id, col(MessageRow.state) != "cancelled", went)
    rows = (await tx.session.execute(select(*columns).where(*mine).distinct())).all()
    return {role for role, _, _ in rows}, {(channel, address) for _, channel, address in rows}


async def ask_a_person(tx: Transaction, recorded: Recorded) -> None:
    """Reaction to a report that no clock can run for yet: a duty officer is told."""
    if not isinstance(recorded.event, TriageAsked):
        return
    spill, reason = recorded.spill, recorded.event.reason
    for person in await people_for_triage(tx, spill):
        for channel in person.addresses:
            code = await new_code(tx, channel, person.addresses[channel])
            words = triage(spill, reason, staff_url(tx.house, spill), person.language, code, await own_texts(tx, spill.city))
            about = Promise(spill, None, "triage", f"triage: {reason}", f"triage:{spill.id}")
            await outbox.promise(tx, about, person, channel, words, code)


async def due_obligations(tx: Transaction) -> list[Obligation]:
    """Obligations whose next climb is due, earliest first, a batch at a time; on PostgreSQL those another worker holds are passed over.

    Where a batch does not hold all of them, as many more of other cities, in turn: they do not wait for one with thousands.
    """
    due = select(Obligation).where(col(Obligation.next_at) <= tx.now).order_by(col(Obligation.next_at))
    rows = list((await tx.session.execute(tx.held(due.limit(BATCH), skip_locked=True))).scalars())
    if len(rows) < BATCH:
        return rows
    planned_ones, here = col(Obligation.next_at).is_not(None), {row.city for row in rows}
    others = [
        city for city in await cities_waiting(tx, Obligation, planned_ones, due=col(Obligation.next_at) <= tx.now) if city not in here
    ]
    for city in others[:BATCH]:
        theirs = due.where(col(Obligation.city) == city).limit(max(1, BATCH // len(others)))
        rows += (await tx.session.execute(tx.held(theirs, skip_locked=True))).scalars()
    return rows


async def next_climb_at(tx: Transaction) -> datetime | None:
    """When the next ladder is to be climbed."""
    moment: datetime | None = await tx.session.scalar(select(func.min(col(Obligation.next_at))))
    return moment
