"""How many messages a text is charged as, and how texts are brought into the alphabet of short messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifiers import segments
from notifiers.sms import LONGEST_BODY_UNITS, fitting, gsm7_where_possible

EURO, FLAG = "€", "🚱"  # two septets; two UTF-16 units


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("GSM-7", 1)),
        ("a" * 160, ("GSM-7", 1)),
        ("a" * 161, ("GSM-7", 2)),
        ("a" * 306, ("GSM-7", 2)),
        ("a" * 307, ("GSM-7", 3)),
        (EURO * 80, ("GSM-7", 1)),
        (EURO * 81, ("GSM-7", 2)),
        (EURO * 153, ("GSM-7", 3)),  # 76 whole ones in each of 153 septets, for an escape is not torn from its sign
        ("a" * 152 + EURO + "a" * 7, ("GSM-7", 2)),
        ("a" * 152 + EURO + "a" * 152, ("GSM-7", 3)),
        ("á" * 70, ("UCS-2", 1)),
        ("á" * 71, ("UCS-2", 2)),
        ("á" * 134, ("UCS-2", 2)),
        ("á" * 135, ("UCS-2", 3)),
        (FLAG * 35, ("UCS-2", 1)),
        (FLAG * 36, ("UCS-2", 2)),
        (FLAG * 67, ("UCS-2", 3)),  # 33 whole pairs in each of 67 units
        ("á" * 66 + FLAG + "á" * 3, ("UCS-2", 2)),
        ("¿Qué pasó? Ñandú", ("UCS-2", 1)),
        ("¡Señor, café y año nuevo!", ("GSM-7", 1)),
        ("line\nline\r\nline", ("GSM-7", 1)),
    ],
)
def test_a_text_is_charged_as_this_many_messages(text: str, expected: tuple[str, int]) -> None:
    assert segments(text) == expected


@pytest.mark.parametrize("sign", list("\u2018\u2019\u201c\u201d\u2013\u2014\u00a0\u202f\u2026\ufeff\u200b\u00ab\u2022\t"))
def test_one_typographic_sign_does_not_double_the_price(sign: str) -> None:
    assert segments("a" * 150 + sign) == ("GSM-7", 1)


def test_letters_are_never_changed() -> None:
    text = "áéíóúüñ ÁÉÍÓÚÜÑ ¿¡ çÇ āčž 水 Ж"
    assert gsm7_where_possible(text) == text


def test_a_letter_and_its_accent_become_one() -> None:
    assert gsm7_where_possible("cafe\u0301 man\u0303ana") == "café mañana"


@given(st.text())
def test_bringing_a_text_into_form_twice_changes_nothing_more(text: str) -> None:
    once = gsm7_where_possible(text)
    assert gsm7_where_possible(once) == once
    assert segments(once) == segments(text)


@given(st.text(alphabet=st.sampled_from("aá " + EURO + FLAG + "\n"), min_size=700, max_size=2500))
def test_a_text_that_fits_is_whole_and_any_other_is_cut_to_fit(text: str) -> None:
    units = len(text.encode("utf-16-le")) // 2
    fitted = fitting(text)
    if units <= LONGEST_BODY_UNITS:
        assert fitted == text
    else:
        assert len(fitted.encode("utf-16-le")) // 2 <= LONGEST_BODY_UNITS
        assert " [...]" in fitted


def test_words_are_not_torn_and_the_link_on_the_last_line_is_kept() -> None:
    link = "https://spills.example.gov/s/17"
    fitted = fitting("word " * 400 + "\n" + link + "\n")
    assert fitted.startswith("word word")
    assert fitted.endswith("word [...]\n" + link)
    assert 1590 < len(fitted) <= 1600


@pytest.mark.parametrize("text", ["x" * 5000, "x" * 2000 + "\n" + "y" * 2000, "\n" * 5000, FLAG * 900])
def test_a_text_without_a_good_place_to_cut_is_cut_all_the_same(text: str) -> None:
    assert 0 < len(fitting(text).encode("utf-16-le")) // 2 <= 1600
