"""closures: what a city says about its own calendar; obligation.strip

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_FIXED = ("id", "city", "day", "kind", "name", "source", "added_by", "added_at")
# An entry is only added, and marked as removed once: a clock that was counted by it can be explained for ever.
_REFUSE_CHANGES = {
    "sqlite": [
        "CREATE TRIGGER closures_refuse_delete BEFORE DELETE ON closures BEGIN"
        " SELECT RAISE(ABORT, 'entries of a calendar are never deleted'); END",
        "CREATE TRIGGER closures_refuse_update BEFORE UPDATE ON closures WHEN OLD.removed_at IS NOT NULL OR "
        + " OR ".join(f"NEW.{column} IS NOT OLD.{column}" for column in _FIXED)
        + " BEGIN SELECT RAISE(ABORT, 'entries of a calendar are only marked as removed'); END",
    ],
    "postgresql": [
        "CREATE FUNCTION closures_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF TG_OP <> 'UPDATE' THEN RAISE EXCEPTION 'entries of a calendar are never deleted'; END IF;"
        " IF OLD.removed_at IS NOT NULL OR "
        + " OR ".join(f"NEW.{column} IS DISTINCT FROM OLD.{column}" for column in _FIXED)
        + " THEN RAISE EXCEPTION 'entries of a calendar are only marked as removed'; END IF;"
        " RETURN NEW; END $$",
        "CREATE TRIGGER closures_refuse BEFORE UPDATE OR DELETE ON closures FOR EACH ROW EXECUTE FUNCTION closures_refuse()",
        "CREATE TRIGGER closures_refuse_truncate BEFORE TRUNCATE ON closures FOR EACH STATEMENT EXECUTE FUNCTION closures_refuse()",
    ],
}


def upgrade() -> None:
    op.create_table(
        "closures",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("city", sqlmodel.sql.sqltypes.AutoString(length=40), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("kind", sqlmodel.sql.sqltypes.AutoString(length=12), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("added_by", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=False),
        sa.Column("added_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("removed_by", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=True),
        sa.Column("removed_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_closures")),
    )
    op.create_index(op.f("ix_closures_city"), "closures", ["city"], unique=False)
    in_effect = sa.text("removed_at IS NULL")
    op.create_index("uq_closures_in_effect", "closures", ["city", "day"], unique=True, sqlite_where=in_effect, postgresql_where=in_effect)
    # Added and dropped in place: a table that is rebuilt on SQLite would be copied row by row.
    op.add_column("obligation", sa.Column("strip", sa.JSON(), server_default="[]", nullable=False))
    for statement in _REFUSE_CHANGES[op.get_bind().dialect.name]:
        op.execute(statement)


def downgrade() -> None:
    op.drop_column("obligation", "strip")
    op.drop_table("closures")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION closures_refuse()")
