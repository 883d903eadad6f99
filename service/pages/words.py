"""The words people see for the words of the contract."""

from __future__ import annotations

from collections.abc import Mapping

from service.pages.speech import marked

MATERIALS: Mapping[str, str] = {
    "sewage": marked("Sewage or toilet water"),
    "petroleum": marked("Oil, gasoline, diesel or other fuel"),
    "hazardous_material": marked("Chemicals, or something that may be dangerous"),
    "hazardous_waste": marked("Hazardous waste"),
    "paint": marked("Paint"),
    "concrete": marked("Concrete, cement or mortar"),
    "sediment": marked("Mud, soil or sand"),
    "wash_water": marked("Soapy or dirty wash water"),
    "pool_water": marked("Pool or spa water"),
    "potable_water": marked("Clean tap water"),
    "recycled_water": marked("Recycled water (purple pipes)"),
    "food_waste": marked("Cooking grease or food waste"),
    "animal_waste": marked("Animal waste"),
    "yard_waste": marked("Leaves, grass or other yard waste"),
    "other": marked("Something else"),
    "unknown": marked("I do not know"),
}
# What the public is asked; staff may say the rest.
PUBLIC_MATERIALS = tuple(word for word in MATERIALS if word != "hazardous_waste")

REACHED: Mapping[str, str] = {
    "storm_drain": marked("A storm drain"),
    "street": marked("The street"),
    "gutter": marked("The gutter"),
    "channel": marked("A ditch or flood channel"),
    "surface_water": marked("A creek, river, lake or the ocean"),
    "land": marked("Soil or plants"),
    "groundwater": marked("Groundwater or a well"),
    "contained": marked("Nothing else: it was contained where it spilled"),
}
PUBLIC_REACHED = tuple(word for word in REACHED if word != "groundwater")

UNITS: Mapping[str, str] = {
    "gal": marked("gallons"), "L": marked("liters"), "ft3": marked("cubic feet"), "bbl": marked("barrels"), "m3": marked("cubic meters"),
}  # fmt: skip

PRIVACIES: Mapping[str, tuple[str, str]] = {
    "confidential": (marked("Confidential"), marked("Only the staff who handle this report see who you are.")),
    "named": (marked("Named"), marked("Your name may appear in the record of this report.")),
    "anonymous": (marked("Anonymous"), marked("We keep no name, e-mail or telephone number, even if you type one here.")),
}

STATES: Mapping[str, str] = {
    "running": marked("To do"), "overdue": marked("Overdue"), "waiting": marked("Not started"), "met": marked("Done"),
    "met_late": marked("Done late"), "withdrawn": marked("Not owed"), "waived": marked("Waived"),
}  # fmt: skip

WAYS: Mapping[str, str] = {
    "telephone": marked("by telephone"), "email": marked("by e-mail"), "in_person": marked("in person"), "mail": marked("by mail"),
    "online": marked("online"), "written": marked("in writing"), "any": marked("in any way that can be proved"),
    "cleanup": marked("by cleaning up"), "repair": marked("by repairing"), "sampling": marked("by taking samples"),
    "response": marked("by going there"), "payment": marked("by paying"), "filing": marked("by filing"),
    "hearing": marked("by holding the hearing"), "retention": marked("by keeping the record"),
}  # fmt: skip

# The button for each kind of act, and the type of event it records.
ACTS: Mapping[str, tuple[str, str]] = {
    "cleanup": ("cleanup_done", marked("The cleanup is done")),
    "repair": ("repaired", marked("The repair is done")),
    "sampling": ("sampling_done", marked("The samples are taken")),
    "response": ("responded", marked("We are there")),
    "payment": ("paid", marked("It is paid")),
    "filing": ("filed", marked("It is filed")),
    "order": ("order_complied", marked("We have done what the order asks")),
    "appeal": ("appeal_filed", marked("The appeal is filed")),
    "petition": ("petition_filed", marked("The petition is filed")),
    "hearing": ("hearing_held", marked("The hearing was held")),
    "hearing-notice": ("hearing_noticed", marked("The hearing notice is given")),
    "decision": ("decision_made", marked("The decision is made")),
}

# For staff, in the middle of a sentence.
CHANNELS: Mapping[str, str] = {"sms": "text message", "email": "e-mail", "voice": "call", "webhook": "webhook", "apprise": "chat message"}

FACTS: Mapping[str, str] = {
    "jurisdiction": marked("City"), "kind": marked("Kind of matter"), "material": marked("What was spilled"), "volume": marked("How much"),
    "reached": marked("What it reached"), "known_at": marked("First known"), "reported_at": marked("Reported to the city"),
    "discharged_at": marked("Began"), "ended_at": marked("Ended"), "planned_at": marked("Planned for"), "premises": marked("Kind of place"),
    "release": marked("Confirmed or suspected"), "threat": marked("Threat to people or the environment"),
    "accidental": marked("It was an accident"), "hazardous": marked("The material is hazardous"),
    "reportable_quantity": marked("A federal reportable quantity was reached"),
    "high_risk": marked("High risk, needs cleanup as soon as possible"),
    "captured": marked("All that entered the storm drain was captured and returned"),
    "enrollee": marked("The sewer belongs to an enrollee of the state sewer order"),
    "npdes_permittee": marked("The discharger holds an NPDES permit"),
    "spcc_facility": marked("The facility is under the federal oil rule (SPCC)"),
    "sheen": marked("There is an oil sheen on water"), "substances": marked("Substances"),
}  # fmt: skip

LANGUAGE_CHOICES: Mapping[str, str] = {"en": "English", "es": "Español"}


# What a fault names and no fact is.
_FIELDS: Mapping[str, str] = {
    "volume.quantity": "How much", "volume.low": "How much, or at least", "volume.high": "At most", "volume.unit": "Unit",
    "location": "Place", "lat": "Latitude", "lon": "Longitude", "address": "Address", "reason": "Reason",
    "where.en": "Where, roughly (English)", "what.en": "What happened (English)", "advice.en": "What people should do (English)",
    "where.es": "Where, roughly (Español)", "what.es": "What happened (Español)", "advice.es": "What people should do (Español)",
}  # fmt: skip


def told(fault: str) -> str:
    """A fault "volume.quantity: 'much' is no number" for staff, with the words that stand on the form, where there are any."""
    place, colon, wrong = fault.partition(": ")
    name = _FIELDS.get(place) or FACTS.get(place)
    return f"{name}: {wrong}" if colon and name else fault


def plain(word: object) -> str:
    """A word of the contract without its underscores."""
    return str(word).replace("_", " ").replace("-", " ")
