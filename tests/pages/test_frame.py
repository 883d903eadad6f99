"""The frame of every page: the city's name and seal, and how little has to be loaded before it can be read."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from service.app import build_app
from service.pages.seals import LARGEST_SEAL_BYTES
from tests.houses import a_household
from tests.pages.conftest import Site
from tests.pages.markup import Page
from tests.spills import a_report

SEAL = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><circle r="9"/></svg>'
BUDGET_BYTES = 200_000


def lay(site: Site, name: str, content: bytes = SEAL) -> None:
    """Lay a file into the folder of seals."""
    folder = site.home.house.settings.home_dir / "seals"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)


def head(page: Page) -> str:
    """What the head of a page says."""
    return next(page.root.all("header")).text


async def test_a_page_about_a_spill_shows_its_city_and_the_first_page_of_several_cities_none(site: Site) -> None:
    visitor = site.visitor()
    assert head(await visitor.get("/")) == "Spillclock Spill reports Español"
    status = await visitor.get(await site.link("status", await site.home.report(a_report())))
    assert "City of Chino, California Spill reports" in head(status)


async def test_where_one_city_is_served_every_page_shows_it_and_whose_site_it_is(tmp_path: Path) -> None:
    async with a_household(tmp_path, cities="ontario", official_name="City of Ontario") as home:
        one = Site(home, httpx.ASGITransport(app=build_app(home.house)))
        page = await one.visitor().get("/report")
        assert "City of Ontario, California" in head(page)
        assert "An official website of City of Ontario." in page.text
        assert "Sitio web oficial de City of Ontario." in (await one.visitor(accept_language="es").get("/report")).text
        for visitor in one.visitors:
            await visitor.http.aclose()


async def test_nobody_is_official_until_somebody_said_so(site: Site) -> None:
    page = await site.visitor().get("/report")
    assert "official" not in page.text
    assert "This site never asks you for money or a card number." in page.text


async def test_a_seal_is_shown_in_the_head_and_can_do_nothing_but_draw(site: Site) -> None:
    lay(site, "chino.svg")
    page = await site.visitor().get(await site.link("status", await site.home.report(a_report())))
    [image] = next(page.root.all("header")).all("img")
    answer = await site.visitor().http.get(image["src"])
    assert (answer.status_code, answer.content) == (200, SEAL)
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("city", ["ontario", "atlantis", "..%2Fspillclock", "chino.svg"])
async def test_a_seal_that_does_not_lie_there_is_not_found(site: Site, city: str) -> None:
    lay(site, "chino.svg")
    assert (await site.visitor().http.get(f"/seals/{city}")).status_code == 404


async def test_a_seal_too_heavy_for_a_phone_is_left_out(site: Site) -> None:
    lay(site, "chino.png", b"x" * (LARGEST_SEAL_BYTES + 1))
    page = await site.visitor().get(await site.link("status", await site.home.report(a_report())))
    assert not list(next(page.root.all("header")).all("img"))


async def loaded_first(visitor: httpx.AsyncClient, path: str) -> dict[str, bytes]:
    """Everything that a browser loads to show a page: itself, its styles, scripts and signs, and the fonts and signs of its styles."""
    page = (await visitor.get(path, headers={"accept-encoding": "identity"})).content
    found = {path: page}
    for address in re.findall(rb'(?:href|src)="(/static/[^"]+)"', page):
        found[address.decode()] = (await visitor.get(address.decode())).content
    for name in {*re.findall(r"url\(\"?((?:fonts|img)/[^\")]+)", found_style(found))}:
        found[name] = (await visitor.get(f"/static/{name}")).content
    return found


def found_style(found: dict[str, bytes]) -> str:
    """The style sheet among what was loaded."""
    return next(content.decode() for name, content in found.items() if "spillclock.css" in name)


@pytest.mark.parametrize("path", ["/", "/report", "/alerts"])
async def test_the_first_visit_loads_less_than_two_hundred_kilobytes(site: Site, path: str) -> None:
    loaded = await loaded_first(site.visitor().http, path)
    assert any(name.endswith(".woff2") for name in loaded)
    weight = {name: len(content) for name, content in loaded.items()}
    assert sum(weight.values()) < BUDGET_BYTES, weight


async def test_static_files_travel_packed_and_pages_with_secrets_do_not(site: Site) -> None:
    http = site.visitor().http
    sheet = next(re.finditer(r'href="(/static/spillclock\.css[^"]+)"', (await http.get("/")).text))[1]
    packed = await http.get(sheet, headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["etag"]
    assert packed.num_bytes_downloaded < len(packed.content) / 3
    for path in ("/report", await site.link("status", await site.home.report(a_report()))):
        assert "content-encoding" not in (await http.get(path, headers={"accept-encoding": "gzip"})).headers
    font = await http.get("/static/fonts/sourcesanspro-regular-webfont.woff2", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in font.headers
    assert font.headers["content-type"] == "font/woff2"
