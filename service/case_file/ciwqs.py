"""The spill report of the State's sewer order (WQ 2022-0103-DWQ) as a draft that its Legally Responsible Official can certify.

The items are those of Attachment E1, 3.1 to 3.4, in their order. Of 3.2.1 and 3.2.2 the beginning and the end were read in a public copy;
the items between are from memory, and the database has the last word. Columns are named as in the State's public export where it has them.
"""

from __future__ import annotations

from collections.abc import Mapping

from deadlines import as_z
from service.case_file.answers import Answers, Entry
from service.case_file.exports import (
    Columns,
    Export,
    Row,
    cause_of,
    city_title,
    gallons_of,
    in_places,
    in_surface_water,
    local_moment,
    particular,
    row_of,
    stated_start,
    yes_no,
)
from service.case_file.paper import EXPORT, CasePaper, Part
from service.case_file.record import CaseRecord
from service.causes import CAUSES
from service.events import ActRecorded
from service.kept_files import PHOTO
from service.pages.duties import Duty
from service.pages.speech import ENGLISH, Speech, marked

DRAINS = ("storm_drain", "street", "gutter", "channel")
_PACK = "sewer-order/"
_STANDING = marked("A draft. Only the Legally Responsible Official of the sewer's owner certifies it, in the State's database (CIWQS).")
_PURPOSE = marked("The sewer spill report of the State's general order, to be entered in the State's database.")
_LAW = "Order WQ 2022-0103-DWQ, Attachment E1, 3.1 to 3.4"
# Ours to its words for a cause; what has none is "other" with our words beside it.
_CAUSES: Mapping[str, str] = {
    "grease": "Grease Deposition (FOG)", "roots": "Root Intrusion", "debris": "Debris-General",
    "pipe_failure": "Pipe Structural Problem/Failure", "pump_failure": "Pump station failure",
    "damage_by_works": "Damage by Others Not Related to CS Construction/Maintenance (Specify Below)",
}  # fmt: skip
_OTHER_CAUSE, _OTHER_POINT, _OTHER_PLACE = "Other (specify below)", "Other (specify)", "Other (specify below)"
_POINTS: Mapping[str, str] = {"manhole": "Manhole", "main": "Gravity Mainline", "building": "Inside Building or Structure"}
_PLACES: Mapping[str, str] = {
    "storm_drain": "Separate Storm Drain", "street": "Street/Curb and Gutter", "gutter": "Street/Curb and Gutter",
    "surface_water": "Surface Water", "land": "Unpaved surface",
}  # fmt: skip
_DONE: Mapping[str, str] = {"cleanup_done": "Cleaned-Up", "repaired": "Restored flow"}


def category_of(record: CaseRecord) -> int | None:
    """The order's category of the spill, 1 to 4; None while a fact that decides it is not known, or it is no sewage."""
    if record.facts.get("material") != "sewage":
        return None
    if in_places(record, ("surface_water", "channel")):
        return 1
    drains = in_places(record, DRAINS)
    if drains and record.facts.get("captured") is not True:
        return 1  # that it was all captured is for somebody to say
    gallons = gallons_of(record)
    if drains is None or gallons is None:
        return None
    return 2 if gallons >= 1000 else 3 if gallons >= 50 else 4


def ciwqs_paper(record: CaseRecord, speech: Speech) -> CasePaper:
    """The report with what is missing in it."""
    ask = Answers(record, speech)
    category, system = category_of(record), ask.particular("system_id")
    duties = [duty for duty in record.duties if duty.row.duty.startswith(_PACK) and _is_reported(duty)]
    return CasePaper(
        id="export-ciwqs", kind=EXPORT, title=speech.say("Sewer spill report for CIWQS"), purpose=speech.say(_PURPOSE),
        law=list(dict.fromkeys([_LAW, *(str(duty.clock["citation"]) for duty in duties)])), duties=duties,
        to=speech.say("State Water Board, CIWQS Sanitary Sewer System Database"), standing=speech.say(_STANDING),
        parts=[
            Part(speech.say("Which report it is"), [_category(ask, category), ask.truth(_ENROLLEE, "enrollee"), system]),
            Part(speech.say("The draft report"), _draft(ask)), Part(speech.say("Added for the certified report"), _certified(ask)),
        ],
    )  # fmt: skip


