"""What `spillclock import` does: takes in the city's own sheet of earlier spills, its columns guessed and shown, each row reported."""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

from service.errors import BadInput
from service.importing import Import, Row, take_in_rows
from service.sheets import FIELDS, Sheet, checked_mapping, guessed, read_sheet
from service.spreadsheet import Cell, csv_of
from service.transaction import House

ACTOR = "command line"
_SHOWN = 20


async def import_sheet(house: House, given: argparse.Namespace) -> AsyncIterator[str]:
    """Take a sheet in, or try it, and say in lines how it was read and what became of its rows. Raises BadInput, OSError."""
    sheet = await asyncio.to_thread(_sheet, given.file)
    mapping = checked_mapping(sheet, {**guessed(sheet.headings), **_given(given.map)})
    for line in _read_as(sheet, mapping):
        yield line
    wanted = Import(given.city, Path(given.file).name, sheet, mapping, alerts=given.alert_past)
    rows = [row async for row in take_in_rows(house, wanted, ACTOR, dry=given.dry_run)]
    if given.report:
        await asyncio.to_thread(_write, given.report, report_of(sheet, rows))
        yield f"{given.report}: what became of each row"
    for row in [row for row in rows if row.remarks][: None if given.all else _SHOWN]:
        yield f"row {row.number}: {row.outcome}{f' as {row.reference}' if row.reference else ''}: {'; '.join(row.remarks)}"
    counted = Counter(row.outcome for row in rows)
    yield ", ".join(f"{many} {outcome}" for outcome, many in counted.items())
    if given.dry_run:
        yield "Nothing was kept: this was a dry run."


def _sheet(name: str) -> Sheet:
    return read_sheet(Path(name).read_bytes())


def _write(name: str, content: bytes) -> None:
    """Write a new file that nobody else may read. Raises OSError where there is one already."""
    path = Path(name)
    path.touch(mode=0o600, exist_ok=False)
    path.write_bytes(content)


def _given(pairs: list[str]) -> dict[str, str]:
    """--map FIELD=HEADING; FIELD= leaves a field out. Raises BadInput."""
    faults = [f"--map: {pair[:60]!r} is no pair; right would be: known_at=Date reported" for pair in pairs if "=" not in pair]
    if faults:
        raise BadInput("the columns cannot be read so", faults)
    return {field.strip(): heading.strip() for field, _, heading in (pair.partition("=") for pair in pairs)}


def _read_as(sheet: Sheet, mapping: dict[str, str]) -> list[str]:
    mark = {"\t": "tab"}.get(sheet.delimiter, sheet.delimiter)
    unread = [heading for heading in sheet.headings if heading not in mapping.values()]
    lines = [f"{len(sheet.rows)} rows, {sheet.encoding}, delimiter {mark}"]
    lines += [f"{field}\t{heading}\t{FIELDS[field]}" for field, heading in mapping.items()]
    return [*lines, f"kept in the record alone: {', '.join(unread)}"] if unread else lines


def report_of(sheet: Sheet, rows: list[Row]) -> bytes:
    """What became of each row, with its own cells, as a CSV that spreadsheets open safely."""
    heads = ["row", "outcome", "reference", "remarks", *sheet.headings]
    lines: list[list[Cell]] = [[*heads]]
    lines += [[row.number, row.outcome, row.reference, "; ".join(row.remarks), *sheet.rows[row.number - 2]] for row in rows]
    return csv_of(lines)
