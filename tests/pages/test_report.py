"""The public form and the reporter's page, without JavaScript."""

from typing import Any

import pytest
from sqlalchemy import func, select

from service.events import ReportReceived
from service.pages import public
from service.tables import EventRow, Spill
from service.transaction import reading
from tests.houses import Household
from tests.pages.conftest import Site
from tests.pages.markup import Page, body, read, sent_by
from tests.pictures import photo

FILLED: dict[str, Any] = {
    "description": "Gray water comes out of a manhole.", "material": "sewage", "address": "13220 Central Ave", "lat": "34.01",
    "lon": "-117.69", "seen": "hour", "amount": "1,500", "unit": "gal", "reached": ["storm_drain", "street"],
    "name": "Ana Ruiz", "email": "ana@example.com",
    "phone": "909 555 0155", "privacy": "confidential",
}  # fmt: skip


async def stored(home: Household) -> list[Spill]:
    async with reading(home.house) as tx:
        return list((await tx.session.execute(select(Spill).order_by(Spill.id))).scalars())  # type: ignore[arg-type]


async def report(site: Site, **filled: Any) -> Page:
    visitor = site.visitor()
    return await visitor.send(await visitor.get("/report"), "/report", **filled)


async def test_a_filled_form_becomes_a_report_with_its_own_page(site: Site) -> None:
    page = await report(site, **FILLED)
    [spill] = await stored(site.home)
    assert page.response.url.path == await site.link("status", spill.reference)
    assert spill.reference in page.text
    assert spill.city == "chino"
    assert spill.facts["volume"] == {"quantity": 1500.0, "unit": "gal"}
    assert spill.facts["reached"] == ["storm_drain", "street"]
    assert spill.facts["discharged_at"] == "2026-12-01T21:05:00Z"
    assert spill.reporter == {"name": "Ana Ruiz", "email": "ana@example.com", "phone": "909 555 0155", "privacy": "confidential"}
    assert spill.flags == []


async def test_the_reporters_page_tells_what_was_understood_and_what_happens_next(site: Site) -> None:
    page = await report(site, **FILLED)
    for words in ("Sewage or toilet water", "1,500 gallons", "13220 Central Ave", "A storm drain; The street", "City of Chino, California"):
        assert words in page.text
    assert "The people on duty for the City of Chino, California were alerted" in page.text
    assert "0 of 10 legal duties are done." in page.text
    assert "Gray water comes out of a manhole." in page.text
    assert "Dec 1, 2026, 1:05 PM PST" in page.text


async def test_the_reporters_page_brings_news_and_names_nobody(site: Site) -> None:
    page = await report(site, **FILLED)
    [spill] = await stored(site.home)
    await site.home.name_discharger(spill.reference, "Golden Wok LLC", "owner@goldenwok.example")
    await site.home.acknowledge(spill.reference, "chino/rwqcb-2-hours")
    await site.home.happened(spill.reference, "notice_given", recipient="rwqcb-santa-ana", method="telephone")
    page = await site.visitor().get(page.response.url.path)
    for words in (
        "A person on duty has seen it.",
        "An authority was told about the spill.",
        "It is known who is responsible",
        "2 of 10 legal duties",
    ):
        assert words in page.text
    for secret in ("Golden Wok", "goldenwok", "officer@", "Omar Reyes", "ana@example.com", "Ana Ruiz", "555 0155"):
        assert secret not in page.response.text


async def test_only_an_entirely_empty_form_comes_back(site: Site) -> None:
    page = await report(site)
    assert page.status == 422
    assert "The form is still empty" in page.text
    assert await stored(site.home) == []


@pytest.mark.parametrize(
    "typed",
    [
        {"description": "?"},
        {"address": "x"},
        {"lat": "34"},
        {"material": "unknown"},
        {"amount": "0"},
        {"reached": ["land"]},
        {"email": "a"},
    ],
)
async def test_any_one_thing_is_enough_for_a_report(site: Site, typed: dict[str, Any]) -> None:
    page = await report(site, **typed)
    assert page.status == 200
    assert len(await stored(site.home)) == 1


