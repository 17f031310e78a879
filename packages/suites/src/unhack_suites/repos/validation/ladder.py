"""A ladder of cheap searches, which stand for the difficulty of a task.

    random    a slip undone or made anywhere, ten tries
    undo      slips in the functions that the failing visible tests went through
    search    slips anywhere, as long as the budget lasts

Every rung sees what an agent sees, the visible tests, and hands in the candidate that passes most
of them. A task that a rung solves is trivial for that rung.

Covered: repairs of one site, and of several one after another. Not covered: writing code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random

from unhack_suites.repos.faults.drawing import all_slips
from unhack_suites.repos.faults.edits import SourceEdit, apply, read
from unhack_suites.repos.running import Ran, Runner

RUNGS = {"random": 10, "undo": 40, "search": 120}
"""Rung -> candidates that it may try."""


def climb(
    start: Mapping[str, str], visible: Mapping[str, str], *, rung: str, rng: Random, run: Runner
) -> dict[str, str]:
    """The package that a rung hands in."""
    files = dict(start)
    left = RUNGS[rung]
    failing = _failing(run(files, visible))
    while left > 0 and failing:
        best, fewest, tried, better = None, len(failing), 0, failing
        for edit in _pool(files, failing, rung=rung, rng=rng)[:left]:
            tried += 1
            candidate = _edited(files, edit)
            if candidate is None:
                continue
            now = _failing(run(candidate, visible), wanted=len(failing))
            if len(now) < fewest:
                best, fewest, better = candidate, len(now), now
                if not now:
                    return candidate
                if rung != "search":
                    break
        left -= max(tried, 1)
        if best is None:
            break
        files, failing = best, better
    return files


def _failing(ran: Mapping[str, Ran], wanted: int = 0) -> dict[str, Ran]:
    failing = {name: one for name, one in ran.items() if not one.passed}
    if any(one.endless for one in failing.values()):
        # The rest of the suite was not run; as bad as before at least.
        return {
            **failing,
            **{f"not run {number}": next(iter(failing.values())) for number in range(wanted)},
        }
    return failing


def _edited(files: Mapping[str, str], edit: SourceEdit) -> dict[str, str] | None:
    candidate = {**files, edit.path: apply(files[edit.path], [edit])}
    try:
        read(edit.path, candidate[edit.path])
    except SyntaxError:
        return None
    return candidate


def _pool(
    files: Mapping[str, str], failing: Mapping[str, Ran], *, rung: str, rng: Random
) -> list[SourceEdit]:
    pool = all_slips(dict(files))
    rng.shuffle(pool)
    if rung != "undo":
        return pool
    spots = list(_spots(failing.values()))
    near = [edit for edit in pool if (edit.path, edit.function.rpartition(".")[2]) in spots]
    return near


def _spots(failing: Iterable[Ran]) -> Iterable[tuple[str, str]]:
    for ran in failing:
        for spot in ran.spots:
            yield spot.path, spot.function
