"""Errors that a caller can act on: each says what happened, where, and what would be right."""

from __future__ import annotations

from collections.abc import Sequence


class SpillclockError(Exception):
    """Something a caller asked for cannot be done. `status` is the HTTP status, `title` its short name.

    `retry_after`: in how many seconds it can be, where that is known.
    """

    status = 400
    title = "Bad request"
    retry_after: int | None = None

    def __init__(self, message: str, faults: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.faults = list(faults)


class BadInput(SpillclockError):
    """The input is malformed; `faults` names each fault with what would be right."""

    status = 422
    title = "The input has faults"


class NotKnown(SpillclockError):
    """There is no such thing, or it is not for this caller to know."""

    status = 404
    title = "Not found"


class NotSignedIn(SpillclockError):
    """The call needs a staff token, or the one given is not valid."""

    status = 401
    title = "Sign in first"


class NotAllowed(SpillclockError):
    """The caller is known, but may not do this."""

    status = 403
    title = "Not allowed"


class Conflict(SpillclockError):
    """The request contradicts what is already recorded."""

    status = 409
    title = "Conflict"
