"""Columns that many tables have, and how constraints are named."""

from typing import Any

from sqlalchemy import JSON, Column, Table, Text
from sqlmodel import Field, SQLModel

SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


def json_column() -> Any:
    """A column of JSON. It is assigned as a whole: a change inside it is not seen."""
    return Field(sa_column=Column(JSON, nullable=False))


def text_column(default: str = "") -> Any:
    """A column of text of any length."""
    return Field(default=default, sa_column=Column(Text, nullable=False))


def table(model: type[SQLModel]) -> Table:
    """The table of a model, for statements that need none of its objects."""
    found: Table = model.__table__  # type: ignore[attr-defined]
    return found
