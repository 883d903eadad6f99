"""The law for anybody to read and check: the packs, the rules that stand over a city, and each rule in full with every version of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from deadlines import Rulebook
from deadlines.explaining import rule_as_json
from deadlines.rules import ALWAYS, Pack, Rule
from service.administration_tables import SwitchedOff
from service.errors import NotKnown
from service.pages import law_told, law_words
from service.pages.counting_words import limit_words
from service.pages.rendering import house_of, page, spoken
from service.pages.speech import Speech, marked
from service.switches import over, switched_off
from service.transaction import reading

router = APIRouter(include_in_schema=False)
_COVERS = {
    "this city": marked("This city alone"), "every city": marked("Every city"), "state": marked("Every city of the state %(word)s"),
    "permit": marked("Cities under the permit %(word)s"),
}  # fmt: skip


@dataclass(frozen=True)
class RuleLine:
    """A version of a rule as a line of the table.

    `days` says when it is in force, where that is not always; `off`, that its city switched it off.
    """

    rule: Rule
    limit: str
    starts: str
    to: str
    days: str
    off: SwitchedOff | None = None


@router.get("/law")
async def packs_page(request: Request) -> Response:
    """Every pack: what it covers, who compared it with its source and when, and how many of its rules nobody has compared yet."""
    packs = house_of(request).rulebook.packs.values()
    groups = [[pack for pack in packs if pack.is_city], [pack for pack in packs if not pack.is_city]]
    unread = {pack.id: sum(not rule.verified for rule in pack.rules) for pack in packs}
    return page(request, "law.html", groups=groups, unread=unread, covers=_COVERS)


@router.get("/law/{pack_id}")
async def pack_page(request: Request, pack_id: str) -> Response:
    """The rules that stand over a city, its own first; of a pack that lies over cities, its own rules."""
    rulebook = house_of(request).rulebook
    pack = rulebook.packs.get(pack_id)
    if pack is None:
        raise NotKnown(f"there is no city and no pack {pack_id[:60]!r}")
    shown = [pack]
    if pack.is_city:
        shown += [other for other in rulebook.packs.values() if not other.is_city and other.lies_over(pack)]
    async with reading(house_of(request)) as tx:
        off = await switched_off(tx, pack.id if pack.is_city else None)
    city = pack if pack.is_city else None
    parts = [
        (one, [replace(_line(spoken(request), rulebook, rule, city), off=over(off, rule.duty)) for rule in one.rules]) for one in shown
    ]
    return page(request, "law_pack.html", pack=pack, parts=parts, says=law_words)


def _line(speech: Speech, rulebook: Rulebook, rule: Rule, city: Pack | None) -> RuleLine:
    limit, starts = limit_words(speech, rule.limit.text), law_told.starts_told(speech, rule)
    return RuleLine(rule, limit, starts, _recipient(rulebook, rule, city), days_of(rule))


def _recipient(rulebook: Rulebook, rule: Rule, city: Pack | None) -> str:
    """Who is told, by name; without a city an office that each city has of its own is named by its kind."""
    recipient = rule.to
    if rule.to_agency:
        if city is None:
            return f"each city's {rule.to_agency.replace('-', ' ')}"
        recipient = city.agencies.get(rule.to_agency)
    return rulebook.recipients[recipient].name if recipient in rulebook.recipients else ""


def days_of(rule: Rule) -> str:
    """The days on which this version of a rule is the law, where that is not every day."""
    found = [str(rule.in_force)] if rule.in_force is not ALWAYS else []
    if rule.starts_on:
        found.append(f"for starts on {'a working day' if rule.starts_on == 'open day' else 'a closed day'}")
    return ", ".join(found)


@router.get("/law/{pack_id}/{rule_id}")
async def rule_page(request: Request, pack_id: str, rule_id: str) -> Response:
    """One rule in full, with every version of it, the latest first."""
    rulebook = house_of(request).rulebook
    duty = f"{pack_id}/{rule_id}"
    try:
        pack, versions = rulebook.rules(duty)
    except KeyError:
        raise NotKnown(f"there is no rule {duty[:120]!r}") from None
    told = [_version(spoken(request), rulebook, pack, rule) for rule in reversed(versions)]
    async with reading(house_of(request)) as tx:
        off = [(city, entry) for city in tx.house.cities if (entry := over(await switched_off(tx, city), duty))]
    return page(request, "law_rule.html", pack=pack, duty=duty, title=versions[-1].title, versions=told, says=law_words, off=off)


def _version(speech: Speech, rulebook: Rulebook, pack: Pack, rule: Rule) -> dict[str, Any]:
    """A version of a rule as JSON has it, with its recipients by name, and in words its days, its limit, its start and whom it wakes."""
    told = rule_as_json(pack, rule, rulebook)
    words = {
        "limit": limit_words(speech, rule.limit.text), "starts_from": law_told.starts_told(speech, rule),
        "ladder": [law_told.rung_told(speech, rung) for rung in rule.ladder],
    }  # fmt: skip
    return {**told, **words, "days": days_of(rule), "recipients": _recipients(rulebook, told["to"])}


def _recipients(rulebook: Rulebook, to: dict[str, Any] | None) -> Sequence[tuple[str, str, tuple[str, ...]]]:
    """Who is told: the city for which they are (empty for all), their name, and their telephone numbers."""
    if to is None:
        return []
    offices = to["in"] if "agency" in to else {"": to["id"]}
    known = rulebook.recipients
    return [(city, known[office].name, known[office].telephone) for city, office in offices.items() if office in known]
