"""telling people: receipts, suppressed addresses, replies, rotas, subscriptions, advisories, a city's own words

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:  # house-skip: long-function - generated
    op.create_table(
        "message_template",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("city", sqlmodel.sql.sqltypes.AutoString(length=40), nullable=False),
        sa.Column("kind", sqlmodel.sql.sqltypes.AutoString(length=20), nullable=False),
        sa.Column("channel", sqlmodel.sql.sqltypes.AutoString(length=20), nullable=False),
        sa.Column("language", sqlmodel.sql.sqltypes.AutoString(length=8), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("saved_by", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=False),
        sa.Column("saved_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("withdrawn_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_message_template")),
        sa.UniqueConstraint(
            "city", "kind", "channel", "language", "version", name=op.f("uq_message_template_city_kind_channel_language_version")
        ),
    )
    with op.batch_alter_table("message_template", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_message_template_city"), ["city"], unique=False)

    op.create_table(
        "rota",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("city", sqlmodel.sql.sqltypes.AutoString(length=40), nullable=False),
        sa.Column("role", sqlmodel.sql.sqltypes.AutoString(length=40), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=False),
        sa.Column("members", sa.JSON(), nullable=False),
        sa.Column("starts_on", sa.Date(), nullable=False),
        sa.Column("turn_days", sa.Integer(), nullable=False),
        sa.Column("handover", sqlmodel.sql.sqltypes.AutoString(length=5), nullable=False),
        sa.Column("ics_url", sa.Text(), nullable=False),
        sa.Column("ics_read_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
        sa.Column("ics_problem", sa.Text(), nullable=False),
        sa.Column("added_by", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=False),
        sa.Column("added_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("ended_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rota")),
    )
    with op.batch_alter_table("rota", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rota_city"), ["city"], unique=False)

    op.create_table(
        "advisory",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("spill_id", sa.Integer(), nullable=False),
        sa.Column("kind", sqlmodel.sql.sqltypes.AutoString(length=12), nullable=False),
        sa.Column("follows", sa.Integer(), nullable=True),
        sa.Column("words", sa.JSON(), nullable=False),
        sa.Column("area", sa.JSON(), nullable=False),
        sa.Column("issued_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("issued_by", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=False),
        sa.ForeignKeyConstraint(["follows"], ["advisory.id"], name=op.f("fk_advisory_follows")),
        sa.ForeignKeyConstraint(["spill_id"], ["spill.id"], name=op.f("fk_advisory_spill_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_advisory")),
    )
    with op.batch_alter_table("advisory", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_advisory_spill_id"), ["spill_id"], unique=False)

    op.create_table(
        "shift",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rota_id", sa.Integer(), nullable=False),
        sa.Column("contact_id", sa.Integer(), nullable=True),
        sa.Column("starts_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("ends_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("kind", sqlmodel.sql.sqltypes.AutoString(length=12), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("uid", sqlmodel.sql.sqltypes.AutoString(length=400), nullable=False),
        sa.Column("added_by", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=False),
        sa.Column("added_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("removed_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["contact_id"], ["contact.id"], name=op.f("fk_shift_contact_id")),
        sa.ForeignKeyConstraint(["rota_id"], ["rota.id"], name=op.f("fk_shift_rota_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shift")),
    )
    with op.batch_alter_table("shift", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_shift_rota_id"), ["rota_id"], unique=False)

    op.create_table(
        "subscription",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sqlmodel.sql.sqltypes.AutoString(length=12), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("channel", sqlmodel.sql.sqltypes.AutoString(length=20), nullable=False),
        sa.Column("address", sqlmodel.sql.sqltypes.AutoString(length=320), nullable=False),
        sa.Column("language", sqlmodel.sql.sqltypes.AutoString(length=8), nullable=False),
        sa.Column("wants", sa.JSON(), nullable=False),
        sa.Column("pace", sqlmodel.sql.sqltypes.AutoString(length=12), nullable=False),
        sa.Column("zone", sqlmodel.sql.sqltypes.AutoString(length=60), nullable=False),
        sa.Column("created_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("confirmed_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
        sa.Column("ended_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
        sa.Column("ended_why", sa.Text(), nullable=False),
        sa.Column("digest", sqlmodel.sql.sqltypes.AutoString(length=64), nullable=False),
        sa.Column("next_digest_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_subscription_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscription")),
        sa.UniqueConstraint("digest", name=op.f("uq_subscription_digest")),
    )
    with op.batch_alter_table("subscription", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_subscription_account_id"), ["account_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_subscription_address"), ["address"], unique=False)
        batch_op.create_index(batch_op.f("ix_subscription_kind"), ["kind"], unique=False)
        batch_op.create_index(batch_op.f("ix_subscription_next_digest_at"), ["next_digest_at"], unique=False)

    op.create_table(
        "delivery_receipt",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("message_id", sqlmodel.sql.sqltypes.AutoString(length=32), nullable=False),
        sa.Column("status", sqlmodel.sql.sqltypes.AutoString(length=12), nullable=False),
        sa.Column("source", sqlmodel.sql.sqltypes.AutoString(length=12), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("happened_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("received_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["message_id"], ["message.id"], name=op.f("fk_delivery_receipt_message_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery_receipt")),
    )
    with op.batch_alter_table("delivery_receipt", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_delivery_receipt_message_id"), ["message_id"], unique=False)

    op.create_table(
        "reply",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("once", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=False),
        sa.Column("channel", sqlmodel.sql.sqltypes.AutoString(length=20), nullable=False),
        sa.Column("sender", sqlmodel.sql.sqltypes.AutoString(length=320), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("received_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("meaning", sqlmodel.sql.sqltypes.AutoString(length=12), nullable=False),
        sa.Column("message_id", sqlmodel.sql.sqltypes.AutoString(length=32), nullable=True),
        sa.Column("spill_id", sa.Integer(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("settled_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
        sa.Column("settled_by", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=True),
        sa.ForeignKeyConstraint(["message_id"], ["message.id"], name=op.f("fk_reply_message_id")),
        sa.ForeignKeyConstraint(["spill_id"], ["spill.id"], name=op.f("fk_reply_spill_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reply")),
        sa.UniqueConstraint("once", name=op.f("uq_reply_once")),
    )
    with op.batch_alter_table("reply", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_reply_sender"), ["sender"], unique=False)
        batch_op.create_index(batch_op.f("ix_reply_spill_id"), ["spill_id"], unique=False)

    op.create_table(
        "subscription_item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("subscription_id", sa.Integer(), nullable=False),
        sa.Column("spill_id", sa.Integer(), nullable=True),
        sa.Column("stage", sqlmodel.sql.sqltypes.AutoString(length=20), nullable=False),
        sa.Column("once", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=False),
        sa.Column("said", sa.JSON(), nullable=False),
        sa.Column("happened_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("message_id", sqlmodel.sql.sqltypes.AutoString(length=32), nullable=True),
        sa.ForeignKeyConstraint(["message_id"], ["message.id"], name=op.f("fk_subscription_item_message_id")),
        sa.ForeignKeyConstraint(["spill_id"], ["spill.id"], name=op.f("fk_subscription_item_spill_id")),
        sa.ForeignKeyConstraint(["subscription_id"], ["subscription.id"], name=op.f("fk_subscription_item_subscription_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscription_item")),
        sa.UniqueConstraint("subscription_id", "once", name=op.f("uq_subscription_item_subscription_id_once")),
    )
    with op.batch_alter_table("subscription_item", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_subscription_item_spill_id"), ["spill_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_subscription_item_subscription_id"), ["subscription_id"], unique=False)

    op.create_table(
        "suppression",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("channel", sqlmodel.sql.sqltypes.AutoString(length=20), nullable=False),
        sa.Column("address", sqlmodel.sql.sqltypes.AutoString(length=320), nullable=False),
        sa.Column("reason", sqlmodel.sql.sqltypes.AutoString(length=12), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("since", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("message_id", sqlmodel.sql.sqltypes.AutoString(length=32), nullable=True),
        sa.Column("lifted_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
        sa.Column("lifted_by", sqlmodel.sql.sqltypes.AutoString(length=200), nullable=True),
        sa.ForeignKeyConstraint(["message_id"], ["message.id"], name=op.f("fk_suppression_message_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suppression")),
    )
    with op.batch_alter_table("suppression", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_suppression_address"), ["address"], unique=False)
        batch_op.create_index(batch_op.f("ix_suppression_channel"), ["channel"], unique=False)

    with op.batch_alter_table("contact", schema=None) as batch_op:
        batch_op.add_column(sa.Column("voice", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column("webhook", sa.Text(), server_default="", nullable=False))
        batch_op.add_column(sa.Column("apprise", sa.Text(), server_default="", nullable=False))
        batch_op.add_column(sa.Column("language", sqlmodel.sql.sqltypes.AutoString(length=8), server_default="en", nullable=False))
        batch_op.add_column(sa.Column("quiet_from", sqlmodel.sql.sqltypes.AutoString(length=5), server_default="", nullable=False))
        batch_op.add_column(sa.Column("quiet_to", sqlmodel.sql.sqltypes.AutoString(length=5), server_default="", nullable=False))

    with op.batch_alter_table("message", schema=None) as batch_op:
        batch_op.add_column(sa.Column("language", sqlmodel.sql.sqltypes.AutoString(length=8), server_default="en", nullable=False))
        batch_op.add_column(sa.Column("html", sa.Text(), server_default="", nullable=False))
        batch_op.add_column(sa.Column("code", sqlmodel.sql.sqltypes.AutoString(length=8), server_default="", nullable=False))
        batch_op.add_column(sa.Column("carried_by", sqlmodel.sql.sqltypes.AutoString(length=32), nullable=True))
        batch_op.add_column(sa.Column("receipt", sqlmodel.sql.sqltypes.AutoString(length=12), server_default="", nullable=False))
        batch_op.add_column(sa.Column("receipt_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True))
        batch_op.add_column(sa.Column("silent_until", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True))
        batch_op.add_column(sa.Column("subscription_id", sa.Integer(), nullable=True))
        batch_op.alter_column("spill_id", existing_type=sa.INTEGER(), nullable=True)
        batch_op.add_column(sa.Column("queued", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.create_check_constraint("ck_message_only_what_waits_is_queued", "state = 'waiting' OR NOT queued")
        batch_op.drop_index("ix_message_state_next_at")
        batch_op.create_index("ix_message_state_queued_next_at", ["state", "queued", "next_at"], unique=False)
        batch_op.create_index(
            "ix_message_queue",
            ["channel", "rank", "sort_at", "promised_at", "obligation_id", "once"],
            unique=False,
            sqlite_where=sa.text("queued = 1"),
            postgresql_where=sa.text("queued"),
        )
        batch_op.create_index(batch_op.f("ix_message_carried_by"), ["carried_by"], unique=False)
        batch_op.create_index(batch_op.f("ix_message_code"), ["code"], unique=False)
        batch_op.create_index(batch_op.f("ix_message_silent_until"), ["silent_until"], unique=False)
        batch_op.create_index(batch_op.f("ix_message_subscription_id"), ["subscription_id"], unique=False)
        batch_op.create_foreign_key(batch_op.f("fk_message_subscription_id"), "subscription", ["subscription_id"], ["id"])


def downgrade() -> None:  # house-skip: long-function - generated
    # What the older tables cannot hold goes: messages about no single spill, with everything that was said of them.
    for table in ("subscription_item", "delivery_receipt", "reply", "suppression"):
        op.execute(f"DELETE FROM {table}")  # noqa: S608 - names of our own
    op.execute("DELETE FROM attempt WHERE message_id IN (SELECT id FROM message WHERE spill_id IS NULL)")
    op.execute("DELETE FROM message WHERE spill_id IS NULL")
    with op.batch_alter_table("message", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("fk_message_subscription_id"), type_="foreignkey")
        batch_op.drop_index(batch_op.f("ix_message_subscription_id"))
        batch_op.drop_index(batch_op.f("ix_message_silent_until"))
        batch_op.drop_index(batch_op.f("ix_message_code"))
        batch_op.drop_index(batch_op.f("ix_message_carried_by"))
        batch_op.alter_column("spill_id", existing_type=sa.INTEGER(), nullable=False)
        batch_op.drop_index("ix_message_queue")
        batch_op.drop_index("ix_message_state_queued_next_at")
        batch_op.create_index("ix_message_state_next_at", ["state", "next_at"], unique=False)
        batch_op.drop_constraint("ck_message_only_what_waits_is_queued", type_="check")
        batch_op.drop_column("queued")
        batch_op.drop_column("subscription_id")
        batch_op.drop_column("silent_until")
        batch_op.drop_column("receipt_at")
        batch_op.drop_column("receipt")
        batch_op.drop_column("carried_by")
        batch_op.drop_column("code")
        batch_op.drop_column("html")
        batch_op.drop_column("language")

    with op.batch_alter_table("contact", schema=None) as batch_op:
        batch_op.drop_column("quiet_to")
        batch_op.drop_column("quiet_from")
        batch_op.drop_column("language")
        batch_op.drop_column("apprise")
        batch_op.drop_column("webhook")
        batch_op.drop_column("voice")

    with op.batch_alter_table("suppression", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_suppression_channel"))
        batch_op.drop_index(batch_op.f("ix_suppression_address"))

    op.drop_table("suppression")
    with op.batch_alter_table("subscription_item", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_subscription_item_subscription_id"))
        batch_op.drop_index(batch_op.f("ix_subscription_item_spill_id"))

    op.drop_table("subscription_item")
    with op.batch_alter_table("reply", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_reply_spill_id"))
        batch_op.drop_index(batch_op.f("ix_reply_sender"))

    op.drop_table("reply")
    with op.batch_alter_table("delivery_receipt", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_delivery_receipt_message_id"))

    op.drop_table("delivery_receipt")
    with op.batch_alter_table("subscription", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_subscription_next_digest_at"))
        batch_op.drop_index(batch_op.f("ix_subscription_kind"))
        batch_op.drop_index(batch_op.f("ix_subscription_address"))
        batch_op.drop_index(batch_op.f("ix_subscription_account_id"))

    op.drop_table("subscription")
    with op.batch_alter_table("shift", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_shift_rota_id"))

    op.drop_table("shift")
    with op.batch_alter_table("advisory", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_advisory_spill_id"))

    op.drop_table("advisory")
    with op.batch_alter_table("rota", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_rota_city"))

    op.drop_table("rota")
    with op.batch_alter_table("message_template", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_message_template_city"))

    op.drop_table("message_template")
