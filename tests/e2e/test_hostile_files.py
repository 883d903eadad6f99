"""Every file that nobody should send, put to the real process: it answers each, stays small, and goes on working."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests import pictures
from tests.e2e.program import CHINO, Spillclock, tell

MOST_BYTES = 400_000_000
_BATCH = 20


def peak_bytes(pid: int) -> int:
    """The most memory a process held so far. What its readers of pictures hold is theirs, and has a bound of its own."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def a_report(client: httpx.Client) -> tuple[str, str]:
    """A report by anybody: its reference, and the token of its status page."""
    answer = client.post("/api/v1/spills", json={"description": "Grease in the street", "location": CHINO})
    assert answer.status_code == 201
    return answer.json()["reference"], answer.json()["status_url"].rpartition("/")[2]


@pytest.mark.timeout(300)
def test_a_storm_of_bombs_and_broken_pictures_is_answered_within_bounds(spillclock: Spillclock) -> None:
    spillclock.serve()
    assert spillclock.process is not None
    contents = [make() for make, *_ in (*pictures.KEPT.values(), *pictures.REFUSED.values())]
    contents += [pictures.encoded(pictures.noise(3000, 2000), quality=95)] * 20  # some 6 MB each: 120 MB in one form
    with spillclock.client() as client:
        reports = [a_report(client) for _ in range(4)]

        def send(number: int) -> int:
            reference, token = reports[number % len(reports)]
            batch = contents[number * _BATCH : (number + 1) * _BATCH]
            files = [("photos", (f"{n}.jpg", content)) for n, content in enumerate(batch)]
            headers = {"Authorization": f"Bearer {token}"}
            return client.post(f"/api/v1/spills/{reference}/photos", files=files, headers=headers, timeout=200).status_code

        with ThreadPoolExecutor(4) as threads:
            statuses = list(threads.map(send, range(-(-len(contents) // _BATCH))))
        assert set(statuses) <= {201, 422}
        assert client.get("/readyz").status_code == 200
    peak = peak_bytes(spillclock.process.pid)
    tell(f"at most {peak / 1e6:.0f} MB were held")
    assert peak < MOST_BYTES
    assert "Traceback" not in spillclock.log.read_text()
    assert list((spillclock.home / "files" / "incoming").iterdir()) == []


def test_a_disk_that_is_full_keeps_the_report_and_says_that_the_photo_is_not_there(spillclock: Spillclock) -> None:
    spillclock.serve()
    with spillclock.client() as client:
        reference, token = a_report(client)
        spillclock.limit_file_size(100_000)
        big = pictures.encoded(pictures.noise(600, 400), quality=95)
        answer = client.post(
            f"/api/v1/spills/{reference}/photos", files={"photos": ("a.jpg", big)}, headers={"Authorization": f"Bearer {token}"}
        )
        assert answer.status_code == 503
        assert "nothing was stored" in answer.json()["detail"]
        spillclock.limit_file_size(None)
        answer = client.post(
            f"/api/v1/spills/{reference}/photos", files={"photos": ("a.jpg", big)}, headers={"Authorization": f"Bearer {token}"}
        )
        assert answer.status_code == 201
