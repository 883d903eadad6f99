"""The tables of the board: a line a spill, the words it is found by, and the views that people keep."""

# No `from __future__ import annotations` here: SQLModel reads the annotations at run time.
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Index, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

from service.columns import json_column, text_column


class BoardLine(SQLModel, table=True):
    """One spill as the board shows it, drawn anew by service/board.py with everything that happens to the spill.

    It holds moments, never what they come to: whether something is late is a matter of when one looks.
    """

    __tablename__ = "board_line"
    __table_args__ = (
        Index("ix_board_line_whole_order", "sort_at", "back"),
        Index("ix_board_line_order", "stands", "sort_at", "back"),
        Index("ix_board_line_city_order", "city", "stands", "sort_at", "back"),
        Index("ix_board_line_officer_order", "officer", "stands", "sort_at", "back"),
        # All that numbers are counted from, so that none of the wide rows is read for them.
        Index(
            "ix_board_line_numbers", "received_at", "spill_id", "stands", "city", "reference", "material", "cause", "gallons", "place",
            "lat", "lon", "party", "notice_from", "noticed_at",
        ),
    )  # fmt: skip
    spill_id: int = Field(primary_key=True, foreign_key="spill.id", sa_column_kwargs={"autoincrement": False})
    reference: str = Field(unique=True, max_length=24)
    city: str | None = Field(default=None, max_length=40)
    # open: on the board; closed; merged: into the spill `merged_into`; held: it looks automatic; coming: it was stored and is read next.
    stands: str = Field(max_length=8)
    merged_into: str | None = Field(default=None, max_length=24)
    # Since when it is closed. One that was closed over open duties is on the board until they are done.
    closed_at: datetime | None = None
    received_at: datetime
    material: str = Field(default="", max_length=24)
    volume: dict[str, Any] = json_column()
    place: str = text_column()
    brief: str = text_column()
    lat: float | None = None
    lon: float | None = None
    officer: str = Field(default="", max_length=320)
    # How many oddities of the report there are to check, and how many alarms stand.
    flags: int = 0
    alarms: int = 0
    # The duties to be done, the nearest due first: {duty, title, due_at, at_once}; and when the first is due.
    duties: list[dict[str, Any]] = json_column()
    due_at: datetime | None = None
    # The order of the board: by due time; what has none comes last, the newest first (`back` is minus the number of the spill).
    sort_at: datetime
    back: int
    # When something last happened to it, and who did that.
    changed_at: datetime
    changed_by: str = Field(default="", max_length=200)
    # When it was drawn, and how often.
    drawn_at: datetime = Field(index=True)
    draws: int = 1
    # What service/numbers.py counts by: the cause, the larger end of the amount, who is named as responsible, from when the law asks for a
    # notice and when the first was given.
    cause: str = Field(default="", max_length=24, sa_column_kwargs={"server_default": ""})
    gallons: float | None = None
    party: str = Field(default="", sa_column=Column(Text, nullable=False, server_default=""))
    notice_from: datetime | None = None
    noticed_at: datetime | None = None


class SpillWords(SQLModel, table=True):
    """The words that a spill is found by, each once, in order: see service/spill_search.py, which also says where its index is."""

    __tablename__ = "spill_words"
    spill_id: int = Field(primary_key=True, foreign_key="spill.id", sa_column_kwargs={"autoincrement": False})
    words: str = text_column()
    # Words of events up to this one were taken away, and are not brought back.
    forgotten_to: int = 0


class SavedView(SQLModel, table=True):
    """A view of the board that somebody keeps under a name: for themselves, or shared with a city."""

    __tablename__ = "saved_view"
    __table_args__ = (UniqueConstraint("account_id", "name"),)
    id: int | None = Field(default=None, primary_key=True)
    account_id: int = Field(foreign_key="account.id")
    city: str | None = Field(default=None, max_length=40, index=True)
    name: str = Field(max_length=60)
    query: str = text_column()
    made_at: datetime
