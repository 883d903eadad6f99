"""SMS over Twilio's Messages API: the request, and how a text is written so that it costs few messages and is never torn."""

from __future__ import annotations

import re
import unicodedata

import httpx

from notifiers.channel import detail_of
from notifiers.message import Message, Outcome, Receipt, many_lines
from notifiers.twilio import TwilioAccount, TwilioApi

LONGEST_BODY_UNITS = 1600  # Twilio's limit, error 21617; counted in UTF-16 units to be on the safe side
_LONGEST_LAST_LINE_UNITS = 400
_CUT_MARK = " [...]"

# GSM 03.38, 6.2.1: one septet each; the second table takes two (an escape before it).
_GSM7_BASIC = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_GSM7_EXTENDED = frozenset("\f^{}\\[~]|€")
# A text is fitted by trying dozens of lengths: what one look of a pattern tells is not asked of each sign.
_IN_GSM7 = re.compile(f"[{re.escape(''.join(_GSM7_BASIC | _GSM7_EXTENDED))}]*")
_ESCAPED = re.compile(f"[{re.escape(''.join(_GSM7_EXTENDED))}]")
_PRINTED = re.compile(r"[\n -_a-~]*")  # ASCII that goes out as it is: the backtick has a twin

# Signs that have a twin in GSM-7 without loss of meaning. Letters are left alone: "á" is not "a", and costs a longer message.
_GSM7_TWINS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u0060", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u00ad", "-"),
        **dict.fromkeys("\t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
        "\u200b": "",
        "\u2060": "",
        "\ufeff": "",
        "\u2026": "...",
        "\u2022": "*",
    }
)


class SmsChannel:
    """Sends SMS through `http`, which stays its owner's to close.

    `timeout_seconds` bounds each step of an attempt (a free connection, connecting, writing, reading), four times of it the whole.
    """

    name = "sms"

    def __init__(self, account: TwilioAccount, http: httpx.AsyncClient, timeout_seconds: float = 20.0) -> None:
        self._account = account
        self._api = TwilioApi(account, http, timeout_seconds)

    def problem_with(self, address: str) -> str | None:
        """Return what is wrong with a telephone number and what would be right (E.164, of a country that may be reached)."""
        return self._account.problem_with(address)

    async def send(self, message: Message) -> Receipt:
        """Make one attempt with the text, not the subject. The id in the receipt is Twilio's message sid.

        A text over 1,600 characters is cut, with a mark, before its last line; the detail says so.
        UNKNOWN: the request went out, but no answer came back that can be read.
        """
        if problem := self.problem_with(message.to):
            return Receipt(Outcome.REFUSED, detail=detail_of(problem))
        text = gsm7_where_possible(message.text)
        body = fitting(text)
        account = self._account
        form = {"To": message.to, "MessagingServiceSid" if account.sender.startswith("MG") else "From": account.sender, "Body": body}
        if callback := account.status_url(message.key):
            form["StatusCallback"] = callback
        note = "" if body == text else "; the text was over 1,600 characters and was cut"
        return await self._api.create("Messages", message.key, form, note)

    async def problem_now(self) -> str | None:
        """Ask Twilio for the account, and send nothing. Return what hinders it now, in words; None where a text could be handed over."""
        return await self._api.problem_now()

    async def aclose(self) -> None:
        """Do nothing: the HTTP client belongs to whoever passed it in."""


def segments(text: str) -> tuple[str, int]:
    """Return how a text will travel: ("GSM-7" or "UCS-2", number of messages it is charged as), counted after `gsm7_where_possible`.

    One message holds 160 septets or 70 UTF-16 units; in a longer text each holds 153 or 67, and neither an escaped sign nor a surrogate
    pair is torn apart. An empty text is one message.
    """
    sent = gsm7_where_possible(text)
    if _IN_GSM7.fullmatch(sent):
        if not _ESCAPED.search(sent):
            return "GSM-7", 1 if len(sent) <= 160 else -(-len(sent) // 153)
        return "GSM-7", _parts([2 if character in _GSM7_EXTENDED else 1 for character in sent], alone=160, joined=153)
    return "UCS-2", _parts([_utf16_units(character) for character in sent], alone=70, joined=67)


def gsm7_where_possible(text: str) -> str:
    """Return the text with typographic quotes, dashes, spaces and dots in their GSM-7 form, accents composed, control characters gone.

    One curly apostrophe would otherwise make the whole text UCS-2, with 70 characters a message in place of 160.
    """
    if _PRINTED.fullmatch(text):
        return text
    return unicodedata.normalize("NFC", many_lines(text)).translate(_GSM7_TWINS)


def fitting(text: str) -> str:
    """Return the text, or, over 1,600 UTF-16 units, its beginning and a mark, then its last line whole: the link stands there."""
    if _utf16_units(text) <= LONGEST_BODY_UNITS:
        return text
    last_line = text.rstrip().rpartition("\n")[2]
    if _utf16_units(last_line) > _LONGEST_LAST_LINE_UNITS:
        last_line = ""
    ending = f"{_CUT_MARK}\n{last_line}" if last_line else _CUT_MARK
    beginning = _first_units(text, LONGEST_BODY_UNITS - _utf16_units(ending))
    return (beginning.rpartition(" ")[0] or beginning).rstrip() + ending


def _parts(units_of_characters: list[int], alone: int, joined: int) -> int:
    if sum(units_of_characters) <= alone:
        return 1
    parts, filled = 1, 0
    for units in units_of_characters:
        if filled + units > joined:
            parts, filled = parts + 1, 0
        filled += units
    return parts


def _utf16_units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _first_units(text: str, units: int) -> str:
    return text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore")
