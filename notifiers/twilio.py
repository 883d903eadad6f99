"""An account at Twilio, and how anything is created there by HTTP form POST. No SDK: it would bring 17 packages for two calls.

Twilio takes no idempotency key (its published request bodies have no field for one), so an attempt whose answer was lost is UNKNOWN, and
another one may arrive twice. The key travels in a header all the same, for gateways and logs between.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from notifiers.addresses import ascii_domain, problem_with_country, problem_with_phone
from notifiers.channel import BEFORE_SENDING, detail_of, outcome_of_status, retry_after_of
from notifiers.message import Outcome, Receipt, key_token

# Neither can be about the recipient, who is not in the path: an operator's mistake, which must not throw a notice away.
_OPERATOR_STATUSES = frozenset({401, 404})
_WHOLE_ATTEMPT_TIMEOUTS = 4
_FAILED = frozenset({"failed", "undelivered", "canceled"})


@dataclass(frozen=True, slots=True)
class TwilioAccount:
    """An account at Twilio. `sender` is a number, a short code, a name, or a messaging service (its id begins with MG).

    `base_url`, where it is an https address that Twilio can reach, is told to Twilio with every message and call: what became of them, and
    the keys that people press, come back there. `countries` are those whose numbers may be reached (ISO 3166; None: any).
    ValueError for a wrong `api_base`.
    """

    sid: str
    token: str = field(repr=False)
    sender: str
    api_base: str = "https://api.twilio.com"
    base_url: str = ""
    countries: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if not _leads_to_a_host(self.api_base):
            raise ValueError(f"The API address {self.api_base!r} is none; a right one is https://api.twilio.com, with or without a port")

    def problem_with(self, number: str) -> str | None:
        """Return what is wrong with a number to be reached, its form or its country; None if it is fine."""
        return problem_with_phone(number) or problem_with_country(number, self.countries)

    def status_url(self, key: str) -> str | None:
        """Where Twilio tells what became of the message of this key; None where it could not reach us."""
        return self._hook("status", key)

    def answer_url(self, key: str) -> str | None:
        """Where Twilio tells which key was pressed in the call of this key; None where it could not reach us."""
        return self._hook("voice", key)

    def _hook(self, what: str, key: str) -> str | None:
        return f"{self.base_url.rstrip('/')}/hooks/twilio/{what}/{key_token(key)}" if is_public_https(self.base_url) else None


class TwilioApi:
    """One account's API through `http`, which stays its owner's to close.

    `timeout_seconds` bounds each step of an attempt (a free connection, connecting, writing, reading), four times of it the whole.
    """

    def __init__(self, account: TwilioAccount, http: httpx.AsyncClient, timeout_seconds: float) -> None:
        self._account = account
        self._http = http
        self._timeout_seconds = timeout_seconds
        self._basic_auth = base64.b64encode(f"{account.sid}:{account.token}".encode()).decode()  # as a proxy may repeat it in its answer
        self._url = f"{account.api_base.rstrip('/')}/2010-04-01/Accounts/{quote(account.sid, safe='')}"

    async def create(self, resource: str, key: str, form: Mapping[str, str], note: str = "") -> Receipt:
        """Make one attempt to create a message or a call. The id in the receipt is its sid; `note` is added to an accepted one's detail.

        UNKNOWN: the request went out, but no answer came back that can be read.
        """
        try:
            async with asyncio.timeout(_WHOLE_ATTEMPT_TIMEOUTS * self._timeout_seconds):
                response = await self._http.post(
                    f"{self._url}/{resource}.json",
                    data=dict(form),
                    headers={"Accept": "application/json", "Idempotency-Key": key_token(key)},
                    **self._manners(),
                )
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as fault:
            return self._without_answer(fault)
        return self._receipt(response, note)

    async def problem_now(self) -> str | None:
        """Ask for the account, and send nothing. Return what hinders it now, in words; None where messages could be handed over."""
        try:
            async with asyncio.timeout(_WHOLE_ATTEMPT_TIMEOUTS * self._timeout_seconds):
                response = await self._http.get(f"{self._url}.json", headers={"Accept": "application/json"}, **self._manners())
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as fault:
            return self._detail(f"Twilio does not answer: {_reason(fault)}")
        answer = _json_object(response)
        if response.status_code != httpx.codes.OK:
            return self._not_accepted(response, answer).detail
        status = answer.get("status")
        if answer.get("sid") != self._account.sid:
            return self._detail(f"HTTP 200, but not with this account in the answer, which may not be Twilio's: {response.text}")
        return (
            None if status == "active" else self._detail(f"the account is {status}; only an active one sends. See it in Twilio's console")
        )

    def _manners(self) -> dict[str, Any]:
        """What every request has: the login, the time allowed, and no redirect, by which a POST becomes a GET or goes elsewhere."""
        login = httpx.BasicAuth(self._account.sid, self._account.token)
        return {"auth": login, "timeout": self._timeout_seconds, "follow_redirects": False}

    def _receipt(self, response: httpx.Response, note: str) -> Receipt:
        answer = _json_object(response)
        if outcome_of_status(response.status_code) is not Outcome.ACCEPTED:
            return self._not_accepted(response, answer)
        sid = answer.get("sid")
        if not isinstance(sid, str) or not sid:
            # A proxy or a login page answers 200 as well; only Twilio's own id proves that Twilio has it.
            words = f"HTTP {response.status_code}, but no message sid in the answer, which may not be Twilio's: {response.text}"
            return Receipt(Outcome.UNKNOWN, detail=self._detail(words))
        if answer.get("status") in _FAILED:
            return Receipt(Outcome.REFUSED, sid, self._detail(_error_words(response, answer)))
        return Receipt(Outcome.ACCEPTED, sid, self._detail(f"HTTP {response.status_code}, {answer.get('status', 'taken')}{note}"))

    def _not_accepted(self, response: httpx.Response, answer: dict[str, Any]) -> Receipt:
        words, outcome = _error_words(response, answer), outcome_of_status(response.status_code)
        if response.status_code in _OPERATOR_STATUSES:
            words = f"{words}; the operator must correct the account sid, the token or the API address"
            outcome = Outcome.TRY_AGAIN
        later = retry_after_of(response.headers) if outcome is Outcome.TRY_AGAIN else None
        return Receipt(outcome, detail=self._detail(words), retry_after_seconds=later)

    def _without_answer(self, fault: Exception) -> Receipt:
        reason = _reason(fault)
        if not isinstance(fault, BEFORE_SENDING):
            words = f"the request went out, but no answer came back: {reason}; it may have been sent"
            return Receipt(Outcome.UNKNOWN, detail=self._detail(words))
        return Receipt(Outcome.TRY_AGAIN, detail=self._detail(f"nothing was sent: {reason}"))

    def _detail(self, answer: str) -> str:
        return detail_of(answer, (self._account.token, self._basic_auth))


def is_public_https(url: str) -> bool:
    """Whether a provider on the internet could call this address: https, and neither a name of this machine nor a private address."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return False
    if parts.scheme != "https" or not host or host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return False
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host


def _reason(fault: Exception) -> str:
    reason = str(fault) or type(fault).__name__
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        reason += "; the certificate of the API cannot be trusted, and the operator must correct it or the API address"
    return reason


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
