"""systems that are sent the events of a city

Revision ID: 0019
Revises: 0018
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_TIME = sqlmodel.sql.sqltypes.UTCDateTime
_WORDS = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "event_hook",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("city", _WORDS(length=40), nullable=False),
        sa.Column("name", _WORDS(length=100), nullable=False),
        sa.Column("address", _WORDS(length=320), nullable=False),
        sa.Column("kinds", sa.JSON(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("renewed_at", _TIME(), nullable=True),
        sa.Column("made_by", _WORDS(length=320), nullable=False),
        sa.Column("made_at", _TIME(), nullable=False),
        sa.Column("ended_at", _TIME(), nullable=True),
        sa.Column("paused_at", _TIME(), nullable=True),
        sa.Column("paused_why", sa.Text(), nullable=False),
        sa.Column("counts_since", _TIME(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("unplaced", sa.Integer(), nullable=False),
        sa.Column("again_from", sa.Integer(), nullable=True),
        sa.Column("again_to", sa.Integer(), nullable=True),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event_hook")),
    )
    op.create_index(op.f("ix_event_hook_city"), "event_hook", ["city"])


def downgrade() -> None:
    """Take it away."""
    op.drop_table("event_hook")
