"""Answers by text and by telephone key: whole commands only, by whoever was told only, each done once, and nothing lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from notifiers import segments
from service import codes, reply_words
from service.events import (
    AddressRestored,
    AddressSuppressed,
    EscalationAsked,
    MessageArrived,
    ObligationAcknowledged,
    ObligationMet,
    ReplyReceived,
    RungReached,
)
from service.reply_words import Command, answer, read_command
from service.transaction import transaction
from tests.houses import Clock, a_house
from tests.service.small_law import CALL, COUNTED, TWO_HOURS, small_law
from tests.service.telephones import CREW, DIRECTOR, OFFICER, SITE, SUPERVISOR, Telephones, telephones
from tests.spills import a_report

STRANGER = "+19095550199"
TWO_DUTIES = CALL + CALL.replace("two-hours", "other").replace("Call the board within two hours", "Call works too").replace("T-1", "T-9")
VISIT = """
  - id: visit
    title: Go there
    provisions: [T-1]
    citation: Test Code 1
    says: Somebody goes there.
    when: {fact: material, is: sewage}
    starts: known_at
    limit: 2 hours
    how: [response]
    owed_by: city
    ladder: main
    reading: Read for tests.
"""


@pytest.fixture
async def phones(tmp_path: Path) -> AsyncIterator[Telephones]:
    async with telephones(tmp_path) as found:
        yield found


async def told(phones: Telephones) -> tuple[str, str]:
    """A spill about which everybody was told by text; its reference, and the officer's code."""
    reference = await phones.home.report(a_report())
    await phones.home.work()
    return reference, await phones.code_for(OFFICER)


# -- what is a command


@pytest.mark.parametrize(
    ("text", "meaning", "code"),
    [
        ("OK 4F7K", "acknowledge", "4F7K"), ("ok 4f7k", "acknowledge", "4F7K"), ("  Ok,  4f7k.  ", "acknowledge", "4F7K"),
        ("OK", "acknowledge", ""), ("ok!", "acknowledge", ""), ("Ack 4F7K", "acknowledge", "4F7K"), ("SÍ 4F7K", "acknowledge", "4F7K"),
        ("si", "acknowledge", ""), ("Visto 4F7K", "acknowledge", "4F7K"), ("OK4F7K", "acknowledge", "4F7K"),
        ("o.k. - 4f7k!!", "acknowledge", "4F7K"), ("O.K.", "acknowledge", ""), ("O.K.4F7K", "acknowledge", "4F7K"),
        ("s.t.o.p.", "stop", ""), ("o.k. to stop. a.m.", "unknown", ""), ("YES", "unknown", ""),
        ("4F7K ok", "acknowledge", "4F7K"), ("\N{THUMBS UP SIGN} OK 4F7K", "acknowledge", "4F7K"), ("OK 9999", "acknowledge", "9999"),
        ("ESC 4F7K", "escalate", "4F7K"), ("escalate 4F7K", "escalate", "4F7K"), ("Escalar", "escalate", ""),
        ("done 4F7K", "done", "4F7K"), ("¡Hecho! 4F7K", "done", "4F7K"),
        ("STOP", "stop", ""), ("stop.", "stop", ""), (" 'Stop' ", "stop", ""), ("STOP ALL", "stop", ""), ("stopall", "stop", ""),
        ("Unsubscribe", "stop", ""), ("cancel", "stop", ""), ("END", "stop", ""), ("quit", "stop", ""), ("Parar", "stop", ""),
        ("¡ALTO!", "stop", ""), ("Opt-out", "stop", ""),
        ("START", "start", ""), ("unstop", "start", ""), ("Sí, start", "start", ""),
        ("HELP", "help", ""), ("help?", "help", ""), ("Info", "help", ""), ("ayuda", "help", ""),
        ("please stop the leak", "unknown", ""), ("stop sign", "unknown", ""), ("STOP 4F7K", "unknown", "4F7K"),
        ("OK I am at the drain, stop valve closed", "unknown", ""), ("OK Omar", "unknown", ""), ("ok thanks", "unknown", ""),
        ("not OK", "unknown", ""), ("the end", "unknown", ""), ("don't stop", "unknown", ""), ("done with it", "unknown", ""),
        ("help is on the way", "unknown", ""), ("start pumping", "unknown", ""), ("", "unknown", ""), ("?", "unknown", ""),
        ("4F7K", "unknown", "4F7K"), ("OK 4F7K 3C6D", "unknown", "4F7K"), ("OK 4F7K thanks", "unknown", "4F7K"), ("СТОП ok", "unknown", ""),
        ("\N{THUMBS UP SIGN}", "unknown", ""), ("OKAY", "unknown", ""), ("stop stop", "unknown", ""),
    ],
)  # fmt: skip
def test_only_a_whole_command_is_one(text: str, meaning: str, code: str) -> None:
    found = read_command(text)
    assert (found.meaning, found.code) == (meaning, code)


