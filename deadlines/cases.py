"""Cases: fact objects with every clock each must give, worked out by hand. They are what a pack is held to; README.md tells the form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from deadlines.clocks import Assessment, Clock, as_z, assess
from deadlines.facts import FactFaults, Facts, read_facts
from deadlines.reading import Entry, Mistake, PackError, read_sheet
from deadlines.rulebook import Rulebook

# The moment a case is judged at where it names none. Only recurring duties, and versions of a waiting rule, depend on it.
JUDGED_AT = datetime(2026, 12, 1, 12, tzinfo=UTC)

Answer = Mapping[str, Any]
_ANSWER_TIMES = ("starts_at", "due_at", "extended_due_at", "met_at", "other_due_at")
_ANSWER_KEYS = ("duty", "event", "occurrence", "applies", "starts_at", "due_at", "extended_due_at", "met_at", "other_due_at")


@dataclass(frozen=True)
class Case:
    """One fact object, the moment it is judged at, all its clocks in order, and the questions to staff that hold duties back."""

    pack: str
    path: str
    line: int
    name: str
    facts: Mapping[str, Any]
    clocks: tuple[Answer, ...]
    now: datetime = JUDGED_AT
    asked: Mapping[str, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.pack}: {self.name}"

    def mistake(self, place: str, wrong: str, right: str) -> Mistake:
        """A mistake that this case shows."""
        return Mistake(self.path, self.line, f"{self.name!r}: {place}", wrong, right)

    def read(self, rulebook: Rulebook) -> Facts:
        """Its facts as the command line reads them. Raises FactFaults."""
        return read_facts(self.facts, rulebook.zones, frozenset(rulebook.recipients))


def read_cases(path: str, text: str) -> tuple[Case, ...]:
    """Read a file of cases, named for the pack they belong to: cases/chino.yaml. Raises PackError with every mistake in it."""
    sheet = read_sheet(path, text)
    PackError.raise_if_any(sheet.faults)
    sheet.root.only("cases")
    if "cases" not in sheet.root:
        sheet.root.fault("cases", "missing", "`cases:` with `- name: ...` below it")
    pack = path.rpartition("/")[2].removesuffix(".yaml")
    found = tuple(_case(pack, path, entry) for entry in sheet.root.items("cases"))
    named: set[str] = set()
    for case in found:
        if case.name in named:
            sheet.faults.append(case.mistake("name", "another case of this file has this name", "a name of its own"))
        named.add(case.name)
    PackError.raise_if_any(sheet.faults)
    return found


def _case(pack: str, path: str, entry: Entry) -> Case:
    entry.only("name", "why", "now", "facts", "asked", "clocks")
    entry.mapping("facts")
    clocks = tuple(_answer(clock) for clock in entry.items("clocks"))
    asked = entry.as_json("asked") if "asked" in entry else {}
    return Case(pack, path, entry.line, entry.text("name"), entry.as_json("facts") or {}, clocks, _now(entry), asked)


def _answer(clock: Entry) -> Answer:
    clock.only(*_ANSWER_KEYS)
    clock.text("duty")
    answer = {key: clock.as_json(key) for key in clock}
    if "applies" in clock:
        clock.words("applies", [str(answer["applies"])], ("yes", "presumed"))
    for key in _ANSWER_TIMES:
        if key in clock:
            answer[key] = _in_utc(clock, key, answer[key])
    return _without_gaps(answer)


def _in_utc(clock: Entry, key: str, value: Any) -> Any:
    """A time of an answer, or several, as JSON has it; written in any zone."""
    if isinstance(value, list):
        return [_in_utc(clock, key, part) for part in value]
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        clock.fault(key, f"{value!r} is not a moment", "2026-12-01T00:30:00Z, or with the offset of the city, 2026-11-30T16:30:00-08:00")
        return None
    return as_z(moment)


def _now(entry: Entry) -> datetime:
    if "now" not in entry:
        return JUDGED_AT
    try:
        moment = datetime.fromisoformat(entry.text("now"))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        entry.fault("now", f"{entry.text('now')!r} is not a moment", "2026-12-01T12:00:00Z")
        return JUDGED_AT
    return moment


def answer_of(clock: Clock) -> Answer:
    """What a case says about a clock: whether it runs, from when, until when; what is not there is left out."""
    shown = clock.as_json()
    answer = {key: shown[key] for key in _ANSWER_KEYS if key in shown}
    answer["other_due_at"] = [other["due_at"] for other in shown["other_readings"]]
    return _without_gaps(answer)


def _without_gaps(answer: Answer) -> Answer:
    return {key: value for key, value in answer.items() if value not in (None, [])}


def answers_of(assessment: Assessment) -> list[Answer]:
    """All clocks of an assessment, as a case states them."""
    return [answer_of(clock) for clock in assessment.clocks]


def asked_of(assessment: Assessment) -> dict[str, list[str]]:
    """The questions to staff that hold duties back, as a case states them."""
    return {question.fact: list(question.held_back) for question in assessment.questions if question.held_back}


def failing(cases: Iterable[Case], rulebook: Rulebook) -> list[Mistake]:
    """What the cases find wrong with a rulebook: each clock that is missing, one too many, or different, and each other question."""
    found: list[Mistake] = []
    for case in cases:
        try:
            facts = case.read(rulebook)
        except FactFaults as error:
            found += [case.mistake(f"facts.{fault.key}", fault.wrong, fault.right) for fault in error.faults]
            continue
        duties = {rule.duty for pack in rulebook.packs.values() for rule in pack.rules}
        unknown = [answer["duty"] for answer in case.clocks if answer["duty"] not in duties]
        found += [case.mistake(duty, "no pack has such a duty", "one of `spillclock rules list`") for duty in unknown]
        assessment = assess(facts, rulebook, case.now)
        zone = rulebook.zones[facts.jurisdiction]
        wanted = [answer for answer in case.clocks if answer["duty"] in duties]
        found += _differences(case, answers_of(assessment), wanted, zone)
        if asked_of(assessment) != case.asked:
            found.append(case.mistake("asked", f"the packs ask {asked_of(assessment)}", f"as the case says: {dict(case.asked)}"))
    return found


def _differences(case: Case, given: Sequence[Answer], wanted: Sequence[Answer], zone: ZoneInfo) -> list[Mistake]:
    if list(given) == list(wanted):
        return []
    extra = [answer for answer in given if answer not in wanted]
    missing = [answer for answer in wanted if answer not in given]
    found = []
    for answer in missing:
        twin = next((other for other in extra if _key(other) == _key(answer)), None)
        if twin is not None:
            extra.remove(twin)
        found.append(case.mistake(answer["duty"], f"the packs give {_told(twin, zone)}, the case {_told(answer, zone)}", _CURE))
    found += [case.mistake(answer["duty"], f"the packs give {_told(answer, zone)}, the case no such clock", _CURE) for answer in extra]
    in_order = ", ".join(answer["duty"] for answer in given)
    return found or [case.mistake("clocks", "they stand in another order than that of the packs", f"by due time, then by duty: {in_order}")]


_CURE = "whichever the text and a calendar say; one of the two is wrong"


def _key(answer: Answer) -> tuple[Any, ...]:
    return answer["duty"], answer.get("event"), answer.get("occurrence")


def _told(answer: Answer | None, zone: ZoneInfo) -> str:
    if answer is None:
        return "no such clock"
    return ", ".join(f"{key} {_told_value(value, zone)}" for key, value in answer.items() if key != "duty")


def _told_value(value: Any, zone: ZoneInfo) -> str:
    """A value; a time also as the city's clocks show it."""
    if isinstance(value, list):
        return ", ".join(_told_value(part, zone) for part in value)
    if not isinstance(value, str) or not value.endswith("Z"):
        return str(value)
    return f"{value} ({datetime.fromisoformat(value).astimezone(zone):%a %b %d %H:%M:%S %Z})"
