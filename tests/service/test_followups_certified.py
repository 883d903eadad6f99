"""Reports that are certified, amended, written by several people at once, and their receipts: over the API."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.events import ActRecorded, FileKept, FollowUpCertified, FollowUpFiled, FollowUpSaved, ObligationMet
from service.followups import OUR_CERTIFICATION, Seen, mark_of, save_draft
from service.parties import link_token
from service.tables import FollowUp
from service.transaction import reading, transaction
from tests.houses import Household, a_household
from tests.service.small_law import COUNTED, WORKING_DAYS, small_law
from tests.service.test_api_spills import is_problem
from tests.spills import a_report

WORDS = "I certify under penalty of law that this is true."
CERTIFIED = COUNTED.replace("    ladder: main", f'    certification: {{says: "{WORDS}", source: "Test Code 9"}}\n    ladder: main')
WHOLE = {"cause": "roots in the lateral", "cure": "the lateral is lined"}
WHO = {"by": "H. Dairy", "title": "plant manager"}


class Stopped(Exception):
    """What stops a test in the middle of a transaction."""


@pytest.fixture
async def home(tmp_path: Path) -> Any:
    async with a_household(tmp_path, law=small_law(COUNTED)) as household:
        yield household


@pytest.fixture
async def strict(tmp_path: Path) -> Any:
    """A household under a law that prescribes the words of certification."""
    async with a_household(tmp_path, law=small_law(CERTIFIED)) as household:
        yield household


async def a_spill(home: Household) -> str:
    return await home.report(a_report(threat=True, discharged_at="2026-12-01T14:00-08:00"))


async def link(home: Household, reference: str) -> str:
    """The token of the discharger's private link."""
    return link_token(home.house, "respond", await home.spill(reference))


async def sent(home: Household, reference: str, state: str, token: str | None = None, **body: Any) -> httpx.Response:
    async with home.client(token or await link(home, reference)) as client:
        return await client.post(f"/api/v1/spills/{reference}/reports", json={"duty": WORKING_DAYS, "state": state, **body})


# -- certification


async def test_a_certified_report_keeps_the_words_it_was_certified_under(home: Household) -> None:
    reference = await a_spill(home)
    answer = await sent(home, reference, "certify", content=WHOLE, **WHO)
    assert (answer.status_code, answer.json()["clock_state"]) == (201, "met")
    [filed] = await home.events(reference, FollowUpFiled)
    assert (filed.by, filed.title, filed.certification) == ("H. Dairy", "plant manager", OUR_CERTIFICATION)


async def test_a_submitted_report_waits_to_be_certified_where_the_law_prescribes_it(strict: Household) -> None:
    reference = await a_spill(strict)
    answer = await sent(strict, reference, "submit", content=WHOLE, by="A. Ortiz")
    assert (answer.json()["missing"], answer.json()["clock_state"]) == ([], "running")
    assert answer.json()["certification_wording"] == {"says": WORDS, "source": "Test Code 9"}
    assert await strict.events(reference, ObligationMet) == []
    strict.clock.jump(hours=1)
    certified = await sent(strict, reference, "certify", **WHO)
    assert (certified.json()["clock_state"], certified.json()["certified_at"]) == ("met", "2026-12-01T23:05:00Z")
    [event] = await strict.events(reference, FollowUpCertified)
    assert (event.version, event.by, event.title, event.certification) == (1, "H. Dairy", "plant manager", WORDS)
    assert (await strict.clock_of(reference, WORKING_DAYS)).state == "met"
    assert is_problem(await sent(strict, reference, "certify", **WHO), 409)


async def test_certifying_files_what_is_drafted(strict: Household) -> None:
    reference = await a_spill(strict)
    await sent(strict, reference, "draft", content=WHOLE)
    answer = await sent(strict, reference, "certify", **WHO)
    assert (answer.json()["state"], answer.json()["clock_state"], answer.json()["certification"]) == ("filed", "met", WORDS)


async def test_the_words_of_certification_are_frozen_with_the_clock(strict: Household) -> None:
    reference = await a_spill(strict)
    later = strict.with_house(rulebook=small_law(COUNTED))
    answer = await sent(later, reference, "certify", content=WHOLE, **WHO)
    assert answer.json()["certification"] == WORDS


async def test_nothing_filed_means_nothing_to_certify_or_amend(home: Household) -> None:
    reference = await a_spill(home)
    assert is_problem(await sent(home, reference, "certify", **WHO), 409)
    assert is_problem(await sent(home, reference, "amend", content=WHOLE, **WHO), 409)
    assert await home.events(reference, FollowUpSaved) == []


# -- amendments


