"""What is wrong with an address, in words, and what would be right."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifiers import e164
from notifiers.addresses import ascii_domain, ascii_email, problem_with_email, problem_with_phone


@pytest.mark.parametrize(
    "address",
    [
        "name@example.gov",
        "first.last+spills@sub.example.co.uk",
        "o'brien@example.org",
        "x@example.museum",
        "NAME@EXAMPLE.GOV",
        "a@bücher.example",
        "a@xn--bcher-kva.example",
        "a" * 64 + "@example.gov",
    ],
)
def test_an_address_that_mail_reaches_has_no_problem(address: str) -> None:
    assert problem_with_email(address) is None


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("", "empty"),
        ("name", "no @"),
        ("@example.gov", "Nothing stands before"),
        ("name@", "Nothing stands after"),
        ("a@b@example.gov", "more than one address"),
        ("a@example.gov;b@example.gov", "more than one address"),
        ("Name <name@example.gov>", "bare address"),
        ('"a b"@example.gov', "quotes"),
        ("a(comment)@example.gov", "comment"),
        ("a b@example.gov", "space"),
        ("a\u00a0b@example.gov", "space"),
        (" name@example.gov", "space"),
        ("name@example.gov\n", "control character"),
        ("na\0me@example.gov", "control character"),
        ("na\u2028me@example.gov", "control character"),
        ("na\ud800me@example.gov", "control character"),
        ("señor@example.gov", "plain letters before the @"),
        (".name@example.gov", "Dots stand"),
        ("na..me@example.gov", "Dots stand"),
        ("name.@example.gov", "Dots stand"),
        ("a\\b@example.gov", "not allowed"),
        ("a" * 65 + "@example.gov", "65 characters"),
        ("name@localhost", "needs a dot"),
        ("name@example.gov.", "no dot at its end"),
        ("name@.example.gov", "no domain"),
        ("name@exa_mple.gov", "no domain"),
        ("name@-example.gov", "no domain"),
        ("name@127.0.0.1", "ends in a number"),
        ("name@[127.0.0.1]", "no domain"),
        ("name@" + "a" * 64 + ".gov", "no domain"),
        ("a" * 60 + "@" + ".".join(["b" * 60] * 3) + ".gov.example", "at most 254"),
    ],
)
def test_a_fault_of_an_email_address_is_named(address: str, words: str) -> None:
    problem = problem_with_email(address)
    assert problem is not None
    assert words in problem
    with pytest.raises(ValueError, match=re.escape(problem)):
        ascii_email(address)


@given(st.text(max_size=80).map(lambda text: text + "@example.gov") | st.emails() | st.text(max_size=80))
def test_any_text_is_either_named_as_faulty_or_safe_on_the_wire(text: str) -> None:
    if problem_with_email(text) is None:
        wire = ascii_email(text)
        assert wire.isascii()
        assert wire.isprintable()
        assert not set(wire) & set(' <>",;()\\')
        assert wire.count("@") == 1


@pytest.mark.parametrize(
    ("domain", "wire"), [("Example.GOV", "example.gov"), ("peñón.example", "xn--pen-8mak.example"), ("ex。ample.gov", "ex.ample.gov")]
)
def test_a_domain_travels_in_small_ascii_letters(domain: str, wire: str) -> None:
    assert ascii_domain(domain) == wire


@pytest.mark.parametrize("number", ["+19095550100", "+18005550199", "+442071838750", "+525512345678"])
def test_a_number_in_its_international_form_has_no_problem(number: str) -> None:
    assert problem_with_phone(number) is None


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("", "empty"),
        ("(909) 555-0100", "write +19095550100"),
        ("9095550100", "write +19095550100"),
        ("19095550100", "write +19095550100"),
        ("+1 (909) 555-0100", "Write it as +19095550100."),
        ("tel:+1-909-555-0100", "Write it as +19095550100."),
        ("+19095550100;ext=5", "extension (5)"),
        ("+1909555010", "digits are missing"),
        ("+190955501000", "digits are missing"),
        ("+11115550100", "digits are missing"),
        ("+9995550100", "country code"),
        ("911", "country code"),
        ("name@example.gov", "country code"),
        ("+\uff11\uff19\uff10\uff19\uff15\uff15\uff15\uff10\uff11\uff10\uff10", "Write it as +19095550100."),
        ("+19095550100\n", "Write it as +19095550100."),
        ("+19095550100,+19095550101", "+19095550100: a plus sign"),
    ],
)
def test_a_fault_of_a_telephone_number_is_named_with_the_right_form(number: str, words: str) -> None:
    problem = problem_with_phone(number)
    assert problem is not None
    assert words in problem


@given(st.text(max_size=40) | st.text(alphabet="+0123456789 -().ext,;", max_size=25))
def test_only_digits_after_a_plus_pass_as_a_number(text: str) -> None:
    if problem_with_phone(text) is None:
        assert text[0] == "+"
        assert text[1:].isascii()
        assert text[1:].isdigit()
        assert 8 <= len(text) <= 16


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("(909) 555-0100", "+19095550100"),
        ("1-909-555-0100", "+19095550100"),
        ("+52 55 1234 5678", "+525512345678"),
        ("909-555-0100 ext. 5", None),
        ("555-0100", None),
        ("call me", None),
        ("", None),
    ],
)
def test_a_number_as_people_write_it_is_brought_into_international_form(number: str, expected: str | None) -> None:
    assert e164(number) == expected


def test_a_number_without_a_country_code_is_read_as_one_of_the_region() -> None:
    assert e164("020 7183 8750", "GB") == "+442071838750"
