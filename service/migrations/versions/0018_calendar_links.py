"""private addresses of calendars of due times

Revision ID: 0018
Revises: 0017
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_TIME = sqlmodel.sql.sqltypes.UTCDateTime
_WORDS = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "calendar_link",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", _WORDS(length=64), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("city", _WORDS(length=40), nullable=True),
        sa.Column("role", _WORDS(length=40), server_default="", nullable=False),
        sa.Column("mine", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("made_at", _TIME(), nullable=False),
        sa.Column("ended_at", _TIME(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_calendar_link_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_calendar_link")),
        sa.UniqueConstraint("digest", name=op.f("uq_calendar_link_digest")),
    )
    op.create_index(op.f("ix_calendar_link_account_id"), "calendar_link", ["account_id"])


def downgrade() -> None:
    """Take it away."""
    op.drop_table("calendar_link")
