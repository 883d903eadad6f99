"""The wish to be forgotten on the reporter's page, masking words on a staff page, and what is shown before words go to the public."""

from __future__ import annotations

from service.events import PersonalDestroyed, ReporterForgotten, SpillClosed
from service.retention import place_hold
from service.transaction import transaction
from tests.pages.conftest import Site
from tests.spills import NOWHERE_NEAR, a_report, gallons

CONTACT = {"name": "Quillon Vane", "email": "q@vane.example", "privacy": "confidential"}


async def reported(site: Site, city: str) -> str:
    reference = await site.home.report(a_report(location=NOWHERE_NEAR, contact=CONTACT), staff=False)
    await site.home.amend(reference, "by the address", jurisdiction=city)
    return reference


async def test_a_reporter_is_forgotten_at_once_where_no_law_keeps_who_they_are(site: Site) -> None:
    reference = await reported(site, "loveland-oh")
    link, visitor = await site.link("status", reference), site.visitor()
    assert "No law keeps them, so it is done at once." in (await visitor.get(link)).text
    missed = await visitor.http.post(f"{link}/forget", data={})
    assert missed.status_code == 422
    assert "Tick this first." in missed.text
    assert (await visitor.http.post(f"{link}/forget", data={"sure": "yes"})).status_code == 303
    assert len(await site.home.events(reference, ReporterForgotten)) == 1
    assert "We no longer know who sent this report." in (await visitor.get(link)).text
    spanish = await site.visitor(accept_language="es").get(link)
    assert "Ya no sabemos quién envió este aviso." in spanish.text
    assert "It was done." in (await (await site.staff("officer", "loveland-oh")).get(f"/staff/spills/{reference}")).text


async def test_a_reporter_is_told_which_section_keeps_who_they_are_and_until_when(site: Site) -> None:
    reference = await reported(site, "soledad")
    link, visitor = await site.link("status", reference), site.visitor()
    async with transaction(site.home.house, "manager@soledad.example") as tx:
        await place_hold(tx, await tx.spill(reference), "Vann v. City, which is nobody's to read")
    assert (await visitor.http.post(f"{link}/forget", data={"sure": "yes"})).status_code == 303
    page = await visitor.get(f"{link}?done=forget")
    for part in ("Your wish is on record.", "13.52.120(B)", "2031", "34090(d)", "A court case, an audit or an inquiry needs the record"):
        assert part in page.text, part
    assert "Vann" not in page.text
    assert "Forget who I am</button>" not in page.text
    assert "The reporter wishes to be forgotten" in (await (await site.staff("officer", "soledad")).get(f"/staff/spills/{reference}")).text


async def test_a_manager_looks_where_words_stand_and_masks_them(site: Site) -> None:
    reference = await site.home.report(a_report(description="Oil from Bob Vane's truck."))
    manager = await site.staff("manager")
    place = f"/staff/spills/{reference}/redact"
    look = await manager.http.post(place, data={"words": "bob vane", "reason": "a neighbor", "do": "look"})
    assert "Oil from [redacted]&#39;s truck." in look.text
    assert await site.home.events(reference, PersonalDestroyed) == []
    short = await manager.http.post(place, data={"words": "x", "do": "look"})
    assert short.status_code == 422
    assert (await manager.http.post(place, data={"words": "bob vane", "reason": "a neighbor", "do": "mask"})).status_code == 303
    assert "a neighbor" in (await manager.get(place)).text
    page = (await manager.get(f"/staff/spills/{reference}")).text
    assert "Words of this record are masked" in page
    assert "Bob Vane" not in page


async def test_words_that_tell_of_a_person_are_shown_before_they_reach_the_reporter(site: Site) -> None:
    reference = await site.home.report(a_report(material="potable_water", volume=gallons(1), contact=CONTACT))
    manager = await site.staff("manager")
    await site.home.name_discharger(reference, "Thessaly Works", "ops@thessaly.example", "+19095550177")
    for row in await site.home.clocks(reference):
        if row.state in ("running", "overdue") and row.act != "retention":
            await site.home.waive(reference, row.duty, "clean water")
    form = {"reason": "Thessaly Works fixed it; call (909) 555-0177 or write to jo@works.example."}
    stopped = await manager.http.post(f"/staff/spills/{reference}/close", data=form)
    assert stopped.status_code == 422
    for part in ("Thessaly Works", "(909) 555-0177", "jo@works.example", "[redacted] fixed it; call [redacted] or write to [redacted]."):
        assert part in stopped.text, part
    assert await site.home.events(reference, SpillClosed) == []
    masks = ["Thessaly Works", "(909) 555-0177", "jo@works.example"]
    sent = await manager.http.post(f"/staff/spills/{reference}/close", data={**form, "do": "mask", "mask": masks})
    assert sent.status_code == 303
    [closed] = await site.home.events(reference, SpillClosed)
    assert closed.words["en"] == "[redacted] fixed it; call [redacted] or write to [redacted]."
    again = {"reason": "Ask Thessaly Works.", "personal_seen": "yes"}
    assert (await manager.http.post(f"/staff/spills/{reference}/answer", data=again)).status_code == 303


async def test_an_advisory_is_looked_at_with_what_may_tell_of_a_person(site: Site) -> None:
    reference = await site.home.report(a_report(contact=CONTACT))
    officer = await site.staff("officer")
    words = {
        f"{part}.{language}": "Keep away; Quillon says so, 909-555-0199."
        for part in ("where", "what", "advice")
        for language in ("en", "es")
    }
    page = await officer.http.post(
        f"/staff/spills/{reference}/advisory", data={"do": "preview", "kind": "advisory", "area": "city", **words}
    )
    assert "This may tell of a person:" in page.text
    assert "909-555-0199; Quillon" in page.text
