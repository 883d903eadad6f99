"""The web application: pages and API over one house, errors as RFC 9457 problems, and health for operators."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from fastapi.telemetry import TelemetryConfig
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from service import api, case_file, feeds, hooks, metrics, open311, pages, watch
from service.errors import NotAllowed, NotSignedIn, SpillclockError
from service.incoming_bodies import BodyLimit
from service.transaction import House

log = logging.getLogger(__name__)

_NO_TELEMETRY: TelemetryConfig = {"auto_configure": False, "tracing": False, "metrics": False, "logs": False}
_SAFE = ("GET", "HEAD", "OPTIONS")
# What other programs post to: the API by a token, providers signed, and mail readers one-click (RFC 8058), which asks for no context.
_OPEN_DATA = (api.OPEN_DATA, "/feeds/", "/open311/")
_FROM_ANYWHERE = ("/api/", "/hooks/", "/unsubscribe/", "/open311/")


def build_app(house: House) -> FastAPI:
    """The application over a house that is ready to use (its database migrated)."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield

    app = FastAPI(
        title="Spillclock", version="0.1.0", lifespan=lifespan, docs_url=None, redoc_url=None,
        description="Spill reports in, legal clocks out, and a person told in time.",
        # FastAPI's own spans, metrics and log records hold whole paths, in which private links stand. Ours name templates.
        telemetry=_NO_TELEMETRY,
    )  # fmt: skip
    app.state.house = house
    app.state.live = pages.Live(house)
    app.add_middleware(BodyLimit)  # inside the guard: what it raises is an answer like any other
    app.middleware("http")(_guard)
    if house.settings.trusted_proxies:  # outside all else: whoever they name is the client of the request
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=house.settings.trusted_proxies)
    app.add_middleware(metrics.Measuring, house=house)
    app.add_exception_handler(SpillclockError, _problem)
    app.add_exception_handler(HTTPException, _http_problem)
    app.add_exception_handler(RequestValidationError, _input_problem)
    app.add_exception_handler(SQLAlchemyError, _no_database)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _unforeseen)
    app.include_router(api.router)
    app.include_router(feeds.router)
    app.include_router(open311.router)
    app.include_router(hooks.router)
    app.include_router(pages.router)
    app.include_router(case_file.router)
    static = Path(str(files("service") / "static"))
    app.mount("/static/fonts", StaticFiles(directory=static / "fonts"))  # are packed already
    # Nothing else is sent packed: a page with a secret link beside words that others wrote would give the link away by its length (BREACH).
    app.mount("/static", GZipMiddleware(StaticFiles(directory=static), minimum_size=1000, compresslevel=6), name="static")
    app.add_api_route("/healthz", _alive, include_in_schema=False)
    app.add_api_route("/readyz", _ready, include_in_schema=False)
    app.add_api_route("/metrics", metrics.metrics, include_in_schema=False)
    return app


def build_worker_app(house: House, is_working: Callable[[], bool]) -> FastAPI:
    """What a worker of its own answers on `WORKER_BIND`: whether it works, and what it measured."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, telemetry=_NO_TELEMETRY)
    app.state.house = house
    app.add_exception_handler(SpillclockError, _problem)

    async def alive() -> Response:
        return JSONResponse({"status": "working"} if is_working() else {"status": "stands still"}, 200 if is_working() else 503)

    app.add_api_route("/healthz", alive)
    app.add_api_route("/metrics", metrics.of_this_process)
    return app


async def _guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Refuse form posts that come from another site, and send the headers that keep pages to themselves."""
    # No text has a NUL in it, and PostgreSQL cannot even be asked for one: what is looked for is what stands around it.
    request.scope["query_string"] = request.scope["query_string"].replace(b"%00", b"")
    if request.method not in _SAFE and not request.url.path.startswith(_FROM_ANYWHERE) and not _same_site(request):
        return await _problem(request, NotAllowed("this form was sent from another site"))
    response = await call_next(request)
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("X-Frame-Options", "DENY")
    # Private links must not travel to other sites as a referrer.
    response.headers.setdefault("Referrer-Policy", "same-origin")
    if request.url.path.startswith(_OPEN_DATA):
        response.headers.setdefault("Access-Control-Allow-Origin", "*")  # pages of other sites may read it, and nothing else of ours
    pictures = f"'self' data: {request.app.state.house.settings.tiles_origin}".strip()
    policy = f"default-src 'self'; img-src {pictures}; frame-ancestors 'none'; form-action 'self'; base-uri 'none'"
    response.headers.setdefault("Content-Security-Policy", policy)
    return response


def _same_site(request: Request) -> bool:
    fetch_site = request.headers.get("sec-fetch-site")
    if fetch_site is not None:
        return fetch_site in ("same-origin", "none")
    origin = request.headers.get("origin")
    # Browsers send one or the other with every form post; a plain client that sends neither carries no stolen cookie either.
    return not request.cookies if origin is None else urlsplit(origin).netloc == request.headers.get("host")


async def _problem(request: Request, error: Exception) -> Response:
    if not isinstance(error, SpillclockError):
        raise error
    if not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", ""):
        page: Response = pages.error_page(request, error)
        page.headers.update(_when_again(error))
        return page
    body: dict[str, Any] = {"type": "about:blank", "title": error.title, "status": error.status, "detail": str(error)}
    if error.faults:
        body["errors"] = error.faults
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, NotSignedIn) else _when_again(error)
    return JSONResponse(body, error.status, headers, media_type="application/problem+json")


def _when_again(error: SpillclockError) -> dict[str, str]:
    return {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}


async def _http_problem(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    told = SpillclockError(str(error.detail))
    told.status, told.title = error.status_code, str(error.detail)
    response = await _problem(request, told)
    response.headers.update(error.headers or {})
    return response


async def _input_problem(request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    told = SpillclockError("the request has faults", [f"{'.'.join(map(str, part['loc']))}: {part['msg']}" for part in error.errors()])
    told.status, told.title = 422, "The input has faults"
    return await _problem(request, told)


async def _gone(request: Request, _: Exception) -> Response:
    """Whoever sent this went away in the middle, as phones do. Nobody reads the answer, and nothing is wrong here."""
    log.info("the sender went away during %s", request.method)
    return Response(status_code=400)


async def _no_database(request: Request, error: Exception) -> Response:
    """The database cannot be reached or written: nothing was stored, and the caller is told to try again."""
    log.exception("the database failed during %s", request.method, exc_info=error)
    told = SpillclockError("the database cannot be used just now; nothing was stored; try again in a minute")
    told.status, told.title = 503, "Try again"
    response = await _problem(request, told)
    response.headers["Retry-After"] = "30"
    return response


async def _unforeseen(request: Request, error: Exception) -> Response:
    """A fault of ours: logged by the server with its traceback, told without its insides."""
    del error
    told = SpillclockError("something went wrong on our side; the operator's log says what")
    told.status, told.title = 500, "Our fault"
    return await _problem(request, told)


async def _alive(request: Request) -> dict[str, str]:
    """The process answers."""
    del request
    return {"status": "alive"}


async def _ready(request: Request) -> Response:
    """200 where the database answers, a worker finished a round lately and no alert waits for long; else 503 saying what fails."""
    found = await watch.checks(request.app.state.house)
    ready = watch.is_well(found)
    return JSONResponse({"status": "ready" if ready else "not ready", "checks": found}, 200 if ready else 503)
