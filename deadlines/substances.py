"""Finding a substance by what people call it: name, synonym, CAS number, strength, or something close to one of these.

What is found is told with why. A name with one meaning is read as it, and says so; one that is only similar, or that means
several things, is offered and never taken. Not for `assess`: it judges by the exact names of the tables alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from deadlines.likeness import Likeness
from deadlines.quantities import Liquid, ListedSubstance, ReportableQuantities, exact_figure, figure

_MOST_MATCHES = 8
_LONGEST_NAME = 200
_CAS_LIKE = re.compile(r"(?:cas(?:\s*(?:no|number|rn|#))?[\s.:#]*)?0*(\d[\d\s-]*\d)", re.IGNORECASE)
_HYPHENS = str.maketrans(dict.fromkeys("\N{HYPHEN}\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}", "-"))
_STRENGTH = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d{1,6})?)\s*(?:%|percent\b|per\s+cent\b|pct\b)", re.IGNORECASE)
_BASES = (
    (re.compile(r"\btrade\b", re.IGNORECASE), "trade"),
    (re.compile(r"\bby\s+vol(?:ume)?\b|\bvol\.?(?=\W|$)|\bv\s*/\s*v\b|\babv\b", re.IGNORECASE), "volume"),
    (re.compile(r"\bby\s+(?:weight|mass)\b|\bw\s*/\s*w\b|\bwt\.?(?=\W|$)|\bweight\b", re.IGNORECASE), "weight"),
)
# Words beside a strength that say nothing more: a solution with a strength, the formula of what the name says already.
_BESIDE_STRENGTH = frozenset(
    {"solution", "soln", "aqueous", "aq", "naocl", "hcl", "h2so4", "naoh", "koh", "nh3", "hno3", "hf", "of", "in", "water"}
)
_SPELLINGS = (("sulph", "sulf"), ("aluminium", "aluminum"), ("caesium", "cesium"), ("litre", "liter"), ("colour", "color"))
# At the temperature of the street these are gases: a volume of them need not be the liquid of the density table.
_GASES = frozenset({"chlorine (liquefied gas)", "anhydrous ammonia (liquid)"})
# The strength whose trade percent the notes of the density table tell; of others they do not say what it is by weight.
_TRADE = {Fraction(125, 1000): (Fraction(11, 100), Fraction("9.7"))}
NOT_IN_TABLE = (
    "not in the table: it has no federal reportable quantity under 40 CFR 302.4 by this name. Not in the table either are "
    "radionuclides, extremely hazardous substances listed only in 40 CFR 355, Appendix A, and the descriptions of F-listed wastes; "
    "other duties may apply whatever the quantity"
)


@dataclass(frozen=True, slots=True)
class Synonym:
    """A row of synonyms.csv: what people say, what it stands for (a name of either table, a CAS number, or nothing), and why."""

    said: str
    stands_for: str
    why: str


@dataclass(frozen=True, slots=True)
class Match:
    """Something that was found: a listed substance or a liquid, why it was found, and that in words."""

    name: str
    listed: ListedSubstance | None
    liquid: Liquid | None
    why: str  # exact, synonym, CAS, strength, part, similar
    told: str

    @property
    def cas(self) -> str | None:
        """The CAS number of the listed substance, where it has one alone."""
        return self.listed.cas[0] if self.listed and self.listed.cas else None

    def __str__(self) -> str:
        return f"{self.name} ({self.cas})" if self.cas else self.name


@dataclass(frozen=True, slots=True)
class Search:
    """The ranked answers to a search, and what is to be said beside them."""

    query: str
    matches: tuple[Match, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a typed name is read as. While `known` is false, nothing may be reckoned with it; `suggestions` are what may be meant.

    `name` and `cas` are what the tables know it by. `fraction` is the share by weight that the name itself tells, `basis` what the
    strength is counted by (weight, trade), where that was said; `density` the ends, in pounds a gallon, between which a strength
    between two rows of the density table lies.
    """

    known: bool
    name: str | None
    cas: str | None
    why: str
    told: str
    fraction: Fraction | None = None
    density: tuple[Fraction, Fraction] | None = None
    suggestions: tuple[Match, ...] = ()
    basis: str = ""


