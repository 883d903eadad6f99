"""`spillclock rehearse`: a whole spill in seconds, by the real escalation on a simulated clock."""

import json
import re
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.e2e.program import Spillclock, moment

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "sewage-spill.json"
KNOWN_AT = datetime(2026, 12, 1, 22, 5, tzinfo=UTC)
DUE_AT = KNOWN_AT + timedelta(hours=2)
DUTY = "chino/rwqcb-2-hours"
# 1,500 gallons of sewage that stay on land: three calls, and the two-hour one has the ladder `hours` of the Chino pack.
SEWAGE = {
    "jurisdiction": "chino", "known_at": "2026-12-01T14:05:00-08:00", "discharged_at": "2026-12-01T14:00:00-08:00", "material": "sewage",
    "volume": {"quantity": 1500, "unit": "gal"}, "reached": ["land"], "threat": False, "hazardous": False, "accidental": False,
}  # fmt: skip
OFFICER_AND_DISCHARGER = [("email", "discharger"), ("email", "duty_officer"), ("sms", "discharger"), ("sms", "duty_officer")]
SUPERVISOR = [("email", "supervisor"), ("sms", "supervisor")]
DIRECTOR = [("email", "director"), ("sms", "director")]
LADDER = [
    (KNOWN_AT, "start", OFFICER_AND_DISCHARGER),
    (KNOWN_AT + timedelta(minutes=15), "start+15m", SUPERVISOR),
    (DUE_AT - timedelta(hours=1), "due-1h", OFFICER_AND_DISCHARGER),
    (DUE_AT - timedelta(minutes=10), "due-10m", OFFICER_AND_DISCHARGER),
    (DUE_AT, "due", sorted(OFFICER_AND_DISCHARGER + SUPERVISOR)),
    (DUE_AT + timedelta(minutes=30), "due+30m", sorted(SUPERVISOR + DIRECTOR)),
    *((DUE_AT + timedelta(hours=n), f"due+1h#{n}", [("sms", "discharger"), ("sms", "duty_officer")]) for n in range(1, 9)),
]
PRINTED = re.compile(
    r"(?P<when>(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat) [A-Z][a-z]{2} \d{1,2}, \d{1,2}:\d\d(?::\d\d)? [AP]M P[SD]T)"
    r"  (?P<person>.+) \((?P<role>[a-z ]+)\), (?P<channel>email|sms) to (?P<to>\S+)\n"
    r"    (?P<subject>.+)\n"
    r"    why: (?P<reason>.+)\n"
)


def rehearsed(spillclock: Spillclock, facts: dict[str, Any], *options: str) -> list[dict[str, Any]]:
    """The messages of a rehearsal, read from its JSON lines."""
    done = spillclock.run("rehearse", "-", "--json", *options, given=json.dumps(facts))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def climbed(messages: list[dict[str, Any]], duty: str) -> list[tuple[datetime, str, list[tuple[str, str]]]]:
    """The rungs that a duty's messages show: moment, step, and who was told by which channel."""
    rungs: dict[tuple[datetime, str], list[tuple[str, str]]] = {}
    for message in messages:
        for part in message["reason"].split("; also "):  # one message may tell of several duties
            if part.startswith(f"{duty}, rung "):
                step = part.partition(", rung ")[2].partition(", to the ")[0]
                rungs.setdefault((moment(message["at"]), step), []).append((message["channel"], message["role"]))
    return [(at, step, sorted(told)) for (at, step), told in rungs.items()]


def test_every_rung_of_the_ladder_comes_at_its_moment_until_the_top(spillclock: Spillclock) -> None:
    began = time.monotonic()
    messages = rehearsed(spillclock, SEWAGE)
    assert time.monotonic() - began < 30  # for ten hours of alerts
    assert climbed(messages, DUTY) == LADDER
    assert [message["at"] for message in messages] == sorted(message["at"] for message in messages)
    told = {part.partition(", rung ")[0] for message in messages for part in message["reason"].split("; also ")}
    assert told == {DUTY, "california/cal-oes-sewage", "california/health-officer-sewage"}
    for message in messages:
        assert message["duty"] in message["reason"]
        assert message["step"] in message["reason"]
        assert message["recipient"]
        assert message["to"] == message["to"].strip() != ""


