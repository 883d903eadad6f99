"""A spill is handed on to the Open311 system of its city (GeoReport v2), and what becomes of it there is asked for again and again.

A post that may have arrived is not sent again by itself: no key keeps a 311 from taking the same twice, and a person sees there whether it
is. What surely did not go out is tried again for a day.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import httpx
from sqlalchemy import or_, select
from sqlmodel import col

from notifiers.public_addresses import Resolve, address_of, is_public, resolve
from service.door_tables import ForwardedSpill
from service.errors import BadInput, Conflict
from service.events import ForwardAnswered, SpillForwarded
from service.settings import Forward
from service.spills import clean, stated
from service.tables import Spill
from service.transaction import House, Transaction, reading, transaction

log = logging.getLogger(__name__)

LONGEST = 4000
ASK_EVERY = timedelta(minutes=15)
# Asked for so long after its last news; then somebody looks there, if it still matters.
ASKED_FOR = timedelta(days=180)
_WAITS = (timedelta(seconds=30), timedelta(minutes=5), timedelta(minutes=30))
_PATIENCE = timedelta(hours=24)
_TIMEOUT_SECONDS, _WHOLE_SECONDS, _LONGEST_ANSWER = 10.0, 30.0, 1_000_000
_AT_A_TIME = 20
_LONGEST_NOTE = 1000
STATES: Mapping[str, str] = {
    "waiting": "On its way", "sent": "Taken", "closed": "Closed there", "refused": "Refused there", "unclear": "It may have arrived",
    "given_up": "Could not be reached for a day",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """What a 311 answered: a status and what the body says."""

    status: int
    said: Any


class _NotSent(Exception):
    """Nothing went out."""


class _Unclear(Exception):
    """It went out, and no answer came that can be read."""


def goes_to(house: House, spill: Spill) -> Forward | None:
    """The 311 of a spill's city, where one is set."""
    return house.settings.forwards.get(spill.city or "")


def first_words(spill: Spill) -> str:
    """What a 311 could be told: facts that tell nothing of anybody. An officer rewrites it."""
    volume = spill.facts.get("volume") or {}
    amount = volume.get("quantity", volume.get("high"))
    parts = [f"Spill of {str(spill.facts.get('material') or 'unknown material').replace('_', ' ')}"]
    parts += [f"about {amount} {volume.get('unit')}"] if amount is not None else []
    reached = [str(one).replace("_", " ") for one in spill.facts.get("reached") or []]
    parts += [f"it reached: {', '.join(reached)}"] if reached else []
    return f"{', '.join(parts)}. Our number: {spill.reference}."


async def forward(tx: Transaction, spill: Spill, words: str) -> ForwardedSpill:
    """Promise a spill to the 311 of its city, in these words, with its place. Raises BadInput, Conflict where it is on its way or there."""
    if goes_to(tx.house, spill) is None:
        raise BadInput("there is no 311", ["city: no Open311 system is set for it; right would be: SPILLCLOCK_OPEN311_FORWARD"])
    said = stated(words)
    faults = [] if said else ["description: missing; right would be: what happened, in a few plain words"]
    faults += [f"description: over {LONGEST:,} characters; right would be: fewer"] if len(said) > LONGEST else []
    if not spill.address and spill.lat is None:
        faults.append("place: the spill has none; right would be: a pin or an address first")
    if faults:
        raise BadInput("it cannot be forwarded so", faults)
    if any(one.state in ("waiting", "sent") for one in await of_spill(tx, spill)):
        raise Conflict("it was forwarded already")
    row = ForwardedSpill(spill_id=spill.id or 0, words=said, made_by=tx.actor, made_at=tx.now, state="waiting", next_at=tx.now)
    tx.session.add(row)
    await tx.session.flush()
    return row


async def of_spill(tx: Transaction, spill: Spill) -> Sequence[ForwardedSpill]:
    """How often a spill was forwarded, and what became of each, the newest first."""
    query = select(ForwardedSpill).where(col(ForwardedSpill.spill_id) == spill.id).order_by(col(ForwardedSpill.id).desc())
    return (await tx.session.execute(query)).scalars().all()