def test_a_command_in_spanish_is_answered_in_spanish() -> None:
    assert read_command("Visto 4F7K").is_spanish
    assert read_command("ALTO") == Command("stop", is_spanish=True)
    assert not read_command("OK 4F7K").is_spanish


def test_every_answer_is_there_in_both_languages_and_short() -> None:
    assert set(reply_words._ENGLISH) == set(reply_words._IN_SPANISH)
    filled = {
        "what": "SP-2026-00001, Call the regional water board within two hours, and tell...", "link": f"{SITE}/staff/spills/SP-2026-00001",
        "person": "Omar Reyes", "roles": "supervisor", "number": 3, "code": "4F7K", "name": "Spillclock, City of Chino, California",
        "choices": "; ".join(["4F7K = SP-2026-00001, Call the regional water board now"] * 2),
    }  # fmt: skip
    for language in ("en", "es"):
        for key in reply_words._ENGLISH:
            encoding, number = segments(answer(key, language, **filled))
            assert (encoding, number) <= ("GSM-7", 2), (language, key, encoding, number)


def test_codes_are_short_and_never_a_word(tmp_path: Path) -> None:
    house = a_house(tmp_path, Clock())
    made = {codes.code_of(house, OFFICER, number) for number in range(2000)}
    assert len(made) > 1500
    assert all(codes.is_code(code) and len(code) == 4 for code in made)
    assert not any(set(code) & set("0O1IL5S8BQZUV") for code in made)
    assert not any(code.isalpha() or code.isdigit() for code in made)


# -- codes


async def test_every_text_shows_its_code_and_no_two_open_ones_to_a_number_share_it(phones: Telephones) -> None:
    for _ in range(4):
        await phones.home.report(a_report())
    await phones.home.live(hours=3)
    texts = [message for message in await phones.home.messages(channel="sms") if message.state == "accepted" and not message.carried_by]
    assert len(texts) > 8
    for message in texts:
        assert f"Reply OK {message.code}." in message.text
    for number in (OFFICER, SUPERVISOR):
        mine = [message.code for message in texts if message.address == number]
        assert len(set(mine)) == len(mine)
    assert {message.code for message in await phones.home.messages(channel="email")} == {""}


# -- acknowledge, escalate, done


async def test_ok_with_the_code_acknowledges_as_the_person_who_was_told(phones: Telephones) -> None:
    reference, code = await told(phones)
    said = await phones.text(OFFICER, f"ok {code.lower()}")
    assert said.startswith("Recorded: Omar Reyes has seen SP-2026-00001, Call the board within two hours.")
    assert f"{SITE}/staff/spills/{reference}" in said
    [seen] = await phones.home.events(reference, ObligationAcknowledged)
    assert seen.person == "Omar Reyes"
    [row] = [row for row, event in await phones.home.history(reference) if isinstance(event, ObligationAcknowledged)]
    assert row.actor == "Omar Reyes (text message)"
    [arrived] = await phones.home.events(reference, MessageArrived)
    assert (arrived.status, arrived.person) == ("read", "Omar Reyes")
    await phones.home.live(minutes=20)
    assert not phones.texts_to(SUPERVISOR)  # the rung for the case that nobody acknowledges is left out


async def test_without_a_code_ok_is_enough_where_one_duty_alone_is_open(phones: Telephones) -> None:
    reference, _ = await told(phones)
    await phones.home.live(hours=1, minutes=51)  # two rungs by now, of the same duty
    assert (await phones.text(OFFICER, "OK")).startswith("Recorded: Omar Reyes has seen")
    assert len(await phones.home.events(reference, ObligationAcknowledged)) == 1


