"""A sheet of the city's own: read whatever wrote it, tried without a trace, every row told of, none twice, nobody alerted by the past."""

from __future__ import annotations

import csv
import io
from datetime import UTC
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import func, select

from service import importing, sheets
from service.cli import main
from service.errors import BadInput
from service.importing import Import, Row, take_in_rows
from service.tables import EventRow, MessageRow, Spill
from service.transaction import reading
from tests.houses import Household
from tests.service.people import an_account, browser_of

HEADS = "Case No,Date Reported,Time,Location,Spill Type,Gallons,Receiving water,Narrative,Responsible Party,Crew"
ROWS = (
    "17-001,03/14/2017,2:05 PM,13220 Central Ave,SSO,\"1,500\",Storm drain to creek,Manhole overflowed; roots,,A-3",
    "17-002,4/2/17,,12 Elm St,Diesel fuel,25,Street,Truck leaked,Haulers Inc,B-1",
    "17-003,sometime in May,,behind the mall,mystery liquid,lots,,smelled odd,,",
)  # fmt: skip
SHEET = "\n".join((HEADS, *ROWS)) + "\n"


async def taken(home: Household, text: str | bytes = SHEET, *, dry: bool = False, alerts: bool = False, city: str = "chino") -> list[Row]:
    sheet = sheets.read_sheet(text.encode() if isinstance(text, str) else text)
    wanted = Import(city, "spills 2017.csv", sheet, sheets.guessed(sheet.headings), alerts)
    return [row async for row in take_in_rows(home.house, wanted, "ruth@chino.example", dry=dry)]


async def many(home: Household, table: Any) -> int:
    async with reading(home.house) as tx:
        return await tx.session.scalar(select(func.count()).select_from(table)) or 0


# -- reading


def test_the_columns_of_a_sheet_are_guessed_by_their_headings() -> None:
    assert sheets.guessed(sheets.read_sheet(SHEET.encode()).headings) == {
        "id": "Case No", "known_at": "Date Reported", "known_time": "Time", "description": "Narrative", "address": "Location",
        "volume": "Gallons", "material": "Spill Type", "reached": "Receiving water", "discharger": "Responsible Party",
    }  # fmt: skip
    assert sheets.guessed(["Fecha", "Dirección", "Descripción"]) == {
        "known_at": "Fecha", "address": "Dirección", "description": "Descripción",
    }  # fmt: skip
    assert sheets.guessed(["foo", "bar"]) == {}


