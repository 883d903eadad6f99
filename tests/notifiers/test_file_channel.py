"""The file that stands in for a provider: one JSON object a line, whole, kept, and told apart from its neighbours."""

import asyncio
import json
import multiprocessing
import os
import resource
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from notifiers import FileChannel, Outcome, Receipt
from tests.notifiers.messages import LONG_SPANISH_TEXT, a_message

TO = "duty@example.gov"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "outbox.jsonl"


def lines(path: Path) -> list[dict[str, str | None]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_a_line_holds_just_the_fields_of_the_contract(path: Path) -> None:
    receipt = await FileChannel(path, "email").send(a_message(TO))
    assert receipt == Receipt(Outcome.ACCEPTED, "delivery-17", f"appended to {path}")
    [line] = lines(path)
    assert line == {
        "key": "delivery-17",
        "channel": "email",
        "to": TO,
        "subject": "Two hours to call the board",
        "text": "Call the regional board by 3:05 p.m. PST.\nhttps://spills.example.gov/s/17",
        "spill": "CH-2026-0042",
        "duty": "chino/rwqcb-2-hours",
        "step": "start+15m",
        "at": "2026-12-01T23:05:07Z",
    }
    assert list(line) == ["key", "channel", "to", "subject", "text", "spill", "duty", "step", "at"]


async def test_what_a_message_does_not_carry_is_null(path: Path) -> None:
    await FileChannel(path, "email").send(a_message(TO, spill=None, duty=None, step=None))
    assert [lines(path)[0][name] for name in ("spill", "duty", "step")] == [None, None, None]


async def test_a_moment_with_fractions_of_a_second_keeps_them(path: Path) -> None:
    await FileChannel(path, "email").send(a_message(TO, at=datetime(2026, 12, 1, 23, 5, 7, 250000, tzinfo=UTC)))
    assert lines(path)[0]["at"] == "2026-12-01T23:05:07.250000Z"


@pytest.mark.parametrize(
    "text", [LONG_SPANISH_TEXT, "a\r\nb\u2028c\u2029d\x85e\x1cf\0g", 'quotes " and \\ signs', "half a pair \ud800 here", "🚱"]
)
async def test_any_text_is_one_line_and_reads_back_as_it_was(path: Path, text: str) -> None:
    channel = FileChannel(path, "email")
    for _ in range(2):
        await channel.send(a_message(TO, text=text, subject=text))
    assert [(line["text"], line["subject"]) for line in lines(path)] == [(text, text)] * 2


async def test_letters_of_other_languages_are_readable_in_the_file(path: Path) -> None:
    await FileChannel(path, "email").send(a_message(TO, text="Peñón"))
    assert "Peñón" in path.read_text(encoding="utf-8")


async def test_only_the_owner_may_read_the_file(path: Path) -> None:
    await FileChannel(path, "email").send(a_message(TO))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["email", "sms", "voice"])
def test_it_has_the_name_and_the_rules_of_the_channel_it_stands_in_for(path: Path, name: str) -> None:
    channel = FileChannel(path, name)
    assert channel.name == name
    assert (channel.problem_with(TO) is None) == (name == "email")
    assert (channel.problem_with("+19095550100") is None) == (name != "email")


def test_it_cannot_stand_in_for_a_channel_that_does_not_exist(path: Path) -> None:
    with pytest.raises(ValueError, match="email and sms and voice"):
        FileChannel(path, "fax")


async def test_a_half_line_left_by_another_does_not_spoil_the_next(path: Path) -> None:
    path.write_text('{"key": "first"}\n{"key": "torn', encoding="utf-8")
    assert (await FileChannel(path, "email").send(a_message(TO))).outcome is Outcome.ACCEPTED
    first, torn, ours = path.read_text(encoding="utf-8").splitlines()
    assert (first, torn) == ('{"key": "first"}', '{"key": "torn')
    assert json.loads(ours)["key"] == "delivery-17"


@pytest.mark.parametrize(
    "kind", ["a missing folder", "a file where the folder should be", "a folder where the file should be", "a full disk"]
)
async def test_a_place_that_cannot_be_written_is_try_again_and_says_why(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").touch()
    path, words = {
        "a missing folder": (tmp_path / "missing" / "outbox.jsonl", "No such file or directory"),
        "a file where the folder should be": (tmp_path / "file" / "outbox.jsonl", "Not a directory"),
        "a folder where the file should be": (tmp_path, "Is a directory"),
        "a full disk": (Path("/dev/full"), "No space left on device"),
    }[kind]
    receipt = await FileChannel(path, "email").send(a_message(TO))
    assert (receipt.outcome, receipt.provider_id) == (Outcome.TRY_AGAIN, None)
    assert receipt.detail.startswith(f"could not append to {path}: {words}; make room")


def send_with_little_room(path: Path, bytes_allowed: int, answers: "multiprocessing.Queue[tuple[str, str]]") -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_allowed, bytes_allowed))
    receipt = asyncio.run(FileChannel(path, "email").send(a_message(TO, key="too-long")))
    answers.put((receipt.outcome.value, receipt.detail))


async def test_a_line_that_fits_only_in_part_is_taken_back_and_the_file_stays_whole(path: Path) -> None:
    await FileChannel(path, "email").send(a_message(TO, key="before"))
    before = path.read_bytes()
    spawn = multiprocessing.get_context("spawn")
    answers = spawn.Queue()
    process = spawn.Process(target=send_with_little_room, args=(path, len(before) + 100, answers))
    process.start()
    outcome, detail = await asyncio.to_thread(answers.get, timeout=60)
    await asyncio.to_thread(process.join)
    answers.close()
    assert (outcome, "100 of" in detail) == ("try_again", True), detail
    assert path.read_bytes() == before

    await FileChannel(path, "email").send(a_message(TO, key="after"))
    assert [line["key"] for line in lines(path)] == ["before", "after"]


async def test_a_disk_that_may_not_have_kept_the_line_is_unknown(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    receipt = await FileChannel(path, "email").send(a_message(TO))
    assert (receipt.outcome, receipt.provider_id) == (Outcome.UNKNOWN, "delivery-17")
    assert "Input/output error" in receipt.detail


def send_many(path: Path, sender: str, count: int) -> None:
    async def send_all() -> None:
        channel = FileChannel(path, "email")
        receipts = await asyncio.gather(
            *(channel.send(a_message(TO, key=f"{sender}-{number}", text="x" * 9000)) for number in range(count))
        )
        assert {receipt.outcome for receipt in receipts} == {Outcome.ACCEPTED}

    asyncio.run(send_all())


def test_processes_that_append_at_once_leave_every_line_whole(path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=send_many, args=(path, name, 60)) for name in ("a", "b", "c")]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert sorted(str(line["key"]) for line in lines(path)) == sorted(
        f"{name}-{number}" for name in ("a", "b", "c") for number in range(60)
    )
