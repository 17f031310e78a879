"""Tests of a package as values: calls and their results, in three splits.

`visible` is what the action `test` runs, `dev` is what step rewards look at, `hidden` decides the
outcome. Results come from the meaning of the package, never from its text.

Covered: in every split, each wrong operator of each site fails at least one test of its own module
when all else is right. Not covered: faults that hide each other; then a test passes by chance.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from unhack.core.errors import UsageError
from unhack_study.repairs.packages import FAMILIES, Function, Package

SPLITS = ("visible", "dev", "hidden")
_LEAST = {"visible": 2, "dev": 2, "hidden": 4}
"""Tests of a module, at least."""
_TRIES = 400


@dataclass(frozen=True, slots=True)
class PackageTest:
    """One call of a public function of a module."""

    split: str
    site: int
    """The module it belongs to, by its place in the package."""
    args: tuple[Any, ...]
    expected: Any


def draw_tests(package: Package) -> tuple[PackageTest, ...]:
    """The tests of a package; two or more per module and split.

    Raises UsageError where no inputs tell an operator from the right one.
    """
    found: list[PackageTest] = []
    for split in SPLITS:
        rng = random.Random(f"tests {package.id} {split}")
        for site in range(len(package.sites)):
            found += _of_module(package, site, split, rng)
    return tuple(found)


def flags(package: Package, tests: tuple[PackageTest, ...], operators: tuple[str, ...]) -> str:
    """`1` or `0` for each test, by the meaning of these operators and without running a file.

    For text that a base model learns from; verdicts come from `judging`.
    """
    made = package.functions(operators)
    return "".join("01"[_same(made[test.site](*test.args), test.expected)] for test in tests)


def _of_module(package: Package, site: int, split: str, rng: random.Random) -> list[PackageTest]:
    right = package.functions(package.right)[site]
    alive = [_with_one(package, site, option) for option in package.sites[site].options
             if option != package.right[site]]  # fmt: skip
    chosen: list[PackageTest] = []
    for _ in range(_TRIES):
        if not alive and len(chosen) >= _LEAST[split]:
            return chosen
        args = _arguments(FAMILIES[package.family].shapes[site], rng)
        expected = right(*args)
        left = [one for one in alive if _same(one(*args), expected)]
        if len(left) < len(alive) or not alive:
            alive = left
            chosen.append(PackageTest(split, site, args, expected))
    raise UsageError(f"{package.id}: no inputs tell the operators of site {site} apart")


def _with_one(package: Package, site: int, option: str) -> Function:
    operators = list(package.right)
    operators[site] = option
    return package.functions(operators)[site]


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and left == right


def _arguments(shape: str, rng: random.Random) -> tuple[Any, ...]:
    return tuple(
        rng.randint(-4, 6) if one == "i" else [rng.randint(-4, 6) for _ in range(rng.randint(2, 5))]
        for one in shape
    )
