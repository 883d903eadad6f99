"""The papers of a record: which there are, by their ids, in the order in which people need them."""

from __future__ import annotations

from service.case_file.call_sheets import call_sheets
from service.case_file.ciwqs import ciwqs_export, ciwqs_paper
from service.case_file.epa import epa_export, epa_paper
from service.case_file.exports import Export
from service.case_file.notices import notices
from service.case_file.paper import CasePaper
from service.case_file.record import CaseRecord
from service.case_file.written_reports import written_reports
from service.errors import NotKnown
from service.pages.speech import ENGLISH, Speech

# What may have come out of a sewer: that nobody knows yet what it is does not rule it out.
_OF_A_SEWER = ("sewage", "unknown", None)


def papers_of(record: CaseRecord, speech: Speech) -> list[CasePaper]:
    """Every paper of a record, in a language."""
    found = [*call_sheets(record, speech), *written_reports(record, speech), *notices(record, speech)]
    if record.facts.get("material") in _OF_A_SEWER:
        state = record.house.rulebook.law_of(record.spill.city).city.state if record.spill.city else None
        found += [ciwqs_paper(record, speech)] if state in ("CA", None) else []
        found.append(epa_paper(record, speech))
    return found


def paper_of(record: CaseRecord, paper_id: str, speech: Speech) -> CasePaper:
    """The paper of an id. Raises NotKnown where this record has none such."""
    found = next((paper for paper in papers_of(record, speech) if paper.id == paper_id), None)
    if found is None:
        raise NotKnown("this spill has no such paper")
    return found


def export_of(record: CaseRecord, paper_id: str) -> Export:
    """The rows of a paper that is an export, in English. Raises NotKnown for any other."""
    made = {"export-ciwqs": ciwqs_export, "export-epa": epa_export}.get(paper_of(record, paper_id, ENGLISH).id)
    if made is None:
        raise NotKnown("this paper has no rows")
    return made(record)
