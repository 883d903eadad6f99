"""The services: one for each kind of material, and what may be said of a spill beside its place and a description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.public_words import MATERIALS, REACHED
from service.speech import LANGUAGES, Speech, marked

GROUP = "spill"
_KEYWORDS = {
    "sewage": "sewer, overflow, manhole, toilet, wastewater", "petroleum": "oil, gasoline, diesel, fuel, sheen",
    "hazardous_material": "chemical, acid, bleach, solvent", "paint": "paint, stucco, primer",
    "concrete": "concrete, cement, mortar, slurry", "sediment": "mud, dirt, sand, construction site",
    "wash_water": "car wash, soap, pressure washing", "food_waste": "grease, oil, restaurant", "pool_water": "pool, spa, chlorine",
    "potable_water": "water main, hydrant, leak", "recycled_water": "recycled water, irrigation, purple pipe",
}  # fmt: skip
# What each attribute is asked for as, in the order that it is asked: its type, and the words for it.
_ATTRIBUTES = (
    ("volume", "string", marked("About how much, with its unit")),
    ("reached", "multivaluelist", marked("What it reached")),
    ("seen_at", "datetime", marked("When it was seen")),
    ("language", "singlevaluelist", marked("The language for answers to you")),
)
_EXAMPLES = {"volume": "500 gal", "seen_at": "2026-12-01T14:05:00-08:00"}


def services(said: Speech) -> list[dict[str, Any]]:
    """All services, in the order of the standard's fields."""
    return [_service(code, said) for code in MATERIALS]


def _service(code: str, said: Speech) -> dict[str, Any]:
    about = said.say("A spill into the street, a storm drain, a creek or the ground, or one that may get there.")
    return {
        "service_code": code, "service_name": name_of(code, said), "description": about, "metadata": True, "type": "realtime",
        "keywords": _KEYWORDS.get(code, code.replace("_", " ")), "group": GROUP,
    }  # fmt: skip


def name_of(code: str, said: Speech) -> str:
    """What a service is called: Spill: Sewage."""
    return f"{said.say('Spill')}: {said.say(MATERIALS.get(code, MATERIALS['unknown']))}"


def definition(code: str, said: Speech) -> dict[str, Any]:
    """What may be said beside the fields that every request has; the same for every service, and nothing of it must be."""
    values: Mapping[str, Mapping[str, str]] = {
        "reached": {word: said.say(text) for word, text in REACHED.items()}, "language": dict(LANGUAGES),
    }  # fmt: skip
    attributes = [
        {
            "variable": True, "code": name, "datatype": datatype, "required": False, "datatype_description": _EXAMPLES.get(name),
            "order": order, "description": said.say(text),
            "values": [{"key": key, "name": title} for key, title in values.get(name, {}).items()],
        }
        for order, (name, datatype, text) in enumerate(_ATTRIBUTES, 1)
    ]  # fmt: skip
    return {"service_code": code, "attributes": attributes}
