"""Spillclock watches itself: the sign that all is well stays away when it is not, gauges name nobody, and a dead provider is noticed."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import update
from sqlmodel import col

from notifiers import Outcome
from service import watch
from service.programs import examine
from service.tables import Attempt, Heartbeat, MessageRow, Obligation
from service.transaction import House, reading, transaction
from service.watch import last_well, providers_down, signal_while_well
from service.worker import Worker, working
from tests.houses import Household, a_household
from tests.service.channels import Post, both
from tests.service.test_subscriptions import subscribe
from tests.spills import a_report

URL = "http://127.0.0.1:9/ping/a-secret-that-nobody-logs"
TOKEN = "a token that is long enough"


class Outside:
    """Whoever waits for the sign."""

    def __init__(self, answer: int | Exception = 200) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.http = httpx.AsyncClient(transport=httpx.MockTransport(self._take))

    def _take(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(f"{request.method} {request.url}")
        if isinstance(self.answer, Exception):
            raise self.answer
        return httpx.Response(self.answer)


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Household]:
    async with a_household(tmp_path, channels=both(), deadman_url=URL) as home:
        yield home


async def given(home: Household, outside: Outside | None = None) -> bool:
    outside = outside or Outside()
    went = await signal_while_well(home.house, outside.http)
    assert went == (outside.asked == [f"GET {URL}"] and outside.answer == 200)
    return went


# -- the sign to the outside


async def test_the_sign_is_given_while_all_is_well(watched: Household) -> None:
    await watched.report(a_report())
    await watched.work()
    assert await given(watched)
    async with reading(watched.house) as tx:
        assert await last_well(tx) == watched.clock.at


async def test_without_an_address_nothing_is_asked(tmp_path: Path) -> None:
    async with a_household(tmp_path) as home:
        await home.work()
        outside = Outside()
        assert not await signal_while_well(home.house, outside.http)
        assert outside.asked == []


async def test_it_stays_away_when_no_worker_finishes_a_round(watched: Household) -> None:
    assert not await given(watched)  # never one
    await watched.work()
    assert await given(watched)
    watched.clock.jump(seconds=91)
    assert not await given(watched)


async def test_it_stays_away_when_an_alert_is_late(watched: Household) -> None:
    await watched.report(a_report())
    watched.clock.jump(seconds=61)
    async with transaction(watched.house, "test") as tx:
        await tx.session.merge(Heartbeat(worker="test", at=tx.now))
    assert not await given(watched)


async def test_it_stays_away_when_a_due_rung_is_not_climbed(watched: Household) -> None:
    await watched.report(a_report())
    await watched.work()
    async with transaction(watched.house, "test") as tx:
        await tx.session.execute(update(Obligation).values(next_at=tx.now - timedelta(minutes=2)))
    assert not await given(watched)


async def test_what_waits_for_subscribers_keeps_nothing_back(watched: Household) -> None:
    await subscribe(watched, stages=["new"])
    await watched.report(a_report())
    await watched.work()
    async with transaction(watched.house, "test") as tx:
        late = update(MessageRow).where(col(MessageRow.step) == "digest")
        await tx.session.execute(late.values(state="waiting", next_at=tx.now - timedelta(hours=1)))
    assert await given(watched)


async def test_it_stays_away_when_the_database_cannot_be_written(watched: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    await watched.work()

    def full(*_: Any, **__: Any) -> Any:
        raise OSError("no space left on device")

    monkeypatch.setattr(watch, "transaction", full)
    assert not await given(watched)


@pytest.mark.parametrize("answer", [500, 404, httpx.ConnectError("refused"), httpx.ReadTimeout("slow"), OSError("no network")])
async def test_a_sign_that_does_not_arrive_disturbs_nothing_and_its_address_is_no_log_line(
    watched: Household, answer: int | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    await watched.work()
    assert not await given(watched, Outside(answer))
    assert "could not be given" in caplog.text
    assert "a-secret-that-nobody-logs" not in "".join(record.getMessage() for record in caplog.records if record.name.startswith("service"))


async def test_a_running_worker_gives_the_sign_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asyncio.Event()
    times = 0

    async def count(house: House, http: httpx.AsyncClient) -> bool:
        nonlocal times
        times += 1
        if times == 1:
            raise RuntimeError("whatever it is")
        asked.set()
        return True

    monkeypatch.setattr("service.chores._FIRST_SIGNAL_SECONDS", 0.01)
    monkeypatch.setattr(watch, "signal_while_well", count)
    async with (
        a_household(tmp_path, channels=both(), deadman_url=URL, deadman_minutes=0.0005) as home,
        working(Worker(home.house, home.channels)),
    ):
        await asyncio.wait_for(asked.wait(), 10)


# -- gauges


def values(text: str) -> dict[str, float]:
    """Every sample of the text format; a line that is none fails."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            sample = re.fullmatch(r'(spillclock_[a-z_]+(?:\{[a-z_]+="[^"]*"(?:,[a-z_]+="[^"]*")*\})?) (-?[\d.e+]+)', line)
            assert sample, line
            found[sample[1]] = float(sample[2])
    return found


async def test_gauges_tell_of_duties_messages_and_tries(tmp_path: Path) -> None:
    async with a_household(tmp_path, channels=both()) as home:
        reference = await home.report(a_report())
        await home.work()
        answer = await home.client().get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        found = values(answer.text)
        duties = await home.clocks(reference)
        still_open = len([row for row in duties if row.state in ("running", "overdue", "waiting")])
        assert found['spillclock_obligations_open{city="chino"}'] == still_open
        assert found['spillclock_obligations_overdue{city="chino"}'] == 0
        assert found['spillclock_obligations_open{city="ontario"}'] == 0
        tries = len(await home.attempts())
        for name in ("attempts_total", "attempts_last_hour"):
            by_channel = [found[f'spillclock_{name}{{channel="{channel}",outcome="accepted"}}'] for channel in ("email", "sms")]
            assert sum(by_channel) == tries
        assert found["spillclock_worker_heartbeat_age_seconds"] == 0
        assert found['spillclock_calendar_days_left{city="chino"}'] > 365
        assert found["spillclock_suppressed_addresses"] == 0
        assert [key for key in found if key.startswith("spillclock_build_info{version=")]
        assert answer.text.count("# TYPE ") == answer.text.count("# HELP ") == len(set(re.findall(r"# TYPE (\S+)", answer.text)))


async def test_what_is_late_shows_by_channel_and_in_seconds(tmp_path: Path) -> None:
    async with a_household(tmp_path, channels=both()) as home:
        await home.report(a_report())
        home.clock.jump(minutes=5)
        found = values((await home.client().get("/metrics")).text)
        assert found['spillclock_messages_waiting{channel="email"}'] == found['spillclock_messages_late{channel="email"}'] > 0
        assert found['spillclock_messages_oldest_wait_seconds{channel="email"}'] == 300
        assert "spillclock_worker_heartbeat_age_seconds" not in found
        await home.work()
        async with transaction(home.house, "test") as tx:
            await tx.session.execute(update(Obligation).values(next_at=tx.now - timedelta(seconds=90)))
        home.clock.jump(hours=2)
        found = values((await home.client().get("/metrics")).text)
        assert found["spillclock_rungs_late_seconds"] == 7290
        assert found['spillclock_messages_late{channel="email"}'] == 0
        assert not [key for key in found if key.startswith("spillclock_attempts_last_hour")]


async def test_gauges_hold_nothing_of_anybody(home: Household) -> None:
    await subscribe(home, "lee@chino.example")
    await home.report(a_report(contact={"name": "Walter Fields", "phone": "+19095550199", "privacy": "named"}))
    await home.live(hours=1)
    text = (await home.client().get("/metrics")).text
    assert not re.search(r"@|Walter|\+1909|SP-20|Central", text)


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "x-real-ip", "via", "x-forwarded-host"])
async def test_without_a_token_gauges_are_for_this_machine_and_not_for_what_a_proxy_passes_on(home: Household, header: str) -> None:
    client = home.client()
    assert (await client.get("/metrics")).status_code == 200
    assert (await client.get("/metrics", headers={header: "203.0.113.7"})).status_code == 403
    for host, status in (("203.0.113.7", 403), ("::1", 200), ("127.8.8.8", 200), ("10.0.0.2", 403), ("nonsense", 403)):
        transport = httpx.ASGITransport(app=home.app, client=(host, 1234))
        async with httpx.AsyncClient(transport=transport, base_url="https://spills.example.gov") as other:
            assert (await other.get("/metrics")).status_code == status


