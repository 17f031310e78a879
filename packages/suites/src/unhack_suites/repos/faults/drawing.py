"""Faults drawn from all slips of a package, each proven by tests that fail because of it.

    draw_faults(files, tests, kind="combined", rng=rng, run=LocalRunner())

A drawn fault breaks between one test and a share of them, in their bodies, without endless loops;
of a combined one every part breaks a test when it is left in alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from unhack_suites.repos.faults.borders import border_slips, silent_slips
from unhack_suites.repos.faults.edits import SourceEdit, apply_all, read
from unhack_suites.repos.faults.operators import slips
from unhack_suites.repos.running import Ran, Runner

KINDS = ("single", "silent", "border", "combined")
_MOST = 0.5
"""The largest share of the tests that a fault may break."""
_PART = 0.25
"""The same of one part of a combined fault."""
_LEAST_LEFT = 5
"""Tests that have to go on passing."""
_TRIES = 60
_FEW = 3
"""Tries out of which the fault that breaks the fewest tests is taken."""


@dataclass(frozen=True, slots=True)
class Faults:
    """A faulty tree and its proof."""

    edits: tuple[SourceEdit, ...]
    base: Mapping[str, str]
    """The tree without them."""
    files: Mapping[str, str]
    results: Mapping[str, Ran]
    """Every test's end at the faulty tree."""

    @property
    def failed(self) -> list[str]:
        """The ids of the tests that fail."""
        return [name for name, ran in self.results.items() if not ran.passed]


def all_slips(files: Mapping[str, str]) -> list[SourceEdit]:
    """Every slip that the operators know, of the Python files."""
    sources = {path: read(path, text) for path, text in files.items() if path.endswith(".py")}
    found: list[SourceEdit] = []
    for source in sources.values():
        found += slips(source)
        found += silent_slips(source)
    return [*found, *border_slips(sources)]


def draw_faults(
    files: Mapping[str, str], tests: Mapping[str, str], *, kind: str, rng: Random, run: Runner
) -> Faults | None:
    """Faults of a kind, or None where the package has none that qualifies."""
    pool = list(_of_kind(all_slips(files), kind))
    rng.shuffle(pool)
    pool = _spread(pool)
    if kind == "combined":
        return _combined(files, tests, pool, rng=rng, run=run)
    good: list[Faults] = []
    for edit in pool[:_TRIES]:
        found = prove(files, tests, (edit,), run)
        if found is not None:
            good.append(found)
            if len(good) == _FEW:
                break
    # Among a few, the fault that breaks the fewest tests: wide breakage is easy to find.
    return min(good, key=lambda one: len(one.failed), default=None)


def _of_kind(pool: Iterable[SourceEdit], kind: str) -> Iterable[SourceEdit]:
    if kind == "silent":
        return [edit for edit in pool if edit.silent]
    if kind == "border":
        return [edit for edit in pool if edit.crosses]
    return [edit for edit in pool if not edit.crosses]


def _spread(pool: Sequence[SourceEdit]) -> list[SourceEdit]:
    """The pool in its order, one of each operator first, then the second of each …"""
    ranks: dict[str, int] = {}
    keyed: list[tuple[int, int, SourceEdit]] = []
    for at, edit in enumerate(pool):
        rank = ranks[edit.operator] = ranks.get(edit.operator, 0) + 1
        keyed.append((rank, at, edit))
    return [edit for _, _, edit in sorted(keyed, key=lambda one: one[:2])]


def prove(
    files: Mapping[str, str], tests: Mapping[str, str], edits: tuple[SourceEdit, ...], run: Runner
) -> Faults | None:
    """The faulty tree, if its failures are what a task needs."""
    faulty = apply_all(dict(files), edits)
    try:
        for path in {edit.path for edit in edits}:
            read(path, faulty[path])
    except SyntaxError:
        return None
    results = run(faulty, tests)
    failed = [ran for ran in results.values() if not ran.passed]
    if not failed or any(ran.endless or not ran.in_body for ran in failed):
        return None
    if len(failed) > _MOST * len(results) or len(results) - len(failed) < _LEAST_LEFT:
        return None
    return Faults(edits, files, faulty, results)


def _combined(
    files: Mapping[str, str],
    tests: Mapping[str, str],
    pool: list[SourceEdit],
    *,
    rng: Random,
    run: Runner,
) -> Faults | None:
    """Two or three faults in different functions, each with a failing test of its own."""
    wanted = rng.choice((2, 2, 3))
    chosen: list[Faults] = []
    for edit in pool[:_TRIES]:
        if any(edit.place == one.edits[0].place for one in chosen):
            continue
        found = prove(files, tests, (edit,), run)
        if found is None or len(found.failed) > _PART * len(found.results):
            continue
        others = {name for one in chosen for name in one.failed}
        if set(found.failed) - others and all(
            set(one.failed) - set(found.failed) for one in chosen
        ):
            chosen.append(found)
        if len(chosen) == wanted:
            break
    if len(chosen) < 2:
        return None
    return prove(files, tests, tuple(one.edits[0] for one in chosen), run)


def all_matter(faults: Faults, tests: Mapping[str, str], run: Runner) -> bool:
    """True where each part of the faults, left in alone, breaks one of the tests."""
    right = run(faults.base, tests)
    for edit in faults.edits:
        ran = run(apply_all(dict(faults.base), [edit]), tests)
        if not any(right[name].passed and not one.passed for name, one in ran.items()):
            return False
    return True
