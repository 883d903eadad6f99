"""Private links for the people of a discharger: issued to a person by name, sent, replaced by a new one, taken back. All on record.

An account is not needed. What is done with a link of a person stands on record under their name; a spill also has one link that is
nobody's in particular, which goes out with the alerts to whoever fills the role of the discharger.
"""

from __future__ import annotations

from sqlalchemy import select, update
from sqlmodel import col

from notifiers.addresses import e164, problem_with_country, problem_with_email
from service import outbox
from service.city_texts import own_texts
from service.errors import BadInput, Conflict, NotKnown
from service.events import LinkEnded, LinkIssued, LinkReplaced, LinkSent
from service.outbox import Promise
from service.parties import LANGUAGES, Person, people_of, respond_url
from service.spills import stated
from service.tables import DischargerLink, MessageRow, Spill
from service.transaction import Transaction
from service.wording import for_respondent

# As many people as any firm has at work on one spill.
MOST_LINKS = 50
ANYBODY = "the discharger"
_CHANNEL_NAMES = {"email": "e-mail", "sms": "text message"}


async def links_of(tx: Transaction, spill: Spill) -> list[DischargerLink]:
    """The links that were issued to people, oldest first, those that were taken back included."""
    found = await tx.session.execute(
        select(DischargerLink).where(col(DischargerLink.spill_id) == spill.id).order_by(col(DischargerLink.id))
    )
    return list(found.scalars())


async def link_of(tx: Transaction, spill: Spill, number: int) -> DischargerLink:
    """One of them by its number. Raises NotKnown for a number that is none of this spill's."""
    found = await tx.session.get(DischargerLink, number) if 0 < number < 2**31 else None
    if found is None or found.spill_id != spill.id:
        raise NotKnown(f"there is no link {number} of {spill.reference}")
    return found


async def issue(tx: Transaction, spill: Spill, name: str, email: str, phone: str, language: str = "en") -> DischargerLink:
    """Issue a link to a person; it is not sent yet. Raises BadInput with one line a fault, Conflict where a spill has far too many."""
    name, email, number = stated(name), stated(email), e164(phone) or ""
    faults = [] if name else ["name: missing; right would be: the person whom the link is for"]
    if email and (problem := problem_with_email(email)):
        faults.append(f"email: {problem}")
    if phone.strip() and not number:
        faults.append(f"phone: {phone.strip()[:40]!r} is not a telephone number; right would be: (909) 555-0100 or +19095550100")
    if number and (problem := problem_with_country(number, tx.house.settings.countries)):
        faults.append(f"phone: {problem}")
    if language not in LANGUAGES:
        faults.append(f"language: {language!r} is not a language here; right would be: one of {', '.join(LANGUAGES)}")
    if faults:
        raise BadInput("the link cannot be issued so", faults)
    if len(await links_of(tx, spill)) >= MOST_LINKS:
        raise Conflict(f"{spill.reference} has {MOST_LINKS} links already; take back or replace one that is there")
    link = DischargerLink(
        spill_id=spill.id or 0, name=name[:200], email=email, phone=number, language=language, issued_by=tx.actor, issued_at=tx.now
    )
    tx.session.add(link)
    await tx.session.flush()
    await tx.record(spill, LinkIssued(link=link.id or 0, name=link.name, email=email, phone=number))
    return link


async def send(tx: Transaction, spill: Spill, link: DischargerLink | None) -> list[str]:
    """Promise the link to its person at every address they have, or the one of nobody in particular to whoever fills the role.

    Returns the channels, in words. Raises BadInput where there is no address to send to, Conflict for one that was taken back.
    """
    _check_works(link)
    people = [_person_of(link)] if link else await people_of(tx, spill, "discharger")
    city = tx.house.rulebook.law_of(spill.city or tx.house.first_city).city.title
    own, used = await own_texts(tx, spill.city), []
    about = Promise(spill, None, "link", "a private link was sent", f"{_climb_of(spill, link)}:{tx.now.isoformat()}")
    for person in people:
        for channel in [channel for channel in person.addresses if channel in _CHANNEL_NAMES]:
            words = for_respondent(spill, person.name, respond_url(tx.house, spill, link), city, channel, person.language, own)
            await outbox.promise(tx, about, person, channel, words)
            used.append(_CHANNEL_NAMES[channel])
    if not used:
        raise BadInput(
            "there is no address to send the link to", ["email, phone: both missing; right would be: one of them, or copy the link"]
        )
    channels = list(dict.fromkeys(used))
    if link:
        link.sent_at = tx.now
    await tx.record(spill, LinkSent(link=link.id if link else None, name=link.name if link else ANYBODY, by=channels))
    return channels


async def replace(tx: Transaction, spill: Spill, link: DischargerLink | None) -> None:
    """Make a new link of it; the old one stops working at once, and is not sent any more where it was still to be."""
    _check_works(link)
    await _take_back(tx, spill, link)
    if link:
        link.version, link.sent_at = link.version + 1, None
    else:
        spill.respond_version += 1
    await tx.record(spill, LinkReplaced(link=link.id if link else None, name=link.name if link else ANYBODY))


async def end(tx: Transaction, spill: Spill, link: DischargerLink) -> None:
    """Take a link back for good. What was done with it stays on record. Raises Conflict where it was taken back already."""
    _check_works(link)
    await _take_back(tx, spill, link)
    link.ended_at = tx.now
    await tx.record(spill, LinkEnded(link=link.id or 0, name=link.name))


def _check_works(link: DischargerLink | None) -> None:
    if link is not None and link.ended_at is not None:
        raise Conflict(f"the link of {link.name} was taken back; issue a new one")


def _person_of(link: DischargerLink) -> Person:
    addresses = {channel: address for channel, address in (("email", link.email), ("sms", link.phone)) if address}
    return Person(link.name, "discharger", addresses, link.language)


def _climb_of(spill: Spill, link: DischargerLink | None) -> str:
    return f"link:{spill.id}:{link.id if link else 'anybody'}"


async def _take_back(tx: Transaction, spill: Spill, link: DischargerLink | None) -> None:
    waiting = (col(MessageRow.climb).startswith(f"{_climb_of(spill, link)}:"), col(MessageRow.state) == "waiting")
    await tx.session.execute(update(MessageRow).where(*waiting).values(state="cancelled", queued=False, next_at=None))
