"""What `spillclock rehearse` prints: every message and what is done, in order; of an example, also what happens if nobody answers."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from deadlines.ladder import ROLES
from service import rehearsal
from service.errors import BadInput
from service.library import open_rulebook
from service.reading_input import moment, read_json
from service.rehearsal import Rehearsed
from service.settings import packs_folder
from service.wording import local

_RANKS = {role: rank for rank, role in enumerate(ROLES)}
_AT_THE_TOP = "After that no alert is planned. What is not done stays overdue, on the board and on the page of its spill."


async def lines(given: argparse.Namespace) -> list[str]:
    """Rehearse what the command asks for. Returns the lines to print. Raises BadInput, FactFaults."""
    if given.example == "":
        return [f"{one.name}\n    {one.about}" for one in rehearsal.examples().values()]
    if (given.facts is None) == (given.example is None):
        raise BadInput("what to rehearse", ["FACTS.json, --example: right would be: a file of facts, or an example, and not both"])
    until = moment("--until", given.until)
    chosen = rehearsal.example(given.example) if given.example is not None else None
    facts = chosen.facts if chosen else _facts_of(given.facts)
    until, cast = (until or chosen.until, chosen.cast) if chosen else (until, rehearsal.Cast())
    told = await rehearsal.rehearse(facts, until, cast)
    unanswered = await rehearsal.unanswered(chosen, told) if chosen else None
    if given.json:
        return _as_json(told, unanswered)
    rulebook = open_rulebook(packs_folder())
    zone = rulebook.zones[facts["jurisdiction"]]
    done = rehearsal.done_in(facts, until, cast, rulebook)
    return [*_in_order(told, done, zone), *(_if_nobody_answers(unanswered, zone) if unanswered is not None else [])]


def _facts_of(name: str) -> dict[str, Any]:
    """The one fact object of a file."""
    facts = read_json(name)
    if not isinstance(facts, dict):
        raise BadInput("one fact object", [f"{name}: a rehearsal plays one fact object; right would be: an object"])
    read: dict[str, Any] = json.loads(json.dumps(facts, default=float))
    return read


def _as_json(told: Sequence[Rehearsed], unanswered: Sequence[Rehearsed] | None) -> list[str]:
    objects: list[Mapping[str, Any]] = [rehearsal.as_line(message) for message in told]
    objects += [{**rehearsal.as_line(message), "if_nobody_answers": True} for message in unanswered or ()]
    return [json.dumps(line, ensure_ascii=False) for line in objects]


def _in_order(told: Sequence[Rehearsed], done: Sequence[tuple[datetime, str]], zone: ZoneInfo) -> list[str]:
    entries = [(message.at, _of_message(message, zone)) for message in told]
    entries += [(at, f"{local(at, zone)}  Done: {says}") for at, says in done]
    return [text for _, text in sorted(entries, key=lambda entry: entry[0])] or ["No message would be sent: no clock runs for these facts."]


def _of_message(message: Rehearsed, zone: ZoneInfo) -> str:
    to = f"{message.person} ({message.role.replace('_', ' ')}), {message.channel} to {message.to}"
    return f"{local(message.at, zone)}  {to}\n    {message.subject}\n    why: {message.reason}"


def _if_nobody_answers(messages: Sequence[Rehearsed], zone: ZoneInfo) -> list[str]:
    """What would go out beside the above, a moment at a time."""
    if not messages:
        return ["", "If nobody answers: just that.", _AT_THE_TOP]
    found = ["", "If nobody answers, this goes out beside it:"]
    for at, group in groupby(messages, key=lambda message: message.at):
        now = sorted(group, key=lambda message: (_RANKS.get(message.role, len(_RANKS)), message.person))
        people = ", ".join(dict.fromkeys(f"{one.person} ({one.role.replace('_', ' ')})" for one in now))
        channels = " and ".join(sorted({one.channel for one in now}))
        subjects = Counter(one.subject for one in now)
        found.append(f"{local(at, zone)}  {people}, by {channels}\n    {'; '.join(subjects)}")
    return [*found, _AT_THE_TOP]
