"""Papers and particulars of a spill for programs: what the pages of staff show, by the same rules."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response, Security
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from deadlines import as_z
from service.access import spill_for
from service.api.callers import KEY, house_of, read_body, signed_in
from service.case_file.answers import Entry
from service.case_file.bundle import sent, take_bundle
from service.case_file.paper import EXPORT, CasePaper
from service.case_file.papers_of import export_of, paper_of, papers_of
from service.case_file.record import CaseRecord, read_record
from service.case_file.taking import take
from service.fact_sources import STAFF
from service.pages.speech import ENGLISH
from service.particulars import amend_particulars, particulars_of
from service.transaction import reading, transaction

router = APIRouter(prefix="/api/v1", tags=["papers"], dependencies=[Security(KEY)])


class FileIn(BaseModel):
    """In which form a paper is taken: every one as `pdf`, exports as `csv` or `json` too. `language`: of the PDF, en or es."""

    model_config = ConfigDict(extra="forbid")
    as_: str = Field(default="pdf", alias="as", description="pdf; of an export also csv or json.")
    language: str = "en"


class ParticularsIn(BaseModel):
    """Particulars by key, null for unknown. `reason` is needed to change what was known; `source` says who knows: staff, caller ..."""

    model_config = ConfigDict(extra="forbid")
    particulars: dict[str, JsonValue]
    reason: str = ""
    source: str = STAFF


def _body(shape: type[BaseModel], example: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": shape.model_json_schema(), "example": example}}}}


async def _record(request: Request, reference: str) -> CaseRecord:
    staff = await signed_in(request)
    async with reading(house_of(request)) as tx:
        return await read_record(tx, await spill_for(tx, staff, reference))


@router.get("/spills/{reference}/papers")
async def papers(request: Request, reference: str) -> dict[str, Any]:
    """The papers of a spill: call sheets, written reports, notices, exports; each with its law and what is missing in it."""
    record = await _record(request, reference)
    return {"reference": record.spill.reference, "papers": [_about(paper) for paper in papers_of(record, ENGLISH)]}


@router.get("/spills/{reference}/papers/{paper_id}")
async def paper(request: Request, reference: str, paper_id: str) -> dict[str, Any]:
    """One paper with its entries: `says` is null where the answer is not known. Of an export also its `rows`."""
    record = await _record(request, reference)
    found = paper_of(record, paper_id, ENGLISH)
    parts = [{"heading": part.heading, "words": list(part.words), "entries": [*map(_entry, part.entries)]} for part in found.parts]
    rows = {"rows": [dict(row) for row in export_of(record, paper_id).rows]} if found.kind == EXPORT else {}
    return {**_about(found), "parts": parts, **rows}


@router.post(
    "/spills/{reference}/papers/{paper_id}/file", openapi_extra=_body(FileIn, {"as": "pdf", "language": "es"}), response_class=Response
)
async def file(request: Request, reference: str, paper_id: str) -> Response:
    """A paper as a file. That it was taken is noted in the log, so that it is a POST."""
    staff = await signed_in(request)
    given = await read_body(request, FileIn)
    taken = await take(house_of(request), staff, reference, paper_id, given.as_, given.language)
    return Response(taken.content, media_type=taken.media_type, headers=taken.headers)


class EvidenceIn(BaseModel):
    """`identity`: `whole` with who reported it in confidence (managers), `withheld` without; left out: what the caller may have."""

    model_config = ConfigDict(extra="forbid")
    identity: str = ""


_ZIP: dict[str, Any] = {**_body(EvidenceIn, {"identity": "withheld"}), "responses": {"200": {"content": {"application/zip": {}}}}}


@router.post("/spills/{reference}/evidence", openapi_extra=_ZIP, response_class=Response)
async def evidence(request: Request, reference: str) -> Response:
    """The evidence bundle of a spill as a zip. That it was taken is noted in the log; `X-Manifest-SHA256` is the checksum noted there."""
    staff = await signed_in(request)
    given = await read_body(request, EvidenceIn)
    return sent(await take_bundle(house_of(request), staff, reference, given.identity))


def _entry(entry: Entry) -> dict[str, Any]:
    return {"label": entry.label, "says": entry.says or None, "source": entry.note or None, "by_hand": entry.by_hand}


def _about(paper: CasePaper) -> dict[str, Any]:
    return {
        "id": paper.id, "kind": paper.kind, "title": paper.title, "purpose": paper.purpose, "law": list(paper.law), "to": paper.to or None,
        "telephone": list(paper.telephone), "standing": paper.standing or None,
        "clocks": [{"id": duty.id, "duty": duty.row.duty, "state": duty.state, "due_at": as_z(duty.due_at)} for duty in paper.duties],
        "missing": [{"label": entry.label, "amended_at": entry.where or None} for entry in paper.missing],
    }  # fmt: skip


# -- particulars


@router.get("/spills/{reference}/particulars")
async def particulars(request: Request, reference: str) -> dict[str, Any]:
    """What papers ask for beyond the facts, as far as it is known: each with its value, by whom it is known, who recorded it and when."""
    return _told(await _record(request, reference))


@router.patch(
    "/spills/{reference}/particulars",
    openapi_extra=_body(ParticularsIn, {"particulars": {"water_name": "Cypress Channel", "injured": 0}, "source": "staff"}),
)
async def amend(request: Request, reference: str) -> dict[str, Any]:
    """Record particulars; what was known before is kept. Answers as GET."""
    staff = await signed_in(request)
    given = await read_body(request, ParticularsIn)
    async with transaction(house_of(request), staff.email) as tx:
        spill = await spill_for(tx, staff, reference, "officer")
        await amend_particulars(tx, spill, given.particulars, given.reason, given.source)
        return _told(await read_record(tx, spill))


def _told(record: CaseRecord) -> dict[str, Any]:
    known = particulars_of(record.history)
    told = {key: {"value": one.value, "source": one.source, "by": one.actor, "at": as_z(one.at)} for key, one in known.items()}
    return {"reference": record.spill.reference, "particulars": told}
