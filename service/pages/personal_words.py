"""What in words for the public looks as if it told of a person: shown to whoever writes them, before anybody else reads them."""

from __future__ import annotations

from collections.abc import Iterable

from service.grouping import members_of
from service.masking import suggested
from service.parties import contacts
from service.tables import Spill
from service.transaction import Transaction


async def personal_in(tx: Transaction, spill: Spill, texts: Iterable[str]) -> list[str]:
    """Telephone numbers, e-mail addresses, and names of people on record: reporters, the discharger, contacts of the city; each once."""
    reporters = [one.reporter for one in (spill, *await members_of(tx, spill))]
    staff = [{"name": one.name, "email": one.email, "phone": one.phone} for one in await contacts(tx) if one.city == spill.city]
    return suggested(list(texts), reporters, [spill.discharger, *staff])
