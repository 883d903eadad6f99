"""turns: the city in whose turn a message goes out and a ladder is climbed, and how far off a worker found its clock

Revision ID: 0017
Revises: 0016
"""

from typing import Any

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_WORDS = sqlmodel.sql.sqltypes.AutoString
_ORDER = ["rank", "sort_at", "promised_at", "obligation_id", "once"]
_QUEUED: dict[str, Any] = {"sqlite_where": sa.text("queued = 1"), "postgresql_where": sa.text("queued")}
_PLANNED = sa.text("next_at IS NOT NULL")
# Only what still waits has a turn; what is over stays as it is.
_OF_ITS_SPILL = "UPDATE {table} SET city = coalesce((SELECT city FROM spill WHERE spill.id = {table}.spill_id), '') WHERE {waits}"


def upgrade() -> None:
    """Add the columns, fill them for what waits, and order both queues by city first."""
    for table, waits in (("message", "state IN ('waiting', 'sending') AND spill_id IS NOT NULL"), ("obligation", "next_at IS NOT NULL")):
        op.add_column(table, sa.Column("city", _WORDS(length=40), nullable=False, server_default=""))
        op.execute(_OF_ITS_SPILL.format(table=table, waits=waits))
    op.drop_index("ix_message_queue", "message")
    op.create_index("ix_message_queue", "message", ["channel", "city", *_ORDER], **_QUEUED)
    op.create_index("ix_obligation_turn", "obligation", ["city", "next_at"], sqlite_where=_PLANNED, postgresql_where=_PLANNED)
    op.add_column("heartbeat", sa.Column("clock_off_seconds", sa.Float(), nullable=True))


def downgrade() -> None:
    """Take them away."""
    with op.batch_alter_table("heartbeat") as heartbeat:
        heartbeat.drop_column("clock_off_seconds")
    op.drop_index("ix_obligation_turn", "obligation")
    op.drop_index("ix_message_queue", "message")
    for table in ("obligation", "message"):
        with op.batch_alter_table(table) as changed:
            changed.drop_column("city")
    op.create_index("ix_message_queue", "message", ["channel", *_ORDER], **_QUEUED)
