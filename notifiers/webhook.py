"""Webhooks as Standard Webhooks has them (github.com/standard-webhooks): a signed JSON body, POSTed to an address that somebody entered.

The receiver tells two attempts of one message by `webhook-id`, which stays the same, and so loses nothing by one that comes twice.
Their schedule is that of the outbox, for every channel the same: 5 s, 15 s, 1, 3, 10, 30 min, then every 30 min for 24 hours, later where
the receiver says Retry-After. The specification's example spans as much with longer waits; a legal clock cannot wait 14 hours.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import ssl
from datetime import UTC

import httpx

from notifiers.addresses import ascii_domain
from notifiers.channel import BEFORE_SENDING, detail_of, outcome_of_status, retry_after_of
from notifiers.message import Message, Outcome, Receipt, key_token, many_lines, one_line
from notifiers.public_addresses import Resolve, address_of, is_local_name, is_public, resolve

LONGEST_ADDRESS_CHARACTERS = 320
LONGEST_ANSWER_BYTES = 65536
_RIGHT = "An address looks like https://hooks.example.gov/spills."
_WHOLE_ATTEMPT_TIMEOUTS = 4
_MOST_ADDRESSES = 4
_DISCARDED_CONNECTIONS = httpx.Limits(max_keepalive_connections=0)  # one is made to an address that was checked for one name


class _NotReached(Exception):
    """Nothing was sent; `outcome` is what that means for the message."""

    def __init__(self, outcome: Outcome, words: str) -> None:
        super().__init__(words)
        self.outcome = outcome


def webhook_secret(signing_key: bytes, address: str) -> str:
    """Return the secret that messages to this address are signed with, in the form receivers enter it: whsec_ and 32 bytes in base64."""
    derived = hmac.new(signing_key, f"webhook|{address}".encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
    return f"whsec_{base64.b64encode(derived).decode()}"


def problem_with_webhook(address: str, *, allow_private: bool = False) -> str | None:
    """Return what is wrong with a webhook's address and what would be right; None if it can be tried.

    `allow_private` also lets http and addresses of one's own network pass. What a name leads to is looked at when something is sent.
    """
    if not address:
        return f"It is empty; nothing can be sent there. {_RIGHT}"
    if len(address) > LONGEST_ADDRESS_CHARACTERS:
        return f"It has {len(address)} characters; at most {LONGEST_ADDRESS_CHARACTERS} are kept."
    if not address.isascii() or not address.isprintable() or " " in address:
        return f"It has a space, a control character or a letter outside a-z in it; write those encoded, as in %20. {_RIGHT}"
    try:
        url = httpx.URL(address)
        host = url.host
        if not address_of(host):
            ascii_domain(host)
    except (httpx.InvalidURL, ValueError):
        return f"It cannot be read as a web address. {_RIGHT}"
    return _problem_with_parts(url, allow_private=allow_private)


def _problem_with_parts(url: httpx.URL, *, allow_private: bool) -> str | None:
    if url.scheme != "https" and not (allow_private and url.scheme == "http"):
        return f"It does not begin with https://, so that anybody on the way could read it. {_RIGHT}"
    if url.userinfo or url.fragment:
        return f"It has a login or a # in it; messages are signed, and need neither. {_RIGHT}"
    if url.port is not None and not 0 < url.port < 65536:
        return f"Nothing can listen at port {url.port}, which it names. {_RIGHT}"
    if allow_private:
        return None
    literal = address_of(url.host)
    if is_local_name(url.host) if literal is None else not is_public(literal):
        return f"{url.host} is a name or address of a private network, and nothing is sent to those from here. {_RIGHT}"
    return None


class WebhookChannel:
    """Posts messages to web addresses, signed with a secret a piece that comes of `signing_key` (see `webhook_secret`).

    `timeout_seconds` bounds each step of an attempt (resolving, connecting, writing, reading), four times of it the whole.
    `allow_private` is for tests and for receivers in one's own network: http and private addresses are allowed then.
    """

    name = "webhook"

    def __init__(
        self,
        signing_key: bytes,
        timeout_seconds: float = 10.0,
        *,
        allow_private: bool = False,
        tls_context: ssl.SSLContext | None = None,
        resolver: Resolve = resolve,
    ) -> None:
        self._signing_key = signing_key
        self._timeout_seconds = timeout_seconds
        self._allow_private = allow_private
        self._resolve = resolver
        # Not the client that channels share: the machine's proxies would resolve the name once more, to whatever it leads to by then.
        # No client at all, for httpx writes the address into its log.
        self._transport = httpx.AsyncHTTPTransport(verify=tls_context or True, trust_env=False, limits=_DISCARDED_CONNECTIONS)

    def problem_with(self, address: str) -> str | None:
        """Return what is wrong with a web address and what would be right; None if it can be tried."""
        return problem_with_webhook(address, allow_private=self._allow_private)

    async def send(self, message: Message) -> Receipt:
        """Make one attempt. The id in the receipt is the webhook-id. REFUSED: a private address or 410 Gone; else it is tried again.

        UNKNOWN: the request went out, but no status came back.
        """
        if problem := self.problem_with(message.to):
            return Receipt(Outcome.REFUSED, detail=detail_of(problem))
        own = self._secrets(message)
        secrets = (*own, *(secret.removeprefix("whsec_") for secret in own), message.to)
        url = httpx.URL(message.to)
        try:
            async with asyncio.timeout(_WHOLE_ATTEMPT_TIMEOUTS * self._timeout_seconds):
                addresses = await self._addresses(url)
                status, answer, later = await self._post(url, addresses, self._signed(message, own))
        except _NotReached as fault:
            return Receipt(fault.outcome, detail=detail_of(str(fault), secrets))
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as fault:
            words = f"the request went out, but no answer came back: {_reason(fault)}; it may have been taken"
            return Receipt(Outcome.UNKNOWN, detail=detail_of(words, secrets))
        outcome = _outcome(status)
        given = key_token(message.key) if outcome is Outcome.ACCEPTED else None
        return Receipt(outcome, given, detail_of(f"HTTP {status}: {answer}", secrets), later if outcome is Outcome.TRY_AGAIN else None)

    def _secrets(self, message: Message) -> list[str]:
        return [webhook_secret(self._signing_key, message.to)]

    def _signed(self, message: Message, secrets: list[str]) -> tuple[dict[str, str], bytes]:
        return signed(message, secrets[0])

    async def aclose(self) -> None:
        """Close what is open. A later send raises nothing: it is UNKNOWN or TRY_AGAIN."""
        await self._transport.aclose()

    async def _addresses(self, url: httpx.URL) -> list[str]:
        """The addresses to connect to, each of them checked. Raises _NotReached."""
        port = url.port or {"http": 80}.get(url.scheme, 443)
        literal = address_of(url.host)
        try:
            async with asyncio.timeout(self._timeout_seconds):
                found = [str(literal)] if literal else await self._resolve(url.host, port)
        except (OSError, TimeoutError) as fault:
            raise _NotReached(Outcome.TRY_AGAIN, f"nothing was sent: {url.host} cannot be resolved: {_reason(fault)}") from fault
        private = [] if self._allow_private else [address for address in found if not is_public(address)]
        if private:
            words = f"nothing was sent: {url.host} leads to {private[0]}, of a private network, and nothing is sent to those from here"
            raise _NotReached(Outcome.REFUSED, words)
        if not found:
            raise _NotReached(Outcome.TRY_AGAIN, f"nothing was sent: {url.host} has no address")
        return found[:_MOST_ADDRESSES]

    async def _post(
        self, url: httpx.URL, addresses: list[str], signed_message: tuple[dict[str, str], bytes]
    ) -> tuple[int, str, float | None]:
        """Post to the first address that takes a connection. Returns status, beginning of the answer, Retry-After. Raises _NotReached."""
        headers, body = signed_message
        fault: Exception | None = None
        for address in addresses:
            request = httpx.Request(
                "POST",
                url.copy_with(host=address),
                content=body,
                headers={"Host": url.netloc.decode("ascii"), **headers},
                # The certificate is to be that of the name, though the address is connected to.
                extensions={"sni_hostname": url.host, "timeout": httpx.Timeout(self._timeout_seconds).as_dict()},
            )
            try:
                response = await self._transport.handle_async_request(request)
            except BEFORE_SENDING as could_not:
                fault = could_not
                continue
            try:
                return response.status_code, await self._beginning(response), retry_after_of(response.headers)
            finally:
                await response.aclose()
        raise _NotReached(Outcome.TRY_AGAIN, f"nothing was sent: {_reason(fault)}")

    async def _beginning(self, response: httpx.Response) -> str:
        """The first 64 kB of the answer, as far as they come: the status has said already what became of the message."""
        kept = b""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                async for chunk in response.aiter_raw():
                    kept += chunk
                    if len(kept) >= LONGEST_ANSWER_BYTES:
                        break
        except (httpx.HTTPError, TimeoutError) as fault:
            return f"{kept.decode('utf-8', 'replace')} (the rest of the answer did not come: {_reason(fault)})"
        return kept[:LONGEST_ANSWER_BYTES].decode("utf-8", "replace")


def signed(message: Message, secret: str) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of a message, signed with a secret (whsec_...) as Standard Webhooks says."""
    at = message.at.astimezone(UTC)
    fields = {"key": message.key, "spill": message.spill, "duty": message.duty, "step": message.step, "subject": message.subject}
    data = {name: None if value is None else one_line(value) for name, value in fields.items()}
    kind = "duty.alert" if message.duty else "spill.message" if message.spill else "message"
    event = {
        "type": kind,
        "timestamp": at.isoformat().replace("+00:00", "Z"),
        "data": {**data, "text": many_lines(message.text), "language": message.language},
    }
    body = json.dumps(event).encode("ascii")
    identity, moment = key_token(message.key), str(int(at.timestamp()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Spillclock",
        "Accept-Encoding": "identity",  # an answer that unpacks to more than it is would get past the limit on its length
        "webhook-id": identity,
        "webhook-timestamp": moment,
        "webhook-signature": signature(secret, identity, moment, body),
    }
    return headers, body


def signature(secret: str, identity: str, moment: str, body: bytes) -> str:
    """Return v1, and the HMAC-SHA256 over id, timestamp and body, with dots between them, by a secret (whsec_...)."""
    mac = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), f"{identity}.{moment}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(mac).decode()}"


def _outcome(status: int) -> Outcome:
    """What a status means here: the receiver is the recipient's own server, so a 404 or 401 is a mistake to be mended; 410 is a no."""
    if status == httpx.codes.GONE:
        return Outcome.REFUSED
    return Outcome.ACCEPTED if outcome_of_status(status) is Outcome.ACCEPTED else Outcome.TRY_AGAIN


def _reason(fault: Exception | None) -> str:
    reason = str(fault) or type(fault).__name__
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        reason += "; the certificate of the receiver cannot be trusted, and its owner must correct it"
    return reason
