"""Every table. `event` is the truth and only grows; the others are what it comes to, kept for looking up and for the worker."""

# No `from __future__ import annotations` here: SQLModel reads the annotations at run time.
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, CheckConstraint, Column, Index, Text, UniqueConstraint, false, text
from sqlmodel import Field, SQLModel

from service.chain_tables import Chain as Chain
from service.chain_tables import ChainRecord as ChainRecord
from service.chain_tables import Checkpoint as Checkpoint
from service.columns import json_column, text_column
from service.personal import ACTOR, rejoined
from service.retention_tables import LegalHold as LegalHold
from service.telling_tables import Advisory as Advisory
from service.telling_tables import Closure as Closure
from service.telling_tables import MessageTemplate as MessageTemplate
from service.telling_tables import Rota as Rota
from service.telling_tables import Shift as Shift
from service.telling_tables import Subscription as Subscription
from service.telling_tables import SubscriptionItem as SubscriptionItem


class Spill(SQLModel, table=True):
    """One spill: its reference, its city, and the facts that its events come to."""

    # For the open reports near a place, of the last days.
    __table_args__ = (Index("ix_spill_city_received_at", "city", "received_at"),)
    id: int | None = Field(default=None, primary_key=True)
    reference: str = Field(unique=True, max_length=24)
    city: str | None = Field(default=None, index=True, max_length=40)
    received_at: datetime
    description: str = text_column()
    address: str = text_column()
    lat: float | None = None
    lon: float | None = None
    facts: dict[str, Any] = json_column()
    flags: list[str] = json_column()
    reporter: dict[str, Any] = json_column()
    discharger: dict[str, Any] = json_column()
    language: str = Field(default="en", max_length=8)
    # Set while the facts wait to be put to the law: at once for a new report, later for a duty that recurs by itself.
    assess_at: datetime | None = Field(default=None, index=True)
    assess_tries: int = 0
    link_version: int = 1
    # Of the discharger's link that is nobody's in particular; those of named people have their own.
    respond_version: int = Field(default=1, sa_column_kwargs={"server_default": "1"})
    # Since when a report that looks automatic waits for a person; `assess_at` is then when it is let go by itself, None once it was judged.
    held_at: datetime | None = Field(default=None, index=True)
    # The spill that this report tells of, too; and who of the staff answers for this one, by e-mail address.
    merged_into: int | None = Field(default=None, foreign_key="spill.id", index=True)
    officer: str = Field(default="", max_length=320, index=True, sa_column_kwargs={"server_default": ""})
    # Why it came to it, a word of service/causes.py; empty while nobody knows.
    cause: str = Field(default="", max_length=24, sa_column_kwargs={"server_default": ""})
    # Since when nothing is left of its record but what the law counts by.
    destroyed_at: datetime | None = None
    # Since when its reporter wishes to be forgotten, and when that is to be tried next (None: it is done, or nobody wishes it).
    forget_asked_at: datetime | None = None
    forget_at: datetime | None = Field(default=None, index=True)


class EventRow(SQLModel, table=True):
    """One thing that happened. `happened_at` in the world, `recorded_at` by us.

    What may tell of a person is sealed apart (service/personal.py). `payload` and `actor` are the whole; the columns of these names hold
    the open part.
    """

    __tablename__ = "event"
    id: int | None = Field(default=None, primary_key=True)
    spill_id: int = Field(foreign_key="spill.id", index=True)
    kind: str = Field(max_length=40, index=True)
    opened: dict[str, Any] = Field(sa_column=Column("payload", JSON, nullable=False))
    shown_actor: str = Field(max_length=200, sa_column_kwargs={"name": "actor"})
    happened_at: datetime
    recorded_at: datetime
    # The sealed part with the salt of its commitment, `seal`, which the chain covers. Destroyed, the first two are empty, and the event of
    # the number `destroyed_by` says so. Where nothing was personal, all are.
    sealed: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True), nullable=True))
    salt: str | None = Field(default=None, max_length=32)
    seal: str | None = Field(default=None, max_length=64)
    destroyed_by: int | None = None

    @property
    def payload(self) -> dict[str, Any]:
        """What the event says, whole; stand-ins for what was sealed where that was destroyed."""
        return rejoined(self.kind, self.opened, self.sealed, destroyed=self.seal is not None)

    @property
    def actor(self) -> str:
        """Who did it; without the name of somebody who has no account where that was destroyed."""
        return str((self.sealed or {}).get(ACTOR, self.shown_actor))


