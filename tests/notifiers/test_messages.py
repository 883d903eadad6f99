"""Messages and receipts themselves, and the cleaning of texts."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifiers import Outcome
from notifiers.channel import LONGEST_DETAIL_CHARACTERS, detail_of, outcome_of_status
from notifiers.message import key_token, many_lines, one_line
from tests.notifiers.messages import a_message


def test_a_time_without_a_zone_is_an_error() -> None:
    with pytest.raises(ValueError, match="without a zone"):
        a_message("a@example.gov", at=datetime(2026, 12, 1))  # noqa: DTZ001


def test_a_message_without_a_key_is_an_error() -> None:
    with pytest.raises(ValueError, match="key is empty"):
        a_message("a@example.gov", key="")


@pytest.mark.parametrize("key", ["17", "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "spill.7_step-2"])
def test_a_plain_key_is_its_own_token(key: str) -> None:
    assert key_token(key) == key


@pytest.mark.parametrize("key", ["a b", "a\r\nBcc: x", "ñ", "x" * 101, "a@b", "<a>", ".a", "a..b", "\ud800"])
def test_any_other_key_becomes_a_stable_token_of_its_own(key: str) -> None:
    assert key_token(key) == key_token(key)
    assert len(key_token(key)) == 64
    assert key_token(key).isalnum()
    assert key_token(key) != key_token(key + "x")


@given(st.text())
def test_one_line_has_no_control_characters_and_changes_no_clean_line(text: str) -> None:
    line = one_line(text)
    assert not any(character in line for character in "\r\n\0\t\x1b\x7f")
    assert len(line.splitlines()) <= 1
    assert one_line(line) == line
    line.encode("utf-8")


@given(st.text())
def test_many_lines_end_in_line_feeds_only(text: str) -> None:
    lines = many_lines(text)
    assert lines.splitlines() == lines.removesuffix("\n").split("\n") or not lines
    assert many_lines(lines) == lines
    lines.encode("utf-8")


def test_line_ends_of_every_system_are_one_line_feed() -> None:
    assert many_lines("a\r\nb\rc\nd\u2028e") == "a\nb\nc\nd\ne"


@pytest.mark.parametrize(
    ("statuses", "outcome"),
    [
        ((200, 201, 202, 204), Outcome.ACCEPTED),
        ((408, 425, 429, 500, 502, 503, 504, 599), Outcome.TRY_AGAIN),
        ((100, 301, 302, 307), Outcome.TRY_AGAIN),
        ((400, 402, 403, 405, 410, 422, 451), Outcome.REFUSED),
    ],
)
def test_a_status_says_what_became_of_the_message(statuses: tuple[int, ...], outcome: Outcome) -> None:
    assert {outcome_of_status(status) for status in statuses} == {outcome}


def test_a_detail_is_the_first_2048_characters_of_the_answer_on_one_line() -> None:
    assert LONGEST_DETAIL_CHARACTERS == 2048
    assert detail_of("a\r\nb") == "a b"
    assert detail_of("x" * 100_000) == "x" * 2048


def test_a_secret_of_a_letter_or_three_is_masked_alone_and_not_inside_words() -> None:
    assert detail_of("could not connect as u with 'u'", ["u"]) == "could not connect as *** with '***'"
    assert detail_of("pw pwd, pw.", ["pw"]) == "*** pwd, ***."
    assert detail_of("pass4word", ["pass"]) == "***4word"  # from four characters on, wherever it stands


def test_a_secret_is_masked_also_where_the_cut_would_have_halved_it() -> None:
    detail = detail_of("x" * 2045 + "hunter2", ("hunter2", None, ""))
    assert detail == "x" * 2045 + "***"
