"""Private links of a discharger's people: issued and sent by staff, replaced, taken back; wrong ones tell nothing."""

from __future__ import annotations

import re

import pytest

from service.events import ActRecorded, LinkEnded, LinkIssued, LinkReplaced, LinkSent
from tests.pages.conftest import Site, Visitor
from tests.pages.markup import Page
from tests.pages.test_discharger import CAL_OES, opened
from tests.spills import a_report

MARIA = {"name": "Maria Lopez", "email": "maria@goldenwok.example", "phone": "(909) 555-0145", "language": "es"}


async def issued(site: Site, reference: str, **fields: str | list[str]) -> tuple[Visitor, Page]:
    """The staff page of a spill after a link was issued to Maria."""
    staff = await site.staff("officer")
    page = await staff.get(f"/staff/spills/{reference}")
    return staff, await staff.send(page, f"/staff/spills/{reference}/links", **{**MARIA, **fields})


def link_of(page: Page, key: str) -> str:
    """The path of a link as the page of the spill shows it."""
    return page.one("private-link" if key == "common" else f"private-link-{key}")["value"].removeprefix("https://spills.example.gov")


async def test_a_link_is_sent_to_its_person_in_their_language(site: Site) -> None:
    reference, _, _ = await opened(site)
    _, page = await issued(site, reference)
    assert "The link was sent." in page.text
    await site.home.work()
    sent = {line["channel"]: line for line in site.home.outbox() if line["step"] == "link"}
    assert (sent["email"]["to"], sent["sms"]["to"]) == ("maria@goldenwok.example", "+19095550145")
    assert link_of(page, "1") in sent["email"]["text"]
    assert "Su página privada dice qué pide la ley" in sent["email"]["text"]
    [issue] = await site.home.events(reference, LinkIssued)
    [send] = await site.home.events(reference, LinkSent)
    assert (issue.name, send.name, send.by) == ("Maria Lopez", "Maria Lopez", ["e-mail", "text message"])


async def test_what_is_done_with_a_link_stands_under_its_name(site: Site) -> None:
    reference, _, _ = await opened(site)
    _, page = await issued(site, reference, send=[])
    assert "The link is issued." in page.text
    visitor = site.visitor()
    mine = await visitor.get(link_of(page, "1"))
    assert "This page was opened with the link of Maria Lopez." in mine.text
    [form] = mine.card(CAL_OES).all("form")
    await visitor.send(mine, form)
    [row] = [row for row, event in await site.home.history(reference) if isinstance(event, ActRecorded)]
    assert row.actor == f"Maria Lopez, discharger of {reference}"
    async with site.home.client(link_of(page, "1").rpartition("/")[2]) as api:
        await api.post(f"/api/v1/spills/{reference}/events", json={"type": "cleanup_done", "at": "2026-12-01T22:00:00Z"})
    assert (await site.home.history(reference))[-1][0].actor == f"Maria Lopez, discharger of {reference}"


@pytest.mark.parametrize(
    ("what", "button", "title"), [("replace", "Replace it", "This link was replaced"), ("end", "Take it back", "taken back")]
)
async def test_an_old_link_stops_at_once_and_says_so(site: Site, what: str, button: str, title: str) -> None:
    reference, common, _ = await opened(site)
    staff, page = await issued(site, reference)
    old = link_of(page, "1")
    clock = (await site.home.clock_of(reference, "california/cal-oes-sewage")).id
    page = await staff.send(page, f"/staff/spills/{reference}/links/1/{what}", button)
    visitor = site.visitor()
    for answer in (
        await visitor.get(old), await visitor.get(f"{old}/duties/{clock}/call"), await visitor.post(f"{old}/duties/{clock}", {"at": ""}),
        await visitor.get(f"{old}/duties/9/report"), await visitor.post(f"{old}/duties/9/report", {"do": "file"}),
    ):  # fmt: skip
        assert answer.status == 410
        assert title in answer.text
        assert reference not in answer.text
    assert (await visitor.http.post(f"{old}/duties/9/report/draft", data={}, headers={"accept": "application/json"})).status_code == 410
    async with site.home.client(old.rpartition("/")[2]) as api:
        assert (await api.get(f"/api/v1/spills/{reference}/clocks")).status_code == 401
    assert await site.home.events(reference, ActRecorded) == []
    assert len(await site.home.events(reference, LinkReplaced if what == "replace" else LinkEnded)) == 1
    assert (await visitor.get(common)).status == 200  # the others go on
    if what == "replace":
        assert (await visitor.get(link_of(page, "1"))).status == 200
    else:
        assert not any(element["id"] == "private-link-1" for element in page.root.all())
    assert (await staff.post(f"/staff/spills/{reference}/links/1/send", {})).status == (200 if what == "replace" else 409)


