"""A TCP proxy on 127.0.0.1 between a client and its server, with faults that a test switches on."""

import asyncio
import socket
import struct
from enum import Enum
from types import TracebackType
from typing import Self

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # linger for 0 seconds: close with RST


SLOW_BYTES = 64


class Fault(Enum):
    """What happens to a connection."""

    NONE = "bytes pass"
    RESET = "new connections are reset at once"
    SLOW = "bytes pass, a few at a time with a pause before each"
    SILENCE = "new connections are accepted, and nothing passes on any, new or old"


class FaultProxy:
    """Passes bytes to `upstream`. `cut_before_server` and `cut_before_client` are bytes that do not arrive: there the wire is cut, once.

    `passes`: how often such bytes still pass before that.
    """

    def __init__(self, upstream: tuple[str, int]) -> None:
        self.fault = Fault.NONE
        self.cut_before_server: bytes | None = None
        self.cut_before_client: bytes | None = None
        self.passes = 0
        self.connections = 0  # how many were accepted so far
        self.slow_seconds = 0.01  # the pause of a slow wire
        self.cuts = 0  # how often the wire was cut on such bytes
        self._upstream = upstream
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        self._server.close()
        self.reset_all()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._server.wait_closed()

    def reset_all(self) -> None:
        """Cut every open connection, as a server does that dies."""
        for writer in list(self._writers):
            _reset(writer)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            await self._pass(reader, writer)
        except asyncio.CancelledError:
            return  # asked for by __aexit__; asyncio's streams would log it as an error
        finally:
            self._writers.discard(writer)
            self._tasks.discard(task)
            writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.fault is Fault.RESET:
            return _reset(writer)
        if self.fault is Fault.SILENCE:
            await asyncio.Event().wait()
        upstream_reader, upstream_writer = await asyncio.open_connection(*self._upstream)
        self._writers.add(upstream_writer)
        to_server = asyncio.ensure_future(self._pump(reader, upstream_writer, "cut_before_server"))
        to_client = asyncio.ensure_future(self._pump(upstream_reader, writer, "cut_before_client"))
        try:
            await asyncio.wait({to_server, to_client}, return_when=asyncio.FIRST_COMPLETED)
            if any(pump.done() and pump.result() for pump in (to_server, to_client)):
                _reset(writer)
                _reset(upstream_writer)
        finally:
            for pump in (to_server, to_client):
                pump.cancel()
            await asyncio.gather(to_server, to_client, return_exceptions=True)
            self._writers.discard(upstream_writer)
            upstream_writer.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, marker_name: str) -> bool:
        """Pass bytes until one side ends (False) or the wire is to be cut (True)."""
        seen = b""
        try:
            while chunk := await reader.read(65536):
                if self.fault is Fault.SILENCE:
                    await asyncio.Event().wait()
                marker: bytes | None = getattr(self, marker_name)
                if marker and marker in seen + chunk and self.passes:
                    self.passes -= 1
                    seen = b""
                    writer.write(chunk)
                    continue
                if marker and marker in seen + chunk:
                    setattr(self, marker_name, None)
                    self.cuts += 1
                    return True
                seen = (seen + chunk)[-200:]
                if self.fault is Fault.SLOW:
                    await self._trickle(writer, chunk)
                    continue
                writer.write(chunk)
                await writer.drain()
        except ConnectionError:
            return True
        return False

    async def _trickle(self, writer: asyncio.StreamWriter, chunk: bytes) -> None:
        for start in range(0, len(chunk), SLOW_BYTES):
            await asyncio.sleep(self.slow_seconds)
            writer.write(chunk[start : start + SLOW_BYTES])
            await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    wire = writer.get_extra_info("socket")
    if wire is not None and wire.fileno() != -1:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    writer.transport.abort()
