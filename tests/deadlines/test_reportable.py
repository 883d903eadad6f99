"""The answer to "is a reportable quantity reached?": readings, ranges, strengths, mixtures, and what stays open."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadlines.quantities import Liquid, Substance
from deadlines.reportable import Amount, Answer, Constituent, answer
from service.quantity_questions import finder_of, other_readings
from tests.deadlines.case_files import read, rulebook

FINDER = finder_of(rulebook().quantities)
BLEACH = "bleach 12.5% NaOCl (industrial)"


def an_amount(name: str, quantity: float | str | None = None, unit: str | None = "gal", **more: Any) -> Amount:
    """An amount; `quantity` may be a range, "200-300"."""
    low, _, high = str(quantity).partition("-") if quantity is not None else ("", "", "")
    ends = (Decimal(low), Decimal(high or low)) if low else (None, None)
    numbers = ("fraction", "density_lb_per_gal")
    decimals = {key: Decimal(str(value)) if key in numbers and value is not None else value for key, value in more.items()}
    return Amount(name, None, *ends, unit if low else None, **decimals)


def ask(*amounts: Amount) -> Answer:
    return answer(amounts, FINDER, other_readings())


def asked(name: str, quantity: float | str | None = None, unit: str = "gal", **more: Any) -> Answer:
    return ask(an_amount(name, quantity, unit, **more))


@pytest.mark.parametrize(
    ("name", "quantity", "unit", "reached"),
    [
        ("bleach 12.5%", 80, "gal", True), ("bleach 12.5%", 79.9, "gal", False), ("sulphuric acid 93%", 70.6, "gal", True),
        ("sulfuric acid 93%", 70.5, "gal", False), ("oil of vitriol", 1000, "lb", True), ("7664939", 999, "lb", False),
        ("muriatic", 1645, "gal", True), ("perc", 7.5, "gal", True), ("perchloroethylene", 7.4, "gal", False),
        ("antifreeze 50/50", 1081, "gal", True), ("gas", 9000, "gal", False), ("hydrochloric acid 37 %", 13514, "lb", True),
        ("hydrochloric acid 37 %", 13513, "lb", False), ("hydrochloric acid 37 %", 500, "gal", None), ("bleach", 90, "gal", None),
        ("sulfric acid", 9000, "lb", None), ("7664-93-8", 9000, "lb", None), ("used oil", 10, "gal", None), ("moonshine", 10, "gal", None),
        ("AFFF", 5, "gal", None), ("bleach 9%", 200, "gal", True), ("bleach 9%", 100, "gal", False), ("bleach 9%", 115, "gal", None),
        ("chlorine", 10, "gal", None), ("milk", 9000, "gal", False), ("bleach 12.5% trade", 85, "gal", False),
        ("bleach 12.5% trade", 94, "gal", True),
    ],
)  # fmt: skip
def test_an_amount_reaches_its_quantity_or_not_or_it_cannot_be_said(name: str, quantity: float, unit: str, reached: bool | None) -> None:
    assert asked(name, quantity, unit).reached is reached


def test_the_answer_says_what_was_read_and_shows_the_arithmetic() -> None:
    found = asked("bleach 12.5%", 80)
    assert found.parts[0].told == f"bleach 12.5% is read as {BLEACH} of the density table"
    assert found.arithmetic == (
        f"{BLEACH}: 80 gal x 10 lb/gal x 0.125 by weight = 100 lb of Sodium hypochlorite",
        "Sodium hypochlorite: 100 lb is at or over its reportable quantity of 100 lb (40 CFR 302.4)",
    )
    assert found.reached_from == (f"{BLEACH}: reached from 80 gal on",)
    assert any("40 CFR 302.4" in line and "2026-12-02" in line for line in found.sources)
    assert any("9.6 to 10.2 lb/gal" in line and "handbook" in line for line in found.sources)


@pytest.mark.parametrize(
    ("name", "unit", "at"), [("sulfuric acid 93%", "gal", "70.51 gal"), (BLEACH, "L", "302.9 L"), ("chlorine", "kg", "4.536 kg")]
)
def test_the_amount_from_which_on_it_is_reached_is_rounded_up(name: str, unit: str, at: str) -> None:
    [told] = asked(name, 1, unit).reached_from
    assert told.endswith(f"reached from {at} on")
    shown = re.search(r"from ([\d.,]+)", told)
    assert shown
    assert asked(name, shown[1].replace(",", ""), unit).reached is True


@pytest.mark.parametrize("liquid", [one for one in rulebook().quantities.liquids if one.weight_fraction], ids=lambda one: one.name)
@pytest.mark.parametrize("unit", ["gal", "L", "lb", "mg"])
def test_the_amount_shown_is_enough_and_a_little_less_is_not(liquid: Liquid, unit: str) -> None:
    [told] = asked(liquid.name, 0, unit).reached_from
    shown = re.search(r"from ([\d.,]+)", told)
    assert shown
    enough = Decimal(shown[1].replace(",", ""))
    assert asked(liquid.name, str(enough), unit).reached is True
    assert asked(liquid.name, str(enough * Decimal("0.99")), unit).reached is False


def test_a_range_is_judged_by_its_upper_end_and_says_from_where_on() -> None:
    found = asked("bleach 12.5%", "60-90")
    assert found.reached is True
    assert any("upper end" in line for line in found.open_points)
    assert found.reached_from == (f"{BLEACH}: reached from 80 gal on",)
    assert not any("upper end" in line for line in asked("bleach 12.5%", "85-90").open_points)
    assert asked("bleach 12.5%", "60-79").reached is False


def test_where_the_range_of_densities_changes_the_answer_it_is_said() -> None:
    found = asked("bleach 12.5%", 80)
    [told] = [line for line in found.open_points if "density" in line]
    assert "9.6 lb/gal" in told
    assert "10.2 lb/gal" in told
    assert "78.44 gal" in told
    assert "83.34 gal" in told
    assert not any("density" in line for line in asked("bleach 12.5%", 90).open_points)
    assert not any("density" in line for line in asked("bleach 12.5%", 800, "lb").open_points)
    assert not any("density" in line for line in asked("bleach 12.5%", 80, density_lb_per_gal=10).open_points)


def test_trade_percent_is_shown_beside_percent_by_weight() -> None:
    [other] = asked("bleach 12.5%", 85).other_readings
    assert "trade" in other.reading
    assert other.reached is False
    assert any("85 gal x 9.7 lb/gal x 0.11 by weight = 90.69 lb" in line for line in other.arithmetic), other.arithmetic
    assert asked("aqua ammonia 19%", 100).other_readings[0].reached is False


def test_a_percent_that_is_said_to_be_by_weight_leaves_no_trade_percent_open() -> None:
    assert asked("bleach 12.5% by weight", 85).other_readings == ()
    assert asked("bleach", 85, fraction=0.125).other_readings == ()
    assert asked("bleach 12.5%", 85, fraction=0.125).other_readings == ()
    assert asked("bleach 12.5% trade", 85).other_readings == ()


def test_a_name_of_several_strengths_shows_both_ends() -> None:
    found = asked("bleach", 90)
    assert found.reached is None
    assert [(other.reading, other.reached) for other in found.other_readings] == [
        ("household bleach 6% NaOCl", False), ("household bleach 8.25% NaOCl", False), ("pool chlorine / bleach 10% NaOCl", False),
        (BLEACH, True),
    ]  # fmt: skip
    assert any("which one is open" in line for line in found.open_points)


def test_amounts_of_one_substance_add_up_and_the_rest_is_told() -> None:
    found = ask(an_amount("sulphuric acid", 400, "lb"), an_amount("sulfuric acid 93%", 45), an_amount("chlorine", 1, "lb"))
    assert found.reached is True
    assert any("400 + 638.2 = 1,038.2 lb" in line for line in found.arithmetic), found.arithmetic
    assert found.reached_from[:2] == (
        "sulphuric acid: reached from 361.8 lb on, with the other amounts",
        "sulfuric acid 93%: reached from 42.31 gal on, with the other amounts",
    )


def test_a_density_that_was_stated_counts_and_one_that_is_open_is_asked_for() -> None:
    assert asked("hydrochloric acid 37%", 1400, density_lb_per_gal=9.83).reached is True
    found = asked("hydrochloric acid 37%", 1400)
    assert found.reached is None
    assert any("density" in line and "13,513.6 lb" in line for line in found.open_points), found.open_points


def test_a_listed_substance_by_volume_shows_its_liquids() -> None:
    found = asked("Sulfuric acid", 100)
    assert found.reached is None
    assert {other.reading for other in found.other_readings} == {"sulfuric acid 93%", "sulfuric acid 98%", "battery acid (35% sulfuric)"}


def test_every_other_reading_is_of_a_liquid_and_leads_to_a_listed_substance() -> None:
    find = rulebook().quantities.find
    for row in other_readings():
        liquid = find(row.of, None)[1]
        assert liquid is not None, row
        assert find(row.substance, None) != (None, None) if row.substance else liquid.listed is not None, row
        assert row.source, row


# -- mixtures, 40 CFR 302.6(b)(1)


def mixture(quantity: float, unit: str, *constituents: tuple[str, str | None], density: str | None = None) -> Answer:
    parts = tuple(Constituent(name, None, None if share is None else Decimal(share)) for name, share in constituents)
    size = Decimal(str(quantity))
    return ask(Amount("plating waste", None, size, size, unit, None, Decimal(density) if density else None, parts))


def test_a_known_mixture_holds_each_constituent_against_its_own_quantity() -> None:
    known = (("nitric acid", "0.1"), ("copper sulfate", "0.01"))
    assert mixture(999, "lb", *known).reached is False
    assert mixture(1000, "lb", *known).reached is True
    assert any("10 lb of Cupric sulfate" in line for line in mixture(1000, "lb", *known).arithmetic)
    assert mixture(100, "gal", *known, density="10").reached is True
    assert mixture(99, "gal", *known, density="10").reached is False
    assert mixture(100, "gal", *known).reached is None


def test_an_unknown_mixture_is_held_whole_against_the_lowest_quantity() -> None:
    unknown = (("nitric acid", "0.1"), ("cupric sulfate", None))
    found = mixture(10, "lb", *unknown)
    assert found.reached is True
    assert any("302.6(b)(1)" in line and "lowest" in line for line in found.arithmetic)
    assert mixture(9.9, "lb", *unknown).reached is False
    assert any("composition" in line for line in found.open_points)
    assert mixture(2, "gal", *unknown).reached is None


def test_a_mixture_with_a_constituent_nobody_knows_stays_open_unless_another_settles_it() -> None:
    assert mixture(5, "lb", ("nitric acid", "0.1"), ("sulfric acid", "0.5")).reached is None
    assert mixture(10_000, "lb", ("nitric acid", "0.1"), ("sulfric acid", "0.5")).reached is True


# -- what is explained


def test_the_petroleum_exclusion_is_explained() -> None:
    for name in ("gasoline", "diesel", "crude"):
        found = asked(name, 9000)
        assert any("42 USC 9601(14)" in line for line in found.remarks)
        assert any("sheen" in line for line in found.remarks)
    assert any("contested" in line for line in asked("used oil", 100).open_points)


def test_what_is_not_listed_says_what_that_means() -> None:
    assert any("F-listed" in line for line in asked("moonshine", 10).open_points)
    assert any("355" in line for line in asked("bromine", 600, "lb").open_points)
    assert any("other duties" in line for line in asked("milk", 10).remarks)


def test_the_notes_of_the_tables_are_shown() -> None:
    assert any("100 micrometers" in line for line in asked("lead", 20, "lb").remarks)
    assert any("friable" in line for line in asked("asbestos", 20, "lb").remarks)
    assert any("24-hour" in line for line in asked("lead", 20, "lb").remarks)


def test_a_misspelt_name_names_what_may_be_meant() -> None:
    found = asked("sulfric acid", 2000, "lb")
    assert any("Did you mean Sulfuric acid (7664-93-9)?" in line for line in found.open_points)
    assert any("check digit" in line for line in asked("7664-93-8", 2000, "lb").open_points)


def test_without_a_quantity_the_answer_is_from_where_on_it_is_reached() -> None:
    found = asked("sulfuric acid 93%")
    assert found.reached is None
    assert found.reached_from == ("sulfuric acid 93%: reached from 70.51 gal on", "sulfuric acid 93%: reached from 1,075.3 lb on")


# -- the answer and the clocks never differ


@pytest.mark.parametrize(
    "amount",
    [
        an_amount("sulphuric acid", 1000, "lb"), an_amount("bleach 12.5%", 80), an_amount("hydrochloric acid 37%", 14000, "lb"),
        an_amount("bleach 9%", 200), an_amount("bleach 9%", 115), an_amount("bleach", 200), an_amount("sulfric acid", 5000, "lb"),
        an_amount("perc", 7), an_amount("gas", 900), an_amount("AFFF", 5), an_amount("AFFF", 5, fraction=0.1),
        an_amount("7664939", 1000, "lb"),
        an_amount("bleach 12.5%", 80, fraction=0.125), an_amount("used oil", 5), an_amount("lead", 3, "t"),
    ],
    ids=lambda amount: f"{amount.name} {amount.high} {amount.unit}",
)  # fmt: skip
def test_the_facts_of_an_answer_are_judged_as_it_says(amount: Amount) -> None:
    found = ask(amount)
    facts = read(
        {
            "jurisdiction": "chino",
            "known_at": "2026-06-10T09:00:00-07:00",
            "substances": [fact for part in found.parts for fact in part.facts],
        }
    )
    assert rulebook().quantities.judge(facts.substances).reached is found.reached


@given(
    st.decimals(0, 5000, places=2), st.sampled_from(["lb", "gal", "L", "kg"]), st.sampled_from([BLEACH, "chlorine", "sulfuric acid 93%"])
)
def test_an_exact_name_is_answered_as_it_is_judged(quantity: Decimal, unit: str, name: str) -> None:
    found = ask(Amount(name, None, quantity, quantity, unit))
    assert found.reached is rulebook().quantities.judge((Substance(name, None, quantity, unit),)).reached