def fold(name: str) -> str:
    """A name for comparing: without case, accents and punctuation, and in American spelling."""
    letters = unicodedata.normalize("NFKD", name[:_LONGEST_NAME]).lower()
    words = " ".join(re.findall(r"[a-z0-9]+", letters))
    for british, american in _SPELLINGS:
        words = words.replace(british, american)
    return words


def cas_like(text: str) -> str | None:
    """The digits of a text that looks like a CAS number, or None."""
    plain = unicodedata.normalize("NFKC", text.strip()[:40]).translate(_HYPHENS)
    found = _CAS_LIKE.fullmatch(plain)
    digits = re.sub(r"\D", "", found[1]) if found else ""
    return digits if 5 <= len(digits) <= 10 else None


def cas_number(digits: str) -> str:
    """Digits as a CAS number is written: 7664939 is 7664-93-9."""
    return f"{digits[:-3]}-{digits[-3:-1]}-{digits[-1]}"


def cas_fault(text: str) -> str | None:
    """What is wrong with a text that looks like a CAS number: its check digit; None where it is right or no number at all."""
    digits = cas_like(text)
    if digits is None:
        return None
    right = sum(int(digit) * place for place, digit in enumerate(reversed(digits[:-1]), start=1)) % 10
    if right == int(digits[-1]):
        return None
    before = f"{digits[:-3]}-{digits[-3:-1]}"
    return f"{cas_number(digits)} is not a CAS number: its last digit is a check digit, and after {before} it would be {right}"


@dataclass(frozen=True, slots=True)
class _Strength:
    base: str
    fraction: Fraction
    basis: str


def _strength_of(name: str) -> _Strength | None:
    """The strength in a name and the name without it, or None where it tells none."""
    found = _STRENGTH.search(name)
    if found is None or Fraction(found[1]) > 100:
        return None
    rest, basis = f"{name[: found.start()]} {name[found.end() :]}", ""
    for pattern, said in _BASES:
        if pattern.search(rest):
            rest, basis = pattern.sub(" ", rest), said
            break
    words = re.sub(r"[,;:()]+(?=\s|$)|(?<=\s)[,;:()]+", " ", rest).split()
    base = " ".join([word for word in words if fold(word) not in _BESIDE_STRENGTH] or words)
    return _Strength(base, Fraction(found[1]) / 100, basis)


