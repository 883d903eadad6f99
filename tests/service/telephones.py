"""A household whose texts and calls go to a Twilio of the tests, which calls back, and whose mail goes to the outbox file."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select
from sqlmodel import col

from deadlines import Rulebook
from notifiers import Channel, FileChannel, SmsChannel, TwilioAccount, VoiceChannel
from service.pages.rendering import zone_of
from service.pages.story import story
from service.tables import DeliveryReceipt, MessageRow, Reply, Suppression
from service.transaction import reading
from tests.houses import Household, a_household
from tests.notifiers.fake_twilio import ACCOUNT_SID, TOKEN, FakeTwilio, TakenSms
from tests.service.small_law import small_law

SITE = "https://spills.example.gov"
OUR_NUMBER = "+19095550123"
OFFICER, CREW, SUPERVISOR, DIRECTOR = (f"+1909555010{number}" for number in (2, 1, 3, 4))


@dataclass
class Telephones:
    """The household, its Twilio, and a way from the one to the other."""

    home: Household
    twilio: FakeTwilio
    web: httpx.AsyncClient

    async def text(self, sender: str, words: str, **more: str) -> str:
        """Send a text to the city. Returns what is answered, empty for nothing."""
        response = await self.twilio.text_in(self.web, f"{SITE}/hooks/twilio/sms", sender, words, OUR_NUMBER, **more)
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("application/xml")
        return _said(response.text)

    async def status(self, taken: TakenSms, status: str, **more: str) -> httpx.Response:
        """Say what became of a text or a call."""
        return await self.twilio.tell_status(self.web, taken, status, **more)

    def texts_to(self, number: str) -> list[TakenSms]:
        """The texts to a number so far."""
        return [taken for taken in self.twilio.taken if taken.form["To"] == number]

    async def code_for(self, number: str) -> str:
        """The code of the newest message to a number."""
        return (await self.home.messages(address=number))[-1].code

    async def rows(self, table: Any) -> list[Any]:
        """Every row of a table, in order."""
        async with reading(self.home.house) as tx:
            return list((await tx.session.execute(select(table).order_by(col(table.id)))).scalars())

    async def receipts(self, message: MessageRow) -> list[tuple[str, str]]:
        """What was said of a message: our word for it and by whom."""
        rows = await self.rows(DeliveryReceipt)
        return [(row.status, row.source) for row in rows if row.message_id == message.id]

    async def suppressed(self) -> list[tuple[str, str, str]]:
        """The addresses that nothing is sent to."""
        return [(row.channel, row.address, row.reason) for row in await self.rows(Suppression) if row.lifted_at is None]

    async def replies(self) -> list[Reply]:
        """Everything that was answered."""
        return await self.rows(Reply)

    async def story_of(self, reference: str) -> list[str]:
        """The sentences of a spill's timeline, the first first."""
        house, spill = self.home.house, await self.home.spill(reference)
        days = story(house, spill, zone_of(house, spill.city), await self.home.history(reference))
        return [line.says for day in reversed(days) for line in reversed(day.lines)]


def _said(twiml: str) -> str:
    """What a TwiML answer sends back, empty for nothing."""
    whole = re.fullmatch(r'<\?xml version="1.0" encoding="UTF-8"\?><Response>(?:<Message>([^<]*)</Message>)?</Response>', twiml)
    assert whole is not None, twiml
    return unescape(whole[1] or "")


@asynccontextmanager
async def telephones(folder: Path, *, law: Rulebook | None = None, voice: bool = False, **settings: Any) -> AsyncIterator[Telephones]:
    """A household with telephones, under the small law."""
    folder.mkdir(exist_ok=True)
    async with FakeTwilio() as twilio, httpx.AsyncClient() as http:
        base = f"http://127.0.0.1:{twilio.port}"
        account = TwilioAccount(ACCOUNT_SID, TOKEN, OUR_NUMBER, base, SITE)
        channels: dict[str, Channel] = {"email": FileChannel(folder / "outbox.jsonl", "email"), "sms": SmsChannel(account, http)}
        if voice:
            channels["voice"] = VoiceChannel(account, http)
        given = {
            "twilio_account_sid": ACCOUNT_SID, "twilio_auth_token": TOKEN, "twilio_from": OUR_NUMBER, "twilio_api_base": base, **settings,
        }  # fmt: skip
        async with a_household(folder, law=law or small_law(), channels=channels, **given) as home:
            yield Telephones(home, twilio, home.client())
            assert twilio.complaints == []
