"""A mail to the mailbox for reports becomes a report: its words, its pictures, and its sender as the contact. Whatever is odd is kept.

Its sender gets what every reporter with an address gets, a few an hour at most: the link to follow it. What a machine sent (out of office,
lists, bounces, our own mail) and what answers a message of ours is no report, so that nothing goes round in circles: it is kept for staff,
as other mail that comes in.
"""

from __future__ import annotations

import hashlib
import html
import io
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage, Message
from email.policy import default as default_policy
from email.utils import parseaddr
from pathlib import Path

from sqlalchemy import func, select
from sqlmodel import col

from service import bounces, turnstile
from service.events import FilesLeftOut
from service.held_reports import UNPROVEN
from service.incoming_bodies import MAX_MAIL_BYTES, READ_OF_MAIL_BYTES, CannotKeep, Upload
from service.intake import MAILED, Arrival, take_in
from service.kept_files import PHOTO, Belonging, take_in_files
from service.spills import clean
from service.tables import MessageRow
from service.transaction import House, reading, transaction

log = logging.getLogger(__name__)

LONGEST_WORDS = 20_000
MOST_PICTURES = 40
_MOST_PARTS = 300
# A line in which people say where it is, in a mail or in a form that mails.
_WHERE = re.compile(
    r"^\W*(?:address|location|where|place|direcci[oó]n|lugar|d[oó]nde)\s*[:=]\s*(\S.{2,300})$", re.IGNORECASE | re.MULTILINE
)
_KEY = re.compile(r"<([0-9a-f]{32})@")
_TAGS = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.IGNORECASE | re.DOTALL)
_BREAKS = re.compile(r"<(?:br|/p|/div|/tr|/li)\b[^>]*>", re.IGNORECASE)


@dataclass
class Mailed:
    """A mail as far as it could be read."""

    sender: str = ""
    name: str = ""
    subject: str = ""
    words: str = ""
    identity: str = ""
    is_automatic: bool = False
    # What of the messages that it answers may be a key of ours.
    answers: tuple[str, ...] = ()
    pictures: list[Upload] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


async def take_report(house: House, raw: bytes) -> str:
    """Take a mail in as a report. Returns what was done: its reference, or how a mail that is no report was kept; `repeated`."""
    mailed = read_mailed(raw)
    if mailed.is_automatic or await _answers_us(house, mailed):
        return await bounces.take_mail(house, raw[:READ_OF_MAIL_BYTES])
    standing = await turnstile.pass_through(house, turnstile.REPORT, mailed.sender or "unknown")
    doubts = [UNPROVEN] if standing.needs_proof or standing.retry_after else []
    taken = await take_in(house, Arrival(_body(mailed), "mail", "mail", key=mailed.identity, doubts=doubts))
    if taken.replayed:
        return "repeated"
    if mailed.pictures or mailed.left_out:
        await _keep(house, taken.reference, mailed)
    return taken.reference


async def _answers_us(house: House, mailed: Mailed) -> bool:
    """Whether it answers a message of ours, or is from the very address that ours are from."""
    if mailed.sender and mailed.sender.lower() == parseaddr(house.settings.mail_from)[1].lower():
        return True
    if not mailed.answers:
        return False
    async with reading(house) as tx:
        query = select(func.count()).select_from(MessageRow).where(col(MessageRow.id).in_(mailed.answers))
        return bool(await tx.session.scalar(query))


def _body(mailed: Mailed) -> dict[str, object]:
    words = "\n\n".join(filter(None, (mailed.subject, mailed.words)))[:LONGEST_WORDS]
    where = _WHERE.search(mailed.words) or _WHERE.search(mailed.subject)
    body: dict[str, object] = {"description": words, MAILED: {"subject": mailed.subject, "not_kept": mailed.left_out}}
    if where:
        body["location"] = {"address": where[1].strip()}
    if mailed.sender:
        body["contact"] = {"email": mailed.sender, **({"name": mailed.name} if mailed.name else {}), "privacy": "confidential"}
    return body


async def _keep(house: House, reference: str, mailed: Mailed) -> None:
    """Keep the pictures; which were not kept, and why, is on record. The report stands whatever happens."""
    left_out = [(name, "kind") for name in mailed.left_out]
    actor = f"reporter of {reference}"
    try:
        _, refused = await take_in_files(house, mailed.pictures, Belonging(reference, PHOTO, actor, "the reporter"))
        left_out += [(error.name, error.why) for error in refused]
    except CannotKeep:
        log.exception("the pictures of %s could not be kept", reference)
        left_out += [(upload.name, "disk") for upload in mailed.pictures]
    if left_out:
        async with transaction(house, actor) as tx:
            await tx.record(await tx.spill(reference), FilesLeftOut(files=left_out))


# -- reading


