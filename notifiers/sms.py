"""SMS over Twilio's Messages API, by HTTP form POST. No SDK: it would bring 17 packages for one call.

Twilio takes no idempotency key (its published request body has no field for one), so an attempt whose answer was lost is UNKNOWN, and
another one may arrive twice. The key travels in a header all the same, for gateways and logs between.
"""

from __future__ import annotations

import asyncio
import base64
import unicodedata
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from notifiers.addresses import ascii_domain, problem_with_phone
from notifiers.channel import detail_of, outcome_of_status
from notifiers.message import Message, Outcome, Receipt, key_token, many_lines

LONGEST_BODY_UNITS = 1600  # Twilio's limit, error 21617; counted in UTF-16 units to be on the safe side
_LONGEST_LAST_LINE_UNITS = 400
_CUT_MARK = " [...]"
# Neither can be about the recipient, who is not in the path: an operator's mistake, which must not throw a notice away.
_OPERATOR_STATUSES = frozenset({401, 404})
_WHOLE_ATTEMPT_TIMEOUTS = 4

# GSM 03.38, 6.2.1: one septet each; the second table takes two (an escape before it).
_GSM7_BASIC = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_GSM7_EXTENDED = frozenset("\f^{}\\[~]|€")

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


@dataclass(frozen=True, slots=True)
class TwilioAccount:
    """An account at Twilio. `sender` is a number, a short code, a name, or a messaging service (its id begins with MG).

    `status_callback_url`, where given, is told to Twilio with every message: delivery receipts go there. ValueError for a wrong `api_base`.
    """

    sid: str
    token: str = field(repr=False)
    sender: str
    api_base: str = "https://api.twilio.com"
    status_callback_url: str | None = None

    def __post_init__(self) -> None:
        if not _leads_to_a_host(self.api_base):
            raise ValueError(f"The API address {self.api_base!r} is none; a right one is https://api.twilio.com, with or without a port")