async def test_odd_answers_are_kept_and_told_in_plain_words(site: Site) -> None:
    page = await report(site, amount="about a lot", lat="34.01", lon="117.69", seen="at", seen_on="whenever it was")
    [spill] = await stored(site.home)
    assert page.status == 200
    assert spill.city == "chino"
    for words in (
        "We could not tell how much was spilled",
        "The map position looked wrong",
        "Your words about the time are kept as you wrote them.",
        "You did not describe it",
    ):
        assert words in page.text
    assert "minus sign" not in page.text
    raw = await raw_of(site, spill)
    assert raw["volume"] == {"quantity": "about a lot", "unit": "gal"}
    assert raw["seen_at"] == "whenever it was"


async def raw_of(site: Site, spill: Spill) -> dict[str, Any]:
    [received] = await site.home.events(spill.reference, ReportReceived)
    assert isinstance(received.raw, dict)
    return received.raw


async def test_an_amount_and_a_time_in_words_are_read_and_said_to_be(site: Site) -> None:
    page = await report(site, **{**FILLED, "amount": "two buckets", "seen": "at", "seen_words": "yesterday evening"})
    [spill] = await stored(site.home)
    assert spill.facts["volume"] == {"low": 4, "high": 10, "unit": "gal"}
    assert spill.facts["discharged_at"] == "2026-12-01T01:00:00Z"
    assert spill.flags == [
        "volume: in words, 'two buckets' was read as 4 to 10 gal (bucket: 2 to 5 gal each)",
        "seen_at: in words, 'yesterday evening' was read as Mon Nov 30, 5:00 PM PST to Mon Nov 30, 10:00 PM PST; the earlier counts",
    ]
    assert "We read the amount from your words" in page.text
    assert "We read the time from your words" in page.text
    assert not await site.home.messages(spill.reference, step="triage")  # words are nothing odd: nobody is woken for them


async def test_spanish_words_are_read_on_the_spanish_form(site: Site) -> None:
    visitor = site.visitor(accept_language="es")
    typed = {**FILLED, "amount": "unas 20 cubetas", "seen": "at", "seen_words": "ayer por la tarde"}
    page = await visitor.send(await visitor.get("/report"), "/report", **typed)
    [spill] = await stored(site.home)
    assert spill.facts["volume"] == {"low": 40, "high": 100, "unit": "gal"}
    assert spill.facts["discharged_at"] == "2026-11-30T20:00:00Z"
    assert "Leímos la cantidad de sus palabras" in page.text
    assert "40 a 100 galones" in page.text


@pytest.mark.parametrize(
    ("like", "volume"),
    [
        ("bucket", {"low": 2, "high": 5, "unit": "gal"}), ("bathtub", {"low": 36, "high": 70, "unit": "gal"}),
        ("pickup", {"low": 370, "high": 600, "unit": "gal"}), ("pool", {"low": 5000, "high": 30000, "unit": "gal"}),
        ("more", None), ("unknown", None), ("nonsense", None),
    ],
)  # fmt: skip
async def test_one_tap_says_how_much_it_is(site: Site, like: str, volume: dict[str, Any] | None) -> None:
    await report(site, description="x", amount_like=like)
    [spill] = await stored(site.home)
    assert spill.facts.get("volume") == volume


async def test_a_typed_amount_counts_before_a_tapped_one_where_it_is_one(site: Site) -> None:
    await report(site, amount="20", amount_like="pool")
    await report(site, amount="a lot", amount_like="bathtub")
    first, second = await stored(site.home)
    assert first.facts["volume"] == {"quantity": 20, "unit": "gal"}
    assert second.facts["volume"] == {"low": 36, "high": 70, "unit": "gal"}
    assert (await raw_of(site, second))["said"] == {"amount": "a lot"}


