"""Whole invented fact objects against the packs that ship: they are always answered, always alike, and never turn around.

What "never turn around" means, exactly. Take a fact object and settle some of what it leaves unknown: a key that is missing (or the
material `unknown`), or something that an event leaves unsaid. Then a duty whose clock applied (`yes`) still applies, and a duty that had
no clock and no open question still has none. Only a presumed clock, or a duty held back by a question to staff, may go either way.

These facts are exempt, because their absence is an answer, or a person's word outweighs what is computed:

- `reportable_quantity` and `hazardous` are a person's determinations, which override what the material and the substances tell;
- `captured` in the sewer order, and `uncontrolled_source` where a rule says `unless`: the text puts the burden on one side, so
  unknown counts as not captured, and as not uncontrolled;
- `substances`, where nothing being listed already answers whether a reportable quantity was reached (sewage, petroleum, nothing hazardous);
- `ended_at` for duties that recur until the discharge ends: no end known is no end yet.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deadlines import as_z, assess
from deadlines.conditions import View
from deadlines.facts import EVENT_KEYS, FACT_KEYS
from tests.deadlines.case_files import NOW, all_cases, read, rulebook
from tests.deadlines.strategies import VALUES, WORDS_OF_EVENTS, facts

# 2,000 invented fact objects in every run; SPILLCLOCK_TESTS_EXAMPLES=200000 for a long one.
EXAMPLES = int(os.environ.get("SPILLCLOCK_TESTS_EXAMPLES", "200"))
PARTS = 4

OVERRIDES = ("reportable_quantity", "hazardous")
NEVER_SETTLED = ("jurisdiction", "kind", "events", *OVERRIDES)


def standing_of(given_facts: Mapping[str, Any]) -> dict[tuple[str, int | None], str]:
    """How each duty stands: `yes` or `presumed` where a clock runs or waits, `asked` where a question holds it back."""
    found = assess(read(given_facts), rulebook(), NOW)
    asked: dict[tuple[str, int | None], str] = {(duty, None): "asked" for question in found.questions for duty in question.held_back}
    return asked | {(clock.duty, clock.event): clock.applies for clock in found.clocks}


def is_exempt(duty: str, settled: set[str], before: Mapping[str, Any]) -> bool:
    """Whether the settled facts hold one that this duty may turn around on."""
    view = View(read(before), rulebook().quantities)
    by_substances = "substances" in settled and view.reportable.reached is not None
    return (
        by_substances
        or ("captured" in settled and duty.startswith("sewer-order/"))
        or ("uncontrolled_source" in settled and duty == "chico/cleanup-72-hours")
        or ("ended_at" in settled and duty in ("ontario/weekly-sample", "ontario/weekly-monitoring-report"))
    )


@st.composite
def settlings(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], set[str]]:
    """A fact object, the same with some of its unknown facts settled, and which ones."""
    before = draw(facts())
    unknown = [key for key in FACT_KEYS if key not in before and key not in NEVER_SETTLED]
    if before.get("material") == "unknown":
        unknown.append("material")
    keys = draw(st.sets(st.sampled_from(unknown), min_size=0, max_size=3)) if unknown else set()
    after = {**before, **{key: draw(VALUES[key]) for key in sorted(keys)}}
    settled = set(keys)
    if before.get("events"):
        events = []
        for event in before["events"]:
            unsaid = [key for key in EVENT_KEYS[event["type"]] if key not in event]
            said = {key: draw(WORDS_OF_EVENTS[event["type"]][key]) for key in unsaid if draw(st.booleans())}
            settled |= set(said)
            events.append({**event, **said})
        after["events"] = events
    return before, after, settled


@settings(max_examples=EXAMPLES // 5, suppress_health_check=[HealthCheck.too_slow])
@given(settlings())
def test_settling_an_unknown_fact_turns_no_settled_duty_around(parts: tuple[dict[str, Any], dict[str, Any], set[str]]) -> None:
    before, after, settled = parts
    stood, stands = standing_of(before), standing_of(after)
    turned = [
        f"{duty} {event}: {stood.get((duty, event))} became {stands.get((duty, event))}"
        for duty, event in {**stood, **stands}
        if stood.get((duty, event)) in ("yes", None)
        and stands.get((duty, event)) != stood.get((duty, event))
        and not is_exempt(duty, settled, before)
    ]
    assert not turned, settled


def spilled(**more: Any) -> dict[str, Any]:
    return {"jurisdiction": "diamond-bar", "known_at": "2026-06-10T09:00:00-07:00", "enrollee": True, **more}


@pytest.mark.parametrize(
    ("duty", "before", "settled"),
    [
        ("california/cal-oes-hazmat-release", {"material": "petroleum"}, {"hazardous": False}),
        ("federal/nrc-hazardous", {"substances": [{"name": "chlorine", "quantity": 10, "unit": "lb"}]}, {"reportable_quantity": False}),
        ("sewer-order/draft-3-business-days", {"material": "sewage", "reached": ["gutter"], "volume": {"quantity": 9, "unit": "gal"}},
         {"captured": True}),
    ],
)  # fmt: skip
def test_a_person_who_determines_otherwise_ends_a_clock(duty: str, before: dict[str, Any], settled: dict[str, Any]) -> None:
    assert standing_of(spilled(**before)).get((duty, None)) == "yes"
    assert (duty, None) not in standing_of(spilled(**before, **settled))


def test_sewage_gets_a_reportable_quantity_once_a_substance_is_listed() -> None:
    chlorine = {"name": "chlorine", "quantity": 10, "unit": "lb"}
    assert ("federal/nrc-hazardous", None) not in standing_of(spilled(material="sewage"))
    assert standing_of(spilled(material="sewage", substances=[chlorine]))["federal/nrc-hazardous", None] == "yes"


def test_a_source_that_proves_uncontrolled_ends_the_72_hours() -> None:
    event = {"type": "abatement_notified", "at": "2026-06-10T09:00:00-07:00"}
    matter = {"jurisdiction": "chico", "kind": "enforcement"}
    assert standing_of({**matter, "events": [event]})["chico/cleanup-72-hours", 0] == "yes"
    assert ("chico/cleanup-72-hours", 0) not in standing_of({**matter, "events": [{**event, "uncontrolled_source": True}]})


SETTLING_PLACES = (["contained"], ["storm_drain"])  # the only ones that every question about places can be answered from


@settings(max_examples=EXAMPLES // 10, suppress_health_check=[HealthCheck.too_slow])
@given(facts(), st.data())
def test_the_facts_that_a_presumed_clock_names_settle_it(before: dict[str, Any], data: st.DataObject) -> None:
    presumed = [clock for clock in assess(read(before), rulebook(), NOW).clocks if clock.applies == "presumed"]
    if not presumed:
        return
    clock = data.draw(st.sampled_from(presumed))
    assert clock.unsettled
    after = json.loads(json.dumps(before))
    for name in clock.unsettled:
        if name.startswith("substances") or name == "reportable_quantity":
            after["reportable_quantity"] = data.draw(st.booleans())
        elif found := re.fullmatch(r"events\[(\d+)\]\.(\w+)", name):
            event = after["events"][int(found[1])]
            event[found[2]] = data.draw(WORDS_OF_EVENTS[event["type"]][found[2]])
        else:
            after[name] = data.draw(
                st.sampled_from(SETTLING_PLACES) if name == "reached" else VALUES[name].filter(lambda value: value != "unknown")
            )
    same = [one for one in assess(read(after), rulebook(), NOW).clocks if (one.duty, one.event) == (clock.duty, clock.event)]
    assert all(one.applies == "yes" for one in same)


@pytest.mark.parametrize("part", range(PARTS))
def test_any_fact_object_is_answered_twice_alike(part: int) -> None:
    seen: set[str] = set()

    @settings(max_examples=EXAMPLES // PARTS, suppress_health_check=[HealthCheck.too_slow])
    @given(facts())
    def answered(given_facts: dict[str, Any]) -> None:
        first, again = (assess(read(json.loads(json.dumps(given_facts))), rulebook(), NOW) for _ in range(2))
        assert first == again
        check_shape([clock.as_json() for clock in first.clocks])
        seen.update(given_facts)

    answered()
    if EXAMPLES >= 2000:  # in a short run a rare key may by chance be in none
        assert seen == set(FACT_KEYS)


def check_shape(clocks: list[dict[str, Any]]) -> None:
    """What holds of every list of clocks, whatever the facts."""
    due = [clock["due_at"] for clock in clocks]
    assert [at is None for at in due] == sorted(at is None for at in due), "what waits stands last"
    moments = [datetime.fromisoformat(at) for at in due if at]
    assert moments == sorted(moments)
    keys = [(clock["duty"], clock["event"], clock["occurrence"]) for clock in clocks]
    assert len(keys) == len(set(keys))
    for clock in clocks:
        assert clock["state"] in ("waiting", "running", "overdue", "met", "met_late")
        assert clock["applies"] == "yes" or clock["unsettled"]
        assert (clock["due_at"] is None) is (clock["state"] == "waiting")
        assert (clock["late_by_s"] is None) is (clock["state"] not in ("overdue", "met_late"))
        assert (clock["met_at"] is None) is (clock["state"] not in ("met", "met_late"))
        assert clock["counting"]
        assert clock["due_at"] is None or f"({clock['due_at']})" in clock["counting"][-1]
        assert all(other["reading"] for other in clock["other_readings"])
        assert clock["extended_due_at"] is None or clock["extended_due_at"] > clock["due_at"]


@settings(max_examples=100)
@given(facts(), st.integers(0, 400), st.integers(0, 400))
def test_time_alone_moves_a_clock_only_from_running_to_overdue_or_to_the_end_of_a_retention(
    given_facts: dict[str, Any], days: int, more: int
) -> None:
    early, late = NOW + timedelta(days=days), NOW + timedelta(days=days + more)
    matter = read(given_facts)
    before = {(c.duty, c.event, c.occurrence): c for c in assess(matter, rulebook(), early).clocks}
    after = {(c.duty, c.event, c.occurrence): c for c in assess(matter, rulebook(), late).clocks}
    assert set(before) <= set(after)  # only a recurring duty gains clocks by time
    for key, clock in before.items():
        passes = "met" if clock.standing.rule.act == "retention" else "overdue"  # a record kept for its time is no missed duty
        assert (clock.state, after[key].state) in {
            ("running", "running"), ("running", passes), ("overdue", "overdue"), ("waiting", "waiting"), ("met", "met"),
            ("met_late", "met_late"),
        }  # fmt: skip
        assert (clock.due_at, as_z(clock.starts_at)) == (after[key].due_at, as_z(after[key].starts_at))


def test_the_cases_stand_together_for_every_key_of_the_facts() -> None:
    keys = {key for case in all_cases() for key in case.facts}
    assert sorted(set(FACT_KEYS) - keys) == []
