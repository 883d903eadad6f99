"""The board as a map, drawn here: it needs no script and asks nothing of any other site. What is in its frame is listed below it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from deadlines import Places
from deadlines.outlines import outline_of
from service.board import conditions, found, in_charge
from service.board_map import AROUND_METRES, Box, Square, box_said, cities_of, extent, inside, is_smallest, read_box, shaped, squares
from service.pages import board_query
from service.pages.board import choices
from service.pages.board_rows import WORDS, row_of
from service.pages.entrance import StaffRoute, signed_in
from service.pages.rendering import city_name, house_of, staff_page
from service.pages.speech import ENGLISH
from service.transaction import House, reading

router = APIRouter(prefix="/staff", include_in_schema=False, route_class=StaffRoute)
# The picture, in its own units. A square is a finger's width on a desk, and still a target (24 px) at 360 px.
COLUMNS, ROWS, SQUARE = 12, 7, 70
WIDTH, HEIGHT = COLUMNS * SQUARE, ROWS * SQUARE
_A_PAGE = 25
_OUTLINE_METRES = 40.0
# How far a step goes, as a part of what is shown.
_STEP = 0.5
_CLOSER, _FARTHER = 0.5, 2.0
_SOMEWHERE: Box = (-125.0, 24.0, -66.0, 50.0)


@router.get("/map")
async def map_page(request: Request) -> Response:
    """The spills that are asked for, where they lie."""
    staff = await signed_in(request)
    house = house_of(request)
    asked = board_query.read(house, staff, request.query_params)
    async with reading(house) as tx:
        narrowed = conditions(tx, staff, asked.wanted)
        whole = await extent(tx, narrowed)
        chosen = read_box(request.query_params.get("box", ""))
        around = _around(house, whole, await cities_of(tx, narrowed) or ([asked.wanted.city] if asked.wanted.city else house.cities))
        box = shaped(chosen or around, WIDTH, HEIGHT, 0.0 if chosen else AROUND_METRES)
        signs = await squares(tx, narrowed, box, COLUMNS, ROWS) if whole else []
        part = await found(tx, [*narrowed, *inside(box)], _A_PAGE, after=asked.places["after"], before=asked.places["before"])
        officers = await in_charge(tx, staff)
        now = tx.now
    here = {"box": box_said(box)} if chosen else {}
    return staff_page(
        request, "board_map.html", staff=staff, asked=asked, fields=asked.fields, choices=choices(house, staff), officers=officers,
        signs=[_sign(house, asked, box, one, now) for one in signs], outlines=_outlines_in(house, box), width=WIDTH, height=HEIGHT,
        total=sum(one.many for one in signs), steps=_steps(asked, box), whole=asked.at("/staff/map") if chosen else "",
        rows=[row_of(house, line, now) for line in part.lines], box=here.get("box", ""),
        earlier=asked.at("/staff/map", **here, before=part.earlier) if part.earlier else "",
        later=asked.at("/staff/map", **here, after=part.later) if part.later else "",
    )  # fmt: skip


def _around(house: House, spills: Box | None, cities: Iterable[str]) -> Box:
    """The box around spills and the whole of their cities; somewhere, where there are no spills and no city has a boundary."""
    boxes = [(box[0], box[2], box[1], box[3]) for one in cities if (box := house.places.box_of(one)) is not None]
    boxes += [spills] if spills else []
    if not boxes:
        return _SOMEWHERE
    return (min(box[0] for box in boxes), min(box[1] for box in boxes), max(box[2] for box in boxes), max(box[3] for box in boxes))


def _sign(house: House, asked: board_query.Asked, box: Box, square: Square, now: Any) -> dict[str, Any]:
    """One sign: where it is drawn, what it says, and where it leads: to the spill, nearer, or to the list of what lies there."""
    west, south, east, north = box
    # Never nearer to an edge of its square than it is wide: no two signs lie over each other.
    x = min(max((square.lon - west) / (east - west) * WIDTH, (square.column + 0.4) * SQUARE), (square.column + 0.6) * SQUARE)
    y = min(max((north - square.lat) / (north - south) * HEIGHT, (square.row + 0.4) * SQUARE), (square.row + 0.6) * SQUARE)
    if square.line is not None:
        row = row_of(house, square.line, now)
        says = ", ".join(part for part in (row["word"], square.line.reference, row["what"], row["left"], square.line.place) if part)
        return {"x": x, "y": y, "state": row["state"], "number": "", "says": says, "href": f"/staff/spills/{square.line.reference}"}
    state = "overdue" if square.overdue else "running" if square.to_do else "waiting" if square.unassigned else "met"
    counts = [
        f"{ENGLISH.number(number)} {words}"
        for number, words in ((square.overdue, WORDS["overdue"].lower()), (square.to_do, WORDS["running"].lower()))
        if number
    ]
    says = f"{ENGLISH.number(square.many)} spills here{': ' if counts else ''}{', '.join(counts)}"
    width, height = (east - west) / COLUMNS, (north - south) / ROWS
    nearer = (
        west + square.column * width, north - (square.row + 1) * height, west + (square.column + 1) * width, north - square.row * height,
    )  # fmt: skip
    href = asked.at("/staff/map", box=box_said(shaped(nearer, WIDTH, HEIGHT, 0.0)))
    return {
        "x": x, "y": y, "state": state, "number": _short(square.many), "says": says, "href": f"{href}#spills" if is_smallest(box) else href,
    }  # fmt: skip


def _short(number: int) -> str:
    return str(number) if number < 1000 else f"{number // 1000}k"


def _steps(asked: board_query.Asked, box: Box) -> list[tuple[str, str]]:
    """The ways to move the frame, each with its address."""
    west, south, east, north = box
    across, up = (east - west) * _STEP, (north - south) * _STEP
    lon, lat = (west + east) / 2, (south + north) / 2

    def scaled(by: float) -> Box:
        return (lon - across * by, lat - up * by, lon + across * by, lat + up * by)

    def moved(columns: int, rows: int) -> Box:
        return (west + columns * across, south + rows * up, east + columns * across, north + rows * up)

    ways = {
        "Nearer": scaled(_CLOSER), "Farther": scaled(_FARTHER), "North": moved(0, 1), "South": moved(0, -1), "West": moved(-1, 0),
        "East": moved(1, 0),
    }  # fmt: skip
    if is_smallest(box):
        del ways["Nearer"]
    return [(name, asked.at("/staff/map", box=box_said(one))) for name, one in ways.items() if read_box(box_said(one)) is not None]


def _outlines_in(house: House, box: Box) -> list[dict[str, Any]]:
    """The boundaries of cities in the frame: as a path of the picture, with the name and where it stands."""
    west, south, east, north = box
    found = []
    for city in house.cities:
        around = house.places.box_of(city)
        if around is None or around[0] > east or around[1] < west or around[2] > north or around[3] < south:
            continue

        def at(lon: float, lat: float) -> tuple[float, float]:
            return (lon - west) / (east - west) * WIDTH, (north - lat) / (north - south) * HEIGHT

        rings = [ring for part in _outline(house.places, city) for ring in part]
        path = " ".join("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in (at(*point) for point in ring)) + "Z" for ring in rings)
        x, y = at((around[0] + around[1]) / 2, (around[2] + around[3]) / 2)
        is_readable = (around[1] - around[0]) / (east - west) * WIDTH > SQUARE and 0 < x < WIDTH and 0 < y < HEIGHT
        found.append({"path": path, "name": city_name(house, city).partition(",")[0] if is_readable else "", "x": x, "y": y})
    return found


@lru_cache(maxsize=64)
def _outline(places: Places, city: str) -> list[list[list[tuple[float, float]]]]:
    return outline_of(places, city, _OUTLINE_METRES)
