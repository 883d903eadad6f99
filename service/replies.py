"""What people answer, by text or with the keys of a telephone: acting on what they were told, out and in again, what nobody understands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import func, or_, select
from sqlmodel import col

from service import acting, public_alerts, staff_log
from service.access import Staff
from service.errors import BadInput, NotKnown
from service.events import ReplyReceived
from service.links import CONFIRM_STEP
from service.outbox import OPEN_STATES
from service.parties import respond_url, staff_url
from service.receipts import Heard, message_of, note
from service.reply_words import Command, answer, read_command, role_name
from service.speech import notice_speech
from service.spills import clean
from service.suppressions import OPTED_OUT, restore, standing, suppress
from service.tables import MessageRow, Obligation, Reply, Spill, Subscription
from service.transaction import House, Transaction, reading, transaction
from service.withholding import withheld_from
from service.wording import Part, fitted

# Two machines that answer one another would never end. What holds neither command nor code is answered once an hour; what holds one, but
# recorded nothing, each time: whoever wrote it may believe that it did. Only a machine writes more of those in an hour.
_AN_HOUR = timedelta(hours=1)
_ONCE, _EACH_TIME = 1, 20
_MOST_CHOICES = 3
_LONGEST_TITLE = 60
_OPT_OUT_TYPES = {"STOP": "stop", "START": "start", "HELP": "help"}
_SENT = ("sending", "accepted", "waiting")
_HERE = "\N{OBJECT REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a reply is taken to mean, and about which message; or what it is answered where it can mean nothing."""

    meaning: str
    message: MessageRow | None = None
    answer: str = ""
    most_an_hour: int = _EACH_TIME  # so many answers an hour to what recorded nothing
    subscription: Subscription | None = None


@dataclass(frozen=True, slots=True)
class _Scene:
    """Who wrote, the message to their number that is the latest, and the language they are answered in."""

    number: str
    latest: MessageRow | None
    language: str
    name: str

    @property
    def is_public(self) -> bool:
        """Whether the last that the number was told was told to it as one of the public, who know no codes."""
        return self.latest is not None and self.latest.role in ("public", "reporter")


async def take_text(house: House, form: Mapping[str, str]) -> str:
    """Take in a text and do what it says. Returns the answer to be sent back, empty for none; the same text twice is one."""
    sid, number, text = form.get("MessageSid", ""), form.get("From", ""), clean(form.get("Body", ""))[:1600]
    if not sid or not number:
        raise BadInput("this is no text", ["MessageSid, From: missing; right would be: what Twilio sends"])
    async with reading(house) as tx:
        if (known := await _known(tx, f"sms:{sid}")) is not None:
            return known.answer
        latest = await _latest(tx, number)
    command = read_command(text)
    opt_out = _OPT_OUT_TYPES.get(form.get("OptOutType", "").upper())
    if opt_out:
        command = Command(opt_out, says_yes=command.says_yes and opt_out == "start")  # Twilio takes YES for an opt-in
    language = "es" if command.is_spanish else latest.language if latest else "en"
    async with transaction(house, f"{latest.person if latest else number[:60]} (text message)") as tx:
        await tx.alone_with(f"reply sms:{sid}")
        if (known := await _known(tx, f"sms:{sid}")) is not None:
            return known.answer
        latest = await _latest(tx, number)
        scene = _Scene(number[:320], latest, language, await _name(tx, latest))
        taken = await _understood(tx, scene, command)
        is_answered = taken.meaning == "confirm" or (not opt_out and await _may_answer(tx, number, taken))
        message = taken.message or latest
        tx.actor = f"{message.person} (text message)" if message else tx.actor
        reply = Reply(once=f"sms:{sid}"[:200], channel="sms", sender=scene.number, text=text, received_at=tx.now, meaning=taken.meaning)
        await keep(tx, reply, message)
        said = fitted([Part(taken.answer or await _do(tx, scene, taken))]).text  # names and titles in the letters of a text message
        reply.answer = said if is_answered else ""  # Twilio has answered by itself, or we have not long ago
        return reply.answer


async def _known(tx: Transaction, once: str) -> Reply | None:
    found: Reply | None = (await tx.session.execute(select(Reply).where(col(Reply.once) == once[:200]))).scalar_one_or_none()
    return found


