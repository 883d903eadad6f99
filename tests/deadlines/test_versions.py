"""Several versions of one rule: the one in force on the local day the clock starts counts, and other choices that hang on the start."""

from __future__ import annotations

from datetime import date, datetime
from functools import cache
from typing import Any

import pytest

from deadlines import Clock, Rulebook, assess, read_calendars, read_facts, read_rulebook
from service.library import shipped_shelf
from tests.deadlines.case_files import rulebook

NOW = "2027-01-02T12:00:00-08:00"
PACK = """
pack: mudville
title: City of Mudville, California
version: 2026-12-31
covers: this city
state: ZZ
zone: America/Los_Angeles
calendar: {extends: california, closes_at: "16:30"}
checked: null
agencies: {npdes-authority: board, epa-region: board}
recipients:
  works: {name: Public Works}
  board: {name: The Board}
ladders:
  main:
    - {at: start, tell: [duty_officer], by: [sms]}
    - {at: due, tell: [supervisor], by: [email]}
rules:
"""
RULE = """
  - id: %(id)s
    title: A duty
    provisions: [MUD-01]
    citation: Mudville Code 1
    says: Something is done.
    %(more)s
    how: [any]
    owed_by: discharger
    ladder: main
    reading: As written.
"""


@cache
def law(*rules: str) -> Rulebook:
    """A rulebook of one city with these rules, each given as `id; key: value; key: value`."""
    text = PACK
    for rule in rules:
        name, *keys = rule.split("; ")
        text += RULE % {"id": name, "more": "\n    ".join(keys)}
    return read_rulebook({"packs/mudville.yaml": text}, read_calendars(shipped_shelf().calendars), rulebook().quantities)


def clocks(book: Rulebook, now: str = NOW, **facts: Any) -> list[Clock]:
    found = read_facts({"jurisdiction": "mudville", **facts}, book.zones, frozenset(book.recipients))
    return list(assess(found, book, datetime.fromisoformat(now)).clocks)


def told(found: list[Clock]) -> list[tuple[str, str | None]]:
    """The limit and due time of each clock, in the city's time."""
    return [(clock.standing.rule.limit.text, clock.due_at and clock.due_at.astimezone(clock.counted.zone).isoformat()) for clock in found]  # type: ignore[union-attr,misc]


AMENDED = law(
    "report; starts: known_at; limit: 7 calendar days; to: works; in_force: {until: 2026-12-31}",
    "report; starts: known_at; limit: 2 working days; to: works; in_force: {from: 2027-01-01}",
)
LAST_MINUTE, FIRST_MINUTE = "2026-12-31T23:59:59-08:00", "2027-01-01T00:00:00-08:00"


@pytest.mark.parametrize(
    ("known_at", "answer"),
    [
        (LAST_MINUTE, ("7 calendar days", "2027-01-07T23:59:59-08:00")),
        (FIRST_MINUTE, ("2 working days", "2027-01-05T16:30:00-08:00")),
        # The local day decides, not the day in UTC: this is 1 January in London and still 31 December in Mudville.
        ("2027-01-01T07:59:59Z", ("7 calendar days", "2027-01-07T23:59:59-08:00")),
    ],
)
def test_the_version_in_force_on_the_local_day_of_the_start_counts(known_at: str, answer: tuple[str, str]) -> None:
    assert told(clocks(AMENDED, known_at=known_at)) == [answer]


@pytest.mark.parametrize("now", ["2026-12-31T12:00:00-08:00", "2027-03-01T12:00:00-08:00"])
def test_a_running_clock_keeps_its_version_whenever_it_is_looked_at(now: str) -> None:
    assert told(clocks(AMENDED, now, known_at=LAST_MINUTE)) == [("7 calendar days", "2027-01-07T23:59:59-08:00")]


