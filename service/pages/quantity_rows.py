"""Substances as rows of a form: what is recorded as rows, rows as questions and as facts, and both in words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from decimal import Decimal
from typing import Any, TypeVar

from deadlines import ReportableQuantities
from deadlines.mixtures import Constituent
from deadlines.reportable import Amount, Answer
from service.errors import BadInput
from service.pages.fields import Fields
from service.quantity_questions import LONGEST_NAME, MOST_NAMES, RIGHT, answer_for, density_of, number_of, range_of, unit_of
from service.recorded_substances import called

KEYS = ("name", "amount", "unit", "percent", "density")
UNIT_LABELS: Mapping[str, str] = {
    "gal": "gallons", "L": "liters", "lb": "pounds", "oz": "ounces", "kg": "kilograms", "g": "grams", "mg": "milligrams",
    "ton": "tons (2,000 lb)", "t": "metric tons", "m3": "cubic meters", "ft3": "cubic feet", "bbl": "barrels (42 gal)",
}  # fmt: skip
_FEWEST, _SPARE = 3, 2
_FIELD = re.compile(rf"substance-(\d{{1,3}})-({'|'.join(KEYS)})")
_NAME_AND_CAS = re.compile(r"(.*\S)\s*\((\d{2,7}-\d{2}-\d)\)")
_RIGHT_PERCENT = "percent by weight, 0 to 100; empty where it is all of it"
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Row:
    """One substance as its fields show it."""

    name: str = ""
    amount: str = ""
    unit: str = "gal"
    percent: str = ""
    density: str = ""

    @property
    def is_blank(self) -> bool:
        """Whether nothing was typed into it."""
        return not (self.name or self.amount or self.percent or self.density)


# -- between forms, facts and questions


def rows_of(substances: Sequence[Mapping[str, Any]] | None) -> list[Row]:
    """Recorded substances as rows."""
    return [_row_of(substance) for substance in substances or ()]


def _row_of(substance: Mapping[str, Any]) -> Row:
    share = substance.get("fraction")
    return Row(
        called(substance), _typed(substance.get("quantity")), str(substance.get("unit") or "gal"),
        "" if share is None else _typed(Decimal(str(share)) * 100), _typed(substance.get("density_lb_per_gal")),
    )  # fmt: skip


def _typed(value: Any) -> str:
    if value is None:
        return ""
    told = f"{Decimal(str(value)):f}"
    return told.rstrip("0").rstrip(".") if "." in told else told


def typed_rows(fields: Fields) -> list[Row]:
    """The rows of a form, blank ones at its end left out."""
    found: dict[int, dict[str, str]] = {}
    for name in fields.values:
        if (match := _FIELD.fullmatch(name)) and int(match[1]) < 2 * MOST_NAMES:
            found.setdefault(int(match[1]), {})[match[2]] = " ".join(fields.text(name).split())
    rows = [Row(**found.get(number, {})) for number in range(max(found, default=-1) + 1)]
    while rows and rows[-1].is_blank:
        rows.pop()
    return rows


def padded(rows: Sequence[Row]) -> list[Row]:
    """Rows for a form, with some blank ones to fill in."""
    return [*rows, *[Row()] * max(_SPARE, _FEWEST - len(rows))]


def as_text(rows: Sequence[Row]) -> str:
    """Rows as a hidden field keeps them, to know later whether they were changed."""
    return json.dumps([astuple(row) for row in rows if not row.is_blank], ensure_ascii=False)


class _RowReader:
    def __init__(self) -> None:
        self.faults: list[str] = []

    def read(self, place: str, typed: str, how: Callable[[object], Value], right: str) -> Value | None:
        try:
            return how(typed)
        except ValueError as error:
            self.faults.append(f"{place}: {error}; right would be: {right}")
            return None

    def name(self, place: str, row: Row) -> tuple[str | None, str | None]:
        if not row.name or len(row.name) > LONGEST_NAME:
            self.faults.append(f"{place}, name: {'too long' if row.name else 'missing'}; right would be: {RIGHT['name']}")
        both = _NAME_AND_CAS.fullmatch(row.name)
        return (both[1], both[2]) if both else (row.name or None, None)

    def share(self, place: str, row: Row) -> Decimal | None:
        return self.read(f"{place}, percent", row.percent.removesuffix("%"), _percent, _RIGHT_PERCENT) if row.percent else None

    def amount(self, place: str, row: Row) -> Amount:
        name, cas = self.name(place, row)
        ends = self.read(f"{place}, amount", row.amount, range_of, RIGHT["quantity"]) if row.amount else None
        unit = self.read(f"{place}, unit", row.unit, unit_of, RIGHT["unit"])
        density = self.read(f"{place}, density", row.density, density_of, RIGHT["density_lb_per_gal"]) if row.density else None
        low, high = ends or (None, None)
        return Amount(name, cas, low, high, unit if ends else None, self.share(place, row), density)


def _percent(typed: object) -> Decimal:
    share = number_of(typed) / 100
    if share > 1:
        raise ValueError(f"{typed} is over 100")
    return share


def amounts_from(rows: Sequence[Row], whole: Row = Row()) -> list[Amount]:
    """The amounts that rows ask about; with a `whole`, the one mixture whose constituents they are. Raises BadInput."""
    reader = _RowReader()
    filled = [(f"Substance {number}", row) for number, row in enumerate(rows, 1) if not row.is_blank]
    if len(filled) > MOST_NAMES:
        raise BadInput("too many substances", [f"Substances: {len(filled)} of them; right would be: up to {MOST_NAMES}"])
    if whole.amount:
        constituents = tuple(Constituent(*reader.name(place, row), reader.share(place, row)) for place, row in filled)
        for place, row in filled:
            if row.amount:
                reader.faults.append(f"{place}, amount: it is part of a mixture; right would be: empty, and its percent where it is known")
        one = reader.amount("The mixture", Row("the mixture", whole.amount, whole.unit, "", whole.density))
        amounts = [Amount(one.name, None, one.low, one.high, one.unit, None, one.density_lb_per_gal, constituents)] if filled else []
        if sum((part.fraction or Decimal(0) for part in constituents), Decimal(0)) > 1:
            reader.faults.append("The mixture: the percents come to over 100; right would be: at most 100")
    else:
        amounts = [reader.amount(place, row) for place, row in filled]
    if reader.faults:
        raise BadInput("the substances have faults", reader.faults)
    return amounts


def substances_from(
    rows: Sequence[Row], recorded: Sequence[Mapping[str, Any]] | None, quantities: ReportableQuantities
) -> list[Any] | None:
    """Rows as facts, None where there are none. A row that says what is recorded stays as it is recorded. Raises BadInput."""
    known = {_row_of(substance): dict(substance) for substance in recorded or ()}
    new = [Row() if row in known else row for row in rows]
    amounts = iter(amounts_from(new))
    found, faults = [], []
    for number, (row, read) in enumerate(zip(rows, new, strict=True), 1):
        if row in known and not row.is_blank:
            found.append(known[row])
        elif not read.is_blank:
            amount = next(amounts)
            if amount.low != amount.high:
                right = f"{amount.high}, its upper end, which starts the clock"
                faults.append(f"Substance {number}, amount: a range is not recorded; right would be: {right}")
            [part] = answer_for(quantities, [amount]).parts
            found += [dict(fact) for fact in part.facts]
    if faults:
        raise BadInput("the substances have faults", faults)
    return found or None


def checked_rows(rows: Sequence[Row], quantities: ReportableQuantities, whole: Row = Row()) -> Answer | None:
    """The answer for rows, or None where nothing was typed. Raises BadInput."""
    amounts = amounts_from(rows, whole)
    return answer_for(quantities, amounts) if amounts else None


# -- in words


def substances_told(substances: Sequence[Mapping[str, Any]]) -> str:
    """Recorded substances in words: sulphuric acid (7664-93-9), 1,000 lb, 93% by weight."""
    return "; ".join(_told(substance, _row_of(substance)) for substance in substances)


def _told(substance: Mapping[str, Any], row: Row) -> str:
    amount = f", {Decimal(row.amount):,f} {row.unit}" if row.amount else ""
    share = f", {row.percent}% by weight" if row.percent else ""
    return f"{called(substance)}{amount}{share}{f', {row.density} lb/gal' if row.density else ''}"