async def test_where_several_duties_are_open_the_answer_asks_which(phones: Telephones) -> None:
    await told(phones)
    phones.home.clock.jump(minutes=1)
    second, code = await told(phones)
    said = await phones.text(OFFICER, "OK")
    assert said.startswith("2 alerts are open. Say which, by its code: ")
    assert f"{code} = {second}, Call the board within two hours" in said
    assert [reply.meaning for reply in await phones.replies()] == ["unknown"]
    assert (await phones.text(OFFICER, f"OK {code}")).startswith("Recorded")
    assert len(await phones.home.events(second, ObligationAcknowledged)) == 1


async def test_the_same_text_twice_is_done_once_and_answered_alike(phones: Telephones) -> None:
    reference, code = await told(phones)
    answers = [await phones.text(OFFICER, f"OK {code}", sid="SM" + "7" * 32) for _ in range(3)]
    assert len(set(answers)) == 1
    assert len(await phones.home.events(reference, ObligationAcknowledged)) == 1
    assert len(await phones.replies()) == 1


async def test_the_same_text_at_the_same_moment_is_done_once(phones: Telephones) -> None:
    reference, code = await told(phones)
    answers = await asyncio.gather(*(phones.text(OFFICER, f"ESC {code}", sid="SM" + "8" * 32) for _ in range(4)))
    assert len(set(answers)) == 1
    assert len(await phones.home.events(reference, EscalationAsked)) == 1


@pytest.mark.parametrize("who", [STRANGER, SUPERVISOR])
async def test_only_the_number_that_got_a_code_may_use_it(phones: Telephones, who: str) -> None:
    reference, code = await told(phones)
    for command in ("OK", "ESC", "DONE"):
        assert (await phones.text(who, f"{command} {code}")).startswith(f"No open alert to this number has the code {code}.")
    for kind in (ObligationAcknowledged, EscalationAsked, ObligationMet):
        assert not await phones.home.events(reference, kind)


async def test_escalating_climbs_the_next_rung_now_and_again_the_one_above(phones: Telephones) -> None:
    reference, code = await told(phones)
    assert (await phones.text(OFFICER, f"esc {code}")).startswith("Told at once: supervisor. ")
    await phones.home.work()
    assert len(phones.texts_to(SUPERVISOR)) == 1
    [asked] = await phones.home.events(reference, EscalationAsked)
    assert asked.person == "Omar Reyes"
    assert [event.steps for event in await phones.home.events(reference, RungReached) if event.at_once] == [["start+15m"]]
    assert (await phones.text(OFFICER, f"ESC {code}")).startswith("Told at once: director. ")
    await phones.home.work()
    assert len(phones.texts_to(DIRECTOR)) == 1
    await phones.home.live(minutes=15)
    assert len(phones.texts_to(SUPERVISOR)) == 2  # the rung's own moment stands


async def test_done_meets_a_duty_that_one_call_does(phones: Telephones) -> None:
    reference, code = await told(phones)
    phones.home.clock.jump(minutes=10)
    said = await phones.text(OFFICER, f"Done {code}")
    assert said.startswith("Recorded: done. SP-2026-00001, Call the board within two hours.")
    row = await phones.home.clock_of(reference, TWO_HOURS)
    assert (row.state, row.met_at) == ("met", phones.home.clock.at)
    assert (await phones.text(OFFICER, f"OK {code}")).startswith("That was closed already")
    await phones.home.live(hours=3)
    assert len(phones.twilio.taken) == 2


async def test_a_written_report_is_never_done_by_a_text(tmp_path: Path) -> None:
    async with telephones(tmp_path, law=small_law(COUNTED)) as phones:
        reference = await phones.home.report(a_report(threat=True, discharged_at="2026-12-01T21:00:00Z"))
        await phones.home.work()
        said = await phones.text(OFFICER, f"DONE {await phones.code_for(OFFICER)}")
        assert "needs a written report. Write it here: https://spills.example.gov/staff/spills/" in said
        said = await phones.text(CREW, f"DONE {await phones.code_for(CREW)}")
        assert "needs a written report. Write it here: https://spills.example.gov/respond/SP-2026-00001." in said
        assert not await phones.home.events(reference, ObligationMet)


async def test_the_discharger_cannot_say_that_the_city_did_its_duty(tmp_path: Path) -> None:
    async with telephones(tmp_path, law=small_law(VISIT)) as phones:
        reference = await phones.home.report(a_report())
        await phones.home.work()
        assert "is for the city to record" in await phones.text(CREW, f"DONE {await phones.code_for(CREW)}")
        assert not await phones.home.events(reference, ObligationMet)
        assert (await phones.text(OFFICER, f"hecho {await phones.code_for(OFFICER)}")).startswith("Registrado: hecho.")
        assert len(await phones.home.events(reference, ObligationMet)) == 1