def test_of_two_events_around_the_amendment_each_runs_by_the_text_of_its_day() -> None:
    book = law(
        "answer; on: order_served; limit: 7 calendar days; to: works; act: order; in_force: {until: 2026-12-31}",
        "answer; on: order_served; limit: 3 calendar days; to: works; act: order; in_force: {from: 2027-01-01}",
    )
    served = [{"type": "order_served", "order": "compliance_order", "at": moment} for moment in (LAST_MINUTE, FIRST_MINUTE)]
    found = clocks(book, kind="enforcement", events=served)
    assert [(clock.event, clock.standing.rule.limit.text) for clock in found] == [(1, "3 calendar days"), (0, "7 calendar days")]


def test_between_two_versions_there_is_no_law() -> None:
    book = law(
        "report; starts: known_at; limit: 7 calendar days; to: works; in_force: {until: 2026-06-30}",
        "report; starts: known_at; limit: 2 working days; to: works; in_force: {from: 2027-01-01}",
    )
    assert clocks(book, known_at="2026-07-01T00:00:00-07:00") == []
    assert len(clocks(book, known_at="2026-06-30T23:59:59-07:00")) == 1


@pytest.mark.parametrize(("now", "limit"), [("2026-12-31T12:00:00-08:00", "7 calendar days"), (NOW, "3 calendar days")])
def test_a_clock_that_waits_for_its_start_shows_the_version_of_today(now: str, limit: str) -> None:
    book = law(
        "close; starts: ended_at only; limit: 7 calendar days; to: works; in_force: {until: 2026-12-31}",
        "close; starts: ended_at only; limit: 3 calendar days; to: works; in_force: {from: 2027-01-01}",
    )
    (waiting,) = clocks(book, now, known_at=LAST_MINUTE)
    assert (waiting.state, waiting.standing.rule.limit.text) == ("waiting", limit)


def test_a_question_is_asked_by_the_version_in_force_alone() -> None:
    book = law(
        "call; starts: known_at; limit: 2 hours; to: works; needs: [enrollee]; in_force: {until: 2026-12-31}",
        "call; starts: known_at; limit: 1 hours; to: works; in_force: {from: 2027-01-01}",
    )
    found = read_facts({"jurisdiction": "mudville", "known_at": FIRST_MINUTE}, book.zones)
    assert assess(found, book, datetime.fromisoformat(NOW)).questions == ()
    before = read_facts({"jurisdiction": "mudville", "known_at": LAST_MINUTE}, book.zones)
    assert [question.held_back for question in assess(before, book, datetime.fromisoformat(NOW)).questions] == [("mudville/call",)]


def test_a_recurring_duty_goes_on_by_the_version_it_began_under() -> None:
    book = law(
        "sample; starts: discharged_at only; limit: every 7 calendar days until ended_at; in_force: {until: 2026-12-31}",
        "sample; starts: discharged_at only; limit: every 1 calendar days until ended_at; in_force: {from: 2027-01-01}",
    )
    found = clocks(book, "2027-01-12T12:00:00-08:00", known_at=LAST_MINUTE, discharged_at=LAST_MINUTE)
    assert [clock.standing.rule.limit.count for clock in found] == [7, 7]


DAY_OR_NOON = law(
    "call; starts: known_at; limit: 24 hours; to: works; starts_on: open day",
    "call; starts: known_at; limit: 1 working day by 12:00; to: works; starts_on: closed day",
)


@pytest.mark.parametrize(
    ("known_at", "answer"),
    [
        ("2026-11-25T23:59:00-08:00", ("24 hours", "2026-11-26T23:59:00-08:00")),
        ("2026-11-26T00:00:00-08:00", ("1 working day by 12:00", "2026-11-27T12:00:00-08:00")),
        ("2026-11-28T09:00:00-08:00", ("1 working day by 12:00", "2026-11-30T12:00:00-08:00")),
        ("2026-11-30T17:00:00-08:00", ("24 hours", "2026-12-01T17:00:00-08:00")),
    ],
)
def test_a_limit_may_hang_on_whether_the_offices_are_closed_at_the_start(known_at: str, answer: tuple[str, str]) -> None:
    assert told(clocks(DAY_OR_NOON, known_at=known_at)) == [answer]


