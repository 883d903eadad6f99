"""The live check: a spill reported ten seconds before its two hours are over, against the real process and the real clock."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from tests.e2e.program import CHINO, Spillclock, moment, tally, until

DUTY = "chino/rwqcb-2-hours"
DISCHARGER = [("email", "sewer.crew@chino.example"), ("sms", "+19095550101")]
DUTY_OFFICER = [("email", "duty@chino.example"), ("sms", "+19095550102")]
SUPERVISOR = [("email", "supervisor@chino.example"), ("sms", "+19095550103")]
# The ladder `hours` of the Chino pack: the rungs from start to due-10m, and the one at due, each reach these three between them.
ALL_TOLD = sorted(DISCHARGER + DUTY_OFFICER + SUPERVISOR)
LEFT = timedelta(seconds=10)


def report(staff: httpx.Client, known_at: datetime, **more: Any) -> str:
    """A Chino sewage spill of 1,500 gallons. Returns its reference."""
    body = {
        "description": "Manhole overflowing since this afternoon",
        "location": CHINO,
        "material": "sewage",
        "volume": {"quantity": 1500, "unit": "gal"},
        "known_at": known_at.isoformat(),
        **more,
    }
    answer = staff.post("/api/v1/spills", json=body)
    assert answer.status_code == 201, answer.text
    assert answer.json()["jurisdiction"] == "chino"
    assert answer.json()["warnings"] == []
    return str(answer.json()["reference"])


def record_call(staff: httpx.Client, reference: str) -> dict[str, Any]:
    """Record that the board was telephoned, and return the clock of the two hours as it then stands."""
    call = {"type": "notice_given", "recipient": "rwqcb-santa-ana", "method": "telephone", "at": datetime.now(UTC).isoformat()}
    answer = staff.post(f"/api/v1/spills/{reference}/events", json=call)
    assert answer.status_code == 201, answer.text
    [clock] = [clock for clock in answer.json()["clocks"] if clock["duty"] == DUTY]
    return dict(clock)


def about(spillclock: Spillclock, reference: str) -> list[dict[str, Any]]:
    """The messages about the duty that were sent so far."""
    return [line for line in spillclock.outbox() if line["spill"] == reference and line["duty"] == DUTY]


def planned(spillclock: Spillclock, reference: str) -> list[tuple[Any, ...]]:
    """What the database still means to do about the duty: climbs of its ladder, and messages that are not at their end."""
    climbs = (
        "select o.next_at from obligation o join spill s on s.id = o.spill_id"
        " where s.reference = ? and o.duty = ? and o.next_at is not null"
    )
    messages = (
        "select m.id, m.state from message m join obligation o on o.id = m.obligation_id join spill s on s.id = o.spill_id"
        " where s.reference = ? and o.duty = ? and (m.next_at is not null or m.state in ('waiting', 'sending'))"
    )
    return [tuple(row) for query in (climbs, messages) for row in spillclock.rows(query, reference, DUTY)]


def others_planned(spillclock: Spillclock, reference: str) -> int:
    """How many other duties of the spill still have a rung to come."""
    query = (
        "select count(*) from obligation o join spill s on s.id = o.spill_id"
        " where s.reference = ? and o.duty <> ? and o.next_at is not null"
    )
    return int(spillclock.rows(query, reference, DUTY)[0][0])


def sleep_until(when: datetime) -> None:
    time.sleep(max(0.0, (when - datetime.now(UTC)).total_seconds()))


def test_ten_seconds_before_due_each_person_is_told_at_once_then_when_due_and_never_after_the_call(spillclock: Spillclock) -> None:
    spillclock.serve(ahead_of_others=True)
    with spillclock.client(spillclock.token()) as staff:
        posted_at = datetime.now(UTC)
        due_at = posted_at + LEFT
        reference = report(staff, due_at - timedelta(hours=2))

        # At once: one message a person and channel, which stands for all rungs already past.
        until(lambda: len(about(spillclock, reference)) >= len(ALL_TOLD), 9, "the alert at once")
        first = about(spillclock, reference)
        assert tally(first) == ALL_TOLD
        for line in first:
            assert line["step"] == "due-10m"
            assert posted_at < moment(line["at"]) < due_at
            assert "seconds left" in line["text"]
            assert "Santa Ana Regional Water Quality Control Board" in line["text"]
        for mail in (line for line in first if line["channel"] == "email"):
            assert "seconds left" in mail["subject"]
            assert "sewage, 1,500 gal, at 13220 Central Ave" in mail["text"]
            assert "could not go out then" not in mail["text"]  # they lay before the report: nothing went wrong
        assert datetime.now(UTC) < due_at, "too slow to see the due moment coming"

        # Due: everybody once more, within a second of it, time that other programs had the processors not counted.
        sleep_until(due_at)
        kept_waiting = spillclock.kept_waiting_seconds()
        until(lambda: len(about(spillclock, reference)) >= 2 * len(ALL_TOLD), 10, "the due alert")
        kept_waiting = spillclock.kept_waiting_seconds() - kept_waiting
        second = about(spillclock, reference)[len(ALL_TOLD) :]
        assert tally(second) == ALL_TOLD
        for line in second:
            assert line["step"] == "due"
            assert "due now" in line["text"]
            assert due_at <= moment(line["at"]) <= due_at + timedelta(seconds=1 + kept_waiting), (line["at"], due_at, kept_waiting)
        assert len({line["key"] for line in about(spillclock, reference)}) == 2 * len(ALL_TOLD)

        sleep_until(due_at + timedelta(seconds=1.5))
        clock = record_call(staff, reference)
        assert clock["state"] == "met_late"
        assert 1 <= clock["late_by_s"] <= 20

        # Nothing more about that duty, and nothing planned, though other duties of the same spill go on.
        assert planned(spillclock, reference) == []
        time.sleep(3)
        assert len(about(spillclock, reference)) == 2 * len(ALL_TOLD)
        assert planned(spillclock, reference) == []
        assert others_planned(spillclock, reference) > 0
        timeline = staff.get(f"/api/v1/spills/{reference}").json()["timeline"]
        met = [event["late_by_s"] for event in timeline if event["kind"] == "obligation:met" and event["duty"] == DUTY]
        assert met == [clock["late_by_s"]]


def test_a_call_before_the_due_moment_keeps_the_due_alert_from_going_out(spillclock: Spillclock) -> None:
    spillclock.serve()
    with spillclock.client(spillclock.token()) as staff:
        due_at = datetime.now(UTC) + LEFT
        reference = report(staff, due_at - timedelta(hours=2), reached=["land"], threat=False)
        until(lambda: len(about(spillclock, reference)) >= len(ALL_TOLD), 9, "the alert at once")
        until(lambda: not spillclock.rows("select 1 from message where state = 'sending'"), 9, "its answers are on record")

        clock = record_call(staff, reference)
        assert (clock["state"], clock["late_by_s"]) == ("met", None)
        assert planned(spillclock, reference) == []

        sleep_until(due_at + timedelta(seconds=2))
        assert tally(about(spillclock, reference)) == ALL_TOLD
        assert planned(spillclock, reference) == []
        assert others_planned(spillclock, reference) > 0