class Finder:
    """Looks up names in the tables and the synonyms."""

    def __init__(self, quantities: ReportableQuantities, synonyms: Iterable[Synonym]) -> None:
        self.quantities = quantities
        self._rows: dict[str, list[Match]] = {}
        self._synonyms: dict[str, list[Synonym]] = {}
        for liquid in quantities.liquids:
            self._rows.setdefault(fold(liquid.name), []).append(Match(liquid.name, liquid.listed, liquid, "exact", "the name as listed"))
        for row in quantities.listed:
            self._rows.setdefault(fold(row.name), []).append(Match(row.name, row, None, "exact", "the name as listed"))
        for synonym in synonyms:
            self._synonyms.setdefault(fold(synonym.said), []).append(synonym)

    @cached_property
    def _alike(self) -> Likeness:
        return Likeness([*self._rows, *self._synonyms])

    # -- searching

    def search(self, query: str) -> Search:
        """What may be meant, the likeliest first, each with why; `remarks` say what else there is to know."""
        typed = " ".join(query.split())[:_LONGEST_NAME]
        digits = cas_like(typed)
        if digits is not None:
            return self._by_number(typed, digits)
        matches = [*self._named(typed), *self._of_strength(typed)]
        strength = _strength_of(typed)
        rough = fold(strength.base if strength else typed)
        if len(matches) < _MOST_MATCHES and len(rough) > 1:
            matches += self._close(rough, parts=not matches or len(rough) > 3, similar=not matches)
        found = _once(matches)[:_MOST_MATCHES]
        explained = tuple(f"{typed}: {synonym.why}" for synonym in self._synonyms.get(fold(typed), ()) if not synonym.stands_for)
        return Search(query, found, explained or (() if found else (f"{typed or 'an empty name'}: {NOT_IN_TABLE}",)))

    def _by_number(self, typed: str, digits: str) -> Search:
        number, fault = cas_number(digits), cas_fault(typed)
        if fault:
            near = [self._listed(row, "similar", f"{row.cas[0]} is close to {number}") for row in self._near_numbers(digits)]
            return Search(typed, tuple(near[:_MOST_MATCHES]), (fault,))
        row, _ = self.quantities.find(None, number)
        if row is None:
            return Search(typed, (), (f"{number} is a CAS number, but not one of the table: {NOT_IN_TABLE}",))
        told = "its CAS number"
        liquids = [Match(one.name, row, one, "CAS", f"holds {row.name}") for one in self._liquids_with(row)]
        return Search(typed, (self._listed(row, "CAS", told), *liquids[: _MOST_MATCHES - 1]))

    def _near_numbers(self, digits: str) -> list[ListedSubstance]:
        """Listed substances whose number differs in one digit or in two that changed places."""
        found: dict[str, ListedSubstance] = {}
        tries = [digits[:at] + str(other) + digits[at + 1 :] for at in range(len(digits)) for other in range(10)]
        tries += [digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :] for at in range(len(digits) - 1)]
        for one in tries:
            row, _ = self.quantities.find(None, cas_number(one))
            if row is not None:
                found.setdefault(row.key, row)
        return list(found.values())

    @staticmethod
    def _listed(row: ListedSubstance, why: str, told: str) -> Match:
        return Match(row.name, row, None, why, told)

    def _liquids_with(self, row: ListedSubstance) -> list[Liquid]:
        return [one for one in self.quantities.liquids if one.listed and (one.listed.key, one.listed.rq_lb) == (row.key, row.rq_lb)]

    def _target(self, synonym: Synonym) -> Match | None:
        told = f"{synonym.said}: {synonym.why}"
        listed, _ = self.quantities.find(None, synonym.stands_for)
        liquid = None
        if listed is None:
            listed, liquid = self.quantities.find(synonym.stands_for, None)
        if liquid is not None:
            return Match(liquid.name, liquid.listed, liquid, "synonym", told)
        return self._listed(listed, "synonym", told) if listed else None

    def _named(self, typed: str) -> list[Match]:
        """What a name is, by its letters or as a synonym."""
        key = fold(typed)
        listed, liquid = self.quantities.find(typed, None)
        exact = []
        if liquid is not None:
            exact.append(Match(liquid.name, liquid.listed, liquid, "exact", "the name of a liquid in the density table"))
        if listed is not None:
            exact.append(self._listed(listed, "exact", "the name as listed"))
        if not exact:
            told = f"{typed} in another spelling"
            exact = [Match(row.name, row.listed, row.liquid, "synonym", told) for row in self._rows.get(key, ())]
        return exact + [match for synonym in self._synonyms.get(key, ()) if (match := self._target(synonym))]

    def _of_strength(self, typed: str) -> list[Match]:
        strength = _strength_of(typed)
        if strength is None or not strength.base:
            return []
        found = self._substances(strength.base)
        alike = [liquid for row in found for liquid in self._liquids_with(row) if liquid.weight_fraction == strength.fraction]
        share = f"{figure(strength.fraction * 100)}%"
        at = [Match(one.name, one.listed, one, "strength", f"{strength.base} of {share} in the density table") for one in alike]
        return at + [self._listed(row, "strength", f"{strength.base}; {share} of it by weight") for row in found]

    def _substances(self, base: str) -> list[ListedSubstance]:
        """The listed substances that a name may stand for, each once."""
        found: dict[tuple[str, Fraction], ListedSubstance] = {}
        for match in self._named(base):
            if match.listed is not None:
                found.setdefault((match.listed.key, match.listed.rq_lb), match.listed)
        return list(found.values())

    def _close(self, rough: str, *, parts: bool, similar: bool) -> list[Match]:
        """Names that hold the words typed, then names that are similar."""
        found: list[Match] = []
        for key, why in self._alike.of(rough, parts=parts, similar=similar):
            told = f"the name holds the words typed: {rough}" if why == "part" else f"similar to what was typed: {rough}"
            found += [Match(row.name, row.listed, row.liquid, why, told) for row in self._rows.get(key, ())]
            for synonym in self._synonyms.get(key, ()):
                match = self._target(synonym)
                if match is not None:
                    found.append(Match(match.name, match.listed, match.liquid, why, f"{told}; {match.told}"))
        return found

    # -- reading

    def read(self, name: str | None, cas: str | None, fraction: Fraction | None = None, *, by_volume: bool = False) -> Reading:
        """What a typed name or number is read as; `fraction` is the share by weight that was stated beside it, if one was.

        `by_volume` says that the amount is a volume: then a pure substance is read as its liquid, which has a density.
        """
        typed = " ".join((name or "").split())[:_LONGEST_NAME]
        number = cas or (typed if cas_like(typed) else None)
        if number is not None:
            return self._read_number(typed, number, fraction)
        if (reading := self._read_exact(typed, fraction, by_volume)) is not None:
            return reading
        strength = _strength_of(typed)
        if strength is not None and fraction not in (None, strength.fraction):
            beside = figure(Fraction(fraction or 0) * 100)
            told = f"{typed}: the name says {figure(strength.fraction * 100)}%, beside it stands {beside}%; which one is open"
            return Reading(False, typed, None, "unknown", told, fraction)
        if strength is not None and fraction is not None:
            strength = replace(strength, basis="weight")
        if strength is None and fraction is not None:
            bare = [
                match.liquid for match in self._named(typed) if match.liquid and match.liquid.listed and not match.liquid.weight_fraction
            ]
            if len(bare) == 1:
                return Reading(True, bare[0].name, None, "synonym", f"{typed} is read as {bare[0].name}", fraction)
            strength = _Strength(typed, fraction, "weight")
        if strength is not None and (reading := self._read_strength(typed, strength)) is not None:
            return reading
        return self._read_synonym(typed, by_volume)

    def _read_number(self, typed: str, number: str, fraction: Fraction | None) -> Reading:
        found = self.search(number)
        name = typed if typed != number else None
        if found.matches and found.matches[0].why == "CAS":
            match = found.matches[0]
            listed = match.listed.cas[0] if match.listed and number == match.cas else cas_number(cas_like(number) or "")
            return Reading(True, name, listed, "CAS", f"{listed} is {match.name}", fraction)
        meant = f". Did you mean {_or(_meant(found.matches))}?" if found.matches else ""
        return Reading(False, name or number, None, "unknown", f"{found.remarks[0]}{meant}", fraction, suggestions=found.matches)

    def _read_exact(self, typed: str, fraction: Fraction | None, by_volume: bool) -> Reading | None:
        listed, liquid = self.quantities.find(typed, None)
        if liquid is not None:
            if fraction is not None and fraction == liquid.weight_fraction:
                told = f"{liquid.name}: the {figure(fraction * 100)}% is what the density table has for it, and is counted once"
                return Reading(True, liquid.name, None, "exact", told, basis="weight")
            share = "" if fraction is None else f"; {figure(fraction * 100)}% by weight of what was spilled is this"
            return Reading(True, liquid.name, None, "exact", f"{liquid.name} of the density table{share}", fraction)
        if listed is None:
            return None
        if fraction is None and by_volume and (pure := self._pure_liquid(listed)):
            return Reading(True, pure.name, None, "synonym", f"{typed} is read as the liquid {pure.name}, for its density")
        density = self._density_at(listed, fraction) if fraction is not None else None
        return Reading(True, listed.name, None, "exact", f"{listed} as listed", fraction, density)

    def _pure_liquid(self, listed: ListedSubstance) -> Liquid | None:
        pure = [one for one in self._liquids_with(listed) if one.weight_fraction == 1 and one.name not in _GASES]
        return pure[0] if len(pure) == 1 else None

    def _read_strength(self, typed: str, strength: _Strength) -> Reading | None:
        found = self._substances(strength.base)
        share = f"{figure(strength.fraction * 100)}%"
        if len(found) != 1:
            return self._several(typed, [self._listed(row, "strength", "") for row in found]) if found else None
        row = found[0]
        if strength.basis == "volume":
            told = f"{typed}: {share} by volume is not {share} by weight, and the tables do not say how much it is"
            return Reading(False, typed, None, "unknown", told, suggestions=(self._listed(row, "strength", told),))
        if strength.basis == "trade":
            if strength.fraction not in _TRADE or row.key != "7681-52-9":
                told = f"{typed}: what {share} trade is by weight is not in the tables; the share by weight is on the data sheet"
                return Reading(False, typed, None, "unknown", told, suggestions=(self._listed(row, "strength", told),))
            weight, density = _TRADE[strength.fraction]
            told = f"{share} trade is about {figure(weight * 100)}% by weight at {exact_figure(density)} lb/gal (note of the density table)"
            return Reading(True, typed, row.cas[0], "strength", told, weight, (density, density))
        for liquid in self._liquids_with(row):
            if liquid.weight_fraction == strength.fraction:
                return Reading(
                    True, liquid.name, None, "strength", f"{typed} is read as {liquid.name} of the density table", basis=strength.basis
                )
        told = f"{typed} is read as {share} by weight of {row}"
        cas = row.cas[0] if row.cas else None
        return Reading(True, typed if cas else row.name, cas, "strength", told, strength.fraction, self._density_at(row, strength.fraction))

    def _density_at(self, row: ListedSubstance, fraction: Fraction) -> tuple[Fraction, Fraction] | None:
        """The ends of the density of a strength that lies between two rows of the density table."""
        rows = sorted((one.weight_fraction, one.low, one.high) for one in self._liquids_with(row) if one.weight_fraction)
        weaker = [one for one in rows if one[0] <= fraction]
        stronger = [one for one in rows if one[0] >= fraction]
        if not weaker or not stronger:
            return None
        ends = (*weaker[-1][1:], *stronger[0][1:])
        return min(ends), max(ends)

    def _read_synonym(self, typed: str, by_volume: bool) -> Reading:
        found = _once(self._named(typed))
        if len(found) == 1:
            match = found[0]
            if match.liquid is not None:
                return Reading(True, match.name, None, "synonym", f"{typed} is read as {match.name} ({match.told})")
            if match.listed and by_volume and (pure := self._pure_liquid(match.listed)):
                return Reading(True, pure.name, None, "synonym", f"{typed} is read as the liquid {pure.name} ({match.told})")
            name, cas = (typed, match.cas) if match.cas else (match.name, None)
            return Reading(True, name, cas, "synonym", f"{typed} is read as {match} ({match.told})")
        if found:
            return self._several(typed, found)
        explained = [synonym.why for synonym in self._synonyms.get(fold(typed), ())]
        if explained:
            return Reading(False, typed, None, "unknown", f"{typed}: {explained[0]}")
        if near := _meant(self.search(typed).matches):
            told = f"{typed}: not found in the table. Did you mean {_or(near)}?"
            return Reading(False, typed, None, "unknown", told, suggestions=near)
        return Reading(False, typed, None, "unknown", f"{typed or 'an empty name'}: {NOT_IN_TABLE}")

    def _several(self, typed: str, found: Sequence[Match]) -> Reading:
        told = f"{typed} may be {_or(found)}: which one is open"
        return Reading(False, typed, None, "several", told, suggestions=tuple(found))


def _once(matches: Iterable[Match]) -> tuple[Match, ...]:
    """Each thing once, under the first and best reason: a liquid by its name, a listed substance by its number and quantity."""
    found: dict[object, Match] = {}
    for match in matches:
        substance = (match.listed.key, match.listed.rq_lb) if match.listed else match.name
        key = (substance, fold(match.name)) if match.liquid else substance
        if match.liquid or (substance, fold(match.name)) not in found:
            found.setdefault(key, match)
    return tuple(found.values())


def _meant(matches: Sequence[Match]) -> tuple[Match, ...]:
    """Of close names the first of each substance, three at most."""
    found: dict[object, Match] = {}
    for match in matches:
        found.setdefault(match.listed.key if match.listed else match.name, match)
    return tuple(found.values())[:3]


def _or(matches: Sequence[Match]) -> str:
    told = [str(match) for match in matches]
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} or {told[-1]}"