async def test_a_link_that_was_replaced_is_not_sent_any_more(site: Site) -> None:
    reference, _, _ = await opened(site)
    staff, page = await issued(site, reference)
    old = link_of(page, "1")
    await staff.send(page, f"/staff/spills/{reference}/links/1/replace", "Replace it")
    await site.home.work()
    assert not any(old in line["text"] for line in site.home.outbox())


async def test_the_common_link_is_replaced_without_touching_the_reporters(site: Site) -> None:
    reference, common, _ = await opened(site)
    status = await site.link("status", reference)
    staff = await site.staff("officer")
    page = await staff.get(f"/staff/spills/{reference}")
    page = await staff.send(page, f"/staff/spills/{reference}/links/common/replace", "Replace it")
    visitor = site.visitor(accept_language="es")
    assert "Este enlace fue reemplazado" in (await visitor.get(common)).text
    assert (await visitor.get(link_of(page, "common"))).status == 200
    assert (await visitor.get(status)).status == 200
    assert (await staff.post(f"/staff/spills/{reference}/links/common/end", {})).status == 404


async def test_whatever_was_never_a_link_is_answered_alike(site: Site) -> None:
    reference, common, _ = await opened(site)
    _, page = await issued(site, reference)
    mine, other = link_of(page, "1"), await site.home.report(a_report())
    mac = common.rpartition(".")[2]
    made_up = [
        "x", "SP-2026-00001", f"{reference}.2.{mac}", f"{reference}.p1.2.{mine.rpartition('.')[2]}", f"{other}.1.{mac}",
        f"SP-2026-99999.1.{mac}",
        f"{common[9:-1]}A" if not common.endswith("A") else f"{common[9:-1]}B", f"{common[9:]}%00", "x" * 4_000, f"{common[9:]}\u00e9",
        f"{reference}.p999.1.{mac}", (await site.link("status", reference)).rpartition("/")[2],
    ]  # fmt: skip
    visitor = site.visitor()
    bodies = set()
    for token in made_up:
        answer = await visitor.get(f"/respond/{token}")
        assert answer.status == 404, token
        bodies.add(re.sub(r'data-now="[^"]+"|/respond/[^"?]+', "", answer.response.text))
    assert len(bodies) == 1


async def test_a_link_opens_nothing_but_its_own_spills_duties(site: Site) -> None:
    reference, _, _ = await opened(site)
    _, page = await issued(site, reference)
    mine, other = link_of(page, "1"), await site.home.report(a_report())
    token, foreign = mine.rpartition("/")[2], (await site.home.clocks(other))[0].id
    visitor = site.visitor()
    assert (await visitor.post(f"{mine}/duties/{foreign}", {"at": ""})).status == 404
    for purpose in ("status", "act", "unsubscribe", "calendar"):
        assert (await visitor.http.get(f"/{purpose}/{token}")).status_code == 404
    async with site.home.client(token) as api:
        assert (await api.get(f"/api/v1/spills/{reference}")).status_code == 401
        assert (await api.get(f"/api/v1/spills/{other}/clocks")).status_code == 404
        assert (await api.patch(f"/api/v1/spills/{reference}/facts", json={"reason": "x"})).status_code == 403


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"name": " "}, "name: missing"), ({"email": "nobody"}, "email: "), ({"phone": "12"}, "phone: '12' is not a telephone number"),
        ({"email": "", "phone": ""}, "email, phone: both missing"), ({"phone": "+441632960001"}, "phone: "),
    ],
)  # fmt: skip
async def test_a_link_that_cannot_be_issued_says_why_and_keeps_what_was_typed(site: Site, fields: dict[str, str], says: str) -> None:
    reference, _, _ = await opened(site)
    _, page = await issued(site, reference, **fields)
    assert page.status == 422
    assert says in page.text
    assert page.one("link-name")["value"] == {**MARIA, **fields}["name"].strip()
    assert await site.home.events(reference, LinkIssued) == []


async def test_links_are_for_officers_of_the_city(site: Site) -> None:
    reference, _, _ = await opened(site)
    viewer, stranger = await site.staff("viewer"), await site.staff("officer", "ontario")
    assert (await viewer.post(f"/staff/spills/{reference}/links", MARIA)).status == 403
    assert (await stranger.post(f"/staff/spills/{reference}/links", MARIA)).status == 404
    assert "/respond/" not in (await viewer.get(f"/staff/spills/{reference}")).response.text
    assert await site.home.events(reference, LinkIssued) == []
