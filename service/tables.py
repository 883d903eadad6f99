"""Every table. `event` is the truth and only grows; the others are what it comes to, kept for looking up and for the worker."""

# No `from __future__ import annotations` here: SQLModel reads the annotations at run time.
from datetime import date, datetime
from typing import Any

from sqlalchemy import JSON, Column, Index, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel

SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


def _json() -> Any:
    return Field(sa_column=Column(JSON, nullable=False))


def _text(default: str = "") -> Any:
    return Field(default=default, sa_column=Column(Text, nullable=False))


class Spill(SQLModel, table=True):
    """One spill: its reference, its city, and the facts that its events come to."""

    id: int | None = Field(default=None, primary_key=True)
    reference: str = Field(unique=True, max_length=24)
    city: str | None = Field(default=None, index=True, max_length=40)
    received_at: datetime
    description: str = _text()
    address: str = _text()
    lat: float | None = None
    lon: float | None = None
    facts: dict[str, Any] = _json()
    flags: list[str] = _json()
    reporter: dict[str, Any] = _json()
    discharger: dict[str, Any] = _json()
    language: str = Field(default="en", max_length=8)
    # Set while the facts wait to be put to the law: at once for a new report, later for a duty that recurs by itself.
    assess_at: datetime | None = Field(default=None, index=True)
    assess_tries: int = 0
    link_version: int = 1


class EventRow(SQLModel, table=True):
    """One thing that happened. `happened_at` in the world, `recorded_at` by us."""

    __tablename__ = "event"
    id: int | None = Field(default=None, primary_key=True)
    spill_id: int = Field(foreign_key="spill.id", index=True)
    kind: str = Field(max_length=40, index=True)
    payload: dict[str, Any] = _json()
    actor: str = Field(max_length=200)
    happened_at: datetime
    recorded_at: datetime


class Obligation(SQLModel, table=True):
    """A clock of a spill as it was decided, with its place on the ladder."""

    __table_args__ = (UniqueConstraint("spill_id", "duty", "event_no", "occurrence"),)
    id: int | None = Field(default=None, primary_key=True)
    spill_id: int = Field(foreign_key="spill.id", index=True)
    duty: str = Field(max_length=120, index=True)
    event_no: int = -1
    occurrence: int = 0
    state: str = Field(max_length=12, index=True)
    clock: dict[str, Any] = _json()
    # What ends it and what its report must hold, frozen with the clock: the packs of a later day may no longer say.
    act: str = Field(max_length=20)
    content: dict[str, Any] = _json()
    ladder: list[dict[str, Any]] = _json()
    strip: list[dict[str, Any]] = Field(default_factory=list, sa_column=Column(JSON, nullable=False, server_default="[]"))
    starts_at: datetime | None = None
    due_at: datetime | None = Field(default=None, index=True)
    begins_at: datetime | None = None
    met_at: datetime | None = None
    reason: str = _text()
    overdue_noted: bool = False
    # How often the ladder was planned anew, the moment up to which it is climbed, and when to climb next (None: never).
    plan_no: int = 0
    climbed_to: datetime | None = None
    next_at: datetime | None = Field(default=None, index=True)


class MessageRow(SQLModel, table=True):
    """One promised message to one address. `id` is its key with the provider; `once` keeps a rung from promising it twice."""

    __tablename__ = "message"
    __table_args__ = (Index("ix_message_state_next_at", "state", "next_at"),)
    id: str = Field(primary_key=True, max_length=32)
    once: str = Field(unique=True, max_length=400)
    spill_id: int = Field(foreign_key="spill.id", index=True)
    obligation_id: int | None = Field(default=None, foreign_key="obligation.id", index=True)
    climb: str = Field(default="", max_length=400, index=True)
    person: str = Field(max_length=200)
    role: str = Field(max_length=40)
    channel: str = Field(max_length=20)
    address: str = Field(max_length=320)
    subject: str = _text()
    text: str = _text()
    step: str = Field(max_length=80)
    reason: str = _text()
    # What is sent first: 0 for a duty that can still be done in time, the nearest due first; 1 for what is overdue or has no due time.
    rank: int = 1
    sort_at: datetime
    # waiting, sending, accepted, refused, gave_up, cancelled
    state: str = Field(default="waiting", max_length=12)
    promised_at: datetime
    next_at: datetime | None = None
    give_up_at: datetime
    lease_until: datetime | None = None
    claimed_by: str | None = Field(default=None, max_length=80)
    tries: int = 0