@pytest.mark.parametrize(
    ("encoding", "delimiter", "told"),
    [
        ("utf-8", ",", "utf-8"), ("utf-8-sig", ";", "utf-8"), ("utf-16", "\t", "utf-16"), ("cp1252", "|", "windows-1252"),
    ],
)  # fmt: skip
def test_encoding_and_delimiter_are_found_out(encoding: str, delimiter: str, told: str) -> None:
    rows = [["Date", "Where it was", "Notes"], ["2017-01-02", "Peña Ave, 3", "señal\nof two lines"], ["2017-01-03", "x", ""]]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    sheet = sheets.read_sheet(out.getvalue().encode(encoding))
    assert (sheet.encoding, sheet.delimiter, [list(row) for row in sheet.rows]) == (told, delimiter, rows[1:])


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no row below the headings"), (b"a,b\n", "no row below the headings"), (b"PK\x03\x04xyz", "it is a workbook"),
        (b"a\n" + b"x\n" * 20_001, "20,001 rows"), (b"x" * 20_000_001, "over 20 MB"), (b",".join([b"a"] * 201) + b"\n1\n", "201 columns"),
    ],
)  # fmt: skip
def test_what_is_no_sheet_is_refused_with_what_would_be_right(content: bytes, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        sheets.read_sheet(content)
    assert told in refused.value.faults[0]
    assert "right would be" in refused.value.faults[0]


def test_ragged_rows_and_headings_of_one_name_are_kept_apart() -> None:
    sheet = sheets.read_sheet(b"Date,,Date\n2017-01-01\n2017-01-02,b,c,beyond,it\n")
    assert sheet.headings == ("Date", "column 2", "Date (3)")
    assert sheet.rows == (("2017-01-01", "", ""), ("2017-01-02", "b", "c, beyond, it"))


# -- taking in


async def test_every_row_becomes_a_spill_with_all_its_cells_and_dirty_ones_are_flagged(home: Household) -> None:
    rows = await taken(home)
    assert [(row.number, row.outcome, row.reference) for row in rows] == [
        (2, "imported", "SP-2026-00001"), (3, "imported", "SP-2026-00002"), (4, "imported", "SP-2026-00003"),
    ]  # fmt: skip
    first, second, third = [await home.spill(row.reference) for row in rows]
    assert (first.city, first.address, first.description) == ("chino", "13220 Central Ave", "Manhole overflowed; roots")
    assert (first.facts["known_at"], first.facts["material"]) == ("2017-03-14T21:05:00+00:00", "sewage")
    assert first.facts["volume"] == {"quantity": 1500, "unit": "gal"}
    assert first.facts["reached"] == ["storm_drain", "surface_water"]
    assert (second.discharger["name"], second.facts["material"]) == ("Haulers Inc", "petroleum")
    assert any("'sometime in May' is no day" in remark for remark in rows[2].remarks)
    assert any("'mystery liquid'" in remark for remark in rows[2].remarks)
    assert third.facts["material"] == "other"
    raw = (await home.history(third.reference))[0][0].payload["raw"]
    assert raw["imported"]["cells"]["Gallons"] == "lots"
    assert raw["imported"]["file"] == "spills 2017.csv"


async def test_nobody_is_alerted_by_the_past_unless_told_so(home: Household) -> None:
    rows = await taken(home)
    assert {clock.state for row in rows for clock in await home.clocks(row.reference) if clock.due_at and clock.act != "retention"} == {
        "waived"
    }
    await home.live(days=2)
    assert await many(home, MessageRow) == 0
    loud = await taken(home, SHEET.replace("17-", "18-"), alerts=True)
    await home.work()
    assert await many(home, MessageRow) > 0
    assert any(clock.state == "overdue" for clock in await home.clocks(loud[0].reference))


async def test_what_is_recent_runs_as_any_report_does(home: Household) -> None:
    [row] = await taken(home, f"{HEADS}\n26-9,12/01/2026,1:50 PM,13220 Central Ave,SSO,1500,Storm drain,now,,\n")
    assert (await home.clock_of(row.reference, "chino/rwqcb-2-hours")).state == "running"
    await home.work()
    assert await many(home, MessageRow) > 0


async def test_a_dry_run_says_the_same_and_leaves_no_trace(home: Household) -> None:
    tried = await taken(home, dry=True)
    assert (await many(home, Spill), await many(home, EventRow)) == (0, 0)
    kept = await taken(home)
    assert [(row.number, row.outcome, row.remarks) for row in tried] == [(row.number, row.outcome, row.remarks) for row in kept]
    assert [row.reference for row in tried] == ["", "", ""]


async def test_the_same_sheet_again_adds_nothing_and_what_changed_or_is_double_is_told(home: Household) -> None:
    first = await taken(home)
    again = await taken(
        home, SHEET.replace("Truck leaked", "Truck leaked a lot") + ROWS[0] + "\n" + "17-004,2017-06-01,,x,paint,1,,new,,\n"
    )
    assert [(row.outcome, row.reference) for row in again] == [
        ("there already", first[0].reference), ("changed since", ""), ("there already", first[2].reference), ("double", ""),
        ("imported", "SP-2026-00004"),
    ]  # fmt: skip
    assert await many(home, Spill) == 4


async def test_without_a_number_rows_are_told_apart_by_all_they_say(home: Household) -> None:
    sheet = "Date,Place,What happened\n2017-01-01,Elm St,paint\n2017-01-01,Elm St,paint \n2017-01-02,Elm St,paint\n"
    assert [row.outcome for row in await taken(home, sheet)] == ["imported", "double", "imported"]
    assert [row.outcome for row in await taken(home, sheet)] == ["there already", "double", "there already"]


async def test_a_city_that_is_not_served_or_a_sheet_that_tells_nothing_is_refused(home: Household) -> None:
    with pytest.raises(BadInput):
        await taken(home, city="atlantis")
    with pytest.raises(BadInput):
        await taken(home, "a,b\n1,2\n")


@pytest.mark.parametrize(
    ("day", "moment"),
    [
        ("2017-03-14", "2017-03-14T07:00Z"), ("3/14/2017 14:05", "2017-03-14T21:05Z"), ("14-Mar-17", "2017-03-14T07:00Z"),
        ("March 14, 2017", "2017-03-14T07:00Z"), ("2017-03-14 14:05", "2017-03-14T21:05Z"), ("3/14/17 2:05 pm", "2017-03-14T21:05Z"),
        ("31/31/2017", None), ("", None), ("42808", None),
    ],
)  # fmt: skip
def test_days_are_read_as_sheets_write_them_in_the_citys_time(day: str, moment: str | None) -> None:
    found = importing._moment({"known_at": day}, "known_at", ZoneInfo("America/Los_Angeles"))
    assert (found and f"{found.astimezone(UTC):%Y-%m-%dT%H:%MZ}") == moment


# -- the command and the page


def test_the_command_tries_it_keeps_it_and_writes_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPILLCLOCK_HOME_DIR", str(tmp_path / "var"))
    (tmp_path / "s.csv").write_text(SHEET)
    run = ["import", "chino", str(tmp_path / "s.csv")]
    assert main([*run, "--dry-run", "--map", "description=Crew"]) == 0
    said = capsys.readouterr().out
    assert "3 rows, utf-8, delimiter ," in said
    assert "description\tCrew" in said
    assert said.endswith("3 imported\nNothing was kept: this was a dry run.\n")
    assert main([*run, "--report", str(tmp_path / "report.csv")]) == 0
    rows = list(csv.reader(io.StringIO((tmp_path / "report.csv").read_bytes().decode("utf-8-sig"))))
    assert rows[0][:5] == ["row", "outcome", "reference", "remarks", "Case No"]
    assert [row[1] for row in rows[1:]] == ["imported"] * 3
    assert main([*run, "--map", "descripton=Crew"]) == 2
    assert "there is no such field" in capsys.readouterr().err
    assert main(["import", "chino", str(tmp_path / "none.csv")]) in (1, 2)


async def test_the_page_tries_a_sheet_shows_its_columns_and_keeps_what_was_tried(home: Household) -> None:
    await an_account(home, "ruth@chino.example", "administrator")
    site = await browser_of(home, "ruth@chino.example")
    tried = await site.post("/staff/settings/import", data={"city": "chino", "do": "try"}, files={"file": ("2017.csv", SHEET, "text/csv")})
    assert "What would become of the rows" in tried.text
    assert "<strong>3 imported</strong>" in tried.text
    assert '<option value="Narrative" selected>' in tried.text
    assert await many(home, Spill) == 0
    packed = tried.text.partition('name="sheet" value="')[2].partition('"')[0]
    form = {"city": "chino", "do": "keep", "sheet": packed, "name": "2017.csv", "map.description": "Crew", "map.address": "Location"}
    kept = await site.post("/staff/settings/import", data=form)
    assert "The sheet is taken in" in kept.text
    assert (await home.spill("SP-2026-00001")).description == "A-3"
    for wrong in ({"city": "chino"}, {**form, "sheet": "!!"}, {**form, "map.address": "Nowhere"}):
        assert (await site.post("/staff/settings/import", data=wrong)).status_code == 422
    assert (await site.post("/staff/settings/import", data={**form, "city": "ontario"})).status_code == 403
