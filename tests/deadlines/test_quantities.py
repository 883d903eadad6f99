"""Whether a reportable quantity is reached: names, CAS numbers, sums, densities, mixtures, and what stays unknown."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadlines import ReportableQuantities
from deadlines.facts import _is_cas
from deadlines.quantities import GALLONS, POUNDS, Finding, Substance, Volume
from tests.deadlines.case_files import read, rulebook

TABLES = {name: (files("deadlines") / "quantities" / name).read_text(encoding="utf-8") for name in ("rq.csv", "density.csv")}
LISTED, LIQUIDS = (list(csv.DictReader(io.StringIO(TABLES[name]))) for name in ("rq.csv", "density.csv"))

BLEACH, ACID = "bleach 12.5% NaOCl (industrial)", "sulfuric acid 93%"


def found(*substances: dict[str, Any]) -> Finding:
    facts = read({"jurisdiction": "chino", "known_at": "2026-06-10T09:00:00-07:00", "substances": list(substances)})
    return rulebook().quantities.judge(facts.substances)


def named(name: str, quantity: float | None = None, unit: str = "lb", **more: Any) -> dict[str, Any]:
    return {"name": name, **({} if quantity is None else {"quantity": quantity, "unit": unit}), **more}


@pytest.mark.parametrize(
    ("substance", "reached"),
    [
        (named("chlorine", 10), True), (named("chlorine", 9.999), False), (named("CHLORINE", 10), True), (named("  Chlorine ", 10), True),
        ({"cas": "7782-50-5", "quantity": 10, "unit": "lb"}, True), ({"cas": "7782-50-5", "quantity": 9, "unit": "lb"}, False),
        (named("chlorine", 160, "oz"), True), (named("chlorine", 159.9, "oz"), False),
        (named("chlorine", 4.5359237, "kg"), True), (named("chlorine", 4.5359236, "kg"), False),
        (named("chlorine", 4535.9237, "g"), True), (named("chlorine", 4535.9236, "g"), False), (named("chlorine", 4535923.7, "mg"), True),
        (named("chlorine", 0.005, "ton"), True), (named("chlorine", 0.0049, "ton"), False), (named("chlorine", 0.0046, "t"), True),
        (named("sulfuric acid", 1000), True), (named("sulfuric acid", 1000, fraction=0.93), False),
        (named("sulfuric acid", 1076, fraction=0.93), True), (named("chlorine", 0), False), (named("chlorine", 10, fraction=0), False),
    ],
)  # fmt: skip
def test_a_quantity_is_reached_at_equal_or_more_in_any_unit(substance: dict[str, Any], reached: bool) -> None:
    assert found(substance).reached is reached


@pytest.mark.parametrize(
    ("one", "other"), [("Acetaldehyde", "Ethanal"), ("Chloral", "Acetaldehyde, trichloro-"), ("Phenacetin", "62-44-2")]
)
def test_amounts_under_two_names_of_one_substance_add_up(one: str, other: str) -> None:
    listed, _ = rulebook().quantities.find(one, None)
    assert listed is not None
    nearly = float(listed.rq_lb) / 2
    second = {"cas": other, "quantity": nearly, "unit": "lb"} if other[0].isdigit() else named(other, nearly)
    assert found(named(one, nearly)).reached is False
    assert found(named(one, nearly), second).reached is True


def test_amounts_of_two_substances_do_not_add_up() -> None:
    assert found(named("chlorine", 9), named("benzene", 9)).reached is False
    assert found(named("chlorine", 9), named("benzene", 10)).reached is True


def test_a_liquid_and_the_substance_in_it_add_up() -> None:
    assert found(named(BLEACH, 79, "gal")).reached is False
    assert found(named(BLEACH, 79, "gal"), {"cas": "7681-52-9", "quantity": 1.25, "unit": "lb"}).reached is True
    assert found(named(BLEACH, 79, "gal"), {"cas": "7681-52-9", "quantity": 1.24, "unit": "lb"}).reached is False


@pytest.mark.parametrize(
    ("substance", "reached"),
    [
        (named(BLEACH, 80, "gal"), True), (named(BLEACH, 79.99, "gal"), False), (named(BLEACH, 302.8329, "L"), False),
        (named(BLEACH, 302.833, "L"), True), (named(BLEACH, 800), True), (named(BLEACH, 799), False),
        (named(BLEACH, 80, "gal", fraction=0.5), False), (named(BLEACH, 160, "gal", fraction=0.5), True),
        (named(ACID, 70.6, "gal"), True), (named(ACID, 70.5, "gal"), False), (named(ACID, 0.27, "m3"), True), (named(ACID, 2, "bbl"), True),
        (named(ACID, 9.5, "ft3"), True), (named(ACID, 60, "gal", density_lb_per_gal=18), True),
        (named(ACID, 71, "gal", density_lb_per_gal=8), False),
        (named("sulfuric acid", 65.4, "gal", density_lb_per_gal=15.3), True),
        (named("sulfuric acid", 65.3, "gal", density_lb_per_gal=15.3), False),
    ],
)  # fmt: skip
def test_a_volume_becomes_pounds_by_its_density_and_composition(substance: dict[str, Any], reached: bool) -> None:
    assert found(substance).reached is reached


@pytest.mark.parametrize(
    ("substance", "open_key"),
    [
        (named("sulfuric acid", 500, "gal"), "density_lb_per_gal"), (named("chlorine"), "quantity"), (named(BLEACH), "quantity"),
        (named("nobody's secret sauce", 9000), "name"), ({"cas": "7732-18-5", "quantity": 9, "unit": "t"}, "name"),
        (named("used motor oil", 500, "gal"), "name"), (named("mineral spirits / paint thinner", 5, "gal"), "name"),
        (named("AFFF firefighting foam concentrate (legacy)", 5, "gal"), "fraction"),
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_unknown_and_names_what_is_open(substance: dict[str, Any], open_key: str) -> None:
    finding = found(named("chlorine", 9), substance)
    assert (finding.reached, finding.unsettled) == (None, (f"substances[1].{open_key}",))


def test_a_stated_composition_settles_a_liquid_whose_own_is_unknown() -> None:
    foam = "AFFF firefighting foam concentrate (legacy)"
    assert found(named(foam, 5, "gal", fraction=0.001)).reached is False
    assert found(named(foam, 500, "gal", fraction=0.001)).reached is True


def test_a_substance_that_reaches_its_quantity_settles_the_unknown_ones() -> None:
    assert found(named("nobody's secret sauce", 9000), named("chlorine", 10), named("chlorine")).reached is True


@pytest.mark.parametrize("name", [row["liquid"] for row in LIQUIDS if row["petroleum_excluded"] == "yes"])
def test_petroleum_is_outside_the_list_whatever_its_amount(name: str) -> None:
    assert found(named(name, 90_000, "gal")).reached is False


@pytest.mark.parametrize("name", [row["liquid"] for row in LIQUIDS if row["petroleum_excluded"] == "no" and not row["rq_lb"]])
def test_a_liquid_without_a_listed_substance_has_no_quantity(name: str) -> None:
    assert found(named(name, 90_000, "gal")).reached is False


@pytest.mark.parametrize("row", [row for row in LIQUIDS if row["gal_at_rq"]], ids=lambda row: row["liquid"])
def test_the_gallons_worked_out_by_hand_agree_with_the_tables(row: dict[str, str]) -> None:
    exact = Fraction(row["rq_lb"]) / (Fraction(row["density_lb_per_gal"]) * Fraction(row["weight_fraction"]))
    assert abs(exact - Fraction(row["gal_at_rq"])) <= Fraction("0.05")
    more, less = (float(round(exact * part, 4)) for part in (Fraction("1.001"), Fraction("0.999")))
    assert (found(named(row["liquid"], more, "gal")).reached, found(named(row["liquid"], less, "gal")).reached) == (True, False)
    if row["rq_cas"]:
        assert found({"cas": row["rq_cas"], "quantity": float(row["rq_lb"]), "unit": "lb"}).reached is True


def test_a_waste_code_has_a_quantity_of_its_own_in_any_order() -> None:
    metal, waste = named("Chromium", 6), named("Chromium (D007)", 6)
    for order in permutations([metal, waste]):
        assert found(*order).reached is False
    for order in permutations([metal, named("Chromium (D007)", 10)]):
        assert found(*order).reached is True
    assert found({"cas": "7440-47-3", "quantity": 10, "unit": "lb"}).reached is False


def test_the_arithmetic_can_be_followed_by_hand() -> None:
    assert found(named(BLEACH, 80, "gal")).arithmetic == (
        f"{BLEACH}: 80 gal x 10 lb/gal x 0.125 by weight = 100 lb of Sodium hypochlorite",
        "Sodium hypochlorite: 100 lb is at or over its reportable quantity of 100 lb (40 CFR 302.4)",
    )


def test_every_listed_name_is_found_with_its_quantity() -> None:
    names = {row["name"]: Fraction(row["rq_lb"]) for row in LISTED}
    listed = {name: rulebook().quantities.find(name, None)[0] for name in names}
    assert len(names) > 1300
    assert {name: row.rq_lb for name, row in listed.items() if row is not None} == names


def test_every_cas_number_is_right_and_finds_its_quantity() -> None:
    numbers = [(number.strip(), row) for row in LISTED for number in row["cas"].split(";") if number.strip() and not row["rcra_waste_code"]]
    assert len(numbers) > 700
    wrong = [number for number, _ in numbers if not _is_cas(number)]
    other = [number for number, row in numbers if rulebook().quantities.find(None, number)[0].rq_lb != Fraction(row["rq_lb"])]  # type: ignore[union-attr]
    assert (wrong, other) == ([], [])


@pytest.mark.parametrize("number", ["7664-93-8", "7664939", "7664-93-99", "76-64-939", "", "chlorine", "7664-93-9 "])
def test_a_number_with_a_wrong_check_digit_is_no_cas_number(number: str) -> None:
    assert not _is_cas(number)


def test_units_are_exact_by_definition_and_not_rounded() -> None:
    litres, cubic_metres, cubic_feet, barrels = (Volume(Decimal(1), Decimal(1), unit).upper_gallons for unit in ("L", "m3", "ft3", "bbl"))
    assert litres == Fraction(1_000_000_000, 3_785_411_784)
    assert cubic_metres == 1000 * litres
    assert (cubic_feet, barrels) == (Fraction(576, 77), 42)
    assert POUNDS["kg"] == Fraction(100_000_000, 45_359_237)
    assert POUNDS["t"] == 1000 * POUNDS["kg"] == 1_000_000 * POUNDS["g"] == 10**9 * POUNDS["mg"]
    assert POUNDS["ton"] == 2000


amounts = st.decimals(0, 1_000_000, places=3)


@given(st.lists(st.tuples(amounts, st.sampled_from(sorted(POUNDS))), min_size=1, max_size=5))
def test_only_the_sum_matters_and_not_how_it_is_divided_or_ordered(parts: list[tuple[Decimal, str]]) -> None:
    pounds = sum((Fraction(quantity) * POUNDS[unit] for quantity, unit in parts), Fraction(0))
    substances = [Substance("chlorine", None, quantity, unit) for quantity, unit in parts]
    judged = rulebook().quantities.judge
    assert judged(tuple(substances)).reached is judged(tuple(reversed(substances))).reached is (pounds >= 10)


@given(amounts, st.sampled_from(sorted(GALLONS)), st.decimals(0, 1, places=3))
def test_more_of_it_never_takes_a_reached_quantity_back(quantity: Decimal, unit: str, more: Decimal) -> None:
    judged = rulebook().quantities.judge
    less = judged((Substance(BLEACH, None, quantity, unit),)).reached
    assert not less or judged((Substance(BLEACH, None, quantity + more, unit),)).reached


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        (("name,cas\nchlorine,7782-50-5\n", TABLES["density.csv"]), KeyError),
        ((TABLES["rq.csv"].replace(",10,", ",ten,"), TABLES["density.csv"]), ValueError),
    ],
)  # fmt: skip
def test_a_table_with_a_column_or_number_missing_is_refused(broken: tuple[str, str], error: type[Exception]) -> None:
    with pytest.raises(error):
        ReportableQuantities.from_csv(*broken)
