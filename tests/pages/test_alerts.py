"""Pages about being told: staff subscribe, an officer tells the public, anybody subscribes and leaves; without JavaScript."""

import re
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select
from sqlmodel import col

from notifiers import Outcome
from service.tables import Subscription
from service.transaction import reading
from tests.houses import Household, a_household
from tests.pages.conftest import Site, Visitor
from tests.pages.markup import Page
from tests.service.channels import Post
from tests.service.test_advisories import tell
from tests.service.test_public_alerts import subscribe, token_in
from tests.spills import a_report


async def rows(home: Household) -> list[Subscription]:
    async with reading(home.house) as tx:
        return list((await tx.session.execute(select(Subscription).order_by(col(Subscription.id)))).scalars())


# -- staff


async def test_staff_add_pause_and_end_a_subscription(site: Site) -> None:
    officer = await site.staff()
    page = await officer.get("/staff/subscriptions")
    assert "You have none yet." in page.text
    filled = {"stages": ["overdue", "closed"], "materials": ["sewage"], "at_least_gallons": "1,000", "pace": "daily", "at": "06:30"}
    page = await officer.send(page, "/staff/subscriptions", **filled, lat="34.01", lon="-117.69", miles="2")
    assert "You are subscribed." in page.text
    assert "A duty is overdue, Nothing is open any more; Sewage or toilet water; 1,000 gallons or more" in page.text
    assert "within 2 miles of 34.0100, -117.6900" in page.text
    assert "at 06:30 (America/Los_Angeles)" in page.text
    [row] = await rows(site.home)
    assert row.address == "officer@chino.example"
    page = await officer.send(page, f"/staff/subscriptions/{row.id}/pause")
    assert "Paused" in page.text
    page = await officer.send(page, f"/staff/subscriptions/{row.id}/pause")
    assert "It goes on." in page.text
    page = await officer.send(page, f"/staff/subscriptions/{row.id}/end")
    assert "You have none yet." in page.text


async def test_a_form_with_faults_comes_back_with_what_was_typed(site: Site) -> None:
    officer = await site.staff()
    page = await officer.get("/staff/subscriptions")
    page = await officer.send(page, "/staff/subscriptions", channel="sms", address="12", at_least_gallons="lots", stages=["met"])
    assert page.status == 422
    assert "right would be: 1000" in page.text
    page = await officer.send(page, "/staff/subscriptions", at_least_gallons="5")
    assert page.status == 422
    assert "it is no telephone number" in page.text
    assert page.one("stage-met")["checked"] is not None
    assert await rows(site.home) == []


async def test_another_persons_subscription_is_out_of_reach_but_for_an_administrator(site: Site) -> None:
    officer, viewer, chief = await site.staff(), await site.staff("viewer"), await site.staff("administrator")
    await officer.send(await officer.get("/staff/subscriptions"), "/staff/subscriptions")
    assert (await viewer.post("/staff/subscriptions/1/end", {})).status == 404
    page = await chief.get("/staff/subscriptions")
    assert "Those of others in your city (1)" in page.text
    await chief.send(page, "/staff/subscriptions/1/end")
    assert (await rows(site.home))[0].ended_at is not None


# -- an officer tells the public


async def test_an_officer_looks_at_an_advisory_and_issues_it(site: Site) -> None:
    await subscribe(site.home)
    site.home.clock.jump(minutes=1)
    reference = await site.home.report(a_report())
    officer = await site.staff()
    page = await officer.get(f"/staff/spills/{reference}")
    assert "Tell the public" in page.text
    here = f"/staff/spills/{reference}/advisory"
    page = await officer.get(here)
    page = await officer.send(page, here, "Look at it before it goes out", where__en="Central Ave by the school", area="805")
    assert "This goes to 1 subscriber, and to the public page" in page.text
    assert await site.home.messages(step="advisory") == []
    page = await officer.send(page, here, "Issue it")
    assert "It is issued." in page.text
    await site.home.work()
    [line] = [line for line in site.home.outbox() if line["step"] == "advisory"]
    assert "Central Ave by the school" in line["subject"]
    story = (await officer.get(f"/staff/spills/{reference}")).text
    assert "An advisory to the public was issued." in story
    assert "The advisory went to 1 subscriber." in story
    page = await officer.get(f"{here}?kind=all_clear")
    assert "The area can be used again." in page.response.text
    page = await officer.send(page, here, "Look at it before it goes out")
    page = await officer.send(page, here, "Issue it")
    await site.home.work()
    assert [line["step"] for line in site.home.outbox() if line["to"] == "ann@example.org"] == ["confirm", "advisory", "all_clear"]


