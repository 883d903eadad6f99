"""What is read of a request's body: a megabyte, or a form with files, which go to the disk as they come and are closed after the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from fastapi import Request
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartParser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.errors import BadInput, SpillclockError
from service.transaction import House

MAX_BODY_BYTES = 1_000_000
# A mail with all its photos, as large as mail servers take them; its words and what servers report stand at its beginning.
MAX_MAIL_BYTES = 50_000_000
READ_OF_MAIL_BYTES = 1_000_000
_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
_MAIL_FIELDS = ("email", "body-mime", "message")
_ALLOWANCE = "spillclock.body"
# More files than anybody may send at once: the rest is then refused one by one, and what was written is not lost.
_MOST_FILES = 200
# The texts beside files are held in memory: so many, of so many bytes.
_MOST_TEXTS = 200
_LONGEST_TEXT = 256 * 1024
# Files go to the disk from this size on. Starlette's own megabyte is a lot where there are two hundred of them.
MultiPartParser.spool_max_size = 64 * 1024


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as somebody sent it: the name they gave it, which is never a path, and its content, on the disk where it is large."""

    name: str
    file: BinaryIO


class TooLarge(SpillclockError):
    """The body of a request is over the limit."""

    status = 413
    title = "Too large"


class CannotKeep(SpillclockError):
    """The disk takes no files just now; nothing was stored."""

    status = 503
    title = "Try again"

    def __init__(self, error: OSError) -> None:
        super().__init__(f"files cannot be stored just now ({error.strerror}); nothing was stored; try again in a few minutes")


class _Allowance:
    """What may still be read of one body, and the form that was read from it."""

    def __init__(self) -> None:
        self.most = MAX_BODY_BYTES
        self.request: Request | None = None


class BodyLimit:
    """Stops reading a body that is over the limit. Starlette's own limiter answers in plain text, whatever the caller can read."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application over a body that is counted as it is read."""
        taken, allowance = 0, _Allowance()
        scope[_ALLOWANCE] = allowance

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > allowance.most:
                right = "a shorter report" if allowance.request is None else "fewer files at once, or smaller ones"
                raise TooLarge(f"the body is over {allowance.most:,} bytes; right would be: {right}")
            return message

        try:
            await self.app(scope, counted, send)
        finally:
            if allowance.request is not None:
                await allowance.request.close()


async def read_form(request: Request) -> tuple[dict[str, list[str]], dict[str, list[Upload]]]:
    """The texts and the files of a form, by field. The files are closed once the request is answered.

    Raises BadInput for a form that cannot be read or has far too many parts, TooLarge for one that is too large as a whole, CannotKeep
    where the disk takes no more.
    """
    bounds = {"max_fields": _MOST_TEXTS, "max_part_size": _LONGEST_TEXT} if _allow_files(request) else {}
    try:
        form = await request.form(max_files=_MOST_FILES, **bounds)
    except HTTPException as error:
        right = f"a form as browsers send it, with at most {_MOST_FILES} files and {_LONGEST_TEXT // 1024} kB in a field of text"
        raise BadInput("this form cannot be read", [f"form: {error.detail} Right would be: {right}"]) from None
    except OSError as error:
        raise CannotKeep(error) from error
    texts: dict[str, list[str]] = {}
    files: dict[str, list[Upload]] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            texts.setdefault(name, []).append(value)
        elif isinstance(value, UploadFile) and (value.filename or value.size):  # a field with no file chosen sends neither
            files.setdefault(name, []).append(Upload(value.filename or "", value.file))
    return texts, files


async def read_mail(request: Request, most: int = READ_OF_MAIL_BYTES) -> tuple[bytes, str]:
    """The beginning of a mail as it came, or as a field of a form, and whom the form says that it was delivered to; empty for nobody.

    Raises TooLarge for one over 50 MB, BadInput for a form that cannot be read.
    """
    allowance: _Allowance | None = request.scope.get(_ALLOWANCE)
    if allowance is not None:
        allowance.most = MAX_MAIL_BYTES
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() not in _FORMS:
        kept = bytearray()
        async for chunk in request.stream():
            kept += chunk[: most - len(kept)]
        return bytes(kept), ""
    if allowance is not None:
        allowance.request = request
    try:
        fields = await request.form(max_part_size=MAX_MAIL_BYTES)
    except HTTPException as error:
        raise BadInput("this form cannot be read", [f"form: {error.detail}; right would be: the mail as the field email"]) from None
    found = next((fields[name] for name in _MAIL_FIELDS if fields.get(name)), "")
    raw = found[:most].encode("utf-8", "surrogateescape") if isinstance(found, str) else await found.read(most)
    return raw, str(fields.get("recipient") or "")


def _allow_files(request: Request) -> bool:
    """Let a form with files (multipart) be as large as the settings say. Returns whether the request holds one."""
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        return False
    allowance: _Allowance | None = request.scope.get(_ALLOWANCE)
    if allowance is not None:
        house: House = request.app.state.house
        allowance.most = house.settings.largest_form_bytes
        allowance.request = request
    return True
