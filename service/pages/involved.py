"""The people of a spill, each with what they are to it and how to reach them: whom to call at three in the morning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from deadlines.ladder import ROLES
from notifiers.addresses import e164
from service.access import Staff
from service.assigning import who_may_answer
from service.grouping import members_of
from service.pages import words
from service.pages.speech import LANGUAGES
from service.parties import ROLE_NAMES, people_of
from service.tables import DischargerLink, Spill
from service.transaction import Transaction


@dataclass(frozen=True)
class Somebody:
    """A person or firm. `phone` is what a telephone link dials, empty where there is none; `note` says more about them."""

    name: str
    phone: str = ""
    email: str = ""
    note: str = ""

    @property
    def shown_phone(self) -> str:
        """The number as people write it."""
        digits = self.phone
        return f"({digits[2:5]}) {digits[5:8]}-{digits[8:]}" if len(digits) == 12 and digits.startswith("+1") else digits


@dataclass(frozen=True)
class Involved:
    """Everybody of a spill. `officer`: who is in charge, empty for nobody; `may_answer`: who could be, by address.

    `on_call`: by role, in the order of the ladder; `named`: whether the discharger is; `reporters`: of this report and of those merged.
    """

    officer: str
    may_answer: Sequence[str]
    on_call: Mapping[str, Sequence[Somebody]]
    dischargers: Sequence[Somebody]
    named: bool
    helpers: Sequence[Somebody]
    reporters: Sequence[tuple[str, Somebody]]


async def involved_in(tx: Transaction, spill: Spill, staff: Staff) -> Involved:
    """The people of a spill, as far as this member of staff may know them."""
    dischargers = [_told(person.name, person.addresses) for person in await people_of(tx, spill, "discharger")]
    on_call = {
        ROLE_NAMES[role]: [_told(person.name, person.addresses) for person in await people_of(tx, spill, role)]
        for role in ROLES
        if role != "discharger" and role in ROLE_NAMES
    }
    reporters = [(one.reference, _reporter(one, staff)) for one in (spill, *await members_of(tx, spill))]
    named = bool(spill.discharger.get("name"))
    return Involved(
        spill.officer, [account.email for account in await who_may_answer(tx, spill.city)], on_call, dischargers, named,
        await _helpers(tx, spill), reporters,
    )  # fmt: skip


def _told(name: str, addresses: Mapping[str, str]) -> Somebody:
    return Somebody(name, addresses.get("sms") or addresses.get("voice") or "", addresses.get("email", ""))


async def _helpers(tx: Transaction, spill: Spill) -> list[Somebody]:
    """The named people who hold a private link of the discharger that still works."""
    query = select(DischargerLink).where(col(DischargerLink.spill_id) == spill.id, col(DischargerLink.ended_at).is_(None))
    rows = (await tx.session.execute(query.order_by(col(DischargerLink.id)))).scalars()
    return [Somebody(row.name, row.phone, row.email, "has a private link") for row in rows]


def _reporter(spill: Spill, staff: Staff) -> Somebody:
    """Whoever reported it: to a viewer nobody's name but one that may stand in the record."""
    said: Mapping[str, Any] = spill.reporter
    privacy = str(said.get("privacy", ""))
    note = words.PRIVACIES.get(privacy, ("Privacy not stated",))[0]
    if spill.language != "en":
        note += f", writes {LANGUAGES[spill.language]}"
    is_officer = staff.may("officer", spill.city)
    if privacy == "anonymous" or not (is_officer or privacy == "named"):
        return Somebody("", note=note)
    typed = str(said.get("phone") or "")
    phone = e164(typed) or ""
    return Somebody(
        str(said.get("name") or ""), phone, str(said.get("email") or ""), f"{note}, left {typed}" if typed and not phone else note
    )
