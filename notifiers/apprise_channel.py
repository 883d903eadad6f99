"""Chat rooms and pagers through Apprise (the extra `apprise`): one address of its kind a person, one Apprise object a delivery.

An address holds the login of what it leads to, so it is a secret: no detail and no log line repeats any part of it. Only services of the
list below are allowed, which was gone through one by one: none acts on this machine, and none stands for any web address at all, as its
generic JSON and XML services do. E-mail and Twilio are channels of their own here. Apprise takes no key by which a receiver could tell two
attempts apart: an attempt whose answer was lost is UNKNOWN, and another one may arrive twice.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from notifiers.message import Message, Outcome, Receipt, many_lines, one_line
from notifiers.public_addresses import Resolve, address_of, is_local_name, is_public, resolve

# The service that each scheme of Apprise's leads to; those of the second list lead to a host that the address names.
_SERVICES = {
    "slack": "Slack", "discord": "Discord", "tgram": "Telegram", "pagerduty": "PagerDuty", "opsgenie": "Opsgenie", "pover": "Pushover",
    "whatsapp": "WhatsApp", "gchat": "Google Chat", "webex": "Webex", "wxteams": "Webex",
}  # fmt: skip
_SERVICES_OF_ANY_HOST = {
    "workflow": "Microsoft Teams", "workflows": "Microsoft Teams", "mmosts": "Mattermost", "rockets": "Rocket.Chat", "matrixs": "Matrix",
    "ntfys": "ntfy", "gotifys": "Gotify", "signals": "Signal",
}  # fmt: skip
_UNENCRYPTED = {"mmost": "mmosts", "rocket": "rockets", "matrix": "matrixs", "ntfy": "ntfys", "gotify": "gotifys", "signal": "signals"}
SCHEMES = tuple(sorted({*_SERVICES, *_SERVICES_OF_ANY_HOST}))
LONGEST_ADDRESS_CHARACTERS = 320
# Parameters that would have Apprise say that it has sent where it has not, or look away from whom it sends to.
_REFUSED_PARAMETERS = re.compile(r"[?&](optional|verify|redirect|delay|retry|wait|to|tags?)=", re.IGNORECASE)
_RIGHT = "An address looks like slack://TokenA/TokenB/TokenC, as Apprise's documentation has it."
_MISSING = "Apprise is not installed here, and nothing can be sent there; the operator installs it with the extra: spillclock[apprise]."
_STATUS_OF_ANSWER = re.compile(r"\berror=(\d{3,5})\b")
# Words of the HTTP library, in a line that Apprise keeps of an attempt: the request was out, and its answer did not come.
_ANSWER_LOST = re.compile(r"Connection aborted|Connection broken|Read timed out|IncompleteRead|Connection reset|ProtocolError")
_NEVER_CONNECTED = re.compile(r"Failed to establish a new connection|NewConnectionError|NameResolutionError|ConnectTimeout|connect timeout")
_AT_ONCE = 8


def problem_with_apprise(address: str, *, allow_private: bool = False) -> str | None:
    """Return what is wrong with an Apprise address and what would be right, without repeating it; None if it can be tried.

    `allow_private` also lets unencrypted services and those of one's own network pass. Whether the rest of the address makes sense
    is Apprise's to say, see `problem_with_parts`.
    """
    if problem := problem_with_scheme(address, allow_private=allow_private):
        return problem
    return None if importlib.util.find_spec("apprise") else _MISSING


def problem_with_scheme(address: str, *, allow_private: bool = False) -> str | None:
    """As `problem_with_apprise`, but whether or not Apprise is installed."""
    if not address:
        return f"It is empty; nothing can be sent there. {_RIGHT}"
    if len(address) > LONGEST_ADDRESS_CHARACTERS:
        return f"It has {len(address)} characters; at most {LONGEST_ADDRESS_CHARACTERS} are kept."
    if not address.isprintable() or any(sign in address for sign in " ,;"):
        return f"It has a space, a comma or a control character in it: give one address, those signs encoded, as in %20. {_RIGHT}"
    scheme = address.partition("://")[0].lower() if "://" in address else ""
    if scheme in _UNENCRYPTED and not allow_private:
        return f"{scheme}:// is not encrypted, and anybody on the way could read it. Begin it with {_UNENCRYPTED[scheme]}://."
    if scheme not in SCHEMES and scheme not in _UNENCRYPTED:
        return f"It does not begin with one of the services that are allowed here: {', '.join(f'{name}://' for name in SCHEMES)}."
    if found := _REFUSED_PARAMETERS.search(address):
        return f"It sets {found[1].lower()}=, by which a message could get lost unnoticed. Leave that out."
    return None


def problem_with_parts(address: str) -> str | None:
    """Return that Apprise cannot make sense of an address; None if it can. Slow at its first call, which loads Apprise."""
    if _service_of(address) is None:
        return f"What follows its scheme is not what this service needs; Apprise's documentation lists the parts. {_RIGHT}"
    return None


class AppriseChannel:
    """Sends through Apprise, in threads of its own: a service that does not answer holds up neither the loop nor another channel.

    `timeout_seconds` bounds an attempt. `allow_private` is for tests and for services in one's own network.
    """

    name = "apprise"

    def __init__(self, timeout_seconds: float = 8.0, *, allow_private: bool = False, resolver: Resolve = resolve) -> None:
        self._timeout_seconds = timeout_seconds
        self._allow_private = allow_private
        self._resolve = resolver
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="apprise")
        self._closed = False

    def problem_with(self, address: str) -> str | None:
        """Return what is wrong with an address and what would be right; None if it can be tried."""
        return problem_with_apprise(address, allow_private=self._allow_private)

    async def send(self, message: Message) -> Receipt:
        """Make one attempt. Subject and text are sent; one too long for the service is split. There is no id in the receipt but our key.

        REFUSED: an address that Apprise cannot read, or that leads into a private network. UNKNOWN: no answer within the time allowed.
        """
        if problem := self.problem_with(message.to):
            return Receipt(Outcome.REFUSED, detail=problem)
        if self._closed:
            return Receipt(Outcome.TRY_AGAIN, detail="the Apprise channel is closed; the program is stopping")
        loop = asyncio.get_running_loop()
        if problem := await loop.run_in_executor(self._threads, problem_with_parts, message.to):
            return Receipt(Outcome.REFUSED, detail=problem)
        if not self._allow_private and (kept_away := await self._kept_away(message.to)):
            return kept_away
        return await loop.run_in_executor(self._threads, _notify, message, self._timeout_seconds)

    async def aclose(self) -> None:
        """Let the threads end. A later send is TRY_AGAIN."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _kept_away(self, address: str) -> Receipt | None:
        """Why nothing is sent to the host that the address names, where it names one; None if it may be.

        Apprise resolves the name once more by itself: who owns the name could answer it otherwise by then. Only an operator enters one.
        """
        host = _own_host(address)
        if not host:
            return None
        literal = address_of(host)
        if literal is None and is_local_name(host):
            return Receipt(
                Outcome.REFUSED, detail="nothing was sent: the address names a host of a private network, and that is not allowed"
            )
        try:
            async with asyncio.timeout(self._timeout_seconds):
                found = [str(literal)] if literal else await self._resolve(host, 443)
        except (OSError, TimeoutError):
            return Receipt(Outcome.TRY_AGAIN, detail="nothing was sent: the host in the address cannot be resolved")
        if all(map(is_public, found)):
            return None
        return Receipt(Outcome.REFUSED, detail="nothing was sent: the address leads into a private network, and that is not allowed")


