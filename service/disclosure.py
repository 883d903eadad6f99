"""Who sees which part of a spill: one table of fields, each with what an audience is shown of it. What has no entry, nobody is shown.

Whatever tells outsiders about a spill asks this table and nothing else: no page, feed or export picks columns by itself. What the public
is shown is worked out here, value by value. To all others a field is shown as it is on record, or not at all: `sees` says which, and
service/withholding.py takes what somebody must not see out of texts in which it may stand. docs/privacy.md is made of this table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

from deadlines.quantities import GALLONS
from service.tables import Advisory, Spill

PUBLIC, REPORTER, DISCHARGER, AGENCY = "public", "reporter", "discharger", "agency"
# Staff by their role in the city (service/access.py).
VIEWER, OFFICER, MANAGER, ADMINISTRATOR = "viewer", "officer", "manager", "administrator"
_ACTING = (OFFICER, MANAGER, ADMINISTRATOR)
_STAFF = (VIEWER, *_ACTING)
# `reporter`: of their own report, on their page; `agency`: whoever is given a paper, a referral or a bundle without the reporter.
AUDIENCES = (PUBLIC, REPORTER, DISCHARGER, *_STAFF, AGENCY)
# Three decimals of a degree: 111 m to the north, 92 m to the east at 34 degrees. A city block, with everybody who lives on it.
_POINT_DECIMALS = 3
# For the middle of an advisory at a home: a kilometre, with all who live in it.
_HOME_DECIMALS = 2
# Upper ends of the rough amounts, in gallons: the steps of California's spill categories (50 and 1,000), and ten thousand.
_AMOUNTS = ((50, "under_50_gal"), (1000, "50_to_1000_gal"), (10_000, "1000_to_10000_gal"))
_MOST = "10000_gal_or_more"
_HOMES = "residential"


@dataclass(frozen=True, slots=True)
class Known:
    """What is on record about a spill, as the rules read it.

    `acts` are the types of the acts that the city recorded, not those of whoever spilled. `chain` is everything issued to the public since
    the last advisory began, oldest first; empty without one.
    """

    spill: Spill
    acts: Sequence[str] = ()
    is_closed: bool = False
    chain: Sequence[Advisory] = ()


Rule = Callable[[Known], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a spill. `says` tells what it is; `drawn_from` names the columns (`spill.`) and facts (`facts.`) behind it.

    `seen_by` gives for each audience what it is shown of it; an audience that is left out is shown nothing.
    """

    says: str
    drawn_from: tuple[str, ...]
    seen_by: Mapping[str, Rule] = field(default_factory=dict)


def _to(*audiences: str) -> dict[str, Rule]:
    """These are shown it as it is on record."""
    return dict.fromkeys(audiences, AS_ON_RECORD)


def _on_record(known: Known) -> Any:
    """Stands for the columns behind a field, whole."""
    return known


AS_ON_RECORD: Rule = _on_record
_EVERYBODY = _to(REPORTER, DISCHARGER, *_STAFF, AGENCY)


# -- how the public is shown a field


def hour_of(moment: datetime) -> datetime:
    """A moment as the public is told it, also one that is counted from such a one: the full hour before."""
    return moment.replace(minute=0, second=0, microsecond=0)


def _material(known: Known) -> str:
    return str(known.spill.facts.get("material") or "unknown")


def _reached(known: Known) -> list[str]:
    return [str(place) for place in known.spill.facts.get("reached") or []]


def _amount(known: Known) -> str:
    """In which of the rough amounts a volume lies; a range by its upper end, as thresholds of the law are judged."""
    volume = known.spill.facts.get("volume") or {}
    given = volume.get("quantity", volume.get("high"))
    if given is None or volume.get("unit") not in GALLONS:
        return "unknown"
    gallons = Fraction(str(given)) * GALLONS[volume["unit"]]
    return next((band for limit, band in _AMOUNTS if gallons < limit), _MOST)


def _coordinate(name: str) -> Rule:
    """A coordinate of the middle of its block; none at a home, where a block tells who."""

    def rule(known: Known) -> float | None:
        exact: float | None = getattr(known.spill, name)
        if exact is None or known.spill.facts.get("premises") == _HOMES:
            return None
        return round(exact, _POINT_DECIMALS) + 0.0  # never -0.0

    return rule


def _state(known: Known) -> str:
    if known.is_closed:
        return "closed"
    if "cleanup_done" in known.acts:
        return "cleaned_up"
    return "cleaning" if "responded" in known.acts else "looked_at"


def _advisory(known: Known) -> str:
    if not known.chain:
        return "none"
    return "ended" if known.chain[-1].kind == "all_clear" else "in_force"


def _advisory_number(known: Known) -> int | None:
    return known.chain[0].id if known.chain else None


# -- the table

