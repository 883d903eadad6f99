"""The substances recorded for a spill: how the clocks judge them, and what is still to be asked about them, in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from deadlines import Facts, ReportableQuantities
from deadlines.conditions import View
from deadlines.quantities import Finding, Substance
from service.quantity_questions import finder_of

_OPEN = re.compile(r"substances\[(\d+)\]\.(\w+)")


def called(substance: Mapping[str, Any]) -> str:
    """What a recorded substance is called: by its name, its CAS number, or both."""
    name, cas = substance.get("name"), substance.get("cas")
    return f"{name} ({cas})" if name and cas else str(name or cas or "")


def finding_of(quantities: ReportableQuantities, facts: Mapping[str, Any]) -> Finding:
    """Whether a reportable quantity is reached, as the clocks judge the recorded facts."""
    substances = tuple(_substance(substance) for substance in facts.get("substances") or ())
    read = Facts(
        "", substances=substances, material=facts.get("material"), hazardous=facts.get("hazardous"),
        reportable_quantity=facts.get("reportable_quantity"),
    )  # fmt: skip
    return View(read, quantities).reportable


def _substance(given: Mapping[str, Any]) -> Substance:
    numbers = (given.get(key) for key in ("quantity", "fraction", "density_lb_per_gal"))
    quantity, fraction, density = (None if value is None else Decimal(str(value)) for value in numbers)
    share = Decimal(1) if fraction is None else fraction
    return Substance(given.get("name"), given.get("cas"), quantity, given.get("unit"), share, density)


def question_about(quantities: ReportableQuantities, facts: Mapping[str, Any], fact: str) -> str | None:
    """An open fact about a substance as a question that names what may be meant; None for a fact about anything else."""
    found = _OPEN.fullmatch(fact)
    substances = facts.get("substances") or ()
    if found is None or int(found[1]) >= len(substances):
        return None
    substance = substances[int(found[1])]
    match found[2]:
        case "quantity":
            return f"How much {called(substance)}?"
        case "density_lb_per_gal":
            return f"The density of {called(substance)}, in pounds a gallon?"
        case "fraction":
            return f"How much of {called(substance)}, by weight, is the listed substance?"
        case _:
            return _what_is(quantities, substance)


def _what_is(quantities: ReportableQuantities, substance: Mapping[str, Any]) -> str:
    name, cas = substance.get("name"), substance.get("cas")
    _, liquid = quantities.find(name, cas)
    if liquid is not None and liquid.contested:
        return f"Does the petroleum exclusion cover {called(substance)}? It is contested: {liquid.note}."
    finder = finder_of(quantities)
    reading = finder.read(name, cas)
    if reading.known:
        meant = next(iter(finder.search(str(name)).matches), None) or reading.name
        return f"What is {called(substance)}? The table does not have this name. Did you mean {meant}?"
    told = reading.told.removeprefix(f"{called(substance)}: ")
    return f"What is {called(substance)}? {told[:1].upper()}{told[1:]}"


def recorded_json(quantities: ReportableQuantities, facts: Mapping[str, Any]) -> dict[str, Any]:
    """How the clocks judge the recorded substances, as JSON: reached or not or unknown (null), the arithmetic, and what is open."""
    finding = finding_of(quantities, facts)
    asked = [question_about(quantities, facts, fact) for fact in finding.unsettled]
    return {
        "reached": finding.reached, "arithmetic": list(finding.arithmetic), "unsettled": list(finding.unsettled),
        "open": [question for question in asked if question],
    }  # fmt: skip