async def _latest(tx: Transaction, address: str) -> MessageRow | None:
    """The message to an address that is the latest of all."""
    query = select(MessageRow).where(func.lower(col(MessageRow.address)) == address.lower(), col(MessageRow.state).in_(_SENT))
    newest = query.order_by(col(MessageRow.promised_at).desc(), col(MessageRow.id)).limit(1)
    found: MessageRow | None = (await tx.session.execute(newest)).scalar_one_or_none()
    return found


async def latest_to(tx: Transaction, address: str) -> MessageRow | None:
    """The latest message to an address, to which an answer without anything better belongs."""
    return await _latest(tx, address)


async def _name(tx: Transaction, latest: MessageRow | None) -> str:
    """Who we are, to whoever was told: Spillclock, and the city it was about."""
    spill = await tx.session.get(Spill, latest.spill_id) if latest and latest.spill_id else None
    city = spill.city if spill and spill.city in tx.house.rulebook.cities else tx.house.first_city
    return f"Spillclock, {tx.house.rulebook.law_of(city).city.title}"


async def keep(tx: Transaction, reply: Reply, message: MessageRow | None) -> None:
    """Keep a reply with what it belongs to, and tell it in the story of the spill."""
    reply.message_id = message.id if message else None
    reply.spill_id = message.spill_id if message else None
    tx.session.add(reply)
    await tx.session.flush()
    if message is not None and message.spill_id is not None:
        received = ReplyReceived(
            person=message.person, sender=reply.sender, channel=reply.channel, text=reply.text[:1600], meaning=reply.meaning,
            message=message.id,
        )  # fmt: skip
        await tx.record(await tx.session.get_one(Spill, message.spill_id), received)


async def _may_answer(tx: Transaction, number: str, taken: _Taken) -> bool:
    """Whether what a number wrote gets an answer: always where it was understood, else so many times an hour."""
    if taken.meaning != "unknown":
        return True
    since = tx.now - _AN_HOUR
    query = select(func.count()).select_from(Reply).where(
        col(Reply.sender) == number, col(Reply.meaning) == "unknown", col(Reply.answer) != "", col(Reply.received_at) > since
    )  # fmt: skip
    return (await tx.session.scalar(query) or 0) < taken.most_an_hour


async def _understood(tx: Transaction, scene: _Scene, command: Command) -> _Taken:
    """What a command is about: the message it names, or the only duty that is open to its sender."""
    if command.says_yes and (said := await _yes(tx, scene, command)) is not None:
        return said
    if command.meaning in ("stop", "start", "help"):
        return _Taken(command.meaning)
    found = await _named(tx, scene.number, command.code) if command.meaning != "unknown" or command.code else []
    if command.meaning == "unknown":
        if found:
            return _Taken("unknown", found[0], answer("alone", scene.language, code=command.code))
        return _Taken("unknown", None, _not_understood(tx, scene), _EACH_TIME if command.is_near else _ONCE)
    if command.code and not found:
        return _Taken("unknown", None, answer("no_such_code", scene.language, code=command.code))
    if not found:
        link = f"{tx.house.settings.public_url}/staff"
        nothing_open = answer("nothing_open", scene.language, link=link)
        return _Taken("unknown", None, _not_understood(tx, scene) if scene.is_public or scene.latest is None else nothing_open)
    if len(found) > 1:
        choices = "; ".join([f"{one.code} = {await _what(tx, one, scene.language)}" for one in found[:_MOST_CHOICES]])
        return _Taken("unknown", None, answer("which", scene.language, number=len(found), choices=choices))
    return _Taken(command.meaning, await message_of(tx, found[0].id))


def _not_understood(tx: Transaction, scene: _Scene) -> str:
    """What somebody is answered whose text means nothing, in words for whoever they are."""
    key = "stranger" if scene.latest is None else "unknown_public" if scene.is_public else "unknown"
    return answer(key, scene.language, name=scene.name, link=f"{tx.house.settings.public_url}/report")


async def _yes(tx: Transaction, scene: _Scene, command: Command) -> _Taken | None:
    """What YES or SI is about: advisories that were asked for, or texts that were ended. None where it is about neither."""
    was_asked_last = scene.latest is not None and scene.latest.step == CONFIRM_STEP
    if command.meaning == "acknowledge" and not was_asked_last and await _named(tx, scene.number, ""):
        return None  # SI to an alert
    asked = await public_alerts.asked_by_text(tx, scene.number)
    if len(asked) == 1:
        return _Taken("confirm", subscription=asked[0])
    if asked:
        return _Taken("unknown", None, answer("several_requests", scene.language, name=scene.name, number=len(asked)))
    barred = (await standing(tx, "sms")).get(scene.number)
    if command.meaning == "start" or (command.meaning == "unknown" and barred is not None and barred.reason == OPTED_OUT):
        return _Taken("start")
    if (counts := await public_alerts.standing_by_text(tx, scene.number)) is not None:
        return _Taken("confirm", subscription=counts)
    if scene.is_public or scene.latest is None:
        link = f"{tx.house.settings.public_url}/alerts"
        return _Taken("unknown", None, answer("no_request", scene.language, name=scene.name, link=link))
    return None


