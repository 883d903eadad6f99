"""A text made for the ear."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifiers.spoken import spoken


@pytest.mark.parametrize(
    ("written", "english", "spanish"),
    [
        ("SP-2026-00042", "S P, two zero two six, zero zero zero four two", "S P, dos cero dos seis, cero cero cero cuatro dos"),
        ("3:05 PM PST", "three oh five P M Pacific time", "tres y cinco de la tarde hora del Pacífico"),
        ("1:00 AM", "one A M", "una de la mañana"),
        ("12:30 AM EDT", "twelve thirty A M Eastern time", "doce y treinta de la noche hora del este"),
        ("12:00 p.m.", "twelve P M", "doce de la tarde"),
        ("9:45:10 pm", "nine forty five P M", "nueve y cuarenta y cinco de la noche"),
        ("23:05 UTC", "twenty three oh five universal time", "veintitrés y cinco hora universal"),
        ("8:00", "eight hundred hours", "ocho horas"),
        ("Tue Dec 1", "Tuesday December 1", "martes 1 de diciembre"),
        ("800-852-7550", "eight zero zero, eight five two, seven five five zero", "ocho cero cero, ocho cinco dos, siete cinco cinco cero"),
        ("(909) 555-0100", "nine zero nine, five five five, zero one zero zero", "nueve cero nueve, cinco cinco cinco, cero uno cero cero"),
        ("911", "nine one one", "nueve uno uno"),
        ("1,500 gal", "1500 gallons", "1500 galones"),
        ("see https://a.example/x?y=1 now", "see now", "see now"),
        ("two\nlines", "two lines", "two lines"),
    ],
)
def test_it_is_said_so_that_it_can_be_written_down(written: str, english: str, spanish: str) -> None:
    assert (spoken(written, "en"), spoken(written, "es")) == (english, spanish)


@pytest.mark.parametrize("text", ["S P, 2 0 2 6, 0 0 0 4 2", "The law allows 72 hours.", "Section 8.08.120 (a)", "May 5 gallons reach it?"])
def test_what_was_written_for_the_ear_comes_through_as_it_is(text: str) -> None:
    assert spoken(text, "en") == text


@given(st.text(), st.sampled_from(["en", "es", "xx"]))
def test_any_text_is_one_line_without_control_characters(text: str, language: str) -> None:
    said = spoken(text, language)
    assert said == said.strip()
    assert said.isprintable() or not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in said)
