"""The commands that need the database or the web: the long-running programs, staff accounts, rehearsal, doctor."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import date
from zoneinfo import ZoneInfo

from sqlalchemy.exc import SQLAlchemyError

from notifiers import Outcome
from notifiers.webhook import webhook_secret
from service import (
    access,
    api_keys,
    audit_command,
    backup_command,
    checkpoints,
    export_command,
    import_command,
    office_days,
    parties,
    programs,
    rehearsal_command,
    replanning,
    retention_command,
    rota_command,
    settings_check,
    simulate_command,
    tracing,
)
from service.errors import BadInput, SpillclockError
from service.logbook import keep_log
from service.reach import warnings_of
from service.settings import Settings, read_settings, unknown_names
from service.transaction import Transaction, reading, transaction
from service.wording import local

log = logging.getLogger(__name__)

DONE, FAILED = 0, 1
_VERIFIES = "its webhook verifies our messages with the secret "


class NoDatabase(SpillclockError):
    """The database cannot be used."""


def run(name: str, given: argparse.Namespace) -> int:
    """Run a command by its name and return its exit code. Raises NoDatabase, BadInput and other SpillclockErrors for `main` to tell."""
    os.umask(0o077)  # what is kept here names people: nobody else on this machine reads it
    try:
        return _COMMANDS[name](given)
    except SQLAlchemyError as error:
        raise NoDatabase(f"the database cannot be used: {str(error).splitlines()[0]}") from error


def _say(line: str) -> None:
    print(line, flush=True)


def _long_running(program: Callable[[Settings, Callable[[str], None]], Awaitable[None]]) -> Callable[[argparse.Namespace], int]:
    """The command that runs one of the programs until it is told to stop."""

    async def work(settings: Settings) -> None:
        await program(settings, _say)

    def run_program(_: argparse.Namespace) -> int:
        settings = read_settings()
        keep_log(settings.log_format)
        for line in unknown_names():
            log.warning("%s", line)
        tracing.set_up(program.__name__.rpartition("_")[2])
        asyncio.run(work(settings))
        return DONE

    return run_program


def _migrate(_: argparse.Namespace) -> int:
    async def work() -> None:
        async with programs.open_house(read_settings()):
            _say("the tables are the newest")

    asyncio.run(work())
    return DONE


def _rehearse(given: argparse.Namespace) -> int:
    print("\n".join(asyncio.run(rehearsal_command.lines(given))))
    return DONE


def _user_add(given: argparse.Namespace) -> int:
    async def work() -> None:
        async with programs.open_house(read_settings()) as house, transaction(house, "command line") as tx:
            await access.add_account(tx, given.email, given.role, given.city)

    asyncio.run(work())
    _say(f"{given.email.lower()} added as {given.role}{f' for {given.city}' if given.city else ''}")
    return DONE


def _user_token(given: argparse.Namespace) -> int:
    async def work() -> str:
        async with programs.open_house(read_settings()) as house, transaction(house, "command line") as tx:
            return await api_keys.make_for_everything(tx, given.email)

    print(asyncio.run(work()))
    return DONE


def _doctor(given: argparse.Namespace) -> int:
    if given.send_test:
        settings = read_settings()
        name, receipt = asyncio.run(settings_check.send_test(settings, given.send_test, given.by))
        _say(f"{name}: {receipt.outcome.value}; {receipt.detail}{f'; id {receipt.provider_id}' if receipt.provider_id else ''}")
        if name == "webhook":
            _say(_VERIFIES + webhook_secret(settings.signing_key(), given.send_test))
        return DONE if receipt.outcome is Outcome.ACCEPTED else FAILED
    findings = asyncio.run(programs.examine(read_settings()))
    for finding in findings:
        print(finding)
    return FAILED if any(finding.startswith("WRONG") for finding in findings) else DONE


def _contact_list(given: argparse.Namespace) -> int:
    async def work() -> None:
        async with programs.open_house(read_settings()) as house, reading(house) as tx:
            for contact in await parties.contacts(tx):
                reached = [contact.email or "-", contact.phone or "-", *parties.how_else(contact)]
                if given.secrets and contact.webhook:  # else left out: lists are pasted into tickets
                    reached.append(parties.secret_of(house, contact))
                _say("\t".join((str(contact.id), contact.city, contact.role, contact.name, *reached)))

    asyncio.run(work())
    return DONE


def _contact_add(given: argparse.Namespace) -> int:
    async def work() -> list[str]:
        async with programs.open_house(read_settings()) as house, transaction(house, "command line") as tx:
            added = await parties.add_contact(
                tx, given.city, given.role, given.name, given.email, given.phone, voice=given.voice, webhook=given.webhook,
                apprise=given.apprise, language=given.language, quiet=given.quiet,
            )  # fmt: skip
            secret = [_VERIFIES + parties.secret_of(house, added)] if added.webhook else []
            warnings = rota_command.warned(await warnings_of(tx, added.city, added.role))
            return [f"contact {added.id} added: {added.name} is {added.role.replace('_', ' ')} of {added.city}", *secret, *warnings]

    print("\n".join(asyncio.run(work())))
    return DONE


def _contact_remove(given: argparse.Namespace) -> int:
    async def work() -> list[str]:
        async with programs.open_house(read_settings()) as house, transaction(house, "command line") as tx:
            gone = await parties.remove_contact(tx, given.number)
            return [f"contact {given.number} removed", *rota_command.warned(await warnings_of(tx, gone.city, gone.role))]

    print("\n".join(asyncio.run(work())))
    return DONE


def _printed(lines: Callable[[Transaction, argparse.Namespace], Awaitable[list[str]]]) -> Callable[[argparse.Namespace], int]:
    """The command that prints what came of a change in a transaction of its own."""

    async def work(given: argparse.Namespace) -> list[str]:
        async with programs.open_house(read_settings()) as house, transaction(house, "command line") as tx:
            return await lines(tx, given)

    def run_it(given: argparse.Namespace) -> int:
        print("\n".join(asyncio.run(work(given))))
        return DONE

    return run_it


def _calendar_list(given: argparse.Namespace) -> int:
    async def work() -> list[str]:
        async with programs.open_house(read_settings()) as house, reading(house) as tx:
            shipped = office_days.city_law(house, given.city).calendar.closures
            lines = [(day, 0, f"closed\t{why}\tshipped") for day, why in shipped.items() if why]
            for entry in await office_days.entries_of(tx, given.city):
                says = f"{entry.kind}\t{entry.name} ({entry.source})\t{entry.added_by}"
                taken_out = f", removed by {entry.removed_by}: {entry.reason}" if entry.removed_at else ""
                lines.append((entry.day, entry.id or 0, says + taken_out))
            return [f"{day}\t{says}" for day, _, says in sorted(lines)]

    print("\n".join(asyncio.run(work())))
    return DONE


def _calendar_add(given: argparse.Namespace) -> int:
    day = _day(given.date)

    async def change(tx: Transaction) -> replanning.Change:
        return await replanning.add_day(tx, given.city, day, given.name, given.source, is_open=given.open)

    return _calendar_change(given.city, f"{day} is {'open' if given.open else 'closed'} in {given.city}: {given.name}", change)


def _calendar_remove(given: argparse.Namespace) -> int:
    day = _day(given.date)

    async def change(tx: Transaction) -> replanning.Change:
        return await replanning.remove_day(tx, given.city, day, given.reason)

    return _calendar_change(given.city, f"the entry of {given.city} for {day} is removed", change)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput("no such day", [f"DATE: {text!r} is not a day; right would be: 2026-11-27"]) from None


def _calendar_change(city: str, done: str, change: Callable[[Transaction], Awaitable[replanning.Change]]) -> int:
    async def work() -> tuple[list[replanning.Moved], ZoneInfo]:
        async with programs.open_house(read_settings()) as house, transaction(house, "command line") as tx:
            return (await change(tx)).moved, office_days.city_law(house, city).zone

    moved, zone = asyncio.run(work())
    _say(f"{done}; {len(moved) or 'no'} clock{'' if len(moved) == 1 else 's'} moved")
    for one in moved:
        due = [local(moment, zone) if moment else "no due time" for moment in (one.due_before, one.due_after)]
        extended = [local(moment, zone) if moment else "none" for moment in (one.extended_before, one.extended_after)]
        milder = f"; extended, {extended[0]} -> {extended[1]}" if extended[0] != extended[1] else ""
        _say(f"{one.reference}\t{one.duty}\t{due[0]} -> {due[1]}{milder}")
    return DONE


def _audit_verify(given: argparse.Namespace) -> int:
    async def work() -> bool:
        whole = True
        async with programs.open_house(read_settings()) as house:
            async for line in audit_command.verify(house, given):
                _say(line)
                whole = whole and not line.startswith("WRONG")
        return whole

    return DONE if asyncio.run(work()) else FAILED


def _told(lines: Callable[[Settings, argparse.Namespace], AsyncIterator[str]]) -> Callable[[argparse.Namespace], int]:
    """The command that prints lines as they come, and fails where one of them begins with WRONG."""

    async def work(given: argparse.Namespace) -> bool:
        right = True
        async for line in lines(read_settings(), given):
            _say(line)
            right = right and not line.startswith("WRONG")
        return right

    def run_it(given: argparse.Namespace) -> int:
        return DONE if asyncio.run(work(given)) else FAILED

    return run_it


def _export(given: argparse.Namespace) -> int:
    async def work() -> list[str]:
        async with programs.open_house(read_settings()) as house:
            return await export_command.export(house, given)

    for line in asyncio.run(work()):
        _say(line)
    return DONE


def _retention_destroy(given: argparse.Namespace) -> int:
    async def work() -> list[str]:
        async with programs.open_house(read_settings()) as house:
            return await retention_command.destroy(house, given)

    for line in asyncio.run(work()):
        _say(line)
    return DONE


def _import(given: argparse.Namespace) -> int:
    async def work() -> None:
        async with programs.open_house(read_settings()) as house:
            async for line in import_command.import_sheet(house, given):
                _say(line)

    asyncio.run(work())
    return DONE


def _audit_key(_: argparse.Namespace) -> int:
    async def work() -> str:
        async with programs.open_house(read_settings()) as house:
            return checkpoints.public_key(house)

    print(asyncio.run(work()))
    return DONE


def _audit_checkpoint(_: argparse.Namespace) -> int:
    async def work() -> str:
        async with programs.open_house(read_settings()) as house:
            return await audit_command.checkpoint(house)

    print(asyncio.run(work()))
    return DONE


def _audit_export(given: argparse.Namespace) -> int:
    async def work() -> None:
        async with programs.open_house(read_settings()) as house:
            await audit_command.export(house, given, sys.stdout)

    asyncio.run(work())
    return DONE


_COMMANDS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "serve": _long_running(programs.serve),
    "web": _long_running(programs.serve_web),
    "worker": _long_running(programs.serve_worker),
    "migrate": _migrate,
    "rehearse": _rehearse,
    "user_add": _user_add,
    "user_token": _user_token,
    "contact_list": _contact_list,
    "contact_add": _contact_add,
    "contact_remove": _contact_remove,
    "calendar_list": _calendar_list,
    "calendar_add": _calendar_add,
    "calendar_remove": _calendar_remove,
    "rota_list": _printed(rota_command.listed),
    "rota_add": _printed(rota_command.add),
    "rota_override": _printed(rota_command.override),
    "rota_remove": _printed(rota_command.remove),
    "contact_quiet": _printed(rota_command.quiet),
    "retention_list": _printed(retention_command.listed),
    "retention_hold": _printed(retention_command.hold),
    "retention_release": _printed(retention_command.release),
    "retention_destroy": _retention_destroy,
    "audit_verify": _audit_verify,
    "audit_export": _audit_export,
    "export": _export,
    "import": _import,
    "audit_key": _audit_key,
    "audit_checkpoint": _audit_checkpoint,
    "backup": _told(backup_command.backup),
    "restore": _told(backup_command.put_back),
    "simulate": _told(simulate_command.simulate),
    "doctor": _doctor,
}