async def test_with_a_token_gauges_are_for_whoever_has_it(tmp_path: Path) -> None:
    async with a_household(tmp_path, metrics_token=TOKEN) as home:
        for token, status in ((None, 401), ("another token", 401), (TOKEN, 200)):
            assert (await home.client(token).get("/metrics", headers={"x-forwarded-for": "203.0.113.7"})).status_code == status


# -- providers


async def down(home: Household) -> list[tuple[str, int]]:
    async with reading(home.house) as tx:
        return [(one.channel, one.waiting) for one in await providers_down(tx)]


async def test_three_failed_tries_in_ten_minutes_are_a_provider_that_is_down(tmp_path: Path) -> None:
    channels = {"email": Post("email", then=Outcome.TRY_AGAIN), "sms": Post("sms")}
    async with a_household(tmp_path, channels=channels) as home:
        await home.report(a_report())
        await home.live(minutes=2)
        waiting = len(await home.messages(channel="email", state="waiting"))
        assert await down(home) == [("email", waiting)]
        assert waiting > 0
        await home.live(hours=2)  # tried every half hour by now: still down
        assert [channel for channel, _ in await down(home)] == ["email"]
        channels["email"].then = Outcome.ACCEPTED
        await home.live(minutes=31)
        assert await down(home) == []


