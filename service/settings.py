"""Settings from the environment (prefix SPILLCLOCK_) or a .env file. The names are those of the contract, section 4."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from ipaddress import ip_network
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, DotEnvSettingsSource, SettingsConfigDict

from notifiers.addresses import is_country, problem_with_email
from service.errors import BadInput
from service.provider_settings import ProviderSettings

_PREFIX, _OF_TESTS = "SPILLCLOCK_", "SPILLCLOCK_TESTS_"
# The city of a first look, where no setting says otherwise.
EXAMPLE_CITY = "chino"
_SHORTEST_SECRET = 20
# California Government Code 34090(d).
LEAST_YEARS = 2
# What stands before the @ has 64 characters at most, and the message's name takes 50 of them.
_LONGEST_BOUNCE_NAME = 14
# What the address of a tile is made of: zoom, column, row.
_TILE = {"z", "x", "y"}
_BRACED = re.compile(r"\{(\w+)\}")
_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}


def _long_enough(secret: SecretStr, problem: str) -> SecretStr:
    """A secret that is not set, or long enough. Raises ValueError with the problem and what would be right."""
    if 0 < len(secret.get_secret_value()) < _SHORTEST_SECRET:
        raise ValueError(f"{problem}; right would be: {_SHORTEST_SECRET} characters or more, or nothing")
    return secret


class PackSettings(BaseSettings):
    """Where packs of one's own lie: all that the commands need which only read the law."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, env_file=".env", extra="ignore", frozen=True)

    packs: Path | None = None

    @field_validator("packs", mode="before")
    @classmethod
    def _packs_is_a_folder(cls, value: object) -> object:
        if value in (None, ""):
            return None
        if not Path(str(value)).is_dir():
            raise ValueError(f"{str(value)!r} is no folder; right would be: a folder with rule packs in it, or nothing")
        return value


