"""What the address of a page asks the board for, and the address that asks for it: filters live there and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlencode

from service.access import Staff
from service.board import STANDS, STATES, Wanted
from service.pages.words import MATERIALS
from service.transaction import House

# What the choices are called on the form. A choice that is not named in the address is the first.
SHOWN: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "": ("Open", ("open",)),
    "closed": ("Closed", ("closed",)),
    "all": ("Open and closed", ("open", "closed")),
}  # fmt: skip
STATE_WORDS: Mapping[str, str] = {
    "overdue": "Overdue", "open": "Something is due", "quiet": "Nothing is due", "alarm": "Alarm", "unassigned": "No city yet",
}  # fmt: skip
DUE_WITHIN: Mapping[str, tuple[str, timedelta]] = {
    "2h": ("2 hours", timedelta(hours=2)), "24h": ("24 hours", timedelta(hours=24)), "7d": ("7 days", timedelta(days=7)),
    "30d": ("30 days", timedelta(days=30)),
}  # fmt: skip
ME = "me"
KEYS = ("q", "city", "show", "state", "due", "material", "officer")
LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for: as the fields of the form hold it, and as the board is asked. What makes no sense is left out of both."""

    fields: Mapping[str, str]
    wanted: Wanted
    places: Mapping[str, str] = field(default_factory=dict)

    @property
    def query(self) -> str:
        """The same as the query of an address."""
        return urlencode({key: value for key, value in self.fields.items() if value})

    @property
    def is_everything(self) -> bool:
        """Whether nothing is filtered, so that the board is shown in its parts."""
        return not self.query

    def at(self, page: str, **place: str) -> str:
        """The address of a page of the console that shows this, from a place in the list on where one is named."""
        said = "&".join(part for part in (self.query, urlencode(place)) if part)
        return f"{page}?{said}" if said else page


def read(house: House, staff: Staff, given: Mapping[str, str]) -> Asked:
    """Read the filters of an address for a member of staff. Odd ones are left out: an address that somebody kept goes on working."""
    said = {key: given.get(key, "").strip()[:LONGEST_TEXT] for key in KEYS}
    choices = {
        "city": [city for city in house.cities if staff.may_see(city)], "show": SHOWN, "state": STATES, "due": DUE_WITHIN,
        "material": MATERIALS,
    }  # fmt: skip
    fields = {key: value if value in choices.get(key, (value,)) else "" for key, value in said.items()}
    stands = SHOWN[fields["show"]][1] if fields["show"] or not fields["q"] else STANDS
    officer = staff.email if fields["officer"] == ME else fields["officer"]
    wanted = Wanted(
        stands, fields["city"] or None, fields["state"] or None, DUE_WITHIN[fields["due"]][1] if fields["due"] else None,
        fields["material"] or None, officer.lower() or None, fields["q"],
    )  # fmt: skip
    return Asked(fields, wanted, {key: given.get(key, "")[:40] for key in ("after", "before")})
