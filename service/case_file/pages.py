"""The papers of a spill for staff: the list, each paper to read aloud or fill in, and its PDF. Whatever is taken is noted in the log."""

from __future__ import annotations

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service.access import Staff, spill_for
from service.case_file.bundle import sent, take_bundle
from service.case_file.paper import CALL, EXPORT, KINDS, REPORT, CasePaper
from service.case_file.papers_of import paper_of, papers_of
from service.case_file.record import CaseRecord, read_record
from service.case_file.taking import take
from service.errors import BadInput, NotKnown
from service.fact_sources import SOURCES, STAFF
from service.followups import DraftConflict, Seen, mark_of, save_draft
from service.pages.entrance import StaffRoute, signed_in, working_on
from service.pages.fields import Fields, read_fields
from service.pages.particular_words import particulars_changed, typed_particulars
from service.pages.rendering import house_of, staff_page
from service.pages.speech import ENGLISH, LANGUAGES
from service.particulars import PARTICULARS, amend_particulars, particulars_of
from service.transaction import House, reading
from service.withholding import withheld_of

router = APIRouter(prefix="/staff/spills", include_in_schema=False, route_class=StaffRoute)


async def _record_for(house: House, staff: Staff, reference: str) -> CaseRecord:
    async with reading(house) as tx:
        return await read_record(tx, await spill_for(tx, staff, reference))


@router.get("/{reference}/papers")
async def list_page(request: Request, reference: str) -> Response:
    """The papers of a spill: what each is for, the section of law, and what is missing in it."""
    staff = await signed_in(request)
    record = await _record_for(house_of(request), staff, reference)
    found = papers_of(record, ENGLISH)
    groups = [(KINDS[kind], [paper for paper in found if paper.kind == kind]) for kind in KINDS]
    return staff_page(
        request, "papers.html", staff=staff, spill=record.spill, zone=record.zone, groups=[group for group in groups if group[1]],
        may_officer=staff.may("officer", record.spill.city), done=request.query_params.get("done", ""),
        may_manager=staff.may("manager", record.spill.city), confidential=_is_confidential(record),
    )  # fmt: skip


def _is_confidential(record: CaseRecord) -> bool:
    return withheld_of(record.spill, record.members, [record.history]).withholds


# -- what papers ask for beyond the facts


@router.get("/{reference}/papers/particulars")
async def particulars_page(request: Request, reference: str) -> Response:
    """The form of the particulars."""
    return await _particulars_page(request, await signed_in(request), reference)


async def _particulars_page(
    request: Request, staff: Staff, reference: str, typed: Fields | None = None, faults: Sequence[str] = ()
) -> Response:
    house = house_of(request)
    async with reading(house) as tx:
        spill = await spill_for(tx, staff, reference)
        history = await tx.history(spill)
    staff.require("officer", spill.city)
    zone: ZoneInfo = house.rulebook.zones[spill.city or house.first_city]
    shown = typed_particulars(particulars_of(history), zone)
    was = {key: typed.text(f"was.{key}", text) for key, text in shown.items()} if typed else shown
    values = {key: typed.text(key, text) for key, text in shown.items()} if typed else shown
    groups = list(dict.fromkeys(one.group for one in PARTICULARS.values()))
    return staff_page(
        request, "particulars.html", 422 if faults else 200, staff=staff, spill=spill, zone=zone, groups=groups, particulars=PARTICULARS,
        was=was, values=values, faults=faults, reason=typed.text("reason") if typed else "",
        source=typed.text("source", STAFF) if typed else STAFF, sources=[(key, says) for key, (says, _) in SOURCES.items()],
    )  # fmt: skip


@router.post("/{reference}/papers/particulars")
async def particulars(request: Request, reference: str) -> Response:
    """Record what was changed in the form; what was known before is kept."""
    fields = await read_fields(request)
    try:
        async with working_on(request, await signed_in(request), reference, "officer") as (tx, spill):
            changed = await amend_particulars(tx, spill, particulars_changed(fields), fields.text("reason"), fields.text("source", STAFF))
    except BadInput as error:
        told = [_named(fault) for fault in error.faults] or [str(error)]
        return await _particulars_page(request, await signed_in(request), reference, fields, told)
    return RedirectResponse(f"/staff/spills/{reference}/papers?done={'particulars' if changed else 'unchanged'}", 303)