async def test_two_officers_do_not_issue_the_same_advisory_twice(site: Site) -> None:
    reference = await site.home.report(a_report())
    officer = await site.staff()
    here = f"/staff/spills/{reference}/advisory"
    page = await officer.send(await officer.get(here), here, "Look at it before it goes out")
    await officer.send(page, here, "Issue it")
    again = await officer.send(page, here, "Issue it")
    assert again.status == 409
    assert "another one was issued meanwhile" in again.text


async def test_faults_of_an_advisory_are_told_and_a_viewer_may_not(site: Site) -> None:
    reference = await site.home.report(a_report())
    here = f"/staff/spills/{reference}/advisory"
    officer, viewer, other = await site.staff(), await site.staff("viewer"), await site.staff("officer", "ontario")
    page = await officer.send(await officer.get(here), here, "Look at it before it goes out", advice__es="  ")
    assert page.status == 422
    assert "What people should do (Español): missing" in page.text
    assert (await viewer.get(here)).status == 403
    assert "Tell the public" not in (await viewer.get(f"/staff/spills/{reference}")).text
    assert (await other.get(here)).status == 404
    assert (await officer.post(here, {"do": "issue", "kind": "advisory", "last": "x", "area": "everywhere"})).status == 422


# -- the public


async def asked(visitor: Visitor, **filled: str | list[str]) -> Page:
    return await visitor.send(await visitor.get("/alerts"), "/alerts", **filled)


async def test_anybody_subscribes_says_yes_and_leaves(site: Site) -> None:
    visitor = site.visitor()
    page = await asked(visitor, cities=["chino"], address="ann@example.org")
    assert "Look at your messages" in page.text
    await site.home.work()
    token = token_in(site.home.outbox()[-1])
    page = await visitor.get(f"/alerts/yes/{token}")
    assert "Press the button, and ann@example.org gets: advisories for City of Chino, California" in page.text
    await visitor.http.head(f"/alerts/yes/{token}")
    assert (await rows(site.home))[0].confirmed_at is None
    page = await visitor.send(page, f"/alerts/yes/{token}")
    assert "ann@example.org is subscribed." in page.text
    site.home.clock.jump(minutes=1)
    await tell(site.home, await site.home.report(a_report()))
    await site.home.work()
    [line] = [line for line in site.home.outbox() if line["step"] == "advisory"]
    leave = re.search(r"https://spills.example.gov(/unsubscribe/\S+)", line["text"])
    assert leave
    page = await visitor.get(leave[1])
    assert (await rows(site.home))[0].ended_at is None
    answer = await site.visitor().http.post(leave[1], data={"List-Unsubscribe": "One-Click"})  # as a mail program does it
    assert answer.status_code == 200
    assert (await rows(site.home))[0].ended_at is not None
    assert "This subscription has ended." in (await visitor.get(f"/alerts/yes/{token}")).text


async def test_the_answer_is_the_same_whether_or_not_an_address_is_known(site: Site) -> None:
    await subscribe(site.home, "known@example.org")
    visitor = site.visitor()
    answers = [(await asked(visitor, cities=["chino"], address=one)).response for one in ("known@example.org", "new@example.org")]
    assert answers[0].text == answers[1].text
    assert [answer.status_code for answer in answers] == [200, 200]


