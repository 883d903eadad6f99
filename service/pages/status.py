"""The reporter's private page: the receipt, what happens next, news, more to add, and what the law lets them ask for."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from service import forgetting, papers, turnstile
from service.closing import History, closed_in
from service.errors import BadInput, Conflict
from service.events import FilesLeftOut, ReporterAdded
from service.following import LONGEST_ADDITION, add_words, ask_for_action, correct_contact, note_copy, reporter_of, waits_for_answer
from service.grouping import acts_since, head_of
from service.held_reports import is_held
from service.kept_files import PHOTO, Belonging, CannotKeep
from service.obligations import of_spill
from service.pages.fields import Fields, read_fields
from service.pages.forgetting import forget_shown
from service.pages.nearby import offered
from service.pages.photos import keep_photos, photos_of, why_left_out
from service.pages.record_copy import law_of_copies, record_copy
from service.pages.rendering import house_of, page, spoken, zone_of
from service.pages.reporter_news import Said, news, plain_flags, said_by_city, understood, words_of_reporter
from service.pages.speech import Speech
from service.parties import spill_of_token, unreachable
from service.spills import clean
from service.tables import Obligation, Spill
from service.transaction import Transaction, reading, transaction

log = logging.getLogger(__name__)
router = APIRouter(include_in_schema=False)
_MOST_NAMED = 40


@router.get("/status/{token}")
async def status(request: Request, token: str) -> Response:
    """The page of one report, for whoever holds its private link."""
    return await _status_page(request, token)


def _left_over(request: Request, history: History) -> list[str]:
    """What the form says of photos that could not be kept with the report, by `unkept` in the address: each with its name and reason."""
    count, speech = request.query_params.get("unkept", ""), spoken(request)
    if request.method != "GET" or not re.fullmatch(r"[1-9]\d{0,2}", count):
        return []
    told = speech.count(
        "%(number)s photo could not be kept. Your report is safe; you can add a photo here.",
        "%(number)s photos could not be kept. Your report is safe; you can add photos here.", int(count),
    )  # fmt: skip
    files = next((event.files for _, event in reversed(history) if isinstance(event, FilesLeftOut)), [])
    return [told, *why_left_out(speech, house_of(request), files[:_MOST_NAMED])]


async def _status_page(
    request: Request, token: str, typed: str = "", fault: str = "", photo_faults: Sequence[str] = (), code: int = 200,
    contact: Mapping[str, str] | None = None, contact_faults: Collection[str] = (), forget_fault: bool = False,
) -> Response:  # fmt: skip
    house, speech = house_of(request), spoken(request)
    async with reading(house) as tx:
        spill = await spill_of_token(tx, "status", token)
        history = await tx.history(spill)
        head = await head_of(tx, spill)
        owed = [row for row in await of_spill(tx, head) if row.state not in ("withdrawn", "waived")]
        since = await acts_since(tx, spill, head, history)
        will_be_told = bool(reporter_of(tx, spill).addresses)
        photos = await photos_of(tx, spill, speech)
        near = await offered(tx, speech, spill, history)
        forget = await forget_shown(tx, spill, history, speech)
    zone = zone_of(house, spill.city)
    said = said_by_city(speech, house, spill, history)
    added = [(row.recorded_at, event.text) for row, event in history if isinstance(event, ReporterAdded) and event.text]
    return page(
        request, "status.html", code, spill=spill, zone=zone, token=token, understood=understood(speech, house, spill, zone),
        news=news(speech, house, spill, [*history, *since]), flags=plain_flags(speech, spill.flags), finished=_finished(owed),
        owed=len(owed), merged=spill.merged_into is not None,
        raw=words_of_reporter(history), added=added, photos=photos, closed=_closing(said) if closed_in(history) else None, said=said,
        waits=waits_for_answer(history), will_be_told=will_be_told, right=law_of_copies(house, spill),
        done=request.query_params.get("done", ""), typed=clean(typed), fault=fault, longest=LONGEST_ADDITION, nearby=near,
        photo_faults=photo_faults or _left_over(request, history), unreachable=unreachable(house, spill.reporter), contact=contact or {},
        contact_faults=contact_faults, is_held=is_held(spill), forget=forget, forget_fault=forget_fault,
    )  # fmt: skip


def _closing(said: Sequence[Said]) -> Said:
    return next(one for one in reversed(said) if one.kind == "closed")


def _finished(owed: Sequence[Obligation]) -> int:
    return sum(row.state in ("met", "met_late") for row in owed)


@asynccontextmanager
async def _writing(request: Request, token: str) -> AsyncIterator[tuple[Transaction, Spill]]:
    """A transaction in the reporter's name, under no name of theirs, with the spill that their link leads to."""
    house = house_of(request)
    async with reading(house) as tx:
        reference = (await spill_of_token(tx, "status", token)).reference
    async with transaction(house, f"reporter of {reference}") as tx:
        yield tx, await tx.spill(reference)


