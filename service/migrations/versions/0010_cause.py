"""cause: why it came to a spill

Revision ID: 0010
Revises: 0009
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the cause, not known yet for what is on record."""
    with op.batch_alter_table("spill") as spill:
        spill.add_column(sa.Column("cause", sqlmodel.sql.sqltypes.AutoString(length=24), nullable=False, server_default=""))


def downgrade() -> None:
    """Take it away; the events that recorded it stay."""
    with op.batch_alter_table("spill") as spill:
        spill.drop_column("cause")
