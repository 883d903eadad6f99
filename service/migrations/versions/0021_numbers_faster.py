"""an index that holds all that numbers are counted from

Revision ID: 0021
Revises: 0020
"""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_COUNTED = [
    "received_at", "spill_id", "stands", "city", "reference", "material", "cause", "gallons", "place", "lat", "lon", "party", "notice_from",
    "noticed_at",
]  # fmt: skip


def upgrade() -> None:
    """Let the numbers be counted without reading the wide lines of the board."""
    op.create_index("ix_board_line_numbers", "board_line", _COUNTED)
    op.drop_index("ix_board_line_received_at", "board_line")


def downgrade() -> None:
    """Back to the narrow index."""
    op.create_index("ix_board_line_received_at", "board_line", ["received_at"])
    op.drop_index("ix_board_line_numbers", "board_line")
