"""numbers: what a line of the board holds to be counted by

Revision ID: 0012
Revises: 0011

The lines are drawn anew by service/board.py as soon as the columns are there.
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_TIME = sqlmodel.sql.sqltypes.UTCDateTime
_COUNTED_BY = ["state", "due_at", "act", "duty", "spill_id"]


def upgrade() -> None:
    """Add the columns, and the indexes that numbers are counted from."""
    with op.batch_alter_table("board_line") as line:
        line.add_column(sa.Column("cause", sqlmodel.sql.sqltypes.AutoString(length=24), nullable=False, server_default=""))
        line.add_column(sa.Column("gallons", sa.Float(), nullable=True))
        line.add_column(sa.Column("party", sa.Text(), nullable=False, server_default=""))
        line.add_column(sa.Column("notice_from", _TIME(), nullable=True))
        line.add_column(sa.Column("noticed_at", _TIME(), nullable=True))
        line.create_index("ix_board_line_received_at", ["received_at"])
    op.create_index("ix_obligation_numbers", "obligation", _COUNTED_BY)


def downgrade() -> None:
    """Take them away."""
    op.drop_index("ix_obligation_numbers", "obligation")
    with op.batch_alter_table("board_line") as line:
        line.drop_index("ix_board_line_received_at")
        for column in ("noticed_at", "notice_from", "party", "gallons", "cause"):
            line.drop_column(column)
