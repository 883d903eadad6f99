"""Which city an address names, by the names in the titles of the packs, and never a namesake in another state."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from deadlines.rules import Pack

_TITLE = re.compile(r"(?:(?:City and County|City|Town|Village|Borough|Township) of )?(?P<name>.+), (?P<state>[^,]+)")
_ZIP = r"\d{5}(?:-\d{4})?(?![\w-])"
_COUNTRY = r"(?:USA|U\.S\.A\.|US|U\.S\.|United States(?: of America)?)(?!\w)"
# Namesakes lie there too: Ontario, Canada.
_ABROAD = ("Canada", "Mexico", "México")
_FOREIGN = "abroad"
_UNKNOWN_ZIP = "a ZIP code of no state known here"


@dataclass(frozen=True, slots=True)
class State:
    """A state: its postal code, its name, other short forms of it, and the first three digits of its ZIP codes, as (first, last)."""

    code: str
    name: str
    also: tuple[str, ...] = ()
    zips: tuple[tuple[int, int], ...] = ()


def read_states(rows: Iterable[Mapping[str, str]]) -> tuple[State, ...]:
    """The states of rows with the columns code, name, also, zip_prefixes. Raises KeyError or ValueError for what is no such row."""
    found = []
    for row in rows:
        spans = [part.partition("-") for part in row["zip_prefixes"].split()]
        zips = tuple((int(first), int(last or first)) for first, _, last in spans)
        found.append(State(row["code"], row["name"], tuple(row["also"].split()), zips))
    return tuple(found)


def name_of(pack: Pack, states: Iterable[State]) -> str:
    """The bare name of a city: Glendale for "City of Glendale, Arizona"; where the title has another form, the words of the pack's id."""
    found = _TITLE.fullmatch(pack.title)
    if found and any(state.code == pack.state and state.name == found["state"] for state in states):
        return found["name"]
    return pack.id.removesuffix(f"-{(pack.state or '').lower()}").replace("-", " ")


class Gazetteer:
    """The names of cities, and the states by which namesakes are told apart."""

    def __init__(self, packs: Collection[Pack], states: Collection[State]) -> None:
        self._cities = {pack.id: (_words(name_of(pack, states)), pack.state) for pack in packs}
        self._codes = {form.lower(): state.code for state in states for form in (state.code, state.name, *state.also)}
        self._codes |= {name.lower(): _FOREIGN for name in _ABROAD}
        self._zips = [(span, state.code) for state in states for span in state.zips]
        forms = "|".join(sorted((form.replace(" ", r"\s+") for form in self._codes), key=len, reverse=True))
        place = rf"(?:(?P<state>{forms})(?!\w)\.?)?\s*(?P<zip>{_ZIP})?"
        self._whole = re.compile(rf"\s*{place}\s*(?:{_COUNTRY})?\s*", re.IGNORECASE)
        self._start = re.compile(rf"\s*{place}", re.IGNORECASE)

    def city_in(self, address: str, among: Collection[str]) -> str | None:
        """The one city of `among` that an address names where a city stands in an address: at its end, before a comma, state or ZIP code.

        So Chino in "5th St, Chino CA 91710", but neither in "Chino Ave" nor in "Chino Hills", and Ontario not in "Ontario, OR 97914".
        Without a state two namesakes are nobody.
        """
        text = re.sub(r"\b([A-Za-z])\.\s?([A-Za-z])\.", r"\1\2", address)  # N.Y. is NY
        found = {city for city in among if city in self._cities and self._names(text, *self._cities[city])}
        return found.pop() if len(found) == 1 else None

    def _names(self, address: str, words: re.Pattern[str], state: str | None) -> bool:
        told = (self._states_after(address[match.end() :]) for match in words.finditer(address))
        return any(states is not None and states <= {state} for states in told)

    def _states_after(self, rest: str) -> set[str] | None:
        """The states that the words after a city's name put it in, none where they are silent; None where no city's name ends there."""
        first, *others = re.split(r"[,;:()\n]|\.(?!\w)", rest)
        whole = self._whole.fullmatch(first)
        found = whole or self._start.match(first)
        if found is None or (whole is None and not self._is_plain(found)):
            return None
        parts = [found, *(match for part in others if (match := self._whole.fullmatch(part)))]
        return {code for part in parts for code in self._told(part)}

    def _is_plain(self, found: re.Match[str]) -> bool:
        """Whether a state that more words follow is meant as one: Chino CA by the river, but not Chino in the morning."""
        state = found["state"]
        return bool(found["zip"] or (state and (state.isupper() or len(state) > 2)))

    def _told(self, part: re.Match[str]) -> Iterable[str]:
        if part["state"]:
            yield self._codes[" ".join(part["state"].lower().split())]
        if part["zip"]:
            prefix = int(part["zip"][:3])
            yield next((code for (first, last), code in self._zips if first <= prefix <= last), _UNKNOWN_ZIP)


def _words(name: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, name.split()))
    return re.compile(rf"(?<![\w-]){words}(?![\w-])", re.IGNORECASE)