async def test_ok_to_a_message_about_several_duties_is_about_all_of_them(tmp_path: Path) -> None:
    async with telephones(tmp_path, law=small_law(TWO_DUTIES)) as phones:
        reference = await phones.home.report(a_report())
        await phones.home.work()
        [text] = phones.texts_to(OFFICER)
        [carrier] = [message for message in await phones.home.messages(address=OFFICER) if message.carried_by in (None, message.id)]
        assert carrier.code in text.form["Body"]
        assert "several duties" in await phones.text(OFFICER, f"DONE {carrier.code}")
        assert "2 duties" in await phones.text(OFFICER, f"OK {carrier.code}")
        assert len(await phones.home.events(reference, ObligationAcknowledged)) == 2


# -- out and in


@pytest.mark.parametrize("word", ["STOP", "stop", "Parar"])
async def test_stop_ends_all_texts_to_that_number_and_is_confirmed_once(phones: Telephones, word: str) -> None:
    reference, _ = await told(phones)
    said = await phones.text(OFFICER, word)
    assert "Spillclock, A Chino for tests" in said
    assert "START" in said
    assert await phones.text(OFFICER, "STOP") == ""
    assert await phones.suppressed() == [("sms", OFFICER, "opted_out")]
    [event] = await phones.home.events(reference, AddressSuppressed)
    assert (event.person, event.reason) == ("Omar Reyes", "opted_out")
    await phones.home.live(hours=2)
    assert len(phones.texts_to(OFFICER)) == 1
    assert "duty@chino.example" in {line["to"] for line in phones.home.told(TWO_HOURS, "due-10m")}


async def test_staff_see_an_opt_out_on_every_spill_of_theirs(phones: Telephones) -> None:
    first, _ = await told(phones)
    second, _ = await told(phones)
    await phones.text(OFFICER, "STOP")
    for reference in (first, second):
        assert len(await phones.home.events(reference, AddressSuppressed)) == 1


async def test_where_twilio_has_answered_stop_by_itself_nothing_is_added(phones: Telephones) -> None:
    await told(phones)
    assert await phones.text(OFFICER, "Basta ya", OptOutType="STOP") == ""
    assert await phones.suppressed() == [("sms", OFFICER, "opted_out")]
    assert await phones.text(OFFICER, "Vuelvo", OptOutType="START") == ""
    assert await phones.suppressed() == []
    assert await phones.text(OFFICER, "INFO", OptOutType="HELP") == ""


async def test_start_lifts_it_and_the_next_alert_is_a_text_again(phones: Telephones) -> None:
    reference, _ = await told(phones)
    await phones.text(OFFICER, "STOP")
    assert "you will get texts again" in await phones.text(OFFICER, "Start")
    assert await phones.suppressed() == []
    assert len(await phones.home.events(reference, AddressRestored)) == 1
    await phones.home.live(hours=2)
    assert len(phones.texts_to(OFFICER)) > 1


async def test_help_says_who_we_are_and_how_to_end(phones: Telephones) -> None:
    await told(phones)
    said = await phones.text(OFFICER, "help")
    assert said.startswith("Spillclock, A Chino for tests: alerts about spills")
    assert "STOP" in said
    assert (await phones.text(OFFICER, "Ayuda")).startswith("Spillclock, A Chino for tests: avisos de derrames")


# -- what nobody understands


async def test_an_unknown_reply_is_kept_with_its_spill_and_answered_once_an_hour(phones: Telephones) -> None:
    reference, _ = await told(phones)
    assert "staff will read it" in await phones.text(OFFICER, "please stop the leak")
    assert await phones.text(OFFICER, "stop sign is down") == ""
    phones.home.clock.jump(minutes=61)
    assert "staff will read it" in await phones.text(OFFICER, "OK I am at the drain, stop valve closed")
    assert await phones.suppressed() == []
    spill = await phones.home.spill(reference)
    assert [(reply.meaning, reply.spill_id) for reply in await phones.replies()] == [("unknown", spill.id)] * 3
    story = await phones.story_of(reference)
    assert "Omar Reyes answered by text message, for a person to read: “please stop the leak”." in story
    assert len(await phones.home.events(reference, ReplyReceived)) == 3


