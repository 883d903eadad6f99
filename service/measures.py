"""What one process has measured since it started: how late messages went out, how long requests took. Few labels, none of them personal."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

LATENESS_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 3600.0)
REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_Labels = tuple[tuple[str, str], ...]


class Stopwatch:
    """Runs from the moment it is made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    def seconds(self) -> float:
        """How long it has run."""
        return time.perf_counter() - self._began


@dataclass
class Histogram:
    """How often a measure was at most each of some bounds (seconds), by labels; `sums` is what all of them come to."""

    bounds: tuple[float, ...]
    counts: dict[_Labels, list[int]] = field(default_factory=dict)
    sums: dict[_Labels, float] = field(default_factory=dict)

    def observe(self, seconds: float, **labels: str) -> None:
        """Take one measure in."""
        key = tuple(labels.items())
        counts = self.counts.setdefault(key, [0] * (len(self.bounds) + 1))
        place = next((place for place, bound in enumerate(self.bounds) if seconds <= bound), len(self.bounds))
        counts[place] += 1
        self.sums[key] = self.sums.get(key, 0.0) + seconds

    def cumulative(self) -> Iterator[tuple[_Labels, list[tuple[str, int]], float]]:
        """By labels: how many were at most each bound, as Prometheus writes it (`+Inf` is all), and their sum in seconds."""
        for key, counts in sorted(self.counts.items()):
            running, reached = 0, []
            for bound, count in zip((*map(_bound, self.bounds), "+Inf"), counts, strict=True):
                running += count
                reached.append((bound, running))
            yield key, reached, self.sums[key]


def _bound(seconds: float) -> str:
    return f"{seconds:g}"


@dataclass
class Measures:
    """The measures of a process. `lateness`: of first tries, by channel and whom they are for; `requests`: until an answer begins."""

    lateness: Histogram = field(default_factory=lambda: Histogram(LATENESS_SECONDS))
    requests: Histogram = field(default_factory=lambda: Histogram(REQUEST_SECONDS))
    answers: Counter[tuple[str, str, str]] = field(default_factory=Counter)
