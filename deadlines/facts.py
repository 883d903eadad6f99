"""The vocabulary of facts about a spill, and how a JSON object becomes `Facts` or a list of faults.

Unknown is `None`, never a false value. Instants are aware and in UTC; a time given without an offset is read in the city's zone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from deadlines.quantities import GALLONS, POUNDS, Substance, Volume

KINDS = ("spill", "planned_discharge", "unplanned_discharge", "irrigation_leak", "recycled_water_pond", "dye_test", "enforcement")
KINDS_WITHOUT_KNOWN_AT = ("planned_discharge", "unplanned_discharge", "dye_test", "enforcement")
MATERIALS = (
    "sewage", "hazardous_material", "hazardous_waste", "petroleum", "recycled_water", "potable_water", "pool_water", "wash_water",
    "sediment", "concrete", "paint", "food_waste", "animal_waste", "yard_waste", "other", "unknown",
)  # fmt: skip
PLACES_REACHED = ("storm_drain", "street", "gutter", "channel", "surface_water", "groundwater", "land", "contained")
RELEASES = ("confirmed", "suspected")
PREMISES = ("residential", "commercial", "industrial", "construction", "municipal")
METHODS = ("telephone", "email", "in_person", "mail", "online", "written")
HEARINGS = ("show_cause", "appeal")
DECISIONS = ("complaint", "other")
ORDERS = (
    "notice_of_correction", "notice_of_violation", "compliance_order", "stop_work_order", "cease_and_desist",
    "emergency_cease_and_desist", "remediation_order", "notice_to_clean",
)  # fmt: skip

CHOICES: Mapping[str, Sequence[str]] = {"kind": KINDS, "material": MATERIALS, "release": RELEASES, "premises": PREMISES}
FLAGS = (
    "reportable_quantity", "hazardous", "threat", "accidental", "high_risk", "captured", "enrollee", "npdes_permittee", "spcc_facility",
    "sheen",
)  # fmt: skip
MOMENTS = ("known_at", "reported_at", "discharged_at", "ended_at", "planned_at")
FACT_KEYS = ("jurisdiction", *CHOICES, *MOMENTS, "volume", "substances", *FLAGS, "reached", "events")

# What each type of event may say besides its time. A tuple is a closed list of words; `bool`, `datetime` and `str` are types.
EVENT_KEYS: Mapping[str, Mapping[str, object]] = {
    "notice_given": {"recipient": str, "method": METHODS},
    "report_submitted": {"recipient": str, "method": METHODS, "complete": bool, "content": list},
    "cleanup_done": {}, "repaired": {}, "sampling_done": {}, "responded": {}, "paid": {}, "filed": {},
    "order_complied": {"order": ORDERS},
    "appeal_filed": {}, "petition_filed": {},
    "hearing_held": {"hearing": HEARINGS}, "decision_made": {}, "hearing_noticed": {"hearing": HEARINGS},
    "abatement_notified": {"uncontrolled_source": bool},
    "timeframe_revision_determined": {}, "service_terminated": {}, "complaint_served": {}, "invoice_issued": {}, "penalty_received": {},
    "record_made": {}, "certification_form_sent": {}, "decision_noticed": {"decision": DECISIONS}, "decision_effective": {},
    "hearing_set": {"hearing": HEARINGS, "hearing_at": datetime},
    "order_served": {"order": ORDERS, "comply_by": datetime},
}  # fmt: skip
EVENT_KEYS_REQUIRED: Mapping[str, Sequence[str]] = {
    "notice_given": ("recipient", "method"), "report_submitted": ("recipient",), "order_complied": ("order",), "order_served": ("order",),
}  # fmt: skip

_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_CAS = re.compile(r"\d{2,7}-\d{2}-\d")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened since; `said` holds what it says besides its time. What it leaves out is unknown."""

    type: str
    at: datetime
    said: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one matter. Fields are those of the contract, section 1; `None` is unknown."""

    jurisdiction: str
    kind: str = "spill"
    known_at: datetime | None = None
    reported_at: datetime | None = None
    discharged_at: datetime | None = None
    ended_at: datetime | None = None
    planned_at: datetime | None = None
    material: str | None = None
    volume: Volume | None = None
    substances: tuple[Substance, ...] = ()
    reportable_quantity: bool | None = None
    hazardous: bool | None = None
    threat: bool | None = None
    reached: frozenset[str] | None = None
    release: str | None = None
    accidental: bool | None = None
    premises: str | None = None
    high_risk: bool | None = None
    captured: bool | None = None
    enrollee: bool | None = None
    npdes_permittee: bool | None = None
    spcc_facility: bool | None = None
    sheen: bool | None = None
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a fact object: the key, what is wrong, what would be right."""

    key: str
    wrong: str
    right: str

    def __str__(self) -> str:
        key = self.key if self.key and self.key.isprintable() else repr(self.key)  # one fault is one line, whatever a key holds
        return f"{key}: {self.wrong}; right would be: {self.right}"


