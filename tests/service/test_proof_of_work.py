"""A proof of work is ours, solved, in time and used once; whatever else is sent is no proof and no error."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import altcha
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.proof_of_work import is_proved, new_challenge
from tests.houses import Clock, Household, a_house


def solve(challenge: dict[str, Any]) -> str:
    """What a browser sends back."""
    asked = altcha.Challenge.from_dict(challenge)
    solution = altcha.solve_challenge(asked)
    assert solution is not None
    return altcha.Payload(asked, solution).to_base64()


def changed(payload: str, *path: str, to: Any) -> str:
    """A payload with one value in it changed."""
    given = json.loads(base64.b64decode(payload))
    part = given
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = to
    return base64.b64encode(json.dumps(given).encode()).decode()


async def test_a_solved_challenge_is_a_proof_once(small: Household) -> None:
    payload = solve(new_challenge(small.house))
    assert await is_proved(small.house, payload)
    assert not await is_proved(small.house, payload)


async def test_one_proof_sent_ten_times_at_once_counts_once(small: Household) -> None:
    payload = solve(new_challenge(small.house))
    assert sorted(await asyncio.gather(*(is_proved(small.house, payload) for _ in range(10)))) == [False] * 9 + [True]


async def test_a_challenge_holds_for_two_hours_of_the_house_s_clock(small: Household) -> None:
    first, second = solve(new_challenge(small.house)), solve(new_challenge(small.house))
    small.clock.jump(minutes=119)
    assert await is_proved(small.house, first)
    small.clock.jump(minutes=1)
    assert not await is_proved(small.house, second)


async def test_a_challenge_takes_between_150_and_300_tries(small: Household) -> None:
    for _ in range(5):
        solution = altcha.solve_challenge(altcha.Challenge.from_dict(new_challenge(small.house)))
        assert solution is not None
        assert 150 <= solution.counter < 300


async def test_nothing_in_a_proof_can_be_changed(small: Household) -> None:
    payload = solve(new_challenge(small.house))
    later = {"until": 10**11}
    for forged in (
        changed(payload, "solution", "counter", to=1),
        changed(payload, "solution", "derivedKey", to="00"),
        changed(payload, "challenge", "parameters", "keyPrefix", to="0"),
        changed(payload, "challenge", "parameters", "cost", to=1),
        changed(payload, "challenge", "parameters", "data", to=later),
        changed(payload, "challenge", "signature", to="0" * 64),
        changed(payload, "challenge", "signature", to=json.loads(base64.b64decode(payload))["challenge"]["signature"].upper()),
    ):
        assert not await is_proved(small.house, forged)
    assert await is_proved(small.house, payload)


async def test_a_challenge_of_another_house_is_no_proof_here(small: Household, tmp_path: Path) -> None:
    other = a_house(tmp_path, Clock(), secret_key="that of another house, long enough", database_url="")
    assert not await is_proved(small.house, solve(new_challenge(other)))
    await other.engine.dispose()


HOSTILE = [
    "", "x", "=" * 100, "A" * 5000, "\x00", "🙂", "bnVsbA==", "W10=", "e30=",
    base64.b64encode(b'{"challenge": [], "solution": []}').decode(),
    base64.b64encode(b'{"challenge": {"parameters": {}, "signature": 1}, "solution": {}}').decode(),
    base64.b64encode(b"[" * 3000).decode(),
    base64.b64encode(
        b'{"challenge":{"parameters":{"algorithm":"SCRYPT","nonce":"zz","salt":"","cost":1e308,"keyPrefix":null},"signature":"00"},'
        b'"solution":{"counter":-1,"derivedKey":null}}'
    ).decode(),
]  # fmt: skip


@pytest.mark.parametrize("payload", HOSTILE, ids=range(len(HOSTILE)))
async def test_a_hostile_proof_is_no_proof_and_no_error(small: Household, payload: str) -> None:
    assert await is_proved(small.house, payload) is False


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3), max_leaves=6
)
SHAPES = st.fixed_dictionaries(
    {
        "challenge": st.fixed_dictionaries(
            {
                "parameters": st.fixed_dictionaries(
                    {key: JSON for key in ("algorithm", "nonce", "salt", "cost", "keyPrefix", "expiresAt", "data")}
                ),
                "signature": JSON,
            }
        ),
        "solution": st.fixed_dictionaries({"counter": JSON, "derivedKey": JSON}),
    }
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shape=SHAPES)
def test_no_shape_of_a_made_up_proof_breaks_anything(shape: Any, tmp_path: Path) -> None:
    house = a_house(tmp_path, Clock(), database_url="")
    payload = base64.b64encode(json.dumps(shape).encode()).decode()
    assert asyncio.run(is_proved(house, payload)) is False