def test_outside_its_calendar_one_version_alone_stands_and_a_weekend_is_one_there_too() -> None:
    assert told(clocks(DAY_OR_NOON, known_at="2040-01-02T09:00:00-08:00")) == [("24 hours", "2040-01-03T09:00:00-08:00")]
    (sunday,) = clocks(DAY_OR_NOON, known_at="2040-01-01T09:00:00-08:00")
    assert sunday.standing.rule.limit.text == "1 working day by 12:00"
    assert sunday.uncomputable is not None


@pytest.mark.parametrize(
    ("comply_by", "due"),
    [
        ("2027-01-05T12:00:00-08:00", "2027-01-05T12:00:00-08:00"),
        ("2027-03-05T12:00:00-08:00", "2027-01-31T23:59:59-08:00"),
        (None, "2027-01-31T23:59:59-08:00"),
    ],
)
def test_an_order_may_want_it_sooner_and_never_later_than_the_text_allows(comply_by: str | None, due: str) -> None:
    book = law("repair; on: order_served; limit: 30 calendar days, or comply_by if sooner; to: works; act: order")
    served = {"type": "order_served", "order": "compliance_order", "at": "2027-01-01T10:00:00-08:00", "comply_by": comply_by}
    assert [due_at for _, due_at in told(clocks(book, kind="enforcement", events=[served]))] == [due]


def test_a_clock_may_be_owed_upon_an_event_and_count_from_the_discharge() -> None:
    book = law("letter; on: notice_given; which: first; starts: discharged_at; limit: 5 calendar days; to: works")
    call = {"type": "notice_given", "recipient": "board", "method": "telephone", "at": "2027-01-02T09:00:00-08:00"}
    assert clocks(book, known_at=LAST_MINUTE) == []
    (letter,) = clocks(book, known_at=LAST_MINUTE, discharged_at="2026-12-30T08:00:00-08:00", events=[call])
    assert told([letter]) == [("5 calendar days", "2027-01-04T23:59:59-08:00")]
    assert (letter.event, letter.applies) == (0, "yes")
    (presumed,) = clocks(book, known_at=LAST_MINUTE, events=[call])
    assert (presumed.applies, presumed.unsettled) == ("presumed", ("discharged_at",))


@pytest.mark.parametrize(("told_at", "met"), [("2027-01-01T09:00:00-08:00", True), ("2026-12-30T09:00:00-08:00", False)])
def test_a_clock_that_counts_from_the_discharge_is_met_by_what_came_after_the_discharge(told_at: str, met: bool) -> None:
    book = law("letter; on: abatement_notified; starts: discharged_at; limit: 5 calendar days; to: works")
    told_first = {"type": "notice_given", "recipient": "works", "method": "mail", "at": told_at}
    ordered = {"type": "abatement_notified", "at": "2027-01-02T09:00:00-08:00"}
    (letter,) = clocks(book, known_at=LAST_MINUTE, discharged_at=LAST_MINUTE, events=[told_first, ordered])
    assert (letter.met_at is not None) is met


@pytest.mark.parametrize(("recipient", "met"), [("board", True), ("works", True), ("discharger", False)])
def test_notice_to_another_office_counts_where_the_text_is_content_with_it(recipient: str, met: bool) -> None:
    book = law("call; starts: known_at; limit: 24 hours; to: works; also_met_by: [board]")
    call = {"type": "notice_given", "recipient": recipient, "method": "telephone", "at": FIRST_MINUTE}
    (clock,) = clocks(book, known_at=LAST_MINUTE, events=[call])
    assert (clock.state == "met") is met


def test_offices_may_be_closed_on_another_weekend_than_the_calendar_they_extend() -> None:
    texts = dict(shipped_shelf().calendars)
    made = read_calendars({**texts, "mudville.yaml": "calendar: mudville\nextends: core\nweekend: [friday, saturday, sunday]\n"})
    assert made["mudville"].why_closed(date(2026, 12, 4)) == "Friday"
    assert made["core"].why_closed(date(2026, 12, 4)) is None
    assert made["mudville"].closes_at == made["core"].closes_at
