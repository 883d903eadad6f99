"""Settings: each wrong one is named with its cure, and the secret key is made once, whoever is first."""

import argparse
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from deadlines.ladder import CHANNELS
from notifiers import AppriseChannel, EmailChannel, EventHookChannel, FileChannel, SmsChannel, VoiceChannel, WebhookChannel
from service import commands, programs, wiring
from service.errors import BadInput
from service.settings import Settings, read_settings, unknown_names


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where no .env lies, and where ./var may be made."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(**environment: str) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(f"SPILLCLOCK_{name}", value)
        with pytest.raises(BadInput) as error:
            read_settings()
    return error.value.faults


@pytest.mark.parametrize(
    ("name", "value", "cure"),
    [
        ("BIND", "8000", "'8000' is not HOST:PORT, as in 127.0.0.1:8000"),
        ("BIND", "127.0.0.1:http", "is not HOST:PORT"),
        ("BIND", "127.0.0.1:70000", "is not HOST:PORT"),
        ("BASE_URL", "spills.example.gov", "'spills.example.gov' is not a web address, as in https://spills.example.gov"),
        ("BASE_URL", "ftp://spills.example.gov", "is not a web address"),
        ("BASE_URL", "https://spills.example.gov/sub/?q=1", "has a ? or a # in it, and links are made by adding to it"),
        ("BASE_URL", "https://spills.example.gov/#top", "right would be: the part before that"),
        ("LOG_FORMAT", "xml", "'text' or 'json'"),
        ("LEASE_SECONDS", "0", "greater than or equal to 5"),
        ("LEASE_SECONDS", "soon", "valid integer"),
        ("SMS_COUNTRIES", "US,XY", "'XY' is no country; right would be: ISO codes separated by commas, as in US,MX, or any"),
        ("SMS_COUNTRIES", " , ", "is no list of countries"),
        ("SMS_COUNTRIES", "any,US", "is no list of countries"),
        ("DAILY_CAP", "-1", "greater than or equal to 0"),
        ("MAP_TILES", "https://tiles.example.gov/{z}/{x}/{y}.png", "is no tile server with its credit; right would be: https://tiles."),
        ("MAP_TILES", "http://tiles.example.gov/{z}/{x}/{y}.png County", "is no tile server with its credit"),
        ("MAP_TILES", "https://tiles.example.gov/{z}/{x}.png County", "is no tile server with its credit"),
        ("MAP_TILES", "https:///{z}/{x}/{y}.png County", "is no tile server with its credit"),
        ("DATABASE_URL", "mysql://user:hidden@host/name", "right would be: postgresql://user:password@host/name"),
    ],
)
def test_a_wrong_setting_is_named_with_its_cure(name: str, value: str, cure: str) -> None:
    [fault] = refused(**{name: value})
    assert fault.startswith(f"SPILLCLOCK_{name}: ")
    assert cure in fault
    assert "hidden" not in fault