class Forwarder:
    """Sends what is promised, and asks for news of what was taken, in its own time: a slow 311 holds up no alert."""

    def __init__(self, house: House, resolver: Resolve = resolve, tls_context: ssl.SSLContext | None = None) -> None:
        self._house = house
        self._resolver = resolver
        self._tls_context = tls_context

    async def do_due(self) -> int:
        """Send and ask what is due. Returns how many that were."""
        async with reading(self._house) as tx:
            due = or_(col(ForwardedSpill.state) == "waiting", col(ForwardedSpill.state) == "sent")
            query = select(ForwardedSpill, Spill).join(Spill, col(Spill.id) == col(ForwardedSpill.spill_id))
            query = query.where(due, col(ForwardedSpill.next_at) <= tx.now).order_by(col(ForwardedSpill.next_at)).limit(_AT_A_TIME)
            rows: Sequence[Any] = (await tx.session.execute(query)).all()
        for row, spill in rows:
            to = goes_to(self._house, spill)
            if to is not None:
                await (self._send(row, spill, to) if row.state == "waiting" else self._ask(row, spill, to))
        return len(rows)

    async def _send(self, row: ForwardedSpill, spill: Spill, to: Forward) -> None:
        fields = {
            "service_code": to.service_code, "description": row.words, **({"address_string": spill.address} if spill.address else {}),
            **({"lat": str(spill.lat), "long": str(spill.lon)} if spill.lat is not None else {}),
            **({"jurisdiction_id": to.jurisdiction_id} if to.jurisdiction_id else {}), **({"api_key": to.api_key} if to.api_key else {}),
        }  # fmt: skip
        # Marked before it goes out: a process that stops in between leaves it unclear, and not to be sent twice.
        if not await self._mark(row, state="unclear", problem="the answer was not awaited"):
            return
        try:
            answer = await self._call(to, "requests", fields)
        except _NotSent as error:
            late = self._house.now() - row.made_at > _PATIENCE
            wait = _WAITS[min(row.tries, len(_WAITS) - 1)]
            await self._change(row, "given_up" if late else "waiting", str(error), next_at=self._house.now() + wait)
            return
        except _Unclear as error:
            await self._change(row, "unclear", str(error))
            return
        found = _first(answer.said)
        number, token = str(found.get("service_request_id") or "")[:100], str(found.get("token") or "")[:100]
        if not 200 <= answer.status < 300 or not (number or token):
            refused = f"it answered {answer.status}: {_told(answer.said)}"
            await self._change(row, "refused" if 400 <= answer.status < 500 else "unclear", refused)
            return
        await self._taken(row, spill, to, number, token)

    async def _taken(self, row: ForwardedSpill, spill: Spill, to: Forward, number: str, token: str) -> None:
        async with transaction(self._house, "spillclock") as tx:
            mine = await tx.session.get_one(ForwardedSpill, row.id)
            mine.state, mine.problem, mine.number, mine.token, mine.next_at = "sent", "", number, token, tx.now + ASK_EVERY
            mine.answered_at = tx.now
            await tx.record(await tx.spill(spill.reference), SpillForwarded(where=to.host, number=number, words=row.words, by=row.made_by))

    async def _ask(self, row: ForwardedSpill, spill: Spill, to: Forward) -> None:
        """Ask what became of one. What cannot be had now is asked for next time."""
        path = f"requests/{row.number}" if row.number else f"tokens/{row.token}"
        try:
            answer = await self._call(to, path, None)
        except (_NotSent, _Unclear) as error:
            answer = Answer(0, str(error))
        found = _first(answer.said) if 200 <= answer.status < 300 else {}
        async with transaction(self._house, "spillclock") as tx:
            mine = await tx.session.get_one(ForwardedSpill, row.id, with_for_update=True)
            over = tx.now - (mine.answered_at or mine.made_at) > ASKED_FOR
            mine.next_at = None if over else tx.now + ASK_EVERY
            mine.problem = "" if found else f"no news: {answer.status or ''} {_told(answer.said)}".strip()
            mine.number = mine.number or str(found.get("service_request_id") or "")[:100]
            status, notes = str(found.get("status") or "").lower()[:20], clean(str(found.get("status_notes") or ""))[:_LONGEST_NOTE]
            if found and status and (status, notes) != (mine.status, mine.notes):
                mine.status, mine.notes, mine.answered_at = status, notes, tx.now
                here = await tx.spill(spill.reference)
                await tx.record(here, ForwardAnswered(where=to.host, number=mine.number, status=status, notes=notes))
            if status == "closed":
                mine.state, mine.next_at = "closed", None

    async def _mark(self, row: ForwardedSpill, *, state: str, problem: str) -> bool:
        async with transaction(self._house, "spillclock") as tx:
            query = select(ForwardedSpill).where(col(ForwardedSpill.id) == row.id, col(ForwardedSpill.state) == "waiting")
            mine = (await tx.session.execute(tx.held(query))).scalar_one_or_none()
            if mine is not None:
                mine.state, mine.problem, mine.tries, mine.next_at = state, problem, mine.tries + 1, None
            return mine is not None

    async def _change(self, row: ForwardedSpill, state: str, problem: str, next_at: datetime | None = None) -> None:
        async with transaction(self._house, "spillclock") as tx:
            mine = await tx.session.get_one(ForwardedSpill, row.id)
            mine.state, mine.problem, mine.next_at = state, clean(problem)[:_LONGEST_NOTE], next_at if state == "waiting" else None

    async def _call(self, to: Forward, path: str, fields: Mapping[str, str] | None) -> Answer:
        """Post a form, or get without one. Raises _NotSent, _Unclear."""
        url = httpx.URL(f"{to.url}/{path}.json")
        if fields is None and to.jurisdiction_id:
            url = url.copy_merge_params({"jurisdiction_id": to.jurisdiction_id})
        # No proxy of the machine: it would resolve the name once more, to whatever it leads to by then.
        transport = httpx.AsyncHTTPTransport(verify=self._tls_context or True, trust_env=False)
        try:
            async with asyncio.timeout(_WHOLE_SECONDS):
                return await self._exchange(transport, url, await self._address(url), fields)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise _NotSent(f"it cannot be reached: {str(error)[:200] or type(error).__name__}") from None
        except (httpx.HTTPError, OSError, TimeoutError) as error:
            raise _Unclear(f"no answer came: {str(error)[:200] or type(error).__name__}") from None
        finally:
            await transport.aclose()

    async def _address(self, url: httpx.URL) -> str:
        literal = address_of(url.host)
        try:
            found = [str(literal)] if literal else await self._resolver(url.host, url.port or {"http": 80}.get(url.scheme, 443))
        except OSError as error:
            raise _NotSent(f"{url.host} cannot be resolved: {error}") from None
        if not found or (not self._house.settings.webhook_private and not all(map(is_public, found))):
            raise _NotSent(f"{url.host} has no address on the public internet")
        return found[0]

    @staticmethod
    async def _exchange(transport: httpx.AsyncHTTPTransport, url: httpx.URL, address: str, fields: Mapping[str, str] | None) -> Answer:
        headers = {
            "Host": url.netloc.decode("ascii"),
            "User-Agent": "Spillclock",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        if fields is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded; charset=utf-8"
        request = httpx.Request(
            "GET" if fields is None else "POST", url.copy_with(host=address), headers=headers,
            content=None if fields is None else urlencode(fields).encode(),
            extensions={"sni_hostname": url.host, "timeout": httpx.Timeout(_TIMEOUT_SECONDS).as_dict()},
        )  # fmt: skip
        response = await transport.handle_async_request(request)
        try:
            body = b""
            async for chunk in response.aiter_raw(65536):
                body += chunk
                if len(body) > _LONGEST_ANSWER:
                    raise _Unclear("its answer is too large")
        finally:
            await response.aclose()
        try:
            return Answer(response.status_code, json.loads(body))
        except ValueError:
            return Answer(response.status_code, body[:300].decode("utf-8", "replace"))


def _first(said: Any) -> Mapping[str, Any]:
    """The one request of an answer; some servers answer with the object, and not with a list of it."""
    found = said[0] if isinstance(said, list) and said else said
    return found if isinstance(found, Mapping) else {}


def _told(said: Any) -> str:
    """What an answer says, for people."""
    found = _first(said)
    return clean(str(found.get("description") or said))[:300]