def _own_host(address: str) -> str | None:
    """The host that an address names for its service to be found at; None where the service has its own."""
    if address.partition("://")[0].lower() in _SERVICES:
        return None
    service = _service_of(address)
    if service is None or str(getattr(service, "mode", "")) in {"cloud", "t2bot"}:
        return None
    return service.host or None


def _service_of(address: str) -> Any:
    """Apprise's object for an address; None where it cannot read it. Its log lines hold addresses and texts."""
    import apprise

    _keep_from_logs()
    asset = apprise.AppriseAsset(storage_mode="memory", http_redirects=False, secure_logging=True)
    return apprise.Apprise.instantiate(address, asset=asset)


def _keep_from_logs() -> None:
    """Apprise's own lines go to the one attempt that they are about (`result.logs()`), and to nobody's log."""
    log = logging.getLogger("apprise")
    log.propagate = False
    log.setLevel(logging.DEBUG)
    if not any(isinstance(handler, logging.NullHandler) for handler in log.handlers):
        log.addHandler(logging.NullHandler())  # without any handler Python would write warnings to standard error


def _notify(message: Message, timeout_seconds: float) -> Receipt:
    import apprise

    service = _service_of(message.to)
    # Longer than the whole attempt: an answer that does not come in time is then a TIMEOUT, and not told like a service that said no.
    service.socket_read_timeout = service.socket_connect_timeout = timeout_seconds + 1.0
    service.overflow_mode = apprise.OverflowMode.SPLIT
    service.request_rate_per_sec = 0.0  # the outbox has its own pace, and this one would sleep in our threads
    if getattr(service, "discovery", False):
        service.discovery = False  # Matrix: the host's own word on where else to go
    one = apprise.Apprise()
    one.add(service)
    title, body = one_line(message.subject), many_lines(message.text)
    result = one.notify(
        body=body, title=title, notify_type="warning", body_format="text", timeout=timeout_seconds, log_level=logging.DEBUG
    )  # fmt: skip
    scheme = message.to.partition("://")[0].lower()
    name = {**_SERVICES, **_SERVICES_OF_ANY_HOST}.get(_UNENCRYPTED.get(scheme, scheme), scheme)
    return _receipt(message.key, name, result.status.name, [str(entry.message) for entry in result.logs()])


def _receipt(key: str, service: str, status: str, lines: list[str]) -> Receipt:
    """What one attempt came to. Of the lines that Apprise kept of it, which hold secrets, only the number of the answer is told."""
    told = "\n".join(lines)
    if status == "SUCCESS":
        return Receipt(Outcome.ACCEPTED, key, f"{service} took it")
    if status == "NOMATCH":
        return Receipt(Outcome.REFUSED, detail=f"{service}: Apprise finds nobody to send to in the address")
    if status in {"TIMEOUT", "PARTIAL"} or (_ANSWER_LOST.search(told) and not _NEVER_CONNECTED.search(told)):
        return Receipt(Outcome.UNKNOWN, detail=f"{service} did not answer, or not in time; it may have taken the message")
    answer = _STATUS_OF_ANSWER.search(told)
    return Receipt(Outcome.TRY_AGAIN, detail=f"{service} did not take it: {f'answer {answer[1]}' if answer else 'no answer'}")