async def _confirm(tx: Transaction, scene: _Scene, row: Subscription) -> str:
    """Have a subscription count that its number said yes to. Returns what that is answered, with what comes from now on."""
    await public_alerts.say_yes(tx, row)
    barred = (await standing(tx, "sms")).get(scene.number)
    if barred is not None and barred.reason == OPTED_OUT:
        await restore(tx, "sms", scene.number, "replied YES", tx.actor)
    city = tx.house.rulebook.law_of(public_alerts.city_of(tx, row.wants)).city.title
    said = answer("confirmed", row.language, name=f"Spillclock, {city}", what=_HERE)
    before, _, after = said.partition(_HERE)
    what = public_alerts.said_of(tx, row, row.language)
    return fitted([Part(before), Part(what, rank=1), Part(after)]).text


async def _do(tx: Transaction, scene: _Scene, taken: _Taken) -> str:
    """Do what a reply says. Returns what it is answered."""
    name, message = scene.name, taken.message
    if taken.subscription is not None:
        return await _confirm(tx, scene, taken.subscription)
    if taken.meaning == "stop":
        new = await suppress(tx, "sms", scene.number, OPTED_OUT, "replied STOP", scene.latest)
        await public_alerts.withdraw_by_text(tx, scene.number, "replied STOP")
        return answer("stop_public" if scene.is_public else "stop", scene.language, name=name) if new else ""
    if taken.meaning == "start":
        await restore(tx, "sms", scene.number, "replied START", tx.actor)
        return answer("start", scene.language, name=name)
    if scene.is_public and taken.meaning == "help":
        return answer("help_public", scene.language, name=name, link=f"{tx.house.settings.public_url}/report")
    if message is None or message.spill_id is None:
        return answer("help", scene.language, name=name, link=f"{tx.house.settings.public_url}/staff")
    await note(tx, message, Heard("read", "reply", f"answered: {taken.meaning}"))
    spill = await tx.session.get_one(Spill, message.spill_id)
    key, more = await _perform(tx, spill, message, taken.meaning, scene.language)
    said = {"what": await _what(tx, message, scene.language), "link": _link(tx, spill, message), "person": message.person, **more}
    return answer(key, scene.language, **said)


async def _named(tx: Transaction, number: str, code: str) -> list[MessageRow]:
    """The messages to a number that a code names, or, without one, the newest about each duty that is still open."""
    query = (
        select(MessageRow, col(Obligation.state))
        .outerjoin(Obligation, col(Obligation.id) == col(MessageRow.obligation_id))
        .where(col(MessageRow.address) == number, col(MessageRow.channel) == "sms", col(MessageRow.state).in_(_SENT))
        .where(col(MessageRow.spill_id).is_not(None), col(MessageRow.carried_by).is_(None), col(MessageRow.code) != "")
        .order_by(col(MessageRow.promised_at).desc(), col(MessageRow.id))
    )
    if code:
        rows = (await tx.session.execute(query.where(col(MessageRow.code) == code))).all()
        alive = [message for message, state in rows if state in OPEN_STATES or state is None]
        return alive[:1] or [message for message, _ in rows[:1]]
    rows = (await tx.session.execute(query.where(col(Obligation.state).in_(OPEN_STATES)))).all()
    newest: dict[int | None, MessageRow] = {}
    for message, _ in rows:
        newest.setdefault(message.obligation_id, message)
    return list(newest.values())


async def _perform(tx: Transaction, spill: Spill, message: MessageRow, meaning: str, language: str) -> tuple[str, dict[str, Any]]:
    """Do one thing about a message. Returns which answer that gets, with its values."""
    if message.obligation_id is None:
        return ("acknowledge_report", {}) if meaning == "acknowledge" else ("more", {})
    duties = await acting.open_duties_of(tx, message)
    if not duties:
        return "closed", {}
    if meaning == "acknowledge":
        await acting.see(tx, spill, message)
        return "acknowledge", {}
    if meaning == "escalate":
        roles = await acting.escalate(tx, spill, message)
        return ("escalate", {"roles": ", ".join(role_name(role, language) for role in roles)}) if roles else ("escalate_none", {})
    if len(duties) > 1:
        return "several", {}
    try:
        await acting.finish(tx, spill, duties[0], message.role, f"{message.person} said so by text message")
    except acting.NotSo as error:
        return error.why, {}
    return ("still_open" if duties[0].state in OPEN_STATES else "done"), {}


