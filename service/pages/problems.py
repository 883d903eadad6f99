"""The page for what went wrong: what happened, and what to do now."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import HTMLResponse

from service.errors import SpillclockError
from service.pages.rendering import page, spoken
from service.pages.speech import marked

_NEXT_STEPS = {
    400: (marked("That could not be read"), marked("Go back and try again.")),
    401: (marked("Sign in first"), marked("This page is for staff who are signed in.")),
    403: (marked("Not allowed"), marked("You may not do this. If you should be able to, ask the person who manages accounts.")),
    404: (
        marked("Nothing is here"),
        marked("The address may be cut off or mistyped, or the link was replaced. Ask for a new link, or start from the home page."),
    ),
    405: (marked("Nothing is here"), marked("Start from the home page.")),
    409: (marked("That has been done already"), marked("Go back and load the page again to see how things stand.")),
    413: (marked("That is too large"), marked("Send less text or fewer photos, or send them in parts.")),
    422: (marked("Something is missing or wrong"), marked("Go back, correct what is named here, and send it again.")),
    429: (marked("Too many at once"), marked("Wait a minute and try again.")),
}
_TOO_MANY_REPORTS = (
    marked("Too many reports at once"),
    marked(
        "Many reports came from your network in a short time, so this one was not taken. If anybody is in danger, call 911. "
        "If the spill is new, call your city. Or go back and send the report again later: your browser may still have what you typed."
    ),
)  # fmt: skip
_OUR_FAULT = (
    marked("Something went wrong on our side"),
    marked("What you sent may not have been kept. Go back and try again in a minute."),
)  # fmt: skip


def error_page(request: Request, error: SpillclockError) -> HTMLResponse:
    """A plain page that says what happened and what to do, with the right status."""
    title, advice = _NEXT_STEPS.get(error.status, _OUR_FAULT)
    if error.status == 429 and request.url.path == "/report":
        title, advice = _TOO_MANY_REPORTS
    for_staff = request.url.path.startswith("/staff")
    # What exactly was wrong is in English and for staff; the public is told what to do.
    detail = str(error) if for_staff and error.status not in (404, 405) else ""
    return page(
        request, "error.html", error.status, language="en" if for_staff else spoken(request).language, title=title, advice=advice,
        detail=detail, faults=error.faults if for_staff else (), for_staff=for_staff,
    )  # fmt: skip
