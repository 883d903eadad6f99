"""The tables that make the record provable: the chains, the place of each event in one, and the checkpoints that left the machine."""

# No `from __future__ import annotations` here: SQLModel reads the annotations at run time.
from datetime import datetime

from sqlalchemy import UniqueConstraint
from sqlmodel import Field, SQLModel

from service.columns import text_column


class Chain(SQLModel, table=True):
    """How far a chain of the record has come: its last record. There is one for each city, and one for spills of no city."""

    name: str = Field(primary_key=True, max_length=40)
    number: int
    hash: str = Field(max_length=64)


class ChainRecord(SQLModel, table=True):
    """The place of an event in its chain: `number` from 1, the hash of the record before, its own. Only added, never changed."""

    __tablename__ = "chain_record"
    __table_args__ = (UniqueConstraint("chain", "number"),)
    event_id: int = Field(primary_key=True, foreign_key="event.id", sa_column_kwargs={"autoincrement": False})
    chain: str = Field(max_length=40)
    number: int
    previous: str = Field(max_length=64)
    hash: str = Field(max_length=64)


class Checkpoint(SQLModel, table=True):
    """How far the chains had come at a moment, as one signed line that went away from this machine (service/checkpoints.py)."""

    number: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    at: datetime
    signed: str = text_column()
