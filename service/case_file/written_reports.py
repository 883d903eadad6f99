"""The written reports that are owed, by the discharger or the city: each item as it was written, else as the record knows it."""

from __future__ import annotations

from collections.abc import Mapping

from service.case_file.answers import Answers, Entry
from service.case_file.paper import REPORT, CasePaper, Part
from service.case_file.record import CaseRecord
from service.followups import certification_of
from service.pages.duties import Duty
from service.pages.known_answers import suggestions
from service.pages.particular_words import particular_told
from service.pages.speech import Speech, marked
from service.pages.written_report import stamps_of

# By the ids of the items that packs use: the particulars that answer them, the first that is known. What Known answers comes first.
_PARTICULARS: Mapping[str, tuple[str, ...]] = {
    "description": ("impact",),
    **dict.fromkeys(("corrective_actions", "actions", "actions_taken", "mitigation"), ("response", "containment")),
    "cleanup": ("response",), "steps": ("response", "prevention"), "prevention": ("prevention",), "recovered": ("recovered_gallons",),
    "extent": ("extent",), "health_effects": ("impact",), "path_to_inlet": ("drain_description",), "contact_name": ("contact_name",),
    "contact_telephone": ("contact_phone",), "permit_number": ("permit_id",),
}  # fmt: skip
_OF_THE_CAUSE = ("cause", "source")
# Where the facts and acts behind an item are put right.
_PLACES: Mapping[str, str] = {
    "material_type": "/amend#material", "product": "/amend#material", "pollutant": "/amend#material", "chemical": "/amend#material",
    "volume": "/amend#low", "quantity": "/amend#low", "location": "#place", "media": "/amend#reached-storm_drain",
    "period": "/amend#discharged_at", "time": "/amend#discharged_at", "incident_date": "/amend#discharged_at",
    "cause": "#cause", "source": "#cause", "control_number": "#clocks",
    "business": "#people",
}  # fmt: skip


def written_reports(record: CaseRecord, speech: Speech) -> list[CasePaper]:
    """A paper for each clock that wants a written report and is not withdrawn or waived, by due time."""
    ask = Answers(record, speech)
    return [_paper(ask, duty) for duty in record.duties if duty.wants_report and duty.state not in ("withdrawn", "waived")]


def _paper(ask: Answers, duty: Duty) -> CasePaper:
    speech = ask.speech
    certification = certification_of(duty.row)
    owner = marked("Owed by the city.") if duty.clock["owed_by"] == "city" else marked("Owed by whoever is responsible for the spill.")
    parts = [Part(speech.say("What the report must hold"), [_item(ask, duty, item, says) for item, says in duty.items.items()])]
    parts.append(
        Part(
            speech.say("Certification"),
            [ask.by_hand(marked("Name and title")), ask.by_hand(marked("Signature")), ask.by_hand(marked("Date"))],
            [speech.say(certification.says)] + ([certification.source] if certification.source else []),
        )
    )
    recipient = speech.say(duty.recipient.name) if duty.recipient else ""
    return CasePaper(
        id=f"report-{duty.id}", kind=REPORT, title=speech.say(duty.clock["title"]),
        purpose=" ".join((speech.say("The written report that the law asks for, filled in from the record."), speech.say(owner))),
        law=[str(duty.clock["citation"])], parts=parts, duties=[duty], to=recipient, standing=_standing(ask, duty),
    )  # fmt: skip


def _standing(ask: Answers, duty: Duty) -> str:
    speech = ask.speech
    if stamps := stamps_of(speech, duty, ask.record.history):
        last = stamps[0]
        return speech.say("Version %(version)s is on file: %(stamp)s.", version=last.version, stamp=last.says)
    if duty.draft:
        return speech.say("A draft, saved %(when)s. It is not filed.", when=speech.stamp(duty.draft.saved_at, ask.record.zone))
    return speech.say("Nothing is written yet. What stands here comes from the record, for whoever files it to confirm.")


def _item(ask: Answers, duty: Duty, item: str, says: str) -> Entry:
    """An item of the report. What somebody wrote for it stands before what the record knows."""
    speech = ask.speech
    written = str(duty.draft.content.get(item, "")) if duty.draft else ""
    here = f"/papers/report-{duty.id}#item-{item}"
    if written.strip():
        note = marked("As filed") if duty.draft and duty.draft.state == "filed" else marked("As drafted")
        return ask.entry(says, written, here, speech.say(note))
    known, where = known_of(ask, duty, item), _place_of(item)
    return ask.entry(says, known, where or here, speech.say("From the record, to be confirmed"))


def known_of(ask: Answers, duty: Duty, item: str) -> str:
    """What the record knows of an item of a report; empty where nothing."""
    if item in _OF_THE_CAUSE:
        return ask.cause().says
    told = suggestions(ask.record.known(ask.speech), duty).get(item, "")
    known = ask.record.particulars
    found = [particular_told(ask.speech, ask.record.zone, key, known[key].value) for key in _PARTICULARS.get(item, ()) if key in known]
    return told or "\n".join(found)


def _place_of(item: str) -> str:
    keys = _PARTICULARS.get(item, ())
    return _PLACES.get(item) or (f"/papers/particulars#{keys[0]}" if keys else "")