@router.post("/status/{token}/more", dependencies=[Depends(turnstile.at("addition"))])
async def add(request: Request, token: str) -> Response:
    """Keep what the reporter tells now, and their photos; staff are told. What cannot be kept comes back with the form."""
    house, fields = house_of(request), await read_fields(request)
    typed, uploads = fields.text("text"), fields.uploads("photos")
    async with reading(house) as tx:
        spill = await spill_of_token(tx, "status", token)
        is_closed = closed_in(await tx.history(spill)) is not None
    count, photo_faults = await _keep_photos(request, spill, fields) if uploads and not is_closed else (0, [])
    if photo_faults and not count and not typed:
        return await _status_page(request, token, photo_faults=photo_faults, code=422)
    try:
        async with _writing(request, token) as (tx, spill):
            await add_words(tx, spill, typed, count)
    except (BadInput, Conflict) as error:
        return await _status_page(request, token, typed, _plain(spoken(request), error), photo_faults, error.status)
    if photo_faults:  # what was kept is shown on the page, and what was not is said
        return await _status_page(request, token, photo_faults=photo_faults, code=422)
    return _back(token, "added", "#more")


async def _keep_photos(request: Request, spill: Spill, fields: Fields) -> tuple[int, list[str]]:
    """How many photos were kept, and a sentence for each that was not. A full disk keeps no words from being kept."""
    belonging = Belonging(
        spill.reference, PHOTO, f"reporter of {spill.reference}", "the reporter", share_location=fields.text("share_location") == "yes"
    )
    try:
        kept, faults = await keep_photos(request, belonging, fields.uploads("photos"))
    except CannotKeep:
        log.exception("photos of %s could not be kept", spill.reference)
        return 0, [spoken(request).say("Photos cannot be stored just now. Send them again in a few minutes.")]
    return len(kept), faults


def _plain(speech: Speech, error: BadInput | Conflict) -> str:
    """Why words were not kept, for the reporter."""
    if isinstance(error, Conflict):
        return speech.say("This report is closed, so nothing can be added. If it happens again, send a new report.")
    if error.status == 429:
        return speech.say("This report cannot take any more. Call the city, or send a new report.")
    if "missing" in " ".join(error.faults):
        return speech.say("Write what is new, or choose a photo.")
    return speech.say(
        "This is too long: %(most)s characters can be added at a time. Send it in parts.", most=speech.number(LONGEST_ADDITION)
    )


@router.post("/status/{token}/contact", dependencies=[Depends(turnstile.at("addition"))])
async def contact(request: Request, token: str) -> Response:
    """Put right how the reporter can be reached. What no message can reach either comes back, named."""
    fields = await read_fields(request)
    typed = {way: fields.text(way) for way in ("email", "phone")}
    try:
        async with _writing(request, token) as (tx, spill):
            if unreachable(tx.house, spill.reporter):  # pressed twice, it is right already
                await correct_contact(tx, spill, typed)
    except BadInput as error:
        return await _status_page(
            request, token, code=422, contact=typed, contact_faults=[fault.partition(":")[0] for fault in error.faults]
        )  # fmt: skip
    return _back(token, "reach", "#reach")


@router.post("/status/{token}/copy", dependencies=[Depends(turnstile.at("addition"))])
async def copy(request: Request, token: str) -> Response:
    """Note that the reporter takes a copy of the record, and hand it out."""
    async with _writing(request, token) as (tx, spill):
        await note_copy(tx, spill, spoken(request).language)
    return RedirectResponse(f"/status/{token}/record.pdf", 303)


@router.get("/status/{token}/record.pdf", dependencies=[Depends(turnstile.at("paper"))])
async def record(request: Request, token: str) -> Response:
    """The record of the report as a PDF, in the language of the request."""
    speech = spoken(request)
    async with reading(house_of(request)) as tx:
        spill = await spill_of_token(tx, "status", token)
        paper = await record_copy(tx, spill, speech)
    headers = {
        "Content-Disposition": f'attachment; filename="{spill.reference}.pdf"', "Content-Language": speech.language,
        "Vary": "Accept-Language, Cookie", "Cache-Control": "no-store",
    }  # fmt: skip
    return Response(await papers.render(paper, speech.language), media_type="application/pdf", headers=headers)


@router.post("/status/{token}/action", dependencies=[Depends(turnstile.at("addition"))])
async def action(request: Request, token: str) -> Response:
    """Note that the reporter wants to know what action was taken; staff are told."""
    async with _writing(request, token) as (tx, spill):
        await ask_for_action(tx, spill)
    return _back(token, "asked", "#action")


@router.post("/status/{token}/forget", dependencies=[Depends(turnstile.at("addition"))])
async def forget(request: Request, token: str) -> Response:
    """Put on record that the reporter wishes to be forgotten, and do it at once where no law keeps who they are."""
    fields = await read_fields(request)
    if fields.text("sure") != "yes":
        return await _status_page(request, token, forget_fault=True, code=422)
    async with _writing(request, token) as (tx, spill):
        done = await forgetting.ask(tx, spill)
    if done is not None:
        await forgetting.finish(house_of(request), done)
    return _back(token, "forget", "#privacy")


def _back(token: str, done: str, place: str) -> Response:
    return RedirectResponse(f"/status/{token}?done={done}{place}", 303)
