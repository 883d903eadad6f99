"""Mixtures: each constituent of known share against its own quantity, and a whole of unknown shares against the lowest one.

40 CFR 302.6(b)(1): where the quantity of one or more constituents is not known, the total amount of the mixture counts against the
lowest reportable quantity of any constituent.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from deadlines.quantities import GALLONS, POUNDS, ListedSubstance, Substance, exact_figure, figure, figure_against
from deadlines.substances import Finder, Reading


@dataclass(frozen=True, slots=True)
class Constituent:
    """One thing in a mixture; `fraction` is its share by weight, 0 to 1, None where it is not known."""

    name: str | None
    cas: str | None
    fraction: Decimal | None


@dataclass(frozen=True, slots=True)
class Whole:
    """The judgement over a mixture as a whole. It `counts` where a share is not known."""

    counts: bool
    reached: bool | None
    arithmetic: tuple[str, ...] = ()


class Mixture:
    """One amount of a mixture. Without constituents it is empty, and says nothing."""

    def __init__(
        self,
        called: str,
        quantity: Decimal | None,
        unit: str | None,
        density: Decimal | None,
        parts: tuple[Constituent, ...],
        finder: Finder,
    ) -> None:
        self.called, self.quantity, self.unit, self.density = called, quantity, unit, density
        self.parts = [(part, finder.read(part.name, part.cas)) for part in parts]
        self._quantities = finder.quantities

    @property
    def told(self) -> str:
        """What it is read as."""
        shares = []
        for part, reading in self.parts:
            share = "an unknown share" if part.fraction is None else f"{figure(Fraction(part.fraction) * 100)}% by weight"
            shares.append(f"{share} of {self._named(part, reading)}")
        return f"{self.called}: a mixture with {', '.join(shares)}"

    @staticmethod
    def _named(part: Constituent, reading: Reading) -> str:
        typed = part.name or part.cas or "something"
        return f"{typed} ({reading.cas or reading.name})" if reading.known and reading.why != "exact" else typed

    def _listed_in(self, reading: Reading) -> tuple[ListedSubstance | None, Fraction]:
        """The listed substance of a constituent, and its share in the constituent."""
        listed, liquid = self._quantities.find(reading.name, reading.cas)
        share = reading.fraction or Fraction(1)
        if liquid is not None:
            return (liquid.listed, share * (liquid.weight_fraction or 1)) if liquid.petroleum == "no" else (None, share)
        return listed, share

    @cached_property
    def listed(self) -> tuple[ListedSubstance, ...]:
        """The listed substances in it, each once."""
        found = [self._listed_in(reading)[0] for _, reading in self.parts if reading.known]
        return tuple({(one.key, one.rq_lb): one for one in found if one is not None}.values())

    @cached_property
    def substances(self) -> tuple[Substance, ...]:
        """The constituents of known share, as the tables judge them; one that nothing is known of stays open."""
        found = []
        for part, reading in self.parts:
            listed, share = self._listed_in(reading) if reading.known else (None, Fraction(1))
            if part.fraction is None and reading.known:
                continue
            fraction = Fraction(1 if part.fraction is None else part.fraction) * share
            exact = Decimal(fraction.numerator) / Decimal(fraction.denominator)
            if listed is not None:
                cas = listed.cas[0] if listed.cas and not listed.waste_code else None
                name = f"{listed.name} in {self.called}" if cas else listed.name
                found.append(Substance(name, cas, self.quantity, self.unit, exact, self.density))
            else:
                found.append(Substance(reading.name or part.name or part.cas, None, self.quantity, self.unit, exact, self.density))
        return tuple(found)

    @cached_property
    def whole(self) -> Whole:
        """The whole against the lowest quantity of any constituent, where a share is not known."""
        return self.at(self.quantity)

    def at(self, quantity: Decimal | None) -> Whole:
        """The same for another amount of it."""
        unknown = [part.name or part.cas or "something" for part, _ in self.parts if part.fraction is None]
        if not unknown:
            return Whole(False, False)
        doubtful = any(not reading.known for _, reading in self.parts)
        if not self.listed:
            return Whole(True, None if doubtful else False, (f"{self.called}: holds nothing with a reportable quantity that is known of",))
        if quantity is None or self.unit is None or (self.unit in GALLONS and self.density is None):
            what = "no quantity is known" if quantity is None else f"its density is not known, so {self.unit} cannot become pounds"
            return Whole(True, None, (f"{self.called}: {what}",))
        lowest = min(self.listed, key=lambda one: one.rq_lb)
        pounds = Fraction(quantity) * (POUNDS[self.unit] if self.unit in POUNDS else GALLONS[self.unit] * Fraction(self.density or 0))
        over = pounds >= lowest.rq_lb
        how = f"{quantity} {self.unit}"
        if self.unit in GALLONS:
            how += (
                "" if self.unit == "gal" else f" = {figure(Fraction(quantity) * GALLONS[self.unit])} gal"
            ) + f" x {exact_figure(Fraction(self.density or 0))} lb/gal"
        word, weight = "at or over" if over else "under", figure_against(pounds, lowest.rq_lb)
        weight = weight if self.unit == "lb" else f"{how} = {weight}"
        step = (
            f"{self.called}: the share of {' and '.join(unknown)} is not known, so the whole counts: {weight} lb is {word} "
            f"{figure(lowest.rq_lb)} lb, the lowest reportable quantity in it ({lowest.name}; 40 CFR 302.6(b)(1))"
        )
        return Whole(True, True if over else None if doubtful else False, (step,))

    @property
    def open_points(self) -> list[str]:
        """What is open about it."""
        found = [f"{self.called}: {reading.told}" for _, reading in self.parts if not reading.known]
        if self.whole.counts:
            found.append(f"{self.called}: its composition is not fully known; the data sheet or an analysis may settle it")
            if self.unit in GALLONS and self.density is None:
                found.append(f"{self.called}: its density is not known")
        return found
