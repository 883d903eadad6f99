"""Written follow-up reports over the API: drafts, what is missing, filing on time or late, and the one report that meets its duty."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.events import ActRecorded, FollowUpFiled, FollowUpSaved, ObligationMet
from service.followups import OUR_CERTIFICATION
from tests.houses import TUESDAY, Household, a_household
from tests.service.small_law import CALL, COUNTED, TWO_HOURS, WORKING_DAYS, small_law
from tests.service.test_api_spills import discharger_token, is_problem
from tests.spills import a_report

LAW = CALL + COUNTED
WHOLE = {"cause": "roots in the lateral", "cure": "the lateral is lined"}
# Three working days after a Tuesday: Friday at five in the afternoon.
DUE = TUESDAY.replace(day=5, hour=1, minute=0)


@pytest.fixture
async def home(tmp_path: Path) -> Any:
    async with a_household(tmp_path, law=small_law(LAW)) as household:
        yield household


async def a_spill_with_duties(home: Household) -> str:
    return await home.report(a_report(threat=True, discharged_at="2026-12-01T14:00-08:00"))


async def sent(home: Household, reference: str, **body: Any) -> httpx.Response:
    """Post a follow-up report as an officer of Chino."""
    if not hasattr(home, "writer"):
        home.writer = home.client(await home.token("officer", "chino"))  # type: ignore[attr-defined]
    answer: httpx.Response = await home.writer.post(f"/api/v1/spills/{reference}/reports", json=body)  # type: ignore[attr-defined]
    return answer


async def test_a_draft_is_kept_and_written_over_until_it_is_filed(home: Household) -> None:
    reference = await a_spill_with_duties(home)
    first = await sent(home, reference, duty=WORKING_DAYS, content={"cause": "roots"})
    assert first.status_code == 201
    told = first.json()
    assert told.pop("certification_wording") == {"says": OUR_CERTIFICATION, "source": None}
    assert told == {
        "clock": (await home.clock_of(reference, WORKING_DAYS)).id, "duty": WORKING_DAYS, "version": 1, "state": "draft", "revision": 1,
        "content": {"cause": "roots"}, "missing": {"cure": "what will prevent the next one"}, "by": "", "title": "", "amends": None,
        "reason": "", "saved_at": "2026-12-01T22:05:00Z", "filed_at": None, "certified_at": None,
    }  # fmt: skip
    home.clock.jump(hours=1)
    again = await sent(home, reference, duty=WORKING_DAYS, content=WHOLE, by="A. Ortiz, crew chief")
    assert (again.json()["version"], again.json()["content"], again.json()["saved_at"]) == (1, WHOLE, "2026-12-01T23:05:00Z")
    assert len(await home.events(reference, FollowUpSaved)) == 1
    assert (await home.clock_of(reference, WORKING_DAYS)).state == "running"


async def test_missing_items_are_named_in_a_problem_and_nothing_is_filed(home: Household) -> None:
    reference = await a_spill_with_duties(home)
    before = len(await home.history(reference))
    answer = await sent(home, reference, duty=WORKING_DAYS, content={"cause": "roots", "cure": "  \n"}, by="A. Ortiz", state="submit")
    assert is_problem(answer, 422, "content.cure: missing; right would be: what will prevent the next one")
    assert answer.json()["title"] == "The report is not complete"
    assert len(await home.history(reference)) == before


async def test_a_report_may_be_filed_with_items_missing_and_meets_nothing(home: Household) -> None:
    reference = await a_spill_with_duties(home)
    texts = {"cause": "roots", "cure": "  \n"}
    answer = await sent(home, reference, duty=WORKING_DAYS, content=texts, by="A. Ortiz", state="submit", incomplete=True)
    assert answer.status_code == 201
    body = answer.json()
    assert (body["state"], body["missing"], body["clock_state"]) == ("filed", ["what will prevent the next one"], "running")
    assert (body["on_time"], body["late_by_s"]) == (True, None)
    assert await home.events(reference, ObligationMet) == []
    await home.live(days=4)
    assert home.told(WORKING_DAYS, "due")  # the clock went on


async def test_a_complete_report_meets_its_duty_and_stops_its_alerts(home: Household) -> None:
    reference = await a_spill_with_duties(home)
    await home.live(hours=20)
    answer = await sent(home, reference, duty=WORKING_DAYS, content=WHOLE, by="A. Ortiz, crew chief", state="submit")
    assert (answer.json()["missing"], answer.json()["clock_state"], answer.json()["on_time"]) == ([], "met", True)
    [filed] = await home.events(reference, FollowUpFiled)
    assert (filed.by, filed.content, filed.version, filed.late_by_s) == ("A. Ortiz, crew chief", WHOLE, 1, None)
    [act] = await home.events(reference, ActRecorded)
    assert (act.act["type"], act.act["recipient"], act.act["complete"], act.act["content"]) == (
        "report_submitted", "works", True, ["cause", "cure"],
    )  # fmt: skip
    sent_so_far = len(home.told(WORKING_DAYS))
    await home.live(days=6)
    assert len(home.told(WORKING_DAYS)) == sent_so_far


@pytest.mark.parametrize(
    ("after", "state", "late"),
    [(timedelta(), "met", None), (timedelta(seconds=1), "met_late", 1), (timedelta(days=1, seconds=5), "met_late", 86405)],
)
async def test_a_report_is_stamped_on_time_or_late_by_how_much(home: Household, after: timedelta, state: str, late: int | None) -> None:
    reference = await a_spill_with_duties(home)
    assert (await home.clock_of(reference, WORKING_DAYS)).due_at == DUE
    home.clock.at = DUE + after
    answer = (await sent(home, reference, duty=WORKING_DAYS, content=WHOLE, by="A. Ortiz", state="submit")).json()
    assert (answer["clock_state"], answer["on_time"], answer["late_by_s"]) == (state, late is None, late)
    row = await home.clock_of(reference, WORKING_DAYS)
    assert (row.state, row.clock["late_by_s"]) == (state, late)


async def test_a_filed_version_is_never_written_over(home: Household) -> None:
    reference = await a_spill_with_duties(home)
    await sent(home, reference, duty=WORKING_DAYS, content={"cause": "unknown"}, by="A. Ortiz", state="submit", incomplete=True)
    draft = await sent(home, reference, duty=WORKING_DAYS, content=WHOLE)
    assert (draft.json()["version"], draft.json()["state"]) == (2, "draft")
    filed = await sent(home, reference, duty=WORKING_DAYS, content=WHOLE, by="B. Cruz", state="submit")
    assert (filed.json()["version"], filed.json()["clock_state"]) == (2, "met")
    assert [(event.version, event.by) for event in await home.events(reference, FollowUpFiled)] == [(1, "A. Ortiz"), (2, "B. Cruz")]


async def test_items_may_be_named_by_the_words_of_the_law(home: Household) -> None:
    reference = await a_spill_with_duties(home)
    answer = await sent(home, reference, duty=WORKING_DAYS, content={"cause of the spill": "roots"})
    assert answer.json()["content"] == {"cause": "roots"}


async def test_the_discharger_files_by_the_private_link(home: Household) -> None:
    reference = await a_spill_with_duties(home)
    async with home.client(await discharger_token(home, reference)) as client:
        body = {"duty": WORKING_DAYS, "content": WHOLE, "by": "H. Dairy, owner", "state": "submit"}
        answer = await client.post(f"/api/v1/spills/{reference}/reports", json=body)
    assert (answer.status_code, answer.json()["clock_state"]) == (201, "met")
    row = next(row for row, event in await home.history(reference) if isinstance(event, FollowUpFiled))
    assert row.actor == f"discharger of {reference}"


async def test_a_report_may_name_its_clock_in_place_of_its_duty(home: Household) -> None:
    reference = await a_spill_with_duties(home)
    clock = (await home.clock_of(reference, WORKING_DAYS)).id
    answer = await sent(home, reference, clock=clock, content=WHOLE, by="A. Ortiz", state="submit")
    assert (answer.json()["clock"], answer.json()["clock_state"]) == (clock, "met")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"duty": WORKING_DAYS, "state": "submit", "content": WHOLE}, "by: missing"),
        ({"duty": WORKING_DAYS, "state": "submit", "content": WHOLE, "by": " \n"}, "by: missing"),
        ({"duty": WORKING_DAYS, "content": {"weather": "fine"}}, "content.weather: not an item of this report; right would be: one of"),
        ({"duty": WORKING_DAYS, "content": [1]}, "content: "),
        ({"duty": WORKING_DAYS, "attachments": []}, "attachments: "),
        ({"duty": WORKING_DAYS, "state": "certify", "content": WHOLE, "by": "A. Ortiz"}, "title: missing; right would be: the title of"),
        ({"duty": WORKING_DAYS, "state": "sent", "content": WHOLE}, "state: "),
        ({"duty": WORKING_DAYS, "state": "submit", "by": "A.", "content": WHOLE, "email": "nobody"}, "email: "),
        ({"duty": WORKING_DAYS, "state": "submit", "by": "A.", "content": WHOLE, "language": "fr"}, "language: 'fr'; right would be"),
        ({"duty": WORKING_DAYS, "content": {"cause": "x" * 50_001}}, "content.cause: 50,001 characters; right would be: 50,000 or fewer"),
        ({"duty": TWO_HOURS}, "duty: chino/two-hours is done telephone, not by a report"),
        ({"duty": "chino/nothing"}, "duty: 'chino/nothing' is not owed for this spill; right would be: one of chino/working-days"),
        ({"clock": 999}, "duty: 999 is not owed"),
        ({}, "is not owed for this spill"),
    ],
    ids=str,
)  # fmt: skip
async def test_a_report_that_cannot_be_taken_says_why_and_leaves_nothing(home: Household, body: dict[str, Any], said: str) -> None:
    reference = await a_spill_with_duties(home)
    before = len(await home.history(reference))
    assert is_problem(await sent(home, reference, **body), 422, said)
    assert len(await home.history(reference)) == before


async def test_no_report_is_owed_for_a_duty_that_was_waived(home: Household) -> None:
    reference = await a_spill_with_duties(home)
    await home.waive(reference, WORKING_DAYS, "the county took it over")
    assert is_problem(await sent(home, reference, duty=WORKING_DAYS, content=WHOLE, by="A. Ortiz", state="submit"), 409)


async def test_what_a_report_must_hold_is_frozen_with_its_clock(home: Household) -> None:
    reference = await a_spill_with_duties(home)
    fuller = home.with_house(rulebook=small_law(LAW.replace("- {item: cure,", "- {item: volume, says: how much}\n      - {item: cure,")))
    answer = await sent(fuller, reference, duty=WORKING_DAYS, content=WHOLE, by="A. Ortiz", state="submit")
    assert (answer.json()["missing"], answer.json()["clock_state"]) == ([], "met")
