"""The hint of open reports near a place, and the question on the reporter's page whether it is the same spill."""

from __future__ import annotations

from typing import Any

import pytest

from service.events import SaidToBeSame
from tests.pages.conftest import Site
from tests.spills import a_report

SECRETS = ("Ana Ruiz", "ana@example.com", "Brown foam", "Central", "13220", "SP-2026", "34.01", "117.69")


async def earlier(site: Site, **said: Any) -> str:
    contact = {"name": "Ana Ruiz", "email": "ana@example.com", "privacy": "confidential"}
    return await site.home.report(a_report(description="Brown foam behind my house.", contact=contact, **said), staff=False)


async def hint(site: Site, language: str = "en", **asked: str) -> Any:
    return await site.visitor(accept_language=language, accept="*/*").http.get(
        "/report/nearby", params={"lat": "34.0103", "lon": "-117.6898", **asked}
    )


async def test_the_form_hears_of_open_reports_in_words_that_tell_nobody_s_business(site: Site) -> None:
    await earlier(site)
    site.home.clock.jump(hours=2)
    answer = await hint(site)
    assert answer.json() == {"found": ["Sewage, within a block, about 2 hours ago"]}
    assert not [secret for secret in SECRETS if secret in answer.text]
    assert (await hint(site, "es")).json() == {"found": ["Aguas residuales, a menos de una cuadra, hace alrededor de 2 horas"]}
    assert (await hint(site, lat="34.05")).json() == {"found": []}


@pytest.mark.parametrize(
    ("lat", "lon"),
    [("", ""), ("nan", "1"), ("1e400", "0"), ("91", "0"), ("0", "-181"), ("x" * 10_000, "1"), ("٣٤", "<script>")],
)
async def test_a_place_that_is_none_is_answered_by_a_clear_fault_or_nothing(site: Site, lat: str, lon: str) -> None:
    answer = await hint(site, lat=lat, lon=lon)
    assert answer.status_code == 422
    assert "script" not in answer.text


async def test_the_reporter_is_asked_and_their_answer_is_for_staff(site: Site) -> None:
    first = await earlier(site)
    later = await site.home.report(a_report(), staff=False)
    visitor = site.visitor()
    page = await visitor.get(await site.link("status", later))
    assert "Is it the same spill as one of these?" in page.text
    [form] = [form for form in page.root.all("form") if form["action"].endswith("/same")]
    assert not [secret for secret in (*SECRETS[:3], first) if secret in form.text + "".join(part["value"] for part in form.all("button"))]
    page = await visitor.send(page, form, "Yes: Sewage, within a block, about 1 hour ago")
    assert "Thank you. Staff see your answer." in page.text
    assert [event.other for event in await site.home.events(later, SaidToBeSame)] == [first]
    assert "Is it the same spill" not in (await visitor.get(await site.link("status", later))).text
    staff = await site.staff()
    assert f"The reporter says that it is the same spill as {first}." in (await staff.get(f"/staff/spills/{later}")).text


async def test_the_answer_may_be_none_of_them(site: Site) -> None:
    await earlier(site)
    later = await site.home.report(a_report(), staff=False)
    visitor = site.visitor(accept_language="es")
    page = await visitor.get(await site.link("status", later))
    [form] = [form for form in page.root.all("form") if form["action"].endswith("/same")]
    page = await visitor.send(page, form, "No, es otro")
    assert "Gracias. El personal ve su respuesta." in page.text
    assert [event.other for event in await site.home.events(later, SaidToBeSame)] == [""]
    staff = await site.staff()
    assert "it is none of the spills reported near it" in (await staff.get(f"/staff/spills/{later}")).text


async def test_nobody_is_asked_where_nothing_is_near(site: Site) -> None:
    await earlier(site, location={"lat": 34.05, "lon": -117.60})
    later = await site.home.report(a_report(), staff=False)
    assert "Is it the same spill" not in (await site.visitor().get(await site.link("status", later))).text


@pytest.mark.parametrize("same", ["", "x", "<script>alert(1)</script>", "\x00", "🙂" * 5000, "none' --"])
async def test_an_answer_that_was_not_offered_changes_nothing(site: Site, same: str) -> None:
    await earlier(site)
    later = await site.home.report(a_report(), staff=False)
    path = await site.link("status", later)
    page = await site.visitor().post(f"{path}/same", {"same": same})
    assert page.status == 200
    assert "Is it the same spill" in page.text
    assert await site.home.events(later, SaidToBeSame) == []


async def test_the_answer_needs_the_private_link(site: Site) -> None:
    later = await site.home.report(a_report(), staff=False)
    path = await site.link("status", later)
    assert (await site.visitor().post(f"{path}x/same", {"same": "none"})).status == 404