async def test_an_amendment_keeps_both_versions_and_meets_nothing_anew(home: Household) -> None:
    reference = await a_spill(home)
    await sent(home, reference, "certify", content=WHOLE, **WHO)
    home.clock.jump(days=9)
    answer = await sent(home, reference, "amend", content={"cause": "grease, not roots"}, **WHO)
    told = answer.json()
    assert (told["version"], told["amends"], told["after_met"], told["clock_state"]) == (2, 1, True, "met")
    assert told["content"] == {"cause": "grease, not roots", "cure": WHOLE["cure"]}
    assert len(await home.events(reference, ActRecorded)) == 1  # a second act would meet another duty to the same office
    assert (await home.clock_of(reference, WORKING_DAYS)).state == "met"
    async with home.client(await link(home, reference)) as client:
        [listed] = (await client.get(f"/api/v1/spills/{reference}/reports")).json()["reports"]
    assert [(one["version"], one["content"]["cause"]) for one in listed["versions"]] == [(1, WHOLE["cause"]), (2, "grease, not roots")]


async def test_an_amendment_that_completes_a_late_report_meets_its_duty_late(home: Household) -> None:
    reference = await a_spill(home)
    await sent(home, reference, "submit", content={"cause": "roots"}, by="A. Ortiz", incomplete=True)
    home.clock.jump(days=5)
    told = (await sent(home, reference, "amend", content={"cure": "lined"}, **WHO)).json()
    assert (told["after_met"], told["on_time"], told["clock_state"]) == (False, False, "met_late")


# -- several people


async def test_two_people_who_write_different_items_lose_nothing(home: Household) -> None:
    reference = await a_spill(home)
    staff = await home.token("officer", "chino")
    first = (await sent(home, reference, "draft", content={"cause": "roots"}, revision=0)).json()
    await sent(home, reference, "draft", staff, content={"cure": "lined"}, revision=first["revision"])
    third = await sent(home, reference, "draft", content={"cause": "roots and grease"}, revision=2)
    assert third.json()["content"] == {"cause": "roots and grease", "cure": "lined"}


async def test_a_save_from_an_earlier_revision_is_a_conflict_with_both_texts_kept(home: Household) -> None:
    reference = await a_spill(home)
    staff = await home.token("officer", "chino")
    await sent(home, reference, "draft", content={"cause": "roots"}, revision=0)
    await sent(home, reference, "draft", staff, content={"cause": "grease"}, revision=1)
    answer = await sent(home, reference, "draft", content={"cause": "a broken pipe"}, revision=1)
    assert is_problem(answer, 409, "content.cause: it was changed to other words than yours; right would be: send revision 2")
    assert is_problem(await sent(home, reference, "certify", content={**WHOLE, "cause": "a broken pipe"}, revision=1, **WHO), 409)
    settled = await sent(home, reference, "draft", content={"cause": "a broken pipe"}, revision=2)
    assert (settled.json()["revision"], settled.json()["content"]["cause"]) == (3, "a broken pipe")


async def test_without_a_revision_the_words_of_somebody_else_are_not_written_over(home: Household) -> None:
    reference = await a_spill(home)
    await sent(home, reference, "draft", await home.token("officer", "chino"), content={"cause": "grease"})
    assert is_problem(await sent(home, reference, "draft", content={"cause": "roots"}), 409)
    assert (await sent(home, reference, "draft", content={"cure": "lined"})).json()["content"] == {"cause": "grease", "cure": "lined"}


async def test_an_item_that_was_not_touched_keeps_what_others_wrote(home: Household) -> None:
    reference = await a_spill(home)
    row = await home.clock_of(reference, WORKING_DAYS)

    async def write(actor: str, content: dict[str, str], revision: int, before: dict[str, str]) -> FollowUp:
        async with transaction(home.house, actor) as tx:
            seen = Seen(revision, {item: mark_of(text) for item, text in before.items()})
            return await save_draft(tx, await tx.spill(reference), row, content, "", seen=seen)

    blank = {"cause": "", "cure": ""}
    await write("ann", {"cause": "roots", "cure": ""}, 0, blank)
    await write("ben", {"cause": "", "cure": "lined"}, 0, blank)
    draft = await write("ann", {"cause": "roots in it", "cure": ""}, 1, {"cause": "roots", "cure": ""})
    assert draft.content == {"cause": "roots in it", "cure": "lined"}
    assert len(await home.events(reference, FollowUpSaved)) == 3  # a turn of a person each


async def test_two_first_drafts_at_once_are_one_draft(home: Household) -> None:
    reference = await a_spill(home)
    staff = await home.token("officer", "chino")
    answers = await asyncio.gather(
        sent(home, reference, "draft", content={"cause": "roots"}, revision=0),
        sent(home, reference, "draft", staff, content={"cure": "lined"}, revision=0),
    )
    assert [answer.status_code for answer in answers] == [201, 201]
    async with home.client(staff) as client:
        [listed] = (await client.get(f"/api/v1/spills/{reference}/reports")).json()["reports"]
    assert [(one["revision"], one["content"]) for one in listed["versions"]] == [(2, {"cause": "roots", "cure": "lined"})]


