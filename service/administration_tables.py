"""The tables of administration: what contacts were before, rules that a city switched off, the versions of packs that were seen."""

# No `from __future__ import annotations` here: SQLModel reads the annotations at run time.
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Index, text
from sqlmodel import Field, SQLModel

from service.columns import json_column, text_column


class FormerContact(SQLModel, table=True):
    """What a contact was before somebody changed or removed them, so that it can be undone. Removed after a while."""

    __tablename__ = "former_contact"
    id: int | None = Field(default=None, primary_key=True)
    # The entry of the log of staff that tells of the change.
    action_id: int = Field(foreign_key="staff_action.id", unique=True)
    city: str = Field(max_length=40, index=True)
    contact_id: int
    # All that there was to them; `after` is None where they were removed.
    before: dict[str, Any] = json_column()
    after: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True), nullable=True))
    at: datetime = Field(index=True)
    undone_at: datetime | None = None


class SwitchedOff(SQLModel, table=True):
    """A rule, or a whole pack, that starts no new clocks in a city. An entry is ended, never deleted; one that stands there is one of."""

    __tablename__ = "switched_off"
    __table_args__ = (
        Index(
            "uq_switched_off_in_effect", "city", "duty", unique=True,
            sqlite_where=text("ended_at IS NULL"), postgresql_where=text("ended_at IS NULL"),
        ),
    )  # fmt: skip
    id: int | None = Field(default=None, primary_key=True)
    city: str = Field(max_length=40, index=True)
    # chino/rwqcb-2-hours, or the id of a pack: chino
    duty: str = Field(max_length=120)
    reason: str = text_column()
    by: str = Field(max_length=320)
    at: datetime
    ended_by: str | None = Field(default=None, max_length=320)
    ended_at: datetime | None = None
    ended_reason: str = text_column()


class PackSeen(SQLModel, table=True):
    """A version of a pack that this database was served with, since when, and its rules: each with its title and a digest of its whole."""

    __tablename__ = "pack_seen"
    id: int | None = Field(default=None, primary_key=True)
    pack: str = Field(max_length=60, index=True)
    version: str = Field(max_length=80)
    since: datetime
    rules: dict[str, Any] = json_column()
