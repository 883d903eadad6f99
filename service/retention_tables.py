"""The table of legal holds: what keeps the record of a spill whatever its time of keeping says. Part of `tables`."""

# No `from __future__ import annotations` here: SQLModel reads the annotations at run time.
from datetime import datetime

from sqlmodel import Field, SQLModel

from service.columns import text_column


class LegalHold(SQLModel, table=True):
    """A reason to keep a record until somebody says otherwise: a suit, an audit, an inquiry. Lifted by being marked, never deleted."""

    __tablename__ = "legal_hold"
    id: int | None = Field(default=None, primary_key=True)
    spill_id: int = Field(foreign_key="spill.id", index=True)
    reason: str = text_column()
    placed_by: str = Field(max_length=320)
    placed_at: datetime
    lifted_by: str | None = Field(default=None, max_length=320)
    lifted_at: datetime | None = None
    lifted_why: str = text_column()
