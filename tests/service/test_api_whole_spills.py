"""Merging, taking apart, splitting, referring and putting in charge by the API: who may, what it answers, what saying it again does."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.events import SpillMerged, SpillSplit
from tests.houses import a_household
from tests.spills import a_report, gallons


async def test_reports_are_merged_and_taken_apart_again_by_the_api(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        kept, other = await home.report(a_report()), await home.report(a_report())
        caller = home.client(await home.token("officer", "chino"))
        for _ in range(2):  # said again, it changes nothing
            answer = await caller.post(f"/api/v1/spills/{other}/merge", json={"into": kept, "reason": "the same manhole"})
            assert (answer.status_code, answer.json()["merged_into"]) == (200, kept)
        assert len(await home.events(other, SpillMerged)) == 1
        one = (await caller.get(f"/api/v1/spills/{kept}")).json()
        assert (one["merged"], one["counts"]["known_at"]) == ([other], "2026-12-01T22:05:00Z")
        assert one["sources"]["volume"]["source"] == "staff"
        listed = (await caller.get("/api/v1/spills")).json()["spills"]
        assert [row["reference"] for row in listed] == [kept]
        answer = await caller.post(f"/api/v1/spills/{other}/unmerge", json={"reason": "the next one"})
        assert (answer.status_code, answer.json()["merged_into"]) == (200, None)


async def test_a_merger_that_would_stop_clocks_names_each(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        kept, other = await home.report(a_report(volume=gallons(500))), await home.report(a_report())
        caller = home.client(await home.token("officer", "chino"))
        refused = await caller.post(f"/api/v1/spills/{other}/merge", json={"into": kept, "reason": "same"})
        assert (refused.status_code, refused.json()["title"]) == (409, "Clocks would stop")
        numbers = [int(line.partition(":")[0]) for line in refused.json()["errors"]]
        answer = await caller.post(f"/api/v1/spills/{other}/merge", json={"into": kept, "reason": "same", "drop": numbers})
        assert answer.status_code == 200


async def test_a_report_is_split_once_for_one_key(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        origin = await home.report(a_report())
        caller = home.client(await home.token("officer", "chino"))
        said = {"reason": "two", "description": "oil", "facts": {"material": "petroleum", "volume": gallons(3)}}
        answers = [
            await caller.post(f"/api/v1/spills/{origin}/split", json=said, headers={"Idempotency-Key": "k"}) for _ in range(2)
        ]  # fmt: skip
        assert [answer.status_code for answer in answers] == [201, 201]
        assert len({answer.json()["reference"] for answer in answers}) == 1
        assert answers[0].json()["split_from"] == origin
        assert answers[0].headers["Location"].endswith(answers[0].json()["reference"])
        assert len(await home.events(origin, SpillSplit)) == 1


async def test_referrals_officer_and_sources_show_with_the_spill(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        reference = await home.report(a_report())
        caller = home.client(await home.token("officer", "chino", "ann@chino.example"))
        said = {"agency": "County Flood Control", "sent": "photos", "because": "their channel", "how": "email"}
        assert (await caller.post(f"/api/v1/spills/{reference}/referrals", json=said)).status_code == 201
        assert (await caller.put(f"/api/v1/spills/{reference}/officer", json={"officer": "ann@chino.example"})).status_code == 200
        amended = {"reason": "sample 4", "source": "laboratory", "volume": gallons(1400)}
        assert (await caller.patch(f"/api/v1/spills/{reference}/facts", json=amended)).status_code == 200
        one = (await caller.get(f"/api/v1/spills/{reference}")).json()
        assert one["referrals"][0]["by"] == one["officer"] == "ann@chino.example"
        assert one["sources"]["volume"]["certainty"] == "measured"
        refused = await caller.patch(f"/api/v1/spills/{reference}/facts", json={**amended, "source": "rumour"})
        assert (refused.status_code, "source" in refused.json()["errors"][0]) == (422, True)


@pytest.mark.parametrize("call", ["POST merge", "POST unmerge", "POST split", "POST referrals", "PUT officer"])
async def test_only_the_citys_own_officers_are_let_through(tmp_path: Path, call: str) -> None:
    method, path = call.split()
    async with a_household(tmp_path) as home:
        reference, other = await home.report(a_report()), await home.report(a_report())
        body = {"merge": {"into": other}, "officer": {"officer": ""}}.get(path, {})
        callers = [None, await home.token("viewer", "chino"), await home.token("officer", "ontario")]
        answers = [await home.client(token).request(method, f"/api/v1/spills/{reference}/{path}", json=body) for token in callers]
        assert [answer.status_code for answer in answers] == [401, 403, 404]
