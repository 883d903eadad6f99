"""Puts the parts together: settings, law, places, database, channels, reactions, clock. The only place that does."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
from sqlalchemy import Connection, delete, func, insert, select, text
from sqlalchemy.exc import DBAPIError
from sqlmodel import col

from deadlines import Rulebook
from notifiers import (
    AppriseChannel,
    Channel,
    EmailChannel,
    EventHookChannel,
    FileChannel,
    SmsChannel,
    TwilioAccount,
    VoiceChannel,
    WebhookChannel,
    parse_smtp_url,
)
from notifiers.addresses import problem_with_phone
from service import board
from service.clock import Now, real_now
from service.errors import BadInput, SpillclockError
from service.library import open_places, open_rulebook
from service.parties import example_contacts
from service.reactions import LAST_REACTIONS, REACTIONS
from service.settings import Settings
from service.tables import Contact, Meta
from service.transaction import House, open_engine, transaction

log = logging.getLogger(__name__)

_TWILIO_TIMEOUT_SECONDS = 20.0
# A mail attempt lasts at most eight of these, which stays within the lease of a claimed message.
_SMTP_TIMEOUT_SECONDS = 10.0
_SMTP_CONNECTIONS = 8
_MIGRATIONS = Path(__file__).parent / "migrations"
# The oldest revision whose release works with the newest tables: migrations since only added to them. A migration that takes something away
# or changes what a column means raises this to the revision before it, and comes a release after the code that stopped using it.
FITS_CODE_FROM = "0019"
_FITS_FROM = "the tables fit releases from"


class TablesTooNew(SpillclockError):
    """The tables are newer than this release, and something it needs was taken away."""


def build_house(settings: Settings, now: Now = real_now, *, durable: bool = True) -> House:
    """A house over the database of the settings; not `durable` where nobody keeps it.

    Raises PackError for faulty packs, BadInput where a city is to be served that has none, or a provider is set in part.
    """
    if settings.oidc_faults:
        raise BadInput("the identity provider cannot be used", settings.oidc_faults)
    law, places = open_rulebook(settings.packs), open_places(settings.packs)
    _check_served(settings, law)
    engine = open_engine(settings, durable=durable)
    house = House(
        settings, law, places, engine, now, settings.signing_key(), REACTIONS, last_reactions=LAST_REACTIONS,
        watches_clock=now is real_now and not settings.is_embedded,
    )  # fmt: skip
    return replace(house, places=places.only(house.cities))


def _check_served(settings: Settings, law: Rulebook) -> None:
    city = settings.oidc_new_accounts.partition(":")[2]
    if city and city not in (settings.served or law.cities):
        right = f"right would be: viewer, or viewer:{(settings.served or law.cities)[0]}"
        raise BadInput("new accounts would be of a city that is not served", [f"SPILLCLOCK_OIDC_NEW_ACCOUNTS: {city!r} is none; {right}"])
    unknown = [city for city in settings.served if city not in law.cities]
    if unknown:
        right = f"right would be: a list of some of {', '.join(law.cities)}, separated by commas"
        raise BadInput("a city has no pack", [f"SPILLCLOCK_CITIES: {city!r} is no city with a pack; {right}" for city in unknown])


async def migrate(house: House) -> None:
    """Bring the database to the newest tables, with a line on the board for every spill; does nothing where it is there already."""
    await _migrate_tables(house)
    await board.bring_up_to_date(house)


def known_revisions() -> list[str]:
    """The revisions of the tables that this version knows, the newest last."""
    return sorted(path.stem.partition("_")[0] for path in (_MIGRATIONS / "versions").glob("[0-9]*.py"))


async def _migrate_tables(house: House) -> None:
    try:
        async with house.engine.connect() as connection:
            there = str(await connection.scalar(text("SELECT version_num FROM alembic_version")))
            if there == known_revisions()[-1]:
                return
            fits_from = await connection.scalar(select(col(Meta.value)).where(col(Meta.key) == _FITS_FROM))
    except DBAPIError:
        pass  # no such table yet: a new database. Whatever else is wrong shows itself below.
    else:
        if there > known_revisions()[-1]:
            _check_newer(there, fits_from)
            return
    # Without foreign keys: a table that Alembic rebuilds on SQLite would take its children along by ON DELETE CASCADE.
    engine = open_engine(house.settings, foreign_keys=False)
    try:
        async with engine.begin() as connection:
            if not house.settings.is_embedded:  # a change of a large table takes its time
                await connection.execute(text("SET LOCAL statement_timeout = 0"))
            await connection.run_sync(upgrade)
    finally:
        await engine.dispose()


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring the tables of a database, in its open transaction, to a revision; by default to the newest."""
    # Imported here: half a second that a start on a current database need not spend.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
    if revision == "head":
        connection.execute(delete(Meta).where(col(Meta.key) == _FITS_FROM))
        connection.execute(insert(Meta).values(key=_FITS_FROM, value=FITS_CODE_FROM))


def _check_newer(there: str, fits_from: str | None) -> None:
    """Go on with tables that are newer than this release, as in the middle of an upgrade, where they were only added to since."""
    if fits_from is None or fits_from > known_revisions()[-1]:
        cure = "right would be: the release that the tables are of, or a backup of this one's put back"
        raise TablesTooNew(f"the tables are of revision {there}, and this release works with {known_revisions()[-1]} at most; {cure}")
    log.warning("the tables are of revision %s, newer than this release; they were only added to, so it goes on", there)


