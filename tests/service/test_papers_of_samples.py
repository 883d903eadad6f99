"""All 420 rows of the samples of real reports on the papers that hold their words: nothing is lost, and nothing runs over a margin."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import httpx
import pytest

from service.case_file.bundle import read_case
from service.case_file.ciwqs import ciwqs_export
from service.case_file.epa import epa_export
from service.case_file.evidence import volumes_of
from service.case_file.exports import as_csv
from service.case_file.paper import form_of
from service.case_file.papers_of import papers_of
from service.pages.speech import speech
from service.papers.drawing import draw
from service.transaction import reading
from tests.houses import a_household
from tests.service.printed import lost, printed
from tests.service.real_reports import FOLDER, MISSING, RealReport, real_reports
from tests.service.small_law import small_law
from tests.service.test_papers import over_the_margins

pytestmark = [pytest.mark.skipif(not FOLDER.is_dir(), reason=MISSING), pytest.mark.timeout(600)]  # a slow machine takes its time
PARTS = 20
_LONG = 1200


async def reported(staff: httpx.AsyncClient, report: RealReport) -> str:
    """The reference of a report that is put to the law of Chino."""
    answer = await staff.post("/api/v1/spills", content=json.dumps({**report.body, "jurisdiction": "chino"}))
    assert answer.status_code == 201
    return str(answer.json()["reference"])


@pytest.mark.parametrize("part", range(PARTS))
async def test_call_sheets_and_exports_hold_every_word(tmp_path: Path, part: int) -> None:
    async with a_household(tmp_path) as home:
        staff = home.client(await home.token("officer"))
        for report in real_reports()[part::PARTS]:
            where, words = f"{report.source}, row {report.number}", str(report.body.get("description") or "")
            reference = await reported(staff, report)
            async with reading(home.house) as tx:
                case = await read_case(tx, await tx.spill(reference), whole=True)
            language = "es" if report.number % 2 else "en"
            for paper in papers_of(case.record, speech(language)):
                form = form_of(case.record, paper, speech(language))
                if paper.id == "call-cal-oes":
                    assert lost(words, printed(draw(form, language))) == {}, where
                if len(words) > _LONG and paper.id in ("call-cal-oes", "call-national-response-center", "export-ciwqs"):
                    assert over_the_margins(form) == [], where
            for export in (ciwqs_export(case.record), epa_export(case.record)):
                rows = list(csv.DictReader(io.StringIO(as_csv(export).decode("utf-8-sig"))))
                assert [set(row) for row in rows] == [set(export.columns)] * len(rows), where
                assert not any(value.startswith(("=", "+", "@")) for row in rows for value in row.values()), where


@pytest.mark.parametrize("part", range(PARTS))
async def test_the_evidence_holds_every_word(tmp_path: Path, part: int) -> None:
    async with a_household(tmp_path, law=small_law()) as home:
        staff = home.client(await home.token("officer"))
        for report in real_reports()[part::PARTS]:
            where, words = f"{report.source}, row {report.number}", str(report.body.get("description") or "")
            reference = await reported(staff, report)
            async with reading(home.house) as tx:
                case = await read_case(tx, await tx.spill(reference), whole=True)
            [volume] = volumes_of(case)
            assert lost(words, printed(draw(volume, "en"))) == {}, where
            if len(words) > _LONG:
                assert over_the_margins(volume) == [], where
