"""What goes out first after a report: the reporter's link, and messages that claim no more than is known."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest
from starlette.requests import ClientDisconnect

from service.app import build_app
from service.lanes import Faults
from tests.houses import TUESDAY, Household
from tests.spills import NOWHERE_NEAR, a_report

ANA = {"name": "Ana Ruiz", "email": "ana@example.com", "phone": "909 555 0155", "privacy": "confidential"}


async def test_who_leaves_an_address_gets_the_link_to_their_page_once(home: Household) -> None:
    await home.report(a_report(contact=ANA, language="es"), staff=False)
    await home.live(minutes=30)
    [mail] = [line for line in home.outbox() if line["to"] == "ana@example.com"]
    assert "Su reporte llegó." in mail["text"]
    assert "https://spills.example.gov/status/" in mail["text"]
    assert [line for line in home.outbox() if "5550155" in line["to"]] == []


@pytest.mark.parametrize("contact", [None, {"phone": "909 555 0155"}, {**ANA, "privacy": "anonymous"}, {"email": "no es correo"}], ids=str)
async def test_nobody_is_written_to_without_an_address_of_theirs(home: Household, contact: dict[str, str] | None) -> None:
    await home.report(a_report(contact=contact), staff=False)
    await home.work()
    assert [line for line in home.outbox() if line["step"] == "received"] == []


async def test_staff_who_enter_a_report_send_the_caller_nothing(home: Household) -> None:
    await home.report(a_report(contact=ANA))
    await home.work()
    assert [line for line in home.outbox() if line["to"] == ANA["email"]] == []


async def test_a_strangers_mailbox_is_not_filled_by_whoever_writes_its_address(home: Household) -> None:
    for _ in range(8):
        await home.report(a_report(contact=ANA), staff=False)
    await home.work()
    assert len([line for line in home.outbox() if line["to"] == ANA["email"]]) == 3


async def test_a_held_report_writes_to_nobody_until_it_is_called_real(home: Household) -> None:
    await home.report(a_report(contact=ANA), staff=False, by_way_of="web", doubts=["a trap"])
    await home.work()
    assert [line for line in home.outbox() if line["to"] == ANA["email"]] == []


async def test_a_day_long_ago_that_the_public_tells_waits_for_a_person_and_wakes_nobody_above(home: Household) -> None:
    reference = await home.report(a_report(seen_at="1999-01-01T00:00:00"), staff=False)
    await home.work()
    spill = await home.spill(reference)
    assert "discharged_at" not in spill.facts
    assert spill.flags == ["seen_at: over 30 days ago; a person should confirm it (left out until then)"]
    assert not any("OVERDUE" in line["text"] for line in home.outbox())
    assert {row.state for row in await home.clocks(reference)} == {"running"}
    subjects = {line["text"].splitlines()[0] for line in home.outbox() if line["step"] == "triage"}
    assert any("the time it was seen: over 30 days ago" in subject for subject in subjects)


async def test_a_day_long_ago_that_staff_state_counts(home: Household) -> None:
    reference = await home.report(a_report(seen_at="2026-08-01T12:00:00"))
    assert (await home.spill(reference)).facts["discharged_at"] == "2026-08-01T19:00:00Z"
    await home.work()
    assert any("Aug" in line["text"] and "2026" in line["text"] for line in home.outbox() if "OVERDUE" in line["text"])


async def test_the_first_message_of_a_spill_seen_yesterday_speaks_of_no_alert_that_could_not_go_out(home: Household) -> None:
    yesterday = (TUESDAY - timedelta(hours=20)).isoformat()
    await home.report(a_report(seen_at=yesterday), staff=False)
    await home.live(minutes=2)
    assert home.outbox()
    assert not any("could not go out then" in line["text"] for line in home.outbox())


async def test_a_report_without_a_city_is_confirmed_in_nobodys_name(home: Household) -> None:
    await home.report(a_report(location=NOWHERE_NEAR, contact=ANA), staff=False)
    await home.work()
    [mail] = [line for line in home.outbox() if line["to"] == ANA["email"]]
    assert "Chino" not in mail["text"]


async def test_what_fails_each_second_is_told_whole_once_in_ten_minutes(caplog: pytest.LogCaptureFixture) -> None:
    faults = Faults()
    with caplog.at_level(logging.ERROR):
        for problem in (OSError("disk full"), OSError("disk full"), ValueError("other")):
            try:
                raise problem
            except (OSError, ValueError):
                faults.tell("worker w failed while climbing; trying again")
    assert [record.exc_info is not None for record in caplog.records] == [True, True]  # one of each kind


async def test_a_sender_who_goes_away_in_the_middle_is_no_error(home: Household, caplog: pytest.LogCaptureFixture) -> None:
    app = build_app(home.house)
    sent: list[dict[str, object]] = []
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": "/report", "raw_path": b"/report",
        "query_string": b"", "root_path": "", "scheme": "http", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
        "headers": [(b"content-type", b"multipart/form-data; boundary=x"), (b"sec-fetch-site", b"same-origin")], "state": {},
    }  # fmt: skip
    coming = iter([{"type": "http.request", "body": b"--x\r\n", "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> dict[str, object]:
        return next(coming, {"type": "http.disconnect"})

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    with caplog.at_level(logging.INFO):
        await app(scope, receive, send)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert ClientDisconnect.__name__ not in caplog.text
