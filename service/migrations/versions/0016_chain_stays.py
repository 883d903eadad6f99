"""the end of a chain is not replaced either

Revision ID: 0016
Revises: 0015
"""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

# INSERT OR REPLACE, which SQLite alone has, removes a row without asking the triggers for deletions.
_REFUSED = (
    "CREATE TRIGGER chain_refuses_replace BEFORE INSERT ON chain WHEN EXISTS (SELECT 1 FROM chain WHERE name = NEW.name)"
    " BEGIN SELECT RAISE(ABORT, 'the chain of events only grows'); END"
)


def upgrade() -> None:
    """Refuse that a row of `chain` is replaced."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(_REFUSED)


def downgrade() -> None:
    """Take the trigger away."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER chain_refuses_replace")
