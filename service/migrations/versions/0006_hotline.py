"""hotline: what the public sees of spills

Revision ID: 0006
Revises: 0005
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables of the public pages."""
    op.create_table(
        "public_spill",
        sa.Column("spill_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("reference", sqlmodel.sql.sqltypes.AutoString(length=24), nullable=False),
        sa.Column("city", sqlmodel.sql.sqltypes.AutoString(length=40), nullable=False),
        sa.Column("material", sqlmodel.sql.sqltypes.AutoString(length=24), nullable=False),
        sa.Column("amount", sqlmodel.sql.sqltypes.AutoString(length=24), nullable=False),
        sa.Column("reached", sa.JSON(), nullable=False),
        sa.Column("received_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("lat", sa.Float(), nullable=True),
        sa.Column("lon", sa.Float(), nullable=True),
        sa.Column("state", sqlmodel.sql.sqltypes.AutoString(length=12), nullable=False),
        sa.Column("advisory", sqlmodel.sql.sqltypes.AutoString(length=12), nullable=False),
        sa.Column("advisory_id", sa.Integer(), nullable=True),
        sa.Column("changed_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["advisory_id"], ["advisory.id"], name=op.f("fk_public_spill_advisory_id")),
        sa.ForeignKeyConstraint(["spill_id"], ["spill.id"], name=op.f("fk_public_spill_spill_id")),
        sa.PrimaryKeyConstraint("spill_id", name=op.f("pk_public_spill")),
        sa.UniqueConstraint("reference", name=op.f("uq_public_spill_reference")),
    )
    op.create_index(op.f("ix_public_spill_advisory"), "public_spill", ["advisory"], unique=False)
    op.create_index("ix_public_spill_received_at_spill_id", "public_spill", ["received_at", "spill_id"], unique=False)
    op.create_index("ix_public_spill_city_received_at_spill_id", "public_spill", ["city", "received_at", "spill_id"], unique=False)
    op.create_table(
        "passage",
        sa.Column("key", sqlmodel.sql.sqltypes.AutoString(length=64), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("ends_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_passage")),
    )
    op.create_index(op.f("ix_passage_ends_at"), "passage", ["ends_at"], unique=False)
    op.add_column("spill", sa.Column("held_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True))
    op.create_index(op.f("ix_spill_held_at"), "spill", ["held_at"], unique=False)
    op.create_index("ix_spill_city_received_at", "spill", ["city", "received_at"], unique=False)


def downgrade() -> None:
    """Take them away; the program draws the public record anew when it is there again."""
    op.drop_index("ix_spill_city_received_at", table_name="spill")
    op.drop_index(op.f("ix_spill_held_at"), table_name="spill")
    op.drop_column("spill", "held_at")
    op.drop_table("passage")
    op.drop_table("public_spill")
    op.execute("DELETE FROM meta WHERE key = 'public-record'")
