"""The words in which the public list tells of a spill, the same on page, map and API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.speech import Speech, marked

MATERIALS: Mapping[str, str] = {
    "sewage": marked("Sewage"), "petroleum": marked("Oil or fuel"), "hazardous_material": marked("Chemicals"),
    "hazardous_waste": marked("Hazardous waste"), "paint": marked("Paint"), "concrete": marked("Concrete, cement or mortar"),
    "sediment": marked("Mud, soil or sand"), "wash_water": marked("Wash water"), "pool_water": marked("Pool or spa water"),
    "potable_water": marked("Clean tap water"), "recycled_water": marked("Recycled water"),
    "food_waste": marked("Cooking grease or food waste"), "animal_waste": marked("Animal waste"),
    "yard_waste": marked("Leaves, grass or other yard waste"), "other": marked("Another material"), "unknown": marked("Unknown material"),
}  # fmt: skip
AMOUNTS: Mapping[str, str] = {
    "under_50_gal": marked("less than 50 gallons"), "50_to_1000_gal": marked("50 to 1,000 gallons"),
    "1000_to_10000_gal": marked("1,000 to 10,000 gallons"), "10000_gal_or_more": marked("10,000 gallons or more"),
    "unknown": marked("amount not known"),
}  # fmt: skip
STATES: Mapping[str, str] = {
    "looked_at": marked("Being looked at"), "cleaning": marked("Being cleaned up"), "cleaned_up": marked("Cleaned up"),
    "closed": marked("Closed"),
}  # fmt: skip
REACHED: Mapping[str, str] = {
    "storm_drain": marked("a storm drain"), "street": marked("the street"), "gutter": marked("the gutter"),
    "channel": marked("a ditch or flood channel"), "surface_water": marked("a creek, river, lake or the ocean"),
    "groundwater": marked("the groundwater"), "land": marked("soil or plants"), "contained": marked("nothing else: it was contained"),
}  # fmt: skip
PARTS: Mapping[str, str] = {
    "north": marked("in the north"), "northeast": marked("in the northeast"), "east": marked("in the east"),
    "southeast": marked("in the southeast"), "south": marked("in the south"), "southwest": marked("in the southwest"),
    "west": marked("in the west"), "northwest": marked("in the northwest"), "middle": marked("in the middle"),
}  # fmt: skip
ADVISORIES: Mapping[str, str] = {
    "none": marked("No advisory"), "in_force": marked("Advisory in force"), "ended": marked("All clear"),
}  # fmt: skip
ISSUED: Mapping[str, str] = {"advisory": marked("Advisory"), "update": marked("Update"), "all_clear": marked("All clear")}


def place_words(part: str | None, city: str, speech: Speech) -> str:
    """Roughly where: the part of the city, or the city alone where no point is shown."""
    return f"{city}, {speech.say(PARTS[part])}" if part else city


def reached_words(reached: Sequence[str], speech: Speech) -> str:
    """What it reached, in one line; nothing where that is not known."""
    return ", ".join(speech.say(REACHED[place]) for place in reached if place in REACHED)
