"""Public subscriptions to advisories: asked for by anybody, counting once the address has said yes, ended by one press.

The answer to a request never tells whether an address is known. The secret of a link is derived for its message; its digest alone is kept.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, or_, select, update
from sqlmodel import col

from deadlines.areas import Circle, read_circle
from notifiers.addresses import e164, problem_with_country, problem_with_email
from service.access import digest_of
from service.city_texts import own_texts
from service.errors import BadInput, NotKnown, SpillclockError
from service.links import CONFIRM_STEP, TO_BE_CONFIRMED, confirm_token
from service.outbox import PATIENCE
from service.parties import LANGUAGES
from service.speech import notice_speech
from service.tables import Attempt, DeliveryReceipt, MessageRow, Subscription
from service.transaction import Transaction
from service.wording import confirmation, wanted_words

CHANNELS = ("email", "sms")
FORGOTTEN_AFTER = timedelta(hours=48)
# Nobody's mailbox is filled: one question to an address in an hour, and so many in an hour to all of them together.
AGAIN_AFTER = timedelta(hours=1)
MOST_AN_HOUR = 500
REPLACED = "replaced by a newer one of the same address"
_RANK = 2
_TOLD = ("accepted", "sending", "waiting")
_FORGET_AT_A_TIME = 200


class TooMany(SpillclockError):
    """More subscriptions were asked for than are taken in an hour."""

    status = 429
    title = "Try again later"


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asks for: cities or a circle, an address of a channel, a language."""

    channel: str
    address: str
    language: str
    cities: Sequence[str] = ()
    circle: Mapping[str, Any] | None = None


async def ask(tx: Transaction, request: Request) -> None:
    """Note a request and send the question to its address. Nothing shows whether one was sent. Raises BadInput, TooMany."""
    wanted = _checked(tx, request)
    lately = (col(Subscription.kind) == "public", col(Subscription.created_at) > tx.now - AGAIN_AFTER)
    if (await tx.session.scalar(select(func.count()).select_from(Subscription).where(*lately)) or 0) >= MOST_AN_HOUR:
        raise TooMany("too many people subscribe at the moment; try again in an hour")
    same = (col(Subscription.channel) == wanted.channel, col(Subscription.address) == wanted.address)
    if await tx.session.scalar(select(func.count()).select_from(Subscription).where(*lately, *same)):
        return
    key = uuid.uuid4().hex
    wants: dict[str, Any] = {"area": dict(wanted.circle)} if wanted.circle else {"cities": list(wanted.cities)}
    row = Subscription(
        kind="public", channel=wanted.channel, address=wanted.address, language=wanted.language, wants=wants, created_at=tx.now,
        digest=digest_of(confirm_token(tx.house, key)), zone=tx.house.rulebook.zones[city_of(tx, wants)].key,
    )  # fmt: skip
    tx.session.add(row)
    await tx.session.flush()
    tx.session.add(await _question(tx, row, key))
    tx.wakes_worker = True


def _checked(tx: Transaction, request: Request) -> Request:
    faults = []
    address = request.address.strip()
    if request.channel not in CHANNELS:
        faults.append(f"channel: right would be: one of {', '.join(CHANNELS)}")
    elif request.channel == "sms":
        number = e164(address) or ""
        problem = problem_with_country(number, tx.house.settings.countries) if number else "it is no telephone number"
        faults += [f"address: {problem}; right would be: (909) 555-0100"] if problem else []
        address = number
    elif problem := problem_with_email(address):
        faults.append(f"address: {problem}")
    if request.language not in LANGUAGES:
        faults.append(f"language: right would be: one of {', '.join(LANGUAGES)}")
    if any(city not in tx.house.cities for city in request.cities):
        faults.append(f"cities: right would be: some of {', '.join(tx.house.cities)}")
    if request.circle is not None:
        try:
            read_circle(request.circle)
        except ValueError as error:
            faults.append(f"area: {error}")
    elif not request.cities:
        faults.append("area: missing; right would be: a city, or a point with a distance")
    if faults:
        raise BadInput("the subscription cannot be taken so", faults)
    return Request(request.channel, address.lower(), request.language, request.cities, request.circle)


