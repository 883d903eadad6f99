"""The tables of accounts beside service/tables.py: roles, recovery codes, passkeys, failed sign-ins, and the log of what staff did."""

# No `from __future__ import annotations` here: SQLModel reads the annotations at run time.
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Column, Index, Text, UniqueConstraint, text
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


class Passkey(SQLModel, table=True):
    """A key pair on a device or in a password manager of an account's owner, of which only the public half is here."""

    id: int | None = Field(default=None, primary_key=True)
    account_id: int = Field(foreign_key="account.id", index=True)
    # Its id as the device made it, base64url; at most 1,023 bytes (Web Authentication, 4).
    key_id: str = Field(unique=True, max_length=1400)
    # The public half as COSE, base64url.
    public_key: str = Field(sa_column=Column(Text, nullable=False))
    # What the device knows its owner by; the same for all passkeys of an account.
    handle: str = Field(max_length=90)
    # How often the device says it was used; 0 for ever where it does not count.
    sign_count: int = Field(default=0, sa_column=Column(BigInteger, nullable=False, server_default="0"))
    name: str = Field(max_length=100)
    made_at: datetime
    used_at: datetime | None = None


class RoundTrip(SQLModel, table=True):
    """A sign-in that was handed on to a device or another site and whose answer is awaited; gone once it was answered or is too old."""

    __tablename__ = "round_trip"
    # SHA-256 of the secret that the browser holds.
    digest: str = Field(primary_key=True, max_length=64)
    purpose: str = Field(max_length=20)
    account_id: int | None = Field(default=None, foreign_key="account.id", index=True)
    ends_at: datetime = Field(index=True)
    # What has to be known again when the answer comes. No secret.
    kept: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))


class ProviderLink(SQLModel, table=True):
    """Whom an identity provider knows an account as, since its first sign-in there: addresses are given to others, subjects never are."""

    __tablename__ = "provider_link"
    __table_args__ = (UniqueConstraint("issuer", "subject"),)
    account_id: int = Field(primary_key=True, foreign_key="account.id", sa_column_kwargs={"autoincrement": False})
    issuer: str = Field(max_length=500)
    # At most 255 characters (OpenID Connect Core, 2).
    subject: str = Field(max_length=255)
    since: datetime


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
