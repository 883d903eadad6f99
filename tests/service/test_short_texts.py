"""Text messages: two segments at most, the reference, the due time, the link and the reply hint always whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifiers import segments
from notifiers.sms import gsm7_where_possible
from service.wording.short import CUT, Part, fitted

REFERENCE, DUE, LINK, REPLY = (
    "SP-2026-00001",
    "Tue Dec 1, 4:05 PM PST",
    "https://spills.example.gov/staff/spills/SP-2026-00001",
    "Reply OK 4F7.",
)
ANY_TEXT = st.one_of(
    st.text(max_size=500),
    st.text(alphabet=st.sampled_from("abc áíóúñéü¿¡ €[]{}~ \u201c\u2019\u2014\u2026\u00a0 水🚱é\u0301\u0327 \n\x00"), max_size=500),
)


def message(title: str, recipient: str = "The Board", place: str = "13220 Central Ave") -> list[Part]:
    return [
        Part(f"{REFERENCE} due {DUE}: "), Part(title, 1), Part(". To: "), Part(recipient, 2), Part(". "), Part(place, 3),
        Part(f". {REPLY} {LINK}"),
    ]  # fmt: skip


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_whatever_the_texts_are_two_segments_hold_all_that_must_be_whole(title: str, recipient: str, place: str) -> None:
    short = fitted(message(title, recipient, place))
    assert segments(short.text) == (short.encoding, short.segments)
    assert short.fits
    assert short.segments <= 2
    assert short.text.startswith(f"{REFERENCE} due {DUE}:")
    assert short.text.endswith(f"{REPLY} {LINK}")
    assert gsm7_where_possible(short.text) == short.text
    assert short.text.encode("utf-16-le").decode("utf-16-le") == short.text
    assert (CUT in short.text) or not short.cut


def test_a_short_message_is_left_as_it_is() -> None:
    short = fitted(message("Call the board within two hours"))
    assert short.text == f"{REFERENCE} due {DUE}: Call the board within two hours. To: The Board. 13220 Central Ave. {REPLY} {LINK}"
    assert (short.encoding, short.segments, short.cut) == ("GSM-7", 2, False)


def test_the_least_important_text_is_cut_first_and_at_a_word() -> None:
    short = fitted(message("Call the board within two hours", place="beside the long fence " * 20))
    assert "Call the board within two hours. To: The Board. beside the long fence" in short.text
    assert f"fence... {REPLY} {LINK}" in short.text or f"the... {REPLY} {LINK}" in short.text or f"long... {REPLY} {LINK}" in short.text
    assert 290 < len(short.text) <= 306


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("Avise al consejo “ya” — está en la orilla…", 'Avise al consejo "ya" - esta en la orilla...'),
        ("¿Señor Ibáñez? ¡Sí! güera, café, Peñón", "¿Señor Ibañez? ¡Si! güera, café, Peñón".replace("Peñón", "Peñon")),
        ("2\u00a0½ gal, 10 m³", "2 1/2 gal, 10 m3"),
        ("Łódź", "Łódź"),
        ("aguas negras 水", "aguas negras 水"),
    ],
)
def test_letters_become_plain_only_where_the_whole_then_is_gsm7(written: str, sent: str) -> None:
    short = fitted([Part("SP-1 "), Part(written, 1)])
    assert short.text == f"SP-1 {sent}"
    assert not short.cut


def test_a_spanish_text_of_three_hundred_letters_is_two_segments_not_five() -> None:
    short = fitted([Part("SP-1 "), Part("Notificación telefónica inmediata al río. " * 7, 1)])
    assert (short.encoding, short.segments, short.cut) == ("GSM-7", 2, False)


def test_another_script_has_the_smaller_budget_and_no_torn_pair() -> None:
    short = fitted([Part("SP-1 "), Part("🚱" * 200, 1), Part(f" {LINK}")])
    assert short.encoding == "UCS-2"
    assert short.segments == 2
    assert short.text.endswith(f"🚱{CUT} {LINK}")


def test_signs_of_two_septets_are_counted_as_two_and_not_torn() -> None:
    short = fitted([Part("€" * 300, 1), Part(f" {LINK}")])
    assert short.encoding == "GSM-7"
    assert segments(short.text)[1] == 2
    assert segments(short.text.replace(CUT, "€€€"))[1] == 3 or short.text.count("€") >= 120


def test_one_foreign_letter_far_behind_does_not_halve_the_message() -> None:
    short = fitted([Part("SP-1 "), Part("a" * 20 + " word" * 40 + " 水", 1), Part(f" {LINK}")])
    assert short.encoding == "GSM-7"
    assert short.text.endswith(f"word{CUT} {LINK}")


def test_a_list_is_shortened_by_its_own_shorter_forms() -> None:
    forms = ("A, B and 2 more", "A and 3 more", "4 more")
    short = fitted([Part("SP-1 "), Part("A, B, C, D" + "x" * 300, 2, forms), Part(" " + "y" * 270)])
    assert short.text == f"SP-1 A, B and 2 more {'y' * 270}"
    assert short.cut
    least = fitted([Part("SP-1 "), Part("A, B, C, D" + "x" * 300, 2, forms), Part(" " + "y" * 400)])
    assert least.text == f"SP-1 4 more {'y' * 400}"
    assert not least.fits


def test_room_that_is_left_over_is_used() -> None:
    forms = ("Also: " + "x" * 90 + " and 1 more.", "And 2 more.")
    short = fitted([Part("Also: " + "x" * 180, 2, forms), Part(" To: "), Part("The Board, 951-555-0100", 3), Part(" " + "y" * 150)])
    assert short.text == f"{forms[0]} To: The Board, 951-555-0100 {'y' * 150}"


def test_what_must_be_whole_is_whole_even_beyond_the_budget() -> None:
    link = "https://spills.example.gov/" + "a" * 400
    short = fitted([Part("SP-1 "), Part("Call the board", 1), Part(f" {link}")])
    assert short.text == f"SP-1 {link}"
    assert not short.fits
