"""One rule pack file, read into rules. Every mistake names file, line, place and cure; the schema is told in README.md."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml

from deadlines.conditions import (
    COMPARISONS,
    FLAG_NAMES,
    WORD_FACTS,
    All,
    Always,
    AnyOf,
    Condition,
    Flag,
    Is,
    Not,
    Reached,
    UnlessKnown,
    VolumeIs,
)
from deadlines.facts import EVENT_KEYS, KINDS, METHODS, PLACES_REACHED
from deadlines.ladder import CHANNELS, ROLES, Rung, read_span
from deadlines.limits import Limit
from deadlines.quantities import GALLONS
from deadlines.reading import Entry, PackError, read_sheet

ACTS_BY_METHOD = ("cleanup", "repair", "sampling", "response", "payment", "filing", "hearing", "retention")
ACTS = ("notice", "order", "appeal", "petition", "decision", "hearing-notice", *ACTS_BY_METHOD)
STARTS = ("known_at", "reported_at", "planned_at", "discharged_at", "discharged_at only", "ended_at only")
STATUS_FACTS = ("enrollee", "npdes_permittee", "spcc_facility")
OWED_BY = ("discharger", "city")
EVERY_CITY, THIS_CITY = "every city", "this city"

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_VOLUME = re.compile(r"([\d,]+(?:\.\d+)?) (\w+)")


@dataclass(frozen=True, slots=True)
class Recipient:
    """Somebody a duty is owed to, as the law names them; `telephone` holds public numbers."""

    id: str
    name: str
    telephone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContentItem:
    """One thing a written report must hold."""

    item: str
    says: str


@dataclass(frozen=True, slots=True)
class Trigger:
    """The event that starts a rule's clock, and what it must say (`where`) or must not say (`unless`)."""

    event: str
    where: Mapping[str, frozenset[object]]
    unless: Mapping[str, frozenset[object]]
    first_only: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a pack: one row of the law. `duty` is its id for ever."""

    duty: str
    title: str
    provisions: tuple[str, ...]
    citation: str
    says: str
    kinds: frozenset[str]
    when: Condition
    needs: tuple[str, ...]
    trigger: Trigger | None
    starts: str
    limit: Limit
    to: str | None
    to_agency: str | None
    how: tuple[str, ...]
    act: str
    owed_by: str
    content: tuple[ContentItem, ...]
    ladder: tuple[Rung, ...]
    reading: str
    verified: bool


@dataclass(frozen=True, slots=True)
class Pack:
    """One jurisdiction's or permit's duties. `version` is the day of the text and the first digits of its SHA-256."""

    id: str
    title: str
    version: str
    covers: tuple[str, ...]
    zone: ZoneInfo | None
    calendar: str | None
    checked_on: date | None
    agencies: Mapping[str, str]
    recipients: Mapping[str, Recipient]
    rules: tuple[Rule, ...]

    @property
    def is_city(self) -> bool:
        """Whether this is a city's own pack, not one that lies over cities."""
        return self.covers == (THIS_CITY,)


def read_pack(path: str, text: str) -> Pack:
    """Read one pack file. Raises PackError with every mistake in it."""
    sheet = read_sheet(path, text)
    PackError.raise_if_any(sheet.faults)
    pack = _PackReader(sheet.root, text).read()
    PackError.raise_if_any(sheet.faults)
    return pack


