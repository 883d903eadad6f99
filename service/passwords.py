"""Passwords: which ones are good enough, and their Argon2 hashes, made and compared beside the event loop."""

from __future__ import annotations

import asyncio
import unicodedata
from dataclasses import dataclass

from pwdlib import PasswordHash
from pwdlib.exceptions import UnknownHashError
from pwdlib.hashers.argon2 import Argon2Hasher

# NIST SP 800-63B-4, 3.1.1.2: at least 15 characters where a password may be all that is asked for, no rules of composition, no expiry.
SHORTEST, LONGEST = 15, 200
_FEWEST_DIFFERENT = 6
_ROWS = ("abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm", "01234567890123456789", "1qaz2wsx3edc4rfv5tgb6yhn7ujm")
# What people in this trade would try first; the shortest length keeps nearly all of the usual lists out.
_TOO_PLAIN = ("spillclock", "password", "administrator", "letmein", "welcome", "sewer", "changeme", "correcthorsebatterystaple")


@dataclass(frozen=True, slots=True)
class Match:
    """Whether a password was the right one, and the hash to keep instead where today's parameters are stronger than those it has."""

    is_right: bool
    better: str | None = None


class Passwords:
    """Argon2id with the parameters of pwdlib's recommendation: some 125 ms and 64 MiB each, so at most two at once, in threads."""

    def __init__(self, *, rounds: int = 3, memory_kib: int = 65_536, lanes: int = 4, at_once: int = 2) -> None:
        self._hash = PasswordHash([Argon2Hasher(time_cost=rounds, memory_cost=memory_kib, parallelism=lanes)])
        self._turns = asyncio.Semaphore(at_once)
        self._nobodys = ""

    async def hashed(self, password: str) -> str:
        """The hash to keep of a password."""
        async with self._turns:
            return await asyncio.to_thread(self._hash.hash, as_typed_anywhere(password))

    async def match(self, password: str, kept: str) -> Match:
        """Compare a password with a hash. Without a hash (no such account, or no password) it takes as long and is never right."""
        given = as_typed_anywhere(password[: LONGEST + 1])
        async with self._turns:
            if not self._nobodys:  # made at the first comparison whosever it is, so that its cost tells nothing
                self._nobodys = await asyncio.to_thread(self._hash.hash, "nobody has this password")
            try:
                right, better = await asyncio.to_thread(self._hash.verify_and_update, given, kept or self._nobodys)
            except UnknownHashError:
                right, better = await asyncio.to_thread(self._hash.verify_and_update, given, self._nobodys)
                kept = ""
        return Match(right and bool(kept) and len(password) <= LONGEST, better if kept else None)


def as_typed_anywhere(password: str) -> str:
    """The same characters however a keyboard composed them. What no text can hold is replaced."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace").decode()


def faults_of(password: str, email: str) -> list[str]:
    """What keeps a password from being good enough, each with what would be right; empty where it is."""
    plain = as_typed_anywhere(password).casefold()
    if len(password) < SHORTEST:
        return [f"Password: it has {len(password)} characters; right would be: {SHORTEST} or more, such as four or five words"]
    if len(password) > LONGEST:
        return [f"Password: it is longer than {LONGEST} characters; right would be: a shorter one"]
    rest = plain
    for word in (*_TOO_PLAIN, *filter(None, (email.casefold(), email.casefold().partition("@")[0]))):
        rest = rest.replace(word, "") if len(word) > 2 else rest
    if len(set(rest)) < _FEWEST_DIFFERENT or any(plain in row + row or plain in row[::-1] * 2 for row in _ROWS):
        return ["Password: it is easy to guess; right would be: several words that do not belong together, and not your address"]
    return []
