"""retention: legal holds, when a record was destroyed, and which reporter wishes to be forgotten

Revision ID: 0020
Revises: 0019
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_TIME = sqlmodel.sql.sqltypes.UTCDateTime
_WORDS = sqlmodel.sql.sqltypes.AutoString
_COLUMNS = ("destroyed_at", "forget_asked_at", "forget_at")


def upgrade() -> None:
    """Add the table and the three moments."""
    op.create_table(
        "legal_hold",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("spill_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("placed_by", _WORDS(length=320), nullable=False),
        sa.Column("placed_at", _TIME(), nullable=False),
        sa.Column("lifted_by", _WORDS(length=320), nullable=True),
        sa.Column("lifted_at", _TIME(), nullable=True),
        sa.Column("lifted_why", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["spill_id"], ["spill.id"], name=op.f("fk_legal_hold_spill_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_legal_hold")),
    )
    op.create_index(op.f("ix_legal_hold_spill_id"), "legal_hold", ["spill_id"])
    for name in _COLUMNS:
        op.add_column("spill", sa.Column(name, _TIME(), nullable=True))
    op.create_index(op.f("ix_spill_forget_at"), "spill", ["forget_at"])


def downgrade() -> None:
    """Take them away. What was destroyed stays so."""
    op.drop_index(op.f("ix_spill_forget_at"), "spill")
    for name in reversed(_COLUMNS):
        op.drop_column("spill", name)
    op.drop_index(op.f("ix_legal_hold_spill_id"), "legal_hold")
    op.drop_table("legal_hold")
