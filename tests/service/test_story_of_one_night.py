"""One person told, answering, escalating, leaving and coming back, all by the telephone of the tests; the timeline reads like a story."""

from __future__ import annotations

from pathlib import Path

from tests.service.small_law import TWO_HOURS
from tests.service.telephones import OFFICER, SUPERVISOR, telephones
from tests.spills import a_report


async def test_the_timeline_of_one_night_reads_like_a_story(tmp_path: Path) -> None:
    async with telephones(tmp_path) as phones:
        home = phones.home
        reference = await home.report(a_report())
        await home.work()

        # Told, delivered, acknowledged.
        home.clock.jump(seconds=5)
        for taken in list(phones.twilio.taken):
            await phones.status(taken, "sent")
            await phones.status(taken, "delivered")
        home.clock.jump(minutes=2)
        code = await phones.code_for(OFFICER)
        assert (await phones.text(OFFICER, f"OK {code}")).startswith("Recorded: Omar Reyes has seen")

        # The crew does not answer its telephone: escalated, by the word of a man who is on his way.
        home.clock.jump(minutes=3)
        assert (await phones.text(OFFICER, f"ESC {code}")).startswith("Told at once: supervisor.")
        await home.work()
        assert len(phones.texts_to(SUPERVISOR)) == 1
        await phones.status(phones.texts_to(SUPERVISOR)[0], "delivered")

        # Out, and told by mail instead.
        home.clock.jump(minutes=5)
        assert "you get no more texts" in await phones.text(OFFICER, "Stop")
        before = len(phones.texts_to(OFFICER))
        await home.live(hours=1, minutes=40)
        assert len(phones.texts_to(OFFICER)) == before
        assert "duty@chino.example" in {line["to"] for line in home.told(TWO_HOURS, "due-10m")}

        # Back, and it is done.
        home.clock.jump(minutes=1)
        assert "you will get texts again" in await phones.text(OFFICER, "START")
        home.clock.jump(minutes=1)
        assert (await phones.text(OFFICER, f"DONE {code}")).startswith("Recorded: done.")
        await home.live(hours=6)

        story = [line for line in await phones.story_of(reference) if not line.startswith(("A report arrived", "Facts were"))]
        title = "Call the board within two hours"
        assert in_order(story, [
            f"Clock started: {title}, due Tue Dec 1, 4:05 PM PST.",
            f"Omar Reyes answered by text message: “OK {code}” (acknowledge).",
            "The text message to Omar Reyes was read (start).",
            f"Omar Reyes has seen the alert: {title}.",
            f"Omar Reyes answered by text message: “ESC {code}” (escalate).",
            f"Omar Reyes asked for the next rung: {title}.",
            f"Told about “{title}” (start+15m, brought forward): Sofia Tran (sms), Sofia Tran (email).",
            "Omar Reyes answered by text message: “Stop” (stop).",
            f"ALARM: no more text messages to Omar Reyes at {OFFICER}: its owner wants no more.",
            "Omar Reyes answered by text message: “START” (start).",
            f"Omar Reyes gets text messages again at {OFFICER}: replied START.",
            f"Omar Reyes answered by text message: “DONE {code}” (done).",
            "The Board was told by telephone.",
            f"Duty met, on time: {title}.",
        ])  # fmt: skip
        assert not any("reached nobody" in line for line in story)


def in_order(story: list[str], lines: list[str]) -> bool:
    """Whether these lines stand in the story in this order; what is missing is shown."""
    at = 0
    for line in lines:
        assert line in story[at:], "\n".join([f"{line!r} does not follow in:", *story])
        at += story[at:].index(line) + 1
    return True
