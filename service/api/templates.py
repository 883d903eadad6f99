"""A city's own texts of messages: what counts now, keeping a new version, and going back to ours."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict

from service.access import Staff
from service.api.callers import house_of, read_body, signed_in
from service.city_texts import Slot, own_texts, previews, save_text, texts_of, withdraw_text, zone_and_name
from service.transaction import Transaction, reading, transaction
from service.wording.kinds import KINDS, needed

router = APIRouter(prefix="/cities/{city}/templates", tags=["cities"])

City = Annotated[str, Path(max_length=60, description="the id of a city, such as chino")]
KindName = Annotated[str, Path(max_length=20, description=f"one of {', '.join(KINDS)}")]
ChannelName = Annotated[str, Path(max_length=20, description="email or sms")]
Language = Annotated[str, Path(max_length=8, description="en or es")]


class TextIn(BaseModel):
    """A text to keep. Names in braces are filled in; a text message has no subject."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {
        "subject": "", "text": "{city}: {reference}, {title}, due {due}. {happened} {link}",
    }})  # fmt: skip
    subject: str = ""
    text: str


class Version(BaseModel):
    """One version that the city kept. The newest that is not withdrawn counts."""

    version: int
    subject: str
    text: str
    saved_by: str
    saved_at: dt.datetime
    withdrawn_at: dt.datetime | None


class VariableOut(BaseModel):
    """A name that the text may use; `must`: it has to."""

    name: str
    about: str
    must: bool


class PreviewOut(BaseModel):
    """The text that counts, filled with an example. `encoding` and `segments` are of a text message."""

    subject: str
    text: str
    encoding: str | None
    segments: int | None
    cut: bool


class TextOut(BaseModel):
    """The text of a kind of message that counts now: the city's own where `version` is not null, else ours."""

    city: str
    kind: str
    channel: str
    language: str
    version: int | None
    subject: str
    text: str
    variables: list[VariableOut]
    previews: list[PreviewOut]
    versions: list[Version]


_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": TextIn.model_json_schema()}}},
}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: {"description": "no staff token"},
    403: {"description": "not a manager of this city"},
    404: {"description": "no such city, kind, channel or language, or no text of its own to withdraw"},
    422: {"description": "the text cannot be kept; `errors` says for each field what would be right"},
}


@router.get("/{kind}/{channel}/{language}", responses={code: _PROBLEMS[code] for code in (401, 403, 404)})
async def text_of(request: Request, city: City, kind: KindName, channel: ChannelName, language: Language) -> TextOut:
    """The text that counts for a kind of message, its variables, a preview and every version. For staff of the city."""
    await _staff(request, city, "viewer")
    async with reading(house_of(request)) as tx:
        return await _out(tx, city, Slot(kind, channel, language))


@router.put("/{kind}/{channel}/{language}", openapi_extra=_BODY, responses=_PROBLEMS)
async def keep_text(request: Request, city: City, kind: KindName, channel: ChannelName, language: Language) -> TextOut:
    """Keep a new version, which counts from now on. It is checked first. For managers of the city."""
    staff = await _staff(request, city, "manager")
    slot = Slot(kind, channel, language)
    given = await read_body(request, TextIn)
    async with transaction(house_of(request), staff.email) as tx:
        await save_text(tx, city, slot, given.subject, given.text, staff.email)
        return await _out(tx, city, slot)


@router.delete("/{kind}/{channel}/{language}", responses=_PROBLEMS)
async def go_back_to_ours(request: Request, city: City, kind: KindName, channel: ChannelName, language: Language) -> TextOut:
    """Withdraw the city's own text, so that ours counts again; its versions stay on record. For managers of the city."""
    staff = await _staff(request, city, "manager")
    slot = Slot(kind, channel, language)
    async with transaction(house_of(request), staff.email) as tx:
        await withdraw_text(tx, city, slot)
        return await _out(tx, city, slot)


async def _staff(request: Request, city: str, role: str) -> Staff:
    """The caller, who has a role in this city; found out before their body is read. Raises NotKnown, NotAllowed."""
    staff = await signed_in(request)
    zone_and_name(house_of(request), city)
    staff.require(role, city)
    return staff


async def _out(tx: Transaction, city: str, slot: Slot) -> TextOut:
    own = (await own_texts(tx, city)).get((slot.kind, slot.channel, slot.language))
    counts = own or slot.ours
    kept = [row for row in await texts_of(tx, city) if (row.kind, row.channel, row.language) == (slot.kind, slot.channel, slot.language)]
    shown = previews(tx.house, city, slot, counts.subject, counts.text, tx.now)
    musts = needed(slot.kind, slot.channel)
    return TextOut(
        city=city, kind=slot.kind, channel=slot.channel, language=slot.language, version=own.version if own else None,
        subject=counts.subject, text=counts.text,
        variables=[VariableOut(name=name, about=one.about, must=name in musts) for name, one in KINDS[slot.kind].variables.items()],
        previews=[
            PreviewOut(subject=one.subject, text=one.text, encoding=one.encoding or None, segments=one.segments or None, cut=one.cut)
            for one in shown
        ],
        versions=[
            Version(
                version=row.version, subject=row.subject, text=row.text, saved_by=row.saved_by, saved_at=row.saved_at,
                withdrawn_at=row.withdrawn_at,
            )
            for row in kept
        ],
    )  # fmt: skip
