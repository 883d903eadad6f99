"""The law for anybody to read and to ask: every rule in words, and the clocks that facts would start. Nothing is stored."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from deadlines.explaining import rule_as_json
from deadlines.facts import FACT_KEYS
from service.api.callers import house_of, json_object
from service.errors import NotKnown
from service.reading_input import moment
from service.transaction import reading
from service.what_if import what_if

router = APIRouter(tags=["law"])

_FACTS: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"type": "object", "required": ["jurisdiction"], "properties": {key: {} for key in FACT_KEYS}},
                "example": {
                    "jurisdiction": "chino",
                    "known_at": "2026-12-01T14:05:00-08:00",
                    "material": "sewage",
                    "volume": {"quantity": 1500, "unit": "gal"},
                    "reached": ["storm_drain"],
                },
            }
        },
    }
}


@router.get("/rules")
async def rules(
    request: Request, city: Annotated[str | None, Query(max_length=100)] = None, pack: Annotated[str | None, Query(max_length=100)] = None
) -> dict[str, Any]:
    """Every rule of every pack in words; those that stand over one city, or those of one pack, where named."""
    rulebook = house_of(request).rulebook
    if pack is not None and pack not in rulebook.packs:
        raise NotKnown(f"there is no pack {pack!r}; there are: {', '.join(rulebook.packs)}")
    if city is not None and city not in rulebook.cities:
        raise NotKnown(f"there is no city {city!r}; there are: {', '.join(rulebook.cities)}")
    chosen = [one for one in rulebook.packs.values() if pack in (None, one.id) and (city is None or one.lies_over(rulebook.packs[city]))]
    return {"version": rulebook.version, "rules": [rule_as_json(one, rule, rulebook) for one in chosen for rule in one.rules]}


@router.get("/rules/{pack}/{rule}")
async def one_rule(request: Request, pack: str, rule: str) -> dict[str, Any]:
    """One rule in words, with every version of it, oldest first."""
    rulebook = house_of(request).rulebook
    try:
        found, versions = rulebook.rules(f"{pack}/{rule}")
    except KeyError:
        raise NotKnown(f"there is no duty {pack}/{rule}") from None
    return {"duty": f"{pack}/{rule}", "versions": [rule_as_json(found, version, rulebook) for version in versions]}


@router.post("/clocks", openapi_extra=_FACTS)
async def clocks(
    request: Request, now: Annotated[str | None, Query(max_length=60, description="RFC 3339; default: now")] = None
) -> dict[str, Any]:
    """The clocks that a fact object would start, each with its counting and its strip of days, and what to ask next. Nothing is stored."""
    given = await json_object(request)
    async with reading(house_of(request)) as tx:
        return (await what_if(tx, given, moment("now", now) or tx.now)).as_json()
