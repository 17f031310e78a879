"""Test ids and paths of a repository: whose files they are, and what was reported of them.

Covered: the names that a repository imports as its own; the files that stand beside the judge's
tests; results by id, of originals and of twins.
Not covered: whether a line of a process that it shared with the solution is true.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from unhack.verifiers.repository.files import may_change
from unhack.verifiers.repository.twins import Place, TwinSuite

_NO_PACKAGES = frozenset({"conftest", "setup", "noxfile", "docs", "examples", "scripts"})


def roots_of(base: Mapping[str, bytes]) -> tuple[str, ...]:
    """Folders that packages are imported from: `src` where it has modules, and the top."""
    has_src = (
        any(path.startswith("src/") and path.endswith(".py") for path in base)
        and "src/__init__.py" not in base
    )
    return ("src", "") if has_src else ("",)


def candidate_tops(
    base: Mapping[str, bytes], tests: Mapping[str, str], editable: Sequence[str], *,
    roots: Sequence[str],
) -> tuple[str, ...]:  # fmt: skip
    """First parts of the module names that are the solution's: of the declared paths, and of
    modules of the base that are no tests. A name of the standard library is nobody else's."""
    test_tops = {top for path in tests if (top := _top(path, roots))} | _NO_PACKAGES
    found = {
        top
        for path in base
        if path.endswith(".py") and (top := _top(path, roots)) and top not in test_tops
    }
    for path in editable:
        place = f"{path}x.py" if path.endswith("/") else path
        top = _top(place, roots)
        if top and place.endswith(".py") and not (path.endswith("/") and top == "x"):
            found.add(top)
    return tuple(sorted(found - sys.stdlib_module_names))


def _top(path: str, roots: Sequence[str]) -> str:
    """The first part of a module's name, under the first root that the path lies below."""
    for root in sorted(roots, key=len, reverse=True):
        if not root or path.startswith(f"{root}/"):
            first = (path[len(root) + 1 :] if root else path).partition("/")[0]
            return first.removesuffix(".py")
    return ""


def support_files(
    base: Mapping[str, bytes], tests: Mapping[str, str], editable: Sequence[str], *,
    tops: Sequence[str], roots: Sequence[str],
) -> dict[str, bytes]:  # fmt: skip
    """The files beside the sealed tests: those of the base that no solution can change and that are
    none of its modules, and the judge's own."""
    kept = {
        path: data
        for path, data in base.items()
        if not may_change(path, editable)
        and not (path.endswith(".py") and _top(path, roots) in tops)
    }
    for path in tests:  # a test inside a package keeps the name of its module
        folder = path.rpartition("/")[0]
        while folder:
            kept.update({name: b"" for name in [f"{folder}/__init__.py"] if name in base})
            folder = folder.rpartition("/")[0]
    return {
        **kept,
        **{path: text.encode("utf-8", "surrogateescape") for path, text in tests.items()},
    }


def function_of(name: str) -> tuple[str, str]:
    """Test file and function of an id."""
    file, _, rest = name.partition("::")
    return file, _split(rest)[1]


def _split(rest: str) -> tuple[str, str, str]:
    """`A::B::test_it[x::y]` -> `A::B::`, `test_it`, `[x::y]`."""
    plain, bracket, inside = rest.partition("[")
    classes, _, name = plain.rpartition("::")
    return (f"{classes}::" if classes else ""), name, bracket + inside


_CHANCE = 0.4
"""Share of strong twins that may pass in place of their originals."""
Accepted = tuple[str, int, Place]
"""Classes of the id, row, place of the twin."""


class Results:
    """Results of tests by id."""

    def __init__(self, lines: Sequence[Any], suite: TwinSuite | None = None) -> None:
        """`lines`: [id, passed, reason], in the order of the run, and how many comparisons the
        solution decided where they are sealed; whatever else they are is dropped. With a suite,
        names are the random ones of it."""
        self.unverified: dict[str, int] = {}
        """Id -> comparisons that the solution's classes decided, where there were some."""
        self._found: dict[str, tuple[bool, str]] = {}
        self._files: dict[str, str] = {}
        self._rows: dict[tuple[str, str, str], list[bool]] = {}
        self._twins: list[tuple[bool, Accepted]] = []
        for line in lines:
            if not (len(line) in (3, 4) and isinstance(line[0], str)):
                continue
            if len(line) == 4 and type(line[3]) is int and line[3] > 0:
                self.unverified[line[0]] = line[3]
            name, passed, reason = line[0], line[1] is True, str(line[2])[:300]
            if "::" not in name:
                self._files.setdefault(name, reason)
            elif suite is None:
                self._keep(name, passed, reason)
            else:
                self._take(name, passed, reason, suite=suite)

    def _take(self, name: str, passed: bool, reason: str, *, suite: TwinSuite) -> None:
        file, _, rest = name.partition("::")
        classes, function, row = _split(rest)
        rows = self._rows.setdefault((file, classes, function), [])
        rows.append(passed)
        if (file, function) in suite.originals:
            original = suite.originals[file, function]
            self._keep(f"{file}::{classes}{original}{row}", passed, reason)
            self._rows[file, classes, original] = rows
        elif (file, function) in suite.twins:
            place = (file, *suite.twins[file, function])
            self._twins.append((passed, (classes, len(rows) - 1, place)))

    def _keep(self, name: str, passed: bool, reason: str) -> None:
        twice = name in self._found
        self._found[name] = (False, "reported twice") if twice else (passed, reason)

    def of(self, name: str) -> tuple[bool, str]:
        """Outcome and reason of an expected test."""
        file = name.partition("::")[0]
        why = self._files.get(file) or self._files.get("") or "the test gave no result"
        return self._found.get(name, (False, why))

    def passed_twins(self, whole: Results) -> set[Accepted]:
        """The twins that passed, of tests that passed as they are in another run."""
        return {one for passed, one in self._twins if passed and whole._original_passed(one)}

    def accepted_twins(self) -> set[Accepted]:
        """The twins that speak against the results: those that passed beside an original that
        passed too. One that passed where its original failed says little, as a wrong solution may
        give just that value; where many did, the results are guesses."""
        beside: set[Accepted] = set()
        alone: list[Accepted] = []
        for passed, one in self._twins:
            if passed and self._original_passed(one):
                beside.add(one)
            elif passed:
                alone.append(one)
        return beside | (set(alone) if len(alone) > 2 + _CHANCE * len(self._twins) else set())

    def _original_passed(self, one: Accepted) -> bool:
        classes, row, (file, function, _) = one
        rows = self._rows.get((file, classes, function), [])
        return row < len(rows) and rows[row]

    def harmless(self) -> tuple[set[Accepted], set[Place]]:
        """Of a right solution: the twins that passed, and the places all of whose twins did."""
        passed = {one for is_passed, one in self._twins if is_passed}
        failed = {place for is_passed, (_, _, place) in self._twins if not is_passed}
        return passed, {place for _, _, place in passed} - failed
