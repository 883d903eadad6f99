"""The HTTP API of the contract, section 5."""

from fastapi import APIRouter

from service.api import clocks, spills

router = APIRouter(prefix="/api/v1")
router.include_router(spills.router)
router.include_router(clocks.router)

__all__ = ["router"]