async def test_a_filing_that_fails_half_way_leaves_nothing_behind(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = await a_spill(home)
    before = len(await home.history(reference))

    async def stopped(*_: object) -> None:
        raise Stopped  # as a stop would come, between the version and the act that meets the duty

    monkeypatch.setattr("service.followups._met_by", stopped)
    with pytest.raises(Stopped):
        await sent(home, reference, "certify", content=WHOLE, **WHO)
    monkeypatch.undo()
    assert len(await home.history(reference)) == before
    async with reading(home.house) as tx:
        assert await tx.session.get(FollowUp, 1) is None
    assert (await sent(home, reference, "certify", content=WHOLE, **WHO)).json()["clock_state"] == "met"


async def test_a_report_as_it_is_on_file_already_is_not_filed_again(home: Household) -> None:
    reference = await a_spill(home)
    for state in ("submit", "certify"):  # to certify what was only submitted is a change
        assert (await sent(home, reference, state, content=WHOLE, **WHO)).status_code == 201
    for state in ("submit", "certify", "amend"):
        again = await sent(home, reference, state, content=WHOLE, reason="none", **WHO)
        assert is_problem(again, 422, "amends: the same as version 2")
    changed = await sent(home, reference, "amend", content={"cause": "grease"}, reason="The camera showed it.", **WHO)
    assert (changed.json()["version"], changed.json()["reason"]) == (3, "The camera showed it.")
    [*_, told] = await home.events(reference, FollowUpFiled)
    assert told.reason == "The camera showed it."
    assert (await sent(home, reference, "amend", content={"cause": "roots"}, **WHO)).json()["reason"] == ""


# -- receipts and attachments


async def test_whoever_files_and_leaves_an_address_gets_a_receipt(home: Household) -> None:
    reference = await a_spill(home)
    home.clock.jump(days=5)
    await sent(home, reference, "certify", content=WHOLE, email="h@dairy.example", language="es", **WHO)
    await home.work()
    [mail] = [line for line in home.outbox() if line["to"] == "h@dairy.example"]
    assert mail["subject"].startswith(f"Comprobante: informe presentado, {reference}, “")
    assert "de retraso" in mail["text"]
    assert "Contiene todo lo que la ley enumera." in mail["text"]
    clock = (await home.clock_of(reference, WORKING_DAYS)).id
    assert f"/respond/{link_token(home.house, 'respond', await home.spill(reference))}/duties/{clock}/report" in mail["text"]


async def test_attached_files_belong_to_the_version_that_is_filed_next(home: Household) -> None:
    reference = await a_spill(home)
    clock = (await home.clock_of(reference, WORKING_DAYS)).id
    paper = {"files": ("..\\lab results.pdf", b"%PDF-1.7 results", "application/pdf")}
    async with home.client(await link(home, reference)) as client:
        answer = await client.post(f"/api/v1/spills/{reference}/reports/{clock}/attachments", files=paper)
        assert (answer.status_code, answer.json()["version"], answer.json()["kept"][0]["name"]) == (201, 1, "lab results.pdf")
        nothing = await client.post(f"/api/v1/spills/{reference}/reports/{clock}/attachments", data={"x": "y"})
        assert is_problem(nothing, 422, "files: missing")
        assert is_problem(await client.post(f"/api/v1/spills/{reference}/reports/99/attachments", files=paper), 404)
        program = {"files": ("run.exe", b"MZ\x90", "application/pdf")}
        assert is_problem(await client.post(f"/api/v1/spills/{reference}/reports/{clock}/attachments", files=program), 422, "run.exe: ")
    await sent(home, reference, "certify", content=WHOLE, **WHO)
    [filed] = await home.events(reference, FollowUpFiled)
    [kept] = await home.events(reference, FileKept)
    assert filed.attachments == [{"name": "lab results.pdf", "size": 16, "sha256": kept.digest}]


async def test_the_calls_are_documented_with_their_states(home: Household) -> None:
    async with home.client() as client:
        told = (await client.get("/openapi.json")).json()["paths"]["/api/v1/spills/{reference}/reports"]["post"]
    shape = told["requestBody"]["content"]["application/json"]["schema"]
    assert shape["properties"]["state"]["enum"] == ["draft", "submit", "certify", "amend"]
    assert set(told["responses"]) >= {"201", "409", "422"}


async def test_the_reports_of_the_city_are_not_the_dischargers_to_file(tmp_path: Path) -> None:
    async with a_household(tmp_path, law=small_law(COUNTED.replace("owed_by: discharger", "owed_by: city"))) as home:
        reference = await a_spill(home)
        assert is_problem(
            await sent(home, reference, "draft", content=WHOLE), 422, "is not owed for this spill; right would be: one of none"
        )
        assert (await sent(home, reference, "draft", await home.token("officer", "chino"), content=WHOLE)).status_code == 201