FIELDS: Mapping[str, Field] = {
    "reference": Field("The number of the spill.", ("spill.reference",), {**_EVERYBODY, PUBLIC: lambda known: known.spill.reference}),
    "city": Field(
        "The city whose law applies, by the id of its pack.", ("spill.city", "facts.jurisdiction"),
        {**_EVERYBODY, PUBLIC: lambda known: known.spill.city},
    ),
    "material": Field("The kind of material.", ("facts.material",), {**_EVERYBODY, PUBLIC: _material}),
    "amount": Field("Roughly how much, in steps; the upper end of an estimate counts.", ("facts.volume",), {**_EVERYBODY, PUBLIC: _amount}),
    "reached": Field("What it reached.", ("facts.reached",), {**_EVERYBODY, PUBLIC: _reached}),
    # The minute of a report tells whoever was watched at that minute who it was that called.
    "received_at": Field(
        "When the report came in, to the full hour before it.",
        ("spill.received_at",),
        {**_EVERYBODY, PUBLIC: lambda known: hour_of(known.spill.received_at)},
    ),
    "lat": Field(
        "Latitude; to the public rounded to a city block, none at a home.", ("spill.lat", "facts.premises"),
        {**_EVERYBODY, PUBLIC: _coordinate("lat")},
    ),
    "lon": Field(
        "Longitude; to the public rounded to a city block, none at a home.", ("spill.lon", "facts.premises"),
        {**_EVERYBODY, PUBLIC: _coordinate("lon")},
    ),
    "state": Field(
        "How far it is: looked_at, cleaning, cleaned_up, closed; by what the city itself recorded.", ("facts.events",),
        {**_EVERYBODY, PUBLIC: _state},
    ),
    "advisory": Field(
        "Whether the public was told to take care: none, in_force, ended.", ("advisory.kind",), {**_EVERYBODY, PUBLIC: _advisory}
    ),
    "advisory_id": Field("The number of its advisory, where there is one.", ("advisory.id",), {**_EVERYBODY, PUBLIC: _advisory_number}),
    # What an officer wrote for everybody stands on its own page and feeds, word for word; a circle as `public_circle` draws it.
    "advisory_words": Field(
        "The words, area and times of its advisories.", ("advisory.words", "advisory.area", "advisory.issued_at"), _to(*_STAFF, AGENCY)
    ),
    "advisory_author": Field("Who issued an advisory.", ("advisory.issued_by",), _to(*_STAFF, AGENCY)),
    "description": Field(
        "The reporter's own words: they may name anybody.", ("spill.description",), _to(REPORTER, DISCHARGER, *_STAFF, AGENCY)
    ),
    "address": Field("The place in words, with its house number.", ("spill.address",), _to(REPORTER, DISCHARGER, *_STAFF, AGENCY)),
    # To a viewer and an agency only whoever agreed to be named.
    "reporter": Field("Who reported it, and how to reach them.", ("spill.reporter",), _to(REPORTER, *_ACTING)),
    "wishes": Field(
        "The reporter's language, and the wish to be forgotten.", ("spill.language", "spill.forget_asked_at", "spill.forget_at"),
        _to(REPORTER, *_STAFF),
    ),
    "discharger": Field("Who is held responsible.", ("spill.discharger",), _to(DISCHARGER, *_STAFF, AGENCY)),
    "photos": Field("Photographs and files, without what the camera noted.", ("kept_file",), _to(REPORTER, *_STAFF, AGENCY)),
    "originals": Field(
        "Files as they came: where and when a picture was taken, with which device.", ("kept_file.lat", "kept_file.lon"), _to(*_ACTING)
    ),
    "doubts": Field("What is odd about the report.", ("spill.flags", "spill.held_at"), _to(*_STAFF, AGENCY)),
    "substances": Field(
        "The substances by name and amount: often a firm's own mixture.", ("facts.substances",), _to(DISCHARGER, *_STAFF, AGENCY)
    ),
    "times": Field(
        "When it began, ended, was planned and known to the minute.",
        ("facts.known_at", "facts.reported_at", "facts.discharged_at", "facts.ended_at", "facts.planned_at"), _EVERYBODY,
    ),
    "law": Field(
        "What the law's clocks hang on, as staff found it.",
        (
            "facts.kind", "facts.reportable_quantity", "facts.hazardous", "facts.threat", "facts.release", "facts.accidental",
            "facts.high_risk", "facts.captured", "facts.enrollee", "facts.npdes_permittee", "facts.spcc_facility", "facts.sheen",
        ),
        _to(DISCHARGER, *_STAFF, AGENCY),
    ),
    "case": Field(
        "Which of the staff answers for it, which spill a report was merged into, and why it came to it.",
        ("spill.officer", "spill.merged_into", "spill.cause"), _to(*_STAFF, AGENCY),
    ),
    "keeping": Field("That its record was destroyed, and when.", ("spill.destroyed_at",), _to(REPORTER, *_STAFF, AGENCY)),
    "machinery": Field(
        "What the program keeps for itself.",
        ("spill.id", "spill.facts", "spill.assess_at", "spill.assess_tries", "spill.link_version", "spill.respond_version"),
    ),
}  # fmt: skip


# Half a step of the decimals that are left of a point, in metres: so much wider is a circle around it, to hold what it held before.
_ROUNDED_OFF = {_POINT_DECIMALS: 80.0, _HOME_DECIMALS: 800.0}


def public_circle(spill: Spill, area: Mapping[str, Any]) -> tuple[float, float, float] | None:
    """The circle of an advisory as the public is shown it: latitude, longitude, metres; None where it is for a whole city.

    Its middle would be the place of the spill to the metre. It is that of the block, at a home that of the square kilometre, and the circle
    is as much wider.
    """
    if "metres" not in area:
        return None
    decimals = _HOME_DECIMALS if spill.facts.get("premises") == _HOMES else _POINT_DECIMALS
    return round(area["lat"], decimals) + 0.0, round(area["lon"], decimals) + 0.0, area["metres"] + _ROUNDED_OFF[decimals]


def sees(audience: str, field_name: str) -> bool:
    """Whether an audience is shown a field. Raises KeyError for an audience or a field that the table does not know."""
    if audience not in AUDIENCES:
        raise KeyError(f"no audience {audience!r}")
    return audience in FIELDS[field_name].seen_by


def view(known: Known, audience: str) -> dict[str, Any]:
    """Everything an audience is shown of a spill, by field; AS_ON_RECORD gives what is known. Raises KeyError for an unknown audience."""
    if audience not in AUDIENCES:
        raise KeyError(f"no audience {audience!r}")
    return {name: one.seen_by[audience](known) for name, one in FIELDS.items() if audience in one.seen_by}