async def _what(tx: Transaction, message: MessageRow, language: str) -> str:
    """What a message was about, in short: SP-2026-00001, Call the board within two hours."""
    spill = await tx.session.get_one(Spill, message.spill_id)
    duties = await acting.duties_of(tx, message)
    speech = notice_speech(language)
    if len(duties) != 1:
        return f"{spill.reference}, {speech.count('%(number)s duty', '%(number)s duties', len(duties))}" if duties else spill.reference
    title = speech.say(str(duties[0].clock["title"]))
    return f"{spill.reference}, {title if len(title) <= _LONGEST_TITLE else title[:_LONGEST_TITLE].rpartition(' ')[0] + '...'}"


def _link(tx: Transaction, spill: Spill, message: MessageRow) -> str:
    return respond_url(tx.house, spill) if message.role == "discharger" else staff_url(tx.house, spill)


async def take_key(house: House, key: str, digit: str, call: str) -> MessageRow | None:
    """Take in the key that was pressed in a call about a message: 1 acknowledges. Returns the message; None where there is none."""
    async with reading(house) as tx:
        message = await message_of(tx, key)
    if message is None or digit != "1":
        return message
    async with transaction(house, f"{message.person} (telephone)") as tx:
        once = f"voice:{call}:{digit}"
        await tx.alone_with(f"reply {once}")
        message = await message_of(tx, key)
        if message is None or message.spill_id is None or await _known(tx, once) is not None:
            return message
        reply = Reply(once=once[:200], channel="voice", sender=message.address, text="1", received_at=tx.now, meaning="acknowledge")
        await keep(tx, reply, message)
        await note(tx, message, Heard("read", "reply", "pressed 1"))
        await acting.see(tx, await tx.session.get_one(Spill, message.spill_id), message)
        return message


async def of_spill(tx: Transaction, spill: Spill) -> list[Reply]:
    """What was answered about a spill, newest first."""
    query = select(Reply).where(col(Reply.spill_id) == spill.id).order_by(col(Reply.received_at).desc(), col(Reply.id).desc())
    return list((await tx.session.execute(query)).scalars())


async def unsettled(tx: Transaction, staff: Staff) -> list[tuple[Reply, Spill | None]]:
    """The replies that nobody could make sense of and no person has looked at, oldest first, of the spills that somebody may see.

    What whoever reported a spill wrote is left out for those who may not know them.
    """
    query = (
        select(Reply, Spill)
        .outerjoin(Spill, col(Spill.id) == col(Reply.spill_id))
        .where(col(Reply.meaning) == "unknown", col(Reply.settled_at).is_(None))
        .order_by(col(Reply.received_at), col(Reply.id))
    )
    if staff.cities is not None:
        query = query.where(or_(col(Spill.city).in_(staff.cities), col(Spill.city).is_(None)))
    found = [(reply, spill) for reply, spill in await tx.session.execute(query.limit(500))]
    return [(reply, spill) for reply, spill in found if not _is_of_reporter(staff, reply, spill)]


def _is_of_reporter(staff: Staff, reply: Reply, spill: Spill | None) -> bool:
    """Whether a reply is of a reporter in confidence whom somebody may not know."""
    kept_out = withheld_from(staff.office(spill.city), spill) if spill is not None else None
    return kept_out is not None and kept_out.text(reply.sender) != reply.sender


async def settle(tx: Transaction, staff: Staff, number: int) -> Reply:
    """A person has looked at a reply and done what it needs. Raises NotKnown, NotAllowed below officer."""
    reply = await tx.session.get(Reply, number)
    spill = await tx.session.get(Spill, reply.spill_id) if reply and reply.spill_id else None
    if reply is None or (spill is not None and not staff.may_see(spill.city)):
        raise NotKnown(f"there is no reply {number}")
    staff.require("officer", spill.city if spill else None)
    if reply.settled_at is None:
        reply.settled_at, reply.settled_by = tx.now, staff.email
        await staff_log.note(tx, "reply:settled", city=spill.city if spill else None, reply=number, spill=spill.reference if spill else "")
    return reply
