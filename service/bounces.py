"""Inbound mail: bounces that name their message by the address they come to, and everything else, which is kept for staff to read."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage, Message
from email.policy import default as default_policy
from email.utils import parseaddr

from sqlalchemy import select
from sqlmodel import col

from service.fallback import suppress_bounced
from service.links import key_of_bounce
from service.receipts import Heard, message_of, note
from service.replies import keep, latest_to
from service.spills import clean
from service.tables import MessageRow, Reply
from service.transaction import House, Transaction, transaction

log = logging.getLogger(__name__)

# The headers in which mail servers say where a mail was to go.
_RECIPIENTS = ("To", "Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To", "X-Delivered-To", "Original-Recipient")
_LONGEST_TEXT = 2000
_MOST_ATTACHED = 5
# A bounce in words alone, as of qmail and old Exim: from the mail system, with a status of RFC 3463 or a refusal of RFC 5321 in its text.
_MAIL_SYSTEM = re.compile(r"mailer-daemon|postmaster|mail ?delivery|microsoftexchange", re.IGNORECASE)
_STATUS = re.compile(r"\b([245])\.(\d{1,3})\.(\d{1,3})\b")
_REPLY_CODE = re.compile(r"\b([45])\d\d[ -]")
_GAVE_UP = re.compile(r"permanent|fatal|could not be delivered|undeliverable|failed|giving up", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Report:
    """What a mail server reports of one mail: failed, delayed or delivered, its status (5.1.1), and its words."""

    action: str
    status: str
    words: str

    @property
    def heard(self) -> Heard | None:
        """What that says of the message; None where it says nothing."""
        said = f"{self.action} {self.status}: {self.words}"[:1000]
        match self.action:
            case "failed":
                return Heard("bounced" if self.status.startswith("5") else "undelivered", "dsn", said)
            case "delayed":
                return Heard("delayed", "dsn", said)
            case "delivered":
                return Heard("delivered", "dsn", said)
        return None


async def take_mail(house: House, raw: bytes, recipient: str = "") -> str:
    """Take in a mail as it came. `recipient` is where it was delivered, where that is known. Returns what was done, in a word.

    bounce, forged, reply, repeated. Taking the same mail twice changes nothing.
    """
    mail = message_from_bytes(raw, policy=default_policy)
    addresses = " ".join([recipient, *(_header(mail, name, whole=True) for name in _RECIPIENTS)])
    key = key_of_bounce(house, addresses)
    report = report_of(mail)
    async with transaction(house, "mail") as tx:
        message = await message_of(tx, key) if key else None
        if report is not None:
            if message is None or message.channel != "email":
                log.warning("a bounce that names no message of ours was left alone")
                return "forged"
            return await _bounced(tx, message, report)
        return await _kept(tx, mail, raw, message)


async def _bounced(tx: Transaction, message: MessageRow, report: Report) -> str:
    heard = report.heard
    if heard is None:
        return "bounce"
    if report.action == "failed":  # before what follows, which must not choose a dead address
        await suppress_bounced(tx, message, f"{report.status}: {report.words}"[:300])
    return "bounce" if await note(tx, message, heard) else "repeated"


def report_of(mail: Message) -> Report | None:
    """What a mail reports of another; None for a mail that is no bounce, such as an out-of-office answer."""
    if mail.get_content_type() == "multipart/report" and str(mail.get_param("report-type") or "").lower() == "delivery-status":
        for part in mail.walk():
            if part.get_content_type() in ("message/delivery-status", "message/global-delivery-status"):
                return _worst(list(_reports(part)))
    if not _MAIL_SYSTEM.search(_header(mail, "From")) and not _header(mail, "X-Failed-Recipients"):
        return None
    return _in_words(mail)


def _reports(part: Message) -> Iterator[Report]:
    """The reports of a delivery status, one for each recipient."""
    blocks = part.get_payload()
    for block in blocks if isinstance(blocks, list) else []:
        if not isinstance(block, Message) or not block.get("Action"):
            continue
        action = str(block["Action"]).strip().lower()
        words = clean(re.sub(r"\s+", " ", str(block.get("Diagnostic-Code", ""))))
        found = _STATUS.search(str(block.get("Status", ""))) or _STATUS.search(words)
        # The words may know more than the status: many a server writes 5.0.0 and means 5.1.1.
        if found and found[0].endswith(".0.0") and (better := _STATUS.search(words)):
            found = better
        action = {"relayed": "delivered", "expanded": "delivered"}.get(action, action)
        yield Report(action, found[0] if found else "", words or "no reason given")


def _worst(reports: list[Report]) -> Report | None:
    """We send to one recipient; where a list reports several, what failed counts first."""
    ranks = {"failed": 0, "delayed": 1, "delivered": 2}
    return min(reports, key=lambda report: ranks.get(report.action, 3), default=None)


def _in_words(mail: Message) -> Report | None:
    """A bounce without a part for machines; None where its text gives no status."""
    text = _text(mail)
    status, code = _STATUS.search(text), _REPLY_CODE.search(text)
    if status is None and code is None:
        return None
    digit = status[1] if status else code[1] if code else "4"
    words = next((line.strip() for line in text.splitlines() if _STATUS.search(line) or _REPLY_CODE.search(line)), "")
    final = _GAVE_UP.search(text) is not None or digit == "5"
    return Report("failed" if final else "delayed", status[0] if status else f"{digit}.0.0", clean(words)[:500])


def _header(mail: Message, name: str, *, whole: bool = False) -> str:
    values = mail.get_all(name, [])
    return " ".join(str(value) for value in (values if whole else values[:1]))


def _text(mail: Message) -> str:
    """The plain words of a mail."""
    part = mail.get_body(("plain", "html")) if isinstance(mail, EmailMessage) else None
    if not isinstance(part, EmailMessage):
        return ""
    try:
        content = part.get_content()
    except (LookupError, ValueError):  # an encoding that nobody knows
        return ""
    text = content if isinstance(content, str) else ""
    return re.sub(r"<[^>]+>", " ", text) if part.get_content_type() == "text/html" else text


def _attached(mail: Message) -> list[str]:
    """The names of what is attached to a mail. None of it is kept, and staff should know that there was something."""
    parts = mail.walk() if mail.is_multipart() else ()
    names = [clean(part.get_filename("") or "")[:80] for part in parts if not part.is_multipart()]
    found = [name for name in names if name]
    more = len(found) - _MOST_ATTACHED
    return found if more <= 0 else [*found[:_MOST_ATTACHED], f"and {more} more"]


async def _kept(tx: Transaction, mail: Message, raw: bytes, message: MessageRow | None) -> str:
    """Keep a mail that is no bounce, with the message it answers: the one it came to, else the latest to its sender."""
    own = _header(mail, "Message-ID").strip() or hashlib.sha256(raw).hexdigest()
    once = f"mail:{hashlib.sha256(own.encode('utf-8', 'replace')).hexdigest()}"
    if (await tx.session.execute(select(col(Reply.id)).where(col(Reply.once) == once))).first() is not None:
        return "repeated"
    sender = clean(parseaddr(_header(mail, "From"))[1])[:320]
    text = clean(f"{_header(mail, 'Subject')}\n\n{_text(mail)}")[:_LONGEST_TEXT]
    if attached := _attached(mail):
        text += f"\n\nNot kept: {', '.join(attached)}"
    reply = Reply(once=once, channel="email", sender=sender or "unknown", text=text, received_at=tx.now, meaning="unknown")
    await keep(tx, reply, message or (await latest_to(tx, sender) if sender else None))
    return "reply"
