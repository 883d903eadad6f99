"""The HTTP API of the contract, section 5."""

from fastapi import APIRouter, Security

from service.api import (
    calendars,
    cities,
    clocks,
    closing,
    contacts,
    event_hooks,
    forwarding,
    numbers,
    photos,
    public_spills,
    quantities,
    replies,
    reports,
    retention,
    rotas,
    rules,
    spills,
    subscriptions,
    templates,
    whole_spills,
)
from service.api.callers import KEY

OPEN_DATA = public_spills.PATH
router = APIRouter(prefix="/api/v1")
router.include_router(spills.router, dependencies=[Security(KEY)])
router.include_router(reports.router, dependencies=[Security(KEY)])
router.include_router(clocks.router, dependencies=[Security(KEY)])
router.include_router(photos.router, dependencies=[Security(KEY)])
router.include_router(closing.router, dependencies=[Security(KEY)])
router.include_router(retention.router, dependencies=[Security(KEY)])
router.include_router(quantities.router)
router.include_router(rules.router)
router.include_router(calendars.router, dependencies=[Security(KEY)])
router.include_router(cities.router)
router.include_router(contacts.router, dependencies=[Security(KEY)])
router.include_router(public_spills.router)
router.include_router(rotas.router, dependencies=[Security(KEY)])
router.include_router(replies.router, dependencies=[Security(KEY)])
router.include_router(templates.router, dependencies=[Security(KEY)])
router.include_router(subscriptions.router, dependencies=[Security(KEY)])
router.include_router(event_hooks.router, dependencies=[Security(KEY)])
router.include_router(forwarding.router, dependencies=[Security(KEY)])
router.include_router(numbers.router, dependencies=[Security(KEY)])
router.include_router(whole_spills.router, dependencies=[Security(KEY)])

__all__ = ["OPEN_DATA", "router"]
