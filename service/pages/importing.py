"""The page on which administrators take in their city's own sheet of earlier spills: looked at and tried first, then kept."""

from __future__ import annotations

import asyncio
import base64
import binascii
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence

from fastapi import APIRouter, Request
from fastapi.responses import Response

from service.access import Staff
from service.accounts import require_administrator
from service.errors import BadInput
from service.importing import Import, Row, take_in_rows
from service.incoming_bodies import Upload, read_form
from service.pages.entrance import StaffRoute, signed_in
from service.pages.rendering import city_name, house_of, staff_page, zone_of
from service.sheets import FIELDS, Sheet, checked_mapping, guessed, read_sheet

router = APIRouter(prefix="/staff/settings/import", include_in_schema=False, route_class=StaffRoute)
# More are for the command, which nobody waits for in front of a page.
MOST_ROWS = 500
# The sheet goes along with the page from its trial to the end, so that what was tried is what is kept; so large at most, packed.
_LARGEST_PACKED = 180_000
_LARGEST = 3_000_000


@router.get("")
async def import_page(request: Request) -> Response:
    """The form."""
    return _page(request, await _administrator(request))


def _page(
    request: Request, staff: Staff, *, faults: Sequence[str] = (), status: int = 200, sheet: Sheet | None = None,
    mapping: Mapping[str, str] | None = None, rows: Sequence[Row] = (), packed: str = "", city: str = "", name: str = "",
    kept: bool = False, alerts: bool = False,
) -> Response:  # fmt: skip
    house = house_of(request)
    return staff_page(
        request, "import.html", status, staff=staff, zone=zone_of(house, staff.city), faults=faults, sheet=sheet, mapping=mapping or {},
        rows=rows, packed=packed, city=city, name=name, kept=kept, fields=FIELDS, most=MOST_ROWS, alerts=alerts,
        cities={one: city_name(house, one) for one in house.cities if staff.may("administrator", one)},
        counted=Counter(row.outcome for row in rows),
    )  # fmt: skip


@router.post("")
async def import_sheet(request: Request) -> Response:
    """Try a sheet, or keep it, by the button that was pressed."""
    staff = await _administrator(request)
    house = house_of(request)
    texts, files = await read_form(request)
    given = {key: values[-1] for key, values in texts.items()}
    city, name, packed = given.get("city", ""), given.get("name", "")[:200], given.get("sheet", "")
    keeps, alerts = given.get("do") == "keep", given.get("alerts") == "yes"
    try:
        content, name, packed = await asyncio.to_thread(_content, files.get("file", []), packed, name)
        sheet = await asyncio.to_thread(read_sheet, content)
        if len(sheet.rows) > MOST_ROWS:
            right = f"right would be: at most {MOST_ROWS} here; for more, spillclock import on the server"
            raise BadInput("too many rows", [f"file: {len(sheet.rows):,} rows; {right}"])
        chosen = {key.removeprefix("map."): value for key, value in given.items() if key.startswith("map.")}
        mapping = checked_mapping(sheet, chosen or guessed(sheet.headings))
        staff.require("administrator", city if city in house.cities else None)
        wanted = Import(city, name, sheet, mapping, alerts)
        rows = [row async for row in take_in_rows(house, wanted, staff.email, dry=not keeps)]
    except BadInput as error:
        return _page(request, staff, faults=error.faults or [str(error)], status=error.status, city=city)
    return _page(request, staff, sheet=sheet, mapping=mapping, rows=rows, packed=packed, city=city, name=name, kept=keeps, alerts=alerts)


def _content(files: Sequence[Upload], packed: str, name: str) -> tuple[bytes, str, str]:
    """The sheet, from the file or as it went along with the page; its name; and how it goes along. Raises BadInput."""
    if files:
        upload = files[0]
        content = upload.file.read(_LARGEST + 1)
        name = str(upload.name)[:200]
    else:
        try:
            content = zlib.decompressobj().decompress(base64.b64decode(packed, validate=True), _LARGEST + 1)
        except (binascii.Error, zlib.error, ValueError):
            content = b""
        if not content:
            raise BadInput("there is no sheet", ["file: missing; right would be: a CSV"])
    going = base64.b64encode(zlib.compress(content, 9)).decode()
    if len(content) > _LARGEST or len(going) > _LARGEST_PACKED:
        raise BadInput("the sheet is too large", ["file: too large for this page; right would be: spillclock import on the server"])
    return content, name, going


async def _administrator(request: Request) -> Staff:
    staff = await signed_in(request)
    require_administrator(staff)
    return staff
