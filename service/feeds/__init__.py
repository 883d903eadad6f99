"""What other programs read by themselves: advisories as CAP 1.2, spills and advisories as Atom; and due times, at private addresses."""

from fastapi import APIRouter

from service.feeds import calendar, routes

router = APIRouter()
router.include_router(routes.router)
router.include_router(calendar.router)

__all__ = ["router"]
