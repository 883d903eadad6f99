"""spills that were handed on to the Open311 system of a city

Revision ID: 0022
Revises: 0021
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_TIME = sqlmodel.sql.sqltypes.UTCDateTime
_WORDS = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "forwarded_spill",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("spill_id", sa.Integer(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("made_by", _WORDS(length=320), nullable=False),
        sa.Column("made_at", _TIME(), nullable=False),
        sa.Column("state", _WORDS(length=12), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", _TIME(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("number", _WORDS(length=100), nullable=False),
        sa.Column("token", _WORDS(length=100), nullable=False),
        sa.Column("status", _WORDS(length=20), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("answered_at", _TIME(), nullable=True),
        sa.ForeignKeyConstraint(["spill_id"], ["spill.id"], name=op.f("fk_forwarded_spill_spill_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_forwarded_spill")),
    )
    op.create_index(op.f("ix_forwarded_spill_spill_id"), "forwarded_spill", ["spill_id"])
    op.create_index(op.f("ix_forwarded_spill_next_at"), "forwarded_spill", ["next_at"])


def downgrade() -> None:
    """Take it away."""
    op.drop_table("forwarded_spill")
