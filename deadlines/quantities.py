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
    """A row of 40 CFR 302.4: name, CAS numbers, reportable quantity in pounds; `waste_code` where the row is a waste."""

    name: str
    cas: tuple[str, ...]
    rq_lb: Fraction
    note: str = ""
    waste_code: str = ""

    @property
    def key(self) -> str:
        """What amounts are added up under: the first CAS number where there is one, else the name."""
        return self.cas[0] if self.cas else self.name

    def __str__(self) -> str:
        return f"{self.name} ({self.cas[0]})" if len(self.cas) == 1 else self.name


@dataclass(frozen=True, slots=True)
class Liquid:
    """A liquid of the density table; products lie between `low` and `high`, in pounds a gallon.

    `listed` is None where it holds nothing with a reportable quantity. `petroleum` is the table's word on the petroleum exclusion:
    yes, no or contested.
    """

    name: str
    density_lb_per_gal: Fraction
    low: Fraction
    high: Fraction
    listed: ListedSubstance | None
    weight_fraction: Fraction | None
    petroleum: str
    note: str = ""
    source: str = ""

    @property
    def contested(self) -> bool:
        """Whether it is open that the petroleum exclusion covers it."""
        return self.petroleum == "contested"


@dataclass(frozen=True, slots=True)
class Weighed:
    """One amount in pounds of a listed substance, told in words; `open_key` is the key that is open, where one is."""

    listed: ListedSubstance | None
    pounds: Fraction
    told: str
    open_key: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of the reportable quantity: yes, no or unknown (None), the arithmetic, and the facts that are open."""

    reached: bool | None
    arithmetic: tuple[str, ...]
    unsettled: tuple[str, ...] = ()


_ODD_LETTERS = str.maketrans("", "", ",[](-\N{PRIME}0123456789&")


def plain(name: str) -> str:
    """A name as it is looked up: in small letters, with single spaces."""
    return " ".join(name.lower().split())


def figure(value: Fraction) -> str:
    """A number as it is shown: to four digits, from 1,000 on to a tenth."""
    number = float(value)
    if number >= 1000:
        return f"{number:,.1f}".removesuffix(".0")
    told = f"{number:.4g}"
    return told if "e" not in told else f"{number:,.12f}".rstrip("0").rstrip(".")


def exact_figure(value: Fraction) -> str:
    """A given number with all its digits, where it ends within eight places."""
    if value.denominator == 1 or 10**8 % value.denominator:
        return figure(value)
    return f"{Decimal(value.numerator) / value.denominator:,f}"


def figure_against(value: Fraction, limit: Fraction) -> str:
    """A number with as many digits as show on which side of a limit it lies: 99.9999 is not told as 100 against 100."""
    told = figure(value)
    if not 0.999 < float(value) / float(limit) <= 1 or value == limit:
        return told
    places = 2
    while Fraction(told.replace(",", "")) >= limit and places < 10:
        places += 1
        told = f"{float(value):,.{places}f}"
    return told


class ReportableQuantities:
    """The table of reportable quantities and the densities that turn volumes into pounds."""

    def __init__(self, listed: Iterable[ListedSubstance], liquids: Iterable[Liquid], wastes: Iterable[ListedSubstance] = ()) -> None:
        self._by_name: dict[str, ListedSubstance] = {}
        self._by_cas: dict[str, ListedSubstance] = {}
        self._liquids = {plain(liquid.name): liquid for liquid in liquids}
        for row in listed:
            self._by_name.setdefault(plain(row.name), row)
            for number in row.cas:
                known = self._by_cas.setdefault(number, row)
                if known.key == row.key and _oddness(row.name) < _oddness(known.name):
                    self._by_cas[number] = row  # of the names of one substance, the one that people know
        # Waste codes give one CAS number several quantities (chromium as waste D007: 10 lb). They are found by name alone.
        for row in wastes:
            self._by_name.setdefault(plain(row.name), row)

    @classmethod
    def from_csv(cls, rq_csv: str, density_csv: str) -> ReportableQuantities:
        """Read the two tables from their text. Raises KeyError or ValueError where a column or number is missing."""
        listed: list[ListedSubstance] = []
        wastes: list[ListedSubstance] = []
        for row in csv.DictReader(io.StringIO(rq_csv)):
            numbers = tuple(part.strip() for part in row["cas"].split(";") if part.strip())
            entry = ListedSubstance(row["name"], numbers, Fraction(row["rq_lb"]), row["note"], row["rcra_waste_code"])
            (wastes if row["rcra_waste_code"] else listed).append(entry)
        liquids = [_liquid(row) for row in csv.DictReader(io.StringIO(density_csv))]
        return cls(listed, liquids, wastes)

    @property
    def listed(self) -> list[ListedSubstance]:
        """Every row of the list, in its order; wastes last."""
        return list(self._by_name.values())

    @property
    def liquids(self) -> list[Liquid]:
        """Every liquid of the density table."""
        return list(self._liquids.values())

    def find(self, name: str | None, cas: str | None) -> tuple[ListedSubstance | None, Liquid | None]:
        """The listed substance and the liquid that a name or CAS number stands for; both None where neither table has it."""
        liquid = self._liquids.get(plain(name)) if name else None
        listed = self._by_cas.get(cas) if cas else None
        if listed is None and name:
            listed = self._by_name.get(plain(name))
        return listed, liquid

    def judge(self, substances: tuple[Substance, ...]) -> Finding:
        """Whether any listed substance reaches its quantity; amounts of one substance add up (40 CFR 302.4, 302.6).

        A substance without a quantity, not in the tables, or of unknown density leaves the answer unknown (None)
        unless another one settles it as yes.
        """
        # A waste code gives a substance a second quantity; its amounts are held against that one, whatever their order.
        sums: dict[tuple[str, Fraction], tuple[ListedSubstance, list[Fraction]]] = {}
        steps: list[str] = []
        unsettled: list[str] = []
        for number, substance in enumerate(substances):
            weighed = self.weigh(substance)
            steps.append(weighed.told)
            if weighed.open_key:
                unsettled.append(f"substances[{number}].{weighed.open_key}")
            elif weighed.listed is not None:
                sums.setdefault((weighed.listed.key, weighed.listed.rq_lb), (weighed.listed, []))[1].append(weighed.pounds)
        reached = False
        for listed, pounds in sums.values():
            total = sum(pounds[1:], pounds[0])
            over = total >= listed.rq_lb
            reached = reached or over
            steps.append(_against(listed, pounds, total, over))
        if reached:
            return Finding(True, tuple(steps))
        return Finding(None if unsettled else False, tuple(steps), tuple(unsettled))

    def weigh(self, substance: Substance) -> Weighed:
        """One amount in pounds of the listed substance in it, or which key has to be known first."""
        called = substance.name or substance.cas or "unnamed"
        listed, liquid = self.find(substance.name, substance.cas)
        fraction = Fraction(substance.fraction)
        if liquid is not None:
            if liquid.contested:
                return Weighed(None, Fraction(0), f"{called}: whether the petroleum exclusion covers it is contested", "name")
            if liquid.listed is None:
                excluded = "petroleum, excluded from the list of hazardous substances (42 USC 9601(14))"
                nothing = excluded if liquid.petroleum == "yes" else "holds nothing with a reportable quantity"
                return Weighed(None, Fraction(0), f"{called}: {nothing}")
            if liquid.weight_fraction is None and fraction == 1:
                return Weighed(None, Fraction(0), f"{called}: its composition is not known", "fraction")
            listed, fraction = liquid.listed, fraction * (liquid.weight_fraction or 1)
        if listed is None:
            return Weighed(None, Fraction(0), f"{called}: not found in the table of reportable quantities", "name")
        if substance.quantity is None or substance.unit is None:
            return Weighed(listed, Fraction(0), f"{called}: no quantity is known", "quantity")
        quantity, how = Fraction(substance.quantity), f"{substance.quantity} {substance.unit}"
        if substance.unit in POUNDS:
            mass = quantity * POUNDS[substance.unit]
            how += "" if substance.unit == "lb" else f" = {figure(mass)} lb"
        else:
            density = _density(substance, liquid)
            if density is None:
                told = f"{called}: its density is not known, so {substance.unit} cannot become pounds"
                return Weighed(listed, Fraction(0), told, "density_lb_per_gal")
            gallons = quantity * GALLONS[substance.unit]
            mass = gallons * density
            how += ("" if substance.unit == "gal" else f" = {figure(gallons)} gal") + f" x {exact_figure(density)} lb/gal"
        part = "" if fraction == 1 else f" x {exact_figure(fraction)} by weight"
        if fraction == 1 and substance.unit == "lb":
            return Weighed(listed, mass, f"{called}: {how} of {listed.name}")
        mass = mass if fraction == 1 else mass * fraction
        return Weighed(listed, mass, f"{called}: {how}{part} = {figure_against(mass, listed.rq_lb)} lb of {listed.name}")


def _against(listed: ListedSubstance, pounds: list[Fraction], total: Fraction, over: bool) -> str:
    added = f"{' + '.join(map(figure, pounds))} = " if len(pounds) > 1 else ""
    word = "at or over" if over else "under"
    told = figure_against(total, listed.rq_lb)
    return f"{listed.name}: {added}{told} lb is {word} its reportable quantity of {figure(listed.rq_lb)} lb (40 CFR 302.4)"


def _oddness(name: str) -> tuple[int, int]:
    """How far a name is from what people say: turned-round names (Ethene, tetrachloro-), brackets and numbers first, then length."""
    return len(name) - len(name.translate(_ODD_LETTERS)), len(name)


def _density(substance: Substance, liquid: Liquid | None) -> Fraction | None:
    if substance.density_lb_per_gal is not None:
        return Fraction(substance.density_lb_per_gal)
    return liquid.density_lb_per_gal if liquid is not None else None


def _liquid(row: Mapping[str, str]) -> Liquid:
    listed = None
    if row["rq_lb"]:
        listed = ListedSubstance(row["rq_substance"], (row["rq_cas"],) if row["rq_cas"] else (), Fraction(row["rq_lb"]))
    fraction = Fraction(row["weight_fraction"]) if row["weight_fraction"] else None
    density, low, high = (Fraction(row[key]) for key in ("density_lb_per_gal", "low", "high"))
    return Liquid(row["liquid"], density, low, high, listed, fraction, row["petroleum_excluded"], row["note"], row["source"])