class Obligation(SQLModel, table=True):
    """A clock of a spill as it was decided, with its place on the ladder."""

    __table_args__ = (
        UniqueConstraint("spill_id", "duty", "event_no", "occurrence"),
        # All that numbers are counted from, so that none of the wide rows is read for them.
        Index("ix_obligation_numbers", "state", "due_at", "act", "duty", "spill_id"),
        # What is to be climbed in each city, the earliest first.
        Index(
            "ix_obligation_turn", "city", "next_at", sqlite_where=text("next_at IS NOT NULL"), postgresql_where=text("next_at IS NOT NULL")
        ),
    )  # fmt: skip
    id: int | None = Field(default=None, primary_key=True)
    spill_id: int = Field(foreign_key="spill.id", index=True)
    duty: str = Field(max_length=120, index=True)
    event_no: int = -1
    occurrence: int = 0
    state: str = Field(max_length=12, index=True)
    clock: dict[str, Any] = json_column()
    # What ends it and what its report must hold, frozen with the clock: the packs of a later day may no longer say.
    act: str = Field(max_length=20)
    content: dict[str, Any] = json_column()
    # The words of the law under which its report is certified, as {says, source}; empty where the law prescribes none.
    certification: dict[str, str] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False, server_default="{}"))
    ladder: list[dict[str, Any]] = json_column()
    strip: list[dict[str, Any]] = Field(default_factory=list, sa_column=Column(JSON, nullable=False, server_default="[]"))
    starts_at: datetime | None = None
    due_at: datetime | None = Field(default=None, index=True)
    begins_at: datetime | None = None
    met_at: datetime | None = None
    reason: str = text_column()
    overdue_noted: bool = False
    # How often the ladder was planned anew, the moment up to which it is climbed, and when to climb next (None: never).
    plan_no: int = 0
    climbed_to: datetime | None = None
    next_at: datetime | None = Field(default=None, index=True)
    # In whose turn it is climbed (service/turns.py): the city of its spill when it was opened.
    city: str = Field(default="", max_length=40, sa_column_kwargs={"server_default": ""})


class MessageRow(SQLModel, table=True):
    """One promised message to one address. `id` is its key with the provider; `once` keeps a rung from promising it twice."""

    __tablename__ = "message"
    __table_args__ = (
        Index("ix_message_state_queued_next_at", "state", "queued", "next_at"),
        # The queue of each city in the order it goes out, without what was sent long ago: taking from a head costs the same however long
        # they are.
        Index(
            "ix_message_queue", "channel", "city", "rank", "sort_at", "promised_at", "obligation_id", "once",
            sqlite_where=text("queued = 1"), postgresql_where=text("queued"),
        ),
        CheckConstraint("state = 'waiting' OR NOT queued", name="ck_message_only_what_waits_is_queued"),
    )  # fmt: skip
    id: str = Field(primary_key=True, max_length=32)
    once: str = Field(unique=True, max_length=400)
    # None: it is about no single spill, as a digest or the confirmation of a subscription.
    spill_id: int | None = Field(default=None, foreign_key="spill.id", index=True)
    obligation_id: int | None = Field(default=None, foreign_key="obligation.id", index=True)
    climb: str = Field(default="", max_length=400, index=True)
    person: str = Field(max_length=200)
    role: str = Field(max_length=40)
    channel: str = Field(max_length=20)
    address: str = Field(max_length=320)
    subject: str = text_column()
    text: str = text_column()
    step: str = Field(max_length=80)
    reason: str = text_column()
    # What is sent first: 0 for a duty that can still be done in time, the nearest due first; 1 for what is overdue or has no due time;
    # then what is for subscribers: 2 for staff, 3 for the public.
    rank: int = 1
    sort_at: datetime
    # waiting, sending, accepted, refused, gave_up, cancelled
    state: str = Field(default="waiting", max_length=12)
    # Whether it may go out now. What waits for its moment is queued by the first claim after it.
    queued: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    promised_at: datetime
    next_at: datetime | None = None
    give_up_at: datetime
    lease_until: datetime | None = None
    claimed_by: str | None = Field(default=None, max_length=80)
    tries: int = 0
    language: str = Field(default="en", max_length=8, sa_column_kwargs={"server_default": "en"})
    html: str = Field(default="", sa_column=Column(Text, nullable=False, server_default=""))
    # The word that a reply names it by, unlike that of any other message still open to the same address.
    code: str = Field(default="", max_length=8, index=True, sa_column_kwargs={"server_default": ""})
    # Sent as part of another message to the same address, which this is the id of.
    carried_by: str | None = Field(default=None, max_length=32, index=True)
    # How far the provider says it came: "", sent, delivered, read, undelivered, bounced; and since when.
    receipt: str = Field(default="", max_length=12, sa_column_kwargs={"server_default": ""})
    receipt_at: datetime | None = None
    # Where it stays silent until then, the next channel is used (None: nothing is awaited).
    silent_until: datetime | None = Field(default=None, index=True)
    subscription_id: int | None = Field(default=None, foreign_key="subscription.id", index=True)
    # The account of staff that a letter is about: a link to sign in, or what was changed.
    account_id: int | None = Field(default=None, foreign_key="account.id", index=True)
    # In whose turn it goes out (service/turns.py): the city of its spill when it was promised, empty for one about no spill.
    city: str = Field(default="", max_length=40, sa_column_kwargs={"server_default": ""})