_REACHED = "/amend#reached-storm_drain"
_ENROLLEE = marked("The sewer belongs to an enrollee of the state sewer order")


def _is_reported(duty: Duty) -> bool:
    return "online" in duty.clock["methods"] and duty.state not in ("withdrawn", "waived")


def _category(ask: Answers, category: int | None) -> Entry:
    told = {
        1: marked("Category 1: it reached surface water, or a drain from which not all was captured. Draft, then certified report."),
        2: marked("Category 2: 1,000 gallons or more, and no surface water. Draft, then certified report."),
        3: marked("Category 3: 50 to under 1,000 gallons, and no surface water. Certified report after the end of the month."),
        4: marked("Category 4: under 50 gallons, and no surface water. Counted in the monthly and annual totals."),
    }
    return ask.entry(marked("Category of the order"), ask.speech.say(told[category]) if category else "", _REACHED)


def _draft(ask: Answers) -> list[Entry]:
    known = ask.particular
    return [
        known("contact_name"), known("contact_phone"), known("location_name"), ask.known_at(), known("arrived"), ask.began(),
        ask.oes_call(), ask.place(), known("points"), ask.volume(), known("extent"), ask.in_drains(), known("drain_description"),
        known("drain_recovered_gallons"), known("drain_left_gallons"), known("basin_gallons"), ask.in_water(), known("water_gallons"),
        known("recovered_gallons"), _photos(ask),
    ]  # fmt: skip


def _certified(ask: Answers) -> list[Entry]:
    known = ask.particular
    return [
        ask.running(), known("volume_method"), ask.cause(), known("structure"), known("failure_location"), known("pipe_material"),
        known("pipe_width"), known("pipe_age"), known("impact"), known("wet_weather"), known("response"), ask.measures(),
        known("prevention"), known("response_ended"), known("investigation"), known("water_name"), known("water_description"),
        known("intake_near"), known("samples"),
    ]  # fmt: skip


def _photos(ask: Answers) -> Entry:
    count = sum(file.purpose == PHOTO for file in ask.record.files)
    says = ask.speech.count("%(number)s photo on record", "%(number)s photos on record", count) if count else ""
    return ask.entry(marked("Photos"), says, "#kerb")


# -- the rows


def ciwqs_export(record: CaseRecord) -> Export:
    """One row for each place where it came out; one for a spill of which no such place is named."""
    paper = ciwqs_paper(record, ENGLISH)
    points = particular(record, "points") or [{"lat": record.spill.lat, "lon": record.spill.lon, "says": ""}]
    event = row_of(record, _COLUMNS)
    part = _point_words(record)
    rows: list[Row] = [
        {
            **event, "POINT": number, "POINTS": len(points), "LATTITUDE_DECIMAL_DEGREES": point["lat"],
            "LONGITUDE_DECIMAL_DEGREES": point["lon"], "APPEAR_PT_EXPLAIN": "; ".join(filter(None, (point["says"], part))) or None,
        }
        for number, point in enumerate(points, 1)
    ]  # fmt: skip
    return Export(paper, list(_ORDER), rows, ENGLISH.say(_STANDING), record.now)


def _point_words(record: CaseRecord) -> str:
    told = particular(record, "structure")
    return "" if told is None or told in _POINTS else str(told).replace("_", " ")


def _cause(record: CaseRecord) -> tuple[str | None, str | None]:
    """The State's word for the cause, and beside it what was noted, with our own word where it has none."""
    cause, note = cause_of(record)
    ours = "" if cause in _CAUSES else CAUSES.get(cause, cause)
    return (_CAUSES.get(cause, _OTHER_CAUSE), "; ".join(filter(None, (ours, note))) or None) if cause else (None, None)


def _structure(record: CaseRecord, key: str) -> str | None:
    told = particular(record, key)
    return None if told is None else _POINTS.get(told, _OTHER_POINT)


def _destinations(record: CaseRecord) -> str | None:
    return ";".join(dict.fromkeys(_PLACES.get(place, _OTHER_PLACE) for place in record.facts.get("reached") or [])) or None


