"""What a worker does beside its alerts, each in a loop of its own: what takes long or fails here holds up no alert and no other chore."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

import httpx

from service import checkpoints, forgetting, former_contacts, kept_files, mailed_reports, turnstile, watch
from service.forwarding import Forwarder
from service.rota_calendars import Calendars
from service.transaction import House

log = logging.getLogger(__name__)

# A rota that was entered meanwhile is read within a minute; each is asked every 15 minutes.
_CALENDARS_SECONDS = 60.0
_MAIL_SECONDS = _FORWARD_SECONDS = 10.0
_CHECKPOINTS_SECONDS = 60.0
_HOUR, _FEW_TIMES_A_DAY, _DAY = 3600.0, 6 * 3600.0, 24 * 3600.0
_FIRST_SIGNAL_SECONDS = 2.0
Chore = Callable[[], Awaitable[object]]
# Says that something failed; the same again and again is said once in a while.
Tell = Callable[[str], None]


def start(house: House, name: str, tell: Tell, loops: asyncio.TaskGroup) -> None:
    """Start the chores that the settings give a worker. They end with the group; a blip of the database or the disk ends none of them."""
    settings = house.settings
    often: list[tuple[str, Chore, float]] = [
        ("reading calendars", Calendars(house).read_due, _CALENDARS_SECONDS),
        # What was counted of senders, once nothing depends on it any more.
        ("removing old counts of senders", partial(turnstile.sweep, house), _HOUR),
        # What contacts were before a change that is too old to be undone.
        ("forgetting what contacts were", partial(former_contacts.sweep, house), _DAY),
        # Who reported a spill, where they wished it and no law keeps it any more.
        ("forgetting reporters who wish it", partial(forgetting.sweep, house), _HOUR),
    ]
    if settings.report_maildir:
        often.append(("taking in mailed reports", partial(mailed_reports.take_from_maildir, house, settings.report_maildir), _MAIL_SECONDS))
    if settings.forwards:
        often.append(("handing on to Open311", Forwarder(house).do_due, _FORWARD_SECONDS))
    if settings.checkpoints_go_to:
        often.append(("making a checkpoint of the record", partial(checkpoints.make_due, house), _CHECKPOINTS_SECONDS))
    for doing, chore, seconds in often:
        loops.create_task(_again_and_again(doing, chore, seconds, name, tell))
    loops.create_task(_sweep_files(house, name, tell))
    if settings.deadman_url.get_secret_value():
        loops.create_task(_give_signals(house, name, tell))


async def _again_and_again(doing: str, chore: Chore, seconds: float, name: str, tell: Tell) -> None:
    while True:
        await _once(doing, chore, name, tell)
        await asyncio.sleep(seconds)


async def _once(doing: str, chore: Chore, name: str, tell: Tell) -> None:
    try:
        await chore()
    except Exception:  # told with its cause; whatever it is, it is tried again
        tell(f"worker {name} failed while {doing}; trying again")


async def _sweep_files(house: House, name: str, tell: Tell) -> None:
    """Remove files that a stopped process left on the disk and no record names, a few times a day; not while everything starts."""

    async def sweep() -> None:
        if swept := await kept_files.sweep(house):
            log.info("%d files that no record names were removed", swept)

    while True:
        await asyncio.sleep(_FEW_TIMES_A_DAY)
        await _once("removing files that no record names", sweep, name, tell)


async def _give_signals(house: House, name: str, tell: Tell) -> None:
    """Tell the outside that all is well, for as long as it is."""
    async with httpx.AsyncClient() as http:
        while True:
            await asyncio.sleep(_FIRST_SIGNAL_SECONDS)  # the first round of a start is over by then
            await _once("giving the dead-man signal", partial(watch.signal_while_well, house, http), name, tell)
            await asyncio.sleep(max(0.0, house.settings.deadman_minutes * 60 - _FIRST_SIGNAL_SECONDS))
