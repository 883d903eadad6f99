"""Calls over Twilio's Calls API: a text is said twice, and whoever hears it presses 1 to acknowledge or 2 to hear it again.

Where the call leads (TwiML) travels in the request, so that no call waits for a page of ours. The pressed key comes back to
`TwilioAccount.answer_url`; whatever answers there says so with `recorded_twiml`, `goodbye_twiml` or, to say it again, `call_twiml`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

import httpx

from notifiers.addresses import problem_with_phone
from notifiers.channel import detail_of
from notifiers.message import Message, Outcome, Receipt, many_lines
from notifiers.spoken import spoken
from notifiers.twilio import TwilioAccount, TwilioApi

LONGEST_TWIML_CHARACTERS = 4000  # Twilio's limit on TwiML that travels in a request
_RING_SECONDS = 30  # longer, and most numbers pass the call to voice mail
_LONGEST_CALL_SECONDS = 300
_KEY_SECONDS = 10
_NOT_IN_XML = re.compile("[\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class _Phrases:
    language: str
    again: str
    keys: str
    no_keys: str
    recorded: str
    goodbye: str


_ENGLISH = _Phrases(
    "en-US",
    "I say it again.",
    "Press 1 to acknowledge. Press 2 to hear it again.",
    "Acknowledge it on the page of the spill.",
    "Recorded. Thank you. Goodbye.",
    "Nothing was recorded. Goodbye.",
)
_SPANISH = _Phrases(
    "es-US",
    "Lo repito.",
    "Oprima 1 para confirmar. Oprima 2 para escucharlo otra vez.",
    "Confírmelo en la página del derrame.",
    "Registrado. Gracias. Adiós.",
    "No se registró nada. Adiós.",
)


class VoiceChannel:
    """Makes calls through `http`, which stays its owner's to close. The account's sender must be a telephone number: else a ValueError.

    `timeout_seconds` bounds each step of an attempt (a free connection, connecting, writing, reading), four times of it the whole.
    """

    name = "voice"

    def __init__(self, account: TwilioAccount, http: httpx.AsyncClient, timeout_seconds: float = 20.0) -> None:
        if problem := problem_with_phone(account.sender):
            raise ValueError(f"Calls cannot come from {account.sender!r}. {problem}")
        self._account = account
        self._api = TwilioApi(account, http, timeout_seconds)

    def problem_with(self, address: str) -> str | None:
        """Return what is wrong with a telephone number and what would be right (E.164, of a country that may be reached)."""
        return self._account.problem_with(address)

    async def send(self, message: Message) -> Receipt:
        """Make one attempt to have the call made; the id in the receipt is Twilio's call sid. ACCEPTED is not yet heard by anybody.

        UNKNOWN: the request went out, but no answer came back that can be read.
        """
        if problem := self.problem_with(message.to):
            return Receipt(Outcome.REFUSED, detail=detail_of(problem))
        answers, status = self._account.answer_url(message.key), self._account.status_url(message.key)
        form = {
            "To": message.to,
            "From": self._account.sender,
            "Twiml": call_twiml(message.text, message.language, answers),
            "Timeout": str(_RING_SECONDS),
            "TimeLimit": str(_LONGEST_CALL_SECONDS),
        }
        if status:
            # Whether a person or a machine answered is told beside the call (AsyncAmd): a person is not left waiting in silence for it.
            told = {"MachineDetection": "Enable", "AsyncAmd": "true", "AsyncAmdStatusCallback": status}
            form |= {"StatusCallback": status, **told}
        return await self._api.create("Calls", message.key, form)

    async def problem_now(self) -> str | None:
        """Ask Twilio for the account, and call nobody. Return what hinders it now, in words; None where a call could be handed over."""
        return await self._api.problem_now()

    async def aclose(self) -> None:
        """Do nothing: the HTTP client belongs to whoever passed it in."""


def call_twiml(text: str, language: str, answer_url: str | None) -> str:
    """The course of a call: the text twice, then the keys, which are told to `answer_url`; without one no key is asked for.

    The text may be one for the eye: see `spoken`. Too long for Twilio, it is cut at a word. `language` is "en" or "es" (else English).
    """
    return _fitted(spoken(text, language), _phrases(language), answer_url)


def recorded_twiml(language: str) -> str:
    """The answer to a key by which something was recorded."""
    phrases = _phrases(language)
    return _response(_say(phrases.recorded, phrases) + "<Hangup/>")


def goodbye_twiml(language: str) -> str:
    """The answer to any other key, or to none."""
    phrases = _phrases(language)
    return _response(_say(phrases.goodbye, phrases) + "<Hangup/>")


def _phrases(language: str) -> _Phrases:
    return _SPANISH if language == "es" else _ENGLISH


def _fitted(text: str, phrases: _Phrases, answer_url: str | None) -> str:
    kept = _NOT_IN_XML.sub("", many_lines(text))
    while len(twiml := _course(kept, phrases, answer_url)) > LONGEST_TWIML_CHARACTERS:
        over = len(twiml) - LONGEST_TWIML_CHARACTERS
        # It is said twice, and a sign may have been escaped into several: cut half of what is over, and look again.
        shorter = kept[: -max(1, over // 12)]
        kept = shorter.rpartition(" ")[0] or shorter
    return twiml


def _course(text: str, phrases: _Phrases, answer_url: str | None) -> str:
    twice = f'{_say(text, phrases)}<Pause length="1"/>{_say(f"{phrases.again} {text}", phrases)}'
    if answer_url is None:
        return _response(twice + _say(phrases.no_keys, phrases) + "<Hangup/>")
    asked = f'<Gather numDigits="1" input="dtmf" timeout="{_KEY_SECONDS}" method="POST" action="{escape(answer_url)}">'
    return _response(f"{asked}{twice}{_say(phrases.keys, phrases)}</Gather>{_say(phrases.goodbye, phrases)}<Hangup/>")


def _say(text: str, phrases: _Phrases) -> str:
    return f'<Say language="{phrases.language}">{escape(text)}</Say>'


def _response(course: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?><Response>{course}</Response>'
