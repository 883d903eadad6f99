"""photographs: files that people send

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table of kept files."""
    op.create_table(
        "kept_file",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("spill_id", sa.Integer(), nullable=False),
        sa.Column("obligation_id", sa.Integer(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("purpose", sqlmodel.sql.sqltypes.AutoString(length=12), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=False),
        sa.Column("digest", sqlmodel.sql.sqltypes.AutoString(length=64), nullable=False),
        sa.Column("media_type", sqlmodel.sql.sqltypes.AutoString(length=40), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=True),
        sa.Column("height", sa.Integer(), nullable=True),
        sa.Column("is_shown", sa.Boolean(), nullable=False),
        sa.Column("flags", sa.JSON(), nullable=False),
        sa.Column("lat", sa.Float(), nullable=True),
        sa.Column("lon", sa.Float(), nullable=True),
        sa.Column("camera_time", sqlmodel.sql.sqltypes.AutoString(length=40), nullable=False),
        sa.Column("shares_location", sa.Boolean(), nullable=False),
        sa.Column("sent_by", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=False),
        sa.Column("kept_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["obligation_id"], ["obligation.id"], name=op.f("fk_kept_file_obligation_id")),
        sa.ForeignKeyConstraint(["spill_id"], ["spill.id"], name=op.f("fk_kept_file_spill_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_kept_file")),
    )
    for column in ("spill_id", "obligation_id", "digest"):
        op.create_index(op.f(f"ix_kept_file_{column}"), "kept_file", [column])


def downgrade() -> None:
    """Drop the table of kept files. Their content stays in the data folder until it is swept."""
    op.drop_table("kept_file")
