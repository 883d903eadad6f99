"""Mail over a real SMTP server and SMS over Twilio's API, switched on by settings alone."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

from notifiers import segments
from tests.e2e.program import CHINO, Spillclock, until
from tests.notifiers.fake_twilio import ACCOUNT_SID, TOKEN, FakeTwilio
from tests.notifiers.fault_proxy import Fault, FaultProxy
from tests.notifiers.post_office import PostOffice

INSTALL = Callable[..., Spillclock]
OUR_NUMBER = "+19095550190"
PEOPLE = {
    "discharger": ("sewer.crew@chino.example", "+19095550101"),
    "duty officer": ("duty@chino.example", "+19095550102"),
    "supervisor": ("supervisor@chino.example", "+19095550103"),
}


class Providers:
    """A mail server and a Twilio on this machine, each behind a wire that can be cut."""

    async def __aenter__(self) -> "Providers":
        self._stack = AsyncExitStack()
        self.post_office = await self._stack.enter_async_context(PostOffice())
        self.twilio = await self._stack.enter_async_context(FakeTwilio())
        self.wires = [
            await self._stack.enter_async_context(FaultProxy(("127.0.0.1", port))) for port in (self.post_office.port, self.twilio.port)
        ]
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._stack.aclose()
        assert self.twilio.complaints == []

    @property
    def settings(self) -> dict[str, str]:
        mail, sms = self.wires
        return {
            "smtp_url": f"smtp://127.0.0.1:{mail.port}?starttls=never", "mail_from": "Spillclock <spills@chino.example>",
            "twilio_account_sid": ACCOUNT_SID, "twilio_auth_token": TOKEN, "twilio_from": OUR_NUMBER,
            "twilio_api_base": f"http://127.0.0.1:{sms.port}", "base_url": "https://spills.chino.example",
        }  # fmt: skip

    def taken(self) -> int:
        """How many mails and texts arrived so far."""
        return len(self.post_office.taken) + len(self.twilio.taken)


async def wait_until(condition: Callable[[], Any], seconds: float, what: str) -> None:
    """As `until`, while this loop serves the providers."""
    await asyncio.to_thread(until, condition, seconds, what)


def accepted(spillclock: Spillclock) -> int:
    """How many messages the database holds as handed over."""
    return int(spillclock.rows("select count(*) from message where state = 'accepted'")[0][0])


def report(spillclock: Spillclock, token: str, body: dict[str, Any]) -> str:
    with spillclock.client(token) as staff:
        answer = staff.post("/api/v1/spills", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["reference"])


def sewage(known_at: datetime) -> dict[str, Any]:
    """1,500 gallons that stay on land: three calls are owed, to Cal OES, the health officer and, in two hours, the regional board."""
    facts = {"known_at": known_at.isoformat(), "reached": ["land"], "threat": False, "hazardous": False, "accidental": False}
    return {"description": "Manhole", "location": CHINO, "material": "sewage", "volume": {"quantity": 1500, "unit": "gal"}, **facts}


async def test_mails_and_texts_reach_each_role_with_the_words_that_matter(install: INSTALL) -> None:
    async with Providers() as providers:
        spillclock = install(**providers.settings)
        await asyncio.to_thread(spillclock.serve)
        token = await asyncio.to_thread(spillclock.token)
        reference = await asyncio.to_thread(report, spillclock, token, sewage(datetime.now(UTC) - timedelta(minutes=30)))
        await wait_until(lambda: accepted(spillclock) == 22, 30, "every message")
        assert providers.taken() == 8, "one mail and one text for each of four people: what is due at once goes out together"

        board = "chino/rwqcb-2-hours"
        mails = [one for one in providers.post_office.taken if one.parsed["X-Spillclock-Duty"] == board]
        texts = [one for one in providers.twilio.taken if "Tell the regional water board" in one.form["Body"]]
        assert sorted(one.recipients for one in mails) == sorted([mail] for mail, _ in PEOPLE.values())
        assert sorted(one.form["To"] for one in texts) == sorted(number for _, number in PEOPLE.values())
        for one in mails:
            letter = one.parsed
            assert one.mail_from == "spills@chino.example"
            assert letter["From"] == "Spillclock <spills@chino.example>"
            assert letter["X-Spillclock-Spill"] == reference
            assert letter["Subject"].startswith("1 hour 2")  # 29 minutes and some seconds left
            assert f"left: {reference}: 3 duties, first: Tell the regional water board within two hours" in letter["Subject"]
            for words in (
                "To: Santa Ana Regional Water Quality Control Board, Executive Officer",
                "How: by telephone or by e-mail. Owed by: the discharger. Law: Chino Municipal Code",
                "- Call Cal OES about the sewage now. Due: immediately (OVERDUE, known 30 minutes ago).",
                "- Call the county health officer about the sewage now.",
                "sewage, 1,500 gal, at 13220 Central Ave; reached: land.",
                "What to do: do these in this order",
            ):
                assert words in one.text
            place = f"respond/{reference}" if one.recipients == ["sewer.crew@chino.example"] else f"staff/spills/{reference}"
            assert f"https://spills.chino.example/{place}" in one.text
        for text in texts:
            assert text.form["From"] == OUR_NUMBER
            assert reference in text.form["Body"]
            assert "https://spills.chino.example/" in text.form["Body"]
            assert segments(text.form["Body"])[1] <= 2
        assert {row["state"] for row in spillclock.rows("select state from message")} == {"accepted"}
        assert not (spillclock.home / "outbox.jsonl").exists()
        assert "Messages go to:   the mail server and Twilio" in spillclock.log.read_text()
        assert TOKEN not in spillclock.log.read_text()


async def test_while_both_providers_are_down_messages_wait_and_then_arrive_once(install: INSTALL) -> None:
    async with Providers() as providers:
        spillclock = install(**providers.settings)
        await asyncio.to_thread(spillclock.serve)
        token = await asyncio.to_thread(spillclock.token)
        for wire in providers.wires:
            wire.fault = Fault.RESET
        reference = await asyncio.to_thread(report, spillclock, token, sewage(datetime.now(UTC)))
        # Start of three ladders, told together: discharger and duty officer, by mail and text each.
        attempts = "select message_id from attempt where ended_at is not null and outcome <> 'accepted'"
        await wait_until(lambda: len({row[0] for row in spillclock.rows(attempts)}) == 4, 20, "every message tried in vain")
        assert providers.taken() == 0
        assert {row["state"] for row in spillclock.rows("select state from message")} <= {"waiting", "sending"}

        for wire in providers.wires:
            wire.fault = Fault.NONE
        await wait_until(lambda: accepted(spillclock) == 12, 40, "every message")
        ids = [one.parsed["Message-ID"] for one in providers.post_office.taken]
        assert len(set(ids)) == len(ids) == 2
        bodies = [(one.form["To"], one.form["Body"]) for one in providers.twilio.taken]
        assert len(set(bodies)) == len(bodies) == 2
        assert all(one.parsed["X-Spillclock-Spill"] == reference for one in providers.post_office.taken)
