"""Whoever opens a discharger's private link: found by the token, held to the duties of one spill, named in the record."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Request
from fastapi.responses import Response
from fastapi.routing import APIRoute

from service.errors import NotKnown
from service.obligations import obligation_and_spill
from service.pages.duties import Duty, duty_of
from service.pages.rendering import house_of, page
from service.pages.speech import Speech
from service.parties import LinkNoLongerWorks, Respondent, respondent_of_token
from service.tables import Spill
from service.transaction import Transaction, reading, transaction


class DischargerRoute(APIRoute):
    """A route behind a private link: one that was replaced or taken back says so, whatever it was to open."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with the page for a link that was good once."""
        handle = super().get_route_handler()

        async def led(request: Request) -> Response:
            try:
                return await handle(request)
            except LinkNoLongerWorks as error:
                if "text/html" not in request.headers.get("accept", ""):
                    raise
                return page(request, "respond_ended.html", error.status, why=error.why)

        return led


@asynccontextmanager
async def opened(request: Request, token: str) -> AsyncIterator[tuple[Transaction, Respondent]]:
    """A transaction that reads, with whoever opens the link. Raises NotKnown for a wrong token, LinkNoLongerWorks."""
    async with reading(house_of(request)) as tx:
        yield tx, await respondent_of_token(tx, token)


@asynccontextmanager
async def writing(request: Request, token: str) -> AsyncIterator[tuple[Transaction, Spill]]:
    """A transaction in the name of whoever opens the link, with the spill it leads to. Raises as `opened`."""
    async with opened(request, token) as (_, respondent):
        pass
    async with transaction(house_of(request), respondent.actor) as tx:
        spill = await tx.spill(respondent.spill.reference)
        await respondent_of_token(tx, token)  # again, with the spill held: the link may have been taken back a moment ago
        yield tx, spill


async def own_duty(tx: Transaction, spill: Spill, duty_id: int) -> Duty:
    """A clock of this spill that the discharger owes. Raises NotKnown for any other."""
    if not 0 < duty_id < 2**31:
        raise NotKnown("there is no such duty here")
    row, its_spill = await obligation_and_spill(tx, duty_id)
    if its_spill.id != spill.id or row.clock["owed_by"] != "discharger":
        raise NotKnown("there is no such duty here")
    return await duty_of(tx, spill, row)


def who_wrote(speech: Speech, actor: str) -> str:
    """Who saved something, for other people of the same firm: a person by name, anybody with the common link, or the city's staff."""
    name, found, _ = actor.partition(", discharger of SP-")
    if found:
        return name
    if actor.startswith("discharger of SP-"):
        return speech.say("somebody who has the firm's common link")
    return speech.say("the city's staff")


def writers_named(speech: Speech, writers: Mapping[str, str]) -> dict[str, str]:
    """Who wrote each item of a report, by item, named as `who_wrote` does."""
    return {item: who_wrote(speech, actor) for item, actor in writers.items()}
