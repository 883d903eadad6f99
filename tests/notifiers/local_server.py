"""A real HTTP server on 127.0.0.1 that keeps what it is sent and answers what a test tells it to: a webhook's receiver, or an ntfy."""

import asyncio
import json
import socket
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import trustme
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.notifiers.fake_twilio import QuietServer


@dataclass(frozen=True)
class Posted:
    """One request that was answered with 200: its path, its headers and its body."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def read(self) -> Any:
        """The body as the JSON that it is."""
        return json.loads(self.body)


class LocalServer:
    """Takes every POST. `answer` is given in place of 200, and then nothing is kept; `wait_seconds` passes before any answer."""

    def __init__(self, certificate: trustme.LeafCert | None = None, folder: Path | None = None) -> None:
        self.taken: list[Posted] = []
        self.asked = 0
        self.answer: Response | None = None
        self.wait_seconds = 0.0
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        tls: dict[str, Any] = {}
        if certificate is not None and folder is not None:
            (folder / "server.pem").write_bytes(certificate.private_key_and_cert_chain_pem.bytes())
            tls = {"ssl_certfile": folder / "server.pem"}
        app = Starlette(routes=[Route("/{path:path}", self._take, methods=["POST"])])
        self._server = QuietServer(uvicorn.Config(app, log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=1, **tls))
        self._task: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    async def __aenter__(self) -> Self:
        self._task = asyncio.ensure_future(self._server.serve(sockets=[self._socket]))
        await self._server.ready.wait()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.should_exit = self._server.force_exit = True
        assert self._task is not None
        await self._task
        self._socket.close()

    async def _take(self, request: Request) -> Response:
        self.asked += 1
        body = await request.body()
        await asyncio.sleep(self.wait_seconds)
        if self.answer is not None:
            return self.answer
        self.taken.append(Posted(request.url.path, dict(request.headers), body))
        return JSONResponse({"id": f"took {len(self.taken)}"})
