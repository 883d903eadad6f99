"""Amounts, and whether they reach a federal reportable quantity.

Amounts keep the unit they were given in; comparisons are exact (fractions, never floats). The table of reportable quantities
is 40 CFR 302.4; the densities are handbook values. Both are the project's own data files in `quantities/`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

GALLON_LITRES = Fraction(3785411784, 10**9)
POUND_KILOGRAMS = Fraction(45359237, 10**8)

# Exact by definition (law of the unit, not measurement): how many US gallons one of it is.
GALLONS: Mapping[str, Fraction] = {
    "gal": Fraction(1),
    "L": 1 / GALLON_LITRES,
    "m3": 1000 / GALLON_LITRES,
    "ft3": Fraction(1728, 231),
    "bbl": Fraction(42),  # the oil barrel; a libation's 31.5 gallons is another barrel
}
# How many pounds one of it is. A ton is the US short ton, as in 40 CFR 302; `t` is the metric one.
POUNDS: Mapping[str, Fraction] = {
    "lb": Fraction(1),
    "oz": Fraction(1, 16),
    "ton": Fraction(2000),
    "kg": 1 / POUND_KILOGRAMS,
    "g": Fraction(1, 1000) / POUND_KILOGRAMS,
    "mg": Fraction(1, 10**6) / POUND_KILOGRAMS,
    "t": 1000 / POUND_KILOGRAMS,
}


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume as it was told: `low` and `high` are equal unless it is a range. Units are the keys of `GALLONS`."""

    low: Decimal
    high: Decimal
    unit: str

    @property
    def upper_gallons(self) -> Fraction:
        """The upper end in US gallons, exactly. A range is judged by its upper end (counting.md, thresholds)."""
        return Fraction(self.high) * GALLONS[self.unit]


@dataclass(frozen=True, slots=True)
class Substance:
    """One thing that was spilled, named or by CAS number; `fraction` is its mass fraction in what was spilled (0 to 1)."""

    name: str | None
    cas: str | None
    quantity: Decimal | None
    unit: str | None
    fraction: Decimal = Decimal(1)
    density_lb_per_gal: Decimal | None = None


@dataclass(frozen=True, slots=True)
class ListedSubstance:
    """A row of 40 CFR 302.4: name, CAS numbers, reportable quantity in pounds."""

    name: str
    cas: tuple[str, ...]
    rq_lb: Fraction

    @property
    def key(self) -> str:
        """What amounts are added up under: the first CAS number where there is one, else the name."""
        return self.cas[0] if self.cas else self.name


