"""Written follow-up reports: drafted, submitted, certified and amended; files attached to them. For staff and the discharger."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from deadlines import as_z
from service import followups, kept_files
from service.api.callers import Caller, house_of, known_caller, read_body
from service.errors import BadInput, NotKnown
from service.followups import Filing, Seen
from service.incoming_bodies import read_form
from service.kept_files import ATTACHMENT, Belonging
from service.obligations import of_spill
from service.parties import LANGUAGES, respond_url, staff_url
from service.tables import FollowUp, KeptFile, Obligation, Spill
from service.transaction import Transaction, reading, transaction

router = APIRouter(tags=["reports"])


class ReportIn(BaseModel):
    """A written follow-up report for one duty.

    `draft` keeps it. `submit` files it. `certify` files it and certifies it under the wording of `certification` (see the answers), or
    certifies the version that was submitted last where no `content` is given. `amend` files a certified version that amends the one before;
    every version is kept. Items that are left out of `content` stay as they are.
    """

    model_config = ConfigDict(extra="forbid")
    state: Literal["draft", "submit", "certify", "amend"] = "draft"
    duty: str = Field(default="", description="The id of the duty; of its clocks the open one that is due first.")
    clock: int | None = Field(default=None, ge=1, le=2**63 - 1, description="The id of a clock, in place of its duty.")
    content: dict[str, JsonValue] = Field(default_factory=dict, description="Texts by item, or by the words of the law for it.")
    by: str = Field(default="", description="Who answers for the report. Needed for all but a draft.")
    title: str = Field(default="", description="Their title. Needed to certify and to amend.")
    revision: int | None = Field(default=None, ge=0, le=2**31 - 1, description="Of the draft this was made from; 409 where it changed.")
    incomplete: bool = Field(default=False, description="File it although items are missing. The duty then stays open.")
    reason: str | None = Field(default=None, description="Why a version on file is amended, where you say so. Kept and shown with it.")
    email: str = Field(default="", description="Where a receipt is sent.")
    language: str = Field(default="en", description="Of the receipt: en or es.")


_REPORT: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": ReportIn.model_json_schema(),
                "example": {
                    "state": "certify", "duty": "chino/written-report-7-days", "by": "H. Dairy", "title": "Plant manager",
                    "content": {"cause": "A pump failed.", "volume": "1,500 gallons"},
                },
            }
        },
    },
    "responses": {
        "409": {"description": "Somebody else changed the draft, the duty is waived, or there is nothing to certify or amend."},
        "422": {
            "description": "Items are missing, each named under `errors`; or nothing was changed since the last version; or the body has "
            "faults. Nothing was filed."
        },
    },
}  # fmt: skip
_FILES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
                }
            }
        },
    }
}
ClockId = Annotated[int, Path(ge=1, le=2**63 - 1)]


@router.get("/spills/{reference}/reports")
async def reports_of(request: Request, reference: str) -> dict[str, Any]:
    """The written reports of a spill: for each clock that wants one its items, its certification and every version."""
    caller = await known_caller(request, reference)
    async with reading(house_of(request)) as tx:
        spill = await tx.spill(reference)
        return {"reports": [await _told(tx, spill, row) for row in await _written(tx, spill, caller)]}


@router.post("/spills/{reference}/reports", status_code=201, openapi_extra=_REPORT)
async def report(request: Request, reference: str) -> dict[str, Any]:
    """Draft, submit, certify or amend a written follow-up report. It meets its duty only when every item the law lists is there."""
    caller = await known_caller(request, reference)
    given = await read_body(request, ReportIn)
    async with transaction(house_of(request), caller.name) as tx:
        spill = await tx.spill(reference)
        caller.require("discharger", spill.city)
        row = _clock_of(await _written(tx, spill, caller), await of_spill(tx, spill), given)
        seen = Seen(given.revision)
        if given.state == "draft":
            draft = await followups.save_draft(tx, spill, row, given.content, given.by, title=given.title, reason=given.reason, seen=seen)
            return {**_about(row), **_version(draft), "missing": followups.missing_of(row, draft.content)}
        filing = _filing(tx, spill, row, caller, given)
        if given.state == "certify" and not given.content and not await _is_drafted(tx, row):
            last = await followups.certify_report(tx, spill, row, filing)
            return {**_about(row), **_version(last), "clock_state": row.state}
        stamp = await followups.file_report(tx, spill, row, given.content, filing, seen=seen)
        return {**_about(row), **stamp.model_dump(), "state": "filed", "clock_state": row.state, "filed_at": as_z(tx.now)}


@router.post("/spills/{reference}/reports/{clock}/attachments", status_code=201, openapi_extra=_FILES)
async def attach(request: Request, reference: str, clock: ClockId) -> dict[str, Any]:
    """Attach files, as `files` of a multipart form: PDF, JPEG, PNG, WebP, HEIC. They belong to the version that is filed next."""
    caller = await known_caller(request, reference)
    house = house_of(request)
    async with reading(house) as tx:
        spill = await tx.spill(reference)
        caller.require("discharger", spill.city)
        row = next((row for row in await _written(tx, spill, caller) if row.id == clock), None)
        if row is None:
            raise NotKnown(f"no report is owed under the clock {clock}")
        version = await followups.next_version(tx, row)
    _, files = await read_form(request)
    if not files.get("files"):
        raise BadInput("no file came", ["files: missing; right would be: a multipart form with one or more files under that name"])
    belonging = Belonging(reference, ATTACHMENT, caller.name, caller.name, obligation_id=row.id, version=version)
    kept, refused = await kept_files.take_in_files(house, files["files"], belonging)
    if refused and not kept:
        raise refused[0]
    return {"clock": clock, "version": version, "kept": [_file(file) for file in kept], "refused": [str(one) for one in refused]}


def _filing(tx: Transaction, spill: Spill, row: Obligation, caller: Caller, given: ReportIn) -> Filing:
    if given.language not in LANGUAGES:
        raise BadInput("the body has faults", [f"language: {given.language[:20]!r}; right would be: one of {', '.join(LANGUAGES)}"])
    page = staff_url(tx.house, spill) if caller.staff else f"{respond_url(tx.house, spill, caller.link)}/duties/{row.id}/report"
    certification = "" if given.state == "submit" else followups.certification_of(row).says
    return Filing(
        given.by, given.title, certification, given.incomplete, amends=given.state == "amend", reason=given.reason,
        receipt_to=given.email, link=page, language=given.language,
    )  # fmt: skip


async def _written(tx: Transaction, spill: Spill, caller: Caller) -> list[Obligation]:
    """The clocks that want a written report: of staff all of them, of the discharger those they owe."""
    rows = [row for row in await of_spill(tx, spill) if followups.wants_report(row)]
    return [row for row in rows if caller.staff is not None or row.clock["owed_by"] == "discharger"]


def _clock_of(written: list[Obligation], rows: list[Obligation], given: ReportIn) -> Obligation:
    def named(row: Obligation) -> bool:
        return row.id == given.clock or (given.clock is None and row.duty == given.duty)

    mine = sorted((row for row in written if named(row)), key=lambda row: row.state not in ("running", "overdue"))
    if mine:
        return mine[0]
    if other := next((row for row in rows if named(row) and not followups.wants_report(row)), None):
        raise BadInput("no report is owed", [f"duty: {other.duty} is done {' or '.join(other.clock['methods'])}, not by a report"])
    owed = ", ".join(sorted({row.duty for row in written})) or "none"
    raise BadInput("no such duty here", [f"duty: {given.duty or given.clock!r} is not owed for this spill; right would be: one of {owed}"])


async def _is_drafted(tx: Transaction, row: Obligation) -> bool:
    found = await followups.versions(tx, row)
    return bool(found) and found[-1].state == "draft"


async def _told(tx: Transaction, spill: Spill, row: Obligation) -> dict[str, Any]:
    files = [file for file in await kept_files.kept_files(tx, spill, ATTACHMENT) if file.obligation_id == row.id]
    return {
        **_about(row), "items": followups.items_of(row), "clock_state": row.state,
        "versions": [_version(version) for version in await followups.versions(tx, row)],
        "attachments": [{**_file(file), "version": file.version} for file in files],
    }  # fmt: skip


def _about(row: Obligation) -> dict[str, Any]:
    wording = followups.certification_of(row)
    return {"clock": row.id, "duty": row.duty, "certification_wording": {"says": wording.says, "source": wording.source or None}}


def _version(row: FollowUp) -> dict[str, Any]:
    return {
        "version": row.version, "state": row.state, "revision": row.revision, "content": row.content, "by": row.by, "title": row.title,
        "saved_at": as_z(row.saved_at), "filed_at": as_z(row.filed_at), "certified_at": as_z(row.certified_at), "amends": row.amends,
        "reason": row.reason,
    }  # fmt: skip


def _file(row: KeptFile) -> dict[str, Any]:
    return {"name": row.name, "media_type": row.media_type, "size": row.size, "sha256": row.digest}
