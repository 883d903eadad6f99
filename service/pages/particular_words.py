"""Particulars as people see and type them: a value in words, as the text of its form field, and what a form changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from deadlines import read_moment
from service.pages.fields import Fields
from service.pages.speech import Speech, local_input, marked
from service.particulars import PARTICULARS, Particular, Told

YES, NO = marked("Yes"), marked("No")
_TRUTHS = {"yes": True, "no": False}


def particular_told(speech: Speech, zone: ZoneInfo, key: str, value: Any) -> str:
    """The value of a particular in words; empty where it is not known. Moments are local to `zone`."""
    one = PARTICULARS[key]
    if value is None:
        return ""
    match one.form:
        case "truth":
            return speech.say(YES if value else NO)
        case "choice":
            return speech.say((one.choices or {}).get(value, str(value)))
        case "moment":
            return speech.stamp(read_moment(value, zone), zone)
        case "amount" | "count":
            return f"{speech.number(value)} {speech.say(one.unit)}".strip()
        case "points":
            return "\n".join(point_told(point) for point in value)
        case _:
            return str(value)


def point_told(point: Mapping[str, Any]) -> str:
    """A place where it came out, as it is typed: 34.0123, -117.6889, manhole 12."""
    return ", ".join(filter(None, (f"{point['lat']:.10g}", f"{point['lon']:.10g}", str(point.get("says") or ""))))


def typed_particular(one: Particular, value: Any, zone: ZoneInfo) -> str:
    """The value of a particular as the text of its form field; empty where it is not known."""
    if value is None:
        return ""
    match one.form:
        case "truth":
            return "yes" if value else "no"
        case "moment":
            return local_input(read_moment(value, zone), zone)
        case "amount" | "count":
            return f"{value:.12g}"
        case "points":
            return "\n".join(point_told(point) for point in value)
        case _:
            return str(value)


def typed_particulars(known: Mapping[str, Told], zone: ZoneInfo) -> dict[str, str]:
    """Every particular as the text of its form field."""
    return {key: typed_particular(one, known[key].value if key in known else None, zone) for key, one in PARTICULARS.items()}


def particulars_changed(fields: Fields) -> dict[str, Any]:
    """What a form changes: only fields whose text differs from what the form showed, so that two people never undo each other."""
    changes: dict[str, Any] = {}
    for key, one in PARTICULARS.items():
        typed = fields.text(key).replace("\r\n", "\n")
        if key in fields and typed != fields.text(f"was.{key}").replace("\r\n", "\n"):
            changes[key] = _TRUTHS.get(typed, typed or None) if one.form == "truth" else typed or None
    return changes