class Settings(PackSettings, ProviderSettings):
    """Everything an operator can set. With no mail or SMS provider, every message goes to outbox.jsonl in the data folder."""

    home_dir: Path = Path("var")
    database_url: str = ""
    base_url: str = ""
    secret_key: SecretStr = SecretStr("")
    smtp_url: SecretStr = SecretStr("")
    mail_from: str = ""
    twilio_account_sid: str = ""
    twilio_auth_token: SecretStr = SecretStr("")
    twilio_from: str = ""
    twilio_voice_from: str = ""
    twilio_api_base: str = "https://api.twilio.com"
    log_format: Literal["text", "json"] = "text"
    bind: str = "127.0.0.1:8000"
    # Where a worker of its own answers whether it works, and what it measured; empty: nowhere.
    worker_bind: str = ""
    cities: str = ""
    sms_countries: str = "US"
    daily_cap: int = Field(default=5000, ge=0)
    webhook_private: bool = False
    lease_seconds: int = Field(default=120, ge=5, le=3600)
    # Connections to PostgreSQL that a process keeps; as many more for a moment.
    database_pool: int = Field(default=5, ge=1, le=100)
    # After how long without a sign that a text or a call arrived the next channel is used.
    silent_minutes: float = Field(default=5, gt=0, le=1440)
    # Where mail bounces to, and the secret by which inbound mail is taken; without the secret there is no way for it to us.
    bounce_address: str = ""
    mail_hook_secret: SecretStr = SecretStr("")
    # A Maildir that a mail server lays mail for reports into; read every ten seconds.
    report_maildir: Path | None = None
    # Asked for by GET every so many minutes while all is well; and the token that /metrics needs (without: this machine alone).
    deadman_url: SecretStr = SecretStr("")
    deadman_minutes: float = Field(default=5, gt=0, le=1440)
    metrics_token: SecretStr = SecretStr("")
    # Where signed checkpoints of the record go, every so many hours: e-mail and https addresses and paths of files, separated by commas.
    checkpoint_to: str = ""
    checkpoint_hours: float = Field(default=24, ge=0.25, le=24 * 31)
    # For how many years after its closing the city keeps a record that no law keeps longer.
    keep_years: int = Field(default=5, le=100)
    # The Open311 systems that spills are handed on to: chino=https://311.chino.gov/open311/v2?service_code=SPILL&api_key=..., with blanks
    # between several.
    open311_forward: SecretStr = SecretStr("")
    # The proxies whose X-Forwarded-For is believed: addresses and networks, separated by commas; empty where there is none.
    trusted_proxies: str = "127.0.0.1,::1"
    # How many times the limits of service/turnstile.py one sender is given; 0 switches them off.
    limit_factor: float = Field(default=1, ge=0, le=1000)
    # A tile server for the maps and, after a space, whom its tiles are credited to. Without it nothing is asked of any other site.
    map_tiles: str = ""
    # The largest file, and the largest form with all its files, that anybody may send.
    largest_file_mb: int = Field(default=15, ge=1, le=200)
    largest_form_mb: int = Field(default=200, ge=1, le=2000)

    # Whose official website this is, as in City of Chino: said at the top of every public page. Empty where nobody has decided so.
    official_name: str = Field(default="", max_length=80)

    @field_validator("bind", "worker_bind")
    @classmethod
    def _bind_names_a_port(cls, value: str, info: ValidationInfo) -> str:
        host, _, port = value.rpartition(":")
        if not value and info.field_name == "worker_bind":
            return value
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise ValueError(f"{value!r} is not HOST:PORT, as in 127.0.0.1:8000")
        return value

    @field_validator("secret_key")
    @classmethod
    def _secret_is_long(cls, value: SecretStr) -> SecretStr:
        return _long_enough(value, "it is too short to keep private links private")

    @field_validator("mail_hook_secret")
    @classmethod
    def _hook_secret_is_long(cls, value: SecretStr) -> SecretStr:
        return _long_enough(value, "it is too short to keep forged mail out")

    @field_validator("report_maildir", mode="before")
    @classmethod
    def _maildir_is_one(cls, value: object) -> object:
        if value in (None, ""):
            return None
        if not (Path(str(value)) / "new").is_dir():
            raise ValueError(f"{str(value)!r} is no Maildir; right would be: a folder with a folder `new` in it, or nothing")
        return value

    @field_validator("deadman_url")
    @classmethod
    def _deadman_is_http(cls, value: SecretStr) -> SecretStr:
        parts = urlsplit(value.get_secret_value())
        if value.get_secret_value() and (parts.scheme not in ("http", "https") or not parts.netloc):
            raise ValueError("it is no web address; right would be: https://hc.example.org/ping/..., or nothing")
        return value

    @field_validator("open311_forward")
    @classmethod
    def _forwards_can_be_read(cls, value: SecretStr) -> SecretStr:
        for number, part in enumerate(value.get_secret_value().split(), 1):
            _read_forward(part, number)
        return value

    @field_validator("metrics_token")
    @classmethod
    def _metrics_token_is_long(cls, value: SecretStr) -> SecretStr:
        return _long_enough(value, "it is too short to be a secret")

    @field_validator("bounce_address")
    @classmethod
    def _bounces_have_room(cls, value: str) -> str:
        local, at, _ = value.rpartition("@")
        if value and (not at or len(local) > _LONGEST_BOUNCE_NAME or "+" in local or problem_with_email(value)):
            right = f"bounce@example.gov, with at most {_LONGEST_BOUNCE_NAME} characters before the @ and no + among them"
            raise ValueError(f"{value!r} is no address that bounces can go to; right would be: {right}")
        return value

    @field_validator("checkpoint_to")
    @classmethod
    def _checkpoints_go_somewhere(cls, value: str) -> str:
        wrong = next((address for address in _listed(value) if not _way_to(address)), None)
        if wrong is not None:
            right = "auditor@county.example, https://log.county.example/spills or /mnt/elsewhere/checkpoints.jsonl, separated by commas"
            raise ValueError(f"{wrong!r} is no place that a checkpoint can go to; right would be: {right}, or nothing")
        return value

    @field_validator("keep_years")
    @classmethod
    def _kept_as_the_law_asks(cls, value: int) -> int:
        if value < LEAST_YEARS:
            law = "California Government Code 34090(d) lets no city destroy a record that is less than two years old"
            raise ValueError(f"{value} is too short: {law}; right would be: {LEAST_YEARS} or more")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _proxies_are_networks(cls, value: str) -> str:
        names = _listed(value)
        wrong = next((name for name in names if not _is_network(name)), None)
        if wrong is not None:
            right = "addresses and networks separated by commas, as in 127.0.0.1,10.0.0.0/8, or nothing"
            raise ValueError(f"{wrong!r} is no address of a proxy; right would be: {right}")
        return ",".join(names)

    @field_validator("map_tiles")
    @classmethod
    def _tiles_have_address_and_credit(cls, value: str) -> str:
        address, _, credit = value.strip().partition(" ")
        host = urlsplit(address.partition("{")[0]).hostname
        if value and (not address.startswith("https://") or not host or not credit.strip() or not set(_BRACED.findall(address)) >= _TILE):
            right = "https://tiles.example.gov/{z}/{x}/{y}.png and, after a space, whom the map is to be credited to; or nothing"
            raise ValueError(f"{value!r} is no tile server with its credit; right would be: {right}")
        return value.strip()

    @field_validator("base_url")
    @classmethod
    def _base_url_is_http(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in ("http", "https") or not parts.netloc):
            raise ValueError(f"{value!r} is not a web address, as in https://spills.example.gov")
        if "?" in value or "#" in value:
            raise ValueError(f"{value!r} has a ? or a # in it, and links are made by adding to it; right would be: the part before that")
        return value.rstrip("/")

    @field_validator("database_url")
    @classmethod
    def _database_is_one_of_two(cls, value: str) -> str:
        # The value holds a password: it is not repeated.
        if value and value.partition("://")[0] not in _DRIVERS:
            raise ValueError("it names no database used here; right would be: postgresql://user:password@host/name, or nothing for SQLite")
        return value

    @field_validator("sms_countries")
    @classmethod
    def _countries_are_known(cls, value: str) -> str:
        codes = _codes(value)
        wrong = [code for code in codes if code != "ANY" and not is_country(code)]
        if wrong or not codes or ("ANY" in codes and len(codes) > 1):
            what = f"{wrong[0]!r} is no country" if wrong else f"{value!r} is no list of countries"
            raise ValueError(f"{what}; right would be: ISO codes separated by commas, as in US,MX, or any")
        return value

    @property
    def countries(self) -> frozenset[str] | None:
        """The countries whose numbers may be called and texted (ISO codes); None where all may."""
        codes = _codes(self.sms_countries)
        return None if codes == ["ANY"] else frozenset(codes)

    @property
    def checkpoints_go_to(self) -> tuple[tuple[str, str], ...]:
        """Where checkpoints of the record go, as pairs of the way, which is email, webhook or file, and the address."""
        return tuple((_way_to(address), address) for address in dict.fromkeys(_listed(self.checkpoint_to)))

    @property
    def forwards(self) -> Mapping[str, Forward]:
        """The Open311 system that spills of a city are handed on to, by city."""
        return dict(_read_forward(part, number) for number, part in enumerate(self.open311_forward.get_secret_value().split(), 1))

    @property
    def served(self) -> tuple[str, ...]:
        """The pack ids of the cities that are served, in the order given; empty where every city with a pack is."""
        return tuple(dict.fromkeys(_listed(self.cities)))

    @property
    def public_url(self) -> str:
        """Where people reach the pages, without a slash at the end."""
        host, _, port = self.bind.rpartition(":")
        return self.base_url or f"http://{'127.0.0.1' if host in ('0.0.0.0', '[::]') else host}:{port}"  # noqa: S104 - compared, not bound

    @property
    def tiles(self) -> tuple[str, str]:
        """The address of the map's tiles, with {z}, {x} and {y} in it, and their credit; two empty texts without a tile server."""
        address, _, credit = self.map_tiles.partition(" ")
        return address, credit.strip()

    @property
    def tiles_origin(self) -> str:
        """Where tiles come from, as a browser's policy names it: https://tiles.example.gov; empty without a tile server."""
        parts = urlsplit(self.tiles[0].partition("{")[0])
        return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""

    @property
    def outbox_path(self) -> Path:
        """The file that stands in for channels without a provider."""
        return self.home_dir / "outbox.jsonl"

    @property
    def files_path(self) -> Path:
        """The folder of the files that people sent."""
        return self.home_dir / "files"

    @property
    def largest_file_bytes(self) -> int:
        """The largest file that is taken, in bytes."""
        return self.largest_file_mb * 1_000_000

    @property
    def largest_form_bytes(self) -> int:
        """The largest form that is taken, with all its files, in bytes."""
        return self.largest_form_mb * 1_000_000

    @property
    def async_database_url(self) -> str:
        """The database address with the driver this service uses."""
        if not self.database_url:
            return f"sqlite+aiosqlite:///{self.home_dir / 'spillclock.db'}"
        scheme, _, rest = self.database_url.partition("://")
        return f"{_DRIVERS[scheme]}://{rest}"

    @property
    def is_embedded(self) -> bool:
        """Whether the database is the embedded one, SQLite."""
        return self.async_database_url.startswith("sqlite")

    def signing_key(self) -> bytes:
        """The secret that private links are derived from; made once and kept in the data folder where none is set."""
        if self.secret_key.get_secret_value():
            return self.secret_key.get_secret_value().encode()
        path = self.home_dir / "secret.key"
        try:
            return path.read_bytes()
        except FileNotFoundError:
            made = secrets.token_urlsafe(48).encode()
        draft = path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(made)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)  # fails where another process was first: its key then counts
        except FileExistsError:
            made = path.read_bytes()
        finally:
            draft.unlink()
        return made


