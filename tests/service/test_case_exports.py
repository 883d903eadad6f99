"""The exports of a spill: the State's sewer spill report and EPA's overflow event, from known cases; unknown is neither no nor zero."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from service.case_file.ciwqs import category_of, ciwqs_export
from service.case_file.epa import epa_export
from service.case_file.exports import Export, as_csv, as_json, cell
from service.case_file.papers_of import papers_of
from service.case_file.record import CaseRecord, read_record
from service.causes import find_cause
from service.pages.speech import ENGLISH
from service.particulars import amend_particulars
from service.spills import record_act
from service.transaction import reading, transaction
from tests.houses import Household
from tests.spills import IN_CHINO, a_report, gallons


async def the_record(home: Household, reference: str) -> CaseRecord:
    async with reading(home.house) as tx:
        return await read_record(tx, await tx.spill(reference))


async def told(home: Household, reference: str, **particulars: Any) -> None:
    async with transaction(home.house, "officer@chino.example") as tx:
        await amend_particulars(tx, await tx.spill(reference), particulars)


def rows(export: Export) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(export).decode("utf-8-sig"))))


@pytest.mark.parametrize(
    ("facts", "category"),
    [
        ({"reached": ["surface_water"], "volume": gallons(1)}, 1),
        ({"reached": ["channel"], "volume": None}, 1),
        ({"reached": ["storm_drain"], "volume": gallons(5)}, 1),
        ({"reached": ["storm_drain"], "volume": gallons(5), "captured": True}, 4),
        ({"reached": ["street"], "volume": gallons(1000), "captured": True}, 2),
        ({"reached": ["land"], "volume": gallons(1000)}, 2),
        ({"reached": ["land"], "volume": {"low": 200, "high": 1200, "unit": "gal"}}, 2),
        ({"reached": ["land"], "volume": gallons(999)}, 3),
        ({"reached": ["land"], "volume": gallons(50)}, 3),
        ({"reached": ["contained"], "volume": {"quantity": 180, "unit": "L"}}, 4),
        ({"reached": ["land"], "volume": None}, None),
        ({"reached": None, "volume": gallons(5000)}, None),
        ({"reached": ["surface_water"], "material": "petroleum"}, None),
    ],
)
async def test_the_category_is_that_of_the_order_and_none_while_a_fact_is_wanting(
    home: Household, facts: dict[str, Any], category: int | None
) -> None:
    assert category_of(await the_record(home, await home.report(a_report(**facts)))) == category


async def test_a_spill_of_which_nothing_is_known_has_not_known_in_every_cell_that_nobody_filled(home: Household) -> None:
    reference = await home.report({"description": "It smells.", "location": {}})
    record = await the_record(home, reference)
    [state] = rows(ciwqs_export(record))
    known = {"STATUS": "Draft", "REFERENCE": reference, "POINT": "1", "POINTS": "1"}
    assert {name: value for name, value in state.items() if value != "not known"} == {**known, "AGENCY_NOTIFY_DT": "2026-12-01T14:05-08:00"}
    [event] = rows(epa_export(record))
    assert {name: value for name, value in event.items() if value != "not known"} == {"sewer_overflow_bypass_event_key": reference}
    [row] = json.loads(as_json(epa_export(record)))["rows"]
    assert [value for value in row.values() if value is not None] == [reference]


async def test_a_known_sewer_spill_fills_the_states_report(home: Household) -> None:
    reference = await home.report(
        a_report(
            reached=["storm_drain", "street"], discharged_at="2026-12-01T12:30", known_at="2026-12-01T13:00", ended_at="2026-12-01T14:00",
            captured=False, enrollee=True, volume={"low": 900, "high": 1500, "unit": "gal"},
        )
    )  # fmt: skip
    await told(
        home, reference, location_name="Central at D", arrived="2026-12-01T13:20", recovered_gallons=0, system_id="8SSO10001",
        structure="manhole", failure_location="lateral_public", pipe_material="VCP", pipe_width=8, pipe_age=55, wet_weather=False,
        water_name="Cypress Channel", contact_name="Ana Ruiz", contact_phone="909-555-0155", extent="Curb to inlet", response="Jetted",
    )  # fmt: skip
    async with transaction(home.house, "officer@chino.example") as tx:
        await find_cause(tx, await tx.spill(reference), "roots", "=in the main")
    await home.happened(reference, "cleanup_done")
    [row] = rows(ciwqs_export(await the_record(home, reference)))
    assert row == row | {
        "WDID": "8SSO10001", "CATEGORY": "1", "SPILL_VOL": "1500", "REACH_STORM_DRAINPIPE": "Yes", "REACH_SURFACE": "not known",
        "RETURN_TO_SSS": "No", "SPILL_VOL_RECOVER": "0", "SPILL_VOL_REACH_SURF": "not known", "LATTITUDE_DECIMAL_DEGREES": "34.01",
        "LONGITUDE_DECIMAL_DEGREES": "-117.69", "ADDRESS": "13220 Central Ave", "CITY": "City of Chino, California", "APPEAR_PT": "Manhole",
        "FINAL_SPILL_DEST": "Separate Storm Drain;Street/Curb and Gutter", "START_DT": "2026-12-01T12:30-08:00",
        "AGENCY_NOTIFY_DT": "2026-12-01T13:00-08:00", "OPRTOR_ARRVL_DT": "2026-12-01T13:20-08:00", "EST_END_DT": "2026-12-01T14:00-08:00",
        "SPILL_CAUSE": "Root Intrusion", "SPILL_CAUSE_EXPLAIN": "'=in the main", "WHERE_FAILURE_OCCUR": "Other (specify)",
        "DIAMETER_OF_SEWER": "8", "STORM_EVENT": "No", "RESPONSE_ACTIVITIES": "Cleaned-Up", "RECEIVING_WATER": "Cypress Channel",
        "OES_NOTIFY_DT": "not known", "OES_CONTROL_NUM": "not known",
    }  # fmt: skip


async def test_a_cause_without_a_word_of_the_state_is_other_with_ours_beside_it(home: Household) -> None:
    reference = await home.report(a_report())
    async with transaction(home.house, "officer@chino.example") as tx:
        await find_cause(tx, await tx.spill(reference), "rain", "10-year storm")
    [row] = rows(ciwqs_export(await the_record(home, reference)))
    assert (row["SPILL_CAUSE"], row["SPILL_CAUSE_EXPLAIN"]) == (
        "Other (specify below)", "More rain or flow than the system takes; 10-year storm",
    )  # fmt: skip


async def test_the_call_to_cal_oes_stands_with_its_time_and_number(home: Household) -> None:
    reference = await home.report(a_report())
    async with transaction(home.house, "officer@chino.example") as tx:
        act = {"type": "notice_given", "recipient": "cal-oes", "method": "telephone", "at": "2026-12-01T22:02:00Z"}
        await record_act(tx, await tx.spill(reference), act, "spoke to the desk; control number 26-7712")
    [row] = rows(ciwqs_export(await the_record(home, reference)))
    assert (row["OES_NOTIFY_DT"], row["OES_CONTROL_NUM"]) == ("2026-12-01T14:02-08:00", "26-7712")


async def test_each_place_where_it_came_out_has_a_row_with_the_same_event(home: Household) -> None:
    reference = await home.report(a_report())
    await told(home, reference, points="34.01, -117.69, manhole 12\n34.02, -117.70, cleanout behind the diner", structure="cleanout")
    first, second = rows(ciwqs_export(await the_record(home, reference)))
    assert [(row["POINT"], row["POINTS"], row["LATTITUDE_DECIMAL_DEGREES"]) for row in (first, second)] == [
        ("1", "2", "34.01"), ("2", "2", "34.02"),
    ]  # fmt: skip
    assert second["APPEAR_PT_EXPLAIN"] == "cleanout behind the diner; cleanout"
    assert {key for key in first if first[key] != second[key]} == {
        "POINT", "LATTITUDE_DECIMAL_DEGREES", "LONGITUDE_DECIMAL_DEGREES", "APPEAR_PT_EXPLAIN",
    }  # fmt: skip


async def test_a_time_that_was_only_seen_is_no_start(home: Household) -> None:
    reference = await home.report(a_report(seen_at="2026-12-01T13:30:00-08:00"), staff=False)
    record = await the_record(home, reference)
    assert record.facts.get("discharged_at")
    assert rows(ciwqs_export(record))[0]["START_DT"] == "not known"
    assert rows(epa_export(record))[0]["sewer_overflow_bypass_start_datetime"] == "not known"


@pytest.mark.parametrize(
    ("began", "ended", "hours"),
    [
        ("2026-12-01T12:00", "2026-12-01T13:45", "1.8"), ("2026-12-01T12:00", "2026-12-01T11:00", "not known"),
        ("2026-12-01T12:00", None, "not known"), ("2026-11-01T00:30", "2026-11-01T02:30", "3"),
    ],
)  # fmt: skip
async def test_the_hours_of_an_event_are_those_that_passed(home: Household, began: str, ended: str | None, hours: str) -> None:
    given = {"discharged_at": began, "ended_at": ended, "known_at": began}
    [row] = rows(epa_export(await the_record(home, await home.report(a_report(**given)))))
    assert row["sewer_overflow_bypass_duration_hours"].removesuffix(".0") == hours


async def test_a_known_event_fills_epas_row(home: Household) -> None:
    reference = await home.report(
        a_report(discharged_at="2026-12-01T12:30", known_at="2026-12-01T13:00", volume={"quantity": 10, "unit": "m3"})
    )
    await told(
        home, reference, permit_id="CA0105279", system_name="Chino sewers", wet_weather=True, structure="pump_station",
        water_name="Chino Creek", impact="fish kill", prevention="second pump",
    )  # fmt: skip
    await home.happened(reference, "cleanup_done")
    [row] = rows(epa_export(await the_record(home, reference)))
    assert row == row | {
        "permit_identifier": "CA0105279", "sewer_overflow_bypass_event_key": reference, "sewer_overflow_bypass_type_code": "SSO",
        "sewer_overflow_bypass_start_datetime": "2026-12-01T12:30-08:00", "sewer_overflow_bypass_end_datetime": "not known",
        "sewer_overflow_bypass_discharge_volume_gallons": "2641.7", "wet_weather_occurance_indicator": "Y",
        "sewer_overflow_structure_type_desc": "Pump station", "latitude_measure": str(IN_CHINO["lat"]), "longitude_measure": "-117.69",
        "receiving_water_name": "Chino Creek", "sewer_overflow_bypass_impact_desc": "fish kill",
        "sewer_overflow_bypass_corrective_action_desc": "The cleanup was recorded as done.; second pump",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", '=cmd|"/c calc"!A1'])
def test_no_text_runs_in_a_spreadsheet(text: str) -> None:
    assert str(cell(text)).startswith("'")


@pytest.mark.parametrize(
    ("value", "shown"), [(-117.69, -117.69), (0, 0), (None, "not known"), ("", "not known"), (" ", "not known"), ("a\x00b", "ab")]
)
def test_numbers_stay_numbers_and_nothing_is_not_known(value: Any, shown: Any) -> None:
    assert cell(value) == shown


async def test_the_same_record_at_the_same_time_gives_the_same_bytes(home: Household) -> None:
    reference = await home.report(a_report(reached=["storm_drain"]))
    first, second = [ciwqs_export(await the_record(home, reference)) for _ in range(2)]
    assert (as_csv(first), as_json(first)) == (as_csv(second), as_json(second))


@pytest.mark.parametrize(("material", "offered"), [("sewage", True), (None, True), ("petroleum", False)])
async def test_only_what_may_come_out_of_a_sewer_has_the_papers_of_one(home: Household, material: str | None, offered: bool) -> None:
    record = await the_record(home, await home.report(a_report(material=material)))
    found = {paper.id for paper in papers_of(record, ENGLISH)}
    assert ({"export-ciwqs", "export-epa"} <= found) == offered


async def test_what_is_missing_is_named_in_the_json(home: Household) -> None:
    record = await the_record(home, await home.report(a_report()))
    told = json.loads(as_json(ciwqs_export(record)))
    assert told["standing"].startswith("A draft. Only the Legally Responsible Official")
    assert {"Short name of the place", "Category of the order", "Source and cause"} <= set(told["missing"])
    assert "How much" not in told["missing"]
