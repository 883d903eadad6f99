"""The long-running programs: `serve` (web and worker in one process), `web`, `worker`."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager

import uvicorn
from fastapi import FastAPI

from service import intake, outbox, packs_seen, public_record, settings_check, wiring
from service.accounts import first_administrator
from service.app import build_app, build_worker_app
from service.clock import Now, real_now
from service.errors import BadInput, SpillclockError
from service.office_days import count_gaps_anew
from service.settings import Settings, unknown_names
from service.transaction import House, transaction
from service.worker import Worker, working

log = logging.getLogger(__name__)

_STOP_SECONDS = 2  # for requests under way; the worker's last sends get three more, and whoever stops us may wait no longer than ten


class AlreadyRunning(SpillclockError):
    """Another process works on the same embedded database."""


@asynccontextmanager
async def open_house(settings: Settings, now: Now = real_now) -> AsyncIterator[House]:
    """A house with its tables in place; the database is closed when the block ends."""
    house = wiring.build_house(settings, now)
    try:
        await wiring.migrate(house)
        yield house
    finally:
        await house.engine.dispose()


@contextlib.contextmanager
def alone(settings: Settings) -> Iterator[None]:
    """Hold the data folder's lock: an embedded database has one process with a worker. The lock ends with the process, however it ends."""
    with (settings.home_dir / "worker.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(
                f"another spillclock works on {settings.home_dir}; stop it, or set SPILLCLOCK_HOME_DIR to another folder, or use PostgreSQL"
            ) from None
        yield


async def serve(settings: Settings, say: Callable[[str], None]) -> None:
    """Web and worker in one process until told to stop. Raises AlreadyRunning, BadInput."""
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(open_house(settings))
        if settings.is_embedded:
            stack.enter_context(alone(settings))
            await outbox.release_orphans(house, house.now())
            await intake.take_up_unread(house, house.now())
        await _take_up(house)
        await public_record.bring_up_to_date(house)
        channels = await stack.enter_async_context(wiring.open_channels(settings))
        await wiring.fill_example_city(house)
        server, listening = _server(house)
        _end_in_order()
        for line in await _welcome(house):
            say(line)
        at_work = await stack.enter_async_context(working(Worker(house, channels)))
        at_work.add_done_callback(lambda _: setattr(server, "should_exit", True))  # pages without a worker would promise what nobody does
        await server.serve(sockets=[listening])


async def serve_web(settings: Settings, say: Callable[[str], None]) -> None:
    """The web half alone."""
    _needs_server(settings, "web")
    async with open_house(settings) as house:
        server, listening = _server(house)
        _end_in_order()
        for line in await _first_sign_in(house):
            say(line)
        say(f"serving on {settings.public_url}")
        await server.serve(sockets=[listening])


async def serve_worker(settings: Settings, say: Callable[[str], None]) -> None:
    """The worker half alone, until SIGTERM or SIGINT."""
    _needs_server(settings, "worker")
    async with open_house(settings) as house, wiring.open_channels(settings) as channels:
        await _take_up(house)
        await public_record.bring_up_to_date(house)
        stopped = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        worker = Worker(house, channels)
        async with working(worker) as at_work, _answering(house, worker):
            at_work.add_done_callback(lambda _: stopped.set())
            say("working")
            await stopped.wait()


@asynccontextmanager
async def _answering(house: House, worker: Worker) -> AsyncIterator[None]:
    """Answer on `WORKER_BIND`, where it is set, whether the worker works and what it measured."""
    if not house.settings.worker_bind:
        yield
        return
    listening = _bound("WORKER_BIND", house.settings.worker_bind)
    server = _Beside(_served(build_worker_app(house, lambda: worker.works_at(house.now()))))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield
    finally:
        server.should_exit = True
        await task


async def _take_up(house: House) -> None:
    """Clocks whose count ran past their calendar run by themselves once a release that covers the days is started; new packs are noted."""
    async with transaction(house, "spillclock") as tx:
        await packs_seen.take_note(tx)
        await count_gaps_anew(tx)


def _end_in_order() -> None:
    """uvicorn raises the signal that stopped it once more; it must not end us before the worker and the database are closed."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)


def _needs_server(settings: Settings, program: str) -> None:
    if settings.is_embedded:
        cure = "SPILLCLOCK_DATABASE_URL: an embedded database has one process; right would be: postgresql://..., or `spillclock serve`"
        raise BadInput(f"spillclock {program} is one half of several", [cure])


class _Server(uvicorn.Server):
    """A server that ends the connections of pages that listen before it waits for requests under way: those would never end."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, as uvicorn does."""
        self.config.app.state.live.close()  # type: ignore[union-attr]
        await super().shutdown(sockets)


class _Beside(uvicorn.Server):
    """A server beside something else, to which the signals go."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def _server(house: House) -> tuple[uvicorn.Server, socket.socket]:
    return _Server(_served(build_app(house))), _bound("BIND", house.settings.bind)


def _bound(setting: str, address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), int(port)))
    except OSError as error:
        listening.close()
        cure = f"SPILLCLOCK_{setting}: {address}: {error.strerror}; right would be: a free address and port"
        raise BadInput("the web address cannot be used", [cure]) from None
    return listening


def _served(app: FastAPI) -> uvicorn.Config:
    return uvicorn.Config(
        app, log_config=None, access_log=False, timeout_graceful_shutdown=_STOP_SECONDS, server_header=False,
        proxy_headers=False,  # the application believes the proxies of the settings, and no other
    )  # fmt: skip


async def _welcome(house: House) -> list[str]:
    """Where to report, where staff sign in, where messages go. Until somebody has signed in, with a link for the first administrator."""
    url = house.settings.public_url
    lines = [f"Report a spill:   {url}/report", f"Staff sign in:    {url}/staff"]
    lines += await _first_sign_in(house)
    stand_ins = wiring.stands_in(house.settings)
    if stand_ins:
        lines.append(f"Messages go to:   {house.settings.outbox_path}  (no provider is set for {' and '.join(stand_ins)})")
    else:
        lines.append("Messages go to:   the mail server and Twilio")
    return [*lines, "Stop with Ctrl-C."]


async def _first_sign_in(house: House) -> list[str]:
    """The line with the link for the first administrator; none once somebody has signed in."""
    async with transaction(house, "spillclock") as tx:
        token = await first_administrator(tx)
    link = f"{house.settings.public_url}/staff/enter/{token}"
    return [f"First sign-in:    {link}  (works once, for 30 minutes)"] if token else []


async def examine(settings: Settings, now: Now = real_now) -> list[str]:
    """What `doctor` finds: one line a check, as service/settings_check.py has them. Makes no database where there is none."""
    if settings.is_embedded and not settings.database_url and not (settings.home_dir / "spillclock.db").exists():
        return [
            f"ok     settings; data folder {settings.home_dir}, pages at {settings.public_url}",
            *(f"WARN   settings: {line}" for line in unknown_names()),
            f"WRONG  no database in {settings.home_dir}; is this the right folder? `spillclock serve` makes one",
        ]
    async with open_house(settings, now) as house:
        return await settings_check.examine(house)
