"""accounts: roles in several cities, passwords, second step, keys with scopes, and a log of what is done to accounts

Revision ID: 0007
Revises: 0006
"""

from typing import Any

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_TIME = sqlmodel.sql.sqltypes.UTCDateTime
_WORDS = sqlmodel.sql.sqltypes.AutoString

# What was done stays on record as it was written down.
_REFUSE_CHANGES = {
    "sqlite": [
        f"CREATE TRIGGER staff_action_refuses_{verb} BEFORE {verb.upper()} ON staff_action"
        " BEGIN SELECT RAISE(ABORT, 'actions are only added'); END"
        for verb in ("update", "delete")
    ],
    "postgresql": [
        "CREATE FUNCTION staff_action_refuses() RETURNS trigger LANGUAGE plpgsql AS $$"
        " BEGIN RAISE EXCEPTION 'actions are only added'; END $$",
        "CREATE TRIGGER staff_action_refuses BEFORE UPDATE OR DELETE OR TRUNCATE ON staff_action"
        " FOR EACH STATEMENT EXECUTE FUNCTION staff_action_refuses()",
    ],
}


def _added() -> dict[str, list[sa.Column[Any]]]:
    return {
        "account": [
            sa.Column("name", _WORDS(length=200), server_default="", nullable=False),
            sa.Column("ended_at", _TIME(), nullable=True),
            sa.Column("password", sa.Text(), server_default="", nullable=False),
            sa.Column("password_at", _TIME(), nullable=True),
            sa.Column("totp_seed", _WORDS(length=64), server_default="", nullable=False),
            sa.Column("totp_at", _TIME(), nullable=True),
            sa.Column("totp_step", sa.Integer(), server_default="0", nullable=False),
        ],
        "credential": [
            sa.Column("hint", _WORDS(length=24), server_default="", nullable=False),
            sa.Column("name", _WORDS(length=200), server_default="", nullable=False),
            sa.Column("network", _WORDS(length=64), server_default="", nullable=False),
            sa.Column("seen_at", _TIME(), nullable=True),
            sa.Column("scopes", sa.JSON(), nullable=True),
            sa.Column("city", _WORDS(length=40), nullable=True),
        ],
    }


def upgrade() -> None:
    """Add the tables, and make the one role of each account the first of its roles."""
    op.create_table(
        "account_role",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("city", _WORDS(length=40), nullable=True),
        sa.Column("role", _WORDS(length=20), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_account_role_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_role")),
        sa.UniqueConstraint("account_id", "city", name=op.f("uq_account_role_account_id_city")),
    )
    everywhere = sa.text("city IS NULL")
    op.create_index(
        "uq_account_role_every_city", "account_role", ["account_id"], unique=True, sqlite_where=everywhere, postgresql_where=everywhere
    )
    op.execute("INSERT INTO account_role (account_id, city, role) SELECT id, city, role FROM account")
    op.drop_column("account", "role")
    op.drop_column("account", "city")
    # In place: a table that is rebuilt on SQLite would be copied row by row.
    for table, columns in _added().items():
        for column in columns:
            op.add_column(table, column)
    _make_new_tables()
    for statement in _REFUSE_CHANGES[op.get_bind().dialect.name]:
        op.execute(statement)


def _make_new_tables() -> None:
    op.create_table(
        "recovery_code",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("digest", _WORDS(length=64), nullable=False),
        sa.Column("made_at", _TIME(), nullable=False),
        sa.Column("used_at", _TIME(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_recovery_code_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recovery_code")),
        sa.UniqueConstraint("digest", name=op.f("uq_recovery_code_digest")),
    )
    op.create_index(op.f("ix_recovery_code_account_id"), "recovery_code", ["account_id"], unique=False)
    op.create_table(
        "sign_in_try",
        sa.Column("key", _WORDS(length=64), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_at", _TIME(), nullable=False),
        sa.Column("until", _TIME(), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_sign_in_try")),
    )
    op.create_index(op.f("ix_sign_in_try_last_at"), "sign_in_try", ["last_at"], unique=False)
    op.create_table(
        "staff_action",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", _TIME(), nullable=False),
        sa.Column("actor", _WORDS(length=320), nullable=False),
        sa.Column("kind", _WORDS(length=40), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("city", _WORDS(length=40), nullable=True),
        sa.Column("said", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_staff_action_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_staff_action")),
    )
    op.create_index(op.f("ix_staff_action_account_id"), "staff_action", ["account_id"], unique=False)


def downgrade() -> None:
    """Take them away. Of several roles an account keeps the lowest, in every city only where it is of every city; ended ones stay out."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER staff_action_refuses_update")
        op.execute("DROP TRIGGER staff_action_refuses_delete")
    else:
        op.execute("DROP FUNCTION staff_action_refuses() CASCADE")
    for table in ("staff_action", "sign_in_try", "recovery_code"):
        op.drop_table(table)
    op.add_column("account", sa.Column("role", _WORDS(length=20), server_default="viewer", nullable=False))
    op.add_column("account", sa.Column("city", _WORDS(length=40), nullable=True))
    # The program before knows one role, and neither ended accounts nor scopes: nobody may gain by it.
    rank = "CASE role WHEN 'viewer' THEN 0 WHEN 'officer' THEN 1 WHEN 'manager' THEN 2 ELSE 3 END"
    for name in ("role", "city"):
        one = f"SELECT {name} FROM account_role WHERE account_id = account.id ORDER BY city IS NOT NULL, {rank}, city LIMIT 1"  # noqa: S608
        op.execute(f"UPDATE account SET {name} = ({one}) WHERE EXISTS (SELECT 1 FROM account_role WHERE account_id = account.id)")  # noqa: S608
    op.execute(
        "DELETE FROM credential WHERE purpose IN ('invite', 'recover', 'half') OR scopes IS NOT NULL OR city IS NOT NULL"
        " OR account_id IN (SELECT id FROM account WHERE ended_at IS NOT NULL)"
        " OR account_id NOT IN (SELECT account_id FROM account_role)"
    )
    for table, columns in _added().items():
        for column in columns:
            op.drop_column(table, column.name)
    op.drop_table("account_role")
