"""The HTTP API of the contract, section 5."""

from fastapi import APIRouter

from service.api import (
    calendars,
    cities,
    clocks,
    closing,
    photos,
    public_spills,
    quantities,
    replies,
    reports,
    rotas,
    rules,
    spills,
    subscriptions,
    templates,
    whole_spills,
)

OPEN_DATA = public_spills.PATH
router = APIRouter(prefix="/api/v1")
router.include_router(spills.router)
router.include_router(reports.router)
router.include_router(clocks.router)
router.include_router(photos.router)
router.include_router(closing.router)
router.include_router(quantities.router)
router.include_router(rules.router)
router.include_router(calendars.router)
router.include_router(cities.router)
router.include_router(public_spills.router)
router.include_router(rotas.router)
router.include_router(replies.router)
router.include_router(templates.router)
router.include_router(subscriptions.router)
router.include_router(whole_spills.router)

__all__ = ["OPEN_DATA", "router"]
