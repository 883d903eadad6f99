"""The written reports of the discharger: a form for each duty, drafts that several people write, filing under a certification, receipts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from service import followups, papers
from service.errors import BadInput, Conflict, NotKnown
from service.followups import (
    DraftConflict,
    Filing,
    ReportIncomplete,
    Seen,
    file_report,
    mark_of,
    missing_of,
    said_of_themselves,
    save_draft,
)
from service.kept_files import ATTACHMENT, Belonging, kept_files
from service.pages.duties import Duty
from service.pages.fields import Fields, read_fields
from service.pages.known_answers import Known, suggestions
from service.pages.photos import keep_photos, shown_files
from service.pages.rendering import house_of, page, spoken
from service.pages.respondents import DischargerRoute, opened, own_duty, who_wrote, writers_named, writing
from service.pages.speech import Speech, marked
from service.pages.written_report import Typed, items_shown, receipt, stamps_of, wording_shown
from service.parties import Respondent
from service.tables import FollowUp, Spill
from service.transaction import Transaction

router = APIRouter(include_in_schema=False, route_class=DischargerRoute)

# What is wrong, in plain words, and the field where it is put right.
_FAULTS: Sequence[tuple[str, str, str]] = (
    (r"^by:", "by", marked("Write the name of the person who certifies this report.")),
    (r"^title:", "title", marked("Write their title, such as plant manager.")),
    (r"^certify:", "certify", marked("Tick the box that certifies the report. Without it the report cannot be filed.")),
    (r"^email:", "email", marked("This e-mail address cannot be used. Correct it, or leave the field empty.")),
    (
        r"^amends:",
        "reason",
        marked("Nothing was changed since the version on file, so there is nothing to file. Change what is wrong first."),
    ),
    (r"^content\.(\w+):.*characters", "item-", marked("This text is too long. Attach the long part as a file.")),
    (r"", "", marked("This could not be recorded. Check what you entered, or call the city.")),
)


@dataclass(frozen=True)
class Trouble:
    """Why a form came back: what was typed, what is wrong and where, which items are missing or were changed by somebody else."""

    typed: Fields
    faults: Sequence[tuple[str, str]] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    conflict: DraftConflict | None = None
    refused: Sequence[str] = ()

    @property
    def status(self) -> int:
        """The HTTP status of the page."""
        return 409 if self.conflict else 422


@router.get("/respond/{token}/duties/{duty_id}/report")
async def report_page(request: Request, token: str, duty_id: int) -> Response:
    """The written report of one duty: the form, what was filed, and how that stands."""
    return await _report_page(request, token, duty_id)


async def _report_page(request: Request, token: str, duty_id: int, trouble: Trouble | None = None) -> Response:
    house, speech = house_of(request), spoken(request)
    async with opened(request, token) as (tx, respondent):
        spill = respondent.spill
        duty = _written(await own_duty(tx, spill, duty_id))
        history = await tx.history(spill)
        files = [row for row in await kept_files(tx, spill, ATTACHMENT) if row.obligation_id == duty.id]
    known = suggestions(Known(speech, house, spill, history, respondent), duty)
    conflict = trouble.conflict if trouble else None
    draft = duty.draft if duty.draft and duty.draft.state == "draft" else None
    wording, language, translation = wording_shown(speech, duty)
    writers = writers_named(speech, conflict.writers) if conflict else {}
    if trouble and trouble.faults and trouble.typed.text("do") == "file-incomplete":
        trouble = replace(trouble, missing={item: says for item, says in duty.items.items() if not trouble.typed.text(f"item.{item}")})
    typed = Typed(trouble.typed, trouble.missing, conflict.theirs if conflict else None) if trouble else None
    revision = conflict.draft.revision if conflict else trouble.typed.text("revision") if trouble else draft.revision if draft else 0
    return page(
        request, "respond_report.html", trouble.status if trouble else 200, spill=spill, token=token, duty=duty, zone=duty.zone,
        stamps=stamps_of(speech, duty, history), items=items_shown(duty, known, typed), trouble=trouble, draft=draft, revision=revision,
        files=shown_files(speech, files),
        writers=writers, who=_who(speech, draft), fields=_fields(duty, respondent, trouble), wording=wording,
        wording_language=language, translation=translation, source=followups.certification_of(duty.row).source,
        open_items=missing_of(duty.row, draft.content) if draft else {}, done=request.query_params.get("done", ""),
    )  # fmt: skip


def _fields(duty: Duty, respondent: Respondent, trouble: Trouble | None) -> Fields:
    """Who answers for it: as it was typed; else what this very person last wrote, or the person of the link.

    Nobody's name stands there for somebody else, so the link that is nobody's in particular offers none. A tick stands only where a form
    comes back to whoever ticked it, and not where somebody else's words came into it since.
    """
    if trouble:
        return Fields({name: values for name, values in trouble.typed.values.items() if name != "certify" or not trouble.conflict})
    link, draft = respondent.link, duty.draft if duty.draft and duty.draft.state == "draft" else None
    said = said_of_themselves(duty.draft, respondent.actor) if link else {}
    return Fields({
        "by": [said.get("by") or (link.name if link else "")], "title": [said.get("title", "")],
        "email": [said.get("email") or (link.email if link else "")], "reason": [draft.reason if draft else ""],
    })  # fmt: skip


def _who(speech: Speech, draft: FollowUp | None) -> str:
    return who_wrote(speech, draft.saved_by) if draft else ""


def _written(duty: Duty) -> Duty:
    if not duty.wants_report:
        raise NotKnown("this duty is not done by a report")
    return duty


@router.post("/respond/{token}/duties/{duty_id}/report")
async def write_report(request: Request, token: str, duty_id: int) -> Response:
    """Keep the report as a draft, or certify and file it: stamped, and on record for good. Files that come with it are kept first."""
    fields = await read_fields(request)
    files = fields.text("do") in ("file", "file-incomplete")
    refused = await _attach(request, token, duty_id, fields)
    try:
        async with writing(request, token) as (tx, spill):
            duty = _written(await own_duty(tx, spill, duty_id))
            if files:
                filing = _filing(request, token, duty, fields)
                await file_report(tx, spill, duty.row, _content(duty, fields), filing, seen=_seen(duty, fields))
            else:
                await _save(tx, spill, duty, fields)
    except DraftConflict as error:
        trouble = Trouble(fields, conflict=error, refused=refused)
    except ReportIncomplete as error:
        trouble = Trouble(fields, _plain(spoken(request), error.others), missing=error.missing, refused=refused)
    except BadInput as error:
        trouble = Trouble(fields, _plain(spoken(request), error.faults or [str(error)]), refused=refused)
    else:
        if not refused:
            return RedirectResponse(f"/respond/{token}/duties/{duty_id}/report?done={'filed' if files else 'draft'}", 303)
        trouble = Trouble(fields, refused=refused)
    return await _report_page(request, token, duty_id, trouble)


def _content(duty: Duty, fields: Fields) -> dict[str, str]:
    return {item: fields.text(f"item.{item}") for item in duty.items if f"item.{item}" in fields}


def _seen(duty: Duty, fields: Fields) -> Seen:
    revision = fields.text("revision")
    marks = {item: fields.text(f"mark.{item}") for item in duty.items if fields.text(f"mark.{item}")}
    return Seen(int(revision) if re.fullmatch(r"[0-9]{1,9}", revision) else None, marks)


async def _save(tx: Transaction, spill: Spill, duty: Duty, fields: Fields) -> FollowUp:
    return await save_draft(
        tx, spill, duty.row, _content(duty, fields), fields.text("by"), title=fields.text("title"), email=fields.text("email"),
        reason=_reason(fields), seen=_seen(duty, fields),
    )  # fmt: skip


def _reason(fields: Fields) -> str | None:
    return fields.text("reason") if "reason" in fields else None


def _filing(request: Request, token: str, duty: Duty, fields: Fields) -> Filing:
    """What the form says of who files."""
    speech = spoken(request)
    return Filing(
        fields.text("by"), fields.text("title"), wording_shown(speech, duty)[0], agreed=bool(fields.text("certify")),
        incomplete=fields.text("do") == "file-incomplete", reason=_reason(fields), receipt_to=fields.text("email"),
        link=f"{house_of(request).settings.public_url}/respond/{token}/duties/{duty.id}/report", language=speech.language,
    )  # fmt: skip


async def _attach(request: Request, token: str, duty_id: int, fields: Fields) -> list[str]:
    """Keep the files of the form with the version that is filed next. Returns a sentence for each that was not."""
    uploads = fields.uploads("files")
    if not uploads:
        return []
    async with opened(request, token) as (tx, respondent):
        duty = _written(await own_duty(tx, respondent.spill, duty_id))
        if duty.state in ("withdrawn", "waived"):
            raise Conflict("no report is owed")
        version = await followups.next_version(tx, duty.row)
    actor, name = respondent.actor, respondent.link.name if respondent.link else respondent.actor
    belonging = Belonging(respondent.spill.reference, ATTACHMENT, actor, name, obligation_id=duty.id, version=version)
    return (await keep_photos(request, belonging, uploads))[1]


def _plain(speech: Speech, faults: Sequence[str]) -> list[tuple[str, str]]:
    """What is wrong, each with the id of its field."""
    found: dict[tuple[str, str], None] = {}
    for fault in faults:
        pattern, place, says = next(one for one in _FAULTS if re.search(one[0], fault))
        item = re.search(pattern, fault)
        found[f"{place}{item[1]}" if place == "item-" and item else place, speech.say(says)] = None
    return list(found)


# -- while it is typed


@router.post("/respond/{token}/duties/{duty_id}/report/draft")
async def keep_typing(request: Request, token: str, duty_id: int) -> Response:
    """Keep what is typed. For the script of the form: JSON with the new revision, or 409 with what somebody else wrote meanwhile."""
    fields, speech = await read_fields(request), spoken(request)
    try:
        async with writing(request, token) as (tx, spill):
            duty = _written(await own_duty(tx, spill, duty_id))
            content = _content(duty, fields)
            draft = await _save(tx, spill, duty, fields)
            missing = missing_of(duty.row, draft.content)
    except DraftConflict as error:
        told = {"who": writers_named(speech, error.writers), "theirs": error.theirs}
        return JSONResponse({**_kept(error.draft, content, error.theirs), **told}, 409)
    left = len(missing)
    says = [
        speech.say("Draft saved, %(when)s.", when=speech.hour(draft.saved_at, duty.zone)),
        speech.count("%(number)s item is still empty.", "%(number)s items are still empty.", left)
        if left
        else speech.say("Nothing is missing."),
    ]
    return JSONResponse({**_kept(draft, content), "says": " ".join(says)})


def _kept(draft: FollowUp, sent: Mapping[str, str], contested: Mapping[str, str] | None = None) -> dict[str, Any]:
    """How the draft stands: its revision, the mark of each item, and the items that say something else than what was sent."""
    # Of an item that nobody wrote yet there is nothing to take over: what the record suggests for it stays in its field.
    stored = {item: draft.content.get(item, "") for item, text in sent.items() if draft.content.get(item) or not text}
    marks = {item: mark_of(text) for item, text in stored.items()}
    others = {item: text for item, text in stored.items() if marks[item] != mark_of(sent[item]) and item not in (contested or {})}
    return {"revision": draft.revision, "marks": marks, "others": others}


# -- what was filed


@router.get("/respond/{token}/duties/{duty_id}/report/{version}/receipt.pdf")
async def receipt_pdf(request: Request, token: str, duty_id: int, version: int) -> Response:
    """The receipt of a filed version as a PDF."""
    house, speech = house_of(request), spoken(request)
    async with opened(request, token) as (tx, respondent):
        spill = respondent.spill
        duty = await own_duty(tx, spill, duty_id)
        paper = receipt(house, spill, duty, await tx.history(spill), version, speech)
    if paper is None:
        raise NotKnown("no such version was filed")
    headers = {
        "Content-Disposition": f'inline; filename="{spill.reference}-receipt-{duty.id}-{version}.pdf"', "Cache-Control": "no-store",
        "Content-Language": speech.language,
    }  # fmt: skip
    return Response(await papers.render(paper, speech.language), media_type="application/pdf", headers=headers)
