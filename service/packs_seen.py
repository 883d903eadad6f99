"""Which versions of the packs this database was served with, since when, and what changed from one to the next."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlmodel import col

from deadlines import Rulebook
from deadlines.explaining import rule_as_json
from deadlines.rules import ALWAYS, Pack
from service.administration_tables import PackSeen
from service.ladders import OPEN_STATES
from service.tables import Obligation
from service.transaction import Transaction

# Of a rule's JSON, what changes with the pack and says nothing of the rule.
_OF_THE_PACK = ("pack_version", "checked")


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed between two versions of a pack: the titles of rules added, taken away and changed, each with its duty."""

    added: Sequence[str]
    removed: Sequence[str]
    changed: Sequence[str]


async def take_note(tx: Transaction) -> int:
    """Note each pack whose version this database has not been served with last. Returns how many that were."""
    await tx.alone_with("packs seen")
    rulebook, last = tx.house.rulebook, {pack: rows[0].version for pack, rows in (await seen(tx)).items()}
    new = [pack for pack in rulebook.packs.values() if last.get(pack.id) != pack.version]
    tx.session.add_all(PackSeen(pack=pack.id, version=pack.version, since=tx.now, rules=_digests(rulebook, pack)) for pack in new)
    return len(new)


async def seen(tx: Transaction) -> dict[str, list[PackSeen]]:
    """Every version of every pack that was seen, the newest first."""
    found: dict[str, list[PackSeen]] = {}
    for row in (await tx.session.execute(select(PackSeen).order_by(col(PackSeen.id).desc()))).scalars():
        found.setdefault(row.pack, []).append(row)
    return found


async def open_clocks(tx: Transaction) -> dict[str, dict[str, int]]:
    """How many clocks run or are overdue, by pack and by the version that each was decided by."""
    pack, version = (col(Obligation.clock)[key].as_string() for key in ("pack", "pack_version"))
    query = select(pack, version, func.count()).where(col(Obligation.state).in_(OPEN_STATES)).group_by(pack, version)
    found: dict[str, dict[str, int]] = {}
    for one, by, number in await tx.session.execute(query):
        found.setdefault(str(one), {})[str(by)] = number
    return found


def changes(before: PackSeen, after: PackSeen) -> Changes:
    """What changed from one version to another."""
    old, new = before.rules, after.rules
    return Changes(
        [_named(new, key) for key in new if key not in old], [_named(old, key) for key in old if key not in new],
        [_named(new, key) for key in new if key in old and new[key]["digest"] != old[key]["digest"]],
    )  # fmt: skip


def _named(rules: Mapping[str, Mapping[str, str]], key: str) -> str:
    return f"{rules[key]['title']} ({key})"


def _digests(rulebook: Rulebook, pack: Pack) -> dict[str, dict[str, str]]:
    """The rules of a pack by duty, and by their days where a rule has several versions: title, and SHA-256 of all there is to say of it."""
    found = {}
    for rule in pack.rules:
        told = {key: value for key, value in rule_as_json(pack, rule, rulebook).items() if key not in _OF_THE_PACK}
        days = [] if rule.in_force is ALWAYS else [str(rule.in_force)]
        key = ", ".join([rule.duty, *days, *([rule.starts_on] if rule.starts_on else [])])
        found[key] = {"title": rule.title, "digest": hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()}
    return found
