"""The papers of a record: which there are, by their ids, in the order in which people need them."""

from __future__ import annotations

from service.case_file.call_sheets import call_sheets
from service.case_file.paper import CasePaper
from service.case_file.record import CaseRecord
from service.case_file.written_reports import written_reports
from service.errors import NotKnown
from service.pages.speech import Speech


def papers_of(record: CaseRecord, speech: Speech) -> list[CasePaper]:
    """Every paper of a record, in a language."""
    return [*call_sheets(record, speech), *written_reports(record, speech)]


def paper_of(record: CaseRecord, paper_id: str, speech: Speech) -> CasePaper:
    """The paper of an id. Raises NotKnown where this record has none such."""
    found = next((paper for paper in papers_of(record, speech) if paper.id == paper_id), None)
    if found is None:
        raise NotKnown("this spill has no such paper")
    return found
