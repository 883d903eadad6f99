"""What anybody sees: the first page and the form to report a spill. Both work without an account and without JavaScript."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from service.errors import BadInput
from service.intake import Arrival, Intake, take_in
from service.kept_files import PHOTO, Belonging
from service.pages.fields import Fields, read_fields
from service.pages.photos import keep_photos_of_report
from service.pages.rendering import house_of, now_of, page, spoken
from service.pages.report_form import LIKENESSES, TURNS, body_of, is_empty, key_of, new_once, turned
from service.pages.report_guard import count_report, doubts_about
from service.pages.sent_before import note_sent, report_sent_before

log = logging.getLogger(__name__)
router = APIRouter(include_in_schema=False)
_TRIES = 2


@router.get("/")
async def home(request: Request) -> Response:
    """What this is, and the way to report."""
    house = house_of(request)
    cities = [house.rulebook.law_of(city).city.title for city in house.cities]
    return page(request, "home.html", cities=cities)


@router.get("/report")
async def report_form(request: Request) -> Response:
    """The empty form."""
    return _form(request, Fields(), is_fresh=True)


@router.post("/report")
async def report(request: Request) -> Response:
    """Take the report in and lead to its page. Where it cannot be kept, the form comes back with everything that was typed.

    The report comes first: a photo that cannot be kept is told of on the page of a report that is. The same sent again from the same
    showing of the form is the same report. From another showing, as after going back, it is asked whether it is another spill.
    """
    standing = await count_report(request)
    fields = await read_fields(request)
    if "turn" in fields:  # the other language was asked for; nothing is sent yet
        return _form(request, turned(fields))
    if is_empty(fields):
        return _form(request, fields, 422, "empty")
    if "another" not in fields and (before := await report_sent_before(request, fields)):
        return _form(request, _shown_anew(fields), 409, "sent before", before=before)
    taken = await _take_in(request, fields, await doubts_about(request, standing, fields))
    if taken is None:
        return _form(request, fields, 503, "not kept")
    left_over = await _keep_photos(request, taken.reference, fields)
    told = f"?unkept={left_over}" if left_over else "?done=again" if taken.replayed else ""
    response = RedirectResponse(urlsplit(taken.status_url).path + told, 303)
    note_sent(request, response, taken.reference, fields)
    return response


def _shown_anew(fields: Fields) -> Fields:
    """What was typed, for another showing of the form: sent from there it is another report."""
    return Fields({name: values for name, values in fields.values.items() if name != "once"})


async def _take_in(request: Request, fields: Fields, doubts: Sequence[str]) -> Intake | None:
    """The report's receipt, or None where it could not be kept. Tried twice: two taps at once can trip over one another."""
    house = house_of(request)
    body, key = body_of(fields, now_of(request)), key_of(fields)
    for number in range(_TRIES):
        try:
            return await take_in(house, Arrival(body, by_way_of="web", sender="public", key=key, doubts=doubts))
        except BadInput:
            key = ""  # the key stands for another report: better kept twice than not at all
        except Exception:
            log.exception("a report from the web form could not be kept, try %d of %d", number + 1, _TRIES)
    return None


async def _keep_photos(request: Request, reference: str, fields: Fields) -> int:
    """Keep the photos of a report that is taken in. Returns how many could not be kept; whatever happens, the report stands."""
    uploads = fields.uploads("photos")
    if not uploads:
        return 0
    shares = fields.text("share_location") == "yes"
    belonging = Belonging(reference, PHOTO, f"reporter of {reference}", "the reporter", share_location=shares)
    try:
        return await keep_photos_of_report(house_of(request), belonging, uploads)
    except Exception:  # the report must not fail for a photo
        log.exception("the photos of %s could not be kept", reference)
        return len(uploads)


def _form(
    request: Request, fields: Fields, status: int = 200, problem: str = "", *, is_fresh: bool = False, before: tuple[str, str] = ("", "")
) -> Response:
    """The form with what was typed. `is_fresh`: nothing was yet, so that a draft on the phone may be laid into it.

    `before`: the reference of a report that was sent with the same words, and the path of its page.
    """
    if "once" not in fields:
        fields = Fields({**fields.values, "once": [new_once(now_of(request))]})
    language = fields.text("language") or spoken(request).language
    return page(
        request, "report.html", status, fields=fields, problem=problem, wanted_language=language, is_fresh=is_fresh,
        likenesses=LIKENESSES, turns=TURNS, before=before,
    )  # fmt: skip