class FactFaults(Exception):
    """A fact object cannot be read. `faults` names every fault, one line each."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = tuple(faults)


def local_instant(moment: datetime, zone: ZoneInfo) -> datetime:
    """The UTC instant of a local wall time; one that exists twice or not at all becomes the earlier instant (counting.md, time zones)."""
    return min(moment.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def read_facts(given: object, zones: Mapping[str, ZoneInfo], recipients: frozenset[str] | None = None) -> Facts:
    """Read one fact object. `zones` maps each known jurisdiction to its zone; `recipients` are the known ids, if to be checked.

    Raises FactFaults with every fault found.
    """
    if not isinstance(given, Mapping):
        raise FactFaults([Fault("facts", f"{_kind_of(given)} is not an object", 'an object: {"jurisdiction": "chino", "known_at": ...}')])
    return _Reader(given, zones, recipients).read()


def read_moment(value: object, zone: ZoneInfo) -> datetime:
    """Read an RFC 3339 time into UTC; without an offset it is local to `zone`. Raises ValueError saying what is wrong."""
    if not isinstance(value, str):
        raise ValueError(f"{_kind_of(value)} is not a time")
    text = value.strip()
    if not re.match(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}", text):
        raise ValueError(f"{value!r} is not a date with a time of day")
    try:
        moment = datetime.fromisoformat(text)
        moment = local_instant(moment, zone) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{value!r} is not a real moment ({error})") from None
    if not _EARLIEST <= moment < _LATEST:
        raise ValueError(f"{value!r} lies outside the years 1970 to 2199")
    return moment


def _shown(value: object) -> str:
    """A value as its JSON shows it."""
    words = {None: "null", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return words[value]
    return str(value) if isinstance(value, (int, float, Decimal)) else repr(value)


def _kind_of(value: object) -> str:
    names = {bool: "true or false", str: "a text", list: "a list", dict: "an object", type(None): "null"}
    return names.get(type(value), f"the number {value}")


class _Reader:
    def __init__(self, given: Mapping[str, object], zones: Mapping[str, ZoneInfo], recipients: frozenset[str] | None) -> None:
        self.given = given
        self.zones = zones
        self.recipients = recipients
        self.faults: list[Fault] = []
        self.zone = ZoneInfo("UTC")

    def fault(self, key: str, wrong: str, right: str) -> None:
        self.faults.append(Fault(key, wrong, right))

    def read(self) -> Facts:
        for key in self.given:
            if key not in FACT_KEYS:
                self.fault(str(key), "unknown key", f"one of: {', '.join(FACT_KEYS)}")
        values: dict[str, object] = {"jurisdiction": self._jurisdiction()}
        for key, words in CHOICES.items():
            values[key] = self._choice(key, self.given.get(key), words)
        values["kind"] = values["kind"] or "spill"
        for key in MOMENTS:
            values[key] = self._moment(key, self.given.get(key))
        if self.given.get("known_at") is None and values["kind"] not in KINDS_WITHOUT_KNOWN_AT:
            self.fault("known_at", "missing", f"the time of first knowledge, 2026-12-01T14:05:00-08:00 (kind {values['kind']} needs it)")
        for key in FLAGS:
            values[key] = self._flag(key, self.given.get(key))
        values["volume"] = self._volume(self.given.get("volume"))
        values["substances"] = tuple(self._substance(f"substances[{n}]", part) for n, part in self._list("substances"))
        values["reached"] = self._reached(self.given.get("reached"))
        events = [self._event(f"events[{n}]", part) for n, part in self._list("events")]
        if self.faults:
            raise FactFaults(self.faults)
        return Facts(**values, events=tuple(event for event in events if event))  # type: ignore[arg-type]

    def _jurisdiction(self) -> str:
        value = self.given.get("jurisdiction")
        if isinstance(value, str) and value in self.zones:
            self.zone = self.zones[value]
            return value
        wrong = "missing" if value is None else f"{_shown(value)} is not a known city"
        self.fault("jurisdiction", wrong, f"one of: {', '.join(sorted(self.zones))}")
        return ""

    def _choice(self, key: str, value: object, words: Sequence[str]) -> str | None:
        if value is None:
            return None
        if not isinstance(value, str) or value not in words:
            self.fault(key, f"{_shown(value)} is not a word of this list", f"one of: {', '.join(words)}")
            return None
        return value

    def _moment(self, key: str, value: object) -> datetime | None:
        if value is None:
            return None
        try:
            return read_moment(value, self.zone)
        except ValueError as error:
            self.fault(key, str(error), "an RFC 3339 time, 2026-12-01T14:05:00-08:00")
            return None

    def _flag(self, key: str, value: object) -> bool | None:
        if value is None or isinstance(value, bool):
            return value
        self.fault(key, f"{_shown(value)} is neither true, false nor null", "true, false, or null where it is unknown")
        return None

    def _list(self, key: str) -> list[tuple[int, object]]:
        value = self.given.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.fault(key, f"{_kind_of(value)} is not a list", f'"{key}": [{{...}}]')
            return []
        return list(enumerate(value))

    def _amount(self, key: str, value: object, *, most: int | None = None) -> Decimal | None:
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            self.fault(key, f"{_shown(value)} is not a number", "a number, zero or more")
            return None
        number = Decimal(str(value))
        if not number.is_finite() or abs(number.adjusted()) > 30:
            self.fault(key, f"{value} is not an amount", "a number, zero or more")
            return None
        if number < 0:
            self.fault(key, f"{value} is negative", "zero or more; leave it out where it is unknown")
            return None
        if most is not None and number > most:
            self.fault(key, f"{value} is over {most}", f"a part of the whole, 0 to {most}")
            return None
        return number

    def _volume(self, value: object) -> Volume | None:
        if value is None:
            return None
        right = '{"quantity": 1500, "unit": "gal"} or {"low": 200, "high": 1200, "unit": "gal"}'
        if not isinstance(value, Mapping):
            self.fault("volume", f"{_kind_of(value)} is not an object", right)
            return None
        keys = set(value) - {"unit"}
        if keys not in ({"quantity"}, {"low", "high"}):
            self.fault("volume", f"it has the keys {', '.join(sorted(map(str, value))) or 'none'}", right)
            return None
        ends = {key: self._amount(f"volume.{key}", value[key]) for key in sorted(keys)}
        unit = value.get("unit")
        if not isinstance(unit, str) or unit not in GALLONS:
            wrong = "missing" if unit is None else f"{_shown(unit)} is not a unit of volume"
            self.fault("volume.unit", wrong, f"one of: {', '.join(GALLONS)}")
            return None
        low, high = (ends["quantity"], ends["quantity"]) if "quantity" in ends else (ends["low"], ends["high"])
        if low is None or high is None:
            return None
        if low > high:
            self.fault("volume", f"low {low} is over high {high}", "low at most high")
            return None
        return Volume(low, high, unit)

    def _substance(self, place: str, value: object) -> Substance:
        if not isinstance(value, Mapping):
            self.fault(place, f"{_kind_of(value)} is not an object", '{"name": "chlorine", "quantity": 12, "unit": "lb"}')
            return Substance(None, None, None, None)
        self._only(place, value, ("name", "cas", "quantity", "unit", "fraction", "density_lb_per_gal"))
        name, cas, unit = value.get("name"), value.get("cas"), value.get("unit")
        if name is None and cas is None:
            self.fault(place, "neither name nor cas is given", '"name": "chlorine" or "cas": "7782-50-5"')
        if name is not None and (not isinstance(name, str) or not name.strip()):
            self.fault(f"{place}.name", f"{_shown(name)} is not a name", "the name of a substance or liquid")
        if cas is not None and not _is_cas(cas):
            self.fault(
                f"{place}.cas", f"{_shown(cas)} is not a CAS number (its last digit is a check on the others)", "a CAS number, 7664-93-9"
            )
        units = (*POUNDS, *GALLONS)
        quantity = None if value.get("quantity") is None else self._amount(f"{place}.quantity", value["quantity"])
        if (unit is not None or value.get("quantity") is not None) and unit not in units:
            wrong = "missing" if unit is None else f"{_shown(unit)} is not a unit of mass or volume"
            self.fault(f"{place}.unit", wrong, f"one of: {', '.join(units)}")
        fraction = Decimal(1) if value.get("fraction") is None else self._amount(f"{place}.fraction", value["fraction"], most=1)
        given = value.get("density_lb_per_gal")
        density = None if given is None else self._amount(f"{place}.density_lb_per_gal", given)
        return Substance(
            name if isinstance(name, str) else None, cas if isinstance(cas, str) else None, quantity,
            unit if isinstance(unit, str) else None, Decimal(1) if fraction is None else fraction, density,
        )  # fmt: skip

    def _reached(self, value: object) -> frozenset[str] | None:
        if value is None:
            return None
        right = f"a list of: {', '.join(PLACES_REACHED)}"
        if not isinstance(value, list):
            self.fault("reached", f"{_kind_of(value)} is not a list", right)
            return None
        for place in value:
            if place not in PLACES_REACHED:
                self.fault("reached", f"{_shown(place)} is not a place of this list", right)
        # An empty list says nothing: unknown.
        return frozenset(place for place in value if isinstance(place, str)) or None

    def _event(self, place: str, value: object) -> Event | None:
        if not isinstance(value, Mapping):
            self.fault(place, f"{_kind_of(value)} is not an object", '{"type": "notice_given", "at": ...}')
            return None
        kind = value.get("type")
        if not isinstance(kind, str) or kind not in EVENT_KEYS:
            self.fault(
                f"{place}.type", "missing" if kind is None else f"{_shown(kind)} is not a type of event", f"one of: {', '.join(EVENT_KEYS)}"
            )
            return None
        keys = EVENT_KEYS[kind]
        self._only(place, value, ("type", "at", *keys))
        at = self._moment(f"{place}.at", value.get("at"))
        if value.get("at") is None:
            self.fault(f"{place}.at", "missing", "the time it happened, 2026-12-01T14:05:00-08:00")
        said = {key: self._said(f"{place}.{key}", value[key], form) for key, form in keys.items() if value.get(key) is not None}
        for key in EVENT_KEYS_REQUIRED.get(kind, ()):
            if value.get(key) is None:
                form = keys[key]
                self.fault(f"{place}.{key}", "missing", f"one of: {', '.join(form)}" if isinstance(form, tuple) else "who was told")
        if kind == "report_submitted":
            said.setdefault("method", "written")
        return Event(kind, at, said) if at else None

    def _said(self, place: str, value: object, form: object) -> object:
        if form is bool:
            return self._flag(place, value)
        if form is datetime:
            return self._moment(place, value)
        if form is list:
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                self.fault(place, "it is not a list of texts", "the content items the report holds")
                return None
            return tuple(value)
        if isinstance(form, tuple):
            return self._choice(place, value, form)
        if not isinstance(value, str) or (self.recipients is not None and value not in self.recipients):
            known = ", ".join(sorted(self.recipients or ()))
            self.fault(place, f"{_shown(value)} is nobody a duty is owed to", f"one of: {known}")
        return value

    def _only(self, place: str, value: Mapping[str, object], keys: Sequence[str]) -> None:
        for key in value:
            if key not in keys:
                self.fault(f"{place}.{key}", "unknown key", f"one of: {', '.join(keys)}")


def _is_cas(value: object) -> bool:
    if not isinstance(value, str) or not _CAS.fullmatch(value):
        return False
    digits = value.replace("-", "")
    return sum(int(digit) * place for place, digit in enumerate(reversed(digits[:-1]), start=1)) % 10 == int(digits[-1])