def read_mailed(raw: bytes) -> Mailed:
    """A mail, read as far as it can be. What no program can take apart is words as it came."""
    cut = len(raw) > MAX_MAIL_BYTES
    raw = raw[:MAX_MAIL_BYTES]
    identity = hashlib.sha256(raw).hexdigest()
    try:
        mailed = _read(message_from_bytes(raw, policy=default_policy), identity)
    except (ValueError, LookupError, TypeError, AttributeError, IndexError, KeyError, RecursionError) as error:
        log.warning("a mail could not be taken apart (%s); it is kept as it came", type(error).__name__)
        mailed = Mailed(words=clean(raw[:LONGEST_WORDS].decode("utf-8", "replace")), identity=identity)
        mailed.left_out.append("the mail could not be taken apart")
    if cut:
        mailed.left_out.append(f"what came after {MAX_MAIL_BYTES // 1_000_000} MB")
    return mailed


def _read(mail: Message, identity: str) -> Mailed:
    name, sender = parseaddr(_header(mail, "From"))
    own = _header(mail, "Message-ID").strip()
    mailed = Mailed(
        sender=clean(sender)[:320], name=clean(name)[:200], subject=clean(_header(mail, "Subject"))[:300],
        identity=f"mail:{own}"[:400] if own else identity, is_automatic=_is_automatic(mail),
        answers=tuple(_KEY.findall(f"{_header(mail, 'In-Reply-To')} {_header(mail, 'References')}".lower())[:20]),
    )  # fmt: skip
    texts: dict[str, str] = {}
    for part in _parts(mail):
        kind, file = part.get_content_type(), clean(part.get_filename() or "")[:200]
        is_attached = part.get_content_disposition() == "attachment" or (file and not kind.startswith("text/"))
        if kind.startswith("text/") and not is_attached:
            texts[kind] = f"{texts[kind]}\n{_text(part)}" if kind in texts else _text(part)
        elif kind.startswith("image/") and len(mailed.pictures) < MOST_PICTURES:
            mailed.pictures.append(Upload(file or "picture", io.BytesIO(_bytes(part))))
        else:
            mailed.left_out.append(file or kind)
    words = texts.get("text/plain") or _unmarked(texts.get("text/html", "")) or "\n".join(texts.values())
    mailed.words = clean(words.replace("\r\n", "\n"))[:LONGEST_WORDS]
    mailed.left_out = mailed.left_out[:MOST_PICTURES]
    return mailed


def _parts(mail: Message) -> Iterator[Message]:
    """The leaves of a mail, so many at most; what another mail that is attached holds, too."""
    for number, part in enumerate(mail.walk()):
        if number >= _MOST_PARTS:
            return
        if not part.is_multipart():
            yield part


def _is_automatic(mail: Message) -> bool:
    """Whether a machine sent it (RFC 3834): out of office, a list, a bounce, or we ourselves."""
    submitted = _header(mail, "Auto-Submitted").strip().lower()
    precedence = _header(mail, "Precedence").strip().lower()
    if submitted not in ("", "no") or precedence in ("bulk", "junk", "list", "auto_reply"):
        return True
    if any(mail.get(name) is not None for name in ("List-Id", "X-Autoreply", "X-Autorespond")):
        return True
    is_bounce = mail.get_content_type() == "multipart/report" or _header(mail, "Return-Path").strip() == "<>"
    return is_bounce or bounces.report_of(mail) is not None


def _header(mail: Message, name: str) -> str:
    return str(mail.get(name) or "")


def _text(part: Message) -> str:
    """The words of a part; of an encoding that nobody knows, as far as they are plain."""
    if isinstance(part, EmailMessage):
        try:
            content = part.get_content()
            if isinstance(content, str):
                return content
        except (LookupError, ValueError):
            log.info("a part of a mail is in an encoding that is not known; it is read as UTF-8")
    return _bytes(part).decode("utf-8", "replace")


def _bytes(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _unmarked(page: str) -> str:
    """The words of a page."""
    return html.unescape(_TAGS.sub(" ", _BREAKS.sub("\n", page)))


# -- a mailbox on the disk


async def take_from_maildir(house: House, folder: Path) -> int:
    """Take in what a mail server laid into a Maildir, and mark each as seen. Returns how many. One that fails stays where it is."""
    taken = 0
    for path in sorted(one for one in (folder / "new").glob("*") if one.is_file()):
        with path.open("rb") as file:
            raw = file.read(MAX_MAIL_BYTES + 1)
        done = await take_report(house, raw)
        # Moved once it is committed: a process that stops in between finds it again, and its own id keeps it from being taken twice.
        (folder / "cur").mkdir(exist_ok=True)
        path.rename(folder / "cur" / f"{path.name.partition(':')[0]}:2,S")
        log.info("a mail of the mailbox for reports was taken: %s", done if done.startswith("SP-") else "no report")
        taken += 1
    return taken
