"""Checkpoints: how far each chain of the record has come, signed, and sent away from this machine.

Whoever holds the database can rewrite a chain from any record to its end, and it verifies. It then no longer agrees with a checkpoint that
somebody else has kept. Each is a line of JSON whose text is signed by Ed25519; docs/proof.md says how it is checked without us.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import logging
import os
import uuid
from asyncio import to_thread
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from email import message_from_string
from email.message import EmailMessage
from email.policy import default as as_it_is
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from sqlalchemy import func, select
from sqlmodel import col

from deadlines import as_z
from service.chain import NOTHING_BEFORE, canonical, digest_of
from service.outbox import PATIENCE
from service.tables import Chain, Checkpoint, MessageRow
from service.transaction import House, Transaction, reading, transaction

log = logging.getLogger(__name__)

# After what is owed to people, and before what is for subscribers.
_RANK = 1


@dataclass(frozen=True, slots=True)
class Signed:
    """A checkpoint as somebody kept it: its number, when it was made (UTC), the key it was signed by (hex), whether the signature is right,
    and the hash that each chain had at its end, by chain and number."""

    number: int
    at: datetime
    key: str
    is_genuine: bool
    ends: Mapping[tuple[str, int], str]


def public_key(house: House) -> str:
    """The key that checkpoints of this deployment are checked by, in hex. It changes with the deployment's secret key."""
    return _key(house).public_key().public_bytes_raw().hex()


def _key(house: House) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(hmac.digest(house.signing_key, b"checkpoints of the record", hashlib.sha256))


async def make_due(house: House) -> Checkpoint | None:
    """Make the checkpoint that is due, promise it to whom the settings say, and write those that a file lacks.

    Nothing is due where the settings name nobody, before the set hours are over, or where no chain has grown since the one before.
    Returns what was made. Raises OSError where a file cannot be written; it is written the next time.
    """
    if not house.settings.checkpoints_go_to:
        return None
    async with transaction(house, "spillclock") as tx:
        made = await make(tx, after=timedelta(hours=house.settings.checkpoint_hours))
    await write_files(house)
    return made


async def make(tx: Transaction, after: timedelta | None = None) -> Checkpoint | None:
    """Make a checkpoint, and promise it to whom the settings say; `after` so long since the one before, None at once.

    None where it is too early, or no chain has grown.
    """
    await tx.alone_with("checkpoints")
    last = await latest(tx)
    if last is not None and after is not None and tx.now < last.at + after:
        return None
    ends = (await tx.session.execute(select(Chain).order_by(col(Chain.name)))).scalars().all()
    chains = [{"chain": end.name, "number": end.number, "hash": end.hash} for end in ends]
    before: dict[str, Any] = json.loads(json.loads(last.signed)["checkpoint"]) if last else {"number": 0, "chains": []}
    if chains == before["chains"]:
        return None
    text = canonical(
        {
            "spillclock": tx.house.settings.public_url, "number": before["number"] + 1, "at": as_z(tx.now), "chains": chains,
            "previous": digest_of(json.loads(last.signed)["checkpoint"]) if last else NOTHING_BEFORE,
        }
    )  # fmt: skip
    signature = _key(tx.house).sign(text.encode()).hex()
    line = json.dumps({"checkpoint": text, "key": public_key(tx.house), "signature": signature}, ensure_ascii=False)
    made = Checkpoint(number=before["number"] + 1, at=tx.now, signed=line)
    tx.session.add(made)
    tx.session.add_all(
        _promised(tx, made, channel, address) for channel, address in tx.house.settings.checkpoints_go_to if channel != "file"
    )
    tx.wakes_worker = True
    return made


async def latest(tx: Transaction) -> Checkpoint | None:
    """The checkpoint that was made last."""
    newest = select(Checkpoint).order_by(col(Checkpoint.number).desc()).limit(1)
    found: Checkpoint | None = (await tx.session.execute(newest)).scalar_one_or_none()
    return found


def _promised(tx: Transaction, made: Checkpoint, channel: str, address: str) -> MessageRow:
    name = f"Checkpoint {made.number} of the record of {tx.house.settings.public_url}"
    words = [
        f"This is checkpoint {made.number} of the record of spills of {tx.house.settings.public_url}, as of {made.at:%Y-%m-%d %H:%M} UTC.",
        "Keep it where nobody who runs that machine can reach it: what was recorded until then cannot be changed and still fit this line.",
        "To compare, save this message as a file and run: spillclock audit verify --checkpoint FILE",
    ]
    return MessageRow(
        id=uuid.uuid4().hex, once=f"checkpoint:{made.number}|{channel}|{address}", climb=f"checkpoint:{made.number}", person=address[:200],
        role="auditor", channel=channel, address=address, subject=name, text="\n\n".join([*words, made.signed]), step="checkpoint",
        reason="a checkpoint of the record", rank=_RANK, sort_at=tx.now, promised_at=tx.now, queued=True, next_at=tx.now,
        give_up_at=tx.now + PATIENCE,
    )  # fmt: skip


