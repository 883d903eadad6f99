"""The long-running programs: `serve` (web and worker in one process), `web`, `worker`."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import signal
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import uvicorn

from notifiers import AppriseChannel, Channel, EmailChannel, Message, Receipt, SmsChannel, VoiceChannel, WebhookChannel, e164
from notifiers.apprise_channel import SCHEMES, problem_with_apprise
from notifiers.twilio import is_public_https
from service import checkpoints, identity_provider, intake, outbox, passkeys, public_record, wiring
from service.accounts import first_administrator
from service.app import build_app
from service.clock import Now, real_now
from service.errors import BadInput, SpillclockError
from service.held_reports import PLACE, how_many
from service.office_days import cities_in_use, count_gaps_anew, left_of
from service.reach import uncalled, unreached, untold
from service.sending_cap import tries_today
from service.settings import Settings, unknown_names
from service.suppressions import unreachable
from service.transaction import House, reading, transaction
from service.watch import last_well, providers_down
from service.worker import Worker, working

log = logging.getLogger(__name__)

_EXTRA = "install the extra spillclock[apprise] to reach chat rooms and pagers"
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
def _alone(settings: Settings) -> Iterator[None]:
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
            stack.enter_context(_alone(settings))
            await outbox.release_orphans(house, house.now())
            await intake.take_up_unread(house, house.now())
        await _count_gaps_anew(house)
        await public_record.bring_up_to_date(house)
        channels = await stack.enter_async_context(wiring.open_channels(settings))
        await wiring.fill_example_city(house)
        server, listening = _server(house)
        _end_in_order()
        for line in await _welcome(house):
            say(line)
        await stack.enter_async_context(working(Worker(house, channels)))
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
        await _count_gaps_anew(house)
        await public_record.bring_up_to_date(house)
        stopped = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        async with working(Worker(house, channels)):
            say("working")
            await stopped.wait()


async def _count_gaps_anew(house: House) -> None:
    """Clocks whose count ran past their calendar run by themselves once a release that covers the days is started."""
    async with transaction(house, "spillclock") as tx:
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


def _server(house: House) -> tuple[uvicorn.Server, socket.socket]:
    host, _, port = house.settings.bind.rpartition(":")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), int(port)))
    except OSError as error:
        listening.close()
        cure = f"SPILLCLOCK_BIND: {house.settings.bind}: {error.strerror}; right would be: a free address and port"
        raise BadInput("the web address cannot be used", [cure]) from None
    app = build_app(house)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, timeout_graceful_shutdown=_STOP_SECONDS, server_header=False,
        proxy_headers=False,  # the application believes the proxies of the settings, and no other
    )  # fmt: skip
    return _Server(config), listening


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
    """What `doctor` finds: one line a check, beginning with ok, note, WARN or WRONG. Makes no database where there is none."""
    findings = [f"ok     settings; data folder {settings.home_dir}, pages at {settings.public_url}"]
    findings += [f"WARN   settings: {line}" for line in unknown_names()]
    if settings.is_embedded and not settings.database_url and not (settings.home_dir / "spillclock.db").exists():
        return [*findings, f"WRONG  no database in {settings.home_dir}; is this the right folder? `spillclock serve` makes one"]
    async with open_house(settings, now) as house:
        findings.append(f"ok     database, tables the newest ({'embedded' if settings.is_embedded else 'server'})")
        findings.append(f"ok     {len(house.rulebook.packs)} rule packs, version {house.rulebook.version}")
        async with wiring.open_channels(settings) as channels:
            findings += [await _try_channel(settings, channel) for channel in channels.values()]
        findings += _callbacks(settings)
        findings += [_passkeys(settings), await _provider(settings)]
        findings += await _senders(house)
        findings.append(await _sent_today(house))
        findings += await _watched(house)
        findings += await checkpoints.findings(house)
        findings += await _unfilled_roles(house)
        findings += await _unreachable(house)
        findings += await _calendars(house)
    return findings


async def _unreachable(house: House) -> list[str]:
    """The people in roles who cannot be told by one of their channels, because their address bounced or they wrote STOP."""
    cure = "correct the address, or lift it on /staff/suppressions"
    async with reading(house) as tx:
        return [f"{'WRONG' if one.alone else 'WARN '}  {one.contact.city}: {one.says}; {cure}" for one in await unreachable(tx)]


async def _calendars(house: House) -> list[str]:
    """How far the calendar of each served city reaches. Counts past its end are refused, so it is said a year ahead."""
    async with reading(house) as tx:
        served, now = await cities_in_use(tx), tx.now
    findings = []
    for city in served:
        law = house.rulebook.law_of(city)
        last = law.calendar.last_day
        cure = "install a release that covers more, or add days to calendars/ in SPILLCLOCK_PACKS"
        match left_of(law, now):
            case "nothing":
                findings.append(f"WRONG  {city}: its calendar ended on {last}; days can no longer be counted; {cure}")
            case "months":
                findings.append(f"WARN   {city}: its calendar ends on {last}, in less than 12 months; {cure}")
            case _:
                findings.append(f"ok     {city}: its calendar covers the days up to {last}")
    return findings


async def _try_channel(settings: Settings, channel: Channel) -> str:
    name = channel.name
    match channel:
        case EmailChannel():
            problem = await channel.problem_now()
            return f"WRONG  email: {problem}" if problem else "ok     email: the mail server takes our connection"
        case SmsChannel() | VoiceChannel():
            problem = await channel.problem_now()
            return f"WRONG  {name}: {problem}" if problem else f"ok     {name}: Twilio knows the account and its token, and it is active"
        case WebhookChannel():
            reach = "http and private addresses are allowed, too" if settings.webhook_private else "https and public addresses only"
            return f"ok     webhook: needs no provider; {reach}"
        case AppriseChannel():
            installed = problem_with_apprise("slack://A/B/C") is None
            return f"ok     apprise: installed, for {', '.join(SCHEMES)}" if installed else f"note   apprise: not installed; {_EXTRA}"
    if name == "voice" and settings.twilio_account_sid:
        cure = "set SPILLCLOCK_TWILIO_VOICE_FROM to a number of the account"
        return f"note   voice: the sender of SMS is no number that can call; {cure}; until then calls go to {settings.outbox_path}"
    return f"note   {name} has no provider; its messages go to {settings.outbox_path}"


def _callbacks(settings: Settings) -> list[str]:
    if not settings.twilio_account_sid or is_public_https(settings.public_url):
        return []
    cure = "right would be: SPILLCLOCK_BASE_URL=https://spills.example.gov"
    return [f"WARN   Twilio cannot reach {settings.public_url}: no delivery receipts, replies or keys pressed in a call come back; {cure}"]


def _passkeys(settings: Settings) -> str:
    if problem := passkeys.why_not(settings):
        return f"note   passkeys are not offered: {problem}"
    return f"ok     passkeys are offered, for {passkeys.site_of(settings)[1]} alone"


async def _provider(settings: Settings) -> str:
    if problem := identity_provider.why_not(settings):
        return f"{'WRONG ' if settings.oidc_issuer else 'note  '} identity provider: {problem}"
    try:
        issuer = await identity_provider.examine(settings)
    except identity_provider.ProviderDown as error:
        return f"WRONG  identity provider: {error}"
    return f"ok     identity provider {issuer} answers; it has to send browsers back to {identity_provider.redirect_uri(settings)}"


async def _senders(house: House) -> list[str]:
    """Whether the limits a sender is given can tell senders apart, and the reports that look automatic and wait for a person."""
    settings, findings = house.settings, []
    async with reading(house) as tx:
        held = await how_many(tx)
    if not settings.limit_factor:
        findings.append("WARN   no limits: one sender may send any number of reports; unset SPILLCLOCK_LIMIT_FACTOR")
    elif settings.public_url.startswith("https:") and not settings.trusted_proxies:
        cure = "right would be: SPILLCLOCK_TRUSTED_PROXIES with the address of the proxy in front"
        findings.append(f"WARN   all senders count as one, the proxy that speaks https for us; {cure}")
    else:
        findings.append(f"ok     limits a sender, as told by the proxies: {settings.trusted_proxies or 'none'}")
    if held:
        findings.append(f"WARN   {held} reports look automatic and wait for a person on {PLACE}")
    return findings


async def _watched(house: House) -> list[str]:
    """Providers that take nothing, and whether the outside hears that all is well."""
    async with reading(house) as tx:
        down, well = await providers_down(tx), await last_well(tx)
    findings = [
        f"WRONG  {one.channel}: nothing goes out since {one.since:%Y-%m-%d %H:%M} UTC, {one.waiting} alerts wait; tried again by itself"
        for one in down
    ]
    if not house.settings.deadman_url.get_secret_value():
        cure = "set SPILLCLOCK_DEADMAN_URL to an address that raises an alarm when it is no longer asked for"
        return [*findings, f"note   no dead-man signal: nobody outside hears when this machine stops; {cure}"]
    told = f"all was well last at {well:%Y-%m-%d %H:%M} UTC" if well else "not given yet"
    late = well is None or house.now() - well > 3 * timedelta(minutes=house.settings.deadman_minutes)
    every = f"every {house.settings.deadman_minutes:g} minutes while a worker runs"
    return [*findings, f"{'WARN ' if late else 'ok   '}  dead-man signal, {every}: {told}"]


async def _sent_today(house: House) -> str:
    """How much of the day's cap is used, and whose numbers may be reached."""
    async with reading(house) as tx:
        tries = await tries_today(tx)
    cap, countries = house.settings.daily_cap, house.settings.countries
    allowed = f"numbers of {'any country' if countries is None else ', '.join(sorted(countries))}"
    if cap and tries >= cap:
        return f"WARN   the cap of {cap} texts and calls a day is reached ({tries} since midnight UTC): only messages about a duty go out"
    return f"ok     {tries} texts and calls tried since midnight UTC, of {cap or 'any number'} a day; {allowed}"


