"""YES by text: it confirms what one number asked for, brings texts back where they were ended, and is never lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col

from notifiers import segments
from service.events import ObligationAcknowledged
from service.public_alerts import Request, ask
from service.tables import Subscription
from service.transaction import reading, transaction
from tests.service.telephones import OFFICER, SITE, Telephones, telephones
from tests.spills import IN_CHINO, a_report

ANN = "+19095550177"


@pytest.fixture
async def phones(tmp_path: Path) -> AsyncIterator[Telephones]:
    async with telephones(tmp_path) as found:
        yield found


async def asked(phones: Telephones, number: str = ANN, language: str = "en", **given: Any) -> str:
    """Ask for advisories on the page. Returns the question that comes."""
    wanted = {"cities": ["chino"], **given}
    async with transaction(phones.home.house, "public") as tx:
        await ask(tx, Request("sms", number, language, **wanted))
    await phones.home.work()
    return str(phones.texts_to(number)[-1].form["Body"])


async def rows(phones: Telephones) -> list[Subscription]:
    async with reading(phones.home.house) as tx:
        return list((await tx.session.execute(select(Subscription).order_by(col(Subscription.id)))).scalars())


# -- the question


@pytest.mark.parametrize(("language", "words"), [("en", ("reply YES", "HELP", "STOP")), ("es", ("responda SI", "AYUDA", "ALTO"))])
@pytest.mark.parametrize("given", [{}, {"cities": [], "circle": {**IN_CHINO, "metres": 1609}}])
async def test_the_question_says_how_to_say_yes_how_to_end_and_how_to_get_help(
    phones: Telephones, language: str, words: tuple[str, ...], given: dict[str, Any]
) -> None:
    text = await asked(phones, language=language, **given)
    assert all(word in text for word in words)
    assert segments(text)[0] == "GSM-7"
    assert segments(text)[1] <= 2
    assert f"{SITE}/alerts/yes/" in text


# -- the answer


@pytest.mark.parametrize("word", ["YES", "yes.", "Si", "SÍ", "¡Sí!"])
async def test_yes_from_the_number_that_was_asked_confirms(phones: Telephones, word: str) -> None:
    await asked(phones)
    said = await phones.text(ANN, word)
    [row] = await rows(phones)
    assert row.confirmed_at == phones.home.clock.at
    assert "STOP" in said or "ALTO" in said
    assert [reply.meaning for reply in await phones.replies()] == ["confirm"]


async def test_the_answer_is_in_the_language_that_was_asked_for_and_names_what_comes(phones: Telephones) -> None:
    await asked(phones, language="es")
    said = await phones.text(ANN, "YES")
    assert said.startswith("Spillclock, A Chino for tests: confirmado.")
    assert segments(said) <= ("GSM-7", 2)
    await asked(phones, "+19095550178")
    said = await phones.text("+19095550178", "Yes")
    assert said == (
        "Spillclock, A Chino for tests: confirmed. You get advisories for A Chino for tests from now on. Reply HELP for help, STOP to end."
    )


async def test_yes_said_twice_is_answered_alike_and_changes_nothing(phones: Telephones) -> None:
    await asked(phones)
    first = await phones.text(ANN, "YES")
    at = phones.home.clock.at
    phones.home.clock.jump(hours=3)
    assert await phones.text(ANN, "Yes") == first
    assert (await rows(phones))[0].confirmed_at == at


async def test_of_several_requests_none_is_guessed(phones: Telephones) -> None:
    await asked(phones)
    phones.home.clock.jump(hours=2)
    await asked(phones, cities=[], circle={**IN_CHINO, "metres": 1609})
    said = await phones.text(ANN, "YES")
    assert "2 requests" in said
    assert "link" in said
    assert [row.confirmed_at for row in await rows(phones)] == [None, None]


async def test_a_request_that_ran_out_is_confirmed_by_nothing(phones: Telephones) -> None:
    await asked(phones)
    phones.home.clock.jump(hours=49)
    said = await phones.text(ANN, "YES")
    assert f"{SITE}/alerts" in said
    assert [row.confirmed_at for row in await rows(phones)] == [None]


async def test_si_of_somebody_with_an_open_duty_acknowledges_unless_the_question_came_last(phones: Telephones) -> None:
    await asked(phones, OFFICER)
    phones.home.clock.jump(minutes=5)
    reference = await phones.home.report(a_report())
    await phones.home.work()
    assert (await phones.text(OFFICER, "SI")).startswith("Registrado: Omar Reyes ha visto")
    assert len(await phones.home.events(reference, ObligationAcknowledged)) == 1
    assert (await rows(phones))[0].confirmed_at is None
    assert "confirmed" in await phones.text(OFFICER, "YES")  # which acknowledges nothing, ever
    assert (await rows(phones))[0].confirmed_at is not None


async def test_si_to_the_question_confirms_though_a_duty_is_open(phones: Telephones) -> None:
    reference = await phones.home.report(a_report())
    await phones.home.work()
    phones.home.clock.jump(minutes=5)
    await asked(phones, OFFICER)
    assert "confirmed" in await phones.text(OFFICER, "si")
    assert not await phones.home.events(reference, ObligationAcknowledged)


# -- out and in again


async def test_yes_brings_texts_back_where_they_were_ended_and_nothing_waits_to_be_confirmed(phones: Telephones) -> None:
    await phones.home.report(a_report())
    await phones.home.work()
    await phones.text(OFFICER, "STOP")
    assert "you will get texts again" in await phones.text(OFFICER, "Yes")
    assert await phones.suppressed() == []
    assert [reply.meaning for reply in await phones.replies()] == ["stop", "start"]


async def test_yes_is_no_start_where_nothing_was_ended(phones: Telephones) -> None:
    await phones.home.report(a_report())
    await phones.home.work()
    said = await phones.text(OFFICER, "YES")
    assert "texts again" not in said
    assert "OK" in said  # how to say that one has seen it
    assert [reply.meaning for reply in await phones.replies()] == ["unknown"]


async def test_stop_withdraws_a_request_so_that_a_later_yes_only_brings_texts_back(phones: Telephones) -> None:
    await asked(phones)
    await phones.text(ANN, "STOP")
    assert [(row.address, row.ended_why) for row in await rows(phones)] == [("", "replied STOP")]
    assert "you will get texts again" in await phones.text(ANN, "YES")
    assert [row.confirmed_at for row in await rows(phones)] == [None]


async def test_yes_that_twilio_takes_for_an_opt_in_still_confirms(phones: Telephones) -> None:
    await asked(phones)
    said = await phones.text(ANN, "YES", OptOutType="START")
    assert "confirmed. You get advisories" in said  # Twilio's own words do not say what was confirmed
    assert (await rows(phones))[0].confirmed_at is not None


# -- what else a member of the public writes


@pytest.mark.parametrize(("language", "words"), [("en", "texts about spills"), ("es", "avisos de derrames")])
async def test_what_a_subscriber_writes_is_answered_in_a_subscribers_words(phones: Telephones, language: str, words: str) -> None:
    await asked(phones, language=language)
    said = await phones.text(ANN, "Who are you people?")
    assert words in said
    assert "ESC" not in said
    assert f"{SITE}/report" in said
    assert segments(said) <= ("GSM-7", 2)
