"""Handing on to a 311: to a real one (another Spillclock), with its news coming back, and to ones that fail in every way, never twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError
from starlette.responses import JSONResponse, PlainTextResponse, Response

from service import closing, forwarding, obligations
from service.door_tables import ForwardedSpill
from service.errors import BadInput, Conflict
from service.events import ForwardAnswered, SpillForwarded
from service.forwarding import Forwarder
from service.settings import Settings
from service.transaction import reading, transaction
from tests.houses import OFFICER, Household, a_household
from tests.notifiers.local_server import LocalServer
from tests.service.people import an_account, browser_of
from tests.service.test_open311_clients import served
from tests.spills import a_report

WORDS = "Sewage from a manhole, into the storm drain."


async def promised(home: Household, reference: str, words: str = WORDS) -> None:
    async with transaction(home.house, OFFICER) as tx:
        await forwarding.forward(tx, await tx.spill(reference), words)


async def state_of(home: Household, reference: str) -> ForwardedSpill:
    async with reading(home.house) as tx:
        return (await forwarding.of_spill(tx, await tx.spill(reference)))[0]


async def test_it_is_handed_on_once_and_the_news_of_the_other_side_comes_back(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    async with served(tmp_path / "there") as (there, address):
        goes = f"chino={address}?service_code=sewage&jurisdiction_id=chino"
        async with a_household(tmp_path / "here", open311_forward=goes, webhook_private=True) as home:
            contact = {"name": "Quillon Farthingale", "phone": "+19095550143", "privacy": "named"}
            reference = await home.report(a_report(contact=contact))
            forwarder = Forwarder(home.house)
            await promised(home, reference)
            assert (await forwarder.do_due(), await forwarder.do_due()) == (1, 0)
            [event] = await home.events(reference, SpillForwarded)
            assert (event.where, event.number, event.words) == ("127.0.0.1", "SP-2026-00001", WORDS)
            taken = await there.spill("SP-2026-00001")
            assert (taken.description, taken.city, taken.lat, taken.address) == (WORDS, "chino", 34.01, "13220 Central Ave")
            assert taken.reporter == {}
            with pytest.raises(Conflict):
                await promised(home, reference)
            home.clock.jump(minutes=16)
            await forwarder.do_due()
            [first] = await home.events(reference, ForwardAnswered)
            assert (first.status, first.notes) == ("open", "Received. The city has not confirmed it yet.")
            await there.amend("SP-2026-00001", release="confirmed")
            async with transaction(there.house, OFFICER) as tx:
                spill = await tx.spill("SP-2026-00001")
                owed = [row.id or 0 for row in await obligations.of_spill(tx, spill)]
                await closing.close(tx, spill, {"en": "Done.", "es": "Hecho."}, "manager", owed)
            home.clock.jump(minutes=16)
            await forwarder.do_due()
            row = await state_of(home, reference)
            assert (row.state, row.status, row.notes, row.next_at) == ("closed", "closed", "Closed", None)
            home.clock.jump(days=1)
            assert await forwarder.do_due() == 0


ANSWERS: dict[str, tuple[Response, str, str]] = {
    "a refusal": (JSONResponse([{"code": 400, "description": "no such service"}], 400), "refused", "it answered 400: no such service"),
    "a fault": (PlainTextResponse("oops", 500), "unclear", "it answered 500: oops"),
    "no number": (JSONResponse([{"service_notice": "thanks"}]), "unclear", "it answered 200"),
    "no JSON": (PlainTextResponse("<html>"), "unclear", "it answered 200: <html>"),
}


@pytest.mark.parametrize("what", ANSWERS)
async def test_what_was_not_surely_taken_waits_for_a_person_and_is_not_sent_again_by_itself(tmp_path: Path, what: str) -> None:
    async with LocalServer() as server:
        server.answer, state, problem = ANSWERS[what]
        goes = f"chino=http://127.0.0.1:{server.port}/v2?service_code=1&api_key=sesame"
        async with a_household(tmp_path, open311_forward=goes, webhook_private=True) as home:
            reference = await home.report(a_report())
            await promised(home, reference)
            forwarder = Forwarder(home.house)
            await forwarder.do_due()
            row = await state_of(home, reference)
            assert (row.state, row.problem.startswith(problem), "sesame" in row.problem) == (state, True, False)
            home.clock.jump(days=2)
            assert await forwarder.do_due() == 0
            assert server.asked == 1
            await promised(home, reference)  # a person may


async def test_what_surely_did_not_go_out_is_tried_for_a_day(tmp_path: Path) -> None:
    async with a_household(tmp_path, open311_forward="chino=http://127.0.0.1:9/v2?service_code=1", webhook_private=True) as home:
        reference = await home.report(a_report())
        await promised(home, reference)
        forwarder, tried = Forwarder(home.house), 0
        for _ in range(60):
            tried += await forwarder.do_due()
            home.clock.jump(minutes=30)
        row = await state_of(home, reference)
        assert (row.state, row.next_at, tried == row.tries) == ("given_up", None, True)
        assert "it cannot be reached" in row.problem
        assert 40 < tried < 60


async def test_a_private_address_is_not_reached_unless_the_operator_says_so(tmp_path: Path) -> None:
    async with LocalServer() as server, a_household(
        tmp_path, open311_forward=f"chino=http://127.0.0.1:{server.port}/v2?service_code=1"
    ) as home:  # fmt: skip
        reference = await home.report(a_report())
        await promised(home, reference)
        await Forwarder(home.house).do_due()
        assert server.asked == 0
        assert "no address on the public internet" in (await state_of(home, reference)).problem


async def test_without_words_a_place_or_a_311_nothing_is_promised(home: Household, tmp_path: Path) -> None:
    reference = await home.report(a_report())
    with pytest.raises(BadInput) as refused:
        await promised(home, reference)
    assert "SPILLCLOCK_OPEN311_FORWARD" in refused.value.faults[0]


async def test_page_and_api_hand_it_on_and_say_how_it_stands(tmp_path: Path) -> None:
    async with a_household(tmp_path, open311_forward="chino=https://311.chino.example/v2?service_code=1") as home:
        await an_account(home)
        reference = await home.report(a_report(reached=["storm_drain"]))
        site = await browser_of(home)
        page = await site.get(f"/staff/spills/{reference}/forward")
        assert f"Spill of sewage, about 1500 gal, it reached: storm drain. Our number: {reference}." in page.text
        assert "311.chino.example" in page.text
        assert (await site.post(f"/staff/spills/{reference}/forward", data={"description": " "})).status_code == 422
        assert (await site.post(f"/staff/spills/{reference}/forward", data={"description": WORDS})).status_code == 303
        assert "On its way" in (await site.get(f"/staff/spills/{reference}/forward")).text
        assert f"/staff/spills/{reference}/forward" in (await site.get(f"/staff/spills/{reference}")).text
        async with home.client(await home.token("officer", "chino")) as http:
            [told] = (await http.get(f"/api/v1/spills/{reference}/forward")).json()
            assert (told["state"], told["description"]) == ("waiting", WORDS)
            assert (await http.post(f"/api/v1/spills/{reference}/forward", json={})).status_code == 409


@pytest.mark.parametrize(
    "value",
    ["https://311.example.gov/v2", "chino=ftp://x/v2?service_code=1", "chino=https://x/v2", "chino=https://x/v2?service_code=1&key=2"],
)
def test_a_setting_that_cannot_be_read_stops_the_start_without_repeating_its_key(value: str) -> None:
    with pytest.raises(ValidationError, match="entry 1 cannot be read; right would be: chino=https://311") as refused:
        Settings(open311_forward=value)
    assert "key=2" not in refused.value.errors()[0]["msg"]  # which is what the program says
