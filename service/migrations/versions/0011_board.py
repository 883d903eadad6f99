"""board: a line a spill, the words it is found by, and the views that people keep

Revision ID: 0011
Revises: 0010

The lines and words of spills that exist are drawn by service/board.py as soon as the tables are there: see `wiring.migrate`.
"""

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_TIME = sqlmodel.sql.sqltypes.UTCDateTime
_WORDS = sqlmodel.sql.sqltypes.AutoString
_ORDER = ["stands", "sort_at", "back"]
# What finds words quickly. SQLite's index is a table of its own, which triggers keep in step with the words; PostgreSQL's is an index.
# The words come without accents and capitals, letters and digits alone: nothing is left for a tokenizer to do.
_SEARCHED = {
    "sqlite": [
        """CREATE VIRTUAL TABLE spill_words_index USING fts5(
            words, content='spill_words', content_rowid='spill_id', detail='none', prefix='2 3 4', tokenize='ascii'
        )""",
        """CREATE TRIGGER spill_words_added AFTER INSERT ON spill_words BEGIN
            INSERT INTO spill_words_index(rowid, words) VALUES (new.spill_id, new.words);
        END""",
        """CREATE TRIGGER spill_words_removed AFTER DELETE ON spill_words BEGIN
            INSERT INTO spill_words_index(spill_words_index, rowid, words) VALUES ('delete', old.spill_id, old.words);
        END""",
        """CREATE TRIGGER spill_words_changed AFTER UPDATE ON spill_words BEGIN
            INSERT INTO spill_words_index(spill_words_index, rowid, words) VALUES ('delete', old.spill_id, old.words);
            INSERT INTO spill_words_index(rowid, words) VALUES (new.spill_id, new.words);
        END""",
    ],
    "postgresql": ["CREATE INDEX spill_words_index ON spill_words USING gin (array_to_tsvector(string_to_array(words, ' ')))"],
}


def upgrade() -> None:
    """Add the tables."""
    _add_lines()
    op.create_table(
        "spill_words",
        sa.Column("spill_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("forgotten_to", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["spill_id"], ["spill.id"], name=op.f("fk_spill_words_spill_id")),
        sa.PrimaryKeyConstraint("spill_id", name=op.f("pk_spill_words")),
    )
    for statement in _SEARCHED[op.get_bind().dialect.name]:
        op.execute(statement)
    op.create_table(
        "saved_view",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("city", _WORDS(length=40), nullable=True),
        sa.Column("name", _WORDS(length=60), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("made_at", _TIME(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_saved_view_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_view")),
        sa.UniqueConstraint("account_id", "name", name=op.f("uq_saved_view_account_id_name")),
    )
    op.create_index(op.f("ix_saved_view_city"), "saved_view", ["city"])


def _add_lines() -> None:
    op.create_table(
        "board_line",
        sa.Column("spill_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("reference", _WORDS(length=24), nullable=False),
        sa.Column("city", _WORDS(length=40), nullable=True),
        sa.Column("stands", _WORDS(length=8), nullable=False),
        sa.Column("merged_into", _WORDS(length=24), nullable=True),
        sa.Column("closed_at", _TIME(), nullable=True),
        sa.Column("received_at", _TIME(), nullable=False),
        sa.Column("material", _WORDS(length=24), nullable=False),
        sa.Column("volume", sa.JSON(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("brief", sa.Text(), nullable=False),
        sa.Column("lat", sa.Float(), nullable=True),
        sa.Column("lon", sa.Float(), nullable=True),
        sa.Column("officer", _WORDS(length=320), nullable=False),
        sa.Column("flags", sa.Integer(), nullable=False),
        sa.Column("alarms", sa.Integer(), nullable=False),
        sa.Column("duties", sa.JSON(), nullable=False),
        sa.Column("due_at", _TIME(), nullable=True),
        sa.Column("sort_at", _TIME(), nullable=False),
        sa.Column("back", sa.Integer(), nullable=False),
        sa.Column("changed_at", _TIME(), nullable=False),
        sa.Column("changed_by", _WORDS(length=200), nullable=False),
        sa.Column("drawn_at", _TIME(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["spill_id"], ["spill.id"], name=op.f("fk_board_line_spill_id")),
        sa.PrimaryKeyConstraint("spill_id", name=op.f("pk_board_line")),
        sa.UniqueConstraint("reference", name=op.f("uq_board_line_reference")),
    )
    op.create_index("ix_board_line_whole_order", "board_line", _ORDER[1:])
    op.create_index("ix_board_line_order", "board_line", _ORDER)
    op.create_index("ix_board_line_city_order", "board_line", ["city", *_ORDER])
    op.create_index("ix_board_line_officer_order", "board_line", ["officer", *_ORDER])
    op.create_index(op.f("ix_board_line_drawn_at"), "board_line", ["drawn_at"])


def downgrade() -> None:
    """Take them away; all but the views of people is drawn again by the next upgrade."""
    op.drop_table("saved_view")
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE spill_words_index")
    op.drop_table("spill_words")
    op.drop_table("board_line")
    op.execute("DELETE FROM meta WHERE key = 'board'")
