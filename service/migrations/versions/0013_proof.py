"""proof: every event gets its place in the chain of its city, and what may tell of a person is sealed apart

Revision ID: 0013
Revises: 0012
"""

import hashlib
import json
import os
from collections.abc import Iterator
from datetime import UTC
from typing import Any

import sqlalchemy as sa
import sqlmodel.sql.sqltypes
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_AT_A_TIME = 500
_NO_CITY, _NOTHING_BEFORE = "no city", "0" * 64
# What was personal, and how a record is written, as of this revision: service/personal.py and service/chain.py are what is so today.
_PERSONAL = {
    "report:received": ("raw",), "report:released": ("reason",), "facts:recorded": ("reason",),
    "place:moved": ("before", "after", "reason", "flags"), "act:recorded": ("note",), "assessment:failed": ("problem",),
    "triage:asked": ("reason",), "discharger:named": ("name", "email", "phone"), "obligation:withdrawn": ("reason",),
    "obligation:waived": ("reason",), "obligation:acknowledged": ("person",),
    "follow-up:filed": ("by", "content", "title", "reason", "attachments"), "follow-up:certified": ("by", "title"),
    "link:issued": ("name", "email", "phone"), "link:sent": ("name",), "link:replaced": ("name",), "link:ended": ("name",),
    "advisory:issued": ("words",), "reporter:added": ("text",), "reporter:answered": ("words",), "file:kept": ("name", "by", "place"),
    "file:left-out": ("files",), "spill:closed": ("words",), "spill:reopened": ("words",), "spill:merged": ("reason",),
    "spill:took-duplicate": ("reason",), "spill:unmerged": ("reason",), "spill:gave-back-duplicate": ("reason",),
    "spill:split": ("reason",), "spill:split-off": ("reason",), "spill:referred": ("contact", "sent", "because"),
    "cause:found": ("note",), "particulars:recorded": ("changes", "reason"),
    "officer:assigned": ("officer", "before"), "acknowledgement:expired": ("person",), "rung:reached": ("told",),
    "rung:rested": ("person",), "rung:reached-nobody": ("reason",), "message:accepted": ("person",),
    "message:gave-up": ("person", "reason"), "message:arrived": ("person",), "message:failed": ("person", "reason"),
    "message:next-channel": ("person",), "reply:received": ("person", "sender", "text"), "escalation:asked": ("person",),
    "address:suppressed": ("person", "address", "detail"), "address:restored": ("person", "address", "reason"),
}  # fmt: skip
_ONLY_ADDED, _ONLY_GROWS = "events are only added", "the chain is only added to"
# An event changes in one way: its sealed part is destroyed, and an event that is there says so. Every other column stays as it is.
_DESTROYS = """
    OLD.sealed IS NOT NULL AND NEW.sealed IS NULL AND NEW.salt IS NULL AND OLD.destroyed_by IS NULL AND NEW.id = OLD.id
    AND NEW.spill_id = OLD.spill_id AND NEW.kind = OLD.kind AND CAST(NEW.payload AS TEXT) = CAST(OLD.payload AS TEXT)
    AND NEW.actor = OLD.actor AND NEW.happened_at = OLD.happened_at AND NEW.recorded_at = OLD.recorded_at AND NEW.seal = OLD.seal
    AND EXISTS (
        SELECT 1 FROM event says WHERE says.id = NEW.destroyed_by AND says.kind = 'personal:destroyed' AND says.spill_id = OLD.spill_id
    )
"""


def _refused(name: str, when: str, words: str) -> str:
    return f"CREATE TRIGGER {name} BEFORE {when} BEGIN SELECT RAISE(ABORT, '{words}'); END"


