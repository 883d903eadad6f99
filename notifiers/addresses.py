"""The rules of addresses: what an e-mail address and a telephone number must look like before anything is sent to them.

An address with a fault is named in words, with what would be right; it is never dropped or mended in silence.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import idna
import phonenumbers

_LOCAL_PART = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_PLAINLY_SHAPED = re.compile(r"[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+")  # most are; the others are looked at letter by letter
_LONGEST_LOCAL_PART_CHARACTERS = 64  # RFC 5321, 4.5.3.1.1
_LONGEST_ADDRESS_CHARACTERS = 254  # RFC 5321, 4.5.3.1.3, less the angle brackets
_RIGHT_EMAIL = "An address looks like name@example.gov."
_NUMBERS_THAT_CHARGE = (phonenumbers.PhoneNumberType.PREMIUM_RATE, phonenumbers.PhoneNumberType.SHARED_COST)
_RIGHT_NUMBER = "A number looks like +19095550100: a plus sign, the country code, then the digits."


@lru_cache(maxsize=4096)  # asked several times on the way of each message
def problem_with_email(address: str) -> str | None:
    """Return what is wrong with an e-mail address and what would be right; None if mail can be sent to it."""
    if problem := _problem_with_shape(address):
        return problem
    local_part, _, domain = address.partition("@")
    return _problem_with_local_part(local_part) or _problem_with_domain(domain) or _problem_with_length(address)


def ascii_email(address: str) -> str:
    """Return the address as it goes over the wire: the domain IDNA-encoded and in small letters. Raises ValueError naming the problem."""
    if problem := problem_with_email(address):
        raise ValueError(problem)
    local_part, _, domain = address.partition("@")
    return f"{local_part}@{ascii_domain(domain)}"


@lru_cache(maxsize=4096)
def ascii_domain(domain: str) -> str:
    """Return a domain or host name as DNS knows it (IDNA 2008 after UTS 46 mapping). Raises ValueError if it is none."""
    try:
        return idna.encode(domain, uts46=True, std3_rules=True).decode("ascii")
    except idna.IDNAError as error:
        raise ValueError(str(error)) from error


def problem_with_phone(number: str) -> str | None:
    """Return what is wrong with a telephone number and what would be right; None if it is a valid number in E.164 form."""
    if not number:
        return f"It is empty. {_RIGHT_NUMBER}"
    try:
        parsed = phonenumbers.parse(number, None)
    except phonenumbers.NumberParseException:
        return _problem_with_unreadable_phone(number)
    if parsed.extension:
        return f"It has an extension ({parsed.extension}), which no SMS or call reaches. Give a number that rings a telephone directly."
    if not phonenumbers.is_valid_number(parsed):
        return f"No such number can exist in that country: digits are missing, too many or wrong. {_RIGHT_NUMBER}"
    right = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
    return None if number == right else f"It is not in the form in which numbers are kept. Write it as {right}."


def e164(number: str, region: str = "US") -> str | None:
    """Return a number as people write it ("(909) 555-0100") in E.164 form ("+19095550100").

    A number without a country code is read as one of `region` (ISO 3166 code). None if it is no valid number, or has an extension.
    """
    try:
        parsed = phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException:
        return None
    if parsed.extension or not phonenumbers.is_valid_number(parsed):
        return None
    return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)


def problem_with_country(number: str, countries: frozenset[str] | None) -> str | None:
    """Return why a number in E.164 form may not be called or texted: it is outside `countries` (ISO 3166 codes; None: any), or costs extra.

    Fraud runs up bills on numbers abroad, those of the Caribbean that begin with +1 among them, and on numbers that charge the caller.
    """
    try:
        parsed = phonenumbers.parse(number, None)
    except phonenumbers.NumberParseException:
        return f"It cannot be read as a telephone number with its country code. {_RIGHT_NUMBER}"
    if phonenumbers.number_type(parsed) in _NUMBERS_THAT_CHARGE:
        return "It is a number that charges whoever calls it, and such numbers are never called or texted from here. Give an ordinary one."
    country = phonenumbers.region_code_for_number(parsed) or "no country"
    if countries is None or country in countries:
        return None
    allowed = ", ".join(sorted(countries))
    return f"It is a number of {country}, and only those of {allowed} may be called or texted; the operator allows more by SMS_COUNTRIES."


def is_country(code: str) -> bool:
    """Whether telephone numbers are known of this country (ISO 3166 code, in capitals)."""
    return code in phonenumbers.SUPPORTED_REGIONS


def _problem_with_shape(address: str) -> str | None:
    if not address:
        return f"It is empty. {_RIGHT_EMAIL}"
    if _PLAINLY_SHAPED.fullmatch(address):
        return None
    if any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in address):
        return f"It has a line end or another control character in it. {_RIGHT_EMAIL}"
    if any(character in '<>"()' for character in address):
        return f"It has a name, a comment or quotes in it. Give the bare address. {_RIGHT_EMAIL}"
    if any(character in ",;" for character in address) or address.count("@") > 1:
        return f"It holds more than one address. Give one address a person. {_RIGHT_EMAIL}"
    if any(unicodedata.category(character) == "Zs" for character in address):
        return f"It has a space in it. {_RIGHT_EMAIL}"
    if "@" not in address:
        return f"It has no @. {_RIGHT_EMAIL}"
    return None


def _problem_with_local_part(local_part: str) -> str | None:
    if not local_part:
        return f"Nothing stands before the @. {_RIGHT_EMAIL}"
    if not local_part.isascii():
        # SMTPUTF8 is not offered by many agencies' servers; the notice would be refused there, perhaps days later.
        return "It has letters outside a-z before the @, which many mail servers cannot deliver. Give one with plain letters before the @."
    if not _LOCAL_PART.fullmatch(local_part):
        return "The part before the @ has a dot at an end, two dots in a row or a sign that is not allowed. Dots stand between letters."
    if len(local_part) > _LONGEST_LOCAL_PART_CHARACTERS:
        return f"The part before the @ has {len(local_part)} characters; at most {_LONGEST_LOCAL_PART_CHARACTERS} are allowed."
    return None


def _problem_with_domain(domain: str) -> str | None:
    if not domain:
        return f"Nothing stands after the @. {_RIGHT_EMAIL}"
    try:
        labels = ascii_domain(domain).split(".")
    except ValueError as error:
        return f"What stands after the @ is no domain ({error}). {_RIGHT_EMAIL}"
    if len(labels) < 2 or not labels[-1]:
        return f"What stands after the @ is not a whole domain, such as example.gov: it needs a dot, and no dot at its end. {_RIGHT_EMAIL}"
    if labels[-1].isdigit():
        return f"What stands after the @ ends in a number; a domain ends in letters, such as .gov. {_RIGHT_EMAIL}"
    return None


def _problem_with_length(address: str) -> str | None:
    local_part, _, domain = address.partition("@")
    length = len(local_part) + 1 + len(ascii_domain(domain))
    if length > _LONGEST_ADDRESS_CHARACTERS:
        return f"It has {length} characters; at most {_LONGEST_ADDRESS_CHARACTERS} are allowed."
    return None


def _problem_with_unreadable_phone(number: str) -> str:
    # Read as a US number for the hint only: the number is refused all the same, for a guess must not choose who is told.
    if not number.startswith("+") and (perhaps := e164(number, "US")):
        return f"It has no country code. For a number in the United States write {perhaps}."
    return f"It cannot be read as a telephone number with its country code. {_RIGHT_NUMBER}"
