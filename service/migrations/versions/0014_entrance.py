"""the entrance: passkeys, sign-ins by way of a device or another site, whom a provider knows an account as, letters about accounts

Revision ID: 0014
Revises: 0013
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_TIME = sqlmodel.sql.sqltypes.UTCDateTime
_WORDS = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    """Add the tables, and whose account a message is about."""
    op.create_table(
        "passkey",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("key_id", _WORDS(length=1400), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("handle", _WORDS(length=90), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("name", _WORDS(length=100), nullable=False),
        sa.Column("made_at", _TIME(), nullable=False),
        sa.Column("used_at", _TIME(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_passkey_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_passkey")),
        sa.UniqueConstraint("key_id", name=op.f("uq_passkey_key_id")),
    )
    op.create_index(op.f("ix_passkey_account_id"), "passkey", ["account_id"])
    op.create_table(
        "round_trip",
        sa.Column("digest", _WORDS(length=64), nullable=False),
        sa.Column("purpose", _WORDS(length=20), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("ends_at", _TIME(), nullable=False),
        sa.Column("kept", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_round_trip_account_id")),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_round_trip")),
    )
    op.create_index(op.f("ix_round_trip_account_id"), "round_trip", ["account_id"])
    op.create_index(op.f("ix_round_trip_ends_at"), "round_trip", ["ends_at"])
    op.create_table(
        "provider_link",
        sa.Column("account_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("issuer", _WORDS(length=500), nullable=False),
        sa.Column("subject", _WORDS(length=255), nullable=False),
        sa.Column("since", _TIME(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_provider_link_account_id")),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_provider_link")),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_provider_link_issuer_subject")),
    )
    with op.batch_alter_table("message") as message:
        message.add_column(sa.Column("account_id", sa.Integer(), nullable=True))
        message.create_foreign_key(op.f("fk_message_account_id"), "account", ["account_id"], ["id"])
        message.create_index(op.f("ix_message_account_id"), ["account_id"])


def downgrade() -> None:
    """Take them away. Letters about accounts go with their tries: the program before would send them without their links."""
    letters = "SELECT id FROM message WHERE account_id IS NOT NULL"
    for table in ("attempt", "delivery_receipt"):
        op.execute(f"DELETE FROM {table} WHERE message_id IN ({letters})")  # noqa: S608 - no input in it
    op.execute(f"UPDATE suppression SET message_id = NULL WHERE message_id IN ({letters})")  # noqa: S608
    op.execute(f"UPDATE reply SET message_id = NULL WHERE message_id IN ({letters})")  # noqa: S608
    op.execute("DELETE FROM message WHERE account_id IS NOT NULL")
    with op.batch_alter_table("message") as message:
        message.drop_index(op.f("ix_message_account_id"))
        message.drop_constraint(op.f("fk_message_account_id"), type_="foreignkey")
        message.drop_column("account_id")
    for table in ("provider_link", "round_trip", "passkey"):
        op.drop_table(table)
