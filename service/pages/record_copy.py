"""The reporter's copy of the record: what a paper holds of a spill, fit for whoever reported it. No other person is in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from service import papers
from service.closing import History, closed_in
from service.events import ActRecorded, ReporterAdded, ReportReceived
from service.kept_files import PHOTO, kept_files
from service.obligations import clock_json, of_spill
from service.pages.rendering import city_name, rule_of, zone_of
from service.pages.reporter_news import ACT_NEWS, news, plain_flags, said_by_city, understood, who_says, words_of_reporter
from service.pages.seals import seal_of
from service.pages.speech import Speech, marked
from service.tables import Obligation, Spill
from service.transaction import House, Transaction

_WAYS = {"web": marked("By the form on this website"), "api": marked("By another program"), "staff": marked("Staff entered it")}
_WAYS["open311"] = _WAYS["api"]
_WAYS["mail"] = marked("By e-mail")
_OWED_BY = {"city": marked("The city"), "discharger": marked("Whoever is responsible for the spill")}
# The rule of a city's pack that says that it keeps a record of each report, and copies it for whoever reported.
_RIGHT = "{city}/report-record-5-years"


def law_of_copies(house: House, spill: Spill) -> str:
    """The citation of the law that gives a reporter a copy of the record and word of what was done; empty where none does."""
    rule = rule_of(house, _RIGHT.format(city=spill.city)) if spill.city else None
    return rule.citation if rule else ""


def letterhead_of(house: House, spill: Spill) -> papers.Letterhead:
    """Who hands out a paper about a spill: its city, with the seal that its operator laid in."""
    return papers.Letterhead(city_name(house, spill.city) if spill.city else "", zone_of(house, spill.city), seal_of(house, spill.city))


async def record_copy(tx: Transaction, spill: Spill, speech: Speech) -> papers.RecordCopy:
    """The record of a report as it stands now, in a language."""
    house, history = tx.house, await tx.history(spill)
    zone = zone_of(house, spill.city)
    received = next((event for _, event in history if isinstance(event, ReportReceived)), None)
    closed = closed_in(history)
    return papers.RecordCopy(
        letterhead=letterhead_of(house, spill),
        reference=spill.reference, received_at=spill.received_at, made_at=tx.now,
        how=speech.say(_WAYS.get(received.by_way_of if received else "", _WAYS["staff"])),
        words=words_of_reporter(history), facts=understood(speech, house, spill, zone),
        updates=[(one.at, one.says) for one in reversed(news(speech, house, spill, history))],
        actions=_actions(speech, house, spill, history),
        duties=[_duty(speech, house, spill, row, tx.now) for row in await of_spill(tx, spill) if row.state != "withdrawn"],
        added=[(row.recorded_at, event.text) for row, event in history if isinstance(event, ReporterAdded) and event.text],
        photos=len(await kept_files(tx, spill, PHOTO)), closed=who_says(speech, house, spill, *closed) if closed else "",
        right=law_of_copies(house, spill), flags=plain_flags(speech, spill.flags),
    )  # fmt: skip


def _actions(speech: Speech, house: House, spill: Spill, history: History) -> Sequence[tuple[datetime, str]]:
    """What was done, oldest first: acts on record, and what the city told the reporter."""
    acts = [
        (row.happened_at, speech.say(ACT_NEWS[str(event.act["type"])]))
        for row, event in history
        if isinstance(event, ActRecorded) and event.act.get("type") in ACT_NEWS
    ]
    told = [(one.at, f"{one.who}\n\n{one.words}") for one in said_by_city(speech, house, spill, history)]
    return sorted([*dict.fromkeys(acts), *told], key=lambda pair: pair[0])


def _duty(speech: Speech, house: House, spill: Spill, row: Obligation, now: datetime) -> papers.ReportedDuty:
    clock = clock_json(row, now)
    stands = speech.standing(clock, zone_of(house, spill.city), now)
    owed_by = speech.say(_OWED_BY.get(clock["owed_by"], _OWED_BY["discharger"]))
    return papers.ReportedDuty(speech.say(clock["title"]), clock["citation"], owed_by, stands)
