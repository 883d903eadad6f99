"""Alembic's entrance: brings a database to the newest tables. Called by `spillclock migrate` and at the start of `spillclock serve`."""

from __future__ import annotations

from alembic import context
from sqlmodel import SQLModel

from service import account_tables, tables

# The imports are what fills the metadata.
assert tables.Spill.metadata is account_tables.AccountRole.metadata is SQLModel.metadata  # noqa: S101

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