class Attempt(SQLModel, table=True):
    """One try at sending one message. Without `ended_at` it was cut off: the message may have gone out."""

    __table_args__ = (UniqueConstraint("message_id", "number"),)
    id: int | None = Field(default=None, primary_key=True)
    message_id: str = Field(foreign_key="message.id", index=True, max_length=32)
    number: int
    worker: str = Field(max_length=80)
    started_at: datetime
    ended_at: datetime | None = None
    outcome: str | None = Field(default=None, max_length=12)
    provider_id: str | None = Field(default=None, max_length=200)
    detail: str = _text()
    may_be_double: bool = False


class Contact(SQLModel, table=True):
    """A person who fills a role in a city."""

    id: int | None = Field(default=None, primary_key=True)
    city: str = Field(max_length=40, index=True)
    role: str = Field(max_length=40)
    name: str = Field(max_length=200)
    email: str = Field(default="", max_length=320)
    phone: str = Field(default="", max_length=40)


class Closure(SQLModel, table=True):
    """A day on which a city's offices are closed, or open, other than its shipped calendar says.

    An entry is marked as removed, never deleted or rewritten; of those that are not, there is one a city and day.
    """

    __tablename__ = "closures"
    __table_args__ = (
        Index(
            "uq_closures_in_effect", "city", "day", unique=True,
            sqlite_where=text("removed_at IS NULL"), postgresql_where=text("removed_at IS NULL"),
        ),
    )  # fmt: skip
    id: int | None = Field(default=None, primary_key=True)
    city: str = Field(max_length=40, index=True)
    day: date
    # closed, open
    kind: str = Field(max_length=12)
    name: str = Field(max_length=200)
    source: str = _text()
    added_by: str = Field(max_length=200)
    added_at: datetime
    removed_by: str | None = Field(default=None, max_length=200)
    removed_at: datetime | None = None
    reason: str = _text()


class Account(SQLModel, table=True):
    """A member of staff. `role`: viewer, officer, manager, administrator; `city` None is every city."""

    id: int | None = Field(default=None, primary_key=True)
    email: str = Field(unique=True, max_length=320)
    role: str = Field(max_length=20)
    city: str | None = Field(default=None, max_length=40)
    created_at: datetime


class Credential(SQLModel, table=True):
    """A token of an account, kept as its SHA-256: an API token, a session, or a sign-in link that works once."""

    id: int | None = Field(default=None, primary_key=True)
    account_id: int = Field(foreign_key="account.id", index=True)
    digest: str = Field(unique=True, max_length=64)
    purpose: str = Field(max_length=12)
    created_at: datetime
    expires_at: datetime | None = None
    used_at: datetime | None = None


class IdempotencyKey(SQLModel, table=True):
    """An answer kept so that the same request, sent again, gives it again."""

    key: str = Field(primary_key=True, max_length=64)
    request_digest: str = Field(max_length=64)
    spill_id: int = Field(foreign_key="spill.id")
    created_at: datetime


class FollowUp(SQLModel, table=True):
    """A version of a written report for one duty: `draft`, then `filed`."""

    __table_args__ = (UniqueConstraint("obligation_id", "version"),)
    id: int | None = Field(default=None, primary_key=True)
    obligation_id: int = Field(foreign_key="obligation.id", index=True)
    version: int
    state: str = Field(max_length=12)
    content: dict[str, Any] = _json()
    by: str = Field(default="", max_length=200)
    saved_at: datetime
    filed_at: datetime | None = None


class Heartbeat(SQLModel, table=True):
    """When each worker last finished a round."""

    worker: str = Field(primary_key=True, max_length=80)
    at: datetime
    next_wake_at: datetime | None = None


class Meta(SQLModel, table=True):
    """Marks that this database keeps about itself, such as that the example city was filled in."""

    key: str = Field(primary_key=True, max_length=40)
    value: str = _text()