class _PackReader:
    def __init__(self, root: Entry, text: str) -> None:
        self.root = root
        self.digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        self.conditions: dict[str, Condition] = {}
        self.ladders: dict[str, tuple[Rung, ...]] = {}
        self.recipients: dict[str, Recipient] = {}

    def read(self) -> Pack:
        root = self.root
        root.only(
            "pack", "title", "version", "covers", "zone", "calendar", "checked", "agencies", "recipients", "conditions", "ladders", "rules"
        )
        pack_id = root.text("pack")
        if pack_id and not _ID.fullmatch(pack_id):
            root.fault("pack", f"{pack_id!r} is not an id", "lower-case words joined by hyphens, diamond-bar")
        covers = root.texts("covers", required=True)
        is_city = covers == (THIS_CITY,)
        for key in ("zone", "calendar", "agencies"):
            if covers and (key in root) != is_city:
                root.fault(key, "missing for a city" if is_city else "only a city has one", f"`{key}:` in packs that cover `{THIS_CITY}`")
        self._read_recipients()
        if "conditions" in root:
            self._read_conditions(root.mapping("conditions"))
        if "ladders" in root:
            self._read_ladders(root.mapping("ladders"))
        rules = [self._rule(pack_id, entry) for entry in root.items("rules")]
        seen: set[str] = set()
        for number, rule in enumerate(rules):
            if rule.duty in seen:
                root.fault("rules", f"rule {number} repeats the id {rule.duty}", "each id once")
            seen.add(rule.duty)
        return Pack(
            pack_id, root.text("title"), f"{root.day('version')}+{self.digest}", covers, self._zone() if "zone" in root else None,
            root.text("calendar") if "calendar" in root else None, self._checked(), self._agencies() if "agencies" in root else {},
            self.recipients, tuple(rules),
        )  # fmt: skip

    def _zone(self) -> ZoneInfo | None:
        name = self.root.text("zone")
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError):
            self.root.fault("zone", f"{name!r} is not a time zone", "an IANA name, America/Los_Angeles")
            return None

    def _checked(self) -> date | None:
        if self.root.raw("checked") is None:
            if "checked" not in self.root:
                self.root.fault("checked", "missing", "{on: 2026-11-30, by: a name}, or null where nobody has compared the text yet")
            return None
        entry = self.root.mapping("checked")
        entry.only("on", "by")
        entry.text("by")
        return entry.day("on")

    def _agencies(self) -> dict[str, str]:
        entry = self.root.mapping("agencies")
        found = {key: entry.text(key) for key in entry}
        for key, recipient in found.items():
            if recipient not in self.recipients:
                entry.fault(key, f"no recipient {recipient!r}", f"one of: {', '.join(sorted(self.recipients))}")
        return found

    def _read_recipients(self) -> None:
        if "recipients" not in self.root:
            return
        entries = self.root.mapping("recipients")
        for key in entries:
            entry = entries.mapping(key)
            entry.only("name", "telephone")
            self.recipients[key] = Recipient(key, entry.text("name"), entry.texts("telephone"))

    def _read_conditions(self, entry: Entry) -> None:
        for name in entry:
            if name in FLAG_NAMES:
                entry.fault(name, "a fact has this name", "a name of its own")
            node = entry.node_of(name)
            if node is not None:
                self.conditions[name] = self.condition(entry, name, node)

    def _read_ladders(self, entry: Entry) -> None:
        for name in entry:
            rungs = tuple(self._rung(part) for part in entry.items(name))
            for step in ("start", "due"):
                if not any(rung.step == step for rung in rungs):
                    entry.fault(name, f"it has no rung at {step}", f"`- {{at: {step}, tell: [...], by: [...]}}`")
            self.ladders[name] = rungs

    def _rung(self, entry: Entry) -> Rung:
        entry.only("at", "tell", "by", "unless_acknowledged", "every", "times")
        step = entry.text("at")
        from_due, offset, every, times = False, None, None, 1
        try:
            from_due, offset = Rung.parse_at(step)
        except ValueError as error:
            entry.fault("at", str(error), "start, start+15m, due-1h, due or due+30m")
        if "every" in entry or "times" in entry:
            times = entry.number("times", 1)
            try:
                every = read_span(entry.text("every"))
            except ValueError as error:
                entry.fault("every", str(error), "15m, 4h or 1d")
        roles, channels = entry.texts("tell", required=True), entry.texts("by", required=True)
        self._words(entry, "tell", roles, ROLES)
        self._words(entry, "by", channels, CHANNELS)
        zero = date.resolution * 0
        return Rung(step, from_due, offset or zero, roles, channels, entry.flag("unless_acknowledged", default=False), every, times)

    def _words(self, entry: Entry, key: str, words: Sequence[str], known: Sequence[str]) -> None:
        for word in words:
            if word not in known:
                entry.fault(key, f"{word!r} is not a word of this list", f"one of: {', '.join(known)}")

    def _rule(self, pack_id: str, entry: Entry) -> Rule:
        entry.only(
            "id", "title", "provisions", "citation", "says", "kind", "when", "needs", "on", "where", "unless", "which", "starts",
            "limit", "to",
            "how", "act", "owed_by", "content", "ladder", "reading", "verified",
        )  # fmt: skip
        trigger = self._trigger(entry)
        how, act = self._how(entry)
        to, to_agency = self._to(entry)
        kinds = entry.texts("kind")
        self._words(entry, "kind", kinds, KINDS)
        needs = entry.texts("needs")
        self._words(entry, "needs", needs, STATUS_FACTS)
        owed_by = entry.text("owed_by")
        self._words(entry, "owed_by", [owed_by], OWED_BY)
        node = entry.node_of("when")
        return Rule(
            duty=f"{pack_id}/{entry.text('id')}", title=entry.text("title"), provisions=entry.texts("provisions", required=True),
            citation=entry.text("citation"), says=entry.text("says"), kinds=frozenset(kinds or (KINDS if trigger else ("spill",))),
            when=Always() if node is None else self.condition(entry, "when", node), needs=needs, trigger=trigger,
            starts=self._starts(entry, trigger), limit=self._limit(entry, trigger), to=to, to_agency=to_agency, how=how, act=act,
            owed_by=owed_by, content=self._content(entry), ladder=self._ladder(entry, act), reading=entry.text("reading"),
            verified=entry.flag("verified", default=True),
        )  # fmt: skip

    def _trigger(self, entry: Entry) -> Trigger | None:
        if "on" not in entry:
            for key in ("where", "unless", "which"):
                if key in entry:
                    entry.fault(key, "only a rule with `on` has one", "`on: order_served`")
            return None
        event = entry.text("on")
        if event not in EVENT_KEYS:
            entry.fault("on", f"{event!r} is not a type of event", f"one of: {', '.join(EVENT_KEYS)}")
            return None
        which = entry.text("which", "each")
        if which not in ("each", "first"):
            entry.fault("which", f"{which!r} is not a choice", "first, or leave it out")
        return Trigger(event, self._event_words(entry, "where", event), self._event_words(entry, "unless", event), which == "first")

    def _event_words(self, entry: Entry, key: str, event: str) -> dict[str, frozenset[object]]:
        if key not in entry:
            return {}
        words = entry.mapping(key)
        words.only(*EVENT_KEYS[event])
        found: dict[str, frozenset[object]] = {}
        for name in words:
            value = words.raw(name)
            given = value if isinstance(value, list) else [value]
            form = EVENT_KEYS[event].get(name)
            known = form if isinstance(form, tuple) else (True, False) if form is bool else None
            for word in given:
                if known is not None and word not in known:
                    words.fault(name, f"{word!r} is not a word of this list", f"one of: {', '.join(map(str, known))}")
            found[name] = frozenset(given)
        return found

    def _how(self, entry: Entry) -> tuple[tuple[str, ...], str]:
        how = entry.texts("how", required=True)
        self._words(entry, "how", how, (*METHODS, "any", *ACTS_BY_METHOD))
        own = [word for word in how if word in ACTS_BY_METHOD]
        if own and len(how) > 1:
            entry.fault("how", f"{own[0]} stands with other ways", f"`how: [{own[0]}]` alone")
        act = entry.text("act", own[0] if own else "notice")
        self._words(entry, "act", [act], ACTS)
        return how, act

    def _to(self, entry: Entry) -> tuple[str | None, str | None]:
        value = entry.raw("to")
        if value is None:
            return None, None
        if isinstance(value, dict):
            agency = entry.mapping("to")
            agency.only("agency")
            return None, agency.text("agency")
        if value != "discharger" and value not in self.recipients:
            entry.fault("to", f"no recipient {value!r}", f"discharger, or one of: {', '.join(sorted(self.recipients))}")
        return str(value), None

    def _starts(self, entry: Entry, trigger: Trigger | None) -> str:
        if trigger is not None:
            starts = entry.text("starts", "event")
            if starts not in ("event", "hearing_at"):
                entry.fault("starts", f"{starts!r} with `on`", "hearing_at, or leave it out for the event's own time")
            elif starts not in ("event", *EVENT_KEYS[trigger.event]):
                entry.fault("starts", f"{trigger.event} says no {starts}", "`on: hearing_set`")
            return starts
        if "on" in entry:
            return "event"  # of an event that does not exist, which is noted already
        starts = entry.text("starts")
        self._words(entry, "starts", [starts] if starts else [], STARTS)
        return starts

    def _limit(self, entry: Entry, trigger: Trigger | None) -> Limit:
        text = entry.text("limit")
        try:
            limit = Limit.parse(text)
            if limit.shape == "comply by" and (trigger is None or trigger.event != "order_served"):
                entry.fault("limit", f"{text!r}, and only an order sets a time to comply", "`on: order_served`")
            if limit.shape == "recurring" and trigger is not None:
                entry.fault("limit", f"{text!r} after an event", "a rule that starts from a fact, `starts: discharged_at only`")
            return limit
        except ValueError as error:
            entry.fault(
                "limit", str(error), "immediately, 2 hours, 7 calendar days, 5 working days, 3 years, 7 calendar days before, comply_by ..."
            )
            return Limit("immediately", "immediately")

    def _content(self, entry: Entry) -> tuple[ContentItem, ...]:
        items = []
        for part in entry.items("content"):
            part.only("item", "says")
            items.append(ContentItem(part.text("item"), part.text("says")))
        return tuple(items)

    def _ladder(self, entry: Entry, act: str) -> tuple[Rung, ...]:
        if act == "retention" and "ladder" not in entry:
            return ()
        name = entry.text("ladder")
        if name and name not in self.ladders:
            entry.fault("ladder", f"no ladder {name!r}", f"one of: {', '.join(sorted(self.ladders))}")
        return self.ladders.get(name, ())

    def condition(self, entry: Entry, key: str, node: yaml.Node) -> Condition:
        """Read a condition node; a mistake is noted and read as always."""
        if isinstance(node, yaml.ScalarNode):
            return self._named(entry, key, str(node.value))
        if isinstance(node, yaml.MappingNode):
            inner = Entry(entry.sheet, node, f"{entry.place}{key}.")
            words = set(inner)
            if "fact" in words and len(words) == 2:
                return self._about_fact(inner, inner.text("fact"), (words - {"fact"}).pop())
            if len(words) == 1:
                word = words.pop()
                part = inner.node_of(word)
                joins: dict[str, Callable[[tuple[Condition, ...]], Condition]] = {"all": All, "any": AnyOf}
                if word in joins and isinstance(part, yaml.SequenceNode):
                    return joins[word](tuple(self.condition(inner, f"{word}[{n}]", piece) for n, piece in enumerate(part.value)))
                singles: dict[str, Callable[[Condition], Condition]] = {"not": Not, "unless_known": UnlessKnown}
                if word in singles and part is not None:
                    return singles[word](self.condition(inner, word, part))
        entry.fault(
            key, "it is not a condition", "a name, {all: [...]}, {any: [...]}, {not: ...}, {unless_known: ...} or {fact: ..., is: ...}"
        )
        return Always()

    def _named(self, entry: Entry, key: str, name: str) -> Condition:
        if name in self.conditions:
            return self.conditions[name]
        if name in FLAG_NAMES:
            return Flag(name)
        known = ", ".join([*self.conditions, *sorted(FLAG_NAMES)])
        entry.fault(key, f"no condition or fact {name!r} (a condition is named before it is used)", f"one of: {known}")
        return Always()

    def _about_fact(self, entry: Entry, fact: str, word: str) -> Condition:
        if fact in WORD_FACTS and word == "is":
            words = entry.texts("is")
            self._words(entry, "is", words, WORD_FACTS[fact])
            return Is(fact, frozenset(words))
        if fact == "volume" and word in COMPARISONS:
            found = _VOLUME.fullmatch(entry.text(word))
            if found and found[2] in GALLONS:
                return VolumeIs(word, Fraction(Decimal(found[1].replace(",", ""))) * GALLONS[found[2]])
            entry.fault(word, f"{entry.raw(word)!r} is not a volume", f"a number and one of {', '.join(GALLONS)}, `1000 gal`")
        elif fact == "reached" and word in ("holds", "may_hold"):
            places = entry.texts(word)
            self._words(entry, word, places, PLACES_REACHED)
            return Reached(frozenset(places), word == "may_hold")
        else:
            right = "{fact: material, is: ...}, {fact: volume, over: ...}, {fact: reached, holds: [...]}"
            entry.fault(word, f"{fact!r} cannot be asked {word!r}", right)
        return Always()
