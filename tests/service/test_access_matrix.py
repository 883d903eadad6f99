"""Every route as everybody: exactly the documented answer. The table is access_matrix.txt, what is sent access_requests.py."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from tests import databases
from tests.service import access_table
from tests.service.access_requests import REQUESTS, Asked
from tests.service.access_table import Line
from tests.service.everybody import WHO, Everybody, everybody

# Slow machines take their time for two thousand requests; each test begins the city anew where it runs in a process of its own.
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(600)]
# What a path names that belongs to a city, or to somebody.
NUMBERED = {"reference", "clock_id", "clock", "number", "shift", "key"}


def routes(app: FastAPI) -> Iterator[str]:
    """Every route of the application with each of its methods."""
    for route in iter_route_contexts(app.routes):
        for method in sorted(route.methods or {"GET"}):
            yield f"{method} {route.path}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def city(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Everybody]:
    """Everybody in one city, made once for all."""
    if databases.ON_POSTGRESQL:
        pytest.skip("who may do what is the same there, and a database in a file is quicker to put back")
    async with everybody(tmp_path_factory.mktemp("city")) as made:
        yield made


async def ask(city: Everybody, line: Line, who: str, others: Mapping[str, str] | None = None) -> httpx.Response:
    """Send the request of a line as somebody; `others` are names to fill in in place of theirs."""
    method, _, path = line.route.partition(" ")
    asked = REQUESTS.get(line.name, REQUESTS.get(line.route, Asked()))
    names = {**city.filled(who, line.name.partition(" ")[2]), **(others or {})}
    chosen = {**names, **{place: names.get(name, name) for place, name in asked.path.items()}}
    query = asked.query.format_map(names)
    address = path.format_map(chosen) + (query if query.startswith("/") else f"?{query}" if query else "")
    given = asked.filled(names, who, address)
    given["headers"] = {"accept": "application/json" if path.startswith("/api/") else "text/html", **given.get("headers", {})}
    try:
        return await city.ask(who, method, address, **given)
    finally:
        await city.put_back()


def said(response: httpx.Response) -> str:
    """An answer as the table has it."""
    to_sign_in = response.status_code == 303 and response.headers["location"].startswith("/staff/sign-in?")
    return "sign-in" if to_sign_in else str(response.status_code)


async def test_every_route_has_a_line_in_the_table_and_every_line_a_route(city: Everybody) -> None:
    there, written = set(routes(city.home.app)), access_table.lines()
    assert there - {line.route for line in written} == set(), "these have no line in tests/service/access_matrix.txt"
    assert {line.route for line in written} - there == set(), "these are no routes any more"
    assert len({line.name for line in written}) == len(written)
    assert set(REQUESTS) - {line.name for line in written} == set(), "these requests have no line"


@pytest.mark.parametrize("who", WHO)
async def test_everybody_gets_exactly_the_documented_answers(city: Everybody, who: str) -> None:
    wrong = []
    for line in access_table.lines():
        if line.answers[who] == "-":
            continue
        answer = said(await ask(city, line, who))
        if answer != line.answers[who]:
            wrong.append(f"{line.name}: {answer}, and the table says {line.answers[who]}")
    assert wrong == []


async def test_what_is_another_citys_cannot_be_told_from_what_does_not_exist(city: Everybody) -> None:
    told = []
    for line in access_table.lines():
        places = set(re.findall(r"{(\w+)}", line.route)) & NUMBERED
        for who in ("another", "elsewhere"):
            if line.answers[who] != "404" or not places or "{token}" in line.route:
                continue
            asked = REQUESTS.get(line.name, REQUESTS.get(line.route, Asked()))
            nothing = {asked.path.get(place, place): "SP-2026-99999" if place == "reference" else "99999" for place in places}
            there, not_there = await ask(city, line, who), await ask(city, line, who, nothing)
            if (there.status_code, _bare(there)) != (not_there.status_code, _bare(not_there)):
                told.append(f"{line.name} as {who}: {_bare(there)[-300:]} and {_bare(not_there)[-300:]}")
    assert told == []


_ASKED = r"\b(no (?:spill|clock|rota|reply|account|subscription|suppressed address|session|view|key|webhook|calendar)) [\w-]+"


def _bare(response: httpx.Response) -> str:
    """An answer without the reference or number that was asked for."""
    return re.sub(_ASKED, r"\1 ASKED", response.text)
