"""The tables of the doors to other systems: private addresses of calendars, who is sent events, what was handed on."""

# No `from __future__ import annotations` here: SQLModel reads the annotations at run time.
from datetime import datetime

from sqlalchemy import false
from sqlmodel import Field, SQLModel

from service.columns import json_column, text_column


class CalendarLink(SQLModel, table=True):
    """A private address at which somebody's calendar program reads due times; of its secret only the SHA-256 is kept."""

    __tablename__ = "calendar_link"
    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(unique=True, max_length=64)
    account_id: int = Field(foreign_key="account.id", index=True)
    # Of which city, None is all of its owner's; of the duties whose alerts a role gets; of the spills that its owner answers for.
    city: str | None = Field(default=None, max_length=40)
    role: str = Field(default="", max_length=40, sa_column_kwargs={"server_default": ""})
    mine: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    made_at: datetime
    ended_at: datetime | None = None


class EventHook(SQLModel, table=True):
    """A system that is sent the events of a city. Its secret is derived of its number and `generation` (notifiers/event_hook.py)."""

    __tablename__ = "event_hook"
    id: int | None = Field(default=None, primary_key=True)
    city: str = Field(max_length=40, index=True)
    name: str = Field(max_length=100)
    address: str = Field(max_length=320)
    # Which kinds of events; empty is all.
    kinds: list[str] = json_column()
    generation: int = 1
    renewed_at: datetime | None = None
    made_by: str = Field(max_length=320)
    made_at: datetime
    ended_at: datetime | None = None
    # Since when nothing is sent any more, and why; and since when its failures count.
    paused_at: datetime | None = None
    paused_why: str = text_column()
    counts_since: datetime
    # Up to which record all is promised, of the city's chain and of that of no city, where reports begin.
    number: int
    unplaced: int
    # What is sent once more: from this event to that.
    again_from: int | None = None
    again_to: int | None = None
    # How often sending began anew: the same record may be promised once in each.
    run: int = 0


class ForwardedSpill(SQLModel, table=True):
    """A spill that is handed on to the Open311 system of its city, and what became of it there."""

    __tablename__ = "forwarded_spill"
    id: int | None = Field(default=None, primary_key=True)
    spill_id: int = Field(foreign_key="spill.id", index=True)
    words: str = text_column()
    made_by: str = Field(max_length=320)
    made_at: datetime
    # waiting, sent, closed; refused, unclear, given_up
    state: str = Field(max_length=12)
    tries: int = 0
    # When to send it, or to ask for news; and what went wrong last.
    next_at: datetime | None = Field(default=None, index=True)
    problem: str = text_column()
    # What it is known by there, and what is known of it.
    number: str = Field(default="", max_length=100)
    token: str = Field(default="", max_length=100)
    status: str = Field(default="", max_length=20)
    notes: str = text_column()
    answered_at: datetime | None = None