@dataclass(frozen=True, slots=True)
class Forward:
    """An Open311 system of a city: its endpoint without a slash, the service that a spill is there, and what it asks of callers."""

    url: str
    service_code: str
    jurisdiction_id: str = ""
    api_key: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        """The name of its machine, for people."""
        return urlsplit(self.url).hostname or ""


def _read_forward(part: str, number: int) -> tuple[str, Forward]:
    """One entry of OPEN311_FORWARD. Raises ValueError without repeating it: it may hold a key."""
    city, equals, address = part.partition("=")
    parts = urlsplit(address)
    asked = dict(parse_qsl(parts.query))
    unknown = sorted(set(asked) - {"service_code", "jurisdiction_id", "api_key"})
    if not equals or parts.scheme not in ("http", "https") or not parts.hostname or not asked.get("service_code") or unknown:
        right = "chino=https://311.example.gov/open311/v2?service_code=SPILL, and where they are needed &jurisdiction_id= and &api_key="
        raise ValueError(f"entry {number} cannot be read; right would be: {right}")
    url = parts._replace(query="", fragment="").geturl().rstrip("/")
    return city.strip(), Forward(url, asked["service_code"], asked.get("jurisdiction_id", ""), asked.get("api_key", ""))


def _listed(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _way_to(address: str) -> str:
    """By which way something goes to an address: email, webhook, file; empty where it is none."""
    if address.startswith("/"):
        return "file"
    if address.startswith(("https://", "http://")):
        return "webhook"
    return "" if problem_with_email(address) else "email"


def _is_network(text: str) -> bool:
    try:
        network = ip_network(text)
    except ValueError:
        return False
    return network.prefixlen > 0  # the whole internet is no proxy


def _codes(value: str) -> list[str]:
    return [code for part in value.split(",") if (code := part.strip().upper())]


def read_settings(**overrides: object) -> Settings:
    """Read the settings and make the data folder. Raises BadInput naming each wrong setting, with its cure."""
    try:
        settings = Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        raise _faulty(error) from None
    try:
        settings.home_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            "the data folder cannot be made", [f"SPILLCLOCK_HOME_DIR: {error}; right would be a folder this user may write"]
        ) from None
    return settings


def unknown_names() -> list[str]:
    """The names with our prefix, in the environment or the .env file, that no setting has: a sentence each, with the likeliest meant."""
    known = {name.upper() for name in Settings.model_fields}
    written = DotEnvSettingsSource(Settings).env_vars
    given = {name.upper() for name in (*os.environ, *written)}
    ours = {name.removeprefix(_PREFIX) for name in given if name.startswith(_PREFIX) and not name.startswith(_OF_TESTS)}
    lines = []
    for name in sorted(ours - known):
        meant = get_close_matches(name, known, 1)
        lines.append(f"{_PREFIX}{name} is no setting, and changes nothing" + (f"; did you mean {_PREFIX}{meant[0]}?" if meant else ""))
    return lines


def packs_folder() -> Path | None:
    """The folder of packs of one's own, or None. Raises BadInput where it is set and is no folder; no other setting is looked at."""
    try:
        return PackSettings().packs
    except ValidationError as error:
        raise _faulty(error) from None


def _faulty(error: ValidationError) -> BadInput:
    faults = [
        f"SPILLCLOCK_{'_'.join(map(str, part['loc'])).upper()}: {part['msg'].removeprefix('Value error, ')}" for part in error.errors()
    ]
    return BadInput("the settings have faults", faults)