def city_of(tx: Transaction, wants: Mapping[str, Any]) -> str:
    """The city whose name and time a subscription is told in: the first it names, or the one nearest to its point."""
    if wants.get("cities"):
        return str(wants["cities"][0])
    nearest = tx.house.places.locate(wants["area"]["lat"], wants["area"]["lon"]).nearest if "area" in wants else None
    return nearest or tx.house.first_city


def said_of(tx: Transaction, row: Subscription, language: str) -> str:
    """What a subscription is for, in words."""
    titles = [tx.house.rulebook.law_of(city).city.title for city in row.wants.get("cities", [])]
    return wanted_words(titles, row.wants.get("area"), notice_speech(language))


async def _question(tx: Transaction, row: Subscription, key: str) -> MessageRow:
    law = tx.house.rulebook.law_of(city_of(tx, row.wants))
    link = f"{tx.house.settings.public_url}/alerts/yes/{TO_BE_CONFIRMED}"
    speech, expires = notice_speech(row.language), row.created_at + FORGOTTEN_AFTER
    own = await own_texts(tx, law.city.id)
    words = confirmation(link, law.city.title, said_of(tx, row, row.language), expires, law.zone, speech, own)
    return MessageRow(
        id=key, once=f"confirm:{row.id}", subscription_id=row.id, person="subscriber", role="public", channel=row.channel,
        address=row.address, subject=words.subject, text=words.body(row.channel), html=words.html if row.channel == "email" else "",
        step=CONFIRM_STEP, reason="asked for on the page /alerts", language=row.language, rank=_RANK, sort_at=tx.now, promised_at=tx.now,
        queued=True, next_at=tx.now, give_up_at=tx.now + PATIENCE,
    )  # fmt: skip


async def of_token(tx: Transaction, token: str) -> Subscription:
    """The subscription that a link confirms. Raises NotKnown for any that is not exactly right, was forgotten or replaced."""
    query = select(Subscription).where(col(Subscription.digest) == digest_of(token), col(Subscription.kind) == "public")
    row: Subscription | None = (await tx.session.execute(query)).scalar_one_or_none()
    if row is None or (row.confirmed_at is None and row.created_at <= tx.now - FORGOTTEN_AFTER):
        raise NotKnown("this link is not valid; ask for a new one")
    return row


async def confirm(tx: Transaction, token: str) -> Subscription:
    """An address says yes; doing it again changes nothing. An earlier subscription of the address ends. Raises NotKnown."""
    row = await of_token(tx, token)
    await say_yes(tx, row)
    return row


async def say_yes(tx: Transaction, row: Subscription) -> None:
    """Have a subscription count, in place of an earlier one of its address. One that counts already, or has ended, stays as it is."""
    if row.confirmed_at is None and row.ended_at is None:
        earlier = (*_standing(row.channel, row.address), col(Subscription.id) != row.id)
        await tx.session.execute(update(Subscription).where(*earlier).values(ended_at=tx.now, ended_why=REPLACED))
        row.confirmed_at = tx.now


async def asked_by_text(tx: Transaction, number: str) -> list[Subscription]:
    """The requests of a telephone number that wait for its yes and whose question went out, oldest first."""
    told = select(col(MessageRow.subscription_id)).where(
        col(MessageRow.step) == CONFIRM_STEP, col(MessageRow.address) == number, col(MessageRow.state).in_(_TOLD)
    )
    mine = (col(Subscription.channel) == "sms", col(Subscription.address) == number, col(Subscription.id).in_(told))
    query = select(Subscription).where(*_unconfirmed(), *mine, col(Subscription.created_at) > tx.now - FORGOTTEN_AFTER)
    return list((await tx.session.execute(query.order_by(col(Subscription.id)))).scalars())


async def standing_by_text(tx: Transaction, number: str) -> Subscription | None:
    """The public subscription that counts for a telephone number, or None."""
    query = select(Subscription).where(*_standing("sms", number))
    found: Subscription | None = (await tx.session.execute(query.order_by(col(Subscription.id).desc()).limit(1))).scalar_one_or_none()
    return found


