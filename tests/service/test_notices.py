"""The notices of a city: those its ordinance knows, what each starts, and what is on record of it."""

from __future__ import annotations

import pytest

from service.case_file.notices import notices
from service.case_file.paper import CasePaper
from service.case_file.record import read_record
from service.pages.speech import speech
from service.transaction import reading
from tests.houses import Household
from tests.spills import a_report


async def of(home: Household, reference: str, language: str = "en") -> dict[str, CasePaper]:
    async with reading(home.house) as tx:
        record = await read_record(tx, await tx.spill(reference))
    return {paper.id: paper for paper in notices(record, speech(language))}


def said(paper: CasePaper, heading: str) -> dict[str, str]:
    return {entry.label: entry.says for part in paper.parts if part.heading == heading for entry in part.entries}


@pytest.mark.parametrize(
    ("city", "ids"),
    [
        ("chino", {"notice_of_correction", "notice_of_violation", "compliance_order", "stop_work_order", "cease_and_desist",
                   "remediation_order", "show_cause", "appeal", "decision_noticed", "invoice_issued"}),
        ("diamond-bar", {"cease_and_desist", "notice_to_clean"}),
        ("chico", {"compliance_order", "cease_and_desist", "emergency_cease_and_desist", "appeal", "abatement_notified",
                   "decision_effective", "invoice_issued", "certification_form_sent"}),
        ("soledad", {"compliance_order", "stop_work_order", "emergency_cease_and_desist", "remediation_order", "show_cause", "appeal",
                     "abatement_notified", "penalty_received", "petition_filed"}),
        ("san-bernardino", set()),
    ],
)  # fmt: skip
async def test_a_city_has_the_notices_of_its_ordinance(home: Household, city: str, ids: set[str]) -> None:
    reference = await home.report(a_report())
    await home.amend(reference, jurisdiction=city)
    assert set(await of(home, reference)) == {f"notice-{id_}" for id_ in ids}


async def test_a_report_without_a_city_has_no_notices(home: Household) -> None:
    assert await of(home, await home.report(a_report(location=None), staff=False)) == {}


async def test_an_order_says_what_follows_and_how_it_is_appealed_with_their_sections(home: Household) -> None:
    reference = await home.report(a_report(reached=["storm_drain"]))
    await home.name_discharger(reference, "Golden Wok LLC", "", "(909) 555-0144")
    paper = (await of(home, reference))["notice-notice_of_violation"]
    assert paper.standing == "It is not on record that this was sent. Record it once it is."
    assert said(paper, "To")["Who is responsible"] == "Golden Wok LLC, 909-555-0144"
    [(title, words)] = said(paper, "What the law asks then").items()
    assert title == "Hand in the plan that the notice of violation asks for"
    assert words.startswith("By the time that the order sets\nCity of Chino")
    [appeal] = said(paper, "How it can be appealed").values()
    assert appeal.startswith("10 calendar days\n")
    assert "What must be done" in {entry.label for entry in paper.entries if entry.by_hand}
    assert {entry.label for entry in paper.missing} == {
        "Postal address of whoever is responsible", "When it began", "Source and cause",
    }  # fmt: skip


async def test_an_order_that_was_served_stands_with_its_time(home: Household) -> None:
    reference = await home.report(a_report())
    await home.happened(reference, "order_served", order="compliance_order", comply_by="2026-12-04T17:00:00-08:00")
    found = await of(home, reference)
    assert found["notice-compliance_order"].standing == "On record as sent Dec 1, 2026, 2:05 PM PST."
    assert said(found["notice-compliance_order"], "What the notice says")["Until when it must be done"] == "Dec 4, 2026, 5:00 PM PST"
    assert found["notice-stop_work_order"].standing.startswith("It is not on record")


async def test_the_notice_of_a_hearing_carries_the_citys_own_clock(home: Household) -> None:
    reference = await home.report(a_report())
    await home.happened(reference, "hearing_set", hearing="show_cause", hearing_at="2026-12-21T10:00:00-08:00")
    paper = (await of(home, reference))["notice-show_cause"]
    assert [duty.row.duty for duty in paper.duties] == ["chino/hearing-notice-10-days"]
    assert said(paper, "What the notice says")["When the hearing is"] == "Dec 21, 2026, 10:00 AM PST"
    assert paper.is_due


async def test_a_notice_speaks_spanish_to_whoever_gets_it(home: Household) -> None:
    paper = (await of(home, await home.report(a_report()), "es"))["notice-notice_of_violation"]
    assert paper.title == "Aviso de infracción"
    assert "10 días naturales" in " ".join(said(paper, "Cómo se puede apelar").values())
