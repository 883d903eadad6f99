"""writers: who wrote each item of a report, what its people say of themselves, and why a version is amended

Revision ID: 0008
Revises: 0007
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def _added() -> list[sa.Column[Any]]:
    return [
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("writers", sa.JSON(), server_default="{}", nullable=False),
        sa.Column("signers", sa.JSON(), server_default="{}", nullable=False),
    ]


def upgrade() -> None:
    """Add them. Of drafts from before, the items are taken for written by whoever saved last, as they were until now."""
    for column in _added():
        op.add_column("followup", column)


def downgrade() -> None:
    """Drop them."""
    for column in _added():
        op.drop_column("followup", column.name)
