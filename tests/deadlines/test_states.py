"""What a clock says at a moment: waiting, running, overdue, met or met late, and which events end which clocks."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from deadlines import Clock, assess
from deadlines.clocks import _EVENT_OF_ACT
from deadlines.facts import EVENT_KEYS, METHODS
from tests.deadlines.case_files import read, rulebook

SEWAGE: dict[str, Any] = {
    "jurisdiction": "chino", "known_at": "2026-06-10T09:00:00-07:00", "discharged_at": "2026-06-10T08:00:00-07:00", "material": "sewage",
    "volume": {"quantity": 1500, "unit": "gal"}, "threat": True, "accidental": True, "reached": ["storm_drain"],
}  # fmt: skip
ENROLLED = {
    **SEWAGE,
    "jurisdiction": "ontario",
    "enrollee": True,
    "reached": ["surface_water"],
    "volume": {"quantity": 60000, "unit": "gal"},
}
DEWATERING = {"jurisdiction": "ontario", "kind": "planned_discharge", "premises": "construction",
              "discharged_at": "2026-06-01T08:10:00-07:00"}  # fmt: skip


def at(text: str) -> datetime:
    return datetime.fromisoformat(text if "T" in text else f"{text}T12:00:00-07:00")


def event(kind: str, when: str, **said: Any) -> dict[str, Any]:
    return {"type": kind, "at": at(when).isoformat(), **said}


def matter(city: str, *events: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"jurisdiction": city, "kind": "enforcement", **more, "events": list(events)}


def clocks_of(facts: dict[str, Any], duty: str, now: str = "2026-06-10T10:00:00-07:00") -> list[Clock]:
    return [clock for clock in assess(read(facts), rulebook(), at(now)).clocks if clock.duty == duty]


def clock_of(facts: dict[str, Any], duty: str, now: str = "2026-06-10T10:00:00-07:00") -> Clock:
    (found,) = clocks_of(facts, duty, now)
    return found


def told(recipient: str, method: str, when: str = "2026-06-10T10:30:00-07:00") -> dict[str, Any]:
    return event("notice_given", when, recipient=recipient, method=method)


TWO_HOURS = "chino/rwqcb-2-hours"


@pytest.mark.parametrize(
    ("now", "state", "late"),
    [
        ("2026-06-10T09:00:00-07:00", "running", None), ("2026-06-10T10:59:59-07:00", "running", None),
        ("2026-06-10T11:00:00-07:00", "running", None), ("2026-06-10T11:00:01-07:00", "overdue", 1),
        ("2026-06-11T11:00:00-07:00", "overdue", 86_400),
    ],
)  # fmt: skip
def test_a_clock_runs_up_to_its_due_moment_and_is_overdue_after_it(now: str, state: str, late: int | None) -> None:
    clock = clock_of(SEWAGE, TWO_HOURS, now)
    assert (clock.state, clock.late_by_s, clock.met_at) == (state, late, None)


@pytest.mark.parametrize(
    ("when", "state", "late"),
    [
        ("2026-06-10T10:00:00-07:00", "met", None),
        ("2026-06-10T11:00:00-07:00", "met", None),
        ("2026-06-10T11:01:40-07:00", "met_late", 100),
    ],
)
def test_the_act_is_on_time_up_to_the_due_moment_and_late_after_it(when: str, state: str, late: int | None) -> None:
    clock = clock_of({**SEWAGE, "events": [told("rwqcb-santa-ana", "telephone", when)]}, TWO_HOURS, "2026-07-01")
    assert (clock.state, clock.late_by_s, clock.met_at) == (state, late, at(when))


def test_the_first_of_several_acts_counts_whatever_their_order_in_the_list() -> None:
    late, early = (told("rwqcb-santa-ana", "email", when) for when in ("2026-06-12", "2026-06-10T10:00:00-07:00"))
    assert clock_of({**SEWAGE, "events": [late, early]}, TWO_HOURS, "2026-07-01").met_at == at("2026-06-10T10:00:00-07:00")


@pytest.mark.parametrize("method", METHODS)
def test_a_notice_counts_only_in_a_way_that_the_law_names(method: str) -> None:
    facts = {**SEWAGE, "events": [told("rwqcb-santa-ana", method)]}
    assert clock_of(facts, TWO_HOURS).state == ("met" if method in ("telephone", "email") else "running")


@pytest.mark.parametrize("method", METHODS)
def test_where_any_way_will_do_every_way_does(method: str) -> None:
    facts = {"jurisdiction": "chino", "kind": "unplanned_discharge", "planned_at": "2026-06-10T12:00:00-07:00"}
    clock = clock_of({**facts, "events": [told("chino-public-works", method)]}, "chino/unplanned-discharge-notice")
    assert clock.state == "met"


def test_telling_one_agency_does_not_tell_another() -> None:
    facts = {**SEWAGE, "events": [told("chino-public-works", "telephone")]}
    states = [clock_of(facts, duty).state for duty in ("chino/public-works-immediate", "chino/fire-district-immediate")]
    assert states == ["met_late", "overdue"]


def test_one_call_meets_every_clock_that_asks_the_same_call() -> None:
    facts = {**SEWAGE, "events": [told("rwqcb-santa-ana", "telephone")]}
    assert [clock_of(facts, duty).state for duty in (TWO_HOURS, "chino/rwqcb-24-hours")] == ["met", "met"]
    both = {**ENROLLED, "events": [told("cal-oes", "telephone")]}
    states = [clock_of(both, duty).state for duty in ("california/cal-oes-sewage", "sewer-order/cal-oes-2-hours")]
    assert states == ["met_late", "met"]


def test_an_agency_named_by_its_office_is_told_by_its_name() -> None:
    facts = {**SEWAGE, "events": [told("san-bernardino-county-health-officer", "telephone", "2026-06-10T09:05:00-07:00")]}
    assert clock_of(facts, "california/health-officer-sewage").state == "met"


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ({"complete": True}, "met"), ({"complete": False}, "running"), ({}, "running"), ({"complete": True, "method": "written"}, "met"),
        ({"complete": True, "method": "email"}, "running"), ({"complete": True, "content": ["cause"]}, "running"),
        ({"complete": True, "content": ["material_type", "volume", "cause", "corrective_actions", "prevention", "more"]}, "met"),
        ({"complete": False, "content": ["material_type", "volume", "cause", "corrective_actions", "prevention"]}, "running"),
    ],
)  # fmt: skip
def test_a_report_counts_when_it_is_complete_and_in_writing(said: dict[str, Any], state: str) -> None:
    report = event("report_submitted", "2026-06-12", recipient="rwqcb-santa-ana", **said)
    assert clock_of({**SEWAGE, "events": [report]}, "chino/rwqcb-written-5-days", "2026-06-13").state == state


def test_a_complete_report_by_email_also_meets_the_notice_by_email() -> None:
    report = event("report_submitted", "2026-06-10T10:00:00-07:00", recipient="rwqcb-santa-ana", complete=True, method="email")
    assert clock_of({**SEWAGE, "events": [report]}, TWO_HOURS).state == "met"


def test_a_notice_in_writing_meets_a_duty_to_write() -> None:
    facts = {**SEWAGE, "events": [told("rwqcb-santa-ana", "written", "2026-06-12")]}
    assert clock_of(facts, "chino/rwqcb-written-5-days", "2026-06-13").state == "met"


START = "2026-06-01"
ORDER = event("order_served", START, order="remediation_order")
ACTS: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    (matter("chico", event("abatement_notified", START)), "chico/cleanup-72-hours", event("cleanup_done", "2026-06-02")),
    ({"jurisdiction": "chico", "kind": "irrigation_leak", "known_at": at(START).isoformat(), "events": []}, "chico/leak-72-hours",
     event("repaired", "2026-06-02")),
    ({**ENROLLED, "known_at": at(START).isoformat(), "events": []}, "sewer-order/sampling-18-hours",
     event("sampling_done", "2026-06-01T20:00:00-07:00")),
    ({**SEWAGE, "jurisdiction": "chico", "known_at": at(START).isoformat(), "events": []}, "ms4-small/investigate-72-hours",
     event("responded", "2026-06-02")),
    (matter("chino", event("invoice_issued", START)), "chino/invoice-30-days", event("paid", "2026-06-02")),
    (matter("chico", event("decision_made", START)), "chico/judicial-review-90-days", event("filed", "2026-06-02")),
    (matter("soledad", ORDER), "soledad/remediation-72-hours", event("cleanup_done", "2026-06-02")),
    (matter("soledad", ORDER), "soledad/remediation-72-hours", event("order_complied", "2026-06-02", order="remediation_order")),
    (matter("soledad", ORDER), "soledad/petition-10-days", event("petition_filed", "2026-06-02")),
    (matter("soledad", event("petition_filed", START)), "soledad/petition-answer-10-days", told("discharger", "mail", "2026-06-02")),
    (matter("soledad", event("penalty_received", START)), "soledad/penalty-appeal-5-working-days", event("appeal_filed", "2026-06-02")),
    (matter("chino", event("decision_noticed", START)), "chino/appeal-10-days", event("appeal_filed", "2026-06-02")),
    (matter("chino", event("appeal_filed", START)), "chino/appeal-hearing-15-days", event("hearing_held", "2026-06-02", hearing="appeal")),
    (matter("chino", event("hearing_held", START, hearing="appeal")), "chino/appeal-decision-45-days",
     event("decision_made", "2026-06-02")),
    (matter("chino", event("hearing_set", START, hearing="show_cause", hearing_at="2026-06-30T09:00:00-07:00")),
     "chino/hearing-notice-10-days", event("hearing_noticed", "2026-06-02", hearing="show_cause")),
    (matter("chino", event("order_served", START, order="notice_of_violation", comply_by="2026-06-30T09:00:00-07:00")),
     "chino/violation-plan", event("report_submitted", "2026-06-02", recipient="chino-public-works", complete=True)),
    (matter("chico", event("timeframe_revision_determined", START)), "chico/rwqcb-timeframe-5-business-days",
     told("rwqcb-central-valley", "written", "2026-06-02")),
    (matter("ontario", event("service_terminated", START)), "ontario/termination-statement",
     event("report_submitted", "2026-06-02", recipient="ontario-engineering", complete=True)),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "duty", "act"), ACTS, ids=[f"{duty} by {act['type']}" for _, duty, act in ACTS])
def test_an_act_ends_the_clock_that_waits_for_it_and_not_from_before_its_start(
    facts: dict[str, Any], duty: str, act: dict[str, Any]
) -> None:
    def state(*events: dict[str, Any]) -> str:
        return clock_of({**facts, "events": [*facts["events"], *events]}, duty, "2026-06-02T13:00:00-07:00").state

    assert state() != "met"
    assert state(act) == "met"
    early = {**act, "at": (at(START) - timedelta(seconds=1)).isoformat()}
    # Where a fact starts the clock, an act before it counts: whoever called before the city knew has called.
    assert (state(early) == "met") is (not facts["events"])


def test_every_type_of_act_has_a_clock_that_it_ends() -> None:
    starting = {rule.trigger.event for pack in rulebook().packs.values() for rule in pack.rules if rule.trigger}
    acts = {act["type"] for _, _, act in ACTS} | {"notice_given", "report_submitted"}
    assert set(EVENT_KEYS) == starting | acts
    assert set(_EVENT_OF_ACT.values()) <= acts


@pytest.mark.parametrize("kind", sorted(set(EVENT_KEYS) - {"notice_given", "report_submitted"}))
def test_no_event_but_telling_ends_a_duty_to_tell(kind: str) -> None:
    said = {"order": "stop_work_order"} if kind.startswith("order_") else {}
    facts = {**SEWAGE, "events": [event(kind, "2026-06-10T10:00:00-07:00", **said)]}
    assert clock_of(facts, TWO_HOURS, "2026-06-10T10:30:00-07:00").state == "running"


def test_a_call_answers_no_order_and_files_no_appeal() -> None:
    facts = matter(
        "chino",
        event("order_served", START, order="stop_work_order"), event("decision_noticed", START),
        told("chino-public-works", "telephone", "2026-06-02"), told("chino-public-works", "written", "2026-06-02"),
    )  # fmt: skip
    assert clock_of(facts, "chino/stop-work", "2026-06-03").state == "overdue"
    assert clock_of(facts, "chino/appeal-10-days", "2026-06-03").state == "running"


def test_doing_what_an_order_asks_is_no_petition_against_it() -> None:
    facts = matter("soledad", ORDER, event("order_complied", "2026-06-02", order="remediation_order"))
    assert clock_of(facts, "soledad/petition-10-days", "2026-06-03").state == "running"


@pytest.mark.parametrize("hearing", ["appeal", "show_cause", None])
def test_a_hearing_notice_counts_for_the_hearing_it_is_about(hearing: str | None) -> None:
    said = {} if hearing is None else {"hearing": hearing}
    day = "2026-06-30T09:00:00-07:00"
    facts = matter("chino", event("hearing_set", START, hearing="appeal", hearing_at=day), event("hearing_noticed", "2026-06-02", **said))
    clock = clock_of(facts, "chino/appeal-hearing-notice-7-days", "2026-06-03")
    assert clock.state == ("running" if hearing == "show_cause" else "met")


def correction(when: str, by: str) -> dict[str, Any]:
    return event("order_served", when, order="notice_of_correction", comply_by=at(by).isoformat())


def test_several_orders_of_a_kind_end_one_by_one_the_oldest_first() -> None:
    first, second = correction("2026-06-01", "2026-06-20"), correction("2026-06-05", "2026-06-10")
    done, again = (event("order_complied", day, order="notice_of_correction") for day in ("2026-06-08", "2026-06-15"))

    def states(*events: dict[str, Any]) -> list[tuple[int | None, str]]:
        found = clocks_of(matter("chino", *events), "chino/correction", "2026-06-18")
        return sorted((clock.event, clock.state) for clock in found)  # type: ignore[type-var]

    assert states(first, second) == [(0, "running"), (1, "overdue")]
    assert states(first, second, done) == [(0, "met"), (1, "overdue")]
    assert states(first, second, done, again) == [(0, "met"), (1, "met_late")]
    assert states(again, second, first, done) == [(1, "met_late"), (2, "met")]


def test_complying_before_the_second_order_leaves_the_second_open() -> None:
    events = (correction("2026-06-01", "2026-06-20"), event("order_complied", "2026-06-03", order="notice_of_correction"),
              event("order_complied", "2026-06-04", order="notice_of_correction"), correction("2026-06-05", "2026-06-10"))  # fmt: skip
    found = clocks_of(matter("chino", *events), "chino/correction", "2026-06-06")
    assert {clock.event: clock.state for clock in found} == {0: "met", 3: "running"}


def test_complying_with_another_kind_of_order_ends_nothing_here() -> None:
    facts = matter("chino", correction("2026-06-01", "2026-06-20"), event("order_complied", "2026-06-03", order="stop_work_order"))
    assert clock_of(facts, "chino/correction", "2026-06-06").state == "running"


def test_an_order_without_a_date_waits_and_says_what_for() -> None:
    clock = clock_of(matter("chino", event("order_served", START, order="compliance_order")), "chino/compliance-order")
    assert (clock.state, clock.applies, clock.starts_at, clock.due_at) == ("waiting", "yes", None, None)
    assert clock.unsettled == ("events[0].comply_by",)
    assert clock.counting() == ["Waiting: the order names no time to comply; enter its comply_by."]


def test_a_clock_from_the_end_waits_until_the_end_is_known() -> None:
    waiting = clock_of(ENROLLED, "sewer-order/certified-15-days")
    assert (waiting.state, waiting.applies, waiting.unsettled, waiting.starts_at) == ("waiting", "yes", (), None)
    assert waiting.counting() == ["Waiting: counted from ended_at, which is not known yet."]
    ended = {**ENROLLED, "ended_at": "2026-06-10T12:00:00-07:00"}
    assert clock_of(ended, "sewer-order/certified-15-days").state == "running"


@pytest.mark.parametrize(("when", "state"), [("2026-06-10T11:00:00-07:00", "running"), ("2026-06-10T13:00:00-07:00", "met")])
def test_a_certified_report_from_before_the_end_certifies_nothing(when: str, state: str) -> None:
    report = event("report_submitted", when, recipient="ciwqs", complete=True, method="online")
    facts = {**ENROLLED, "ended_at": "2026-06-10T12:00:00-07:00", "events": [report]}
    assert clock_of(facts, "sewer-order/certified-15-days", "2026-06-11").state == state


def test_a_hearing_of_unknown_kind_and_day_waits_as_presumed() -> None:
    clock = clock_of(matter("chino", event("hearing_set", START)), "chino/hearing-notice-10-days")
    assert (clock.state, clock.applies) == ("waiting", "presumed")
    assert clock.unsettled == ("events[0].hearing", "events[0].hearing_at")


def test_a_hearing_whose_day_alone_is_open_waits_for_certain() -> None:
    clock = clock_of(matter("chino", event("hearing_set", START, hearing="show_cause")), "chino/hearing-notice-10-days")
    assert (clock.state, clock.applies, clock.unsettled) == ("waiting", "yes", ("events[0].hearing_at",))


def test_no_act_ends_the_time_that_a_record_is_kept() -> None:
    record = event("record_made", "2026-06-01")
    others = [event(kind, "2026-06-02") for kind in ("responded", "filed", "paid", "cleanup_done")]
    clock = clock_of(matter("chino", record, *others), "chino/bmp-records-3-years", "2026-07-01")
    assert (clock.state, clock.ladder) == ("running", ())
    assert clock.due_at == at("2029-06-01T23:59:59-07:00")


WEEKLY_SAMPLE, WEEKLY_REPORT = "ontario/weekly-sample", "ontario/weekly-monitoring-report"


def weeks(facts: dict[str, Any], duty: str, now: str) -> list[tuple[int | None, str]]:
    return [(clock.occurrence, clock.state) for clock in clocks_of(facts, duty, now)]


def test_a_recurring_duty_shows_each_past_week_and_the_next() -> None:
    assert weeks(DEWATERING, WEEKLY_SAMPLE, "2026-06-01T09:00:00-07:00") == [(1, "running")]
    assert weeks(DEWATERING, WEEKLY_SAMPLE, "2026-06-08T23:59:59-07:00") == [(1, "running")]
    assert weeks(DEWATERING, WEEKLY_SAMPLE, "2026-06-09T00:00:00-07:00") == [(1, "overdue"), (2, "running")]
    assert weeks(DEWATERING, WEEKLY_SAMPLE, "2026-06-23") == [(1, "overdue"), (2, "overdue"), (3, "overdue"), (4, "running")]


def test_each_sample_ends_one_week_and_never_two() -> None:
    samples = [event("sampling_done", day) for day in ("2026-06-05", "2026-06-11", "2026-06-12")]
    facts = {**DEWATERING, "events": samples}
    found = {clock.occurrence: clock for clock in clocks_of(facts, WEEKLY_SAMPLE, "2026-06-23")}
    assert {number: clock.state for number, clock in found.items()} == {1: "met", 2: "met", 3: "overdue", 4: "running"}
    # 12 June lies in the second week, which 11 June has met; the third week has no sample of its own.
    assert found[2].met_at == at("2026-06-11")


def test_the_sample_of_the_first_day_is_not_that_of_the_first_week() -> None:
    facts = {**DEWATERING, "events": [event("sampling_done", "2026-06-01T08:30:00-07:00")]}
    assert clock_of(facts, "ontario/first-sample", "2026-06-02").state == "met"
    assert weeks(facts, WEEKLY_SAMPLE, "2026-06-02") == [(1, "running")]


def test_a_sample_after_the_week_meets_that_week_late() -> None:
    facts = {**DEWATERING, "events": [event("sampling_done", "2026-06-10")]}
    (first, second) = clocks_of(facts, WEEKLY_SAMPLE, "2026-06-11")
    assert (first.state, first.met_at, second.state) == ("met_late", at("2026-06-10"), "running")


@pytest.mark.parametrize(
    ("ended", "samples", "reports"),
    [
        ("2026-06-01", [], []), ("2026-06-07", [], []), ("2026-06-08", [1], [1, 2]), ("2026-06-14", [1], [1, 2]),
        ("2026-06-15", [1, 2], [1, 2, 3]), ("2026-05-30", [], []),
    ],
)  # fmt: skip
def test_the_end_of_the_discharge_ends_the_weeks_with_one_report_after_it(ended: str, samples: list[int], reports: list[int]) -> None:
    facts = {**DEWATERING, "ended_at": at(ended).isoformat()}
    assert [number for number, _ in weeks(facts, WEEKLY_SAMPLE, "2026-09-01")] == samples
    assert [number for number, _ in weeks(facts, WEEKLY_REPORT, "2026-09-01")] == reports


def test_a_report_meets_its_week_only_where_it_goes_to_the_engineer() -> None:
    sent = [event("report_submitted", "2026-06-06", recipient=to, complete=True) for to in ("ciwqs", "ontario-engineering")]
    assert weeks({**DEWATERING, "events": sent[:1]}, WEEKLY_REPORT, "2026-06-07") == [(1, "running")]
    assert weeks({**DEWATERING, "events": sent}, WEEKLY_REPORT, "2026-06-07") == [(1, "met")]


def test_a_volume_that_is_corrected_late_gives_a_clock_that_is_already_overdue() -> None:
    small = {**SEWAGE, "volume": {"quantity": 800, "unit": "gal"}}
    assert clocks_of(small, TWO_HOURS, "2026-06-10T12:00:00-07:00") == []
    clock = clock_of(SEWAGE, TWO_HOURS, "2026-06-10T12:00:00-07:00")
    assert (clock.state, clock.late_by_s) == ("overdue", 3600)


def test_open_questions_name_the_duties_that_hang_on_them_weightiest_first() -> None:
    facts = {"jurisdiction": "diamond-bar", "known_at": "2026-06-10T09:00:00-07:00", "material": "petroleum", "reached": ["surface_water"],
             "volume": {"quantity": 1500, "unit": "gal"}}  # fmt: skip
    questions = assess(read(facts), rulebook(), at("2026-06-10")).questions
    found = {question.fact: (question.presumed, question.held_back) for question in questions}
    assert found["sheen"] == (("federal/nrc-oil",), ())
    assert found["spcc_facility"] == ((), ("federal/spcc-60-days",))
    assert found["npdes_permittee"] == ((), ("federal/npdes-24-hours", "federal/npdes-written-5-days"))
    weights = [len(question.presumed) + len(question.held_back) for question in questions]
    assert weights == sorted(weights, reverse=True)


def test_a_city_without_a_pack_is_an_error_of_the_caller() -> None:
    with pytest.raises(KeyError, match="fresno"):
        assess(replace(read(SEWAGE), jurisdiction="fresno"), rulebook(), at("2026-06-10"))
