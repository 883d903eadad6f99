"""Turns a template and what it is given into a page: language, headers, and what every page shows."""

from __future__ import annotations

import hashlib
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.background import BackgroundTask

from deadlines import Rule
from service.image_reading import MOST_PIXELS
from service.pages import words
from service.pages.fields import Fields
from service.pages.seals import frame_of
from service.pages.speech import COOKIE, LANGUAGES, Speech, chosen_language, local_input, speech, utc_mark
from service.tables import Spill
from service.transaction import House
from service.wiring import stands_in

_YEAR_SECONDS = 365 * 86400


def house_of(request: Request) -> House:
    """The house this application stands over."""
    house: House = request.app.state.house
    return house


def zone_of(house: House, city: str | None) -> ZoneInfo:
    """The zone of a city; without one, of the first city served."""
    return house.rulebook.zones[city or house.first_city]


def sure_zone(house: House, city: str | None, now: datetime) -> ZoneInfo | None:
    """The zone that a local time typed on a form is in: that of the city, or one that all cities served share; None where that is open."""
    zones = [house.rulebook.zones[city]] if city else [house.rulebook.zones[one] for one in house.cities]
    return zones[0] if len({now.astimezone(zone).utcoffset() for zone in zones}) == 1 else None


def city_name(house: House, city: str) -> str:
    """The full name of a city: City of Chino, California."""
    return house.rulebook.law_of(city).city.title


def rule_of(house: House, duty: str) -> Rule | None:
    """The latest version of a duty's rule as the packs have it today, or None where they no longer hold it."""
    try:
        return house.rulebook.rules(duty)[1][-1]
    except KeyError:
        return None


def where_of(spill: Spill) -> str:
    """The place of a spill in words or numbers, or nothing."""
    if spill.address:
        return spill.address
    return f"{spill.lat:.5f}, {spill.lon:.5f}" if spill.lat is not None and spill.lon is not None else ""


@cache
def environment(language: str) -> Environment:
    """The templates, speaking one language. A name that a template is not given is an error, not an empty text."""
    loader = FileSystemLoader(str(files("service") / "templates"))
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, extensions=["jinja2.ext.i18n"], trim_blocks=True, lstrip_blocks=True
    )
    spoken = speech(language)
    made.install_gettext_callables(spoken.translations.gettext, spoken.translations.ngettext, newstyle=True)  # type: ignore[attr-defined]
    made.policies["ext.i18n.trimmed"] = True
    made.globals.update(
        speech=spoken, words=words, languages=LANGUAGES, static=_static, city_name=city_name, where_of=where_of, utc=utc_mark,
        local_input=local_input, no_fields=Fields(),
        most_pixels=MOST_PIXELS,
    )  # fmt: skip
    made.filters["plain"] = words.plain
    return made


@cache
def _static(name: str) -> str:
    """The address of a file of ours; it changes with the file, so that no browser keeps an old one."""
    path = Path(str(files("service") / "static" / name))
    return f"/static/{name}?v={hashlib.sha256(path.read_bytes()).hexdigest()[:10]}"


def page(
    request: Request, template: str, status: int = 200, *, language: str | None = None, after: BackgroundTask | None = None, **given: Any
) -> HTMLResponse:
    """A page in the language of the request, or in the one it is always in. `after` runs once the page is sent."""
    chosen = language or chosen_language(request)
    house = house_of(request)
    shared = {
        "path": request.url.path, "kept": "", "house": house, "now": house.now(), "speaks_both": language is None, "banner": (),
        "staff": None, "down": (), "frame": frame_of(house, _city_meant(given)),
    }  # fmt: skip
    text = environment(chosen).get_template(template).render({**shared, **given})
    headers = {"Content-Language": chosen, "Vary": "Accept-Language, Cookie", "Cache-Control": "no-store"}
    response = HTMLResponse(text, status, headers, background=after)
    asked = request.query_params.get("lang")
    if language is None and asked in LANGUAGES:
        response.set_cookie(COOKIE, str(asked), max_age=_YEAR_SECONDS, samesite="lax", httponly=True, secure=is_secure(house))
    return response


def _city_meant(given: dict[str, Any]) -> str | None:
    """The city of the spill that a page is about, if it is about one."""
    spill = given.get("spill") or getattr(given.get("alert"), "spill", None)
    return getattr(spill, "city", None)


def is_secure(house: House) -> bool:
    """Whether people reach the pages over https, so that cookies must never travel in the clear."""
    return house.settings.public_url.startswith("https:")


def staff_page(request: Request, template: str, status: int = 200, **given: Any) -> HTMLResponse:
    """A page of the console, which speaks English and says when messages go to a file, or a provider takes nothing."""
    down = getattr(request.state, "down", ())
    return page(request, template, status, language="en", banner=stands_in(house_of(request).settings), down=down, **given)


def spoken(request: Request) -> Speech:
    """The speech of a request."""
    return speech(chosen_language(request))


def now_of(request: Request) -> datetime:
    """The present instant, as the house tells it."""
    return house_of(request).now()