class Attempt(SQLModel, table=True):
    """One try at sending one message. Without `ended_at` it was cut off: the message may have gone out."""

    __table_args__ = (UniqueConstraint("message_id", "number"),)
    id: int | None = Field(default=None, primary_key=True)
    message_id: str = Field(foreign_key="message.id", index=True, max_length=32)
    number: int
    worker: str = Field(max_length=80)
    started_at: datetime
    ended_at: datetime | None = None
    outcome: str | None = Field(default=None, max_length=12)
    provider_id: str | None = Field(default=None, max_length=200)
    detail: str = text_column()
    may_be_double: bool = False


class Contact(SQLModel, table=True):
    """A person who fills a role in a city."""

    id: int | None = Field(default=None, primary_key=True)
    city: str = Field(max_length=40, index=True)
    role: str = Field(max_length=40)
    name: str = Field(max_length=200)
    email: str = Field(default="", max_length=320)
    phone: str = Field(default="", max_length=40)
    # Whether the number may be called with a spoken message, a webhook's address, and an Apprise address.
    voice: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    webhook: str = Field(default="", sa_column=Column(Text, nullable=False, server_default=""))
    apprise: str = Field(default="", sa_column=Column(Text, nullable=False, server_default=""))
    language: str = Field(default="en", max_length=8, sa_column_kwargs={"server_default": "en"})
    # Local times of the city between which ordinary alerts wait, 22:00 to 06:00; empty: none.
    quiet_from: str = Field(default="", max_length=5, sa_column_kwargs={"server_default": ""})
    quiet_to: str = Field(default="", max_length=5, sa_column_kwargs={"server_default": ""})


class DeliveryReceipt(SQLModel, table=True):
    """One thing a provider, a mail server or a recipient said about a message after it was handed over. Only added to."""

    __tablename__ = "delivery_receipt"
    id: int | None = Field(default=None, primary_key=True)
    message_id: str = Field(foreign_key="message.id", index=True, max_length=32)
    status: str = Field(max_length=12)
    # What it was said by: twilio, dsn, reply, page.
    source: str = Field(max_length=12)
    detail: str = text_column()
    happened_at: datetime
    received_at: datetime


class Suppression(SQLModel, table=True):
    """An address that nothing is sent to: it bounced for good, or its owner wants no more. Lifted by being marked, never deleted."""

    id: int | None = Field(default=None, primary_key=True)
    channel: str = Field(max_length=20, index=True)
    address: str = Field(max_length=320, index=True)
    # bounced, opted_out, complained
    reason: str = Field(max_length=12)
    detail: str = text_column()
    since: datetime
    message_id: str | None = Field(default=None, foreign_key="message.id", max_length=32)
    lifted_at: datetime | None = None
    lifted_by: str | None = Field(default=None, max_length=200)


