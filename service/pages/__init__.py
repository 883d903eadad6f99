"""The web pages, all made on the server: they work without JavaScript, on a small phone, with a screen reader.

Anybody reports (`public`); the reporter follows (`status`); the discharger does and files (`discharger`, `discharger_reports`), by links
that staff send (`discharger_links`); staff sign in (`sign_in`, `provider`), see the board (`board`; `live` tells open pages what changes)
on a map (`board_map`) and on a wall (`wall`), work on one spill (`spill`, `place`), also at the kerb (`kerb`), merge, split and refer it
(`whole_spills`), hand it on to the city's 311
(`forwarding`), close it (`closing`) and keep their city's calendar (`calendars`) and its texts of messages (`city_texts`).
Photos and papers are handed out by `photos`, and the seal in the head of every page by `seals`.
Whoever was told acts from the link in a mail (`act`); what nobody understood is read in `replies`, dead addresses in `suppressions`.
Who is on call stands in `on_call`.
Programs are kept from filling the form by `report_guard`; what looks automatic is judged in `held`. Open reports near a place: `nearby`.
Anybody looks at the list of spills and its map (`public_map`).
Staff subscribe to spills (`subscriptions`), anybody to the advisories (`alerts`) that an officer issues (`advisory`).
Staff keep their own account (`account`, `passkeys`) and their calendars of due times (`due_times`), administrators
the accounts of others (`users`); how everything is set up stands in
`administration`, which systems are sent events in `event_hooks`, earlier spills come in by `importing`, who fills the roles in `contacts`,
whom each duty tells when in `ladders`, which law counts in `packs`,
how long records are kept in `retention`, words are masked in `redaction`.
Anybody tries facts on (`what_if`) and reads the law (`law`); programmers read the API (`api_described`).
What spills come to stands in `numbers`. A page never changes anything on GET.
"""

from fastapi import APIRouter

from service.pages import (
    account,
    act,
    administration,
    advisory,
    alerts,
    api_described,
    board,
    board_map,
    calendars,
    city_texts,
    closing,
    contacts,
    discharger,
    discharger_links,
    discharger_reports,
    due_times,
    event_hooks,
    forwarding,
    held,
    importing,
    kerb,
    ladders,
    law,
    live,
    nearby,
    numbers,
    on_call,
    packs,
    passkeys,
    photos,
    place,
    provider,
    public,
    public_map,
    quantities,
    redaction,
    replies,
    report_guard,
    retention,
    seals,
    sign_in,
    spill,
    status,
    subscriptions,
    suppressions,
    users,
    wall,
    what_if,
    whole_spills,
)
from service.pages.live import Live
from service.pages.problems import error_page

router = APIRouter()
for part in (public, what_if, law, status, discharger, act, sign_in, board, spill, closing, place, quantities, calendars, city_texts):
    router.include_router(part.router)
for part in (replies, suppressions, on_call, subscriptions, advisory, alerts, photos, seals, public_map, api_described, numbers):
    router.include_router(part.router)
router.include_router(photos.staff_router)
for part in (report_guard, nearby, held, kerb, whole_spills):
    router.include_router(part.router)
router.include_router(discharger_reports.router)
router.include_router(discharger_links.router)
for part in (
    account, due_times, event_hooks, forwarding, importing, passkeys, users, live, board_map, wall, administration, contacts, ladders,
    packs, retention,
):  # fmt: skip
    router.include_router(part.router)
router.include_router(redaction.router)
router.include_router(passkeys.entrance_router)
router.include_router(provider.router)

__all__ = ["Live", "error_page", "router"]
