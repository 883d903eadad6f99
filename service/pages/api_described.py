"""The description of the API for people, at /docs: Swagger UI from our own files, so that no other site learns who reads it."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from service.pages.rendering import page

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def described(request: Request) -> Response:
    """Every call of the API, to read and to try. Without scripts: the OpenAPI document itself, and where calls are explained."""
    return page(request, "api.html")
