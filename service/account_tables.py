"""The tables of accounts beside service/tables.py: roles, recovery codes, failed sign-ins, and the log of what staff did."""

# No `from __future__ import annotations` here: SQLModel reads the annotations at run time.
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Index, UniqueConstraint, text
from sqlmodel import Field, SQLModel


class AccountRole(SQLModel, table=True):
    """What an account may do in a city; `city` None is every city. `role`: viewer, officer, manager, administrator."""

    __tablename__ = "account_role"
    __table_args__ = (
        UniqueConstraint("account_id", "city"),
        # Two rows without a city are two different ones to a unique constraint.
        Index(
            "uq_account_role_every_city", "account_id", unique=True,
            sqlite_where=text("city IS NULL"), postgresql_where=text("city IS NULL"),
        ),
    )  # fmt: skip
    id: int | None = Field(default=None, primary_key=True)
    account_id: int = Field(foreign_key="account.id")
    city: str | None = Field(default=None, max_length=40)
    role: str = Field(max_length=20)


class RecoveryCode(SQLModel, table=True):
    """A code that stands in for the authenticator app, once; kept as a keyed hash."""

    __tablename__ = "recovery_code"
    id: int | None = Field(default=None, primary_key=True)
    account_id: int = Field(foreign_key="account.id", index=True)
    digest: str = Field(unique=True, max_length=64)
    made_at: datetime
    used_at: datetime | None = None


class SignInTry(SQLModel, table=True):
    """How often somebody failed to prove who they are, and until when no further try is taken. The key is a hash of whom it is about."""

    __tablename__ = "sign_in_try"
    key: str = Field(primary_key=True, max_length=64)
    failures: int
    last_at: datetime = Field(index=True)
    until: datetime | None = None


class StaffAction(SQLModel, table=True):
    """One thing that staff did beside the events of spills, and who did it. Only added to: the database refuses everything else."""

    __tablename__ = "staff_action"
    id: int | None = Field(default=None, primary_key=True)
    at: datetime
    # The address of who did it; "command line" or "spillclock" where it was no member of staff.
    actor: str = Field(max_length=320)
    kind: str = Field(max_length=40)
    # The account that it was done to or with, and the city that it concerns, where it is about one.
    account_id: int | None = Field(default=None, foreign_key="account.id", index=True)
    city: str | None = Field(default=None, max_length=40)
    said: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
