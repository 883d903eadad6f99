"""The commands about rotas and quiet hours: each makes its change and returns the lines to print, warnings last."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

from deadlines import read_moment
from service import parties, rotas
from service.errors import BadInput
from service.on_call import HOLIDAY, roster_of
from service.reach import warnings_of
from service.speech import ENGLISH
from service.tables import Contact, Rota
from service.transaction import Transaction


def warned(warnings: Sequence[str]) -> list[str]:
    """Warnings as they are printed."""
    return [f"WARNING: {line}" for line in warnings]


async def listed(tx: Transaction, given: argparse.Namespace) -> list[str]:
    """Every rota, who is on call, and the overrides to come."""
    lines = []
    for rota in await rotas.rotas_of(tx, given.city or None):
        zone = tx.house.rulebook.zones[rota.city]
        roster = await roster_of(tx, rota.city, rota.role)
        names = {contact.id: contact.name for contact in roster.contacts}
        members = ", ".join(names.get(number, f"contact {number}") for number in rota.members) or "-"
        turns = f"{rota.turn_days} days from {rota.starts_on} at {rota.handover}"
        now = ", ".join(names[number] for number in sorted(roster.called(tx.now))) or "nobody: everybody in the role is told"
        lines.append(f"{rota.id}\t{rota.city}\t{rota.role}\t{rota.name}\t{members}\t{turns}\t{rota.ics_url or '-'}\ton call now: {now}")
        for shift in await rotas.shifts_of(tx, rota):
            kind = "away" if shift.kind == HOLIDAY else "on call"
            who = names.get(shift.contact_id, "somebody who was removed")
            span = f"{ENGLISH.stamp(shift.starts_at, zone)} to {ENGLISH.stamp(shift.ends_at, zone)}"
            lines.append(f"  override {shift.id}\t{who} {kind}\t{span}\t{shift.reason or '-'}\t{shift.added_by}")
        if rota.ics_problem:
            lines.append(f"  calendar: {rota.ics_problem}")
    return lines or ["no rota; everybody in a role is told"]


async def add(tx: Transaction, given: argparse.Namespace) -> list[str]:
    """Enter a rota."""
    try:
        members = [int(part) for part in given.members.split(",") if part.strip()]
    except ValueError:
        raise BadInput("no such members", [f"--members: {given.members!r} is no list of contacts; right would be: 3,5,7"]) from None
    try:
        starts_on = date.fromisoformat(given.starts_on) if given.starts_on else None
    except ValueError:
        raise BadInput("no such day", [f"--starts-on: {given.starts_on!r} is not a day; right would be: 2026-12-07"]) from None
    new = rotas.NewRota(given.city, given.role, given.name, members, starts_on, given.turn_days, given.handover, given.ics)
    rota = await rotas.add_rota(tx, new)
    return [f"rota {rota.id} added: {rota.name} for {rota.role} of {rota.city}", *await _warnings(tx, rota)]


async def override(tx: Transaction, given: argparse.Namespace) -> list[str]:
    """Enter an override or a holiday."""
    rota = await rotas.rota_of(tx, given.number)
    zone = tx.house.rulebook.zones[rota.city]
    since, until = (_moment(name, text, zone) for name, text in (("FROM", given.since), ("UNTIL", given.until)))
    shift = await rotas.add_shift(tx, given.number, given.contact, since, until, given.reason, holiday=given.holiday)
    who = (await tx.session.get_one(Contact, given.contact)).name
    span = f"from {ENGLISH.stamp(since, zone)} to {ENGLISH.stamp(until, zone)}"
    return [f"override {shift.id}: {who} is {'away' if given.holiday else 'on call'} {span}", *await _warnings(tx, rota)]


async def remove(tx: Transaction, given: argparse.Namespace) -> list[str]:
    """End a rota, or take an override of it out."""
    if given.override is not None:
        rota = await rotas.remove_shift(tx, given.number, given.override)
        return [f"override {given.override} removed", *await _warnings(tx, rota)]
    rota = await rotas.end_rota(tx, given.number)
    return [f"rota {given.number} ended", *await _warnings(tx, rota)]


async def quiet(tx: Transaction, given: argparse.Namespace) -> list[str]:
    """Set the quiet hours of a contact."""
    contact = await parties.set_quiet(tx, given.number, "" if given.hours == "none" else given.hours)
    hours = f"{contact.quiet_from}-{contact.quiet_to}" if contact.quiet_from else "none"
    return [f"quiet hours of {contact.name}: {hours}", *warned(await warnings_of(tx, contact.city, contact.role))]


async def _warnings(tx: Transaction, rota: Rota) -> list[str]:
    return warned(await warnings_of(tx, rota.city, rota.role))


def _moment(name: str, text: str, zone: ZoneInfo) -> datetime:
    """A moment as it was typed; without an offset in local time of the city."""
    try:
        return read_moment(text, zone)
    except ValueError as error:
        raise BadInput("no such moment", [f"{name}: {error}; right would be: 2026-12-24T08:00"]) from None
