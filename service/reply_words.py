"""What replies by text mean, and what they are answered, in English and Spanish. Answers stay within what one text message holds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from service.codes import is_code

# Whole messages, as carriers require them.
_WHOLE: Mapping[str, str] = {
    **dict.fromkeys(
        ("STOP", "STOPALL", "STOP ALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT", "OPT OUT", "PARAR", "ALTO"), "stop"
    ),
    **dict.fromkeys(("START", "UNSTOP", "SI START"), "start"), **dict.fromkeys(("HELP", "INFO", "AYUDA"), "help"),
}  # fmt: skip
_WITH_CODE: Mapping[str, str] = {
    **dict.fromkeys(("OK", "ACK", "SI", "VISTO"), "acknowledge"), **dict.fromkeys(("ESC", "ESCALATE", "ESCALAR"), "escalate"),
    **dict.fromkeys(("DONE", "HECHO"), "done"),
}  # fmt: skip
# What people write who mean one of those, or think that they have done it: never passed over in silence.
_NEARLY = frozenset((*_WITH_CODE, "OKAY", "OKEY", "YES", "SEEN", "LISTO"))
_YES = frozenset(("YES", "SI"))
_INITIALS = re.compile(r"(?<![0-9A-Z])(?:[A-Z]\.)+[A-Z]?(?![0-9A-Z])")
_SPANISH = frozenset(("SI", "VISTO", "ESCALAR", "HECHO", "PARAR", "ALTO", "AYUDA", "SI START"))
_NO_SPACE = re.compile(rf"({'|'.join(sorted(_WITH_CODE, key=len, reverse=True))})([0-9A-Z]{{4}})")
_LIKE_A_CODE = re.compile(r"(?=.*\d)[0-9A-Z]{3,5}")


@dataclass(frozen=True, slots=True)
class Command:
    """What a text was taken to mean; `code` is what it names a message by, as it was typed, in capitals.

    `says_yes`: it is YES or SI alone. `is_near`: nothing was understood, but a command or a code stands in it.
    """

    meaning: str
    code: str = ""
    is_spanish: bool = False
    says_yes: bool = False
    is_near: bool = False


def read_command(text: str) -> Command:
    """What a text means. Only whole commands are: one that stands in a sentence, or beside other words, is `unknown`.

    Case, accents, punctuation and spaces do not count, nor do dots between single letters (o.k.).
    """
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter)).upper()
    joined_up = _INITIALS.sub(lambda found: found[0].replace(".", ""), re.sub(r"[’'`]", "", plain))
    words = re.findall(r"[0-9A-Z]+", joined_up) if not _has_other_letters(plain) else []
    whole = " ".join(words)
    if whole in _WHOLE:
        return Command(_WHOLE[whole], is_spanish=whole in _SPANISH)
    if len(words) == 1 and (joined := _NO_SPACE.fullmatch(words[0])) and is_code(joined[2]):
        words = [joined[1], joined[2]]
    if len(words) == 2 and words[1] in _WITH_CODE:
        words.reverse()
    if words and words[0] in _WITH_CODE and (len(words) == 1 or (len(words) == 2 and _LIKE_A_CODE.fullmatch(words[1]))):
        code = words[1] if len(words) == 2 else ""
        return Command(_WITH_CODE[words[0]], code, words[0] in _SPANISH, says_yes=whole in _YES)
    code = next((word for word in words if is_code(word)), "")
    return Command("unknown", code, says_yes=whole in _YES, is_near=bool(code) or not _NEARLY.isdisjoint(words))


def _has_other_letters(plain: str) -> bool:
    """Whether there are letters of another alphabet, so that what is left of the text would not be all of it."""
    return any(letter.isalpha() and not letter.isascii() for letter in plain)


_ENGLISH: Mapping[str, str] = {
    "acknowledge": "Recorded: {person} has seen {what}. It is still to be done, and alerts go on until it is. {link}",
    "acknowledge_report": "Recorded: {person} has seen {what}. Set the city and what is known here: {link}",
    "escalate": "Told at once: {roles}. {what}. {link}",
    "escalate_none": "Nobody stands further up the ladder for {what}. Call somebody yourself. {link}",
    "done": "Recorded: done. {what}. See it here: {link}",
    "still_open": "Recorded, but the duty is still open: {what}. See what is missing: {link}",
    "closed": "That was closed already: {what}. {link}",
    "which": "{number} alerts are open. Say which, by its code: {choices}",
    "no_such_code": "No open alert to this number has the code {code}. Look at the code in our message; as in: OK 4F7K",
    "nothing_open": "No alert to this number is open. {link}",
    "report": "A text cannot do that: {what} needs a written report. Write it here: {link}",
    "kept": "A text cannot do that: {what} is not ended by an act. {link}",
    "not_yours": "A text cannot do that: {what} is for the city to record. {link}",
    "way": "A text cannot do that: say how it was done, for {what}, here: {link}",
    "more": "A text cannot do that: more must be said about {what}. Do it here: {link}",
    "several": "That message is about several duties. Say here which is done: {link}",
    "stop": "{name}: you get no more texts from this number. Duties stand; other ways to you are used. Reply START to get texts again.",
    "start": "{name}: you will get texts again. Reply HELP for help, STOP to end.",
    "help": "{name}: alerts about spills and their legal deadlines. Reply OK, ESC (escalate) or DONE with the code of a message. "
    "Reply STOP to end. Msg and data rates may apply. {link}",
    "unknown": "We did not understand; staff will read it. Reply OK, ESC (escalate) or DONE with the code of our message, as in: OK 4F7K",
    "alone": "Nothing was recorded; staff will read your text. Send the word and the code alone: OK {code}, ESC {code} (escalate) or "
    "DONE {code}",
    "stranger": "{name}: this number takes answers to spill alerts. To report a spill: {link} In an emergency call 911.",
    "confirmed": "{name}: confirmed. You get {what} from now on. Reply HELP for help, STOP to end.",
    "several_requests": "{name}: {number} requests of this number wait for a yes. Open the link in the one that you want.",
    "no_request": "{name}: no request of this number waits for a yes. To get advisories, ask here: {link}",
    "stop_public": "{name}: you get no more texts from this number. Reply START to get texts again.",
    "help_public": "{name}: texts about spills. Reply STOP to end. Msg and data rates may apply. To report a spill: {link} "
    "In an emergency call 911.",
    "unknown_public": "{name}: this number sends texts about spills. Staff will read what you wrote. Reply STOP to end, HELP for help. "
    "To report a spill: {link} In an emergency call 911.",
}
_IN_SPANISH: Mapping[str, str] = {
    "acknowledge": "Registrado: {person} ha visto {what}. Falta hacerlo, y los avisos siguen hasta entonces. {link}",
    "acknowledge_report": "Registrado: {person} ha visto {what}. Indique la ciudad y lo que se sabe: {link}",
    "escalate": "Avisado ahora: {roles}. {what}. {link}",
    "escalate_none": "No hay nadie mas a quien escalar {what}. Llame usted mismo. {link}",
    "done": "Registrado: hecho. {what}. Vea aqui: {link}",
    "still_open": "Registrado, pero el deber sigue abierto: {what}. Vea lo que falta: {link}",
    "closed": "Eso ya estaba cerrado: {what}. {link}",
    "which": "Hay {number} avisos abiertos. Diga cual, con su codigo: {choices}",
    "no_such_code": "Ningun aviso abierto a este numero tiene el codigo {code}. Mire el codigo en el mensaje; por ejemplo: OK 4F7K",
    "nothing_open": "No hay avisos abiertos para este numero. {link}",
    "report": "Por mensaje no se puede: {what} requiere un informe escrito. Escribalo aqui: {link}",
    "kept": "Por mensaje no se puede: {what} no termina con un acto. {link}",
    "not_yours": "Por mensaje no se puede: {what} lo registra la ciudad. {link}",
    "way": "Por mensaje no se puede: indique aqui como se hizo ({what}): {link}",
    "more": "Por mensaje no se puede: falta informacion sobre {what}. Hagalo aqui: {link}",
    "several": "Ese mensaje es sobre varios deberes. Indique aqui cual esta hecho: {link}",
    "stop": "{name}: no recibira mas mensajes de este numero. Sus deberes siguen; se le avisa de otro modo. Responda START para volver.",
    "start": "{name}: recibira mensajes otra vez. Responda AYUDA para ayuda, ALTO para terminar.",
    "help": "{name}: avisos de derrames y sus plazos legales. Responda OK, ESC (escalar) o HECHO con el codigo del mensaje. "
    "Responda ALTO para terminar. Pueden aplicar tarifas. {link}",
    "unknown": "No entendimos, y una persona lo va a leer. Responda OK, ESC (escalar) o HECHO con el codigo del mensaje, como: OK 4F7K",
    "alone": "No se registro nada; una persona lo va a leer. Envie solo la palabra y el codigo: OK {code}, ESC {code} (escalar) o "
    "HECHO {code}",
    "stranger": "{name}: este numero recibe respuestas a avisos de derrames. Para reportar uno: {link} En una emergencia llame al 911.",
    "confirmed": "{name}: confirmado. Desde ahora recibe {what}. Responda AYUDA para ayuda, ALTO para terminar.",
    "several_requests": "{name}: {number} solicitudes de este numero esperan un si. Abra el enlace de la que quiere.",
    "no_request": "{name}: ninguna solicitud de este numero espera un si. Para recibir avisos, pidalos aqui: {link}",
    "stop_public": "{name}: no recibira mas mensajes de este numero. Responda START para recibirlos otra vez.",
    "help_public": "{name}: avisos de derrames. Responda ALTO para terminar. Pueden aplicar tarifas. Para reportar un derrame: {link} "
    "En una emergencia llame al 911.",
    "unknown_public": "{name}: este numero envia avisos de derrames. Una persona leera lo que escribio. Responda ALTO para terminar, "
    "AYUDA para ayuda. Para reportar un derrame: {link} En una emergencia llame al 911.",
}

_ROLES: Mapping[str, str] = {
    "discharger": "quien causo el derrame", "duty_officer": "oficial de guardia", "supervisor": "supervision", "director": "direccion",
    "administrator": "administracion",
}  # fmt: skip


def role_name(role: str, language: str) -> str:
    """What a role is called in an answer: duty officer, oficial de guardia."""
    return _ROLES.get(role, role) if language == "es" else role.replace("_", " ")


def answer(key: str, language: str, **values: object) -> str:
    """The words of an answer."""
    return (_IN_SPANISH if language == "es" else _ENGLISH)[key].format(**values)
