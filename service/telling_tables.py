"""The tables of whom to tell, and in what words: rotas, subscriptions, advisories, texts, closed days. Part of `tables`."""

# No `from __future__ import annotations` here: SQLModel reads the annotations at run time.
from datetime import date, datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from service.columns import json_column, text_column


class Rota(SQLModel, table=True):
    """Who of the people in a role is on call: in turns of so many days, handed over at a local time of the city."""

    id: int | None = Field(default=None, primary_key=True)
    city: str = Field(max_length=40, index=True)
    role: str = Field(max_length=40)
    name: str = Field(max_length=200)
    # Contact ids in the order of their turns; the first has the turn that begins on `starts_on` at `handover`.
    members: list[int] = json_column()
    starts_on: date
    turn_days: int = 7
    handover: str = Field(default="08:00", max_length=5)
    # Turns from elsewhere, and when they were last read; a failed reading keeps those read before.
    ics_url: str = text_column()
    ics_read_at: datetime | None = None
    ics_problem: str = text_column()
    added_by: str = Field(max_length=200)
    added_at: datetime
    ended_at: datetime | None = None


class Shift(SQLModel, table=True):
    """A time for which a rota says otherwise: an override by hand, a holiday, or an entry of its iCalendar address."""

    id: int | None = Field(default=None, primary_key=True)
    rota_id: int = Field(foreign_key="rota.id", index=True)
    contact_id: int | None = Field(default=None, foreign_key="contact.id")
    starts_at: datetime
    ends_at: datetime
    # override, holiday, ics
    kind: str = Field(max_length=12)
    reason: str = text_column()
    # The entry's UID where it comes from an iCalendar address.
    uid: str = Field(default="", max_length=400)
    added_by: str = Field(max_length=200)
    added_at: datetime
    removed_at: datetime | None = None


class Subscription(SQLModel, table=True):
    """Somebody who wants to hear: staff about spills by what and where, or anybody about public advisories in an area."""

    id: int | None = Field(default=None, primary_key=True)
    # staff, public
    kind: str = Field(max_length=12, index=True)
    account_id: int | None = Field(default=None, foreign_key="account.id", index=True)
    channel: str = Field(max_length=20)
    address: str = Field(max_length=320, index=True)
    language: str = Field(default="en", max_length=8)
    # cities, materials, at_least_gallons, stages, area: what is left out is not asked for.
    wants: dict[str, Any] = json_column()
    # at_once, hourly, daily
    pace: str = Field(default="at_once", max_length=12)
    zone: str = Field(default="", max_length=60)
    created_at: datetime
    # A public one counts once its address said yes.
    confirmed_at: datetime | None = None
    ended_at: datetime | None = None
    ended_why: str = text_column()
    digest: str = Field(unique=True, max_length=64)
    next_digest_at: datetime | None = Field(default=None, index=True)


class SubscriptionItem(SQLModel, table=True):
    """Something a subscription is to be told, waiting for its digest or promised at once."""

    __tablename__ = "subscription_item"
    __table_args__ = (UniqueConstraint("subscription_id", "once"),)
    id: int | None = Field(default=None, primary_key=True)
    subscription_id: int = Field(foreign_key="subscription.id", index=True)
    spill_id: int | None = Field(default=None, foreign_key="spill.id", index=True)
    stage: str = Field(max_length=20)
    once: str = Field(max_length=200)
    said: dict[str, Any] = json_column()
    happened_at: datetime
    message_id: str | None = Field(default=None, foreign_key="message.id", max_length=32)


class Advisory(SQLModel, table=True):
    """What the public is told about a spill: an advisory, or the all-clear that ends one."""

    id: int | None = Field(default=None, primary_key=True)
    spill_id: int = Field(foreign_key="spill.id", index=True)
    # advisory, update, all_clear
    kind: str = Field(max_length=12)
    follows: int | None = Field(default=None, foreign_key="advisory.id")
    words: dict[str, str] = json_column()
    area: dict[str, Any] = json_column()
    issued_at: datetime
    issued_by: str = Field(max_length=200)


class MessageTemplate(SQLModel, table=True):
    """A city's own words for a kind of message, in one language; the newest version that is not withdrawn counts."""

    __tablename__ = "message_template"
    __table_args__ = (UniqueConstraint("city", "kind", "channel", "language", "version"),)
    id: int | None = Field(default=None, primary_key=True)
    city: str = Field(max_length=40, index=True)
    kind: str = Field(max_length=20)
    channel: str = Field(max_length=20)
    language: str = Field(max_length=8)
    version: int
    subject: str = text_column()
    text: str = text_column()
    saved_by: str = Field(max_length=200)
    saved_at: datetime
    withdrawn_at: datetime | None = None


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
    source: str = text_column()
    added_by: str = Field(max_length=200)
    added_at: datetime
    removed_by: str | None = Field(default=None, max_length=200)
    removed_at: datetime | None = None
    reason: str = text_column()