async def test_an_hour_that_comes_twice_is_kept_as_the_earlier_one_and_told(site: Site) -> None:
    site.home.clock.jump(days=-29)
    page = await report(site, description="x", seen="at", seen_on="2026-11-01T01:30")
    [spill] = await stored(site.home)
    assert spill.facts["discharged_at"] == "2026-11-01T08:30:00Z"
    assert "seen_at: the clocks are changed in that hour; the earlier reading counts" in spill.flags
    assert "The clocks were changed in that hour." in page.text


@pytest.mark.parametrize(
    ("chosen", "discharged_at"),
    [
        ("2026-12-01T20:00:00Z", "2026-12-01T20:00:00Z"), ("2026-11-01T20:00:00Z", "2026-12-01T22:05:00Z"),
        ("2027-01-01T00:00:00Z", "2026-12-01T22:05:00Z"), ("soon", "2026-12-01T22:05:00Z"), ("2026-12-01T20:00:00", "2026-12-01T22:05:00Z"),
    ],
)  # fmt: skip
async def test_a_report_that_waited_for_signal_tells_when_just_now_was(site: Site, chosen: str, discharged_at: str) -> None:
    await report(site, description="x", seen="now", seen_chosen_at=chosen)
    [spill] = await stored(site.home)
    assert spill.facts["discharged_at"] == discharged_at


async def test_a_place_outside_every_city_is_kept_and_goes_to_a_person(site: Site) -> None:
    page = await report(site, description="Oil", lat="35.6", lon="-115.4")
    assert page.status == 200
    assert "A person looks at your report now" in page.text
    assert "outside the cities served here" in page.text
    assert await site.home.messages(None, step="triage")


async def test_a_typed_date_and_time_is_local_to_the_city(site: Site) -> None:
    await report(site, description="x", seen="at", seen_on="2026-12-01T09:30")
    [spill] = await stored(site.home)
    assert spill.facts["discharged_at"] == "2026-12-01T17:30:00Z"


async def test_two_taps_make_one_report(site: Site) -> None:
    visitor = site.visitor()
    form = await visitor.get("/report")
    first = await visitor.send(form, "/report", **FILLED)
    site.home.clock.jump(minutes=3)
    second = await visitor.send(form, "/report", **FILLED)
    assert first.response.url.path == second.response.url.path
    assert "You sent this already" not in first.text
    assert "It is kept once, as SP-2026-00001. This is its page." in second.text
    assert len(await stored(site.home)) == 1


async def test_going_back_and_changing_the_form_makes_a_second_report(site: Site) -> None:
    visitor = site.visitor()
    form = await visitor.get("/report")
    await visitor.send(form, "/report", **FILLED)
    await visitor.send(form, "/report", **{**FILLED, "amount": "2,000"})
    assert [spill.facts["volume"]["quantity"] for spill in await stored(site.home)] == [1500.0, 2000.0]


async def test_a_form_left_open_overnight_counts_just_now_from_the_sending(site: Site) -> None:
    visitor = site.visitor()
    form = await visitor.get("/report")
    site.home.clock.jump(hours=9)
    await visitor.send(form, "/report", description="x", seen="now")
    [spill] = await stored(site.home)
    assert spill.facts["discharged_at"] == "2026-12-02T07:05:00Z"


async def test_an_anonymous_report_keeps_nothing_about_the_person(site: Site) -> None:
    page = await report(site, **{**FILLED, "privacy": "anonymous"})
    [spill] = await stored(site.home)
    assert spill.reporter == {"privacy": "anonymous"}
    async with reading(site.home.house) as tx:
        rows = (await tx.session.execute(select(EventRow))).scalars().all()
    assert not any("ana@example.com" in str(row.payload) or "Ana Ruiz" in str(row.payload) for row in rows)
    assert "Anonymous." in page.text


