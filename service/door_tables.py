"""The tables of the doors to other systems: private addresses of calendars."""

# No `from __future__ import annotations` here: SQLModel reads the annotations at run time.
from datetime import datetime

from sqlalchemy import false
from sqlmodel import Field, SQLModel


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
