"""filings: reports that are certified and amended, and private links of named people

Revision ID: 0005
Revises: 0004
"""

from typing import Any

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TEXT_200 = sqlmodel.sql.sqltypes.AutoString(length=200)


def _added() -> dict[str, list[sa.Column[Any]]]:
    return {
        "followup": [
            sa.Column("title", _TEXT_200, server_default="", nullable=False),
            sa.Column("saved_by", _TEXT_200, server_default="", nullable=False),
            sa.Column("revision", sa.Integer(), server_default="1", nullable=False),
            sa.Column("certified_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
            sa.Column("certification", sa.Text(), server_default="", nullable=False),
            sa.Column("amends", sa.Integer(), nullable=True),
        ],
        "obligation": [sa.Column("certification", sa.JSON(), server_default="{}", nullable=False)],
        "spill": [sa.Column("respond_version", sa.Integer(), server_default="1", nullable=False)],
    }


def upgrade() -> None:
    """Add the table of links, and what a report says of its revision, certification and amendment."""
    op.create_table(
        "discharger_link",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("spill_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("name", _TEXT_200, nullable=False),
        sa.Column("email", sqlmodel.sql.sqltypes.AutoString(length=320), nullable=False),
        sa.Column("phone", sqlmodel.sql.sqltypes.AutoString(length=40), nullable=False),
        sa.Column("language", sqlmodel.sql.sqltypes.AutoString(length=8), nullable=False),
        sa.Column("issued_by", _TEXT_200, nullable=False),
        sa.Column("issued_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("sent_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
        sa.Column("ended_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["spill_id"], ["spill.id"], name=op.f("fk_discharger_link_spill_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_discharger_link")),
    )
    op.create_index(op.f("ix_discharger_link_spill_id"), "discharger_link", ["spill_id"])
    # In place: a table that is rebuilt on SQLite would be copied row by row.
    for table, columns in _added().items():
        for column in columns:
            op.add_column(table, column)


def downgrade() -> None:
    """Drop them. Every link of a named person stops working."""
    for table, columns in _added().items():
        for column in columns:
            op.drop_column(table, column.name)
    op.drop_table("discharger_link")
