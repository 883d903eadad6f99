"""Contacts by API: the rules of /staff/contacts, the same log and undoing, and a request that is sent again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from service import api_keys, contacts, former_contacts, staff_log
from service.access import Staff
from service.administration_tables import FormerContact
from service.transaction import reading, transaction
from tests.houses import Household, a_household
from tests.service.small_law import small_law

HERE = "/api/v1/cities/chino/contacts"
KIM = {"role": "duty_officer", "name": "Kim Vu", "email": "kim@chino.example", "phone": "(909) 555-0142", "quiet": "22:00-06:00"}
SECRET = "slack://TokenATokenA/TokenBTokenB/TokenCTokenCTokenCTokenC"


@pytest.fixture
async def home(tmp_path: Path) -> Any:
    """Chino with its example people."""
    async with a_household(tmp_path, law=small_law()) as household:
        yield household


async def manager(home: Household, role: str = "manager", city: str | None = "chino") -> httpx.AsyncClient:
    return home.client(await home.token(role, city))


async def names(web: httpx.AsyncClient) -> list[str]:
    return [one["name"] for one in (await web.get(HERE)).json()["contacts"]]


async def noted(home: Household) -> list[tuple[str, str]]:
    async with reading(home.house) as tx:
        return [(one.kind, one.said["name"]) for one, _ in await staff_log.actions(tx, cities=["chino"], accounts=()) if "name" in one.said]


async def test_a_contact_is_entered_changed_and_taken_out_and_each_is_in_the_log(home: Household) -> None:
    web = await manager(home)
    entered = await web.post(HERE, json=KIM)
    assert entered.status_code == 201
    kim = entered.json()["contact"]
    assert (kim["phone"], kim["quiet"], kim["voice"], kim["apprise"]) == ("+19095550142", "22:00-06:00", False, None)
    changed = await web.put(f"{HERE}/{kim['number']}", json={**KIM, "name": "Kim Wu", "quiet": ""})
    assert (changed.status_code, changed.json()["contact"]["name"], changed.json()["contact"]["quiet"]) == (200, "Kim Wu", "")
    assert "Kim Wu" in await names(web)
    assert (await web.delete(f"{HERE}/{kim['number']}")).json()["contact"]["name"] == "Kim Wu"
    assert "Kim Wu" not in await names(web)
    assert (await web.delete(f"{HERE}/{kim['number']}")).status_code == 404
    assert await noted(home) == [("contact:removed", "Kim Wu"), ("contact:changed", "Kim Vu"), ("contact:added", "Kim Vu")]


async def test_what_was_removed_by_api_can_be_undone(home: Household) -> None:
    web = await manager(home)
    kim = (await web.post(HERE, json=KIM)).json()["contact"]
    await web.delete(f"{HERE}/{kim['number']}")
    async with transaction(home.house, "manager@chino.example") as tx:
        [kept] = (await tx.session.execute(select(FormerContact))).scalars()
        assert await former_contacts.undoable(tx, [kept.action_id]) == {kept.action_id}
        await contacts.undo(tx, "chino", kept.action_id)
    assert "Kim Vu" in await names(web)


async def test_nobody_is_left_out_of_reach_unless_it_is_confirmed(home: Household) -> None:
    web = await manager(home)
    director = next(one for one in (await web.get(HERE)).json()["contacts"] if one["role"] == "director")
    path = f"{HERE}/{director['number']}"
    moved = {**KIM, "role": "supervisor"}
    for refused in (await web.delete(path), await web.put(path, json=moved)):
        assert refused.status_code == 409
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.json()["title"] == "Alerts would reach nobody"
        assert refused.json()["errors"] == ["nobody fills the role director; its rungs reach nobody"]
    assert director["name"] in await names(web)
    done = await web.put(f"{path}?confirmed=true", json=moved)
    assert done.json()["contact"]["role"] == "supervisor"
    assert "nobody fills the role director; its rungs reach nobody" in done.json()["warnings"]


async def test_an_apprise_address_is_never_shown_and_stays_until_it_is_emptied(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.parties.problem_with_apprise", lambda *_, **__: None)  # the extra may be missing
    web = await manager(home)
    entered = await web.post(HERE, json={**KIM, "apprise": SECRET})
    path = f"{HERE}/{entered.json()['contact']['number']}"
    renamed = await web.put(path, json={**KIM, "name": "Kim Wu"})
    assert [one.json()["contact"]["apprise"] for one in (entered, renamed)] == ["slack", "slack"]
    assert "TokenA" not in entered.text + renamed.text + (await web.get(HERE)).text
    async with reading(home.house) as tx:
        kim = next(one for one in await contacts.of_city(tx, "chino") if one.name == "Kim Wu")
        assert kim.apprise == SECRET
    assert (await web.put(path, json={**KIM, "apprise": ""})).json()["contact"]["apprise"] is None


async def test_faults_are_those_of_the_page_by_the_keys_of_the_body(home: Household) -> None:
    web = await manager(home)
    refused = await web.post(HERE, json={**KIM, "email": "kim", "phone": "12", "quiet": "late"})
    assert refused.status_code == 422
    assert [fault.partition(":")[0] for fault in refused.json()["errors"]] == ["email", "phone", "quiet"]
    for body in ({**KIM, "role": "mayor"}, {**KIM, "mail": "x"}, {"role": "director"}, {**KIM, "email": "", "phone": ""}):
        assert (await web.post(HERE, json=body)).status_code == 422, body
    assert (await web.post(HERE, content=b"{")).status_code == 400
    assert "Kim Vu" not in await names(web)


async def test_a_request_with_a_key_that_is_sent_again_enters_one_contact(home: Household) -> None:
    web = await manager(home)
    first, again = [await web.post(HERE, json=KIM, headers={"idempotency-key": "kim-1"}) for _ in range(2)]
    assert (again.status_code, again.json()["contact"]) == (201, first.json()["contact"])
    assert (first.headers.get("idempotency-replayed"), again.headers["idempotency-replayed"]) == (None, "true")
    assert (await names(web)).count("Kim Vu") == 1
    other = await web.post(HERE, json={**KIM, "name": "Lou"}, headers={"idempotency-key": "kim-1"})
    assert (other.status_code, other.json()["errors"]) == (422, ["Idempotency-Key: used; right would be: a new key for another contact"])
    assert (await web.post(HERE, json=KIM, headers={"idempotency-key": "kim"})).status_code == 201  # another key, not the beginning of one
    assert (await names(web)).count("Kim Vu") == 2
    await web.delete(f"{HERE}/{first.json()['contact']['number']}")
    assert (await web.post(HERE, json=KIM, headers={"idempotency-key": "kim-1"})).status_code == 409


async def test_it_is_for_managers_of_the_city_and_keys_that_manage(home: Household) -> None:
    for role, city, status in (("officer", "chino", 403), ("manager", "chino", 200), ("administrator", None, 200)):
        assert (await (await manager(home, role, city)).get(HERE)).status_code == status, role
    for scope, status in (("read", 403), ("act", 403), ("manage", 200)):
        async with transaction(home.house, "test") as tx:
            made, _ = await api_keys.make(tx, Staff("manager@chino.example", "manager", "chino"), scope, [scope], "chino", 30)
        assert (await home.client(made).get(HERE)).status_code == status, scope
    assert (await home.client().get(HERE)).status_code == 401
    web = await manager(home, "administrator", "chino")
    assert (await web.get("/api/v1/cities/nowhere/contacts")).status_code == 404
    assert (await web.put(f"{HERE}/{2**40}", json=KIM)).status_code == 404


async def test_openapi_describes_the_body_and_the_answers(home: Household) -> None:
    paths = (await home.client().get("/openapi.json")).json()["paths"]
    post, put = paths["/api/v1/cities/{city}/contacts"]["post"], paths["/api/v1/cities/{city}/contacts/{number}"]["put"]
    for call in (post, put):
        schema = call["requestBody"]["content"]["application/json"]["schema"]
        assert {"role", "name", "email", "phone", "voice", "quiet", "apprise"} <= set(schema["properties"])
        assert {"401", "403", "404", "409", "422"} <= set(call["responses"])
    assert "idempotency-key" in {one["name"].lower() for one in post["parameters"]}
    assert "confirmed" in {one["name"] for one in put["parameters"]}
