"""The page of reportable quantities: look a substance up, and work amounts out. Nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from deadlines.reportable import Answer
from service.errors import BadInput
from service.pages.entrance import StaffRoute, signed_in
from service.pages.fields import Fields
from service.pages.quantity_rows import KEYS, UNIT_LABELS, Row, checked_rows, padded, typed_rows
from service.pages.rendering import house_of, staff_page
from service.quantity_questions import LONGEST_NAME, finder_of

router = APIRouter(prefix="/staff/quantities", include_in_schema=False, route_class=StaffRoute)
_WHOLE = {"amount": "whole-amount", "unit": "whole-unit", "density": "whole-density"}


@router.get("")
async def quantities_page(request: Request) -> Response:
    """The page, with the answer to what its address asks."""
    staff = await signed_in(request)
    quantities = house_of(request).rulebook.quantities
    fields = _asked(request)
    query = fields.text("q")[:LONGEST_NAME]
    rows = typed_rows(fields)
    whole = Row(**{key: " ".join(fields.text(name).split()) or getattr(Row(), key) for key, name in _WHOLE.items()})
    answer, faults = None, []
    try:
        answer = checked_rows(rows, quantities, whole)
    except BadInput as error:
        faults = error.faults
    return staff_page(
        request, "quantities.html", 422 if faults else 200, staff=staff, query=query, rows=padded(rows), whole=whole, units=UNIT_LABELS,
        found=finder_of(quantities).search(query) if query else None, answer=answer, faults=faults,
        links=_links(rows, whole, answer) if answer and not whole.amount else {},
    )  # fmt: skip


def _asked(request: Request) -> Fields:
    values: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        values.setdefault(name, []).append(value)
    return Fields(values)


def _links(rows: Sequence[Row], whole: Row, answer: Answer) -> dict[tuple[int, str], str]:
    """The address of this page with one name put in place of what was typed, for everything that may be meant."""
    filled = [number for number, row in enumerate(rows) if not row.is_blank]
    found = {}
    for at, part in enumerate(answer.parts):
        for match in part.suggestions:
            given = {
                f"substance-{number}-{key}": match.name if (number, key) == (filled[at], "name") else getattr(row, key)
                for number, row in enumerate(rows)
                for key in KEYS
            }
            found[at, match.name] = f"{router.prefix}?{urlencode({key: value for key, value in given.items() if value})}#answer"
    return found
