"""Reportable quantities for anybody: look a substance up, and ask whether amounts reach one. Nothing is stored."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from service.api.callers import house_of, json_object
from service.errors import BadInput
from service.quantity_questions import LONGEST_NAME, MOST_NAMES, UNITS, amounts_of, answer_for, answer_json, finder_of, search_json

router = APIRouter(tags=["quantities"])

_NAMED: dict[str, Any] = {"name": {"type": "string", "maxLength": LONGEST_NAME}, "cas": {"type": "string", "examples": ["7664-93-9"]}}
_SHARE: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1, "description": "share by weight"}
_AMOUNT: dict[str, Any] = {
    "type": "object",
    "properties": {
        **_NAMED,
        "quantity": {"type": "number", "minimum": 0},
        "low": {"type": "number", "minimum": 0, "description": "with `high`: a range; its upper end counts"},
        "high": {"type": "number", "minimum": 0},
        "unit": {"type": "string", "enum": list(UNITS)},
        "fraction": _SHARE,
        "density_lb_per_gal": {"type": "number", "exclusiveMinimum": 0},
        "constituents": {
            "type": "array",
            "description": "what it holds, where it is a mixture; without `fraction` a share is unknown (40 CFR 302.6(b)(1))",
            "items": {"type": "object", "properties": {**_NAMED, "fraction": _SHARE}},
        },
    },
    "example": {"name": "bleach 12.5%", "quantity": 80, "unit": "gal"},
}
_SCHEMA: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["substances"],
                    "properties": {"substances": {"type": "array", "minItems": 1, "maxItems": MOST_NAMES, "items": _AMOUNT}},
                }
            }
        },
    }
}


@router.get("/substances")
async def find_substances(request: Request, q: Annotated[str, Query(max_length=LONGEST_NAME)]) -> dict[str, Any]:
    """Look up a substance by name, synonym, CAS number or strength. Each answer says why it was found; slips of the pen are allowed."""
    finder = finder_of(house_of(request).rulebook.quantities)
    return search_json(await run_in_threadpool(finder.search, q))


@router.post("/reportable-quantity", openapi_extra=_SCHEMA)
async def reportable_quantity(request: Request) -> dict[str, Any]:
    """Whether amounts reach a federal reportable quantity: true, false, or null where it cannot be said, with the arithmetic."""
    body = await json_object(request)
    unknown = [f"{key[:60]}: unknown key; right would be: substances" for key in body if key != "substances"]
    if unknown:
        raise BadInput("the body has faults", unknown)
    amounts = amounts_of(body.get("substances"))
    return answer_json(await run_in_threadpool(answer_for, house_of(request).rulebook.quantities, amounts))