async def test_the_old_link_of_a_replaced_subscription_still_ends_what_stands(site: Site) -> None:
    await subscribe(site.home)
    site.home.clock.jump(minutes=1)
    await tell(site.home, await site.home.report(a_report()))
    await site.home.work()
    old = re.search(r"https://spills.example.gov(/unsubscribe/\S+)", site.home.outbox()[-1]["text"])
    assert old
    site.home.clock.jump(hours=2)
    await subscribe(site.home, cities=["ontario"])
    visitor = site.visitor()
    page = await visitor.get(old[1])
    assert page.forms(old[1])
    await visitor.send(page, old[1])
    assert all(row.ended_at for row in await rows(site.home))


async def test_the_public_pages_speak_spanish(site: Site) -> None:
    await subscribe(site.home)
    reference = await site.home.report(a_report())
    await tell(site.home, reference)
    visitor = site.visitor(accept_language="es")
    page = await visitor.get("/alerts")
    assert "Recibir avisos" in page.text
    page = await asked(visitor, address="x")
    assert page.status == 422
    assert "Elija al menos una ciudad" in page.text
    assert "No podemos enviar a esta dirección." in page.text
    page = await visitor.get("/advisories")
    assert "Aviso: cerca de Central Ave" in page.text
    page = await visitor.get("/advisories/1")
    assert "No entre al agua" in page.text
    assert (await visitor.get("/advisories/2")).status == 404
    assert (await visitor.get(f"/advisories/{10**20}")).status == 404


async def test_an_ended_advisory_says_so_and_goes_after_a_month(site: Site) -> None:
    reference = await site.home.report(a_report())
    await tell(site.home, reference)
    site.home.clock.jump(hours=1)
    await tell(site.home, reference, "update", advice_en="Boil the water")
    site.home.clock.jump(hours=1)
    await tell(site.home, reference, "all_clear")
    visitor = site.visitor()
    page = await visitor.get("/advisories")
    assert "There is none." in page.text
    assert "Ended in the last 30 days" in page.text
    page = await visitor.get("/advisories/1")
    assert "This advisory has ended." in page.text
    assert "Boil the water" in page.text
    site.home.clock.jump(days=31)
    assert "Ended in the last" not in (await visitor.get("/advisories")).text


@pytest.mark.parametrize(
    "fields",
    [
        {"address": "a@example.org"}, {"address": "a@example.org", "lat": "x", "lon": "1", "metres": "805"},
        {"address": "a@example.org", "lat": "34", "lon": "-117", "metres": "9e99"}, {"cities": "atlantis", "address": "a@example.org"},
        {"cities": "chino", "address": "a@example.org", "channel": "fax"}, {"cities": "chino", "address": "a" * 3000},
    ],
)  # fmt: skip
async def test_no_form_of_the_public_breaks_anything(site: Site, fields: dict[str, str | list[str]]) -> None:
    assert (await site.visitor().post("/alerts", fields)).status == 422
    assert await rows(site.home) == []


# -- a provider is down


async def test_staff_see_that_mail_is_not_going_out_until_it_is(tmp_path: Path) -> None:
    mail = Post("email", then=Outcome.TRY_AGAIN)
    async with a_household(tmp_path, channels={"email": mail, "sms": Post("sms")}) as home:
        site = Site(home, httpx.ASGITransport(app=home.app))
        officer, anybody = await site.staff(), site.visitor()
        await home.report(a_report())
        await home.work()
        assert "not going out" not in (await officer.get("/staff")).text
        await home.live(minutes=2)
        says = r"E-mail is not going out since Tue Dec 1, 2:05.* PM PST.* \d+ alerts? waits?"
        for address in ("/staff", "/staff/subscriptions"):
            assert re.search(says, (await officer.get(address)).text)
        assert "not going out" not in (await anybody.get("/")).text
        mail.then = Outcome.ACCEPTED
        await home.live(minutes=10)
        assert "not going out" not in (await officer.get("/staff")).text
        for visitor in site.visitors:
            await visitor.http.aclose()