def test_a_call_in_the_rehearsal_ends_its_alerts_and_no_others(spillclock: Spillclock) -> None:
    call = {"type": "notice_given", "at": "2026-12-01T15:40:00-08:00", "recipient": "rwqcb-santa-ana", "method": "telephone"}
    messages = rehearsed(spillclock, {**SEWAGE, "events": [call]})
    assert climbed(messages, DUTY) == LADDER[:3]  # start, start+15m, due-1h; the call came before due-10m
    assert climbed(messages, "california/cal-oes-sewage")[-1][0] > DUE_AT


def test_until_ends_the_rehearsal_at_that_moment(spillclock: Spillclock) -> None:
    messages = rehearsed(spillclock, SEWAGE, "--until", "2026-12-01T16:05:00-08:00")
    assert climbed(messages, DUTY) == LADDER[:5]  # the due moment itself is played
    assert max(moment(message["at"]) for message in messages) == DUE_AT
    messages = rehearsed(spillclock, SEWAGE, "--until", "2026-12-01T16:04:59-08:00")
    assert climbed(messages, DUTY) == LADDER[:4]


def test_the_example_of_the_readme_prints_every_message_with_time_recipient_channel_and_reason(spillclock: Spillclock) -> None:
    that_day = ("--until", "2026-12-01T18:00:00-08:00")
    printed = spillclock.run("rehearse", str(EXAMPLE), *that_day)
    assert (printed.returncode, printed.stderr) == (0, "")
    found = list(PRINTED.finditer(printed.stdout))
    messages = "".join(line for line in printed.stdout.splitlines(keepends=True) if "  Done: " not in line)
    assert "".join(one.group() for one in found) == messages  # nothing else is printed
    assert "Tue Dec 1, 2:12 PM PST  Done: City of Chino, Director of Public Works is told by telephone.\n" in printed.stdout
    assert found[0]["when"] == "Tue Dec 1, 2:05 PM PST"
    keys = ("recipient", "role", "channel", "to", "subject", "reason")
    lines = spillclock.run("rehearse", str(EXAMPLE), *that_day, "--json").stdout.splitlines()
    wanted = Counter(tuple(json.loads(line)[key] for key in keys) for line in lines)
    assert Counter((one["person"], one["role"].replace(" ", "_"), *one.group(*keys[2:])) for one in found) == wanted


def test_an_example_shows_what_is_done_and_what_happens_if_nobody_answers(spillclock: Spillclock) -> None:
    printed = spillclock.run("rehearse", "--example", "SEEN and  forgotten")
    assert (printed.returncode, printed.stderr) == (0, "")
    shown, _, unanswered = printed.stdout.partition("\nIf nobody answers, this goes out beside it:\n")
    assert "Tue Dec 1, 2:15 PM PST  Done: Omar Reyes has seen the alert: Tell the regional water board within two hours.\n" in shown
    late = next(line for line in unanswered.splitlines() if line.startswith("Tue Dec 1, 4:35 PM PST"))
    assert late.endswith("Omar Reyes (duty officer), Sofia Tran (supervisor), Grace Lindqvist (director), by email and sms")
    assert unanswered.endswith("What is not done stays overdue, on the board and on the page of its spill.\n")
    lines = spillclock.run("rehearse", "--example", "seen and forgotten", "--json").stdout.splitlines()
    assert {json.loads(line).get("if_nobody_answers", False) for line in lines} == {False, True}


def test_a_rehearsal_leaves_nothing_behind_and_needs_no_data_folder(spillclock: Spillclock) -> None:
    rehearsed(spillclock, SEWAGE, "--until", "2026-12-01T14:06:00-08:00")
    assert list(spillclock.folder.iterdir()) == []


def test_facts_without_a_clock_are_told_in_one_line(spillclock: Spillclock) -> None:
    harmless = {**SEWAGE, "material": "potable_water", "volume": {"quantity": 3, "unit": "gal"}}
    done = spillclock.run("rehearse", "-", given=json.dumps(harmless))
    assert (done.returncode, done.stdout) == (0, "No message would be sent: no clock runs for these facts.\n")


def test_faults_of_facts_and_options_are_told_in_one_line_each(spillclock: Spillclock) -> None:
    done = spillclock.run("rehearse", "-", given=json.dumps({**SEWAGE, "volume": {"quantity": -3, "unit": "buckets"}, "colour": "brown"}))
    assert (done.returncode, done.stdout) == (2, "")
    assert [line.split(": ")[1] for line in sorted(done.stderr.splitlines())] == ["colour", "volume.quantity", "volume.unit"]
    done = spillclock.run("rehearse", "-", "--until", "2026-12-01T15:00", given=json.dumps(SEWAGE))
    assert done.returncode == 2
    assert "--until: '2026-12-01T15:00' has no offset" in done.stderr
