"""What keeps programs from filling the form: a limit a sender, a field that people do not see, and a proof of work above a rate.

Nothing of it refuses a report below the limit. Without JavaScript, or where the proof does not come, the report is kept all the same, and
held until a person has looked at it: see service/held_reports.py.
"""

from __future__ import annotations

import logging

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from service import turnstile
from service.held_reports import TRAP, UNPROVEN
from service.pages.fields import Fields
from service.pages.rendering import house_of
from service.proof_of_work import is_proved, new_challenge
from service.turnstile import Standing

log = logging.getLogger(__name__)
router = APIRouter(include_in_schema=False)
# Names that nothing on a person's side fills in by itself: no browser knows them, no list of addresses has them.
TRAP_FIELD, PROOF_FIELD = "more_remarks", "proof"


async def count_report(request: Request) -> Standing:
    """Count a report before anything of it is read. Raises TooOften above what any person reaches."""
    return await turnstile.check(request, turnstile.REPORT)


async def doubts_about(request: Request, standing: Standing, fields: Fields) -> list[str]:
    """Why a report looks automatic; nothing for one that does not. A proof is used up by this."""
    doubts = [TRAP] if fields.text(TRAP_FIELD) else []
    if standing.needs_proof and not await _has_proof(request, fields):
        doubts.append(UNPROVEN)
    return doubts


async def _has_proof(request: Request, fields: Fields) -> bool:
    try:
        return await is_proved(house_of(request), fields.text(PROOF_FIELD))
    except Exception:  # whatever a made-up proof does to us, the report is kept
        log.exception("a proof of work could not be looked at")
        return False


@router.get("/report/challenge")
async def challenge(request: Request) -> Response:
    """A challenge for the script of the form, where one of the sender's next reports will need a proof; else null."""
    await turnstile.check(request, "hint")
    house = house_of(request)
    needed = await turnstile.would_need_proof(house, turnstile.REPORT, turnstile.sender_of(request))
    return JSONResponse({"challenge": new_challenge(house) if needed else None}, headers={"Cache-Control": "no-store"})
