"""The short codes that text messages are answered by: OK 4F7K."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass

from sqlalchemy import bindparam, or_, select
from sqlmodel import col

from service.tables import MessageRow, Obligation
from service.transaction import House, Transaction

# No sign looks like another (0 O Q, 1 I L, 5 S, 8 B, 2 Z, U V), and a digit before each letter keeps every code from being a word.
_DIGITS, _LETTERS = "234679", "CDFGHJKMNPRTWXY"
_SIGNS = (_DIGITS, _LETTERS, _DIGITS, _LETTERS)
_CODE = re.compile("".join(f"[{signs}]" for signs in _SIGNS))
_OPEN = ("running", "overdue")
_STILL_OPEN = or_(col(MessageRow.obligation_id).is_(None), col(Obligation.state).in_(_OPEN))
_GIVEN = (
    select(col(MessageRow.code), _STILL_OPEN)
    .outerjoin(Obligation, col(Obligation.id) == col(MessageRow.obligation_id))
    .where(col(MessageRow.address) == bindparam("address"), col(MessageRow.code) != "")
)


@dataclass
class _Given:
    """The codes given to an address: those still open, and how many there ever were."""

    still_open: set[str]
    number: int


def is_code(word: str) -> bool:
    """Whether a word has the form of a code, in capitals."""
    return _CODE.fullmatch(word) is not None


def code_of(house: House, address: str, number: int) -> str:
    """The code of a number for an address: nobody can guess it, and a rehearsal gives the same each time."""
    made = int.from_bytes(hmac.new(house.signing_key, f"code|{address}|{number}".encode(), hashlib.sha256).digest()[:8])
    code = ""
    for signs in _SIGNS:
        made, at = divmod(made, len(signs))
        code += signs[at]
    return code


async def new_code(tx: Transaction, channel: str, address: str) -> str:
    """A code for a message to an address, unlike that of any other still open to it; nothing where a channel cannot be answered by one."""
    if channel != "sms":
        return ""
    given = await _given(tx, address)
    code = ""
    while not code or code in given.still_open:
        code = code_of(tx.house, address, given.number)
        given.number += 1
    given.still_open.add(code)
    return code


async def _given(tx: Transaction, address: str) -> _Given:
    found: _Given | None = tx.memo.get(("codes", address))
    if found is None:
        codes = (await tx.ask(_GIVEN, address=address)).all()
        found = tx.memo[("codes", address)] = _Given({code for code, is_open in codes if is_open}, len(codes))
    return found
