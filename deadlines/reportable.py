"""Whether amounts reach a federal reportable quantity: the judgement of the tables, with how each name was read, from which amount
on it is reached, what other readings give, and what is open. The judgement itself is `ReportableQuantities.judge`, so that this
answer and the clocks never differ; only a mixture of unknown shares, which facts cannot tell, is judged here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from functools import cached_property

from deadlines.mixtures import Constituent, Mixture
from deadlines.quantities import GALLONS, Finding, Liquid, ListedSubstance, Substance, exact_figure
from deadlines.substances import Finder, Match, Reading

ANSWERS: Mapping[bool | None, str] = {
    True: "A reportable quantity is reached.", False: "No reportable quantity is reached.", None: "It cannot be said; see above.",
}  # fmt: skip
LIST_SOURCE = (
    "40 CFR 302.4, list of hazardous substances and reportable quantities (its copy in 49 CFR 172.101, Appendix A, is replaced by a "
    "pointer to 40 CFR 302.4 from 2026-12-02)"
)
_PETROLEUM = (
    "petroleum, crude oil and any fraction of it included, is not a hazardous substance (42 USC 9601(14)): no reportable quantity, "
    "whatever the amount. Oil has duties of its own: a film or sheen on water is called in to the NRC at once (40 CFR 110.3, 110.6), "
    "and state and city rules apply"
)
_NOTHING_LISTED = "holds nothing with a federal reportable quantity; other duties may apply whatever the quantity"
_DAY = "What is released within any 24-hour period counts together (40 CFR 302.6(a))"


@dataclass(frozen=True, slots=True)
class Amount:
    """One amount as it was asked. `low` and `high` are equal unless it is a range; `constituents` make it a mixture.

    Units are those of `GALLONS` and `POUNDS`; fractions are by weight, 0 to 1.
    """

    name: str | None
    cas: str | None
    low: Decimal | None
    high: Decimal | None
    unit: str | None
    fraction: Decimal | None = None
    density_lb_per_gal: Decimal | None = None
    constituents: tuple[Constituent, ...] = ()

    @property
    def called(self) -> str:
        """What it is called in the answer."""
        return self.name or self.cas or "mixture"


@dataclass(frozen=True, slots=True)
class TableReading:
    """A row of readings.csv: another way to read a liquid, which the density table leaves open."""

    of: str
    reading: str
    substance: str
    density_lb_per_gal: Decimal
    fraction: Decimal
    source: str


@dataclass(frozen=True, slots=True)
class Part:
    """How one amount was read, and the `substances` facts that say the same."""

    called: str
    known: bool
    why: str
    told: str
    suggestions: tuple[Match, ...]
    facts: tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True)
class OtherReading:
    """What another reading gives."""

    reading: str
    source: str
    reached: bool | None
    arithmetic: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """Reached, not reached or not to be said (None), with everything needed to check it by hand."""

    reached: bool | None
    parts: tuple[Part, ...]
    arithmetic: tuple[str, ...]
    reached_from: tuple[str, ...]
    other_readings: tuple[OtherReading, ...]
    open_points: tuple[str, ...]
    remarks: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        return ANSWERS[self.reached]


def answer(amounts: Sequence[Amount], finder: Finder, readings: Iterable[TableReading] = ()) -> Answer:
    """Answer for all amounts together; amounts of one substance add up."""
    return _Asked([_Read(amount, finder) for amount in amounts], finder, tuple(readings)).answer()


def figure_up(value: Fraction) -> str:
    """A number rounded up as `figure` rounds, so that this much surely is enough."""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    places = -1 if exact >= 1000 else min(exact.adjusted() - 3, 0) if exact else 0
    shown = exact.quantize(Decimal(1).scaleb(places), rounding=ROUND_CEILING)
    return f"{shown:,f}".rstrip("0").rstrip(".") if "." in f"{shown:f}" else f"{shown:,f}"


class _Read:
    """One amount with how its name is read."""

    def __init__(self, amount: Amount, finder: Finder) -> None:
        self.amount = amount
        self.finder = finder
        self.by_volume = amount.unit in GALLONS
        fraction = None if amount.fraction is None else Fraction(amount.fraction)
        self.mixture = Mixture(amount.called, amount.high, amount.unit, amount.density_lb_per_gal, amount.constituents, finder)
        self.reading = (
            Reading(True, None, None, "mixture", self.mixture.told)
            if amount.constituents
            else finder.read(amount.name, amount.cas, fraction, by_volume=self.by_volume)
        )
        listed, liquid = (None, None) if amount.constituents else finder.quantities.find(self.reading.name, self.reading.cas)
        self.liquid: Liquid | None = liquid
        self.listed: ListedSubstance | None = liquid.listed if liquid else listed

    @property
    def stated_density(self) -> Decimal | None:
        """The density that was stated, or that the reading of the name names."""
        ends = self.reading.density
        if self.amount.density_lb_per_gal is not None or not self.by_volume or ends is None or ends[0] != ends[1]:
            return self.amount.density_lb_per_gal
        return _decimal(ends[0])

    @cached_property
    def substance(self) -> Substance:
        """What the tables are asked to judge."""
        reading = self.reading
        fraction = reading.fraction if reading.known else self.amount.fraction
        return Substance(
            reading.name, reading.cas, self.amount.high, self.amount.unit,
            Decimal(1) if fraction is None else _decimal(Fraction(fraction)), self.stated_density,
        )  # fmt: skip

    @property
    def between(self) -> tuple[Fraction, Fraction] | None:
        """The ends of the density where only a range of it is known."""
        return self.reading.density if self.by_volume and self.substance.density_lb_per_gal is None else None

    @property
    def densities(self) -> tuple[Fraction, Fraction] | None:
        """The ends of the density that decides, where it was not stated."""
        if not self.by_volume or self.stated_density is not None or self.amount.constituents:
            return None
        if self.liquid is not None and self.liquid.listed is not None:
            return self.liquid.low, self.liquid.high
        return self.between

    def at(self, density: Fraction) -> Substance:
        """The substance at one density."""
        return replace(self.substance, density_lb_per_gal=_decimal(density))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


class _Asked:
    """All amounts of one question."""

    def __init__(self, reads: list[_Read], finder: Finder, readings: tuple[TableReading, ...]) -> None:
        self.reads = reads
        self.quantities = finder.quantities
        self.readings = readings
        ends = {self._judge([self._chosen(read, end) for read in reads]).reached for end in (0, 1)}
        self.settled = len(ends) == 1
        self.chosen = [self._chosen(read, 1) if self.settled else (read.substance,) for read in reads]
        self.finding = self._judge(self.chosen)

    def _judge(self, chosen: Sequence[Sequence[Substance]]) -> Finding:
        return self.quantities.judge(tuple(substance for group in chosen for substance in group))

    @staticmethod
    def _chosen(read: _Read, end: int) -> tuple[Substance, ...]:
        """What is judged for an amount; where only a range of its density is known, at one end of it."""
        if read.amount.constituents:
            return read.mixture.substances
        return (read.at(read.between[end]),) if read.between else (read.substance,)

    def answer(self) -> Answer:
        wholes = [read.mixture.whole for read in self.reads if read.amount.constituents]
        reached = True if any(whole.reached for whole in wholes) else self.finding.reached
        if reached is False and any(whole.reached is None for whole in wholes):
            reached = None
        arithmetic = (*self._steps(), *(step for whole in wholes for step in whole.arithmetic))
        others = tuple(self._other_readings())
        return Answer(
            reached, tuple(self._part(number) for number in range(len(self.reads))), arithmetic, tuple(self._reached_from()), others,
            tuple(dict.fromkeys(self._open_points(reached, others))), tuple(dict.fromkeys(self._remarks())), tuple(self._sources(others)),
        )  # fmt: skip

    def _steps(self) -> Iterator[str]:
        """The arithmetic of the tables; a name that is open stands there as open, not as sought in vain."""
        steps = iter(self.finding.arithmetic)
        for read, group in zip(self.reads, self.chosen, strict=True):
            for _ in group:
                step = next(steps)
                yield step if read.reading.known else f"{read.amount.called}: what it is, is open"
        yield from steps

    def _part(self, number: int) -> Part:
        read = self.reads[number]
        substances = () if read.mixture.whole.counts else self.chosen[number]
        return Part(
            read.amount.called, read.reading.known, read.reading.why, read.reading.told, read.reading.suggestions,
            tuple(_fact(substance) for substance in substances),
        )  # fmt: skip

    def _with(self, number: int, substance: Substance) -> Finding:
        return self._judge([*self.chosen[:number], (substance,), *self.chosen[number + 1 :]])

    # -- from which amount on

    def _reached_from(self) -> Iterator[str]:
        for number, read in enumerate(self.reads):
            if read.amount.constituents or not read.reading.known:
                continue
            [substance] = self.chosen[number]
            for unit in (read.amount.unit,) if read.amount.unit else ("gal", "lb"):
                told = self._from(number, substance, unit)
                if told:
                    yield f"{substance.name or substance.cas}: reached from {told}"

    def _from(self, number: int, substance: Substance, unit: str) -> str:
        """The amount in a unit from which on it is reached beside the other amounts; nothing where none is."""
        one = self.quantities.weigh(replace(substance, quantity=Decimal(1), unit=unit))
        if one.listed is None or one.open_key or not one.pounds:
            return ""
        weighed = [self.quantities.weigh(other) for at, group in enumerate(self.chosen) if at != number for other in group]
        same = [
            other.pounds
            for other in weighed
            if other.listed and (other.listed.key, other.listed.rq_lb) == (one.listed.key, one.listed.rq_lb)
        ]
        missing = one.listed.rq_lb - sum(same, Fraction(0))
        if missing <= 0:
            return ""
        return f"{figure_up(missing / one.pounds)} {unit} on{', with the other amounts' if any(same) else ''}"

    # -- other readings

    def _other_readings(self) -> Iterator[OtherReading]:
        for number, read in enumerate(self.reads):
            if read.amount.high is not None:
                for label, source, substance in self._alternatives(read):
                    finding = self._with(number, substance)
                    yield OtherReading(label, source, finding.reached, finding.arithmetic)

    def _alternatives(self, read: _Read) -> Iterator[tuple[str, str, Substance]]:
        asked, reading = read.substance, read.reading
        for row in self.readings if read.liquid else ():
            by_weight = reading.basis == "weight" and "trade" in row.reading
            if row.of == read.liquid.name and not by_weight:  # type: ignore[union-attr]
                cas = None if row.substance or not read.listed else read.listed.cas[0]
                density = asked.density_lb_per_gal or row.density_lb_per_gal
                yield row.reading, row.source, replace(
                    asked, name=row.substance or None, cas=cas, fraction=row.fraction, density_lb_per_gal=density
                )  # fmt: skip
        if reading.why == "several":
            for match in reading.suggestions:
                cas = match.cas if match.liquid is None else None
                yield (
                    match.name,
                    "density table" if match.liquid else "table of 40 CFR 302.4",
                    replace(asked, name=None if cas else match.name, cas=cas, fraction=Decimal(1)),
                )
        elif (
            read.liquid is None and read.by_volume and read.amount.fraction is None and reading.fraction is None and not read.stated_density
        ):
            for liquid in self.quantities.liquids:
                if read.listed and liquid.listed and liquid.listed.key == read.listed.key and liquid.weight_fraction:
                    yield liquid.name, "density table", replace(asked, name=liquid.name, cas=None)

    # -- what is open, what else there is to know

    def _open_points(self, reached: bool | None, others: Sequence[OtherReading]) -> Iterator[str]:
        for number, read in enumerate(self.reads):
            if not read.reading.known:
                yield read.reading.told
            yield from read.mixture.open_points
            yield from self._open_of(number, read)
        lower = [
            tuple(replace(one, quantity=read.amount.low) for one in group) for read, group in zip(self.reads, self.chosen, strict=True)
        ]
        if reached and any(read.amount.low != read.amount.high for read in self.reads):
            at_low = self._judge(lower).reached or any(read.mixture.at(read.amount.low).reached for read in self.reads)
            if not at_low:
                yield "Reached at the upper end of the range only; the upper end starts the clock"
        yield from self._open_densities()
        differing = [other.reading for other in others if other.reached is not reached]
        if differing and reached is not None:
            yield f"Another reading gives another answer: {'; '.join(differing)}"

    def _open_of(self, number: int, read: _Read) -> Iterator[str]:
        if not read.reading.known or read.amount.constituents:
            return
        [substance] = self.chosen[number]
        weighed = self.quantities.weigh(substance)
        if weighed.open_key == "density_lb_per_gal" and read.between is None:
            strengths = any(self._alternatives(read))
            what = (
                "its strength is open, and its density with it" if strengths else "its density is not in the table, but on its data sheet"
            )
            yield f"{read.amount.called}: {what}. By weight it is reached from {self._from(number, replace(substance, unit='lb'), 'lb')}"
        elif weighed.open_key == "name" and read.liquid is not None:
            yield f"{read.liquid.name}: whether the petroleum exclusion covers it is contested ({read.liquid.note})"
        elif weighed.open_key == "fraction" and read.liquid is not None:
            yield f"{read.liquid.name}: its composition is not known ({read.liquid.note})"
        elif weighed.open_key == "quantity":
            yield f"{read.amount.called}: no quantity is known"

    def _open_densities(self) -> Iterator[str]:
        """Where the range of the density changes the answer: both ends, and from where on it is reached at each."""
        for number, read in enumerate(self.reads):
            if read.densities is None or not read.reading.known:
                continue
            verdicts = [self._with(number, read.at(density)).reached for density in read.densities]
            if verdicts[0] is not verdicts[1]:
                unit = read.amount.unit or "gal"
                ends = []
                for density, verdict in zip(read.densities, verdicts, strict=True):
                    word = "reached" if verdict else "not reached"
                    start = self._from(number, read.at(density), unit)
                    ends.append(f"at {exact_figure(density)} lb/gal it is {word} (from {start})")
                middle = (
                    ""
                    if read.between
                    else f". The answer takes the table's {exact_figure(read.liquid.density_lb_per_gal)} lb/gal"
                    if read.liquid
                    else ""
                )
                yield f"{read.amount.called}: the range of its density changes the answer: {'; '.join(ends)}{middle}"

    def _remarks(self) -> Iterator[str]:
        for read in self.reads:
            liquid = read.liquid
            if liquid is not None and liquid.petroleum == "yes":
                yield f"{liquid.name}: {_PETROLEUM}"
            elif liquid is not None and liquid.listed is None and not liquid.contested:
                yield f"{liquid.name}: {_NOTHING_LISTED}"
            composed = liquid is not None and (liquid.listed is None or liquid.weight_fraction is not None)
            if liquid is not None and composed and liquid.petroleum == "no" and liquid.note not in ("", "same", "no CERCLA RQ"):
                yield f"{liquid.name}: {liquid.note}"
            for listed in (*read.mixture.listed, *((read.listed,) if read.listed else ())):
                note = self.quantities.find(None, listed.cas[0])[0] if listed.cas and not listed.note else listed
                if note is not None and note.note and "blank" not in note.note and not listed.waste_code:
                    yield f"{listed.name}: {note.note}"
        if any(read.listed or read.mixture.listed for read in self.reads):
            yield _DAY

    def _sources(self, others: Sequence[OtherReading]) -> Iterator[str]:
        yield LIST_SOURCE
        for read in self.reads:
            if read.densities is not None:
                low, high = map(exact_figure, read.densities)
                source = read.liquid.source if read.liquid else "between two rows of the density table"
                yield f"Density of {read.reading.name or read.reading.cas}: {low if low == high else f'{low} to {high}'} lb/gal, {source}"
        if any(read.amount.constituents for read in self.reads) or any("302.6(b)(1)" in other.source for other in others):
            yield "40 CFR 302.6(b)(1), mixtures and solutions"
        if any(read.liquid and read.liquid.petroleum != "no" for read in self.reads):
            yield "42 USC 9601(14), petroleum exclusion"


def _fact(substance: Substance) -> dict[str, object]:
    """A substance as the contract's fact object has it."""
    given: dict[str, object] = {"name": substance.name, "cas": substance.cas, "quantity": substance.quantity, "unit": substance.unit}
    given |= {"fraction": None if substance.fraction == 1 else substance.fraction, "density_lb_per_gal": substance.density_lb_per_gal}
    return {key: _number(value) if isinstance(value, Decimal) else value for key, value in given.items() if value is not None}


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() and abs(value) < 10**15 else float(value)
