"""The public calls about reportable quantities: searching a substance, and answering for amounts. Nothing is stored."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import event as sqlalchemy_event

from tests.houses import Household
from tests.spills import a_report

CALL = "/api/v1/reportable-quantity"


async def asked(home: Household, body: Any, status: int = 200) -> Any:
    async with home.client() as client:
        response = await client.post(CALL, json=body)
    assert response.status_code == status, response.text
    if status != 200:
        assert response.headers["content-type"] == "application/problem+json"
    return response.json()


async def test_anybody_looks_up_a_substance_and_learns_why_it_was_found(small: Household) -> None:
    async with small.client() as client:
        found = (await client.get("/api/v1/substances", params={"q": "sulphuric acid"})).json()
        nothing = (await client.get("/api/v1/substances", params={"q": "zzzzqqqq"})).json()
        missing = await client.get("/api/v1/substances")
        long = await client.get("/api/v1/substances", params={"q": "a" * 300})
    first = found["matches"][0]
    assert (first["name"], first["cas"], first["rq_lb"], first["why"]) == ("Sulfuric acid", "7664-93-9", 1000, "synonym")
    assert found["query"] == "sulphuric acid"
    assert nothing["matches"] == []
    assert "40 CFR 302.4" in nothing["remarks"][0]
    for refused in (missing, long):
        assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")


@pytest.mark.parametrize(
    ("substances", "reached"),
    [
        ([{"name": "bleach 12.5%", "quantity": 80, "unit": "gal"}], True),
        ([{"name": "bleach 12.5%", "quantity": 79, "unit": "gal"}], False),
        ([{"name": "bleach", "quantity": 80, "unit": "gal"}], None), ([{"cas": "7782-50-5", "low": 5, "high": 12, "unit": "lb"}], True),
        ([{"name": "chlorine", "quantity": 6, "unit": "lb"}, {"cas": "7782-50-5", "quantity": 2, "unit": "kg"}], True),
        ([{"name": "sulfuric acid", "quantity": 1076, "unit": "lb", "fraction": 0.93}], True),
        ([{"name": "waste", "quantity": 10, "unit": "lb", "constituents": [{"name": "lye"}, {"name": "bluestone"}]}], True),
        ([{"name": "hydrochloric acid", "fraction": 0.37, "quantity": 1400, "unit": "gal", "density_lb_per_gal": 9.83}], True),
        ([{"name": "sulfuric acid 93%"}], None),
    ],
)  # fmt: skip
async def test_amounts_are_answered_with_their_arithmetic(small: Household, substances: list[dict[str, Any]], reached: bool | None) -> None:
    found = await asked(small, {"substances": substances})
    assert found["reached"] is reached
    assert found["arithmetic"]
    assert any("40 CFR 302.4" in line for line in found["sources"])
    assert len(found["substances"]) == len(substances)


async def test_an_open_answer_says_what_is_open_and_what_may_be_meant(small: Household) -> None:
    found = await asked(small, {"substances": [{"name": "sulfric acid", "quantity": 2000, "unit": "lb"}]})
    assert "Did you mean Sulfuric acid (7664-93-9)?" in found["open"][0]
    assert found["substances"][0]["suggestions"][0]["cas"] == "7664-93-9"
    found = await asked(small, {"substances": [{"name": "bleach", "quantity": 85, "unit": "gal"}]})
    assert [other["reached"] for other in found["other_readings"]] == [False, False, False, True]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({}, "substances: missing"), ({"substances": []}, "substances: "), ({"substances": "bleach"}, "substances: "),
        ({"substances": [3]}, "substances[0]: "), ({"substances": [{}]}, "substances[0].name: "),
        ({"substance": []}, "substance: unknown key"),
        ({"substances": [{"name": "chlorine", "quantity": "ten", "unit": "lb"}]}, "substances[0].quantity: 'ten'"),
        ({"substances": [{"name": "chlorine", "quantity": -1, "unit": "lb"}]}, "substances[0].quantity: "),
        ({"substances": [{"name": "chlorine", "quantity": True, "unit": "lb"}]}, "substances[0].quantity: "),
        ({"substances": [{"name": "chlorine", "quantity": 1}]}, "substances[0].unit: missing"),
        ({"substances": [{"name": "chlorine", "quantity": 1, "unit": "furlong"}]}, "substances[0].unit: 'furlong'"),
        ({"substances": [{"name": "chlorine", "quantity": 1, "unit": "lb", "fraction": 12.5}]}, "substances[0].fraction: "),
        ({"substances": [{"name": "chlorine", "colour": "green"}]}, "substances[0].colour: unknown key"),
        ({"substances": [{"cas": "7664-93-8", "quantity": 1, "unit": "lb"}]}, "substances[0].cas: 7664-93-8 is not a CAS number"),
        ({"substances": [{"cas": "chlorine"}]}, "substances[0].cas: "), ({"substances": [{"name": 3}]}, "substances[0].name: "),
        ({"substances": [{"name": "chlorine", "low": 3, "high": 1, "unit": "lb"}]}, "substances[0].quantity: low 3 is over high 1"),
        ({"substances": [{"name": "chlorine", "low": 3, "unit": "lb"}]}, "substances[0].high: missing"),
        ({"substances": [{"name": "w", "constituents": [{"name": "lye", "fraction": 0.7}, {"cas": "71-43-2", "fraction": 0.7}]}]}, "over"),
        ({"substances": [{"name": "w", "constituents": "lye"}]}, "substances[0].constituents: "),
        ({"substances": [{"name": "x" * 201}]}, "substances[0].name: "), ({"substances": [{"name": "lye"}] * 26}, "substances: 26"),
    ],
)  # fmt: skip
async def test_bad_input_is_a_problem_that_names_each_fault(small: Household, body: Any, fault: str) -> None:
    problem = await asked(small, body, 422)
    assert any(fault in line for line in problem["errors"]), problem["errors"]
    assert all("right would be" in line for line in problem["errors"])


async def test_what_is_no_json_object_is_a_bad_request(small: Household) -> None:
    await asked(small, [1, 2], 400)


async def test_nothing_is_stored_by_asking(small: Household) -> None:
    written = []

    @sqlalchemy_event.listens_for(small.house.engine.sync_engine, "before_cursor_execute")
    def _note(connection: object, cursor: object, statement: str, *rest: object) -> None:
        if statement.startswith(("INSERT", "UPDATE", "DELETE")):
            written.append(statement)

    await asked(small, {"substances": [{"name": "bleach", "quantity": 85, "unit": "gal"}]})
    assert [statement for statement in written if "passage" not in statement] == []  # how often a sender asks is counted


async def test_the_description_of_the_api_has_both_calls(small: Household) -> None:
    async with small.client() as client:
        paths = (await client.get("/openapi.json")).json()["paths"]
    assert paths["/api/v1/substances"]["get"]["summary"]
    schema = paths[CALL]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert schema["properties"]["substances"]["items"]["properties"]["density_lb_per_gal"]


async def test_a_spill_says_how_its_quantity_is_judged_and_what_may_be_meant(home: Household) -> None:
    substances = [{"name": "sulphric acid", "quantity": 5, "unit": "lb"}, {"name": "lye", "quantity": 5, "unit": "lb"}]
    reference = await home.report(a_report(material="hazardous_material", substances=substances))
    async with home.client() as client:
        headers = {"Authorization": f"Bearer {await home.token('officer')}"}
        told = (await client.get(f"/api/v1/spills/{reference}", headers=headers)).json()["reportable_quantity"]
    assert told["reached"] is None
    assert told["unsettled"] == ["substances[0].name", "substances[1].name"]
    assert "Did you mean Sulfuric acid (7664-93-9)?" in told["open"][0]
    assert "Did you mean Sodium hydroxide (1310-73-2)?" in told["open"][1]
    await home.amend(reference, reportable_quantity=True)
    async with home.client() as client:
        told = (await client.get(f"/api/v1/spills/{reference}", headers=headers)).json()["reportable_quantity"]
    assert (told["reached"], told["open"]) == (True, [])