async def test_a_report_that_cannot_be_kept_comes_back_with_everything_typed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(public, "take_in", broken)
    page = await report(site, **FILLED)
    assert page.status == 503
    assert "Your report could not be kept yet" in page.text
    assert "disk" not in page.text
    monkeypatch.undo()
    visitor = site.visitor()
    again = await visitor.send(page, "/report")
    assert again.status == 200
    [spill] = await stored(site.home)
    assert spill.description == FILLED["description"]
    assert spill.facts["volume"] == {"quantity": 1500.0, "unit": "gal"}
    assert spill.reporter["email"] == "ana@example.com"


async def test_the_other_language_keeps_what_is_typed_and_sends_nothing(site: Site) -> None:
    visitor = site.visitor()
    typed = {**FILLED, "amount_like": "bathtub", "seen": "at", "seen_words": "yesterday"}
    form = (await visitor.get("/report")).forms("/report")[0]
    [button] = [button for button in form.all("button") if button["name"] == "turn"]
    page = await visitor.post(button["formaction"], dict(body(sent_by(form, button["value"], **typed))))
    assert page.response.headers["content-language"] == "es"
    assert await stored(site.home) == []
    again = dict(sent_by(page.forms("/report")[0]))
    for name in ("description", "address", "amount", "name", "privacy", "amount_like", "seen_words"):
        assert again[name] == typed[name]
    assert again["language"] == "es"
    await visitor.send(page, "/report")
    [spill] = await stored(site.home)
    assert (spill.language, spill.reporter["name"]) == ("es", "Ana Ruiz")


async def test_a_report_is_kept_whatever_becomes_of_its_photos(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = site.visitor()

    async def send(*files: tuple[str, bytes]) -> Page:
        once = dict(sent_by((await visitor.get("/report")).forms("/report")[0]))["once"]
        parts = [("photos", (name, content)) for name, content in files]
        data = {"description": f"x{once}", "once": once}
        return read(await visitor.http.post("/report", data=data, files=parts, follow_redirects=True))

    good = photo()
    page = await send(("one.jpg", good), ("two.jpg", b"no picture"), ("three.exe", b"MZ"))
    assert page.status == 200
    assert "2 photos could not be kept. Your report is safe; you can add photos here." in page.text
    assert "Photo 1 of 1" in page.response.text
    assert "could not be kept" not in (await send(("one.jpg", good))).text

    async def broken(*_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(public, "keep_photos_of_report", broken)
    page = await send(("one.jpg", good))
    assert "1 photo could not be kept. Your report is safe; you can add a photo here." in page.text
    assert "disk" not in page.text
    assert len(await stored(site.home)) == 3


async def test_a_photo_alone_is_a_report(site: Site) -> None:
    answer = await site.visitor().http.post("/report", files={"photos": ("a.jpg", photo())}, follow_redirects=True)
    assert answer.status_code == 200
    assert len(await stored(site.home)) == 1


async def test_the_address_of_a_page_tells_no_nonsense_about_photos(site: Site) -> None:
    path = (await report(site, description="x")).response.url.path
    for unkept in ("", "0", "-1", "x", "1000000", "<b>"):
        assert "could not be kept" not in (await site.visitor().get(f"{path}?unkept={unkept}")).text


async def test_what_people_type_is_shown_as_text_and_never_runs(site: Site) -> None:
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7*7 }}"
    page = await report(
        site, **{**FILLED, "description": evil, "address": evil, "name": evil, "amount": evil, "seen": "at", "seen_on": evil}
    )
    assert page.status == 200
    assert evil in next(page.root.all("blockquote")).text
    staff = await site.staff("manager", None)
    [spill] = await stored(site.home)
    assert evil in (await staff.get(f"/staff/spills/{spill.reference}")).text
    assert (await staff.get("/staff")).status == 200


@pytest.mark.parametrize("text", ["\x00\x1b[31m", "\ud800", "👩‍🚒" * 500, "‮txt.exe", "a" * 200_000])
async def test_strange_letters_end_in_a_kept_report(site: Site, text: str) -> None:
    visitor = site.visitor()
    encoded = text.encode("utf-8", "surrogatepass")
    answer = await visitor.http.post("/report", data={"description": encoded, "address": encoded}, follow_redirects=True)
    assert answer.status_code == 200
    assert len(await stored(site.home)) == 1