async def test_with_every_provider_down_the_outside_is_told_nothing_is_well(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    channels = {name: Post(name, then=Outcome.TRY_AGAIN) for name in ("email", "sms")}
    async with a_household(tmp_path, channels=channels, deadman_url=URL) as home:
        await home.work()
        assert await given(home)
        await home.report(a_report())
        await home.live(minutes=3)
        assert not await given(home)
        assert "provider of E-mail takes nothing since 2026-12-01T22:05" in caplog.text
        async with home.client() as client:
            gauges = values((await client.get("/metrics")).text)
            assert (await client.get("/readyz")).status_code == 200, "pages that answer stay on the network"
        assert gauges['spillclock_messages_late{channel="sms"}'] > 0
        assert gauges['spillclock_messages_oldest_wait_seconds{channel="sms"}'] == 180
        for post in channels.values():
            post.then = Outcome.ACCEPTED
        await home.live(hours=1)
        assert await given(home)


@pytest.mark.parametrize("answer", [Outcome.UNKNOWN, RuntimeError("cut off")])
async def test_lost_answers_are_failures_too(tmp_path: Path, answer: Any) -> None:
    async with a_household(tmp_path, channels={"email": Post("email", then=answer), "sms": Post("sms")}) as home:
        await home.report(a_report())
        await home.live(minutes=2)
        assert [channel for channel, _ in await down(home)] == ["email"]


async def test_a_provider_that_takes_others_in_between_is_not_down(tmp_path: Path) -> None:
    async with a_household(tmp_path, channels=both()) as home:
        await home.report(a_report())
        await home.work()
        [*_, last] = await home.attempts()
        async with transaction(home.house, "test") as tx:
            message = await tx.session.get_one(MessageRow, last.message_id)
            message.state, message.next_at = "waiting", tx.now + timedelta(minutes=1)
            for number, outcome in enumerate(("try_again", "try_again", "accepted", "try_again"), 2):
                row = Attempt(message_id=message.id, number=number, worker="w", started_at=tx.now, ended_at=tx.now, outcome=outcome)
                tx.session.add(row)
        assert await down(home) == []


async def test_doctor_says_what_is_down_and_whether_the_outside_hears(tmp_path: Path) -> None:
    channels = {"email": Post("email", then=Outcome.TRY_AGAIN), "sms": Post("sms")}
    async with a_household(tmp_path, channels=channels, deadman_url=URL) as home:
        await home.report(a_report())
        await home.live(minutes=2)
        findings = await examine(home.house.settings, home.clock)
        assert any(line.startswith("WRONG  email: nothing goes out since 2026-12-01 22:05 UTC, ") for line in findings)
        assert any(line.startswith("WARN   dead-man signal") and "not given yet" in line for line in findings)
        channels["email"].then = Outcome.ACCEPTED
        await home.live(minutes=10)
        assert await signal_while_well(home.house, Outside().http)
        findings = await examine(home.house.settings, home.clock)
        assert not any(line.startswith("WRONG  email: nothing") for line in findings)
        assert any(line.startswith("ok     dead-man signal, every 5 minutes") for line in findings)


async def test_doctor_notes_that_nobody_outside_hears(home: Household) -> None:
    assert any(line.startswith("note   no dead-man signal") for line in await examine(home.house.settings, home.clock))
