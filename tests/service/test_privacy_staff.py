"""What a viewer among the staff, an agency that is given papers, and other systems are shown of a spill: nothing of who reported it.

The same spill as in test_privacy.py is lived, with the reporter's name, address and number also in their own words. Then all that a viewer
can open is collected, and everything that goes to an agency: every paper, the bundle without the reporter, what other systems are sent.
"""

from __future__ import annotations

import io
import re
import zipfile

import httpx
import pytest

from service import access, disclosure
from service.following import add_words
from service.replies import Reply
from service.transaction import transaction
from tests.houses import Household
from tests.service.lived import PLANTED, TEXT, Lived, live
from tests.service.planted import DISCHARGER, LOG, PUBLIC, REPORTER, STAFF, Output, Planted, leaks
from tests.service.printed import printed
from tests.service.test_privacy import crawled

VIEWER, AGENCY = "viewer", "agency"
# What only the reporter and those who work on the spill may read.
OF_THE_REPORTER = {
    "reporter's name", "reporter's e-mail", "reporter's phone", "photo latitude", "photo longitude", "camera", "photo name",
}  # fmt: skip
HIDDEN = [Planted(one.what, one.text, frozenset({STAFF, REPORTER})) for one in PLANTED if one.what in OF_THE_REPORTER]
_NOT_FOLLOWED = re.compile(
    r"^(?!/staff)|/static/|sign-out|/law|/staff/(calendars|templates|on-call|quantities|subscriptions|numbers)|[?&](sort|after|before|lang|q)="
)


async def lived_by_somebody_who_says_who_they_are(home: Household) -> Lived:
    lived = await live(home)
    name, email, phone = (TEXT[f"reporter's {what}"] for what in ("name", "e-mail", "phone"))
    async with transaction(home.house, "test") as tx:
        spill = await tx.spill(lived.reference)
        about = {"channel": "sms", "sender": phone, "meaning": "unknown", "spill_id": spill.id, "received_at": tx.now}
        tx.session.add(Reply(once="1", text=f"it is {name} again", **about))
        if spill.destroyed_at is None:
            await tx.session.flush()
    second = {"description": f"{name} here, {email}, {phone}: still running", "contact": {"name": name, "email": email, "phone": phone}}
    answer = await home.client().post("/api/v1/spills", json={**second, "location": {"lat": 34.012, "lon": -117.688}, "material": "sewage"})
    assert answer.status_code == 201, answer.text
    reference = str(answer.json()["reference"])
    await home.work()
    async with transaction(home.house, f"reporter of {reference}") as tx:
        await add_words(tx, await tx.spill(reference), f"This is {name}, call {phone}.")
    await home.work()
    return Lived(reference, lived.status, lived.respond)


async def as_staff(home: Household, role: str) -> tuple[httpx.AsyncClient, httpx.AsyncClient]:
    """A browser and a program of somebody in a role."""
    async with transaction(home.house, "test") as tx:
        account = await access.add_account(tx, f"{role}-of-papers@chino.example", role, "chino")
        session, key = await access.issue(tx, account, "session", access.SESSION_LASTS), await access.issue(tx, account, "api")
    browser = home.client()
    browser.cookies.set("spillclock_session", session)
    return browser, home.client(key)


async def to_a_viewer(home: Household, references: list[str]) -> list[Output]:
    browser, program = await as_staff(home, "viewer")
    starts = (
        "/staff",
        "/staff?show=all",
        "/staff?q=running",
        "/staff/map",
        "/staff/wall",
        "/staff/replies",
        "/staff/suppressions",
        "/staff/held",
    )
    of_spills = tuple(f"/staff/spills/{one}{part}" for one in references for part in ("", "/papers", "/retention"))
    found = await crawled(browser, VIEWER, starts + of_spills, lambda link: not _NOT_FOLLOWED.search(link) and "/files/" not in link)
    for path in ("/api/v1/spills", "/api/v1/spills?q=running", "/api/v1/replies", "/api/v1/numbers", "/api/v1/retention"):
        found.append(Output(VIEWER, path, (await program.get(path)).text))
    for one in references:
        for part in ("", "/clocks", "/reports", "/papers", "/particulars", "/retention"):
            answer = await program.get(f"/api/v1/spills/{one}{part}")
            assert answer.status_code == 200, f"{part}: {answer.text[:200]}"
            found.append(Output(VIEWER, f"API {one}{part}", answer.text))
    return found


async def to_an_agency(home: Household, references: list[str]) -> list[Output]:
    _, program = await as_staff(home, "officer")
    found = []
    for one in references:
        papers = (await program.get(f"/api/v1/spills/{one}/papers")).json()["papers"]
        for paper in papers:
            answer = await program.post(f"/api/v1/spills/{one}/papers/{paper['id']}/file", json={})
            if answer.status_code == 200:
                found.append(Output(AGENCY, f"paper {paper['id']} of {one}", printed(answer.content).text))
        bundle = await program.post(f"/api/v1/spills/{one}/evidence", json={})
        assert bundle.status_code == 200, bundle.text[:200]
        with zipfile.ZipFile(io.BytesIO(bundle.content)) as archive:
            for name in archive.namelist():
                content = archive.read(name)
                says = printed(content).text if name.endswith(".pdf") else content.decode("utf-8", "replace")
                found.append(Output(AGENCY, f"{name} of {one}", f"{name}\n{says}"))
    return found


@pytest.mark.timeout(600)
async def test_neither_a_viewer_nor_an_agency_is_shown_who_reported_in_confidence(home: Household) -> None:
    lived = await lived_by_somebody_who_says_who_they_are(home)
    references = ["SP-2026-00001", lived.reference]
    viewer, agency = await to_a_viewer(home, references), await to_an_agency(home, references)
    assert min(len(viewer), len(agency)) > 15, (len(viewer), len(agency))
    assert leaks(HIDDEN, [*viewer, *agency]) == []


def test_the_table_says_the_same_of_every_string_that_is_planted() -> None:
    fields = {
        "reporter's name": "reporter", "reporter's e-mail": "reporter", "reporter's phone": "reporter", "photo latitude": "originals",
        "photo longitude": "originals", "camera": "originals", "description": "description", "house number": "address",
        "discharger's name": "discharger", "discharger's e-mail": "discharger", "substance": "substances",
    }  # fmt: skip
    for one in PLANTED:
        if one.what in fields:
            field = fields[one.what]
            # The reporter's own photo may hold what its camera noted: it is theirs, and they are shown a copy without it.
            own = {REPORTER} if field == "originals" else set()
            seen = {audience for audience in (PUBLIC, REPORTER, DISCHARGER) if disclosure.sees(audience, field)}
            assert seen | own == (one.readers & {PUBLIC, REPORTER, DISCHARGER}) | own, one.what
            assert disclosure.sees(VIEWER, field) is (one.what not in OF_THE_REPORTER), one.what
    assert LOG not in {reader for one in PLANTED for reader in one.readers}
