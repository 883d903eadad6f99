"""The seal of a city: a picture that the operator lays into the data folder, and the frame of the pages that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response

from service.errors import NotKnown
from service.transaction import House

router = APIRouter(include_in_schema=False)

_TYPES = {"svg": "image/svg+xml", "png": "image/png"}
# A seal is an ornament: a heavier file would make every page slow on a phone, and is taken for a mistake.
LARGEST_SEAL_BYTES = 60_000
# An SVG that is opened by itself could run what is written in it. This lets it draw and do nothing else.
_ONLY_DRAWS = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'"


@dataclass(frozen=True, slots=True)
class Frame:
    """The head and foot of a page: its city's full name, the address of the seal, whose official site it is. Each may be empty."""

    city: str
    seal: str
    official: str


def frame_of(house: House, city: str | None) -> Frame:
    """The frame of a page about this city. Where no city is meant and one alone is served, it is that one."""
    shown = city if city in house.rulebook.cities else house.cities[0] if len(house.cities) == 1 else None
    if shown is None:
        return Frame("", "", house.settings.official_name)
    seal = _seal_file(house, shown)
    address = f"/seals/{shown}?v={seal.stat().st_mtime_ns:x}" if seal else ""
    return Frame(house.rulebook.law_of(shown).city.title, address, house.settings.official_name)


def seal_of(house: House, city: str | None) -> bytes | None:
    """The picture itself, an SVG or a PNG, for papers; None where a city has none."""
    path = _seal_file(house, city) if city in house.rulebook.cities else None
    return path.read_bytes() if path else None


def _seal_file(house: House, city: str) -> Path | None:
    """The file of a seal: seals/CITY.svg, or .png, in the data folder. None where there is none, or one too heavy to be shown."""
    for ending in _TYPES:
        path = house.settings.home_dir / "seals" / f"{city}.{ending}"
        if path.is_file() and path.stat().st_size <= LARGEST_SEAL_BYTES:
            return path
    return None


@router.get("/seals/{city}")
async def seal(request: Request, city: str) -> Response:
    """The picture, with the type of its ending whatever is in it. 404 where the city is not known or has none."""
    house: House = request.app.state.house
    path = _seal_file(house, city) if city in house.rulebook.cities else None
    if path is None:
        raise NotKnown("no seal lies here")
    headers = {"Content-Security-Policy": _ONLY_DRAWS, "Cache-Control": "public, max-age=86400"}
    return FileResponse(path, media_type=_TYPES[path.suffix.removeprefix(".")], headers=headers)