async def fill_example_city(house: House) -> bool:
    """Fill the roles of the first city served with example people, at the very first start. Returns whether it did."""
    async with transaction(house, "spillclock") as tx:
        if await tx.session.get(Meta, "example-city") is not None:
            return False
        tx.session.add(Meta(key="example-city", value=house.first_city))
        if await tx.session.scalar(select(func.count()).select_from(Contact).where(col(Contact.city) == house.first_city)):
            return False
        tx.session.add_all(example_contacts(house.first_city))
        return True


@asynccontextmanager
async def open_channels(settings: Settings, only: str | None = None) -> AsyncIterator[Mapping[str, Channel]]:
    """The channels that the settings provide for; the outbox file stands in for each that has no provider.

    `only` names one that is wanted: what is wrong with the settings of another is no hindrance. Raises BadInput for faulty settings.
    """
    channels: dict[str, Channel] = {}
    async with httpx.AsyncClient(timeout=_TWILIO_TIMEOUT_SECONDS) as http:
        if only in (None, "email"):
            channels["email"] = _email(settings)
        if only in (None, "sms", "voice"):
            channels["sms"], channels["voice"] = _sms_and_voice(settings, http)
        if only in (None, "webhook", "apprise"):
            channels["webhook"], channels["apprise"] = _webhook_and_apprise(settings)
        if only in (None, "event_hook"):
            # No message to a person: an administrator entered the address of a machine, and looks there whether something comes.
            channels["event_hook"] = EventHookChannel(settings.signing_key(), allow_private=settings.webhook_private)
        try:
            yield channels
        finally:
            for channel in channels.values():
                await channel.aclose()


def _email(settings: Settings) -> Channel:
    url = settings.smtp_url.get_secret_value()
    if not url:
        return FileChannel(settings.outbox_path, "email")
    if not settings.mail_from:
        raise BadInput("mail has no sender", ["SPILLCLOCK_MAIL_FROM: missing; right would be: spills@example.gov"])
    try:
        server = parse_smtp_url(url)
    except ValueError as error:
        raise BadInput("the mail server cannot be used", [f"SPILLCLOCK_SMTP_URL: {error}"]) from None
    try:
        return EmailChannel(server, settings.mail_from, _SMTP_CONNECTIONS, _SMTP_TIMEOUT_SECONDS)
    except ValueError as error:
        raise BadInput("the sender of mail cannot be used", [f"SPILLCLOCK_MAIL_FROM: {error}"]) from None


def _sms_and_voice(settings: Settings, http: httpx.AsyncClient) -> tuple[Channel, Channel]:
    token = settings.twilio_auth_token.get_secret_value()
    given = {
        "SPILLCLOCK_TWILIO_ACCOUNT_SID": settings.twilio_account_sid, "SPILLCLOCK_TWILIO_AUTH_TOKEN": token,
        "SPILLCLOCK_TWILIO_FROM": settings.twilio_from,
    }  # fmt: skip
    if not any(given.values()):
        return FileChannel(settings.outbox_path, "sms"), FileChannel(settings.outbox_path, "voice")
    missing = [name for name, value in given.items() if not value]
    if missing:
        raise BadInput(
            "SMS is set only in part", [f"{name}: missing; right would be: all three Twilio settings, or none" for name in missing]
        )
    try:
        account = TwilioAccount(
            settings.twilio_account_sid, token, settings.twilio_from, settings.twilio_api_base, settings.public_url, settings.countries,
        )  # fmt: skip
    except ValueError as error:
        raise BadInput("Twilio cannot be used", [f"SPILLCLOCK_TWILIO_API_BASE: {error}"]) from None
    sms = SmsChannel(account, http)
    if not can_call(settings):
        return sms, FileChannel(settings.outbox_path, "voice")
    try:
        return sms, VoiceChannel(replace(account, sender=settings.twilio_voice_from or settings.twilio_from), http)
    except ValueError as error:
        raise BadInput("calls cannot be made", [f"SPILLCLOCK_TWILIO_VOICE_FROM: {error}"]) from None


def can_call(settings: Settings) -> bool:
    """Whether calls have a number to come from: their own setting, or the sender of SMS where that is a number and no service or name."""
    return bool(settings.twilio_account_sid) and bool(settings.twilio_voice_from or problem_with_phone(settings.twilio_from) is None)


def _webhook_and_apprise(settings: Settings) -> tuple[Channel, Channel]:
    """Neither needs a provider. Where nothing else has one, both go to the file: a first look sends nothing to anybody."""
    if not has_provider(settings):
        return FileChannel(settings.outbox_path, "webhook"), FileChannel(settings.outbox_path, "apprise")
    private = settings.webhook_private
    return WebhookChannel(settings.signing_key(), allow_private=private), AppriseChannel(allow_private=private)


def has_provider(settings: Settings) -> bool:
    """Whether mail or SMS has a provider, so that messages leave this machine."""
    return bool(settings.smtp_url.get_secret_value() or settings.twilio_account_sid)


def stands_in(settings: Settings) -> list[str]:
    """The channels that have no provider, so that their messages go to the outbox file."""
    return [name for name, set_up in (("email", settings.smtp_url.get_secret_value()), ("sms", settings.twilio_account_sid)) if not set_up]