# -- files


async def write_files(house: House) -> None:
    """Add to each file that the settings name those checkpoints that it lacks. Raises OSError where one cannot be written."""
    paths = [Path(address) for channel, address in house.settings.checkpoints_go_to if channel == "file"]
    if not paths:
        return
    async with reading(house) as tx:
        lines = {
            one.number: one.signed for one in (await tx.session.execute(select(Checkpoint).order_by(col(Checkpoint.number)))).scalars()
        }
    for path in paths:
        await to_thread(_add_lacking, path, lines)


def _add_lacking(path: Path, lines: Mapping[int, str]) -> None:
    with path.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # another worker may be at it
        file.seek(0)
        written = file.read()
        there = {one.number for one in read(written)}
        lacking = "".join(f"{line}\n" for number, line in lines.items() if number not in there)
        if lacking:
            # A line that a crash cut off is left as it is, and ended.
            file.write(("\n" if written and not written.endswith("\n") else "") + lacking)
            file.flush()
            os.fsync(file.fileno())


# -- read again


def read(text: str) -> list[Signed]:
    """The checkpoints in a text: a file of lines, a mail as it was saved, or its words. Whatever else stands there is passed over."""
    found = [one for line in text.splitlines() if (one := _signed(line))]
    if found or "\n\n" not in text:
        return found
    mail = message_from_string(text, policy=as_it_is)
    body = mail.get_body(("plain",)) if isinstance(mail, EmailMessage) else None
    words = str(body.get_content()) if body is not None else ""
    return [one for line in words.splitlines() if (one := _signed(line))]


def _signed(line: str) -> Signed | None:
    begins = line.find('{"checkpoint"')
    if begins < 0:
        return None
    try:
        envelope, _ = json.JSONDecoder().raw_decode(line[begins:])
        said = json.loads(envelope["checkpoint"])
        ends = {(str(one["chain"]), int(one["number"])): str(one["hash"]) for one in said["chains"]}
        number, at = int(said["number"]), datetime.fromisoformat(said["at"])
        key, genuine = str(envelope["key"]), _is_genuine(envelope)
    except (ValueError, TypeError, KeyError):  # no line of ours, or one that was cut off
        return None
    return Signed(number, at, key, genuine, ends)


def _is_genuine(envelope: Mapping[str, Any]) -> bool:
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(envelope["key"]))
    try:
        key.verify(bytes.fromhex(envelope["signature"]), str(envelope["checkpoint"]).encode())
    except InvalidSignature:
        return False
    return True


# -- for the operator


async def findings(house: House) -> list[str]:
    """What `doctor` says of checkpoints, a line each."""
    to = house.settings.checkpoints_go_to
    if not to:
        cure = "set SPILLCLOCK_CHECKPOINT_TO to an address, a webhook or a file elsewhere"
        return [f"note   no checkpoint of the record leaves this machine: a chain that was rewritten as a whole would not show; {cure}"]
    async with reading(house) as tx:
        last = await latest(tx)
        lines = await _undelivered(tx)
    lines += [line for channel, address in to if channel == "file" and (line := _of_file(Path(address), last))]
    every = f"every {house.settings.checkpoint_hours:g} hours while a worker runs, to {', '.join(address for _, address in to)}"
    told = f"the last is number {last.number} of {last.at:%Y-%m-%d %H:%M} UTC" if last else "none was made yet"
    return [*lines, f"ok     checkpoints of the record, {every}: {told}; their key is {public_key(house)}"]


async def _undelivered(tx: Transaction) -> list[str]:
    ended = (col(MessageRow.step) == "checkpoint", col(MessageRow.state).in_(("refused", "gave_up")))
    latest = select(col(MessageRow.address), func.max(col(MessageRow.promised_at))).where(*ended).group_by(col(MessageRow.address))
    lines = []
    for address, at in await tx.session.execute(latest):
        later = (col(MessageRow.step) == "checkpoint", col(MessageRow.address) == address, col(MessageRow.promised_at) > at)
        if not await tx.session.scalar(select(func.count()).select_from(MessageRow).where(*later, col(MessageRow.state) == "accepted")):
            lines.append(f"WRONG  the checkpoint of {at:%Y-%m-%d %H:%M} UTC did not get to {address}; correct SPILLCLOCK_CHECKPOINT_TO")
    return lines


def _of_file(path: Path, last: Checkpoint | None) -> str:
    try:
        there = {one.number for one in read(path.read_text(encoding="utf-8"))}
    except FileNotFoundError:
        there = set()
    except (OSError, ValueError) as error:
        return f"WRONG  checkpoints cannot be read from {path}: {error}"
    lacks = last is not None and last.number not in there
    return f"WRONG  checkpoint {last.number if last else 0} is not in {path}; can it be written by this user?" if lacks else ""
