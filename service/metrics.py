"""What Spillclock tells a monitoring system: gauges in Prometheus's text format, read from the tables. No personal data is in them."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_address

from fastapi import Request
from fastapi.responses import PlainTextResponse, Response
from sqlalchemy import and_, func, or_, select
from sqlmodel import col
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as ASGIMessage

from service.errors import NotAllowed, NotSignedIn
from service.escalation import next_climb_at
from service.logbook import about
from service.measures import Histogram, Stopwatch
from service.office_days import cities_in_use, city_law
from service.outbox import PATIENCE
from service.tables import Attempt, MessageRow, Obligation, Spill, Suppression
from service.tracing import Tells, span
from service.transaction import House, Transaction, reading
from service.watch import ALERTS_LATE_AFTER, last_round, last_well, providers_down

_OPEN_STATES = ("running", "overdue", "waiting")
# The tries of the last hour are among so many newest ones; a table of years is not read through for them.
_NEWEST_TRIES = 50_000
_Labels = Mapping[str, str]
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_FOLDERS = ("static",)


@dataclass
class Gauge:
    """One metric: its name, what it says, and its values by labels."""

    name: str
    about: str
    values: list[tuple[_Labels, float]] = field(default_factory=list)
    kind: str = "gauge"

    def lines(self) -> Iterable[str]:
        """The lines of the text format."""
        yield f"# HELP spillclock_{self.name} {self.about}"
        yield f"# TYPE spillclock_{self.name} {self.kind}"
        for labels, value in self.values:
            said = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
            yield f"spillclock_{self.name}{f'{{{said}}}' if said else ''} {value:.15g}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


@dataclass
class _Spread:
    """A histogram under its name."""

    name: str
    about: str
    histogram: Histogram

    def lines(self) -> Iterable[str]:
        """The lines of the text format."""
        yield f"# HELP spillclock_{self.name} {self.about}"
        yield f"# TYPE spillclock_{self.name} histogram"
        for key, reached, total in self.histogram.cumulative():
            said = "".join(f'{name}="{_escaped(text)}",' for name, text in key)
            for bound, count in reached:
                yield f'spillclock_{self.name}_bucket{{{said}le="{bound}"}} {count}'
            yield f"spillclock_{self.name}_sum{{{said.rstrip(',')}}} {total:.9g}"
            yield f"spillclock_{self.name}_count{{{said.rstrip(',')}}} {reached[-1][1]}"


async def metrics(request: Request) -> Response:
    """What the tables say and what this process measured. Without `METRICS_TOKEN` for this machine alone, with it for whoever has it."""
    house: House = request.app.state.house
    _check(request, house.settings.metrics_token.get_secret_value())
    async with reading(house) as tx:
        found = await gauges(tx)
    return _answer([*found, *measured(house)])


async def of_this_process(request: Request) -> Response:
    """What this process measured, and nothing of the tables: of a worker among several. Open to the same as `metrics`."""
    house: House = request.app.state.house
    _check(request, house.settings.metrics_token.get_secret_value())
    return _answer(measured(house))


def _answer(found: Iterable[Gauge | _Spread]) -> Response:
    text = "\n".join(line for one in found for line in one.lines()) + "\n"
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8", headers={"Cache-Control": "no-store"})


def measured(house: House) -> list[Gauge | _Spread]:
    """What this process measured since it started."""
    tries, measures = sorted(house.tries.items()), house.measures
    answers = sorted(measures.answers.items())
    answered = [({"route": route, "method": method, "status": status}, count) for (route, method, status), count in answers]
    return [
        Gauge(
            "attempts_total", "Tries at sending since this process started, by what came of them.",
            [({"channel": channel, "outcome": came}, number) for (channel, came), number in tries], "counter",
        ),
        _Spread("message_lateness_seconds", "How long after its moment a message was first handed over.", measures.lateness),
        _Spread("request_seconds", "How long requests took until their answer began, by the template of their path.", measures.requests),
        Gauge("requests_total", "Requests answered since this process started, by kind of status.", list(answered), "counter"),
    ]  # fmt: skip


class Measuring:
    """Measures every request on its way through the application: by the template of its path, never by the path, which holds secrets."""

    def __init__(self, app: ASGIApp, house: House) -> None:
        self.app = app
        self.house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        with about(), span(scope["method"] if scope["method"] in _METHODS else "other") as told:
            await self._pass_on(scope, receive, send, told)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, told: Tells) -> None:
        watch, answered = Stopwatch(), False

        async def note(message: ASGIMessage) -> None:
            nonlocal answered
            if message["type"] == "http.response.start" and not answered:
                answered = True
                self._take(scope, watch.seconds(), message["status"], told)
            await send(message)

        await self.app(scope, receive, note)

    def _take(self, scope: Scope, seconds: float, status: int, told: Tells) -> None:
        route, method = template_of(scope), scope["method"] if scope["method"] in _METHODS else "other"
        self.house.measures.requests.observe(seconds, route=route, method=method)
        self.house.measures.answers[route, method, f"{status // 100}xx"] += 1
        told.update_name(f"{method} {route}")
        told.set_attribute("http.request.method", method)
        told.set_attribute("http.route", route)
        told.set_attribute("http.response.status_code", status)


def template_of(scope: Scope) -> str:
    """The template of the path that a request was answered by: `/api/v1/spills/{reference}`; of files their folder."""
    # A route knows its path inside its router; with what stands before it FastAPI keeps it apart. Either holds no value.
    whole = getattr(scope.get("fastapi", {}).get("effective_route_context"), "path", None)
    found = whole or getattr(scope.get("route"), "path", None)
    if found is not None:
        return str(found)
    first = scope["path"].split("/")[1]
    return f"/{first}" if first in _FOLDERS else "(none)"


def _check(request: Request, token: str) -> None:
    if token:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.encode()):
            raise NotSignedIn("this needs the token of SPILLCLOCK_METRICS_TOKEN: Authorization: Bearer TOKEN")
        return
    # A proxy on this machine passes on what comes from anywhere.
    passed_on = any(name in request.headers for name in ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"))
    if passed_on or not _is_this_machine(request.client.host if request.client else ""):
        raise NotAllowed("without SPILLCLOCK_METRICS_TOKEN this is for the machine that it runs on alone")


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


async def gauges(tx: Transaction) -> list[Gauge]:
    """Every gauge at `tx.now`."""
    climb = await next_climb_at(tx)
    beat, well = await last_round(tx), await last_well(tx)
    suppressed = select(func.count()).select_from(Suppression).where(col(Suppression.lifted_at).is_(None))
    return [
        Gauge("build_info", "What runs here.", [({"version": _version(), "packs": tx.house.rulebook.version}, 1)]),
        *await _duties(tx),
        *await _messages(tx),
        await _queue(tx),
        Gauge("rungs_late_seconds", "For how long the rung that is due longest has not been climbed.", [({}, _seconds(tx.now, climb))]),
        await _tries(tx),
        Gauge("channel_down", "1 where a provider takes nothing.", [({"channel": one.channel}, 1) for one in await providers_down(tx)]),
        Gauge("suppressed_addresses", "Addresses that nothing is sent to.", [({}, await tx.session.scalar(suppressed) or 0)]),
        Gauge("worker_heartbeat_age_seconds", "Since a worker last finished a round.", [({}, _seconds(tx.now, beat))] if beat else []),
        Gauge("all_well_age_seconds", "Since all was well when a signal was due.", [({}, _seconds(tx.now, well))] if well else []),
        await _calendars(tx),
    ]  # fmt: skip


def _version() -> str:
    try:
        return version("spillclock")
    except PackageNotFoundError:
        return "unknown"


def _seconds(now: datetime, moment: datetime | None) -> float:
    return max(0.0, (now - moment).total_seconds()) if moment else 0.0


async def _duties(tx: Transaction) -> list[Gauge]:
    query = (
        select(col(Spill.city), col(Obligation.state), func.count())
        .join(Spill, col(Spill.id) == col(Obligation.spill_id))
        .where(col(Obligation.state).in_(_OPEN_STATES))
        .group_by(col(Spill.city), col(Obligation.state))
    )
    counts = {(city or "", state): number for city, state, number in await tx.session.execute(query)}
    cities = sorted({*tx.house.cities, *(city for city, _ in counts)})
    still_open = [({"city": city}, float(sum(counts.get((city, state), 0) for state in _OPEN_STATES))) for city in cities]
    overdue = [({"city": city}, float(counts.get((city, "overdue"), 0))) for city in cities]
    oldest = select(func.min(col(Obligation.due_at))).where(col(Obligation.state) == "overdue")
    late = _seconds(tx.now, await tx.session.scalar(oldest))
    return [
        Gauge("obligations_oldest_overdue_seconds", "For how long the duty that is overdue longest has been.", [({}, late)]),
        Gauge("obligations_open", "Duties that are not done, by city; overdue ones and those not begun too.", list(still_open)),
        Gauge("obligations_overdue", "Duties that are overdue, by city.", list(overdue)),
    ]


async def _messages(tx: Transaction) -> list[Gauge]:
    """How many messages wait, how many alerts are late, and how long the oldest of them has waited, by channel."""
    channel = col(MessageRow.channel)
    alerts = (col(MessageRow.state) == "waiting", col(MessageRow.subscription_id).is_(None))
    # What was tried and is to be tried again could have gone out since its first try, whenever the next one is.
    again = and_(col(MessageRow.tries) > 0, col(MessageRow.give_up_at) <= tx.now + PATIENCE - ALERTS_LATE_AFTER)
    untried = and_(col(MessageRow.tries) == 0, col(MessageRow.next_at) <= tx.now)
    waiting = select(channel, func.count()).where(col(MessageRow.state) == "waiting").group_by(channel)
    late_at_first = and_(col(MessageRow.tries) == 0, col(MessageRow.next_at) < tx.now - ALERTS_LATE_AFTER)
    late = select(channel, func.count()).where(*alerts, or_(late_at_first, again))
    oldest = select(channel, func.min(col(MessageRow.next_at))).where(*alerts, untried).group_by(channel)
    retried = select(channel, func.min(col(MessageRow.give_up_at))).where(*alerts, col(MessageRow.tries) > 0).group_by(channel)
    counts = {name: number for name, number in await tx.session.execute(waiting)}
    lates = {name: number for name, number in await tx.session.execute(late.group_by(channel))}
    waits = {name: _seconds(tx.now, at) for name, at in await tx.session.execute(oldest)}
    for name, until in await tx.session.execute(retried):
        waits[name] = max(waits.get(name, 0.0), _seconds(tx.now, until - PATIENCE))
    channels = sorted({"email", "sms", "voice", "webhook", "apprise", *counts})
    return [
        _by_channel("messages_waiting", "Messages that are to go out, now or later.", channels, counts),
        _by_channel("messages_late", "Alerts that could have gone out over a minute ago.", channels, lates),
        _by_channel("messages_oldest_wait_seconds", "For how long the oldest alert that could go out waits.", channels, waits),
    ]


async def _queue(tx: Transaction) -> Gauge:
    """How many messages are due, wait for their moment, or are being sent."""
    states: dict[str, float] = {"due": 0, "later": 0, "sending": 0}
    waits, count = col(MessageRow.state) == "waiting", select(func.count()).select_from(MessageRow)
    states["later"] = await tx.session.scalar(count.where(waits, col(MessageRow.queued).is_(False), col(MessageRow.next_at) > tx.now)) or 0
    states["due"] = (await tx.session.scalar(count.where(waits)) or 0) - states["later"]
    states["sending"] = await tx.session.scalar(count.where(col(MessageRow.state) == "sending")) or 0
    return Gauge(
        "queue_messages", "Messages that are not at their end, by state.", [({"state": state}, many) for state, many in states.items()]
    )


def _by_channel(name: str, about: str, channels: Iterable[str], found: Mapping[str, float]) -> Gauge:
    return Gauge(name, about, [({"channel": channel}, found.get(channel, 0)) for channel in channels])


async def _tries(tx: Transaction) -> Gauge:
    newest = await tx.session.scalar(select(func.max(col(Attempt.id)))) or 0
    outcome = func.coalesce(col(Attempt.outcome), "under_way")
    query = (
        select(col(MessageRow.channel), outcome, func.count())
        .join(MessageRow, col(MessageRow.id) == col(Attempt.message_id))
        .where(col(Attempt.id) > newest - _NEWEST_TRIES, col(Attempt.started_at) > tx.now - timedelta(hours=1))
        .group_by(col(MessageRow.channel), outcome)
        .order_by(col(MessageRow.channel), outcome)
    )
    values = [({"channel": channel, "outcome": came}, number) for channel, came, number in await tx.session.execute(query)]
    return Gauge("attempts_last_hour", "Tries at sending in the last hour, by what came of them.", list(values))


async def _calendars(tx: Transaction) -> Gauge:
    left: list[tuple[_Labels, float]] = []
    for city in await cities_in_use(tx):
        law = city_law(tx.house, city)
        left.append(({"city": city}, (law.calendar.last_day - tx.now.astimezone(law.zone).date()).days))
    return Gauge("calendar_days_left", "Days that the calendar of a city still covers.", left)