class SmsChannel:
    """Sends SMS through `http`, which stays its owner's to close.

    `timeout_seconds` bounds each step of an attempt (a free connection, connecting, writing, reading), four times of it the whole.
    """

    name = "sms"

    def __init__(self, account: TwilioAccount, http: httpx.AsyncClient, timeout_seconds: float = 20.0) -> None:
        self._account = account
        self._http = http
        self._timeout_seconds = timeout_seconds
        self._basic_auth = base64.b64encode(f"{account.sid}:{account.token}".encode()).decode()  # as a proxy may repeat it in its answer
        self._url = f"{account.api_base.rstrip('/')}/2010-04-01/Accounts/{quote(account.sid, safe='')}/Messages.json"

    def problem_with(self, address: str) -> str | None:
        """Return what is wrong with a telephone number and what would be right (E.164); None if it is fine."""
        return problem_with_phone(address)

    async def send(self, message: Message) -> Receipt:
        """Make one attempt with the text, not the subject. The id in the receipt is Twilio's message sid.

        A text over 1,600 characters is cut, with a mark, before its last line; the detail says so.
        UNKNOWN: the request went out, but no answer came back that can be read.
        """
        if problem := self.problem_with(message.to):
            return Receipt(Outcome.REFUSED, detail=detail_of(problem))
        text = gsm7_where_possible(message.text)
        body = fitting(text)
        try:
            async with asyncio.timeout(_WHOLE_ATTEMPT_TIMEOUTS * self._timeout_seconds):
                response = await self._post(message, body)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as fault:
            return self._without_answer(fault)
        return self._receipt(response, "" if body == text else "; the text was over 1,600 characters and was cut")

    async def aclose(self) -> None:
        """Do nothing: the HTTP client belongs to whoever passed it in."""

    async def _post(self, message: Message, body: str) -> httpx.Response:
        account = self._account
        form = {"To": message.to, "MessagingServiceSid" if account.sender.startswith("MG") else "From": account.sender, "Body": body}
        if account.status_callback_url:
            form["StatusCallback"] = account.status_callback_url
        return await self._http.post(
            self._url,
            data=form,
            auth=httpx.BasicAuth(account.sid, account.token),
            headers={"Accept": "application/json", "Idempotency-Key": key_token(message.key)},
            timeout=self._timeout_seconds,
            follow_redirects=False,  # a redirected POST would become a GET, or carry the text elsewhere
        )

    def _receipt(self, response: httpx.Response, shortened: str) -> Receipt:
        answer = _json_object(response)
        outcome = outcome_of_status(response.status_code)
        if outcome is not Outcome.ACCEPTED:
            return self._not_accepted(outcome, response, answer)
        sid = answer.get("sid")
        if not isinstance(sid, str) or not sid:
            # A proxy or a login page answers 200 as well; only Twilio's own id proves that Twilio has it.
            words = f"HTTP {response.status_code}, but no message sid in the answer, which may not be Twilio's: {response.text}"
            return Receipt(Outcome.UNKNOWN, detail=self._detail(words))
        if answer.get("status") in {"failed", "undelivered", "canceled"}:
            return Receipt(Outcome.REFUSED, sid, self._detail(_error_words(response, answer)))
        return Receipt(Outcome.ACCEPTED, sid, self._detail(f"HTTP {response.status_code}, {answer.get('status', 'taken')}{shortened}"))

    def _not_accepted(self, outcome: Outcome, response: httpx.Response, answer: dict[str, Any]) -> Receipt:
        words = _error_words(response, answer)
        if response.status_code in _OPERATOR_STATUSES:
            words = f"{words}; the operator must correct the account sid, the token or the API address"
            outcome = Outcome.TRY_AGAIN
        return Receipt(outcome, detail=self._detail(words))

    def _without_answer(self, fault: Exception) -> Receipt:
        reason = str(fault) or type(fault).__name__
        if not isinstance(fault, _BEFORE_SENDING):
            words = f"the request went out, but no answer came back: {reason}; it may have been sent"
            return Receipt(Outcome.UNKNOWN, detail=self._detail(words))
        if "CERTIFICATE_VERIFY_FAILED" in reason:
            reason += "; the certificate of the API cannot be trusted, and the operator must correct it or the API address"
        return Receipt(Outcome.TRY_AGAIN, detail=self._detail(f"nothing was sent: {reason}"))

    def _detail(self, answer: str) -> str:
        return detail_of(answer, (self._account.token, self._basic_auth))


_BEFORE_SENDING = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
    httpx.InvalidURL,
)


def segments(text: str) -> tuple[str, int]:
    """Return how a text will travel: ("GSM-7" or "UCS-2", number of messages it is charged as), counted after `gsm7_where_possible`.

    One message holds 160 septets or 70 UTF-16 units; in a longer text each holds 153 or 67, and neither an escaped sign nor a surrogate
    pair is torn apart. An empty text is one message.
    """
    sent = gsm7_where_possible(text)
    if all(character in _GSM7_BASIC or character in _GSM7_EXTENDED for character in sent):
        return "GSM-7", _parts([2 if character in _GSM7_EXTENDED else 1 for character in sent], alone=160, joined=153)
    return "UCS-2", _parts([_utf16_units(character) for character in sent], alone=70, joined=67)


def gsm7_where_possible(text: str) -> str:
    """Return the text with typographic quotes, dashes, spaces and dots in their GSM-7 form, accents composed, control characters gone.

    One curly apostrophe would otherwise make the whole text UCS-2, with 70 characters a message in place of 160.
    """
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


def _leads_to_a_host(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        return parts.scheme in {"http", "https"} and parts.port != 0 and bool(host) and (":" in host or bool(ascii_domain(host)))
    except ValueError:
        return False


def _json_object(response: httpx.Response) -> dict[str, Any]:
    try:
        answer = response.json()
    except ValueError:
        return {}  # the caller then reports the text of the answer as it came
    return answer if isinstance(answer, dict) else {}


def _error_words(response: httpx.Response, answer: dict[str, Any]) -> str:
    code = answer.get("code") or answer.get("error_code")
    if code is None:
        return f"HTTP {response.status_code}: {response.text}"
    return f"HTTP {response.status_code}, Twilio error {code}: {answer.get('message') or answer.get('error_message')}"