def channel_for(address: str) -> str:
    """The channel that an address is of by its form."""
    if "://" in address:
        return "webhook" if address.lower().startswith(("https://", "http://")) else "apprise"
    return "email" if "@" in address else "sms"


async def send_test(settings: Settings, address: str, by: str | None, now: Now = real_now) -> tuple[str, Receipt]:
    """Send one test message through the real channel, once. Returns the channel and what came of it. Raises BadInput for a bad address."""
    name = by or channel_for(address)
    async with wiring.open_channels(settings) as channels:
        channel = channels[name]
        to = e164(address) or address if name in ("sms", "voice") else address
        if problem := channel.problem_with(to):
            raise BadInput("no test message can be sent", [f"ADDRESS: {problem}"])
        text = f"This is a test message of Spillclock at {settings.public_url}. Nothing was spilled, and nothing is to be done."
        message = Message(uuid.uuid4().hex, name, to, "Test message of Spillclock", text, None, None, "test", now())
        return name, await channel.send(message)


async def _unfilled_roles(house: House) -> list[str]:
    """The ladders that reach nobody, and times at which nobody is on call."""
    async with reading(house) as tx:
        cities = [city for city in await cities_in_use(tx) if city in house.cities]
        findings = [f"WRONG  {city}: {line}" for city in cities for line in await unreached(tx, city)]
        findings += [f"WARN   {city}: {line}" for city in cities for line in [*await untold(tx, city), *await uncalled(tx, city)]]
    return findings or ([] if cities else ["WRONG  no city has contacts; every ladder reaches nobody"])
