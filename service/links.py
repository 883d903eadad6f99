"""Links that name one message and prove themselves: where a mail bounces to, the page to act on, the way out of a subscription."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re

from markupsafe import Markup

from service.tables import MessageRow
from service.transaction import House

_KEY = r"[0-9a-f]{32}"
_MAC_CHARACTERS = 16
_BOUNCE = re.compile(rf"\+({_KEY})\.([a-z2-7]{{{_MAC_CHARACTERS}}})@", re.IGNORECASE)
_TOKEN = re.compile(rf"({_KEY})\.([a-z2-7]{{{_MAC_CHARACTERS}}})")

_ACT = {"en": "Seen it, or escalate it, without signing in", "es": "Ya lo vi, o escalarlo, sin iniciar sesión"}
_ACT_HTML = Markup(
    '<p class="quiet" style="margin:0 0 6px;font-size:14px;color:#55606b"><a href="{link}" style="color:inherit">{label}</a></p>\n'
)
_STOP = {"en": "End these messages", "es": "No recibir más estos mensajes"}
# Where a link stands whose secret part is not kept; as long as what takes its place when the message goes out.
TO_BE_CONFIRMED = "the-secret-part-of-the-link"
CONFIRM_STEP = "confirm"
_ABOUT_AN_ACCOUNT = "account "
_END_OF_PAGE = "</div>\n</div>\n</body>"


def _mac(house: House, purpose: str, key: str) -> str:
    # In one case: mail servers on the way may change that of an address.
    made = hmac.new(house.signing_key, f"{purpose}|{key}".encode(), hashlib.sha256).digest()
    return base64.b32encode(made).decode().lower()[:_MAC_CHARACTERS]


def _token(house: House, purpose: str, key: str) -> str:
    return f"{key}.{_mac(house, purpose, key)}"


def key_of_token(house: House, purpose: str, token: str) -> str | None:
    """The key of the message that a token names, or None where it is not exactly right."""
    found = _TOKEN.fullmatch(token)
    return found[1] if found and hmac.compare_digest(_mac(house, purpose, found[1]), found[2]) else None


def act_url(house: House, key: str) -> str:
    """The page on which whoever got a message acts on it, without signing in."""
    return f"{house.settings.public_url}/act/{_token(house, 'act', key)}"


def confirm_token(house: House, key: str) -> str:
    """The secret part of the link that confirms a subscription. It is derived for its message; only its digest is kept."""
    made = hmac.new(house.signing_key, f"confirm|{key}".encode(), hashlib.sha256).digest()
    return base64.b32encode(made).decode().lower()[: len(TO_BE_CONFIRMED)]


def account_step(purpose: str) -> str:
    """The step of a letter about an account: a purpose of a Credential, or a notice."""
    return f"{_ABOUT_AN_ACCOUNT}{purpose}"


def purpose_of_step(step: str) -> str:
    """And back."""
    return step.removeprefix(_ABOUT_AN_ACCOUNT)


def account_token(house: House, purpose: str, key: str) -> str:
    """The token of a link that a letter about an account carries. It is derived for its message; only its digest is kept."""
    made = hmac.new(house.signing_key, f"account|{purpose}|{key}".encode(), hashlib.sha256).digest()
    return f"sc_{purpose}_{base64.urlsafe_b64encode(made).decode().rstrip('=')}"


def letter_of(house: House, message: MessageRow) -> tuple[str, str]:
    """The text and the HTML that a message goes out with: those promised, and in a mail the link to act on its duty or to get no more."""
    if message.step == CONFIRM_STEP and message.subscription_id is not None:
        token = confirm_token(house, message.id)
        return message.text.replace(TO_BE_CONFIRMED, token), message.html.replace(TO_BE_CONFIRMED, token)
    if message.account_id is not None:
        return message.text.replace(TO_BE_CONFIRMED, account_token(house, purpose_of_step(message.step), message.id)), message.html
    if message.channel != "email" or (message.obligation_id is None and message.subscription_id is None):
        return message.text, message.html
    if message.subscription_id is not None:
        link, label = unsubscribe_url(house, message), _STOP.get(message.language, _STOP["en"])
    else:
        link, label = act_url(house, message.id), _ACT.get(message.language, _ACT["en"])
    before, end, after = message.html.rpartition(_END_OF_PAGE)
    html = f"{before}{_ACT_HTML.format(link=link, label=label)}{end}{after}" if end else message.html
    return f"{message.text.rstrip()}\n\n{label}: {link}\n", html


def unsubscribe_url(house: House, message: MessageRow) -> str:
    """Where the subscription of a message is ended with one press; nothing for a message of a duty."""
    return f"{house.settings.public_url}/unsubscribe/{_token(house, 'unsubscribe', message.id)}" if message.subscription_id else ""


def bounce_address(house: House, key: str) -> str:
    """The return path of a mail, by which a bounce names its message; nothing where bounces have no way to us."""
    settings = house.settings
    if not settings.mail_hook_secret.get_secret_value():
        return ""
    local, _, domain = (settings.bounce_address or f"bounce@{settings.mail_from.strip('> ').rpartition('@')[2]}").rpartition("@")
    return f"{local}+{_token(house, 'bounce', key)}@{domain}" if domain else ""


def key_of_bounce(house: House, addresses: str) -> str | None:
    """The key of the message whose return path stands among these addresses, or None; a forged one is none."""
    for key, mac in _BOUNCE.findall(addresses):
        if hmac.compare_digest(_mac(house, "bounce", key.lower()), mac.lower()):
            return str(key.lower())
    return None
