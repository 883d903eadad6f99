"""Papers and particulars by API: what the pages show, the same files, the same rules."""

from __future__ import annotations

from sqlalchemy import select
from sqlmodel import col

from service.account_tables import StaffAction
from service.transaction import reading
from tests.houses import Household
from tests.service.printed import printed
from tests.spills import a_report


async def test_papers_are_listed_with_their_law_and_what_is_missing(home: Household) -> None:
    client = home.client(await home.token("viewer", "chino"))
    reference = await home.report(a_report(reached=["storm_drain"]))
    found = {one["id"]: one for one in (await client.get(f"/api/v1/spills/{reference}/papers")).json()["papers"]}
    assert {"call-cal-oes", "call-national-response-center", "notice-stop_work_order", "export-ciwqs", "export-epa"} <= set(found)
    call = found["call-cal-oes"]
    assert (call["kind"], call["telephone"]) == ("call", ["800-852-7550", "916-845-8911"])
    assert "california/cal-oes-sewage" in {clock["duty"] for clock in call["clocks"]}
    assert {"label": "Name of the water it reached or may reach", "amended_at": "/papers/particulars#water_name"} in call["missing"]


async def test_a_paper_has_null_where_the_answer_is_not_known(home: Household) -> None:
    client = home.client(await home.token("viewer", "chino"))
    reference = await home.report(a_report())
    told = (await client.get(f"/api/v1/spills/{reference}/papers/call-cal-oes")).json()
    says = {entry["label"]: entry["says"] for part in told["parts"] for entry in part["entries"]}
    assert (says["How much"], says["People hurt or sick"], says["Your name"]) == ("1,500 gallons", None, None)
    [row] = (await client.get(f"/api/v1/spills/{reference}/papers/export-epa")).json()["rows"]
    assert (row["sewer_overflow_bypass_discharge_volume_gallons"], row["permit_identifier"]) == (1500, None)
    missing = await client.get(f"/api/v1/spills/{reference}/papers/none")
    assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json")


async def test_files_are_taken_by_post_and_each_taking_is_noted(home: Household) -> None:
    client = home.client(await home.token("officer", "chino"))
    reference = await home.report(a_report())
    address = f"/api/v1/spills/{reference}/papers/export-ciwqs/file"
    sheet = await client.post(address, json={"as": "csv"})
    assert sheet.headers["content-type"] == "text/csv; charset=utf-8"
    assert sheet.headers["content-disposition"] == f'attachment; filename="{reference}-export-ciwqs-en.csv"'
    assert sheet.content.startswith(b"\xef\xbb\xbfWDID,STATUS,REFERENCE,CATEGORY,POINT")
    assert (await client.post(address, json={"as": "json"})).json()["paper"] == "export-ciwqs"
    assert printed((await client.post(address, json={"language": "es"})).content).language == "es"
    async with reading(home.house) as tx:
        noted = (await tx.session.execute(select(StaffAction).where(col(StaffAction.kind) == "paper:taken"))).scalars().all()
    assert [(row.said["as"], row.said["language"], row.city) for row in noted] == [
        ("csv", "en", "chino"), ("json", "en", "chino"), ("pdf", "es", "chino"),
    ]  # fmt: skip


async def test_what_cannot_be_taken_is_named_and_not_noted(home: Household) -> None:
    client = home.client(await home.token("officer", "chino"))
    reference = await home.report(a_report())
    for paper, body, says in (
        ("call-cal-oes", {"as": "csv"}, "as: call-cal-oes has no rows"), ("export-epa", {"as": "xls"}, "as: 'xls' is no form of a paper"),
        ("export-epa", {"language": "fr"}, "language: 'fr'"), ("export-epa", {"form": "pdf"}, "form: Extra inputs"),
    ):  # fmt: skip
        refused = await client.post(f"/api/v1/spills/{reference}/papers/{paper}/file", json=body)
        assert refused.status_code == 422
        assert refused.json()["errors"][0].startswith(says)
    async with reading(home.house) as tx:
        assert (await tx.session.execute(select(StaffAction).where(col(StaffAction.kind) == "paper:taken"))).first() is None


async def test_particulars_are_recorded_by_program_and_read_again(home: Household) -> None:
    client = home.client(await home.token("officer", "chino"))
    reference = await home.report(a_report())
    address = f"/api/v1/spills/{reference}/particulars"
    told = {"particulars": {"water_name": "Cypress Channel", "injured": 0}, "source": "caller"}
    answer = (await client.patch(address, json=told)).json()
    assert answer == (await client.get(address)).json()
    assert answer["particulars"]["injured"] == {
        "value": 0, "source": "caller", "by": "officer@chino.example", "at": "2026-12-01T22:05:00Z",
    }  # fmt: skip
    refused = await client.patch(address, json={"particulars": {"injured": 2}})
    assert refused.json()["errors"] == ["reason: missing; right would be: why what was known is changed, in a few words"]
