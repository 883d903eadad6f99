"""The sewer overflow event in the shape of EPA's electronic reporting rule (40 CFR 127, Appendix A, NPDES data group 9).

Columns have the names of EPA's published event files where those are known to us; the table of the appendix itself could not be read, so
that no conformity is claimed. One row an event: several causes or waters of one stand in one cell, parted by semicolons.
"""

from __future__ import annotations

from deadlines import read_moment
from service.case_file.answers import Answers
from service.case_file.exports import Columns, Export, cause_of, gallons_of, local_moment, particular, row_of, stated_start, yes_no
from service.case_file.paper import EXPORT, CasePaper, Part
from service.case_file.record import CaseRecord
from service.causes import CAUSES
from service.events import ActRecorded
from service.pages.reporter_news import ACT_NEWS
from service.pages.speech import ENGLISH, Speech, marked
from service.particulars import STRUCTURES

_STANDING = marked("A draft in the shape of EPA's event data. It is not sent anywhere; whoever holds the permit reports it.")
_PURPOSE = marked("The overflow of a sewer as an event of EPA's electronic reporting rule, for whoever holds the NPDES permit.")
_LAW = "40 CFR 127, Appendix A (sewer overflow and bypass events); 40 CFR 122.41(l)(6) and (7), (m)(3)"
_MEASURES = ("cleanup_done", "repaired", "sampling_done", "responded")


def epa_paper(record: CaseRecord, speech: Speech) -> CasePaper:
    """The event with what is missing in it."""
    ask = Answers(record, speech)
    known = ask.particular
    event = [ask.material(), ask.began(), ask.running(), ask.volume(), known("wet_weather"), known("structure"), ask.place(), ask.cause()]
    after = [ask.reached(), known("water_name"), known("impact"), ask.measures(), known("response"), known("prevention")]
    duties = [duty for duty in record.duties if duty.row.duty.startswith("federal/npdes") and duty.state not in ("withdrawn", "waived")]
    return CasePaper(
        id="export-epa", kind=EXPORT, title=speech.say("Sewer overflow event for EPA"), purpose=speech.say(_PURPOSE),
        law=list(dict.fromkeys([_LAW, *(str(duty.clock["citation"]) for duty in duties)])), duties=duties, to="EPA, NPDES",
        standing=speech.say(_STANDING),
        parts=[
            Part(speech.say("Whose it is"), [ask.truth(_PERMITTEE, "npdes_permittee"), known("permit_id"), known("system_name")]),
            Part(speech.say("The event"), event), Part(speech.say("What came of it"), after),
        ],
    )  # fmt: skip


_PERMITTEE = marked("The discharger holds an NPDES permit")


def epa_export(record: CaseRecord) -> Export:
    """The event as one row."""
    return Export(epa_paper(record, ENGLISH), list(_COLUMNS), [row_of(record, _COLUMNS)], ENGLISH.say(_STANDING), record.now)


def _hours(record: CaseRecord) -> float | None:
    """How long it ran, in hours to a tenth; None where either end is not known, or they contradict each other."""
    start, end = stated_start(record), record.facts.get("ended_at")
    if not start or not end:
        return None
    hours = (read_moment(end, record.zone) - read_moment(start, record.zone)).total_seconds() / 3600
    return round(hours, 1) if hours >= 0 else None


def _cause(record: CaseRecord) -> str | None:
    cause, note = cause_of(record)
    return "; ".join(filter(None, (CAUSES.get(cause, cause), note))) or None


def _actions(record: CaseRecord) -> str | None:
    done = [event.act["type"] for _, event in record.history if isinstance(event, ActRecorded) and event.act.get("type") in _MEASURES]
    said = [ACT_NEWS[str(act)] for act in dict.fromkeys(done)]
    return "; ".join(filter(None, (*said, particular(record, "response"), particular(record, "prevention")))) or None


def _structure(record: CaseRecord) -> str | None:
    told = particular(record, "structure")
    return STRUCTURES.get(told, str(told)) if told else None


# fmt: off
_COLUMNS: Columns = {
    "permit_identifier": "permit_id", "collection_system_name": "system_name",
    "sewer_overflow_bypass_event_key": lambda record: record.spill.reference,
    "sewer_overflow_bypass_type_code": lambda record: "SSO" if record.facts.get("material") == "sewage" else None,
    "sewer_overflow_bypass_start_datetime": lambda record: local_moment(record, stated_start(record)),
    "sewer_overflow_bypass_end_datetime": lambda record: local_moment(record, record.facts.get("ended_at")),
    "sewer_overflow_bypass_duration_hours": _hours, "sewer_overflow_bypass_discharge_volume_gallons": gallons_of,
    "wet_weather_occurance_indicator": lambda record: yes_no(particular(record, "wet_weather"), "Y", "N"),
    "sewer_overflow_structure_type_desc": _structure,
    "latitude_measure": lambda record: record.spill.lat, "longitude_measure": lambda record: record.spill.lon,
    "sewer_overflow_bypass_cause_desc": _cause, "sewer_overflow_bypass_impact_desc": "impact", "receiving_water_name": "water_name",
    "sewer_overflow_bypass_corrective_action_desc": _actions,
}
# fmt: on