async def withdraw_by_text(tx: Transaction, number: str, why: str) -> None:
    """Forget what a telephone number was asked to confirm: its owner wants nothing."""
    mine = (col(Subscription.channel) == "sms", col(Subscription.address) == number)
    rows = (await tx.session.execute(select(Subscription).where(*_unconfirmed(), *mine))).scalars().all()
    await _forget(tx, rows, why)


def _standing(channel: str, address: str) -> tuple[Any, ...]:
    """What stands for an address among the public subscriptions."""
    return (
        col(Subscription.kind) == "public", col(Subscription.channel) == channel, col(Subscription.address) == address,
        col(Subscription.confirmed_at).is_not(None), col(Subscription.ended_at).is_(None),
    )  # fmt: skip


async def is_ended(tx: Transaction, row: Subscription) -> bool:
    """Whether nothing more is sent for a subscription: it ended, and for the public nothing newer stands for its address."""
    if row.kind != "public":
        return row.ended_at is not None
    unanswered = row.ended_at is None and row.confirmed_at is None
    return not unanswered and not await tx.session.scalar(
        select(func.count()).select_from(Subscription).where(*_standing(row.channel, row.address))
    )


async def end(tx: Transaction, row: Subscription, why: str) -> None:
    """End a subscription; of the public all that stand for the address, for whoever presses the button wants no more."""
    if row.ended_at is None:
        row.ended_at, row.ended_why, row.next_digest_at = tx.now, why, None
    if row.kind == "public":
        await tx.session.execute(update(Subscription).where(*_standing(row.channel, row.address)).values(ended_at=tx.now, ended_why=why))


async def forget_unconfirmed(tx: Transaction) -> int:
    """Forget whom nobody confirmed for 48 hours: the address goes from the subscription, its messages and their tries. Returns how many."""
    query = select(Subscription).where(*_unconfirmed(), col(Subscription.created_at) <= tx.now - FORGOTTEN_AFTER)
    rows = (await tx.session.execute(query.order_by(col(Subscription.id)).limit(_FORGET_AT_A_TIME))).scalars().all()
    await _forget(tx, rows, "never confirmed")
    return len(rows)


async def _forget(tx: Transaction, rows: Sequence[Subscription], why: str) -> None:
    if not rows:
        return
    mine = select(col(MessageRow.id)).where(col(MessageRow.subscription_id).in_([row.id for row in rows]))
    no_sync = {"synchronize_session": False}
    await tx.session.execute(update(Attempt).where(col(Attempt.message_id).in_(mine)).values(detail=""), execution_options=no_sync)
    await tx.session.execute(delete(DeliveryReceipt).where(col(DeliveryReceipt.message_id).in_(mine)), execution_options=no_sync)
    gone = {"address": "", "subject": "", "text": "", "html": "", "next_at": None, "queued": False}
    await tx.session.execute(update(MessageRow).where(col(MessageRow.id).in_(mine)).values(**gone), execution_options=no_sync)
    under_way = or_(col(MessageRow.state) == "waiting", col(MessageRow.state) == "sending")
    stopped = update(MessageRow).where(col(MessageRow.id).in_(mine), under_way).values(state="cancelled", lease_until=None)
    await tx.session.execute(stopped, execution_options=no_sync)
    for row in rows:
        row.address, row.wants, row.digest = "", {}, digest_of(secrets.token_urlsafe(32))
        row.ended_at, row.ended_why = tx.now, why


def _unconfirmed() -> tuple[Any, ...]:
    return col(Subscription.kind) == "public", col(Subscription.confirmed_at).is_(None), col(Subscription.ended_at).is_(None)


async def next_forgetting_at(tx: Transaction) -> datetime | None:
    """When the next request that nobody confirmed is forgotten."""
    oldest: datetime | None = await tx.session.scalar(select(func.min(col(Subscription.created_at))).where(*_unconfirmed()))
    return oldest + FORGOTTEN_AFTER if oldest else None


def circle_of(wants: Mapping[str, Any]) -> Circle | None:
    """The circle of a public subscription, where it has one."""
    return read_circle(wants["area"]) if "area" in wants else None
