"""Who fills a role for a spill, and the private links that let them in."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from deadlines.ladder import ROLES
from notifiers.addresses import e164, problem_with_country, problem_with_email
from notifiers.apprise_channel import problem_with_apprise, problem_with_parts
from notifiers.webhook import problem_with_webhook, webhook_secret
from service import former_contacts, staff_log
from service.access import administrators_of
from service.errors import BadInput, NotKnown, SpillclockError
from service.on_call import forget_rosters, roster_of, take_off
from service.quiet_hours import read_quiet
from service.settings import Settings
from service.spills import clean
from service.tables import Contact, DischargerLink, Spill
from service.transaction import House, Transaction

ROLE_NAMES = {"discharger": "discharger", "duty_officer": "duty officer", "supervisor": "supervisor", "director": "director"}

LANGUAGES = ("en", "es")
_RESPOND_TOKEN = re.compile(
    r"(?P<body>(?P<reference>SP-[0-9]{4}-[0-9]{5,12})\.(?:p(?P<link>[0-9]{1,9})\.)?(?P<version>[0-9]{1,9}))\.[A-Za-z0-9_-]{24}"
)
_QUIET = re.compile(r"((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who can be told: name, role, an address for each channel that reaches them, the language they read, their quiet hours."""

    name: str
    role: str
    addresses: dict[str, str]
    language: str = "en"
    quiet: tuple[str, str] | None = None


async def people_of(tx: Transaction, spill: Spill, role: str, at: datetime | None = None) -> list[Person]:
    """Who fills a role for this spill at a moment (default: now); empty where nobody does.

    The named discharger where there is one, else those of the city's contacts who are on call.
    """
    if role == "discharger" and spill.discharger.get("name"):
        return [_person(spill.discharger["name"], role, spill.discharger, spill.language)]
    return [_of_contact(contact) for contact in (await roster_of(tx, spill.city, role)).told(at or tx.now)]


async def people_for_triage(tx: Transaction, spill: Spill) -> list[Person]:
    """Who looks at a report: the duty officers of its city, where it has none yet of the nearest city that has any, else of every city."""
    cities = set((await tx.session.execute(select(col(Contact.city)).where(col(Contact.role) == "duty_officer").distinct())).scalars())
    if spill.city is not None:
        cities = {spill.city} & cities or cities
    elif spill.lat is not None and spill.lon is not None:
        nearest = tx.house.places.locate(spill.lat, spill.lon).nearest
        cities = {nearest or ""} & cities or cities
    rosters = [await roster_of(tx, city, "duty_officer") for city in sorted(cities)]
    found = [_of_contact(contact) for roster in rosters for contact in roster.told(tx.now)]
    return [person for person in found if person.addresses] or await last_resort(tx, spill)


async def last_resort(tx: Transaction, spill: Spill) -> list[Person]:
    """Who is told when no role reaches anybody: the administrators of this city or of all."""
    administrators = await administrators_of(tx, spill.city)
    return [_person(account.email, "administrator", {"email": account.email}) for account in administrators]


def _of_contact(contact: Contact) -> Person:
    person = _person(contact.name, contact.role, {"email": contact.email, "phone": contact.phone}, contact.language)
    # Of contacts alone: what a report says about its discharger must not choose which web addresses we call.
    more = {"voice": contact.phone if contact.voice else "", "webhook": contact.webhook, "apprise": contact.apprise}
    quiet = (contact.quiet_from, contact.quiet_to) if contact.quiet_from and contact.quiet_to else None
    return replace(person, quiet=quiet, addresses=person.addresses | {channel: address for channel, address in more.items() if address})


def _person(name: str, role: str, reach: dict[str, Any], language: str = "en") -> Person:
    addresses = {"email": reach.get("email") or "", "sms": reach.get("phone") or ""}
    return Person(name, role, {channel: address for channel, address in addresses.items() if address}, language)


async def contacts(tx: Transaction) -> list[Contact]:
    """Everybody who fills a role, by city and role."""
    found = await tx.session.execute(select(Contact).order_by(col(Contact.city), col(Contact.role), col(Contact.id)))
    return list(found.scalars())


