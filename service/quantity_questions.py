"""Questions about reportable quantities, as command, API and pages ask them: the finder, amounts as typed, and answers as JSON."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from deadlines import ReportableQuantities
from deadlines.mixtures import Constituent
from deadlines.quantities import GALLONS, POUNDS
from deadlines.reportable import Amount, Answer, TableReading, answer
from deadlines.substances import Finder, Match, Search, Synonym, cas_fault, cas_like, cas_number
from service.errors import BadInput

UNITS = (*POUNDS, *GALLONS)
LONGEST_NAME = 200
MOST_NAMES = 25
_UNIT_WORDS = {
    **{unit.lower(): unit for unit in UNITS}, "gallon": "gal", "gallons": "gal", "gals": "gal", "liter": "L", "liters": "L", "litre": "L",
    "litres": "L", "barrel": "bbl", "barrels": "bbl", "cubic feet": "ft3", "cubic foot": "ft3", "cf": "ft3", "cubic meters": "m3",
    "pound": "lb", "pounds": "lb", "lbs": "lb", "ounce": "oz", "ounces": "oz", "tons": "ton", "short ton": "ton", "short tons": "ton",
    "kilogram": "kg", "kilograms": "kg", "kgs": "kg", "gram": "g", "grams": "g", "tonne": "t", "tonnes": "t", "metric ton": "t",
    "metric tons": "t",
}  # fmt: skip
_PLAIN_NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+")
_RANGE = re.compile(r"\s*(?:-|–|—|\bto\b)\s*")
_AMOUNT_KEYS = ("name", "cas", "quantity", "low", "high", "unit", "fraction", "density_lb_per_gal", "constituents")


@lru_cache(maxsize=4)
def finder_of(quantities: ReportableQuantities) -> Finder:
    """The finder over these tables, with the synonyms that ship with Spillclock; made once."""
    return Finder(quantities, [Synonym(row["synonym"], row["stands_for"], row["why"]) for row in _rows("synonyms.csv")])


@cache
def other_readings() -> tuple[TableReading, ...]:
    """The readings that the density table leaves open, as they ship with Spillclock."""
    return tuple(
        TableReading(
            row["of"],
            row["reading"],
            row["rq_substance"],
            Decimal(row["density_lb_per_gal"]),
            Decimal(row["weight_fraction"]),
            row["source"],
        )
        for row in _rows("readings.csv")
    )


def _rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((files("deadlines") / "quantities" / name).read_text(encoding="utf-8"))))


def answer_for(quantities: ReportableQuantities, amounts: Sequence[Amount]) -> Answer:
    """The answer for amounts together, by these tables."""
    return answer(amounts, finder_of(quantities), other_readings())


# -- amounts as they are typed


def number_of(given: object) -> Decimal:
    """A number, or a text such as "1,500". Raises ValueError saying what is wrong."""
    if isinstance(given, bool) or not isinstance(given, (int, float, Decimal, str)):
        raise ValueError(f"{given!r} is not a number")
    text = given.strip() if isinstance(given, str) else str(given)
    if isinstance(given, str) and not _PLAIN_NUMBER.fullmatch(text):
        raise ValueError(f"{given!r} is not a number")
    number = Decimal(text.replace(",", ""))
    if not number.is_finite() or abs(number.adjusted()) > 30:
        raise ValueError(f"{given!r} is not an amount")
    if number < 0:
        raise ValueError(f"{given!r} is negative")
    return number


def range_of(given: object) -> tuple[Decimal, Decimal]:
    """A number, or a range such as "200-300" or "200 to 300", as its ends. Raises ValueError saying what is wrong."""
    ends = _RANGE.split(given.strip(), maxsplit=1) if isinstance(given, str) else [given]
    if len(ends) == 2 and not all(ends):
        raise ValueError(f"{given!r} is not a number")
    try:
        low, high = number_of(ends[0]), number_of(ends[-1])
    except ValueError:
        if len(ends) == 1:
            raise
        raise ValueError(f"{given!r} is not a number or a range") from None
    if low > high:
        raise ValueError(f"low {low} is over high {high}")
    return low, high


def share_of(given: object) -> Decimal:
    """A share by weight, 0 to 1; a text may say it in percent, "12.5%". Raises ValueError saying what is wrong."""
    percent = isinstance(given, str) and given.strip().endswith("%")
    share = number_of(str(given).strip().removesuffix("%")) / 100 if percent else number_of(given)
    if share > 1:
        raise ValueError(f"{given} is over the whole")
    return share


def density_of(given: object) -> Decimal:
    """A density over 0, in pounds a gallon. Raises ValueError."""
    density = number_of(given)
    if not density:
        raise ValueError("it is 0")
    return density


def unit_of(given: object) -> str:
    """A unit by its sign or its name. Raises ValueError."""
    if not isinstance(given, str):
        raise ValueError("missing" if given is None else f"{given!r} is not a unit")
    found = given.strip() if given.strip() in UNITS else _UNIT_WORDS.get(" ".join(given.lower().split()).rstrip("."))
    if found is None:
        raise ValueError(f"{given!r} is not a unit" if given.strip() else "missing")
    return found


RIGHT: Mapping[str, str] = {
    "name": f"a name of up to {LONGEST_NAME} letters, or a CAS number",
    "cas": "a CAS number, 7664-93-9",
    "quantity": "80, or a range, 60-90",
    "unit": f"one of {', '.join(UNITS)}",
    "fraction": "a share by weight, 0.125 or 12.5%",
    "density_lb_per_gal": "pounds a gallon, over 0",
}


def amounts_of(given: object) -> list[Amount]:
    """The amounts of a question in JSON: a list of objects with the keys of `substances`, or `low` and `high`, or `constituents`.

    Raises BadInput with one line a fault.
    """
    if not isinstance(given, list) or not given:
        wrong = "missing" if given is None else "empty" if given == [] else "not a list"
        raise BadInput(
            "no substances", [f'substances: {wrong}; right would be: [{{"name": "bleach 12.5%", "quantity": 80, "unit": "gal"}}]']
        )
    reader = _AmountReader()
    names = sum(1 + len(one.get("constituents") or ()) if isinstance(one, Mapping) else 1 for one in given)
    if names > MOST_NAMES:
        raise BadInput("too many substances", [f"substances: {names} of them; right would be: up to {MOST_NAMES} at a time"])
    amounts = [reader.amount(f"substances[{number}]", one) for number, one in enumerate(given)]
    if reader.faults:
        raise BadInput("the amounts have faults", reader.faults)
    return amounts


class _AmountReader:
    def __init__(self) -> None:
        self.faults: list[str] = []

    def fault(self, place: str, wrong: str, right: str) -> None:
        self.faults.append(f"{place}: {wrong}; right would be: {right}")

    def amount(self, place: str, given: object) -> Amount:
        if not isinstance(given, Mapping):
            self.fault(place, "not an object", '{"name": "chlorine", "quantity": 12, "unit": "lb"}')
            return Amount(None, None, None, None, None)
        self._only(place, given, _AMOUNT_KEYS)
        constituents = self._constituents(f"{place}.constituents", given.get("constituents"))
        name, cas = self._called(place, given, needed=not constituents)
        low, high = self._ends(place, given)
        unit = None
        if high is not None or given.get("unit") is not None:
            unit = self._read(f"{place}.unit", given.get("unit"), unit_of, RIGHT["unit"])
        fraction, density = self._share(place, given), self._density(place, given)
        return Amount(name, cas, low, high, unit if high is not None else None, fraction, density, constituents)

    def _read(self, place: str, value: object, read: Any, right: str) -> Any:
        try:
            return read(value)
        except ValueError as error:
            self.fault(place, str(error), right)
            return None

    def _only(self, place: str, given: Mapping[str, object], keys: Sequence[str]) -> None:
        for key in given:
            if key not in keys:
                self.fault(f"{place}.{str(key)[:60]}", "unknown key", f"one of {', '.join(keys)}")

    def _called(self, place: str, given: Mapping[str, object], *, needed: bool) -> tuple[str | None, str | None]:
        name, cas = given.get("name"), given.get("cas")
        if name is None and cas is None and needed:
            self.fault(f"{place}.name", "missing", RIGHT["name"])
        if name is not None and (not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME):
            self.fault(f"{place}.name", "not a name" if not isinstance(name, str) else "empty or too long", RIGHT["name"])
        if cas is not None:
            digits = cas_like(cas) if isinstance(cas, str) else None
            wrong = cas_fault(str(cas)) if digits else f"{str(cas)[:60]!r} is not a CAS number"
            if wrong:
                self.fault(f"{place}.cas", wrong, RIGHT["cas"])
            cas = cas_number(digits) if digits else None
        return name if isinstance(name, str) else None, cas if isinstance(cas, str) else None

    def _ends(self, place: str, given: Mapping[str, object]) -> tuple[Decimal | None, Decimal | None]:
        low, high = given.get("low"), given.get("high")
        if low is None and high is None:
            if given.get("quantity") is None:
                return None, None
            return self._read(f"{place}.quantity", given["quantity"], range_of, RIGHT["quantity"]) or (None, None)
        if low is None or high is None:
            self.fault(f"{place}.{'low' if low is None else 'high'}", "missing", "both ends of a range, low and high")
            return None, None
        ends = [self._read(f"{place}.{key}", given[key], number_of, "a number, zero or more") for key in ("low", "high")]
        if None not in ends and ends[0] > ends[1]:
            self.fault(f"{place}.quantity", f"low {ends[0]} is over high {ends[1]}", RIGHT["quantity"])
        return ends[0], ends[1]

    def _share(self, place: str, given: Mapping[str, object]) -> Decimal | None:
        if given.get("fraction") is None:
            return None
        found: Decimal | None = self._read(f"{place}.fraction", given["fraction"], share_of, RIGHT["fraction"])
        return found

    def _density(self, place: str, given: Mapping[str, object]) -> Decimal | None:
        if given.get("density_lb_per_gal") is None:
            return None
        found: Decimal | None = self._read(
            f"{place}.density_lb_per_gal", given["density_lb_per_gal"], number_of, RIGHT["density_lb_per_gal"]
        )
        if found == 0:
            self.fault(f"{place}.density_lb_per_gal", "it is 0", RIGHT["density_lb_per_gal"])
        return found

    def _constituents(self, place: str, given: object) -> tuple[Constituent, ...]:
        if given is None:
            return ()
        if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
            self.fault(place, "not a list of objects", '[{"name": "nitric acid", "fraction": 0.1}, {"name": "cupric sulfate"}]')
            return ()
        found = []
        for number, one in enumerate(given):
            where = f"{place}[{number}]"
            self._only(where, one, ("name", "cas", "fraction"))
            found.append(Constituent(*self._called(where, one, needed=True), self._share(where, one)))
        total = sum((one.fraction for one in found if one.fraction is not None), Decimal(0))
        if total > 1:
            self.fault(place, f"the shares come to {total}, which is over the whole", "shares by weight that come to at most 1")
        return tuple(found)


# -- answers


def match_json(match: Match) -> dict[str, Any]:
    """Something that was found, as JSON."""
    kind = "liquid" if match.liquid else "waste" if match.listed and match.listed.waste_code else "listed"
    found: dict[str, Any] = {
        "name": match.name,
        "cas": match.cas,
        "rq_lb": _plain(match.listed.rq_lb) if match.listed else None,
        "kind": kind,
    }
    if match.liquid:
        liquid = match.liquid
        found |= {"weight_fraction": _plain(liquid.weight_fraction), "density_lb_per_gal": _plain(liquid.density_lb_per_gal)}
    return {**found, "why": match.why, "told": match.told}


def _plain(value: Fraction | None) -> int | float | None:
    return None if value is None else int(value) if value.denominator == 1 else float(value)


def search_json(found: Search) -> dict[str, Any]:
    """The answers to a search, as JSON."""
    return {"query": found.query, "matches": [match_json(match) for match in found.matches], "remarks": list(found.remarks)}


def answer_json(found: Answer) -> dict[str, Any]:
    """An answer as JSON; `substances` says how each was read, and its facts can be given as `substances` of a spill."""
    return {
        "reached": found.reached,
        "answer": found.sentence,
        "substances": [
            {
                "asked": part.called, "known": part.known, "why": part.why, "read_as": part.told,
                "suggestions": [match_json(match) for match in part.suggestions], "facts": [dict(fact) for fact in part.facts],
            }
            for part in found.parts
        ],
        "arithmetic": list(found.arithmetic),
        "reached_from": list(found.reached_from),
        "other_readings": [
            {"reading": other.reading, "source": other.source, "reached": other.reached, "arithmetic": list(other.arithmetic)}
            for other in found.other_readings
        ],
        "open": list(found.open_points), "remarks": list(found.remarks), "sources": list(found.sources),
    }  # fmt: skip
