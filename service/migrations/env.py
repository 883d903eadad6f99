"""Alembic's entrance: brings a database to the newest tables. Called by `spillclock migrate` and at the start of `spillclock serve`."""

from __future__ import annotations

from alembic import context
from sqlmodel import SQLModel

from service import account_tables, administration_tables, board_tables, door_tables, spill_search, tables

# The imports are what fills the metadata.
_TABLES = (tables.Spill, account_tables.AccountRole, administration_tables.PackSeen, board_tables.BoardLine, door_tables.CalendarLink)
filled = {table.metadata for table in _TABLES}
assert filled == {SQLModel.metadata}  # noqa: S101

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    compare_type=True,
    include_name=lambda name, *_: not spill_search.is_of_the_index(name),
)
with context.begin_transaction():
    context.run_migrations()
