"""Words that a stranger tripped over: each says what is so, in one language, once."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from notifiers import segments
from service.pages.story import story
from service.speech import ENGLISH, notice_speech
from service.suppressions import suppress, unreachable, why_not
from service.transaction import reading, transaction
from service.wording import wanted_words
from service.wording.example import examples
from tests.houses import TUESDAY, Household
from tests.service.small_law import CALL, LADDER, small_law
from tests.service.telephones import OFFICER, telephones
from tests.spills import a_report

LOS_ANGELES = ZoneInfo("America/Los_Angeles")
TWO_DUTIES = CALL + CALL.replace("two-hours", "other").replace("Call the board within two hours", "Call works too").replace("T-1", "T-9")


async def test_an_answer_in_spanish_is_spanish_throughout(tmp_path: Path) -> None:
    called = CALL.replace("Call the board within two hours", "Stop work now")  # a title that the catalogue has
    async with telephones(tmp_path / "one", law=small_law(called)) as phones:
        await phones.home.report(a_report())
        await phones.home.work()
        said = await phones.text(OFFICER, f"Visto {await phones.code_for(OFFICER)}")
        assert "Stop work" not in said
        assert said.startswith("Registrado: Omar Reyes ha visto SP-2026-00001, Detenga el trabajo")
        assert segments(said)[0] == "GSM-7"
        assert (await phones.text(OFFICER, "escalar")).startswith("Avisado ahora: supervision. ")
    async with telephones(tmp_path / "two", law=small_law(TWO_DUTIES)) as phones:
        await phones.home.report(a_report())
        await phones.home.work()
        carrier = next(row for row in await phones.home.messages(address=OFFICER) if row.carried_by in (None, row.id))
        assert "SP-2026-00001, 2 deberes" in await phones.text(OFFICER, f"Visto {carrier.code}")


async def test_a_telephone_that_takes_no_texts_is_no_mailbox(home: Household) -> None:
    async with transaction(home.house, "test") as tx:
        await suppress(tx, "sms", OFFICER, "bounced", "Twilio error 30005")
        await suppress(tx, "email", "duty@chino.example", "bounced", "5.1.1")
    async with reading(home.house) as tx:
        assert "is out of service or takes no texts" in await why_not(tx, "sms", OFFICER)
        assert "does not exist or takes no mail" in await why_not(tx, "email", "duty@chino.example")
        says = [one.says for one in await unreachable(tx)]
    assert sorted("takes no mail" in one for one in says) == sorted("takes no texts" in one for one in says) == [False, True]


@pytest.mark.parametrize(
    ("metres", "english", "spanish"),
    [(1609, "within 1 mile of", "a menos de 1 milla de"), (805, "within 0.5 miles of", "a menos de 0.5 millas de")],
)
def test_one_mile_is_a_mile(metres: int, english: str, spanish: str) -> None:
    circle = {"lat": 34.0, "lon": -117.6, "metres": metres}
    assert english in wanted_words([], circle, ENGLISH)
    assert spanish in wanted_words([], circle, notice_speech("es"))


@pytest.mark.parametrize("kind", ["alert", "changed", "bundle", "triage"])
def test_a_preview_shows_a_code_of_the_length_that_real_ones_have(kind: str) -> None:
    for example in examples(kind, ENGLISH, LOS_ANGELES, "Chino", TUESDAY):
        assert example.said["reply"] == "Reply OK 4F7K."


async def test_a_report_that_needs_a_person_does_not_say_that_clocks_wait_for_one(home: Household) -> None:
    await home.report(a_report(location=None), staff=False)
    await home.work()
    [letter] = [line for line in home.outbox() if line["channel"] == "email" and line["step"] == "triage"]
    assert "legal clocks may be running already" in letter["text"]
    assert "start then" not in letter["text"]


async def test_a_late_message_about_several_duties_says_once_how_many_alerts_it_stands_for(tmp_path: Path) -> None:
    async with telephones(tmp_path, law=small_law(TWO_DUTIES)) as phones:
        await phones.home.report(a_report(), staff=True)
        phones.home.clock.jump(hours=3)
        await phones.home.work()
        letter = next(line for line in phones.home.outbox() if line["to"] == "duty@chino.example")
        lines = [line for line in letter["text"].splitlines() if "stands for" in line]
        assert len(lines) == 1
        assert lines[0].startswith("This one message stands for ")
        assert "start+15m" not in letter["text"]


async def test_the_story_says_one_thing_once_however_many_duties_it_is_about(tmp_path: Path) -> None:
    by_text_first = LADDER.replace("by: [sms, email]", "by: [sms]", 1)
    async with telephones(tmp_path, law=small_law(TWO_DUTIES, ladder=by_text_first), silent_minutes=1) as phones:
        reference = await phones.home.report(a_report())
        await phones.home.work()
        carrier = next(row for row in await phones.home.messages(address=OFFICER) if row.carried_by in (None, row.id))
        await phones.text(OFFICER, f"OK {carrier.code}")
        await phones.text(OFFICER, f"ESC {carrier.code}")
        await phones.home.live(minutes=3)
        house, spill = phones.home.house, await phones.home.spill(reference)
        lines = [line for day in story(house, spill, LOS_ANGELES, await phones.home.history(reference)) for line in day.lines]
        said = [line.says for line in lines]
        assert "Omar Reyes has seen the alerts about 2 duties." in said
        assert "Omar Reyes asked for the next rung of 2 duties." in said
        [seen] = [line for line in lines if line.says.startswith("Omar Reyes has seen the alerts")]
        assert len(seen.details) == 2
        for which in ("No sign came", "is told by e-mail instead"):
            told = [(line.at, line.says) for line in lines if which in line.says]
            assert told
            assert len(told) == len(set(told))
