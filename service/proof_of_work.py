"""A proof that a browser took some trouble: a challenge of ours (ALTCHA, version 2), solved by a script of ours, good for one report.

Self-hosted, nothing is asked of another site. It takes a desk computer about a second and a telephone some seconds, in the background.
"""

from __future__ import annotations

import base64
import json
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

import altcha

from service import turnstile
from service.transaction import House

_ALGORITHM = "PBKDF2/SHA-256"
# So many rounds a try, and between so many tries: the solver tries numbers one by one until it comes to the one we chose.
_COST = 5_000
_FEWEST_TRIES, _MOST_TRIES = 150, 300
_LASTS = timedelta(hours=2)  # a form may be filled in slowly
_LONGEST = 4_000
_UNTIL = "until"


def new_challenge(house: House) -> dict[str, Any]:
    """A challenge as the script takes it. It is signed and holds nothing about anybody."""
    # The end stands in our own field: the library's would be held against the machine's clock, not that of the house.
    until = int((house.now() + _LASTS).timestamp())
    tries = _FEWEST_TRIES + secrets.randbelow(_MOST_TRIES - _FEWEST_TRIES)
    made: dict[str, Any] = altcha.create_challenge(
        _ALGORITHM, _COST, counter=tries, data={_UNTIL: until}, hmac_secret=_secret(house)
    ).to_dict()
    return made


async def is_proved(house: House, payload: str) -> bool:
    """Whether a payload solves a challenge of ours that is not out of date and was not used before. It is used up by this."""
    if not payload or len(payload) > _LONGEST or not payload.isascii():
        return False
    if not altcha.verify_solution(payload, _secret(house)).verified:
        return False
    challenge = json.loads(base64.b64decode(payload))["challenge"]  # as signed by us, so its shape is ours
    until = datetime.fromtimestamp(challenge["parameters"]["data"][_UNTIL], UTC)
    return house.now() < until and await turnstile.is_first_use(house, "proof", challenge["signature"].lower(), until)


def _secret(house: House) -> bytes:
    return b"proof of work|" + house.signing_key
