"""A person judges a report that looks automatic: it is real, and its clocks run from when it came; or it is not, and it is closed."""

from __future__ import annotations

from service.closing import close
from service.errors import Conflict
from service.held_reports import end_holding, is_held
from service.intake import release
from service.tables import Spill
from service.transaction import Transaction

_NOT_REAL = {
    "en": "This looked like an automatic message, not a report of a spill. If you saw a spill, please report it again or call the city.",
    "es": "Esto parecía un mensaje automático y no el aviso de un derrame. Si usted vio un derrame, avise de nuevo o llame a la ciudad.",
}


async def call_real(tx: Transaction, spill: Spill) -> None:
    """Say that a held report is real: it is put to the law as of when it came, and alerts as usual. Raises Conflict where none is held."""
    _check(spill)
    await release(tx, spill, "a person says that it is real")


async def set_aside(tx: Transaction, spill: Spill, office: str) -> None:
    """Say that a held report is none, and close it. Its sender, whoever that is, is sent no message. Raises Conflict as `call_real`."""
    _check(spill)
    await close(tx, spill, _NOT_REAL, office)  # while it is held: so nothing goes out to the address in it
    await end_holding(tx, spill, is_real=False)


def _check(spill: Spill) -> None:
    if not is_held(spill):
        raise Conflict(f"{spill.reference} was judged already")
