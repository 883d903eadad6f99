"""What keeps programs from filling the form, seen from outside: nobody is refused below the limit, and what looks automatic is held."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import altcha
import httpx
import pytest
from sqlalchemy import select
from sqlmodel import col

from service.app import build_app
from service.held_reports import TRAP, UNPROVEN
from service.tables import Spill
from service.transaction import reading
from tests.houses import a_household
from tests.pages.conftest import SITE, Site
from tests.pages.markup import Page
from tests.spills import a_report

FREE, MOST = 6, 200
FILLED: dict[str, Any] = {"description": "Gray water comes out of a manhole.", "lat": "34.01", "lon": "-117.69", "material": "sewage"}


@pytest.fixture
async def strict(tmp_path: Path) -> AsyncIterator[Site]:
    """Chino and its pages, with the limits as they are outside tests."""
    async with a_household(tmp_path, limit_factor=1) as home:
        app = build_app(home.house)
        made = Site(home, httpx.ASGITransport(app=app))
        yield made
        for visitor in made.visitors:
            await visitor.http.aclose()


async def report(site: Site, **filled: Any) -> Page:
    visitor = site.visitor()
    return await visitor.send(await visitor.get("/report"), "/report", **{**FILLED, **filled})


async def spills(site: Site) -> list[Spill]:
    async with reading(site.home.house) as tx:
        return list((await tx.session.execute(select(Spill).order_by(col(Spill.id)))).scalars())


async def challenge(site: Site, address: str = "127.0.0.1") -> dict[str, Any] | None:
    answer = await site.visitor(x_forwarded_for=address).http.get("/report/challenge")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    found: dict[str, Any] | None = answer.json()["challenge"]
    return found


def solved(asked: dict[str, Any] | None) -> str:
    assert asked is not None
    challenge = altcha.Challenge.from_dict(asked)
    solution = altcha.solve_challenge(challenge)
    assert solution is not None
    return altcha.Payload(challenge, solution).to_base64()


async def from_address(site: Site, address: str, **headers: str) -> int:
    """Send a report through the proxy on this machine, which says where it comes from. Returns the status."""
    visitor = site.visitor(x_forwarded_for=address, **headers)
    return (await visitor.http.post("/report", data=FILLED)).status_code


# -- the proof


async def test_the_first_reports_of_a_sender_need_nothing(strict: Site) -> None:
    assert await challenge(strict) is None
    for _ in range(FREE):
        assert (await report(strict)).status == 200
    assert all(spill.city == "chino" and spill.held_at is None for spill in await spills(strict))


async def test_above_the_rate_a_report_without_proof_is_kept_and_held(strict: Site) -> None:
    for _ in range(FREE):
        await report(strict)
    page = await report(strict)
    assert page.status == 200
    assert "Thank you. Your report is kept." in page.text
    assert "A person looks at this report first." in page.text
    last = (await spills(strict))[-1]
    assert last.held_at is not None
    assert last.flags[0] == f"suspicious: {UNPROVEN}"


async def test_above_the_rate_a_proof_lets_one_report_through(strict: Site) -> None:
    for _ in range(FREE):
        await report(strict)
    proof = solved(await challenge(strict))
    await report(strict, proof=proof)
    await report(strict, proof=proof, description="The same proof once more.")
    *_, first, second = await spills(strict)
    assert (first.city, first.held_at) == ("chino", None)
    assert second.held_at is not None


async def test_the_challenge_is_offered_before_it_is_needed(strict: Site) -> None:
    for _ in range(FREE - 2):
        await report(strict)
    assert await challenge(strict) is not None
    assert await challenge(strict, "198.51.100.9") is None


async def test_the_same_form_sent_twice_uses_one_proof_for_one_report(strict: Site) -> None:
    for _ in range(FREE):
        await report(strict)
    visitor = strict.visitor()
    page = await visitor.get("/report")
    proof = solved(await challenge(strict))
    for _ in range(2):
        await visitor.send(page, "/report", **{**FILLED, "proof": proof})
    found = await spills(strict)
    assert len(found) == FREE + 1
    assert found[-1].held_at is None


@pytest.mark.parametrize("proof", ["x", "é" * 50, "A" * 200_000, "\x00", base64.b64encode(json.dumps({"challenge": 7}).encode()).decode()])
async def test_a_hostile_proof_ends_in_a_kept_report(strict: Site, proof: str) -> None:
    for _ in range(FREE):
        await from_address(strict, "198.51.100.1")
    visitor = strict.visitor(x_forwarded_for="198.51.100.1")
    assert (await visitor.http.post("/report", data={**FILLED, "proof": proof})).status_code == 303
    assert (await spills(strict))[-1].held_at is not None


# -- the trap


async def test_the_field_that_people_do_not_see_holds_a_report(strict: Site) -> None:
    page = await report(strict, more_remarks="cheap pills")
    assert page.status == 200
    [spill] = await spills(strict)
    assert spill.held_at is not None
    assert spill.flags[0] == f"suspicious: {TRAP}"
    assert "cheap pills" not in page.text


async def test_the_trap_is_hidden_from_eyes_screen_readers_and_the_tab_key(strict: Site) -> None:
    page = await strict.visitor().get("/report")
    trap = page.one("more_remarks")
    assert (trap["tabindex"], trap["autocomplete"], trap["value"]) == ("-1", "off", "")
    [box] = [part for part in page.root.all("div") if trap in list(part.all("input")) and part["aria-hidden"] == "true"]
    assert "usa-sr-only" in box["class"].split()


# -- the limit


async def test_above_two_hundred_an_hour_the_page_says_whom_to_call(strict: Site) -> None:
    for _ in range(MOST):
        assert await from_address(strict, "198.51.100.2") == 303
    visitor = strict.visitor(x_forwarded_for="198.51.100.2")
    answer = await visitor.http.post("/report", data=FILLED)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == str(55 * 60 + 1)
    assert "call 911" in answer.text
    assert await from_address(strict, "198.51.100.3") == 303
    strict.home.clock.jump(minutes=56)
    assert await from_address(strict, "198.51.100.2") == 303


async def test_the_api_takes_sixty_reports_in_ten_minutes_and_answers_a_problem(strict: Site) -> None:
    caller = strict.visitor().http
    codes = [(await caller.post("/api/v1/spills", json=a_report())).status_code for _ in range(61)]
    assert codes == [201] * 60 + [429]
    answer = await caller.post("/api/v1/spills", json=a_report())
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["retry-after"] == str(5 * 60 + 1)
    assert answer.json()["status"] == 429
    token = await strict.home.token()
    assert (await caller.post("/api/v1/spills", json=a_report(), headers={"Authorization": f"Bearer {token}"})).status_code == 201


@pytest.mark.parametrize(
    ("path", "fields", "most"),
    [
        ("/alerts", {"channel": "email", "address": "a@example.com", "cities": "chino", "language": "en"}, 20),
        ("/staff/sign-in", {"email": "nobody@example.com"}, 20),
        ("/staff/enter/sc_link_x", {}, 60),
        ("/act/x", {"do": "seen"}, 60),
    ],
)
async def test_other_things_that_anybody_may_do_have_limits_too(strict: Site, path: str, fields: dict[str, str], most: int) -> None:
    visitor = strict.visitor()
    codes = [(await visitor.http.post(path, data=fields)).status_code for _ in range(most + 1)]
    assert 429 not in codes[:-1]
    assert codes[-1] == 429


async def test_the_hints_of_the_form_are_not_for_asking_all_day(strict: Site) -> None:
    asker = strict.visitor(accept="*/*").http
    codes = [(await asker.get("/report/nearby?lat=34.01&lon=-117.69")).status_code for _ in range(120)]
    assert set(codes) == {200}
    answer = await asker.get("/report/challenge")
    assert (answer.status_code, answer.headers["content-type"]) == (429, "application/problem+json")


async def test_unsubscribing_has_no_limit(strict: Site) -> None:
    codes = {(await strict.visitor().http.post("/unsubscribe/x")).status_code for _ in range(130)}
    assert codes == {404}


async def test_additions_and_papers_of_a_report_have_limits(strict: Site) -> None:
    page = await report(strict)
    path, visitor = page.response.url.path, strict.visitor()
    codes = [(await visitor.http.post(f"{path}/more", data={"text": f"More {number}"})).status_code for number in range(41)]
    assert codes == [303] * 40 + [429]
    assert (await visitor.http.get(path)).status_code == 200


# -- behind a proxy


async def test_only_a_trusted_proxy_says_where_a_report_comes_from(tmp_path: Path) -> None:
    for name, trusted, passed in (("trusted", "127.0.0.1", 20), ("not", "", 20), ("other", "10.0.0.0/8", 20)):
        folder = tmp_path / name
        folder.mkdir()
        async with a_household(folder, limit_factor=1, trusted_proxies=trusted) as home:
            caller = home.client()
            fields = {"channel": "email", "address": "a@example.com", "cities": "chino", "language": "en"}
            # Whoever sends may write what they like; the proxy adds, at the end, whom it sees.
            codes = [
                (await caller.post("/alerts", data=fields, headers={"X-Forwarded-For": f"192.0.2.{n}, 198.51.100.7"})).status_code
                for n in range(passed + 1)
            ]
            assert codes == [200] * passed + [429]
            other = (await caller.post("/alerts", data=fields, headers={"X-Forwarded-For": "198.51.100.8"})).status_code
            assert other == (200 if trusted == "127.0.0.1" else 429)


@pytest.mark.parametrize("forwarded", ["", ",", "unknown", "x" * 5000, "[::1", "1.2.3.4:99999", "203.0.113.7, , ,"])
async def test_a_hostile_list_of_proxies_ends_in_a_kept_report(strict: Site, forwarded: str) -> None:
    assert await from_address(strict, forwarded) == 303


async def test_no_address_of_a_sender_stands_in_the_database(strict: Site, tmp_path: Path) -> None:
    await from_address(strict, "203.0.113.77", user_agent="Somebody's browser")
    await strict.home.work()
    await strict.home.house.engine.dispose()
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"203.0.113.77" not in kept
    assert b"Somebody's browser" not in kept


async def test_the_site_s_address_is_what_forms_must_come_from(strict: Site) -> None:
    visitor = strict.visitor(origin="https://elsewhere.example")
    assert (await visitor.http.post("/report", data=FILLED)).status_code == 403
    assert SITE.startswith("https://")