@pytest.mark.parametrize("words", ["OK", "DONE", "esc", "OK 4f7", "OK 3C6D", "ok I have seen it", "okay", "done already"])
async def test_whoever_may_believe_that_something_was_recorded_is_always_answered(phones: Telephones, words: str) -> None:
    await told(phones)
    phones.home.clock.jump(minutes=1)
    await told(phones)
    assert await phones.text(OFFICER, "the road is closed")  # which takes up the one answer an hour to what holds no command
    assert await phones.text(OFFICER, "still closed") == ""
    for _ in range(3):
        assert await phones.text(OFFICER, words)


async def test_a_code_among_other_words_is_answered_with_how_to_send_it(phones: Telephones) -> None:
    reference, code = await told(phones)
    for words in (f"OK {code} thanks", code, f"we are on it, {code.lower()}!"):
        said = await phones.text(OFFICER, words)
        assert said.startswith("Nothing was recorded; staff will read your text.")
        assert f"OK {code}" in said
    assert not await phones.home.events(reference, ObligationAcknowledged)
    assert len(await phones.home.events(reference, ReplyReceived)) == 3


async def test_two_machines_that_answer_one_another_come_to_an_end(phones: Telephones) -> None:
    await told(phones)
    phones.home.clock.jump(minutes=1)
    await told(phones)
    answers = [await phones.text(OFFICER, "OK") for _ in range(25)]
    assert len([said for said in answers if said]) == 20
    assert len(await phones.replies()) == 25
    phones.home.clock.jump(minutes=61)
    assert await phones.text(OFFICER, "OK")


async def test_a_stranger_is_told_where_to_report_and_is_kept_too(phones: Telephones) -> None:
    said = await phones.text(STRANGER, "There is oil in the creek")
    assert f"To report a spill: {SITE}/report" in said
    assert [(reply.sender, reply.spill_id) for reply in await phones.replies()] == [(STRANGER, None)]


async def test_a_text_of_anything_at_all_is_taken(phones: Telephones) -> None:
    for number, text in enumerate(("", "\x00\x01", "x" * 5000, "<Message>&", "\ud83d", "‮OK")):
        response = await phones.twilio.text_in(phones.web, f"{SITE}/hooks/twilio/sms", STRANGER, text.encode("utf-8", "replace").decode())
        assert response.status_code == 200, number
    assert len(await phones.replies()) == 6


async def test_ok_to_a_report_that_needs_a_person_is_recorded(phones: Telephones) -> None:
    reference = await phones.home.report(a_report(location=None), staff=False)
    await phones.home.work()
    code = await phones.code_for(OFFICER)
    assert code
    assert "Set the city and what is known here" in await phones.text(OFFICER, f"OK {code}")
    [reply] = await phones.home.events(reference, ReplyReceived)
    assert reply.meaning == "acknowledge"


# -- the telephone


async def test_pressing_one_in_a_call_acknowledges_and_two_says_it_again(tmp_path: Path) -> None:
    async with telephones(tmp_path) as phones:
        reference, _ = await told(phones)
        [message] = await phones.home.messages(address=OFFICER)
        async with transaction(phones.home.house, "test") as tx:
            found = await tx.session.get_one(type(message), message.id)
            found.channel = "voice"
        url = f"{SITE}/hooks/twilio/voice/{message.id}"
        call = {"CallSid": "CA1", "CallStatus": "in-progress", "From": "+19095550123", "To": OFFICER}
        again = await phones.twilio.call_back(phones.web, url, {**call, "Digits": "2"})
        assert f'action="{url}"' in again.text
        for digits in ({"Digits": "9"}, {}):
            nothing = await phones.twilio.call_back(phones.web, url, {**call, **digits})
            assert "Nothing was recorded" in nothing.text
        assert not await phones.home.events(reference, ObligationAcknowledged)
        for _ in range(2):
            done = await phones.twilio.call_back(phones.web, url, {**call, "Digits": "1"})
            assert "Recorded. Thank you." in done.text
        assert len(await phones.home.events(reference, ObligationAcknowledged)) == 1
        assert "Omar Reyes pressed 1 in the call (acknowledge)." in await phones.story_of(reference)
        assert (await phones.web.post(url, data={**call, "Digits": "1"})).status_code == 403
        assert (await phones.twilio.call_back(phones.web, url.replace(message.id, "0" * 32), call)).status_code == 404
