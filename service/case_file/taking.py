"""A paper is taken out of the house as a file. Who took which one is noted in the staff's log, where the record was read for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from service import papers, staff_log
from service.access import Staff, spill_for
from service.case_file.exports import as_csv, as_json
from service.case_file.paper import EXPORT, form_of
from service.case_file.papers_of import export_of, paper_of
from service.case_file.record import read_record
from service.errors import BadInput
from service.pages.speech import LANGUAGES, speech
from service.transaction import House, transaction

PDF, CSV, JSON = "pdf", "csv", "json"
MEDIA_TYPES = {PDF: "application/pdf", CSV: "text/csv; charset=utf-8", JSON: "application/json"}


@dataclass(frozen=True, slots=True)
class Taken:
    """A file: its name, which holds nothing but letters, digits, dots, dashes and underscores, and what is in it."""

    name: str
    media_type: str
    language: str
    content: bytes

    @property
    def headers(self) -> dict[str, str]:
        """The headers of an answer that hands it out."""
        return {
            "Content-Disposition": f'attachment; filename="{self.name}"', "Cache-Control": "no-store", "Content-Language": self.language,
        }  # fmt: skip


async def take(house: House, staff: Staff, reference: str, paper_id: str, form: str, language: str = "en") -> Taken:
    """A paper as a file; rows are in English. Raises BadInput for a form or language that it does not come in, and NotKnown."""
    faults = []
    if form not in MEDIA_TYPES:
        faults.append(f"as: {form[:20]!r} is no form of a paper; right would be: one of {', '.join(MEDIA_TYPES)}")
    if language not in LANGUAGES:
        faults.append(f"language: {language[:20]!r}; right would be: one of {', '.join(LANGUAGES)}")
    if faults:
        raise BadInput("the paper cannot be taken so", faults)
    async with transaction(house, staff.email) as tx:
        record = await read_record(tx, await spill_for(tx, staff, reference))
        paper = paper_of(record, paper_id, speech(language))
        if form != PDF and paper.kind != EXPORT:
            raise BadInput("the paper cannot be taken so", [f"as: {paper_id} has no rows; right would be: {PDF}"])
        said: dict[str, Any] = {"spill": record.spill.reference, "paper": paper_id, "as": form, "language": language}
        await staff_log.note(tx, "paper:taken", city=record.spill.city, **said)
    if form == PDF:
        content = await papers.render(form_of(record, paper, speech(language)), language)
    else:
        language, export = "en", export_of(record, paper_id)
        content = as_csv(export) if form == CSV else as_json(export)
    return Taken(f"{record.spill.reference}-{paper.id}-{language}.{form}", MEDIA_TYPES[form], language, content)
