"""The settings check: what `doctor` says and administrators read on /staff/settings, and one test message through a real channel.

Each finding is a line that begins with ok, note, WARN or WRONG. No line holds a secret: it is pasted into tickets.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from notifiers import AppriseChannel, Channel, EmailChannel, Message, Receipt, SmsChannel, VoiceChannel, WebhookChannel, e164
from notifiers.apprise_channel import SCHEMES, problem_with_apprise
from notifiers.twilio import is_public_https
from service import checkpoints, identity_provider, passkeys, tracing, wiring
from service.clock import Now, real_now
from service.clock_check import MOST_OFF, off_by, said
from service.errors import BadInput
from service.held_reports import PLACE, how_many
from service.office_days import cities_in_use, left_of
from service.reach import uncalled, unreached, untold
from service.sending_cap import tries_today
from service.settings import Settings, unknown_names
from service.suppressions import unreachable
from service.transaction import House, reading
from service.watch import last_well, providers_down, stopped_by_clock

_EXTRA = "install the extra spillclock[apprise] to reach chat rooms and pagers"
_LEVELS: Mapping[str, Literal["ok", "note", "WARN", "WRONG"]] = {"ok": "ok", "note": "note", "WARN": "WARN", "WRONG": "WRONG"}
_WIDTH = len("WRONG  ")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding in parts: how it stands, what it says, and the city that it is about, None where it is about the whole service."""

    level: Literal["ok", "note", "WARN", "WRONG"]
    says: str
    city: str | None


def read_findings(lines: Sequence[str], cities: Collection[str]) -> list[Finding]:
    """Findings in parts; those about one of `cities` name it first. Raises KeyError for a line that is no finding."""
    found = []
    for line in lines:
        level, says = _LEVELS[line[:_WIDTH].strip()], line[_WIDTH:]
        city = says.partition(":")[0]
        found.append(Finding(level, says, city if city in cities else None))
    return found


async def examine(house: House) -> list[str]:
    """What there is to say about a house and the providers of its settings: one line a check. Asks the providers, and sends nothing."""
    settings = house.settings
    findings = [f"ok     settings; data folder {settings.home_dir}, pages at {settings.public_url}"]
    findings += [f"WARN   settings: {line}" for line in unknown_names()]
    findings.append(f"ok     database, tables the newest ({'embedded' if settings.is_embedded else 'server'})")
    findings.append(f"ok     {len(house.rulebook.packs)} rule packs, version {house.rulebook.version}")
    findings += await _channels(settings)
    findings += _callbacks(settings)
    findings += [_passkeys(settings), await _provider(settings)]
    if problem := tracing.why_not():
        findings.append(f"{'WARN ' if 'not installed' in problem else 'note '}  no spans for OpenTelemetry: {problem}")
    else:
        findings.append("ok     spans for OpenTelemetry are sent, without paths and names")
    findings += await _senders(house)
    findings.append(await _sent_today(house))
    findings += await _watched(house)
    findings += await _clocks(house)
    findings += await checkpoints.findings(house)
    findings += await _unfilled_roles(house)
    findings += await _unreachable(house)
    findings += await _calendars(house)
    return findings


async def _channels(settings: Settings) -> list[str]:
    try:
        async with wiring.open_channels(settings) as channels:
            return [await _try_channel(settings, channel) for channel in channels.values()]
    except BadInput as error:
        return [f"WRONG  {error}: {fault}" for fault in error.faults]


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


async def _clocks(house: House) -> list[str]:
    """Where machines share a database, whether this one's clock agrees with its time, and the workers whose clocks did not and stopped."""
    async with reading(house) as tx:
        off, stopped = await off_by(tx), await stopped_by_clock(tx)
    findings = [f"WARN   {one.says}; set it right (NTP) and start the worker again" for one in stopped]
    if abs(off) > MOST_OFF:
        cure = "no worker runs here until it is set right (NTP: timedatectl, chronyc tracking)"
        findings.append(f"WRONG  this machine's clock is {said(off.total_seconds())} the database's; {cure}")
    elif house.watches_clock:
        findings.append(f"ok     this machine's clock agrees with the database's, to {abs(off.total_seconds()):.1f} s")
    return findings


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
    """Send one test message through the real channel, once. Returns the channel and what came of it.

    Raises BadInput for a bad address, and where the settings of its channel are faulty.
    """
    name = by or channel_for(address)
    async with wiring.open_channels(settings, name) as channels:
        return name, await send_test_by(channels[name], settings, address, now())


async def send_test_by(channel: Channel, settings: Settings, address: str, at: datetime) -> Receipt:
    """Send one test message through an open channel, once. Returns what came of it. Raises BadInput for a bad address."""
    to = e164(address) or address if channel.name in ("sms", "voice") else address
    if problem := channel.problem_with(to):
        raise BadInput("no test message can be sent", [f"ADDRESS: {problem}"])
    text = f"This is a test message of Spillclock at {settings.public_url}. Nothing was spilled, and nothing is to be done."
    return await channel.send(Message(uuid.uuid4().hex, channel.name, to, "Test message of Spillclock", text, None, None, "test", at))


async def _unfilled_roles(house: House) -> list[str]:
    """The ladders that reach nobody, and times at which nobody is on call."""
    async with reading(house) as tx:
        cities = [city for city in await cities_in_use(tx) if city in house.cities]
        findings = [f"WRONG  {city}: {line}" for city in cities for line in await unreached(tx, city)]
        findings += [f"WARN   {city}: {line}" for city in cities for line in [*await untold(tx, city), *await uncalled(tx, city)]]
    return findings or ([] if cities else ["WRONG  no city has contacts; every ladder reaches nobody"])
