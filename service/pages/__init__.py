"""The web pages, all made on the server: they work without JavaScript, on a small phone, with a screen reader.

Anybody reports (`public`); the reporter follows (`status`); the discharger does and files (`discharger`); staff sign in (`sign_in`), see
the board (`board`) and work on one spill (`spill`, `place`). A page never changes anything on GET.
"""

from fastapi import APIRouter

from service.pages import board, discharger, place, public, quantities, sign_in, spill, status
from service.pages.problems import error_page

router = APIRouter()
for part in (public, status, discharger, sign_in, board, spill, place, quantities):
    router.include_router(part.router)

__all__ = ["error_page", "router"]