def test_names_that_no_setting_has_are_told_with_the_one_that_was_meant(in_an_empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (in_an_empty_folder / ".env").write_text("SPILLCLOCK_SMTP_URI=smtp://x\nSPILLCLOCK_MAIL_FROM=a@example.gov\nOTHER=1\n")
    monkeypatch.setenv("SPILLCLOCK_TWILIO_FORM", "+19095550100")
    monkeypatch.setenv("spillclock_bind", "127.0.0.1:8000")  # case does not count
    monkeypatch.setenv("SPILLCLOCK_XQZ", "1")
    assert unknown_names() == [
        "SPILLCLOCK_SMTP_URI is no setting, and changes nothing; did you mean SPILLCLOCK_SMTP_URL?",
        "SPILLCLOCK_TWILIO_FORM is no setting, and changes nothing; did you mean SPILLCLOCK_TWILIO_FROM?",
        "SPILLCLOCK_XQZ is no setting, and changes nothing",
    ]


async def test_doctor_warns_of_names_that_no_setting_has(in_an_empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPILLCLOCK_TWILIO_FORM", "+19095550100")
    findings = await programs.examine(Settings(home_dir=in_an_empty_folder))
    assert next(line for line in findings if "TWILIO_FORM" in line).startswith("WARN   settings: SPILLCLOCK_TWILIO_FORM is no setting")


def test_a_program_that_starts_logs_names_that_no_setting_has(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("SPILLCLOCK_TWILIO_FORM", "+19095550100")
    monkeypatch.setattr(commands, "keep_log", lambda _: None)  # which would take the place of what the test reads by
    with pytest.raises(BadInput, match="one half of several"):
        commands.run("web", argparse.Namespace())
    [line] = [record for record in caplog.records if record.name == "service.commands"]
    assert line.levelname == "WARNING"
    assert line.getMessage().endswith("did you mean SPILLCLOCK_TWILIO_FROM?")


def test_all_wrong_settings_are_named_together() -> None:
    faults = refused(BIND="x", BASE_URL="y", LOG_FORMAT="z")
    assert [fault.partition(":")[0] for fault in faults] == ["SPILLCLOCK_BASE_URL", "SPILLCLOCK_LOG_FORMAT", "SPILLCLOCK_BIND"]


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    [fault] = refused(HOME_DIR=str(tmp_path / "file" / "var"))
    assert fault.startswith("SPILLCLOCK_HOME_DIR: ")
    assert "right would be a folder this user may write" in fault


def test_without_any_setting_everything_lies_in_the_data_folder(tmp_path: Path) -> None:
    settings = read_settings()
    assert (tmp_path / "var").is_dir()
    assert settings.is_embedded
    assert settings.async_database_url == "sqlite+aiosqlite:///var/spillclock.db"
    assert settings.outbox_path == Path("var/outbox.jsonl")
    assert settings.public_url == "http://127.0.0.1:8000"
    assert wiring.stands_in(settings) == ["email", "sms"]


def test_settings_are_read_from_a_file_and_the_environment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("SPILLCLOCK_BIND=0.0.0.0:9000\nSPILLCLOCK_LOG_FORMAT=json\nOTHER=1\n")
    monkeypatch.setenv("SPILLCLOCK_BIND", "0.0.0.0:9001")
    settings = read_settings()
    assert (settings.bind, settings.log_format, settings.public_url) == ("0.0.0.0:9001", "json", "http://127.0.0.1:9001")


@pytest.mark.parametrize(
    ("url", "used"),
    [
        ("postgresql://u:p@db.example/spills", "postgresql+psycopg://u:p@db.example/spills"),
        ("postgres://u:p@db.example/spills", "postgresql+psycopg://u:p@db.example/spills"),
        ("sqlite:///elsewhere.db", "sqlite+aiosqlite:///elsewhere.db"),
    ],
)
def test_the_database_is_reached_by_its_own_driver(url: str, used: str) -> None:
    settings = Settings(database_url=url)
    assert (settings.async_database_url, settings.is_embedded) == (used, url.startswith("sqlite"))


def test_a_tile_server_is_told_apart_from_its_credit() -> None:
    settings = Settings(map_tiles=" https://tiles.example.gov/{z}/{x}/{y}.png?key=1 © County GIS ")
    assert settings.tiles == ("https://tiles.example.gov/{z}/{x}/{y}.png?key=1", "© County GIS")
    assert settings.tiles_origin == "https://tiles.example.gov"
    assert (Settings().tiles, Settings().tiles_origin) == (("", ""), "")


def test_a_base_url_ends_without_a_slash() -> None:
    assert Settings(base_url="https://spills.example.gov/").public_url == "https://spills.example.gov"


def test_no_secret_shows_when_settings_are_printed() -> None:
    secrets = {"secret_key": "hush-1, and long enough to be one", "smtp_url": "smtp://u:hush-2@mail.example", "twilio_auth_token": "hush-3"}
    assert "hush" not in repr(Settings(**secrets))  # type: ignore[arg-type]


# -- the secret key


def test_the_secret_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    settings = Settings(home_dir=tmp_path)
    key = settings.signing_key()
    assert len(key) >= 48
    assert Settings(home_dir=tmp_path).signing_key() == key
    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret.key"]
    assert Settings(home_dir=tmp_path, secret_key="given, and long enough").signing_key() == b"given, and long enough"  # type: ignore[arg-type]


def test_two_folders_have_two_keys(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    assert Settings(home_dir=tmp_path / "one").signing_key() != Settings(home_dir=tmp_path / "two").signing_key()


def test_processes_that_start_together_agree_on_the_key(tmp_path: Path) -> None:
    program = "import sys; from pathlib import Path; from service.settings import Settings; "
    program += "sys.stdin.read(); sys.stdout.buffer.write(Settings(home_dir=Path(sys.argv[1])).signing_key())"
    root = Path(__file__).parents[2]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": root}
    started = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], **pipes) for _ in range(4)]  # type: ignore[call-overload]
    for process in started:  # all have started Python before the first one goes on
        process.stdin.close()
    keys = {process.stdout.read() for process in started}
    assert [process.wait() for process in started] == [0] * 4
    for process in started:
        process.stdout.close()
    assert len(keys) == 1
    assert keys == {(tmp_path / "secret.key").read_bytes()}


# -- the channels that settings provide for


def channel_faults(**given: str) -> list[str]:
    async def work() -> None:
        async with wiring.open_channels(Settings(**given)):  # type: ignore[arg-type]
            pass

    import asyncio

    with pytest.raises(BadInput) as error:
        asyncio.run(work())
    return error.value.faults


def test_mail_without_a_sender_is_refused_with_the_cure() -> None:
    assert channel_faults(smtp_url="smtp://mail.example") == ["SPILLCLOCK_MAIL_FROM: missing; right would be: spills@example.gov"]


def test_a_mail_server_that_cannot_be_read_is_named_without_its_password() -> None:
    [fault] = channel_faults(smtp_url="http://u:hush@mail.example", mail_from="spills@example.gov")
    assert fault.startswith("SPILLCLOCK_SMTP_URL: ")
    assert "hush" not in fault


def test_half_a_twilio_account_names_what_is_missing() -> None:
    faults = channel_faults(twilio_account_sid="AC" + "0" * 32)
    assert [fault.partition(":")[0] for fault in faults] == ["SPILLCLOCK_TWILIO_AUTH_TOKEN", "SPILLCLOCK_TWILIO_FROM"]


ACCOUNT = {"twilio_account_sid": "AC" + "0" * 32, "twilio_auth_token": "made-up", "twilio_from": "+19095550100"}


async def kinds(folder: Path, **given: object) -> dict[str, type]:
    async with wiring.open_channels(Settings(home_dir=folder, **given)) as channels:  # type: ignore[arg-type]
        return {name: type(channel) for name, channel in channels.items()}


async def test_a_provider_takes_the_place_of_the_outbox_file(tmp_path: Path) -> None:
    assert await kinds(tmp_path) == {**dict.fromkeys(CHANNELS, FileChannel), "event_hook": EventHookChannel}
    mail = {"smtp_url": "smtp://mail.example", "mail_from": "spills@example.gov"}
    assert await kinds(tmp_path, **mail, **ACCOUNT) == {
        "email": EmailChannel, "sms": SmsChannel, "voice": VoiceChannel, "webhook": WebhookChannel, "apprise": AppriseChannel,
        "event_hook": EventHookChannel,
    }  # fmt: skip
    assert wiring.stands_in(Settings(home_dir=tmp_path, **mail, **ACCOUNT)) == []  # type: ignore[arg-type]
    assert (await kinds(tmp_path, **mail))["sms"] is FileChannel


async def test_calls_come_from_a_number_of_their_own_where_texts_come_from_a_service(tmp_path: Path) -> None:
    service = ACCOUNT | {"twilio_from": "MG" + "0" * 32}
    assert (await kinds(tmp_path, **service))["voice"] is FileChannel
    assert (await kinds(tmp_path, **service, twilio_voice_from="+19095550100"))["voice"] is VoiceChannel


def test_a_number_that_cannot_call_is_named() -> None:
    [fault] = channel_faults(**ACCOUNT, twilio_voice_from="909")
    assert fault.startswith("SPILLCLOCK_TWILIO_VOICE_FROM: ")


def test_countries_are_read_from_their_list() -> None:
    assert Settings().countries == {"US"}
    assert Settings(sms_countries="us, mx").countries == {"US", "MX"}
    assert Settings(sms_countries="any").countries is None
