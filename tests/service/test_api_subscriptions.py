"""The API of subscriptions: one's own, those of the city for administrators, and problems that say what would be right."""

from typing import Any

import pytest

from tests.houses import Household

URL = "/api/v1/subscriptions"


async def test_a_subscription_is_made_read_changed_and_ended(home: Household) -> None:
    client = home.client(await home.token("viewer", "chino"))
    assert (await client.get(URL)).json() == []
    wanted = {"pace": "daily", "at": "06:00", "stages": ["overdue"], "area": {"lat": 34.01, "lon": -117.69, "metres": 2000}}
    made = await client.post(URL, json=wanted)
    assert made.status_code == 201
    body = made.json()
    assert body.items() >= {**wanted, "channel": "email", "address": "viewer@chino.example", "zone": "America/Los_Angeles"}.items()
    assert body["account"] == "viewer@chino.example"
    assert body["next_digest_at"] == "2026-12-02T14:00:00Z"
    one = f"{URL}/{body['id']}"
    assert (await client.get(one)).json() == body
    changed = await client.patch(one, json={"paused": True, "area": None})
    assert changed.json() == {**body, "paused": True, "area": None, "next_digest_at": None}
    assert (await client.get(URL)).json() == [changed.json()]
    assert (await client.delete(one)).status_code == 204
    assert (await client.get(URL)).json() == []
    for call in (client.get(one), client.delete(one), client.patch(one, json={})):
        assert (await call).status_code == 404


async def test_administrators_reach_those_of_their_city_and_nobody_else_does(home: Household) -> None:
    lee = home.client(await home.token("officer", "chino"))
    number = (await lee.post(URL, json={})).json()["id"]
    for role, city in (("manager", "chino"), ("administrator", "ontario")):
        other = home.client(await home.token(role, city))
        assert (await other.get(f"{URL}?everyones=true")).json() == []
        assert (await other.patch(f"{URL}/{number}", json={"paused": True})).status_code == 404
    chief = home.client(await home.token("administrator", "chino"))
    assert (await chief.get(URL)).json() == []
    assert [one["id"] for one in (await chief.get(f"{URL}?everyones=true")).json()] == [number]
    assert (await chief.delete(f"{URL}/{number}")).status_code == 204


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"pace": "weekly"}, 422), ({"cities": ["ontario"]}, 422), ({"area": "here"}, 422), ({"x": 1}, 422), ([], 400), ("{", 400),
        ({"stages": None, "at": 7}, 422), ({"stages": [["new"]]}, 422), ('{"at_least_gallons": 1e400}', 422), ({"zone": {}}, 422),
    ],
)  # fmt: skip
async def test_faults_are_problems_with_a_cure(home: Household, body: Any, status: int) -> None:
    client = home.client(await home.token("viewer", "chino"))
    sent: dict[str, Any] = {"content": body} if isinstance(body, str) else {"json": body}
    answer = await client.post(URL, **sent)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert "right would be" in str(answer.json()["errors"])


async def test_without_a_token_there_is_nothing(home: Household) -> None:
    for call in (home.client().get(URL), home.client().post(URL, json={}), home.client().delete(f"{URL}/1")):
        assert (await call).status_code == 401
