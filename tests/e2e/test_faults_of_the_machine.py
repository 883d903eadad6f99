"""A full disk and a database that cannot be written: nothing acknowledged is lost, and people are told once there is room."""

import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.e2e.program import CHINO, Spillclock, moment, tally, until, without_powers

ELSEWHERE = {"lat": 39.53, "lon": -119.81}
OFFICER = [("email", "duty@chino.example"), ("sms", "+19095550102")]
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="Limits of a running process and /dev/full are Linux's.")


@ON_LINUX
def test_with_no_room_for_the_outbox_messages_are_kept_and_sent_once_there_is(spillclock: Spillclock) -> None:
    outbox = spillclock.home / "outbox.jsonl"
    spillclock.home.mkdir()
    outbox.symlink_to("/dev/full")
    spillclock.serve()
    with spillclock.client() as anyone:
        answer = anyone.post("/api/v1/spills", json={"description": "outside every city", "location": ELSEWHERE})
        assert answer.status_code == 201
    until(lambda: len(spillclock.rows("select 1 from attempt where outcome = 'try_again'")) == 2, 10, "both messages tried")
    assert [row[0] for row in spillclock.rows("select state from message")] == ["waiting", "waiting"]
    for attempt in spillclock.rows("select detail from attempt"):
        assert "No space left on device; make room" in attempt["detail"]

    outbox.unlink()  # room at last
    until(lambda: len(spillclock.rows("select 1 from message where state = 'accepted'")) == 2, 30, "both messages sent")
    assert tally(spillclock.outbox()) == OFFICER
    assert {line["spill"] for line in spillclock.outbox()} == {answer.json()["reference"]}


@ON_LINUX
def test_on_a_full_disk_no_report_is_acknowledged_and_afterwards_everything_goes_on(spillclock: Spillclock) -> None:
    spillclock.serve()
    token = spillclock.token()
    with spillclock.client(token) as staff:
        due_at = datetime.now(UTC) + timedelta(seconds=4)
        discharge = {"kind": "unplanned_discharge", "planned_at": due_at.isoformat(), "volume": {"quantity": 9, "unit": "gal"}}
        kept = staff.post("/api/v1/spills", json={"description": "kept", "location": CHINO, "material": "potable_water", **discharge})
        assert kept.status_code == 201
        until(lambda: len(spillclock.rows("select 1 from message where state = 'accepted'")) == 4, 10, "told at the start")
        assert datetime.now(UTC) < due_at, "too slow to see the due moment coming"

        spillclock.limit_file_size(4096)
        refused = staff.post("/api/v1/spills", json={"description": "refused", "location": CHINO})
        assert refused.status_code == 503
        assert refused.headers["content-type"] == "application/problem+json"
        assert "nothing was stored" in refused.json()["detail"]
        assert int(refused.headers["retry-after"]) > 0
        assert staff.get("/healthz").status_code == 200
        time.sleep(max(0.0, (due_at - datetime.now(UTC)).total_seconds()) + 1.5)
        assert spillclock.lines_sent() == 4  # the due alert could not go out

        spillclock.limit_file_size(None)
        until(lambda: spillclock.lines_sent() >= 10, 40, "the due alert, late")
        assert staff.post("/api/v1/spills", json={"description": "after", "location": CHINO}).status_code == 201
    late = [line for line in spillclock.outbox() if line["step"] == "due" and line["spill"] == kept.json()["reference"]]
    assert len({(line["channel"], line["to"]) for line in late}) == len(late) == 6
    assert all(moment(line["at"]) > due_at for line in late)
    assert [row[0] for row in spillclock.rows("select description from spill order by id")] == ["kept", "after"]


@pytest.mark.parametrize("command", [["serve"], ["user", "add", "officer@city.example", "--role", "officer"]], ids=["serve", "user add"])
def test_a_database_that_cannot_be_written_is_told_in_one_line(spillclock: Spillclock, command: list[str]) -> None:
    before = without_powers()
    assert spillclock.run("migrate").returncode == 0
    for path in spillclock.home.iterdir():
        path.chmod(0o444)
    spillclock.home.chmod(0o555)
    try:
        done = spillclock.run(*command, before=before)
    finally:
        spillclock.home.chmod(0o700)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("spillclock: ")
    assert len(done.stderr.splitlines()) == 1
    assert "readonly" in done.stderr or "Permission denied" in done.stderr
