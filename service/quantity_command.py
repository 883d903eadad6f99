"""`spillclock rq`: looks a substance up, or says whether amounts reach a reportable quantity. It returns its lines; `cli` prints them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import TypeVar

from deadlines.mixtures import Constituent
from deadlines.quantities import figure
from deadlines.reportable import Amount, Answer
from deadlines.substances import Match, Search, cas_fault
from service.errors import BadInput
from service.library import open_rulebook
from service.quantity_questions import (
    LONGEST_NAME,
    RIGHT,
    answer_for,
    answer_json,
    density_of,
    finder_of,
    range_of,
    search_json,
    share_of,
    unit_of,
)

DONE, NOTHING_FOUND = 0, 1
Value = TypeVar("Value")
_VERDICTS = {True: "reached", False: "not reached", None: "cannot be said"}


def run(given: argparse.Namespace) -> tuple[int, list[str]]:
    """The exit code and the lines of one call. Raises BadInput."""
    quantities = open_rulebook().quantities
    if given.quantity is None and not given.more and not given.holds:
        found = finder_of(quantities).search(_name(given.substance))
        lines = [_json(search_json(found))] if given.json else list(_search_lines(found))
        return DONE if found.matches else NOTHING_FOUND, lines
    amounts = _amounts(given)
    for amount in amounts:
        if amount.name and cas_fault(amount.name):
            told = finder_of(quantities).read(amount.name, None).told
            raise _fault("NAME-OR-CAS", told, RIGHT["cas"])
    answer = answer_for(quantities, amounts)
    return DONE, [_json(answer_json(answer))] if given.json else list(_answer_lines(answer))


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


# -- what was asked


def _amounts(given: argparse.Namespace) -> list[Amount]:
    fraction = None if given.fraction is None else _read("--fraction", given.fraction, share_of, RIGHT["fraction"])
    density = None if given.density is None else _read("--density", given.density, density_of, RIGHT["density_lb_per_gal"])
    constituents = tuple(_constituent(text) for text in given.holds or ())
    if sum((one.fraction or Decimal(0) for one in constituents), Decimal(0)) > 1:
        raise _fault("--holds", "the shares are over the whole", "shares by weight that come to at most 1")
    first = _amount("", (given.substance, given.quantity, given.unit), fraction, density, constituents)
    return [first, *(_amount("--and: ", triple) for triple in given.more or ())]


def _amount(
    option: str,
    triple: Sequence[str | None],
    fraction: Decimal | None = None,
    density: Decimal | None = None,
    constituents: tuple[Constituent, ...] = (),
) -> Amount:
    name, quantity, unit = triple
    if quantity is None:
        raise _fault(f"{option}QUANTITY", "missing", RIGHT["quantity"])
    low, high = _read(f"{option}QUANTITY", quantity, range_of, RIGHT["quantity"])
    return Amount(
        _name(name or "", option), None, low, high, _read(f"{option}UNIT", unit, unit_of, RIGHT["unit"]), fraction, density, constituents
    )  # fmt: skip


def _name(typed: str, option: str = "") -> str:
    name = " ".join(typed.split())
    if not name or len(name) > LONGEST_NAME:
        raise _fault(f"{option}NAME-OR-CAS", "empty or too long", RIGHT["name"])
    return name


def _constituent(text: str) -> Constituent:
    name, sign, share = text.partition("=")
    fraction = _read("--holds", share, share_of, RIGHT["fraction"]) if sign else None
    return Constituent(_name(name, "--holds: "), None, fraction)


def _read(option: str, text: str | None, read: Callable[[object], Value], right: str) -> Value:
    try:
        return read(text)
    except ValueError as error:
        raise _fault(option, str(error), right) from None


def _fault(option: str, wrong: str, right: str) -> BadInput:
    return BadInput("bad input", [f"{option}: {wrong}; right would be: {right}"])


# -- what is said


def _search_lines(found: Search) -> Iterator[str]:
    for match in found.matches:
        yield f"{match}\t{_quantity_of(match)}\t{match.why}: {match.told}"
    yield from found.remarks


def _quantity_of(match: Match) -> str:
    return f"{figure(match.listed.rq_lb)} lb" if match.listed else "no quantity"


def _answer_lines(answer: Answer) -> Iterator[str]:
    for part in answer.parts:
        if part.known and part.why != "exact":
            yield part.told
    yield from answer.arithmetic
    yield from answer.reached_from
    for other in answer.other_readings:
        yield f"Read as {other.reading}: {_VERDICTS[other.reached]}. {'; '.join(other.arithmetic)} ({other.source})"
    yield from (f"Open: {line}" for line in answer.open_points)
    yield from (f"Note: {line}" for line in answer.remarks)
    yield from (f"Source: {line}" for line in answer.sources)
    yield answer.sentence