@dataclass(frozen=True, slots=True)
class Liquid:
    """A liquid of the density table. `listed` is None where it holds nothing with a reportable quantity."""

    name: str
    density_lb_per_gal: Fraction
    listed: ListedSubstance | None
    weight_fraction: Fraction | None
    contested: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of the reportable quantity: yes, no or unknown (None), the arithmetic, and the facts that are open."""

    reached: bool | None
    arithmetic: tuple[str, ...]
    unsettled: tuple[str, ...] = ()


def _plain(name: str) -> str:
    return " ".join(name.lower().split())


def _figure(value: Fraction) -> str:
    return f"{float(value):,.4g}" if value < 1000 else f"{float(value):,.1f}".removesuffix(".0")


class ReportableQuantities:
    """The table of reportable quantities and the densities that turn volumes into pounds."""

    def __init__(self, listed: Iterable[ListedSubstance], liquids: Iterable[Liquid], wastes: Iterable[ListedSubstance] = ()) -> None:
        self._by_name: dict[str, ListedSubstance] = {}
        self._by_cas: dict[str, ListedSubstance] = {}
        self._liquids = {_plain(liquid.name): liquid for liquid in liquids}
        for row in listed:
            self._by_name.setdefault(_plain(row.name), row)
            for number in row.cas:
                self._by_cas.setdefault(number, row)
        # Waste codes give one CAS number several quantities (chromium as waste D007: 10 lb). They are found by name alone.
        for row in wastes:
            self._by_name.setdefault(_plain(row.name), row)

    @classmethod
    def from_csv(cls, rq_csv: str, density_csv: str) -> ReportableQuantities:
        """Read the two tables from their text. Raises KeyError or ValueError where a column or number is missing."""
        listed: list[ListedSubstance] = []
        wastes: list[ListedSubstance] = []
        for row in csv.DictReader(io.StringIO(rq_csv)):
            numbers = tuple(part.strip() for part in row["cas"].split(";") if part.strip())
            entry = ListedSubstance(row["name"], numbers, Fraction(row["rq_lb"]))
            (wastes if row["rcra_waste_code"] else listed).append(entry)
        liquids = [_liquid(row) for row in csv.DictReader(io.StringIO(density_csv))]
        return cls(listed, liquids, wastes)

    def find(self, name: str | None, cas: str | None) -> tuple[ListedSubstance | None, Liquid | None]:
        """The listed substance and the liquid that a name or CAS number stands for; both None where neither table has it."""
        liquid = self._liquids.get(_plain(name)) if name else None
        listed = self._by_cas.get(cas) if cas else None
        if listed is None and name:
            listed = self._by_name.get(_plain(name))
        return listed, liquid

    def judge(self, substances: tuple[Substance, ...]) -> Finding:
        """Whether any listed substance reaches its quantity; amounts of one substance add up (40 CFR 302.4, 302.6).

        A substance without a quantity, not in the tables, or of unknown density leaves the answer unknown (None)
        unless another one settles it as yes.
        """
        # A waste code gives a substance a second quantity; its amounts are held against that one, whatever their order.
        sums: dict[tuple[str, Fraction], tuple[ListedSubstance, Fraction]] = {}
        steps: list[str] = []
        unsettled: list[str] = []
        for number, substance in enumerate(substances):
            listed, pounds, told, open_key = self._pounds(substance)
            steps.append(told)
            if open_key:
                unsettled.append(f"substances[{number}].{open_key}")
            elif listed is not None:
                key = listed.key, listed.rq_lb
                sums[key] = (listed, sums.get(key, (listed, Fraction(0)))[1] + pounds)
        reached = False
        for listed, pounds in sums.values():
            over = pounds >= listed.rq_lb
            reached = reached or over
            word = "at or over" if over else "under"
            steps.append(
                f"{listed.name}: {_figure(pounds)} lb is {word} its reportable quantity of {_figure(listed.rq_lb)} lb (40 CFR 302.4)"
            )
        if reached:
            return Finding(True, tuple(steps))
        return Finding(None if unsettled else False, tuple(steps), tuple(unsettled))

    def _pounds(self, substance: Substance) -> tuple[ListedSubstance | None, Fraction, str, str | None]:
        """The listed substance, how many pounds of it, the arithmetic in words, and the key that is open, if one is."""
        called = substance.name or substance.cas or "unnamed"
        listed, liquid = self.find(substance.name, substance.cas)
        fraction = Fraction(substance.fraction)
        if liquid is not None:
            if liquid.contested:
                return None, Fraction(0), f"{called}: whether the petroleum exclusion covers it is contested", "name"
            if liquid.listed is None:
                return None, Fraction(0), f"{called}: holds nothing with a reportable quantity", None
            if liquid.weight_fraction is None and fraction == 1:
                return None, Fraction(0), f"{called}: its composition is not known", "fraction"
            listed, fraction = liquid.listed, fraction * (liquid.weight_fraction or 1)
        if listed is None:
            return None, Fraction(0), f"{called}: not found in the table of reportable quantities", "name"
        if substance.quantity is None or substance.unit is None:
            return listed, Fraction(0), f"{called}: no quantity is known", "quantity"
        quantity = Fraction(substance.quantity)
        if substance.unit in POUNDS:
            mass = quantity * POUNDS[substance.unit]
            how = f"{substance.quantity} {substance.unit}"
        else:
            density = _density(substance, liquid)
            if density is None:
                return (
                    listed,
                    Fraction(0),
                    f"{called}: its density is not known, so {substance.unit} cannot become pounds",
                    "density_lb_per_gal",
                )
            gallons = quantity * GALLONS[substance.unit]
            mass = gallons * density
            how = (
                f"{substance.quantity} {substance.unit} x {_figure(density)} lb/gal"
                if substance.unit == "gal"
                else (f"{substance.quantity} {substance.unit} = {_figure(gallons)} gal x {_figure(density)} lb/gal")
            )
        part = "" if fraction == 1 else f" x {_figure(fraction)} by weight"
        return listed, mass * fraction, f"{called}: {how}{part} = {_figure(mass * fraction)} lb of {listed.name}", None


def _density(substance: Substance, liquid: Liquid | None) -> Fraction | None:
    if substance.density_lb_per_gal is not None:
        return Fraction(substance.density_lb_per_gal)
    return liquid.density_lb_per_gal if liquid is not None else None


def _liquid(row: Mapping[str, str]) -> Liquid:
    listed = None
    if row["rq_lb"]:
        listed = ListedSubstance(row["rq_substance"], (row["rq_cas"],) if row["rq_cas"] else (), Fraction(row["rq_lb"]))
    fraction = Fraction(row["weight_fraction"]) if row["weight_fraction"] else None
    return Liquid(row["liquid"], Fraction(row["density_lb_per_gal"]), listed, fraction, row["petroleum_excluded"] == "contested")
