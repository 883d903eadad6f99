"""The short codes that text messages are answered by: OK 4F7K."""

from __future__ import annotations

import re
import secrets

from sqlalchemy import or_, select
from sqlmodel import col

from service.tables import MessageRow, Obligation
from service.transaction import Transaction

# No sign looks like another (0 O Q, 1 I L, 5 S, 8 B, 2 Z, U V), and a digit before each letter keeps every code from being a word.
_DIGITS, _LETTERS = "234679", "CDFGHJKMNPRTWXY"
_CODE = re.compile(rf"[{_DIGITS}][{_LETTERS}][{_DIGITS}][{_LETTERS}]")
_OPEN = ("running", "overdue")


def is_code(word: str) -> bool:
    """Whether a word has the form of a code, in capitals."""
    return _CODE.fullmatch(word) is not None


def made_up() -> str:
    """Some code."""
    return "".join(secrets.choice(signs) for signs in (_DIGITS, _LETTERS, _DIGITS, _LETTERS))


async def new_code(tx: Transaction, channel: str, address: str) -> str:
    """A code for a message to an address, unlike that of any other still open to it; nothing where a channel cannot be answered by one."""
    if channel != "sms":
        return ""
    taken: set[str] | None = tx.memo.get(("codes", address))
    if taken is None:
        still_open = or_(col(MessageRow.obligation_id).is_(None), col(Obligation.state).in_(_OPEN))
        query = (
            select(col(MessageRow.code))
            .outerjoin(Obligation, col(Obligation.id) == col(MessageRow.obligation_id))
            .where(col(MessageRow.address) == address, col(MessageRow.code) != "", still_open)
        )
        taken = tx.memo[("codes", address)] = set((await tx.session.execute(query)).scalars())
    code = made_up()
    while code in taken:
        code = made_up()
    taken.add(code)
    return code
