"""How long one evaluation takes, all overlays included: `.venv/bin/python -m tests.benchmarks.bench_assess`.

Prints microseconds for each fact object, with and without the counting text, over all cases and for the heaviest of them. A measure to
compare a change by on one machine; no test, because a busy machine would fail it for nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

from deadlines import Clock, Facts, assess
from tests.deadlines.case_files import all_cases, read, rulebook

ROUNDS = 20


def microseconds(work: Callable[[], object], times: int) -> float:
    """The median of several rounds, for one of `times` pieces of work."""
    rounds = []
    for _ in range(ROUNDS):
        start = perf_counter()
        work()
        rounds.append((perf_counter() - start) / times * 1e6)
    return median(rounds)


def main() -> None:
    """Measure and print."""
    book = rulebook()
    matters = [(read(case.facts), case.now) for case in all_cases()]
    clocks: list[Clock] = [clock for facts, now in matters for clock in assess(facts, book, now).clocks]
    heaviest: tuple[Facts, object] = max(matters, key=lambda one: len(assess(one[0], book, one[1]).clocks))

    def evaluate(matters: list[tuple[Facts, object]], *, told: bool) -> Callable[[], object]:
        def work() -> None:
            for facts, now in matters:
                for clock in assess(facts, book, now).clocks:  # type: ignore[arg-type]
                    if told:
                        clock.as_json()

        return work

    lines = [f"{len(matters)} fact objects, {len(clocks)} clocks, {sum(len(pack.rules) for pack in book.packs.values())} rules"]
    for name, chosen in (("an average matter", matters), ("the heaviest matter", [heaviest])):
        for told in (False, True):
            spent = microseconds(evaluate(list(chosen), told=told), len(chosen))
            lines.append(f"{name}, {'with' if told else 'without'} the counting text: {spent:,.0f} microseconds")
    lines.append(
        f"reading a fact object: {microseconds(lambda: [read(case.facts) for case in all_cases()], len(matters)):,.0f} microseconds"
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