class Reply(SQLModel, table=True):
    """A message that came in from somebody: what it said, what it was taken to mean, and what was answered."""

    id: int | None = Field(default=None, primary_key=True)
    # The provider's id of it: the same call twice is one reply.
    once: str = Field(unique=True, max_length=200)
    channel: str = Field(max_length=20)
    sender: str = Field(max_length=320, index=True)
    text: str = text_column()
    received_at: datetime
    # acknowledge, escalate, done, stop, start, help, confirm, unknown
    meaning: str = Field(max_length=12)
    message_id: str | None = Field(default=None, foreign_key="message.id", max_length=32)
    spill_id: int | None = Field(default=None, foreign_key="spill.id", index=True)
    answer: str = text_column()
    # Set once a person has looked at one that nobody could make sense of.
    settled_at: datetime | None = None
    settled_by: str | None = Field(default=None, max_length=200)


class PublicSpill(SQLModel, table=True):
    """What the public may see of a spill, drawn by service/public_record.py. Public lists read this and nothing of the spill itself."""

    __tablename__ = "public_spill"
    __table_args__ = (
        Index("ix_public_spill_received_at_spill_id", "received_at", "spill_id"),
        Index("ix_public_spill_city_received_at_spill_id", "city", "received_at", "spill_id"),
    )
    spill_id: int = Field(primary_key=True, foreign_key="spill.id", sa_column_kwargs={"autoincrement": False})
    reference: str = Field(unique=True, max_length=24)
    city: str = Field(max_length=40)
    material: str = Field(max_length=24)
    amount: str = Field(max_length=24)
    reached: list[str] = json_column()
    received_at: datetime
    lat: float | None = None
    lon: float | None = None
    # looked_at, cleaning, cleaned_up, closed
    state: str = Field(max_length=12)
    # none, in_force, ended; and the first of its advisories
    advisory: str = Field(max_length=12, index=True)
    advisory_id: int | None = Field(default=None, foreign_key="advisory.id")
    changed_at: datetime


class Account(SQLModel, table=True):
    """A member of staff. What they may do where stands in service/account_tables.py, AccountRole."""

    id: int | None = Field(default=None, primary_key=True)
    email: str = Field(unique=True, max_length=320)
    name: str = Field(default="", max_length=200, sa_column_kwargs={"server_default": ""})
    created_at: datetime
    # Whoever has left signs in no more; the account stays, because the record names it.
    ended_at: datetime | None = None
    # An Argon2 hash; empty where the person signs in by mailed links alone.
    password: str = Field(default="", sa_column=Column(Text, nullable=False, server_default=""))
    password_at: datetime | None = None
    # What the key of the authenticator app is derived from, since when it is asked for, and the newest time step that was used.
    totp_seed: str = Field(default="", max_length=64, sa_column_kwargs={"server_default": ""})
    totp_at: datetime | None = None
    totp_step: int = Field(default=0, sa_column_kwargs={"server_default": "0"})


class Credential(SQLModel, table=True):
    """A token of an account, kept as its SHA-256. `purpose`: api, session; once: link, invite, recover; half: a code is still asked for."""

    id: int | None = Field(default=None, primary_key=True)
    account_id: int = Field(foreign_key="account.id", index=True)
    digest: str = Field(unique=True, max_length=64)
    purpose: str = Field(max_length=12)
    created_at: datetime
    expires_at: datetime | None = None
    # When it was used up, revoked or signed out; it is worth nothing from then on.
    used_at: datetime | None = None
    # How its owner tells it from others: the beginning of a key and its name, the browser of a session and the address it was opened from.
    hint: str = Field(default="", max_length=24, sa_column_kwargs={"server_default": ""})
    name: str = Field(default="", max_length=200, sa_column_kwargs={"server_default": ""})
    network: str = Field(default="", max_length=64, sa_column_kwargs={"server_default": ""})
    seen_at: datetime | None = None
    # What a key may do, and in which one city; None is all that its account may.
    scopes: list[str] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True), nullable=True))
    city: str | None = Field(default=None, max_length=40)


class IdempotencyKey(SQLModel, table=True):
    """An answer kept so that the same request, sent again, gives it again."""

    key: str = Field(primary_key=True, max_length=64)
    request_digest: str = Field(max_length=64)
    spill_id: int = Field(foreign_key="spill.id")
    created_at: datetime