def _named(fault: str) -> str:
    key, colon, wrong = fault.partition(": ")
    return f"{PARTICULARS[key].label}: {wrong}" if colon and key in PARTICULARS else fault


@router.post("/{reference}/papers/evidence")
async def evidence(request: Request, reference: str) -> Response:
    """The evidence bundle, made as the record stands now and sent while it is read. That it was taken is noted, with its checksum."""
    staff, fields = await signed_in(request), await read_fields(request)
    return sent(await take_bundle(house_of(request), staff, reference, fields.text("identity")))


# -- one paper


@router.get("/{reference}/papers/{paper_id}")
async def paper_page(request: Request, reference: str, paper_id: str) -> Response:
    """One paper: a call sheet with the form that logs the call beside it, or a report with a field for each item."""
    return await _paper_page(request, await signed_in(request), reference, paper_id)


async def _paper_page(
    request: Request,
    staff: Staff,
    reference: str,
    paper_id: str,
    typed: Fields | None = None,
    error: BadInput | DraftConflict | None = None,
) -> Response:
    record = await _record_for(house_of(request), staff, reference)
    paper = paper_of(record, paper_id, ENGLISH)
    faults = (error.faults or [str(error)]) if error else []
    return staff_page(
        request, "paper.html", error.status if error else 200, staff=staff, spill=record.spill, zone=record.zone, paper=paper,
        may_officer=staff.may("officer", record.spill.city), faults=faults,
        call=paper.kind == CALL, report=paper.kind == REPORT, export=paper.kind == EXPORT,
        to_log=next((duty for duty in paper.duties if duty.is_open), None), texts=_texts(paper, typed), mark_of=mark_of,
        revision=_revision(paper), languages=LANGUAGES, done=request.query_params.get("done", ""),
    )  # fmt: skip


def _texts(paper: CasePaper, typed: Fields | None) -> dict[str, str]:
    """The text of each item of a report, by item: as it was typed, else as the paper has it."""
    if paper.kind != REPORT:
        return {}
    shown = dict(zip(paper.duties[0].items, (entry.says for entry in paper.parts[0].entries), strict=True))
    return {item: typed.text(f"item.{item}", text) for item, text in shown.items()} if typed else shown


def _revision(paper: CasePaper) -> int:
    draft = paper.duties[0].draft if paper.kind == REPORT else None
    return draft.revision if draft and draft.state == "draft" else 0


@router.post("/{reference}/papers/{paper_id}/draft")
async def draft(request: Request, reference: str, paper_id: str) -> Response:
    """Keep the texts of a report as its draft, which whoever files it goes on from."""
    fields = await read_fields(request)
    try:
        async with working_on(request, await signed_in(request), reference, "officer") as (tx, spill):
            paper = paper_of(await read_record(tx, spill), paper_id, ENGLISH)
            if paper.kind != REPORT:
                raise NotKnown("this paper has no draft")
            duty = paper.duties[0]
            content = {item: fields.text(f"item.{item}") for item in duty.items if f"item.{item}" in fields}
            marks = {item: fields.text(f"mark.{item}") for item in duty.items if fields.text(f"mark.{item}")}
            revision = fields.text("revision")
            await save_draft(
                tx, spill, duty.row, content, "", seen=Seen(int(revision) if revision.isdigit() and len(revision) < 10 else None, marks)
            )
    except (BadInput, DraftConflict) as error:
        return await _paper_page(request, await signed_in(request), reference, paper_id, fields, error)
    return RedirectResponse(f"/staff/spills/{reference}/papers/{paper_id}?done=draft", 303)


@router.post("/{reference}/papers/{paper_id}/file")
async def file(request: Request, reference: str, paper_id: str) -> Response:
    """A paper as a file: a PDF in English or Spanish, of an export also its rows. That it was taken is noted, with who took it."""
    staff, fields = await signed_in(request), await read_fields(request)
    taken = await take(house_of(request), staff, reference, paper_id, fields.text("as", "pdf"), fields.text("language", "en"))
    return Response(taken.content, media_type=taken.media_type, headers=taken.headers)