async def test_more_than_can_be_read_is_told_in_plain_words(site: Site) -> None:
    answer = await site.visitor().post("/report", {"description": "a" * 1_100_000})
    assert answer.status == 413
    assert "That is too large" in answer.text


async def test_a_file_that_no_field_asks_for_is_left_aside_and_the_report_is_kept(site: Site) -> None:
    answer = await site.visitor().http.post("/report", files={"other": b"x"}, data={"description": "x"})
    assert answer.status_code == 303
    assert [spill.description for spill in await stored(site.home)] == ["x"]


async def test_looking_at_pages_changes_nothing(site: Site) -> None:
    page = await report(site, **FILLED)
    [spill] = await stored(site.home)
    staff = await site.staff("manager", None)

    async def events() -> int:
        async with reading(site.home.house) as tx:
            return await tx.session.scalar(select(func.count()).select_from(EventRow)) or 0

    before = await events()
    for address in ("/", "/report", page.response.url.path, await site.link("respond", spill.reference)):
        assert (await site.visitor().get(address)).status == 200
    for address in ("/staff", f"/staff/spills/{spill.reference}", f"/staff/spills/{spill.reference}/amend"):
        assert (await staff.get(address)).status == 200
    assert await events() == before


@pytest.mark.parametrize("address", ["/status/SP-2026-00001.1.wrong", "/respond/x", "/status/é", "/nothing"])
async def test_a_wrong_address_is_told_in_plain_words(site: Site, address: str) -> None:
    page = await site.visitor().get(address)
    assert page.status == 404
    assert "Nothing is here" in page.text


async def test_a_link_for_one_purpose_opens_no_other_page(site: Site) -> None:
    reference = await site.home.report({"description": "x"})
    token = (await site.link("status", reference)).removeprefix("/status/")
    assert (await site.visitor().get(f"/respond/{token}")).status == 404


async def test_the_browser_chooses_the_language_and_a_person_changes_it(site: Site) -> None:
    visitor = site.visitor(accept_language="es-MX,es;q=0.9,en;q=0.8")
    page = await visitor.get("/")
    assert "Reportar un derrame" in page.text
    assert page.response.headers["content-language"] == "es"
    assert "Report a spill" in (await visitor.get("/?lang=en")).text
    assert "Report a spill" in (await visitor.get("/")).text
    assert "Reportar un derrame" in (await visitor.get("/?lang=es")).text
    assert "Describa lo que ve" in (await visitor.get("/report")).text


@pytest.mark.parametrize(
    ("header", "language"),
    [("", "en"), ("fr", "en"), ("de, es;q=0.2", "es"), ("en;q=0.5, es;q=0.7", "es"), ("es;q=x, en", "en"), ("es;q=0", "en")],
)
async def test_accept_language_is_weighed_as_browsers_mean_it(site: Site, header: str, language: str) -> None:
    assert (await site.visitor(accept_language=header).get("/")).response.headers["content-language"] == language


async def test_a_spanish_reporter_gets_a_spanish_page(site: Site) -> None:
    visitor = site.visitor(accept_language="es")
    page = await visitor.send(await visitor.get("/report"), "/report", **FILLED)
    for words in (
        "Gracias. Su reporte está guardado.",
        "1,500 galones",
        "Aguas negras",
        "Están cumplidas 0 de 10 obligaciones legales.",
        "1 dic 2026, 2:05 p.m. PST",
    ):
        assert words in page.text
    [spill] = await stored(site.home)
    assert spill.language == "es"


async def test_a_form_from_another_site_is_refused(site: Site) -> None:
    answer = await site.visitor(origin="https://evil.example").http.post("/report", data={"description": "x"})
    assert answer.status_code == 403
    assert await stored(site.home) == []
