"""What a refusal says of an address: that it is dead, or that its owner wants no more. Then it gets no more."""

from __future__ import annotations

import re

from service.suppressions import suppress
from service.tables import MessageRow
from service.transaction import Transaction

# Twilio's error codes that say something of the number itself: its owner wrote STOP; it is no mobile, does not exist, or takes no texts.
_OPTED_OUT = "21610"
_NO_SUCH_NUMBER = ("30005", "30006", "21211", "21614")
_TWILIO_ERROR = re.compile(r"Twilio error (\d{5})\b")
# Enhanced status codes (RFC 3463) that say for good that the address takes no mail. A full mailbox, a message that is too large, its
# content and a server's policy say nothing of the address: another message may pass.
_DEAD_MAILBOX = re.compile(r"\b5\.(?:0\.0|1\.\d{1,3}|2\.[01]|4\.\d{1,3})\b")


async def suppress_for(tx: Transaction, message: MessageRow, reason: str) -> None:
    """Send no more to the address of a message that was refused, where the reason says that there is no sense in it."""
    if message.channel == "email":
        if re.match(r"55\d\b", reason):
            await suppress_bounced(tx, message, reason)
    elif found := _TWILIO_ERROR.search(reason):
        await suppress_by_code(tx, message, found[1])


async def suppress_by_code(tx: Transaction, message: MessageRow, code: str) -> None:
    """Send no more texts to a number where an error code of Twilio says that there is no sense in it."""
    if message.channel == "sms" and code in (_OPTED_OUT, *_NO_SUCH_NUMBER):
        reason = "opted_out" if code == _OPTED_OUT else "bounced"
        await suppress(tx, "sms", message.address, reason, f"Twilio error {code}", message)


async def suppress_bounced(tx: Transaction, message: MessageRow, answer: str) -> bool:
    """Send no more mail to an address where the answer says that it takes none for good. Returns whether it says so."""
    if _DEAD_MAILBOX.search(answer) is None:
        return False
    await suppress(tx, "email", message.address, "bounced", answer, message)
    return True
