"""one spill: reports that tell of the same one, and who answers for it

Revision ID: 0009
Revises: 0008
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

# An act of a merged report starts clocks under a number of its own, from -2 down; see service/grouping.py.
_OF_MERGED_REPORTS = "event_no < -1"


def upgrade() -> None:
    """Add which spill a report was merged into, and the officer in charge."""
    with op.batch_alter_table("spill") as spill:
        spill.add_column(sa.Column("merged_into", sa.Integer(), nullable=True))
        spill.add_column(sa.Column("officer", sqlmodel.sql.sqltypes.AutoString(length=320), nullable=False, server_default=""))
        spill.create_foreign_key(op.f("fk_spill_merged_into"), "spill", ["merged_into"], ["id"])
        spill.create_index(op.f("ix_spill_merged_into"), ["merged_into"])
        spill.create_index(op.f("ix_spill_officer"), ["officer"])


def downgrade() -> None:
    """Take them away. What was merged stands apart again; its clocks stay as they are until their facts are amended."""
    op.execute(f"UPDATE obligation SET state = 'withdrawn', next_at = NULL WHERE {_OF_MERGED_REPORTS}")  # noqa: S608 - no input in it
    with op.batch_alter_table("spill") as spill:
        spill.drop_index(op.f("ix_spill_officer"))
        spill.drop_index(op.f("ix_spill_merged_into"))
        spill.drop_constraint(op.f("fk_spill_merged_into"), type_="foreignkey")
        spill.drop_column("officer")
        spill.drop_column("merged_into")