_LIFTED = {"sqlite": ["DROP TRIGGER event_refuses_update"], "postgresql": ["DROP TRIGGER event_refuses ON event"]}
_REFUSED = {
    "sqlite": [
        _refused("event_refuses_update", f"UPDATE ON event WHEN NOT COALESCE({_DESTROYS}, 0)", _ONLY_ADDED),
        # INSERT OR REPLACE removes what stands in its way without asking the triggers for deletions.
        _refused("event_refuses_replace", "INSERT ON event WHEN EXISTS (SELECT 1 FROM event WHERE id = NEW.id)", _ONLY_ADDED),
        _refused("chain_record_refuses_update", "UPDATE ON chain_record", _ONLY_GROWS),
        _refused("chain_record_refuses_delete", "DELETE ON chain_record", _ONLY_GROWS),
        _refused(
            "chain_record_refuses_replace",
            "INSERT ON chain_record WHEN EXISTS (SELECT 1 FROM chain_record WHERE event_id = NEW.event_id"
            " OR (chain = NEW.chain AND number = NEW.number))",
            _ONLY_GROWS,
        ),
        _refused("chain_refuses_update", "UPDATE ON chain WHEN NEW.name <> OLD.name OR NEW.number <= OLD.number", _ONLY_GROWS),
        _refused("chain_refuses_delete", "DELETE ON chain", _ONLY_GROWS),
    ],
    "postgresql": [
        "CREATE TRIGGER event_refuses BEFORE DELETE OR TRUNCATE ON event FOR EACH STATEMENT EXECUTE FUNCTION event_refuses()",
        "CREATE FUNCTION event_refuses_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF COALESCE({_DESTROYS}, false) THEN RETURN NEW; END IF; RAISE EXCEPTION '{_ONLY_ADDED}'; END $$",
        "CREATE TRIGGER event_refuses_change BEFORE UPDATE ON event FOR EACH ROW EXECUTE FUNCTION event_refuses_change()",
        f"CREATE FUNCTION chain_refuses() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '{_ONLY_GROWS}'; END $$",
        "CREATE TRIGGER chain_record_refuses BEFORE UPDATE OR DELETE OR TRUNCATE ON chain_record"
        " FOR EACH STATEMENT EXECUTE FUNCTION chain_refuses()",
        "CREATE TRIGGER chain_refuses BEFORE DELETE OR TRUNCATE ON chain FOR EACH STATEMENT EXECUTE FUNCTION chain_refuses()",
        "CREATE TRIGGER chain_refuses_update BEFORE UPDATE ON chain FOR EACH ROW"
        " WHEN (NEW.name <> OLD.name OR NEW.number <= OLD.number) EXECUTE FUNCTION chain_refuses()",
    ],
}
_LIFTED_AGAIN = {
    "sqlite": ["DROP TRIGGER event_refuses_update", "DROP TRIGGER event_refuses_replace"],
    "postgresql": [
        "DROP TRIGGER event_refuses ON event",
        "DROP TRIGGER event_refuses_change ON event",
        "DROP FUNCTION event_refuses_change",
        "DROP FUNCTION chain_refuses",
    ],
}
_REFUSED_BEFORE = {
    "sqlite": [_refused("event_refuses_update", "UPDATE ON event", _ONLY_ADDED)],
    "postgresql": [
        "CREATE TRIGGER event_refuses BEFORE UPDATE OR DELETE OR TRUNCATE ON event FOR EACH STATEMENT EXECUTE FUNCTION event_refuses()"
    ],
}

_EVENT = sa.table(
    "event",
    sa.column("id", sa.Integer), sa.column("spill_id", sa.Integer), sa.column("kind", sa.String), sa.column("payload", sa.JSON),
    sa.column("actor", sa.String), sa.column("happened_at", sqlmodel.sql.sqltypes.UTCDateTime()),
    sa.column("recorded_at", sqlmodel.sql.sqltypes.UTCDateTime()), sa.column("sealed", sa.JSON(none_as_null=True)),
    sa.column("salt", sa.String), sa.column("seal", sa.String),
)  # fmt: skip
_SPILL = sa.table("spill", sa.column("id", sa.Integer), sa.column("reference", sa.String))
_RECORD = sa.table("chain_record", *(sa.column(name) for name in ("event_id", "chain", "number", "previous", "hash")))
_CHAIN = sa.table("chain", *(sa.column(name) for name in ("name", "number", "hash")))