def _activities(record: CaseRecord) -> str | None:
    done = [
        _DONE[str(event.act["type"])] for _, event in record.history if isinstance(event, ActRecorded) and event.act.get("type") in _DONE
    ]
    if record.facts.get("captured") is True:
        done.append("Returned All Spill to Sanitary Sewer System")
    return ";".join(dict.fromkeys(done)) or None


def _returned(record: CaseRecord) -> str | None:
    drains = in_places(record, DRAINS)
    return "Not Applicable - Spill did not reach storm drainpipe" if drains is False else yes_no(record.facts.get("captured"))


def _oes(record: CaseRecord) -> str | None:
    told = (row.happened_at for row, event in record.history if isinstance(event, ActRecorded) and event.act.get("recipient") == "cal-oes")
    first = next(told, None)
    return local_moment(record, as_z(first)) if first else None


# fmt: off
_COLUMNS: Columns = {
    "WDID": "system_id", "STATUS": lambda _: "Draft", "REFERENCE": lambda record: record.spill.reference, "CATEGORY": category_of,
    "SPILL_LOC_NAME": "location_name", "SPILL_VOL": gallons_of,
    "REACH_SURFACE": lambda record: yes_no(in_surface_water(record)),
    "REACH_STORM_DRAINPIPE": lambda record: yes_no(in_places(record, DRAINS)), "RETURN_TO_SSS": _returned,
    "SPILL_VOL_RECOVER": "recovered_gallons", "SPILL_VOL_REACH_SURF": "water_gallons", "DRAIN_VOL_RECOVER": "drain_recovered_gallons",
    "DRAIN_VOL_REMAIN": "drain_left_gallons", "BASIN_VOL": "basin_gallons", "VOL_ESTIMATE_METHOD": "volume_method",
    "ADDRESS": lambda record: record.spill.address or None, "CITY": city_title, "COUNTY": "county", "ZIP": "zip",
    "SPILL_LOC_DESC": "cross_streets", "APPEAR_PT": lambda record: _structure(record, "structure"),
    "FINAL_SPILL_DEST": _destinations, "FINAL_SPILL_DEST_EXPL": "extent", "DRAIN_DESC": "drain_description",
    "START_DT": lambda record: local_moment(record, stated_start(record)),
    "AGENCY_NOTIFY_DT": lambda record: local_moment(record, record.facts.get("known_at")), "OPRTOR_ARRVL_DT": "arrived",
    "EST_END_DT": lambda record: local_moment(record, record.facts.get("ended_at")), "OES_NOTIFY_DT": _oes,
    "OES_CONTROL_NUM": lambda record: record.known(ENGLISH).notice("cal-oes")[1] or None,
    "SPILL_CAUSE": lambda record: _cause(record)[0], "SPILL_CAUSE_EXPLAIN": lambda record: _cause(record)[1],
    "WHERE_FAILURE_OCCUR": lambda record: _structure(record, "failure_location"), "DIAMETER_OF_SEWER": "pipe_width",
    "MATERIAL_SEWER_PIPE": "pipe_material", "AGE_SEWER_PIPE": "pipe_age", "STORM_EVENT": "wet_weather", "IMPACT": "impact",
    "RESPONSE_ACTIVITIES": _activities, "RESPONSE_ACTIVITIES_EXPL": "response", "CORRECTIVE_ACTIONS": "prevention",
    "RESPONSE_COMPLETE_DT": "response_ended", "INVESTIGATION": "investigation", "RECEIVING_WATER": "water_name",
    "RECEIVING_WATER_DESC": "water_description", "INTAKE_1000_FT": "intake_near", "SAMPLES": "samples",
    "CONTACT_NAME": "contact_name", "CONTACT_PHONE": "contact_phone",
}
# fmt: on
_OF_A_POINT = ("POINT", "POINTS", "LATTITUDE_DECIMAL_DEGREES", "LONGITUDE_DECIMAL_DEGREES", "APPEAR_PT_EXPLAIN")
_ORDER = (*list(_COLUMNS)[:4], *_OF_A_POINT, *list(_COLUMNS)[4:])
