"""Generated packages: three modules that build on one another, a fault site in each.

A family says how the modules call each other. Each module has one public function whose name says
what it does (`above`, `total`, `least`); the operator in its last line is the site. A fault is
another operator of the same class, so a faulty package always runs. Names, families and operators
follow from the seed.

Covered: faults that reach other modules' tests through calls; text and meaning of a package are
made apart, so that tests come from the meaning. Not covered: faults that change more than one line.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Function = Callable[..., Any]


def _both(x: bool, y: bool) -> bool:
    return x and y


def _either(x: bool, y: bool) -> bool:
    return x or y


OPERATORS: dict[str, dict[str, Function]] = {
    "compare": {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    "fold": {"+": operator.add, "-": operator.sub, "*": operator.mul},
    "pick": {"min": min, "max": max},
    "join": {"and": _both, "or": _either},
}
"""Class -> the operators that can stand at its sites, with their meaning."""
WORDS: dict[str, dict[str, str]] = {
    "compare": {">=": "atleast", "<=": "atmost", ">": "above", "<": "below"},
    "fold": {"+": "total", "-": "gap", "*": "area"},
    "pick": {"max": "most", "min": "least"},
    "join": {"and": "both", "or": "either"},
}
"""Class -> right operator -> name of a function that uses it."""
_MODULES = ("rules", "parts", "stock", "marks", "rates", "units", "notes", "lines", "costs")
_PACKAGES = ("depot", "harbor", "ledger", "garden", "studio", "market", "survey", "archive")
_LETTERS = ("abc", "pqr", "uvw", "xyz", "hjk")


@dataclass(frozen=True, slots=True)
class FaultSite:
    """The function of one module and the operator in it."""

    module: str
    function: str
    kind: str
    """Class of its operator."""
    right: str

    @property
    def options(self) -> tuple[str, ...]:
        """The operators that can stand there."""
        return tuple(OPERATORS[self.kind])


Made = tuple[Function, ...]
"""The functions of a package, as plain Python, in the order of its sites."""


@dataclass(frozen=True, slots=True)
class RepairFamily:
    """How three modules are written and what they mean."""

    kinds: tuple[str, str, str]
    bodies: tuple[str, str, str]
    """Source of each module: `{f0}` and so on are function names, `{m0}` modules, `{op}` the
    operator, `{a}`, `{b}`, `{c}` names of variables."""
    make: Callable[[Sequence[Function]], Made]
    """Functions of the package from the meanings of its three operators."""
    shapes: tuple[str, str, str]
    """Arguments of each function: `i` an integer, `l` a list of integers."""


def _ledger(ops: Sequence[Function]) -> Made:
    def fold(values: list[int], bound: int) -> int:
        found = 1
        for value in values:
            if ops[0](value, bound):
                found = ops[1](found, value)
        return found

    def pick(values: list[int], bound: int, limit: int) -> int:
        return ops[2](fold(values, bound), limit)

    return ops[0], fold, pick


def _gate(ops: Sequence[Function]) -> Made:
    def join(x: int, y: int, z: int) -> bool:
        return ops[2](ops[0](x, y), ops[0](ops[1](x, y), z))

    return ops[0], ops[1], join


def _series(ops: Sequence[Function]) -> Made:
    def pick(values: list[int], y: int) -> int:
        kept = [ops[0](value, y) for value in values if ops[1](value, y)]
        return ops[2](kept, default=0)

    return ops[0], ops[1], pick


def _votes(ops: Sequence[Function]) -> Made:
    def join(x: int, y: int, z: int) -> bool:
        return ops[2](ops[0](x, y), ops[1](x, z))

    return ops[0], ops[1], join


_BINARY = "def {name}({a}, {b}):\n    return {a} {op} {b}\n"
_LEDGER_FOLD = (
    "from .{m0} import {f0}\n\n\ndef {f1}({c}, {b}):\n    found = 1\n    for {a} in {c}:\n"
    "        if {f0}({a}, {b}):\n            found = found {op} {a}\n    return found\n"
)
_LEDGER_PICK = (
    "from .{m1} import {f1}\n\n\ndef {f2}({a}, {b}, {c}):\n    return {op}({f1}({a}, {b}), {c})\n"
)
_GATE_JOIN = (
    "from .{m0} import {f0}\nfrom .{m1} import {f1}\n\n\ndef {f2}({a}, {b}, {c}):\n"
    "    return {f0}({a}, {b}) {op} {f0}({f1}({a}, {b}), {c})\n"
)
_SERIES_PICK = (
    "from .{m0} import {f0}\nfrom .{m1} import {f1}\n\n\ndef {f2}({c}, {b}):\n"
    "    kept = [{f0}({a}, {b}) for {a} in {c} if {f1}({a}, {b})]\n"
    "    return {op}(kept, default=0)\n"
)
_VOTES_JOIN = (
    "from .{m0} import {f0}\nfrom .{m1} import {f1}\n\n\ndef {f2}({a}, {b}, {c}):\n"
    "    return {f0}({a}, {b}) {op} {f1}({a}, {c})\n"
)
_PLAIN = (_BINARY.replace("{name}", "{f0}"), _BINARY.replace("{name}", "{f1}"))

FAMILIES: dict[str, RepairFamily] = {
    "ledger": RepairFamily(
        ("compare", "fold", "pick"), (_PLAIN[0], _LEDGER_FOLD, _LEDGER_PICK), _ledger,
        ("ii", "li", "lii"),
    ),
    "gate": RepairFamily(
        ("compare", "fold", "join"), (*_PLAIN, _GATE_JOIN), _gate, ("ii", "ii", "iii"),
    ),
    "series": RepairFamily(
        ("fold", "compare", "pick"), (*_PLAIN, _SERIES_PICK), _series, ("ii", "ii", "li"),
    ),
    "votes": RepairFamily(
        ("compare", "compare", "join"), (*_PLAIN, _VOTES_JOIN), _votes, ("ii", "ii", "iii"),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Package:
    """A package, its faults, and nothing of its tests."""

    id: str
    family: str
    name: str
    sites: tuple[FaultSite, ...]
    letters: str
    faulty: tuple[str, ...]
    """The operators of the start state."""

    @property
    def right(self) -> tuple[str, ...]:
        """The operators of the reference."""
        return tuple(site.right for site in self.sites)

    def files(self, operators: Sequence[str]) -> dict[str, str]:
        """Path -> source of the package with these operators at its sites."""
        family = FAMILIES[self.family]
        names = {f"m{index}": site.module for index, site in enumerate(self.sites)}
        names |= {f"f{index}": site.function for index, site in enumerate(self.sites)}
        names |= dict(zip("abc", self.letters, strict=True))
        last = self.sites[-1]
        found = {f"{self.name}/__init__.py": f"from .{last.module} import {last.function}\n"}
        for site, body, chosen in zip(self.sites, family.bodies, operators, strict=True):
            found[f"{self.name}/{site.module}.py"] = body.format(**names, op=chosen)
        return found

    def functions(self, operators: Sequence[str]) -> Made:
        """The same in plain Python, made without the text: what tests are made from."""
        meanings = [
            OPERATORS[site.kind][chosen]
            for site, chosen in zip(self.sites, operators, strict=True)
        ]  # fmt: skip
        return FAMILIES[self.family].make(meanings)


def draw_package(seed: str, *, faults: int) -> Package:
    """The package of a seed, with so many of its sites faulty (1 to 3)."""
    rng = random.Random(f"package {seed}")
    family = rng.choice(sorted(FAMILIES))
    modules = rng.sample(_MODULES, 3)
    sites: list[FaultSite] = []
    for module, kind in zip(modules, FAMILIES[family].kinds, strict=True):
        taken = {site.function for site in sites}
        right = rng.choice([one for one, word in sorted(WORDS[kind].items()) if word not in taken])
        sites.append(FaultSite(module, WORDS[kind][right], kind, right))
    wrong = set(rng.sample(range(3), faults))
    faulty = tuple(
        rng.choice([one for one in site.options if one != site.right])
        if index in wrong
        else site.right
        for index, site in enumerate(sites)
    )
    return Package(
        id=f"repairs/{seed}",
        family=family,
        name=rng.choice(_PACKAGES),
        sites=tuple(sites),
        letters=rng.choice(_LETTERS),
        faulty=faulty,
    )