async def add_contact(
    tx: Transaction,
    city: str,
    role: str,
    name: str,
    email: str,
    phone: str,
    *,
    voice: bool = False,
    webhook: str = "",
    apprise: str = "",
    language: str = "en",
    quiet: str = "",
) -> Contact:
    """Have a person fill a role of a city; what may be given: `read_contact`. Raises BadInput, naming every fault."""
    contact = read_contact(
        tx.house, city, role, name, email, phone, voice=voice, webhook=webhook, apprise=apprise, language=language, quiet=quiet
    )
    await enter_contact(tx, contact)
    return contact


async def enter_contact(tx: Transaction, contact: Contact, **said: Any) -> None:
    """Have a contact that was read fill its role from now on, with a note in the log of staff."""
    tx.session.add(contact)
    await tx.session.flush()
    forget_rosters(tx)
    await note_contact(tx, "contact:added", contact, **said)


def read_contact(
    house: House,
    city: str,
    role: str,
    name: str,
    email: str,
    phone: str,
    *,
    voice: bool = False,
    webhook: str = "",
    apprise: str = "",
    language: str = "en",
    quiet: str = "",
) -> Contact:
    """A contact that is not stored; `voice`: the phone may be called too; `quiet`: 22:00-06:00, in local time, or nothing.

    Raises BadInput for an unknown city or role, or an address nothing can be sent to, naming every fault.
    """
    number = e164(phone) or ""
    faults = []
    if city not in house.cities:
        faults.append(f"CITY: {city!r} is not a known city; right would be: one of {', '.join(house.cities)}")
    if role not in ROLES:
        faults.append(f"ROLE: {role!r} is not a role; right would be: one of {', '.join(ROLES)}")
    if not name.strip():
        faults.append("NAME: missing; right would be: a person or a desk")
    if email and (problem := problem_with_email(email)):
        faults.append(f"--email: {problem}")
    faults += _faults_of_phone(house.settings, phone, number, voice=voice)
    faults += _faults_of_addresses(house.settings, webhook, apprise)
    if not (email or phone or webhook or apprise):
        faults.append("--email, --phone: both missing, and no --webhook or --apprise; right would be: at least one of them")
    if language not in LANGUAGES:
        faults.append(f"--language: {language!r} is not a language here; right would be: one of {', '.join(LANGUAGES)}")
    hours = _QUIET.fullmatch(quiet)
    if quiet and (not hours or hours[1] == hours[2]):
        faults.append(f"--quiet: {quiet!r} is no span of a day; right would be: 22:00-06:00")
    if faults:
        raise BadInput("the contact cannot be added", faults)
    return Contact(
        city=city, role=role, name=name.strip()[:200], email=email, phone=number, voice=voice, webhook=webhook, apprise=apprise,
        language=language, quiet_from=hours[1] if hours else "", quiet_to=hours[2] if hours else "",
    )  # fmt: skip


async def note_contact(tx: Transaction, kind: str, contact: Contact, **said: Any) -> None:
    """Note in the log of staff what was done to a contact."""
    await staff_log.note(tx, kind, city=contact.city, contact=contact.id, name=contact.name, role=contact.role, **said)


def _faults_of_phone(settings: Settings, phone: str, number: str, *, voice: bool) -> list[str]:
    faults = []
    if phone and not number:
        faults.append(f"--phone: {phone!r} is not a telephone number; right would be: (909) 555-0100 or +19095550100")
    if number and (problem := problem_with_country(number, settings.countries)):
        faults.append(f"--phone: {problem} What is allowed looks like +19095550100.")
    if voice and not phone:
        faults.append("--voice: there is no telephone number to call; right would be: --phone with one, too")
    return faults


def _faults_of_addresses(settings: Settings, webhook: str, apprise: str) -> list[str]:
    faults = []
    if webhook and (problem := problem_with_webhook(webhook, allow_private=settings.webhook_private)):
        faults.append(f"--webhook: {problem}")
    if apprise and (problem := problem_with_apprise(apprise, allow_private=settings.webhook_private) or problem_with_parts(apprise)):
        faults.append(f"--apprise: {problem}")
    return faults


