"""Invented fact objects, right by construction: every key of the contract, every event, times in every form that is accepted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from deadlines.facts import (
    CHOICES,
    EVENT_KEYS,
    EVENT_KEYS_REQUIRED,
    FACT_KEYS,
    FLAGS,
    KINDS,
    KINDS_WITHOUT_KNOWN_AT,
    MOMENTS,
    PLACES_REACHED,
)
from deadlines.quantities import GALLONS, POUNDS
from tests.deadlines.case_files import rulebook

CITIES = tuple(rulebook().cities)
RECIPIENTS = (
    "chino-public-works", "rwqcb-santa-ana", "ontario-engineering", "chico-public-works", "soledad-city", "soledad-city-manager",
    "cal-oes", "ciwqs", "national-response-center", "discharger",
)  # fmt: skip
SUBSTANCES: tuple[Mapping[str, Any], ...] = (
    {"name": "chlorine"}, {"cas": "7664-93-9"}, {"name": "gasoline"}, {"name": "used motor oil"},
    {"name": "bleach 12.5% NaOCl (industrial)"}, {"name": "nobody's secret sauce"},
    {"name": "Benzene", "cas": "71-43-2"}, {"name": "sulfuric acid", "density_lb_per_gal": 15.3},
)  # fmt: skip

_YEARS, _ANY_YEARS = ((2024, 2029), (1971, 2198))
_OFFSETS = (timezone(timedelta(hours=-8)), timezone(timedelta(hours=-7)), UTC, timezone(timedelta(hours=5, minutes=45)), None)


def _written(number: int) -> str:
    """A moment from one number: most lie in the years that calendars cover, and each form of writing comes in turn."""
    form, rest = divmod(number * 2_654_435_761, len(_OFFSETS) * 10)[::-1]
    first, last = (int(datetime(year, 2, 1, tzinfo=UTC).timestamp()) for year in (_ANY_YEARS if form % 10 == 9 else _YEARS))
    moment = datetime.fromtimestamp(first + rest % (last - first), UTC)
    offset = _OFFSETS[form // 10]
    return (moment.replace(tzinfo=None) if offset is None else moment.astimezone(offset)).isoformat().replace("+00:00", "Z")


# One draw each: 2,000 fact objects in a run are to cost seconds.
MOMENT = st.integers(0, 2**32).map(_written)
AMOUNT = st.one_of(
    st.sampled_from((0, 49.99, 50, 999.99, 1000, 1000.01, 1001, 49999, 50000)),
    st.integers(0, 200_000),
    st.floats(0, 2e4).map(lambda one: round(one, 3)),
)
VOLUME = st.one_of(
    st.fixed_dictionaries({"quantity": AMOUNT, "unit": st.sampled_from(tuple(GALLONS))}),
    st.tuples(AMOUNT, AMOUNT, st.sampled_from(tuple(GALLONS))).map(
        lambda parts: {"low": min(parts[:2]), "high": max(parts[:2]), "unit": parts[2]}
    ),
)
SUBSTANCE = st.tuples(
    st.sampled_from(SUBSTANCES),
    st.one_of(st.just({}), st.fixed_dictionaries({"quantity": AMOUNT, "unit": st.sampled_from((*POUNDS, *GALLONS))})),
    st.one_of(st.just({}), st.just({"fraction": 0.5})),
).map(lambda parts: {**parts[0], **parts[1], **parts[2]})

_WORDS: Mapping[object, st.SearchStrategy[Any]] = {
    str: st.sampled_from(RECIPIENTS), bool: st.booleans(), datetime: MOMENT,
    list: st.lists(st.sampled_from(("cause", "volume", "prevention")), max_size=3, unique=True),
}  # fmt: skip


WORDS_OF_EVENTS: Mapping[str, Mapping[str, st.SearchStrategy[Any]]] = {
    kind: {key: st.sampled_from(form) if isinstance(form, tuple) else _WORDS[form] for key, form in keys.items()}
    for kind, keys in EVENT_KEYS.items()
}


def _event(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    needed, words = EVENT_KEYS_REQUIRED.get(kind, ()), WORDS_OF_EVENTS[kind]
    return st.fixed_dictionaries(
        {"type": st.just(kind), "at": MOMENT, **{key: words[key] for key in needed}},
        optional={key: word for key, word in words.items() if key not in needed},
    )


EVENT = st.sampled_from(tuple(EVENT_KEYS)).flatmap(_event)
VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    **{key: MOMENT for key in MOMENTS},
    **{key: st.booleans() for key in FLAGS},
    **{key: st.sampled_from(words) for key, words in CHOICES.items()},
    "jurisdiction": st.sampled_from(CITIES),
    "volume": VOLUME,
    "substances": st.lists(SUBSTANCE, min_size=1, max_size=3),
    "reached": st.lists(st.sampled_from(PLACES_REACHED), min_size=1, max_size=3, unique=True),
    "events": st.lists(EVENT, max_size=4),
}
assert set(VALUES) == set(FACT_KEYS)


OPTIONAL = tuple(key for key in VALUES if key not in ("jurisdiction", "kind"))


@st.composite
def facts(draw: st.DrawFn) -> dict[str, Any]:
    """A fact object as JSON would give it; each key is there in about half of them, and `known_at` wherever its kind asks for it."""
    kind = draw(st.sampled_from((*["spill"] * len(KINDS), *KINDS)))
    chosen = draw(st.integers(0, 2 ** len(OPTIONAL) - 1))
    keys = {key for place, key in enumerate(OPTIONAL) if chosen >> place & 1}
    if kind not in KINDS_WITHOUT_KNOWN_AT:
        keys.add("known_at")
    return {"jurisdiction": draw(VALUES["jurisdiction"]), "kind": kind, **{key: draw(VALUES[key]) for key in sorted(keys)}}
