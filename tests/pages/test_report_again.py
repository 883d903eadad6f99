"""What a stranger stumbled over on the form and after it: sent twice, an address that is none, a photo left out, a time of another zone."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from service.app import build_app
from service.events import ContactCorrected, FilesLeftOut, TriageAsked
from service.following import reporter_of
from service.pages.sent_before import COOKIE
from service.transaction import reading
from tests.houses import a_household
from tests.pages.conftest import Site
from tests.pages.markup import Page, read, sent_by
from tests.pages.test_report import FILLED, report, stored
from tests.pictures import photo

BAD = {"email": "no es correo", "phone": "12"}


# -- sent twice


async def test_the_same_words_on_another_showing_are_asked_about_and_go_through_when_told(site: Site) -> None:
    visitor = site.visitor()
    first = await visitor.send(await visitor.get("/report"), "/report", **FILLED)
    site.home.clock.jump(minutes=5)
    page = await visitor.send(await visitor.get("/report"), "/report", **FILLED)
    assert page.status == 409
    assert "It is kept as SP-2026-00001, and nothing was sent again." in page.text
    assert [link["href"] for link in page.root.all("a") if link.text == "Open its page"] == [first.response.url.path]
    assert len(await stored(site.home)) == 1
    pressed = dict(sent_by(page.forms("/report")[0])) | {"another": "yes", "reached": FILLED["reached"]}
    assert pressed["description"] == FILLED["description"]
    second = await visitor.post("/report", pressed)
    assert second.status == 200
    assert second.response.url.path != first.response.url.path
    assert len(await stored(site.home)) == 2
    assert (await visitor.post("/report", pressed)).response.url.path == second.response.url.path  # pressed twice
    assert len(await stored(site.home)) == 2


async def test_the_question_is_asked_in_spanish_too(site: Site) -> None:
    visitor = site.visitor(accept_language="es")
    for _ in range(2):
        page = await visitor.send(await visitor.get("/report"), "/report", **FILLED)
    assert "Usted ya envió esto" in page.text
    assert "Es otro derrame: enviarlo" in page.text


@pytest.mark.parametrize("change", [{"amount": "2,000"}, {"address": "1 Main St"}, {"privacy": "anonymous"}])
async def test_a_report_with_anything_changed_is_another_one(site: Site, change: dict[str, Any]) -> None:
    visitor = site.visitor()
    await visitor.send(await visitor.get("/report"), "/report", **FILLED)
    assert (await visitor.send(await visitor.get("/report"), "/report", **{**FILLED, **change})).status == 200
    assert len(await stored(site.home)) == 2


async def test_nobody_else_is_asked_and_nobody_after_half_an_hour(site: Site) -> None:
    visitor = site.visitor()
    await visitor.send(await visitor.get("/report"), "/report", **FILLED)
    assert (await report(site, **FILLED)).status == 200  # a neighbour behind the same address
    site.home.clock.jump(minutes=31)
    assert (await visitor.send(await visitor.get("/report"), "/report", **FILLED)).status == 200
    assert len(await stored(site.home)) == 3


@pytest.mark.parametrize("cookie", ["", "x", "~~~", "SP-2026-00001.1796162700." + "0" * 32 + "." + "0" * 8 + "." + "0" * 32, "é" * 500])
async def test_a_note_that_is_not_ours_changes_nothing(site: Site, cookie: str) -> None:
    visitor = site.visitor()
    headers = {b"cookie": f"{COOKIE}={cookie}".encode("latin-1")}
    for _ in range(2):
        answer = await visitor.http.post("/report", data=FILLED, headers=headers)
        visitor.http.cookies.clear()
        assert answer.status_code == 303


async def test_the_note_holds_nothing_that_was_typed(site: Site) -> None:
    visitor = site.visitor()
    answer = await visitor.http.post("/report", data=FILLED)
    [cookie] = [line for line in answer.headers.get_list("set-cookie") if line.startswith(COOKIE)]
    assert "HttpOnly" in cookie
    assert "Path=/report" in cookie
    for word in ("Gray", "Ana", "ana@", "555", "Central", (await site.link("status", "SP-2026-00001"))):
        assert word not in cookie


# -- an address that is none


async def test_an_address_that_is_none_is_told_at_once_and_put_right_there(site: Site) -> None:
    page = await report(site, **{**FILLED, **BAD})
    [spill] = await stored(site.home)
    assert "No message can reach you yet" in page.text
    assert "no es correo" not in page.text
    assert "What a person will check" not in page.text
    assert len([flag for flag in spill.flags if "no message can reach" in flag]) == 2
    assert not await site.home.events(spill.reference, TriageAsked)  # nobody is woken for it
    staff = await (await site.staff()).get(f"/staff/spills/{spill.reference}")
    assert "no message can reach the reporter by the address given for email" in staff.text
    path = page.response.url.path
    visitor = site.visitor()
    for typed, says in (
        ({}, "No message can reach this"),
        ({"email": "ana@"}, "An e-mail address looks like"),
        ({"phone": "911"}, "A number"),
    ):
        page = await visitor.send(await visitor.get(path), f"{path}/contact", **typed)
        assert page.status == 422
        assert says in page.text
    page = await visitor.send(page, f"{path}/contact", email=" ana@example.com ", phone="")
    assert page.status == 200
    assert "Messages go to this address from now on." in page.text
    assert "You corrected how you can be reached." in page.text
    assert "The telephone number that you gave cannot be used for messages." in page.text
    [spill] = await stored(site.home)
    assert spill.reporter == {**spill.reporter, "email": "ana@example.com", "phone": "12", "name": "Ana Ruiz"}
    assert len([flag for flag in spill.flags if "no message can reach" in flag]) == 1
    assert [event.ways for event in await site.home.events(spill.reference, ContactCorrected)] == [["email"]]
    async with reading(site.home.house) as tx:
        assert reporter_of(tx, spill).addresses == {"email": "ana@example.com"}
    page = await visitor.send(page, f"{path}/contact", phone="909 555 0155")
    assert "cannot be used" not in page.text
    assert (await visitor.post(f"{path}/contact", {"email": "x"})).status == 200  # it is right already: nothing is changed
    [spill] = await stored(site.home)
    assert spill.flags == []
    assert spill.reporter["email"] == "ana@example.com"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"email": "ana@example"}, True), ({"email": "ana@example.com, bo@example.com"}, True), ({"phone": "555-0100"}, True),
        ({"phone": "+52 55 5555 0100"}, True), ({"phone": "(909) 555-0100"}, False), ({"email": "ana@example.com"}, False), ({}, False),
        ({**BAD, "privacy": "anonymous"}, False),
    ],
)  # fmt: skip
async def test_an_address_is_told_of_where_the_alerts_would_refuse_it(site: Site, typed: dict[str, str], told: bool) -> None:
    page = await report(site, description="Oil", **typed)
    assert page.status == 200
    assert ("No message can reach you yet" in page.text) is told


async def test_it_is_said_in_spanish_that_no_message_can_come(site: Site) -> None:
    visitor = site.visitor(accept_language="es")
    page = await visitor.send(await visitor.get("/report"), "/report", description="Aceite", email="no es correo")
    assert "Todavía no podemos enviarle mensajes" in page.text
    assert "El correo electrónico que usted dio no se puede usar." in page.text


# -- photos left out


def too_many_pixels() -> bytes:
    content = io.BytesIO()
    Image.new("1", (8000, 6500)).save(content, "PNG")
    return content.getvalue()


async def with_photos(site: Site, *files: tuple[str, bytes], language: str = "en") -> Page:
    visitor = site.visitor(accept_language=language)
    parts = [("photos", (name, content)) for name, content in files]
    return read(await visitor.http.post("/report", data={"description": "x"}, files=parts, follow_redirects=True))


async def test_each_photo_that_was_left_out_is_named_with_its_own_reason(site: Site) -> None:
    files = [
        ("plan.png", too_many_pixels()),
        ("song.mp3", b"ID3 no picture"),
        ("big.jpg", photo() + b"0" * 15_000_001),
        ("nothing.jpg", b""),
    ]
    page = await with_photos(site, *files)
    assert page.status == 200
    for words in (
        "4 photos could not be kept. Your report is safe; you can add photos here.",
        "plan.png has too many pixels, so it was not kept: 50 million at most. Send a smaller photo, or a screenshot of it.",
        "song.mp3 is not a photo that we can take",
        "big.jpg is too large, so it was not kept. A file can have 15 MB at most.",
        "nothing.jpg is empty",
    ):
        assert words in page.text
    assert "and have 15 MB" not in page.text
    [spill] = await stored(site.home)
    [left_out] = await site.home.events(spill.reference, FilesLeftOut)
    assert [why for _, why in left_out.files] == ["too_many_pixels", "kind", "too_large", "empty"]
    staff = await (await site.staff("manager", None)).get(f"/staff/spills/{spill.reference}")
    assert "4 files were sent that could not be kept." in staff.text
    assert "plan.png: too many pixels" in staff.text
    assert "could not be kept" not in (await site.visitor().get(page.response.url.path)).text


async def test_more_photos_than_a_report_holds_are_named_in_spanish(site: Site) -> None:
    one = photo()
    page = await with_photos(site, *[(f"{number}.jpg", one + bytes([number])) for number in range(41)], language="es")
    assert "40.jpg no se guardó" in page.text
    assert "No se pudo guardar 1 foto." in page.text


# -- times and places


@pytest.mark.parametrize("language", ["en", "es"])
async def test_no_zone_stands_on_the_form_before_the_city_is_known(tmp_path: Path, language: str) -> None:
    async with a_household(tmp_path, cities="chino,baltimore") as home:
        transport = httpx.ASGITransport(app=build_app(home.house))
        given = {"accept-language": language, "accept": "text/html", "origin": "https://spills.example.gov"}
        async with httpx.AsyncClient(transport=transport, base_url="https://spills.example.gov", headers=given) as http:
            for address in ("/report", "/what-if", "/alerts", "/map"):
                text = read(await http.get(address)).text
                for name in ("PST", "PDT", "EST", "EDT", "Pacific", "Pacífico", "Eastern", "oriental"):
                    assert name not in text, address
            assert ("local time at the spill" if language == "en" else "hora local del lugar") in read(await http.get("/report")).text
            assert read(await http.get("/what-if")).one("known_at")["value"] == ""
            asked = read(await http.get("/what-if?city=baltimore")).text
            assert ("Eastern Time" if language == "en" else "hora oriental") in asked
            sent = read(await http.get("/what-if?city=baltimore&known_at=&low=5", follow_redirects=True))
            assert sent.one("known_at")["value"] == "2026-12-01T17:05"  # now, in Baltimore
            typed = {"description": "x", "seen": "at", "seen_on": "2026-12-01T09:30"}
            there = await http.post("/report", data={**typed, "address": "100 Light St, Baltimore, MD"})
            assert there.status_code == 303
            nowhere = read(await http.post("/report", data=typed, follow_redirects=True))
        first, second = await stored(home)
        assert first.facts["discharged_at"] == "2026-12-01T14:30:00Z"
        assert any(flag.startswith("seen_at: a local time, read as Pacific Time") for flag in second.flags)
        assert ("so a person will check the time" if language == "en" else "revisará la hora") in nowhere.text


async def test_words_about_a_time_that_cannot_be_read_are_kept_and_a_person_asks(site: Site) -> None:
    page = await report(site, **{**FILLED, "seen": "at", "seen_words": "last week"})
    [spill] = await stored(site.home)
    assert "Your words about the time are kept as you wrote them. A person reads them, and asks you if more is needed." in page.text
    assert "could not be used" not in page.text
    assert "discharged_at" not in spill.facts
    assert await site.home.events(spill.reference, TriageAsked)  # somebody is told to ask


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ({"address": "13220 Central Ave, Chino, CA"}, "We took the city from the words of the address."),
        ({"address": "behind the market"}, ""), ({}, "You did not say where it is."),
        ({"lat": "34", "address": "Chino, CA"}, "The map position could not be used."), ({"lat": "x", "lon": "y"}, "The map position"),
        ({"lat": "200", "lon": "200"}, "The map position could not be used."),
    ],
)  # fmt: skip
async def test_a_map_position_is_told_of_only_where_one_was_given(site: Site, place: dict[str, str], says: str) -> None:
    page = await report(site, description="Oil", **place)
    assert says in page.text
    assert ("The map position could not be used" in page.text) is ("lat" in place)


# -- hostile texts

HOSTILE = {
    "path": "../../etc/passwd", "windows-path": "..\\..\\win.ini", "template": "{{ 7*7 }}{% include 'base.html' %}${7*7}#{7*7}<%= 7 %>",
    "surrogate": "\ud800\udc00\udfff", "crlf": "a\r\nSet-Cookie: x=1\r\n\r\nb", "header": "x\r\nBcc: all@example.com", "null": "a\x00b",
    "bidi": "\u202etxt.exe\u2066", "percent": "%s%n%(name)s%00%ff", "sql": "'; DROP TABLE spill; --", "long": "a" * 20_001,
}  # fmt: skip
BYTES = [b"\xff\xfe\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"]
FIELDS = (
    "once", "description", "material", "address", "lat", "lon", "seen", "seen_chosen_at", "seen_on", "seen_words", "amount_like", "amount",
    "unit", "reached", "share_location", "privacy", "name", "phone", "email", "language", "more_remarks", "proof", "another",
)  # fmt: skip


async def send_hostile(site: Site, **sent: Any) -> str:
    """Send a form. It is kept, or refused in words: never a fault of ours. Returns where it led, if it was kept."""
    before = len(await stored(site.home))
    answer = await site.visitor().http.post("/report", **sent)
    assert answer.status_code in (303, 400, 409, 413, 422), answer.text
    assert "x" not in answer.cookies
    assert len(await stored(site.home)) == before + (answer.status_code == 303)
    return str(answer.headers.get("location", "")).partition("?")[0]


async def pages_hold(site: Site, path: str) -> None:
    """Whoever reported and staff can read the last report, and take its record."""
    staff, reference = await site.staff("manager", None), (await stored(site.home))[-1].reference
    for visitor, address in ((site.visitor(), path), (staff, f"/staff/spills/{reference}"), (staff, "/staff")):
        page = await visitor.get(address)
        assert page.status == 200
        assert "49<" not in page.response.text  # nobody has worked out 7*7
    assert (await site.visitor().http.post(f"{path}/copy", follow_redirects=True)).status_code == 200


@pytest.mark.parametrize("kind", sorted(HOSTILE))
async def test_hostile_text_in_every_field_is_kept_or_refused_in_words(site: Site, kind: str) -> None:
    encoded = HOSTILE[kind].encode("utf-8", "surrogatepass")
    assert await send_hostile(site, data=dict.fromkeys(FIELDS, encoded))
    parts: list[Any] = [(name, (None, encoded)) for name in FIELDS]
    name = HOSTILE[kind][:200].encode("utf-8", "replace").decode()
    path = await send_hostile(site, files=[*parts, ("photos", (name, photo()))])
    assert path
    await pages_hold(site, path)


@pytest.mark.parametrize("content", BYTES)
async def test_bytes_that_are_no_text_are_kept_or_refused_in_every_field(site: Site, content: bytes) -> None:
    path = ""
    for name in FIELDS:
        typed = {"description": b"Oil", name: content}
        path = await send_hostile(site, data=typed)
        path = await send_hostile(site, files=[(key, (None, value)) for key, value in typed.items()]) or path
    await pages_hold(site, path)