def how_else(contact: Contact) -> list[str]:
    """How a contact is reached beside e-mail and SMS, for a list. An Apprise address holds a login, and is named by its service alone."""
    words = [
        "calls" if contact.voice else "",
        contact.webhook,
        f"{contact.apprise.partition('://')[0]}://..." if contact.apprise else "",
        contact.language if contact.language != "en" else "",
        f"quiet {contact.quiet_from}-{contact.quiet_to}" if contact.quiet_from else "",
    ]
    return [word for word in words if word]


def secret_of(house: House, contact: Contact) -> str:
    """What the messages to a contact's webhook are signed with, as a receiver enters it (whsec_...); empty without a webhook."""
    return webhook_secret(house.signing_key, contact.webhook) if contact.webhook else ""


async def remove_contact(tx: Transaction, number: int) -> Contact:
    """Take a contact out, and off every rota; what was sent to them stays on record. Raises NotKnown."""
    contact = await tx.session.get(Contact, number)
    if contact is None:
        raise NotKnown(f"there is no contact {number}; see them with: spillclock contact list")
    await take_off(tx, contact)
    await former_contacts.note(tx, "contact:removed", contact, former_contacts.values_of(contact), None)
    await tx.session.delete(contact)
    await tx.session.flush()
    forget_rosters(tx)
    return contact


async def set_quiet(tx: Transaction, number: int, quiet: str) -> Contact:
    """Set a contact's quiet hours, 22:00-06:00 in local time of the city, or none. Raises NotKnown, BadInput."""
    contact = await tx.session.get(Contact, number)
    if contact is None:
        raise NotKnown(f"there is no contact {number}; see them with: spillclock contact list")
    before = former_contacts.values_of(contact)
    try:
        contact.quiet_from, contact.quiet_to = read_quiet(quiet) if quiet else ("", "")
    except ValueError as error:
        raise BadInput("these hours cannot be kept", [f"HOURS: {error}; right would be: 22:00-06:00, or none"]) from None
    await tx.session.flush()
    forget_rosters(tx)
    await former_contacts.note(tx, "contact:quiet", contact, before, former_contacts.values_of(contact), hours=quiet or "none")
    return contact


def link_token(house: House, purpose: str, spill: Spill, link: DischargerLink | None = None) -> str:
    """The secret part of a private link, derived and never stored: what it opens, its version and a MAC over both for one purpose.

    `link` is the person whom the discharger's link was issued to; None is the one that is nobody's in particular.
    """
    if link is not None:
        return _signed(house, purpose, f"{spill.reference}.p{link.id}.{link.version}")
    return _signed(house, purpose, f"{spill.reference}.{spill.respond_version if purpose == 'respond' else spill.link_version}")


def _signed(house: House, purpose: str, body: str) -> str:
    mac = hmac.new(house.signing_key, f"{purpose}|{body}".encode(), hashlib.sha256).digest()
    return f"{body}.{base64.urlsafe_b64encode(mac[:18]).decode()}"


async def spill_of_token(tx: Transaction, purpose: str, token: str) -> Spill:
    """The spill a private link leads to. Raises NotKnown for any token that is not exactly right, whatever is wrong with it."""
    try:
        spill = await tx.spill(clean(token.split(".")[0])[:24])
    except NotKnown:
        spill = None
    # Compared even where there is no spill, so that the time taken tells nothing.
    wanted = link_token(
        tx.house, purpose, spill or Spill(reference="none", received_at=tx.now, facts={}, flags=[], reporter={}, discharger={})
    )
    if not hmac.compare_digest(wanted.encode(), token.encode("utf-8", "replace")) or spill is None:
        raise NotKnown("this link is not valid; ask for a new one")
    return spill


@dataclass(frozen=True, slots=True)
class Respondent:
    """Whoever opens a discharger's private link: the spill it leads to, and the person it was issued to, where it was to one."""

    spill: Spill
    link: DischargerLink | None

    @property
    def actor(self) -> str:
        """How the record names them."""
        everybody = f"discharger of {self.spill.reference}"
        return f"{self.link.name}, {everybody}"[:200] if self.link else everybody


