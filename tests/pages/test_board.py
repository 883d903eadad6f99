"""The board without JavaScript: filters, search, pages, saved views, the map and the wall; and who is shown what of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col

from service import access, board, merging
from service.assigning import assign
from service.board_map import is_smallest, read_box, shaped
from service.pages import board_query
from service.saved_views import MOST_VIEWS
from service.tables import Credential
from service.transaction import reading, transaction
from tests.houses import OFFICER
from tests.pages.conftest import Site, Visitor
from tests.pages.markup import Page
from tests.service.people import log_of
from tests.service.test_board import EVERYWHERE
from tests.service.test_spill_search import ODD
from tests.spills import IN_ONTARIO, NOWHERE_NEAR, a_report, gallons


def on_page(page: Page) -> list[str]:
    """The references of the lines on a page from top to bottom."""
    return [item["data-spill"] for item in page.root.all("li") if item["data-spill"]]


# -- filters and search


async def test_closed_and_merged_spills_leave_the_board_and_are_found(site: Site) -> None:
    kept, other = await site.home.report(a_report()), await site.home.report(a_report(description="Foam at the lagoon"))
    quiet = await site.home.report(a_report(volume=gallons(1), material="potable_water", description="A hydrant"))
    async with transaction(site.home.house, OFFICER) as tx:
        await merging.merge(tx, await tx.spill(kept), await tx.spill(other), "the same")
    visitor = await site.staff("manager")
    page = await visitor.get(f"/staff/spills/{quiet}/close")
    duties = [row.id for row in await site.home.clocks(quiet) if row.state == "running" and row.act != "retention"]
    await visitor.post(f"/staff/spills/{quiet}/close", {"reason": "It was clean water", "left_open": [str(one) for one in duties]})
    for duty in await site.home.clocks(quiet):
        if duty.state == "running":
            await site.home.waive(quiet, duty.duty, "clean water")
    assert on_page(await visitor.get("/staff")) == [kept]
    assert on_page(await visitor.get("/staff?show=closed")) == [quiet]
    assert set(on_page(await visitor.get("/staff?show=all"))) == {kept, quiet}
    page = await visitor.get("/staff?q=lagoon")
    assert on_page(page) == [other]
    assert f"It is the spill {kept}." in page.text
    assert on_page(await visitor.get("/staff?q=hydrant")) == [quiet]


async def test_every_filter_stands_in_the_address_and_on_the_form(site: Site) -> None:
    reference = await site.home.report(a_report())
    await site.home.report(a_report(location=IN_ONTARIO, material="paint", volume=gallons(3)))
    visitor = await site.staff("officer", None)
    async with transaction(site.home.house, OFFICER) as tx:
        await assign(tx, await tx.spill(reference), "officer@every-city.example")
    chosen = {"city": "chino", "state": "open", "due": "2h", "material": "sewage", "officer": "me", "show": "all", "q": "manhole"}
    page = await visitor.send(await visitor.get("/staff"), "/staff", **chosen)
    assert on_page(page) == [reference]
    assert dict(page.response.url.params) == chosen
    for key, value in chosen.items():
        field = page.one(key)
        said = field["value"] if key == "q" else [one["value"] for one in field.all("option") if "selected" in one.attributes]
        assert said == (value if key == "q" else [value])
    assert on_page(await visitor.get("/staff?officer=nobody&city=chino")) == []
    assert on_page(await visitor.get("/staff?officer=OFFICER@every-city.example")) == [reference]


@pytest.mark.parametrize("page", ["/staff", "/staff/map", "/staff/wall"])
async def test_no_address_is_so_odd_that_it_fails(site: Site, page: str) -> None:
    await site.home.report(a_report())
    visitor = await site.staff("manager", None)
    odd = ["\x00", "x" * 5_000, "9" * 30]
    for key in (*board_query.KEYS, "after", "before", "box", "done"):
        for value in odd:
            assert (await visitor.http.get(page, params={key: value})).status_code == 200, (key, value)
    for typed in ODD if page == "/staff" else ODD[:5]:
        answer = await visitor.http.get(page, params={"q": typed.encode("utf-8", "replace").decode()})
        assert answer.status_code == 200, ascii(typed)[:40]


async def test_the_api_searches_odd_words_too_and_goes_on_from_a_place(site: Site) -> None:
    references = [await site.home.report(a_report()) for _ in range(5)]
    caller = site.home.client(await site.home.token("viewer"))
    for typed in ODD:
        assert (await caller.get("/api/v1/spills", params={"q": typed.encode("utf-8", "replace").decode()})).status_code == 200
    seen, after = [], ""
    while after is not None:
        part = (await caller.get("/api/v1/spills", params={"limit": 2, "after": after})).json()
        seen.append([one["reference"] for one in part["spills"]])
        after = part["next"]
    assert [len(one) for one in seen] == [2, 2, 1]
    assert sorted(reference for one in seen for reference in one) == references


async def test_a_long_board_goes_on_and_back(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.pages.board._PAGE", 3)
    for _ in range(7):
        await site.home.report(a_report())
    visitor = await site.staff()
    whole, page = [], await visitor.get("/staff")
    while True:
        whole += on_page(page)
        later = [link["href"] for link in page.root.all("a") if link.text == "More"]
        if not later:
            break
        page = await visitor.get(later[0])
    assert len(whole) == len(set(whole)) == 7
    [earlier] = [link["href"] for link in page.root.all("a") if link.text == "Earlier ones"]
    assert on_page(await visitor.get(earlier)) == whole[3:6]


async def test_a_line_says_what_is_late_and_who_is_in_charge(site: Site) -> None:
    reference = await site.home.report(a_report())
    visitor = await site.staff()
    async with transaction(site.home.house, OFFICER) as tx:
        await assign(tx, await tx.spill(reference), "officer@chino.example")
    site.home.clock.jump(hours=3)
    page = await visitor.get("/staff")
    for words in ("In charge: officer@chino.example", "Overdue, too:", "1 open", "1 with something overdue", "Received Dec 1, 2026"):
        assert words in page.text, words
    assert "No spill fits this filter." in (await visitor.get("/staff?state=quiet")).text


# -- saved views


async def kept(visitor: Visitor, name: str, query: str, shared: str = "") -> Page:
    return await visitor.post("/staff/views", {"name": name, "query": query, "shared": shared})


def views(page: Page) -> list[str]:
    [section] = [part for part in page.root.all("section") if part["class"] == "views"]
    return [link.text for link in section.all("a")][2:]


async def test_a_view_is_kept_for_oneself_or_shared_with_the_city(site: Site) -> None:
    officer, viewer, elsewhere = await site.staff(), await site.staff("viewer"), await site.staff("officer", "ontario")
    page = await officer.send(await officer.get("/staff?state=overdue&material=sewage"), "/staff/views", name="  Late   sewage ")
    assert dict(page.response.url.params) == {"state": "overdue", "material": "sewage", "done": "kept"}
    assert views(page) == ["Late sewage"]
    await kept(officer, "All paint", "material=paint&show=all", "chino")
    assert [views(await one.get("/staff")) for one in (officer, viewer, elsewhere)] == [
        ["All paint (City of Chino, California)", "Late sewage"], ["All paint (City of Chino, California)"], [],
    ]  # fmt: skip
    assert ("view:shared", OFFICER) in await log_of(site.home, OFFICER)


async def test_a_view_of_the_same_name_is_replaced_and_only_filters_are_kept(site: Site) -> None:
    visitor = await site.staff()
    await kept(visitor, "Mine", "officer=me")
    await kept(visitor, "Mine", "state=overdue&evil=%3Cscript%3E&done=kept&after=1.2&city=ontario")
    page = await visitor.get("/staff")
    assert views(page) == ["Mine"]
    [link] = [link["href"] for link in page.root.all("a") if link.text == "Mine"]
    assert link == "/staff?state=overdue"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"name": " ", "query": "state=overdue"}, "name: missing"),
        ({"name": "x" * 61, "query": "state=overdue"}, "name: over 60 characters"),
        ({"name": "Nothing", "query": ""}, "nothing is filtered"),
        ({"name": "Nothing", "query": "evil=1"}, "nothing is filtered"),
        ({"name": "There", "query": "state=overdue", "shared": "atlantis"}, "is no city served here"),
    ],
)
async def test_a_view_without_a_name_or_a_filter_is_not_kept(site: Site, given: dict[str, str], says: str) -> None:
    visitor = await site.staff()
    page = await visitor.post("/staff/views", {**given})
    assert page.status == 422
    assert says.partition(": ")[2] in page.text or says in page.text
    assert views(page) == []


async def test_a_viewer_shares_nothing_and_nobody_shares_with_another_city(site: Site) -> None:
    assert (await kept(await site.staff("viewer"), "Mine", "state=overdue", "chino")).status == 403
    assert (await kept(await site.staff("officer"), "Mine", "state=overdue", "ontario")).status == 403
    assert (await kept(await site.staff("viewer", "ontario"), "Mine", "state=overdue")).status == 200


async def test_a_view_is_removed_by_whoever_keeps_it_and_a_shared_one_by_a_manager(site: Site) -> None:
    officer, viewer, manager = await site.staff(), await site.staff("viewer"), await site.staff("manager")
    await kept(officer, "Shared", "state=overdue", "chino")
    await kept(officer, "Mine", "state=open")
    page = await viewer.get("/staff")
    assert not page.forms("/staff/views/1/remove")
    assert (await viewer.post("/staff/views/1/remove", {})).status == 404
    assert (await manager.post("/staff/views/2/remove", {})).status == 404
    assert views(await manager.send(await manager.get("/staff"), "/staff/views/1/remove")) == []
    assert views(await officer.send(await officer.get("/staff"), "/staff/views/2/remove")) == []
    assert ("view:removed", "manager@chino.example") in await log_of(site.home, "manager@chino.example")


async def test_nobody_keeps_views_without_end(site: Site) -> None:
    visitor = await site.staff()
    for number in range(MOST_VIEWS):
        await kept(visitor, f"View {number}", "state=overdue")
    assert (await kept(visitor, "One more", "state=overdue")).status == 422
    assert (await kept(visitor, "View 3", "state=open")).status == 200


# -- the map


async def test_the_map_shows_each_spill_where_it_lies_and_lists_what_is_in_its_frame(site: Site) -> None:
    chino, ontario = await site.home.report(a_report()), await site.home.report(a_report(location=IN_ONTARIO))
    lost = await site.home.report(a_report(location=None))
    visitor = await site.staff("manager", None)
    page = await visitor.get("/staff/map")
    signs = {link["aria-label"]: link["href"] for link in page.root.all("a") if link["class"].startswith("sign ")}
    assert {href for href in signs.values()} == {f"/staff/spills/{chino}", f"/staff/spills/{ontario}"}
    assert all("To do" in says or "Overdue" in says for says in signs)
    assert set(on_page(page)) == {chino, ontario}
    assert lost not in page.text
    near = await visitor.get("/staff/map?box=-117.62,34.04,-117.58,34.06")
    assert on_page(near) == [ontario]
    assert on_page(await visitor.get("/staff/map?city=chino")) == [chino]
    assert "No spill lies here" in (await visitor.get("/staff/map?box=10,10,11,11")).text


async def test_many_spills_in_one_place_are_one_sign_that_leads_nearer_and_at_last_to_their_list(site: Site) -> None:
    there = {await site.home.report(a_report()) for _ in range(3)}
    await site.home.report(a_report(location=NOWHERE_NEAR))
    visitor = await site.staff("manager", None)
    page = await visitor.get("/staff/map")
    for _ in range(20):
        [many] = [link for link in page.root.all("a") if "spills here" in link["aria-label"]]
        assert many["aria-label"].startswith("3 spills here")
        if many["href"].endswith("#spills"):
            break
        page = await visitor.get(many["href"])
    assert set(on_page(await visitor.get(many["href"]))) == there


async def test_an_officer_of_another_city_sees_no_sign_of_a_spill(site: Site) -> None:
    reference = await site.home.report(a_report())
    visitor = await site.staff("officer", "ontario")
    for page in ("/staff/map?show=all", "/staff/wall", "/staff?q=manhole"):
        assert reference not in (await visitor.get(page)).response.text


def test_the_frame_of_a_map_keeps_its_shape_and_never_grows_too_small() -> None:
    west, south, east, north = shaped((-117.70, 34.0, -117.60, 34.01), 840, 630)
    assert west < -117.70
    assert east > -117.60
    assert (south + north) / 2 == pytest.approx(34.005)
    point = shaped((-117.7, 34.0, -117.7, 34.0), 840, 630, 0.0)
    assert is_smallest(point)
    assert not is_smallest((west, south, east, north))
    for said in ("", "1,2,3", "a,b,c,d", "1,1,0,2", "0,0,1,91", "nan,0,1,1", "-inf,0,1,1"):
        assert read_box(said) is None, said


# -- the wall


async def test_the_wall_shows_the_nearest_and_how_many_there_are(site: Site) -> None:
    first = await site.home.report(a_report(known_at="2026-12-01T20:00:00Z"))
    for _ in range(13):
        await site.home.report(a_report())
    await site.home.report(a_report(location=None))
    visitor = await site.staff()
    page = await visitor.get("/staff/wall")
    assert page.text.index(first) < page.text.index("Sewage or toilet water")
    assert page.text.count("SP-2026-") == 12
    for words in ("1 overdue", "13 to do", "1 without a city", "As of Tue Dec 1, 2:05 PM PST"):
        assert words in page.text, words
    assert "Nothing is open." in (await visitor.get("/staff/wall?material=paint")).text


async def test_a_wall_that_refreshes_itself_does_not_use_the_session(site: Site) -> None:
    visitor = await site.staff()
    await visitor.get("/staff")
    seen = await _seen_at(site)
    site.home.clock.jump(hours=2)
    for _ in range(3):
        await visitor.get("/staff/wall")
    assert await _seen_at(site) == seen
    await visitor.get("/staff")
    assert await _seen_at(site) != seen
    site.home.clock.jump(seconds=access.SESSION_LASTS.total_seconds())
    answer = await visitor.http.get("/staff/wall")
    assert answer.headers["location"] == "/staff/sign-in?next=/staff/wall"


async def _seen_at(site: Site) -> Any:
    async with reading(site.home.house) as tx:
        return await tx.session.scalar(select(col(Credential.seen_at)).where(col(Credential.purpose) == "session"))


async def test_what_is_asked_of_the_board_is_read_the_same_everywhere(site: Site) -> None:
    asked = board_query.read(site.home.house, EVERYWHERE, {"due": "24h", "officer": "me", "q": " foam "})
    assert asked.wanted == board.Wanted(stands=board.STANDS, within=timedelta(hours=24), officer="officer@every-city.example", text="foam")
    assert asked.at("/staff/map", box="1,2,3,4") == "/staff/map?q=foam&due=24h&officer=me&box=1%2C2%2C3%2C4"