class FollowUp(SQLModel, table=True):
    """A version of a written report for one duty: `draft`, then `filed`."""

    __table_args__ = (UniqueConstraint("obligation_id", "version"),)
    id: int | None = Field(default=None, primary_key=True)
    obligation_id: int = Field(foreign_key="obligation.id", index=True)
    version: int
    state: str = Field(max_length=12)
    content: dict[str, Any] = json_column()
    # Who answers for it, by name and title; who saved it last stands in `saved_by`, as the record names them.
    by: str = Field(default="", max_length=200)
    title: str = Field(default="", max_length=200, sa_column_kwargs={"server_default": ""})
    saved_by: str = Field(default="", max_length=200, sa_column_kwargs={"server_default": ""})
    # Counts the saves of a draft: whoever sends an earlier number has not seen the latest.
    revision: int = Field(default=1, sa_column_kwargs={"server_default": "1"})
    saved_at: datetime
    filed_at: datetime | None = None
    # The words it was certified under; None where nobody has certified it.
    certified_at: datetime | None = None
    certification: str = Field(default="", sa_column=Column(Text, nullable=False, server_default=""))
    amends: int | None = None
    # Why it amends that version, as whoever filed it says; often empty.
    reason: str = Field(default="", sa_column=Column(Text, nullable=False, server_default=""))
    # Who wrote the text of each item, and what each person wrote of themselves, {by, title, email}: both by how the record names people.
    writers: dict[str, str] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False, server_default="{}"))
    signers: dict[str, dict[str, str]] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False, server_default="{}"))


class DischargerLink(SQLModel, table=True):
    """A private link to the discharger's page of one spill, issued to a named person. A higher version closes the link before."""

    __tablename__ = "discharger_link"
    id: int | None = Field(default=None, primary_key=True)
    spill_id: int = Field(foreign_key="spill.id", index=True)
    version: int = 1
    name: str = Field(max_length=200)
    email: str = Field(default="", max_length=320)
    phone: str = Field(default="", max_length=40)
    language: str = Field(default="en", max_length=8)
    issued_by: str = Field(max_length=200)
    issued_at: datetime
    sent_at: datetime | None = None
    ended_at: datetime | None = None


class KeptFile(SQLModel, table=True):
    """A file that somebody sent: what it is and whom it belongs to. Its content lies in the data folder under its SHA-256."""

    __tablename__ = "kept_file"
    id: int | None = Field(default=None, primary_key=True)
    spill_id: int = Field(foreign_key="spill.id", index=True)
    # The written report that it was sent with, where it was.
    obligation_id: int | None = Field(default=None, foreign_key="obligation.id", index=True)
    version: int | None = None
    # photo, attachment
    purpose: str = Field(max_length=12)
    name: str = Field(max_length=200)
    digest: str = Field(max_length=64, index=True)
    media_type: str = Field(max_length=40)
    size: int
    width: int | None = None
    height: int | None = None
    # Whether a copy without camera notes was drawn of it; `flags` says what is odd: damaged, unreadable, no_reader.
    is_shown: bool = False
    flags: list[str] = json_column()
    # What the camera noted. For staff alone, whatever its sender allowed.
    lat: float | None = None
    lon: float | None = None
    camera_time: str = Field(default="", max_length=40)
    shares_location: bool = False
    sent_by: str = Field(default="", max_length=200)
    kept_at: datetime


class Passage(SQLModel, table=True):
    """How often one sender passed a gate in one stretch of time. The key is a hash of all three; swept when the stretch is over."""

    key: str = Field(primary_key=True, max_length=64)
    n: int
    ends_at: datetime = Field(index=True)


class Heartbeat(SQLModel, table=True):
    """When each worker last finished a round, by the database's time where it stopped because its clock was off by so much."""

    worker: str = Field(primary_key=True, max_length=80)
    at: datetime
    next_wake_at: datetime | None = None
    # Positive where its clock was fast. None: it was right.
    clock_off_seconds: float | None = None


class Meta(SQLModel, table=True):
    """Marks that this database keeps about itself, such as that the example city was filled in."""

    key: str = Field(primary_key=True, max_length=40)
    value: str = text_column()
