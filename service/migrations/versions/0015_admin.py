"""administration: what contacts were before, rules that a city switched off, the versions of packs that were seen

Revision ID: 0015
Revises: 0014
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_TIME = sqlmodel.sql.sqltypes.UTCDateTime
_WORDS = sqlmodel.sql.sqltypes.AutoString
_STANDS = sa.text("ended_at IS NULL")


def upgrade() -> None:
    """Add the three tables."""
    op.create_table(
        "former_contact",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("action_id", sa.Integer(), nullable=False),
        sa.Column("city", _WORDS(length=40), nullable=False),
        sa.Column("contact_id", sa.Integer(), nullable=False),
        sa.Column("before", sa.JSON(), nullable=False),
        sa.Column("after", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("at", _TIME(), nullable=False),
        sa.Column("undone_at", _TIME(), nullable=True),
        sa.ForeignKeyConstraint(["action_id"], ["staff_action.id"], name=op.f("fk_former_contact_action_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_former_contact")),
        sa.UniqueConstraint("action_id", name=op.f("uq_former_contact_action_id")),
    )
    op.create_index(op.f("ix_former_contact_city"), "former_contact", ["city"])
    op.create_index(op.f("ix_former_contact_at"), "former_contact", ["at"])
    op.create_table(
        "switched_off",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("city", _WORDS(length=40), nullable=False),
        sa.Column("duty", _WORDS(length=120), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("by", _WORDS(length=320), nullable=False),
        sa.Column("at", _TIME(), nullable=False),
        sa.Column("ended_by", _WORDS(length=320), nullable=True),
        sa.Column("ended_at", _TIME(), nullable=True),
        sa.Column("ended_reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_switched_off")),
    )
    op.create_index(op.f("ix_switched_off_city"), "switched_off", ["city"])
    op.create_index(
        "uq_switched_off_in_effect", "switched_off", ["city", "duty"], unique=True, sqlite_where=_STANDS, postgresql_where=_STANDS
    )
    op.create_table(
        "pack_seen",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pack", _WORDS(length=60), nullable=False),
        sa.Column("version", _WORDS(length=80), nullable=False),
        sa.Column("since", _TIME(), nullable=False),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pack_seen")),
    )
    op.create_index(op.f("ix_pack_seen_pack"), "pack_seen", ["pack"])


def downgrade() -> None:
    """Take the three tables away."""
    for table in ("pack_seen", "switched_off", "former_contact"):
        op.drop_table(table)