class LinkNoLongerWorks(SpillclockError):
    """A private link that was good once. `why`: replaced, ended."""

    status = 410
    title = "This link no longer works"

    def __init__(self, why: str) -> None:
        super().__init__(f"this link was {why}; ask the city for a new one")
        self.why = why


async def respondent_of_token(tx: Transaction, token: str) -> Respondent:
    """Who opens a discharger's link. Raises NotKnown for whatever was never a link of ours, LinkNoLongerWorks for one that was."""
    parts = _RESPOND_TOKEN.fullmatch(token)
    # The MAC is looked at before the database: the answer to a made-up token is the same whether its spill exists or not.
    if parts is None or not hmac.compare_digest(_signed(tx.house, "respond", parts["body"]).encode(), token.encode()):
        raise NotKnown("this link is not valid; ask for a new one")
    spill, version, link = await tx.spill(parts["reference"]), int(parts["version"]), None
    current = spill.respond_version
    if parts["link"]:
        link = await tx.session.get(DischargerLink, int(parts["link"]))
        if link is None or link.spill_id != spill.id:  # signed by us, but of a database that was put back since
            raise NotKnown("this link is not valid; ask for a new one")
        if link.ended_at is not None:
            raise LinkNoLongerWorks("ended")
        current = link.version
    if version != current:
        raise LinkNoLongerWorks("replaced")
    return Respondent(spill, link)


# How the flag of a report begins whose reporter left an address that is none; the way follows: email, phone.
NO_MESSAGE = "contact: no message can reach the reporter by the address given for "


def reachable(house: House, reporter: Mapping[str, Any]) -> dict[str, str]:
    """The addresses of a reporter that messages can go to, by channel; none of one who is anonymous, or left none that can be used."""
    given = reporter if reporter.get("privacy") != "anonymous" else {}
    email, number = str(given.get("email") or "").strip(), e164(str(given.get("phone") or "")) or ""
    usable = {
        "email": email if email and not problem_with_email(email) else "",
        "sms": number if number and not problem_with_country(number, house.settings.countries) else "",
    }
    return {channel: address for channel, address in usable.items() if address}


def unreachable(house: House, reporter: Mapping[str, Any]) -> list[str]:
    """The ways, email and phone, for which a reporter left something that no message can reach from here."""
    given, usable = reporter if reporter.get("privacy") != "anonymous" else {}, reachable(house, reporter)
    return [way for way, channel in (("email", "email"), ("phone", "sms")) if str(given.get(way) or "").strip() and channel not in usable]


def status_url(house: House, spill: Spill) -> str:
    """The reporter's private page."""
    return f"{house.settings.public_url}/status/{link_token(house, 'status', spill)}"


def respond_url(house: House, spill: Spill, link: DischargerLink | None = None) -> str:
    """The discharger's private page, by the link of a person or by that of nobody in particular."""
    return f"{house.settings.public_url}/respond/{link_token(house, 'respond', spill, link)}"


def link_for(house: House, spill: Spill, role: str) -> str:
    """The page that a message to somebody in this role leads to."""
    return respond_url(house, spill) if role == "discharger" else staff_url(house, spill)


def staff_url(house: House, spill: Spill) -> str:
    """The page of a spill in the staff console."""
    return f"{house.settings.public_url}/staff/spills/{spill.reference}"


# The people of an example city, so that a first look shows whom the clocks wake. The numbers are of the range kept for fiction.
EXAMPLE_CONTACTS = (
    ("discharger", "Dana Cruz (city sewer crew)", "sewer.crew@chino.example", "+19095550101"),
    ("duty_officer", "Omar Reyes", "duty@chino.example", "+19095550102"),
    ("supervisor", "Sofia Tran", "supervisor@chino.example", "+19095550103"),
    ("director", "Grace Lindqvist", "director@chino.example", "+19095550104"),
)


def example_contacts(city: str) -> list[Contact]:
    """Example people for every role of a city."""
    return [
        Contact(city=city, role=role, name=name, email=email.replace("chino", city), phone=phone)
        for role, name, email, phone in EXAMPLE_CONTACTS
    ]
