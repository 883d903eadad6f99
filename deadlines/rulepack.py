"""One rule pack file, read into rules. Every mistake names file, line, place and cure; the schema is told in README.md."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from itertools import combinations
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml

from deadlines.calendars import Calendar, calendar_of
from deadlines.conditions import FLAG_NAMES, Always, Condition, read_condition
from deadlines.facts import EVENT_KEYS, KINDS, METHODS
from deadlines.ladder import CHANNELS, ROLES, Rung, read_span
from deadlines.limits import Limit
from deadlines.reading import Entry, PackError, read_sheet
from deadlines.rules import (
    ALWAYS,
    EVERY_CITY,
    THIS_CITY,
    Alternative,
    Certification,
    Checked,
    ContentItem,
    Covers,
    InForce,
    Pack,
    Recipient,
    Rule,
    Trigger,
)

ACTS_BY_METHOD = ("cleanup", "repair", "sampling", "response", "payment", "filing", "hearing", "retention")
ACTS = ("notice", "order", "appeal", "petition", "decision", "hearing-notice", *ACTS_BY_METHOD)
STARTS = ("known_at", "reported_at", "planned_at", "discharged_at", "discharged_at only", "ended_at only")
EVENT_STARTS = ("event", "hearing_at", "known_at", "discharged_at")
DAYS = ("open day", "closed day")
STATUS_FACTS = ("enrollee", "npdes_permittee", "spcc_facility")
OWED_BY = ("discharger", "city")

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_STATE = re.compile(r"[A-Z]{2}")


def read_pack(path: str, text: str, calendars: Mapping[str, Calendar]) -> Pack:
    """Read one pack file; a city counts by one of `calendars`, or by its own that extends one. Raises PackError with every mistake."""
    sheet = read_sheet(path, text)
    PackError.raise_if_any(sheet.faults)
    pack = _PackReader(sheet.root, text, calendars).read()
    PackError.raise_if_any(sheet.faults)
    return pack


class _PackReader:
    def __init__(self, root: Entry, text: str, calendars: Mapping[str, Calendar]) -> None:
        self.root = root
        self.calendars = calendars
        self.digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        self.conditions: dict[str, Condition] = {}
        self.ladders: dict[str, tuple[Rung, ...]] = {}
        self.recipients: dict[str, Recipient] = {}

    def read(self) -> Pack:
        root = self.root
        root.only(
            "pack", "title", "version", "covers", "state", "permits", "zone", "calendar", "checked", "agencies", "recipients", "conditions",
            "ladders", "rules",
        )  # fmt: skip
        pack_id = root.text("pack")
        if pack_id and not _ID.fullmatch(pack_id):
            root.fault("pack", f"{pack_id!r} is not an id", "lower-case words joined by hyphens, diamond-bar")
        covers = self._covers()
        is_city = covers == THIS_CITY
        for key in ("zone", "calendar", "agencies", "state"):
            if covers is not None and (key in root) != is_city:
                root.fault(key, "missing for a city" if is_city else "only a city has one", f"`{key}:` in packs that cover `{THIS_CITY}`")
        if covers is not None and "permits" in root and not is_city:
            root.fault("permits", "only a city has them", f"`permits:` in packs that cover `{THIS_CITY}`")
        self._read_recipients()
        if "conditions" in root:
            self._read_conditions(root.mapping("conditions"))
        if "ladders" in root:
            self._read_ladders(root.mapping("ladders"))
        rules = [self._rule(pack_id, entry) for entry in root.items("rules")]
        self._check_versions(rules)
        return Pack(
            pack_id, root.text("title"), f"{root.day('version')}+{self.digest}", covers or EVERY_CITY,
            self._zone() if "zone" in root else None, self._calendar(pack_id) if "calendar" in root else None, self._checked(),
            self._agencies() if "agencies" in root else {}, self.recipients, tuple(rules),
            self._state(root, "state") if "state" in root else None, root.texts("permits"),
        )  # fmt: skip

    def _covers(self) -> Covers | None:
        """What the pack lies over; None, noted, where that cannot be told."""
        value = self.root.raw("covers")
        for fixed in (THIS_CITY, EVERY_CITY):
            if value == fixed.by:
                return fixed
        if isinstance(value, dict) and len(value) == 1:
            entry = self.root.mapping("covers")
            entry.only("state", "permit")
            if "state" in entry:
                return Covers("state", self._state(entry, "state"))
            return Covers("permit", entry.text("permit")) if "permit" in entry else None
        right = f"{THIS_CITY}, {EVERY_CITY}, {{state: CA}} or {{permit: ms4-small}}"
        self.root.fault("covers", "missing" if value is None else f"{value!r} is nothing to lie over", right)
        return None

    def _state(self, entry: Entry, key: str) -> str:
        code = entry.text(key)
        if code and not _STATE.fullmatch(code):
            entry.fault(key, f"{code!r} is not a state", "its two capital letters, CA")
        return code

    def _calendar(self, pack_id: str) -> Calendar | None:
        if isinstance(self.root.node_of("calendar"), yaml.MappingNode):
            return calendar_of(self.root.mapping("calendar"), pack_id, self.calendars)
        name = self.root.text("calendar")
        if name not in self.calendars:
            self.root.fault("calendar", f"no calendar {name!r}", f"one of: {', '.join(sorted(self.calendars))}, or {{extends: core, ...}}")
        return self.calendars.get(name)

    def _check_versions(self, rules: Sequence[Rule]) -> None:
        """Several rules may share an id only as versions of one rule, of which one at most is the law on any day."""
        by_duty: dict[str, list[tuple[int, Rule]]] = {}
        for number, rule in enumerate(rules):
            by_duty.setdefault(rule.duty, []).append((number, rule))
        for duty, versions in by_duty.items():
            for (_, one), (number, other) in combinations(versions, 2):
                if not one.stands_beside(other):
                    wrong = f"rule {number} repeats the id {duty}, and both are in force on some day"
                    self.root.fault(
                        "rules", wrong, "each id once, or versions with days that do not overlap: `in_force: {from: ..., until: ...}`"
                    )

    def _zone(self) -> ZoneInfo | None:
        name = self.root.text("zone")
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError):
            self.root.fault("zone", f"{name!r} is not a time zone", "an IANA name, America/Los_Angeles")
            return None

    def _checked(self) -> Checked | None:
        if self.root.raw("checked") is None:
            if "checked" not in self.root:
                self.root.fault("checked", "missing", "{on: 2026-11-30, by: a name}, or null where nobody has compared the text yet")
            return None
        entry = self.root.mapping("checked")
        entry.only("on", "by")
        return Checked(entry.day("on"), entry.text("by"))

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
            entry.only("name", "telephone", "city_office")
            office = entry.flag("city_office", default=False)
            self.recipients[key] = Recipient(key, entry.text("name"), entry.texts("telephone"), office)

    def _read_conditions(self, entry: Entry) -> None:
        for name in entry:
            if name in FLAG_NAMES:
                entry.fault(name, "a fact has this name", "a name of its own")
            node = entry.node_of(name)
            if node is not None:
                self.conditions[name] = read_condition(entry, name, node, self.conditions)

    def _read_ladders(self, entry: Entry) -> None:
        for name in entry:
            rungs = tuple(self._rung(part) for part in entry.items(name))
            for step in ("start", "due"):
                if not any(rung.step == step for rung in rungs):
                    entry.fault(name, f"it has no rung at {step}", f"`- {{at: {step}, tell: [...], by: [...]}}`")
            self.ladders[name] = rungs

    def _rung(self, entry: Entry) -> Rung:
        entry.only("at", "tell", "by", "unless_acknowledged", "ack_lasts", "every", "times", "growing")
        step = entry.text("at")
        from_due, offset, every, times, growing = False, None, None, 1, 1
        try:
            from_due, offset = Rung.parse_at(step)
        except ValueError as error:
            entry.fault("at", str(error), "start, start+15m, due-1h, due or due+30m")
        if "every" in entry or "times" in entry or "growing" in entry:
            times, growing = entry.number("times", 1), entry.number("growing", 1) if "growing" in entry else 1
            every = self._span(entry, "every")
        roles, channels = entry.texts("tell", required=True), entry.texts("by", required=True)
        entry.words("tell", roles, ROLES)
        entry.words("by", channels, CHANNELS)
        zero = date.resolution * 0
        unless_acknowledged = entry.flag("unless_acknowledged", default=False)
        lasts = self._span(entry, "ack_lasts") if "ack_lasts" in entry else None
        if lasts is not None and not unless_acknowledged:
            entry.fault("ack_lasts", "an acknowledgement does not keep this rung back", "`unless_acknowledged: true` beside it, or neither")
        return Rung(step, from_due, offset or zero, roles, channels, unless_acknowledged, every, times, growing, lasts)

    def _span(self, entry: Entry, key: str) -> timedelta | None:
        try:
            return read_span(entry.text(key))
        except ValueError as error:
            entry.fault(key, str(error), "15m, 4h or 1d")
            return None

    def _rule(self, pack_id: str, entry: Entry) -> Rule:
        entry.only(
            "id", "title", "provisions", "citation", "says", "kind", "when", "needs", "on", "where", "unless", "which", "starts",
            "limit", "to", "also_met_by",
            "how", "act", "owed_by", "content", "certification", "ladder", "reading", "verified", "in_force", "starts_on", "other_readings",
        )  # fmt: skip
        trigger = self._trigger(entry)
        how, act = self._how(entry)
        to, to_agency = self._to(entry)
        also = entry.texts("also_met_by")
        kinds = entry.texts("kind")
        entry.words("kind", kinds, KINDS)
        needs = entry.texts("needs")
        entry.words("needs", needs, STATUS_FACTS)
        owed_by = entry.text("owed_by")
        entry.words("owed_by", [owed_by], OWED_BY)
        node = entry.node_of("when")
        return Rule(
            duty=f"{pack_id}/{entry.text('id')}", title=entry.text("title"), provisions=entry.texts("provisions", required=True),
            citation=entry.text("citation"), says=entry.text("says"), kinds=frozenset(kinds or (KINDS if trigger else ("spill",))),
            when=Always() if node is None else read_condition(entry, "when", node, self.conditions), needs=needs, trigger=trigger,
            starts=self._starts(entry, trigger), limit=self._limit(entry, trigger), to=to, to_agency=to_agency, how=how, act=act,
            owed_by=owed_by, content=self._content(entry), ladder=self._ladder(entry, act), reading=entry.text("reading"),
            verified=entry.flag("verified", default=True), in_force=self._in_force(entry),
            starts_on=self._starts_on(entry), also_met_by=frozenset(also), alternatives=self._alternatives(entry, trigger),
            certification=self._certification(entry, act), ladder_name=entry.text("ladder") if "ladder" in entry else "",
        )  # fmt: skip

    def _in_force(self, entry: Entry) -> InForce:
        if "in_force" not in entry:
            return ALWAYS
        days = entry.mapping("in_force")
        days.only("from", "until")
        first, last = (days.day(key) if key in days else None for key in ("from", "until"))
        if first is None and last is None:
            entry.fault("in_force", "it names no day", "{from: 2027-01-01}, {until: 2026-12-31}, or both")
        elif first and last and first > last:
            entry.fault("in_force", f"{first} is later than {last}", "the first day, then the last")
        return InForce(first, last)

    def _starts_on(self, entry: Entry) -> str | None:
        if "starts_on" not in entry:
            return None
        day = entry.text("starts_on")
        entry.words("starts_on", [day], DAYS)
        return day

    def _alternatives(self, entry: Entry, trigger: Trigger | None) -> tuple[Alternative, ...]:
        found = []
        for part in entry.items("other_readings"):
            part.only("reading", "limit", "starts")
            limit = self._limit(part, trigger) if "limit" in part else None
            if limit and limit.shape in ("recurring", "comply by"):
                part.fault("limit", f"{limit.text!r} cannot stand beside another count", "2 hours, 7 calendar days, 5 working days ...")
            starts = self._starts(part, trigger) if "starts" in part else None
            found.append(Alternative(part.text("reading"), limit, starts))
        return tuple(found)

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
        entry.words("how", how, (*METHODS, "any", *ACTS_BY_METHOD))
        own = [word for word in how if word in ACTS_BY_METHOD]
        if own and len(how) > 1:
            entry.fault("how", f"{own[0]} stands with other ways", f"`how: [{own[0]}]` alone")
        act = entry.text("act", own[0] if own else "notice")
        entry.words("act", [act], ACTS)
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
            if starts not in EVENT_STARTS:
                entry.fault(
                    "starts", f"{starts!r} with `on`", "hearing_at, known_at, discharged_at, or leave it out for the event's own time"
                )
            elif starts == "hearing_at" and starts not in EVENT_KEYS[trigger.event]:
                entry.fault("starts", f"{trigger.event} says no {starts}", "`on: hearing_set`")
            return starts
        if "on" in entry:
            return "event"  # of an event that does not exist, which is noted already
        starts = entry.text("starts")
        entry.words("starts", [starts] if starts else [], STARTS)
        return starts

    def _limit(self, entry: Entry, trigger: Trigger | None) -> Limit:
        text = entry.text("limit")
        try:
            limit = Limit.parse(text)
            if (limit.shape == "comply by" or limit.or_sooner) and (trigger is None or trigger.event != "order_served"):
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

    def _certification(self, entry: Entry, act: str) -> Certification | None:
        if "certification" not in entry:
            return None
        if act != "notice":
            entry.fault("certification", f"the act is {act}, and only a report is certified", "a rule that is done by a written notice")
        part = entry.mapping("certification")
        part.only("says", "source")
        return Certification(part.text("says"), part.text("source"))

    def _ladder(self, entry: Entry, act: str) -> tuple[Rung, ...]:
        if act == "retention" and "ladder" not in entry:
            return ()
        name = entry.text("ladder")
        if name and name not in self.ladders:
            entry.fault("ladder", f"no ladder {name!r}", f"one of: {', '.join(sorted(self.ladders))}")
        return self.ladders.get(name, ())
