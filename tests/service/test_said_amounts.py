"""What people say of an amount is read where it can mean one thing, in English and Spanish, and never otherwise."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadlines.quantities import GALLONS
from service.everyday_measures import MEASURES, UNITS, Measure
from service.said_amounts import read_amount
from service.said_numbers import LONGEST, plain_number, tokens_of

# The text, and how it is told: "20 gal", "4 to 10 gal", "at least 50 gal". A bare number is in gallons.
READ = """
20 | 20 gal
0 | 0 gal
12.5 | 12.5 gal
1,500 | 1,500 gal
1,5 | 1.5 gal
1,5 L | 1.5 L
1.500,5 L | 1,500.5 L
2k gallons | 2,000 gal
about 200 | 200 gal
10-20 | 10 to 20 gal
200-300 gallons | 200 to 300 gal
200 – 300 gallons | 200 to 300 gal
300-200 gallons | 200 to 300 gal
20 gal to 30 gal | 20 to 30 gal
between 20 and 30 gallons | 20 to 30 gal
one to two gallons | 1 to 2 gal
20gal | 20 gal
apprx.500 gal of water | 500 gal
one gallon of hydraulic oil | 1 gal
50 gallons of sewage in the creek | 50 gal
1 pint of steering fluid | 0.125 gal
3 quarts | 0.75 gal
a gallon | 1 gal
a gallon and a half | 1.5 gal
two and a half gallons | 2.5 gal
2 1/2 gallons | 2.5 gal
½ gallon | 0.5 gal
.5 gallons | 0.5 gal
about .25 gal | 0.25 gal
half a gallon | 0.5 gal
a quarter of a gallon | 0.25 gal
two hundred gallons | 200 gal
a hundred gallons | 100 gal
one hundred and fifty gallons | 150 gal
twenty-five gallons | 25 gal
two thousand five hundred gallons | 2,500 gal
a couple of gallons | 2 to 3 gal
couple thousand gallons | 2,000 to 3,000 gal
half a dozen buckets | 12 to 30 gal
2 cubic yards of concrete | 54 ft3
5 m3 | 5 m3
5 m³ | 5 m3
500 ml | 0.5 L
16 fl oz | 0.125 gal
less than 5 gallons | 0 to 5 gal
200 or fewer gallons | 0 to 200 gal
approximately 100 gallons or less | 0 to 100 gal
one quarter of a gallon or less | 0 to 0.25 gal
no more than 10 gallons | 0 to 10 gal
up to 3 buckets | 0 to 15 gal
more than 1,000 gallons | at least 1,000 gal
at least 50 gallons | at least 50 gal
50+ gallons | at least 50 gal
50 gallons or more | at least 50 gal
more than a swimming pool | at least 5,000 gal
about a bathtub | 36 to 70 gal
a bathtub full | 36 to 70 gal
bathtub | 36 to 70 gal
half a bathtub | 18 to 35 gal
1/2 bathtub | 18 to 35 gal
two buckets | 4 to 10 gal
a bucket or two | 2 to 10 gal
3 or 4 buckets | 6 to 20 gal
two 5-gallon buckets | 10 gal
twenty 5 gallon buckets | 100 gal
five gallon bucket | 5 gal
half a 5-gallon bucket | 2.5 gal
a 55 gallon drum | 55 gal
3 drums | 165 gal
two barrels | 84 to 110 gal
it looks like a garbage can | 13 to 96 gal
a pickup bed of gravel | 370 to 600 gal
the size of a swimming pool | 5,000 to 30,000 gal
a kiddie pool | 30 to 250 gal
5 gal/min for an hour | 300 gal
5 gallons per minute for 30 minutes | 150 gal
5 to 10 gallons per minute for 30 minutes | 150 to 300 gal
10 gpm for 2 hours | 1,200 gal
unas 20 cubetas | 40 to 100 gal
dos cubetas | 4 to 10 gal
3 o 4 cubetas | 6 to 20 gal
una docena de cubetas | 24 to 60 gal
un par de cubetas | 4 to 15 gal
3 cubetas de 5 galones | 15 gal
un tambor de 55 galones | 55 gal
como una bañera | 36 to 70 gal
2 tinas de baño | 72 to 140 gal
media tina | 18 to 35 gal
más que una alberca | at least 5,000 gal
del tamaño de una piscina | 5,000 to 30,000 gal
3 botes de basura | 39 to 288 gal
un garrafón | 5 to 5.3 gal
más o menos 50 galones | 50 gal
menos de 10 galones | 0 to 10 gal
no más de 10 galones | 0 to 10 gal
más de 1000 galones | at least 1,000 gal
por lo menos 20 litros | at least 20 L
entre 20 y 30 galones | 20 to 30 gal
de 200 a 300 galones | 200 to 300 gal
100 a 200 litros | 100 to 200 L
medio galón | 0.5 gal
un galón y medio | 1.5 gal
tres cuartos de galón | 0.75 gal
ciento cincuenta galones | 150 gal
treinta y cinco galones | 35 gal
dos mil quinientos litros | 2,500 L
5 metros cúbicos | 5 m3
20 galones de aguas negras | 20 gal
5 galones por minuto durante media hora | 150 gal
"""
CASES = [tuple(line.split(" | ")) for line in READ.strip().splitlines()]

NOT_READ = """
a lot|lots|some|a little|a few gallons|several buckets|hundreds of gallons|thousands|dozens of buckets|many|unknown|no idea
mucho|muchísimo|un poco|bastante agua|unos cuantos galones|no sé|cientos de galones|miles de litros|varias cubetas
1.500|-5|1e99|NaN|infinity|1/0|5 5|5 buckets 3|gallons|gal|5 lbs|10 pounds of paint|12 oz|2 tons
a puddle|a puddle two cars long|a pool of oil|in the swimming pool|the pool
a truckload|a tank|a 500 gallon tank|a 500 gallon tank leaked a little
5 gallons out of 50 gallons|5 gallons of a 500 gallon tank|20 gallons and 30 liters|5 gallon buckets
10 gpm|5 gallons a minute|5 gallons every day
not 50 gallons|50 gallons twice|5 galones por minuto|5 gallons per person|half|a|un|it was running for 2 hours|2 hours|yesterday
0x10|$50|50%|50 gallons?|<script>|two or more or less than five gallons each
"""
WORDS = [text for line in NOT_READ.strip().splitlines() for text in line.split("|")]


@pytest.mark.parametrize(("text", "told"), CASES, ids=[text for text, _ in CASES])
def test_an_amount_is_read_as_it_is_meant(text: str, told: str) -> None:
    found = read_amount(text, "gal")
    assert found is not None
    assert found.told == told
    assert read_amount(f"  {text.upper()}! ", "gal") == found


@pytest.mark.parametrize("text", WORDS)
def test_what_has_no_number_or_two_meanings_is_not_read(text: str) -> None:
    assert read_amount(text, "gal") is None


def test_a_bare_number_has_the_unit_beside_it_and_no_other() -> None:
    assert read_amount("200") is None
    for unit in GALLONS:
        assert read_amount("200", unit).volume == {"quantity": 200, "unit": unit}  # type: ignore[union-attr]
    assert read_amount("200 liters", "gal").volume == {"quantity": 200, "unit": "L"}  # type: ignore[union-attr]


def test_what_was_assumed_is_said_and_what_was_said_is_not() -> None:
    assert read_amount("two buckets").rests_on == "bucket: 2 to 5 gal each"  # type: ignore[union-attr]
    assert read_amount("less than 5 gallons").rests_on == "told as an upper end"  # type: ignore[union-attr]
    assert read_amount("two hundred gallons").rests_on == ""  # type: ignore[union-attr]
    assert read_amount("two 5-gallon buckets").rests_on == ""  # type: ignore[union-attr]


def test_an_amount_without_an_upper_end_is_no_volume() -> None:
    assert read_amount("more than 1,000 gallons").volume is None  # type: ignore[union-attr]
    assert read_amount("4 buckets").volume == {"low": 8, "high": 20, "unit": "gal"}  # type: ignore[union-attr]


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_every_measure_is_a_range_with_its_reason_and_read_by_each_of_its_names(measure: Measure) -> None:
    low, high = Fraction(measure.low), Fraction(measure.high)
    assert 0 < low <= high
    assert len(measure.rests_on) > 10
    for name in measure.one:
        found = read_amount(f"a {name}")
        assert (found.low, found.high) == (low, high), name  # type: ignore[union-attr]
    for name in measure.several:
        found = read_amount(f"about 3 {name}")
        assert (found.low, found.high) == (3 * low, 3 * high), name  # type: ignore[union-attr]


@pytest.mark.parametrize("name", UNITS)
def test_every_unit_is_read_by_each_of_its_names(name: str) -> None:
    unit, factor = UNITS[name]
    found = read_amount(f"12 {name}")
    assert (found.low, found.unit) == (12 * factor, unit)  # type: ignore[union-attr]


def test_no_two_measures_share_a_name() -> None:
    names = [name for row in MEASURES for name in (*row.one, *row.several)] + list(UNITS)
    assert len(names) == len(set(names))


_NUMBERS = re.compile(
    r"\d|half|quarter|third|couple|pair|dozen|docena|\bpar\b|medi[oa]|cuarto|tercio|mitad|\ba\b|\ban\b|\bun[oa]?s?\b|"
    r"zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|teen|twenty|thirty|forty|fifty|hundred|thousand|"
    r"cero|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|dieci|veint|treinta|cuarenta|cincuenta|cien|mil|"
    + "|".join(name for row in MEASURES for name in row.one)
)
_VOCABULARY = sorted({token for text, _ in CASES for token in tokens_of(text)} | {token for text in WORDS for token in tokens_of(text)})


@given(st.lists(st.sampled_from(_VOCABULARY), min_size=1, max_size=8))
def test_no_number_comes_out_where_none_was_said(words: list[str]) -> None:
    text = " ".join(words)
    found = read_amount(text, "gal")
    if found is not None:
        assert _NUMBERS.search(" ".join(tokens_of(text))), text
        assert found.high is None or 0 <= found.low <= found.high
        assert found.unit in GALLONS


@given(st.text(max_size=LONGEST + 20), st.sampled_from(["", *GALLONS]))
def test_any_text_at_all_is_read_or_left_alone(text: str, unit: str) -> None:
    found = read_amount(text, unit)
    if found is not None:
        assert any(letter.isalnum() for letter in text)
        assert found.volume is None or found.volume["unit"] in GALLONS


@given(st.integers(min_value=0, max_value=10**9))
def test_a_number_is_the_same_however_it_is_grouped(number: int) -> None:
    assert plain_number(f"{number:,}") == plain_number(str(number)) == number
    assert read_amount(f"about {number:,} gallons").volume == {"quantity": number, "unit": "gal"}  # type: ignore[union-attr]


@given(st.integers(min_value=1, max_value=10**4), st.integers(min_value=1, max_value=10**4))
def test_a_range_keeps_both_of_its_ends(one: int, other: int) -> None:
    low, high = sorted((one, one + other))
    for text in (f"{low}-{high} gallons", f"{low} to {high} gallons", f"entre {high} y {low} galones"):
        found = read_amount(text)
        assert found is not None
        assert found.volume == ({"quantity": low, "unit": "gal"} if low == high else {"low": low, "high": high, "unit": "gal"}), text