def upgrade() -> None:
    """Add the chains and what is sealed, and give every event that is there its place, in the order in which they were recorded."""
    op.add_column("event", sa.Column("sealed", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("event", sa.Column("salt", sqlmodel.sql.sqltypes.AutoString(length=32), nullable=True))
    op.add_column("event", sa.Column("seal", sqlmodel.sql.sqltypes.AutoString(length=64), nullable=True))
    op.add_column("event", sa.Column("destroyed_by", sa.Integer(), nullable=True))
    op.create_table(
        "chain",
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("hash", sqlmodel.sql.sqltypes.AutoString(length=64), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_chain")),
    )
    op.create_table(
        "chain_record",
        sa.Column("event_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("chain", sqlmodel.sql.sqltypes.AutoString(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("previous", sqlmodel.sql.sqltypes.AutoString(length=64), nullable=False),
        sa.Column("hash", sqlmodel.sql.sqltypes.AutoString(length=64), nullable=False),
        sa.ForeignKeyConstraint(["event_id"], ["event.id"], name=op.f("fk_chain_record_event_id")),
        sa.PrimaryKeyConstraint("event_id", name=op.f("pk_chain_record")),
        sa.UniqueConstraint("chain", "number", name=op.f("uq_chain_record_chain_number")),
    )
    op.create_table(
        "checkpoint",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.Column("signed", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_checkpoint")),
    )
    _run(_LIFTED)
    _chain_up(op.get_bind())
    _run(_REFUSED)


def downgrade() -> None:
    """Put what was sealed back into the events, and take the chains away. What was destroyed stays so."""
    for table in ("checkpoint", "chain_record", "chain"):
        op.drop_table(table)
    _run(_LIFTED_AGAIN)
    connection = op.get_bind()
    for events in _batches(connection):
        if whole := [_rejoined(one) for one in events if one.sealed]:
            joined = {"payload": sa.bindparam("told", type_=sa.JSON), "actor": sa.bindparam("by")}
            connection.execute(sa.update(_EVENT).where(_EVENT.c.id == sa.bindparam("key")).values(joined), whole)
    for column in ("destroyed_by", "seal", "salt", "sealed"):
        op.drop_column("event", column)
    _run(_REFUSED_BEFORE)


def _run(statements: dict[str, list[str]]) -> None:
    for statement in statements[op.get_bind().dialect.name]:
        op.execute(statement)


def _batches(connection: sa.Connection) -> Iterator[list[Any]]:
    """Every event in the order of the record, some at a time."""
    last = 0
    query = sa.select(_EVENT, _SPILL.c.reference).join(_SPILL, _SPILL.c.id == _EVENT.c.spill_id).order_by(_EVENT.c.id).limit(_AT_A_TIME)
    while events := list(connection.execute(query.where(_EVENT.c.id > last))):
        yield events
        last = events[-1].id


def _rejoined(event: Any) -> dict[str, Any]:
    told = {**event.payload, **{name: value for name, value in event.sealed.items() if name != "actor"}}
    return {"key": event.id, "told": told, "by": event.sealed.get("actor", event.actor)}


def _chain_up(connection: sa.Connection) -> None:
    """Seal what is personal of every event, and chain them. An event stands in the chain of the city its spill had until then."""
    cities: dict[int, str | None] = {}
    ends: dict[str, tuple[int, str]] = {}
    put = sa.update(_EVENT).where(_EVENT.c.id == sa.bindparam("key"))
    put = put.values(
        {name: sa.bindparam(f"new_{name}", type_=_EVENT.c[name].type) for name in ("payload", "actor", "sealed", "salt", "seal")}
    )
    for events in _batches(connection):
        parts, records = [], []
        for event in events:
            part = _parted(event)
            parts.append({"key": event.id, **{f"new_{name}": value for name, value in part.items()}})
            chain = cities.get(event.spill_id) or _NO_CITY
            number, previous = ends.get(chain, (0, _NOTHING_BEFORE))
            told = _digest(_record(event, part))
            ends[chain] = (number + 1, _digest(f"{chain}\n{number + 1}\n{previous}\n{told}"))
            records.append((event.id, chain, number + 1, previous, ends[chain][1]))
            if event.kind == "facts:recorded" and "jurisdiction" in event.payload["changes"]:
                cities[event.spill_id] = event.payload["changes"]["jurisdiction"][1]
        connection.execute(put, parts)
        connection.execute(sa.insert(_RECORD), [dict(zip(_RECORD.c.keys(), values, strict=True)) for values in records])
    if ends:
        connection.execute(sa.insert(_CHAIN), [{"name": name, "number": number, "hash": last} for name, (number, last) in ends.items()])


def _parted(event: Any) -> dict[str, Any]:
    sealed = {name: event.payload[name] for name in _PERSONAL.get(event.kind, ()) if event.payload.get(name)}
    shown = _without_name(event.actor)
    if shown != event.actor:
        sealed["actor"] = event.actor
    opened = {name: value for name, value in event.payload.items() if name not in sealed}
    salt = os.urandom(16).hex() if sealed else None
    seal = _digest(f"{salt}\n{_canonical(sealed)}") if sealed else None
    return {"payload": opened, "actor": shown, "sealed": sealed or None, "salt": salt, "seal": seal}


def _without_name(actor: str) -> str:
    _, named, spill = actor.rpartition(", discharger of ")
    if named:
        return f"discharger of {spill}"
    ways = (" (text message)", " (telephone)", " (link in a mail)")
    return next((f"somebody{way}" for way in ways if actor.endswith(way)), actor)


def _record(event: Any, part: dict[str, Any]) -> str:
    moments = {name: getattr(event, name).astimezone(UTC).isoformat(timespec="microseconds") for name in ("happened_at", "recorded_at")}
    return _canonical(
        {
            "event": event.id, "spill": event.reference, "kind": event.kind, "payload": part["payload"], "actor": part["actor"],
            "seal": part["seal"], **{name: text.replace("+00:00", "Z") for name, text in moments.items()},
        }
    )  # fmt: skip


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
