"""ESC: upwards only, to people whom nothing told yet, and an honest answer at the top."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.events import RungReached, RungReachedNobody
from service.tables import Contact
from tests.service.small_law import small_law
from tests.service.telephones import CREW, DIRECTOR, OFFICER, SUPERVISOR, Telephones, telephones
from tests.spills import a_report

TOP = "Nobody stands further up the ladder for SP-2026-00001, Call the board within two hours. Call somebody yourself."


@pytest.fixture
async def phones(tmp_path: Path) -> AsyncIterator[Telephones]:
    async with telephones(tmp_path) as found:
        yield found


async def told(phones: Telephones) -> tuple[str, str]:
    reference = await phones.home.report(a_report())
    await phones.home.work()
    return reference, await phones.code_for(OFFICER)


async def test_each_escalation_tells_the_next_people_up_and_nobody_twice(phones: Telephones) -> None:
    reference, code = await told(phones)
    assert (await phones.text(OFFICER, f"ESC {code}")).startswith("Told at once: supervisor. ")
    assert (await phones.text(OFFICER, f"ESC {code}")).startswith("Told at once: director. ")
    await phones.home.work()
    assert [len(phones.texts_to(number)) for number in (OFFICER, CREW, SUPERVISOR, DIRECTOR)] == [1, 1, 1, 1]
    told_of = [event.told for event in await phones.home.events(reference, RungReached) if event.at_once]
    assert told_of == [["Sofia Tran (sms)", "Sofia Tran (email)"], ["Grace Lindqvist (sms)", "Grace Lindqvist (email)"]]


async def test_at_the_top_nobody_further_down_is_told_again(phones: Telephones) -> None:
    _, code = await told(phones)
    await phones.home.live(hours=2, minutes=31)  # due+30m has told the director
    before = len(phones.twilio.taken)
    code = await phones.code_for(DIRECTOR)
    for _ in range(4):
        assert (await phones.text(DIRECTOR, f"ESC {code}")).startswith(TOP)
    await phones.home.work()
    assert len(phones.twilio.taken) == before
    await phones.home.live(hours=1)
    assert len(phones.texts_to(OFFICER)) == 4  # start, due-10m, due, and due+1h at its own moment


async def test_a_rung_that_an_acknowledgement_kept_back_still_stands_further_up(phones: Telephones) -> None:
    _, code = await told(phones)
    await phones.text(OFFICER, f"OK {code}")
    await phones.home.live(minutes=20)
    assert not phones.texts_to(SUPERVISOR)
    assert (await phones.text(OFFICER, f"ESC {code}")).startswith("Told at once: supervisor. ")


async def test_somebody_asleep_whose_alert_waits_for_the_morning_is_woken(tmp_path: Path) -> None:
    ladder = """
    - {at: start, tell: [duty_officer], by: [sms]}
    - {at: start+1h, tell: [supervisor], by: [sms]}
    - {at: due, tell: [duty_officer], by: [sms]}
"""
    async with telephones(tmp_path, law=small_law(ladder=ladder, limit="5 days")) as phones:
        await phones.home.people(
            Contact(city="chino", role="duty_officer", name="Ann", phone=OFFICER),
            Contact(city="chino", role="supervisor", name="Sue", phone=SUPERVISOR, quiet_from="12:00", quiet_to="20:00"),
        )
        _, code = await told(phones)
        await phones.home.live(hours=1, minutes=5)
        assert not phones.texts_to(SUPERVISOR)
        assert (await phones.text(OFFICER, f"ESC {code}")).startswith("Told at once: supervisor. ")
        await phones.home.work()
        assert len(phones.texts_to(SUPERVISOR)) == 1


async def test_one_person_in_two_roles_is_not_somebody_new(phones: Telephones) -> None:
    await phones.home.people(
        Contact(city="chino", role="duty_officer", name="Ann", phone=OFFICER),
        Contact(city="chino", role="supervisor", name="Ann", phone=OFFICER),
        Contact(city="chino", role="director", name="Dee", phone=DIRECTOR),
    )
    _, code = await told(phones)
    assert (await phones.text(OFFICER, f"ESC {code}")).startswith("Told at once: director. ")
    assert (await phones.text(OFFICER, f"ESC {code}")).startswith(TOP)


async def test_where_no_role_further_up_is_filled_the_administrators_are_told_once_and_it_is_an_alarm(phones: Telephones) -> None:
    await phones.home.people(Contact(city="chino", role="duty_officer", name="Ann", phone=OFFICER))
    await phones.home.token("administrator", "chino", "root@chino.example")
    reference, code = await told(phones)
    assert (await phones.text(OFFICER, f"ESC {code}")).startswith("Told at once: administrator. ")
    [alarm] = await phones.home.events(reference, RungReachedNobody)
    assert (alarm.steps, alarm.reason) == (["start+15m"], "nobody with an address fills the role: supervisor")
    assert (await phones.text(OFFICER, f"ESC {code}")).startswith(TOP)
    await phones.home.work()
    assert [line["to"] for line in phones.home.outbox() if line["channel"] == "email"] == ["root@chino.example"]


async def test_roles_that_nobody_fills_are_never_said_to_be_told(phones: Telephones) -> None:
    await phones.home.people(Contact(city="chino", role="duty_officer", name="Ann", phone=OFFICER))
    _, code = await told(phones)
    assert (await phones.text(OFFICER, f"ESC {code}")).startswith(TOP)
