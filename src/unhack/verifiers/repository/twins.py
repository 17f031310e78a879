"""Twins: each test once as it is and once or more with a changed expectation, under random names.

The originals must pass and the twins must fail. Code that shares a process with the tests cannot
tell by name, order or file which is which; the host alone knows.

Covered: functions and methods whose names are asked for; as many twins for each that a guess of all
outcomes has a chance below 1 in 1000, where the tests allow it.
Not covered: tests without an expectation that can be changed (they are counted); the names of tests
that others call by name, which stay; code that works out by itself which expectation is the right
one.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from random import Random

from unhack.verifiers.repository.expectations import (
    Edit,
    Test,
    Variation,
    edits,
    edits_of_objects,
    helper,
)

_MAX_TWINS = 7
_SAFE_GUESS = 1000

Place = tuple[str, str, int]
"""Test file, function, number of the edit: from 0 for strong ones, from -1 down for weak ones."""


@dataclass(frozen=True, slots=True)
class TwinSuite:
    """Test files with twins; what stands under the random names."""

    sources: Mapping[str, str]
    """Test file -> text."""
    originals: Mapping[tuple[str, str], str]
    """(file, random name) -> the function that stands there unchanged."""
    twins: Mapping[tuple[str, str], tuple[str, int]]
    """(file, random name) -> function, and number of its edit."""
    untwinned: frozenset[tuple[str, str]]
    """(file, function) without a twin."""

    @property
    def functions(self) -> list[str]:
        """All names, for the process that runs them, which does not learn more."""
        return sorted({name for _, name in (*self.originals, *self.twins)})


@dataclass(slots=True)
class _Maker:
    random: Random
    barred: Collection[Place]
    of_objects: bool
    each: int
    mentioned: Collection[str]
    """Names that a test file uses besides defining them; they stay."""
    originals: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    twins: dict[tuple[str, str], tuple[str, int]] = field(
        default_factory=dict[tuple[str, str], tuple[str, int]]
    )
    untwinned: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])


def twin_suite(
    tests: Mapping[str, str],
    wanted: Collection[tuple[str, str]],
    *,
    random: Random,
    barred: Collection[Place] = (),
    of_objects: bool = False,
) -> TwinSuite:
    """The test files with twins of the `wanted` (file, function).

    `barred`: edits after which a right solution was seen to pass. `of_objects`: change only what
    the objects that a test compares are made from. Raises SyntaxError.
    """
    mentioned = {name for text in tests.values() for name in _mentioned(ast.parse(text))}
    each = _MAX_TWINS if of_objects else _twins_for_each(len(set(wanted)))
    maker = _Maker(random, barred, of_objects, each, mentioned)
    sources: dict[str, str] = {}
    for path, text in tests.items():
        names = {name for file, name in wanted if file == path}
        sources[path] = _vary(maker, path, text, names) if names else text
    return TwinSuite(sources, maker.originals, maker.twins, frozenset(maker.untwinned))


def _twins_for_each(count: int) -> int:
    return next(
        (each for each in range(1, _MAX_TWINS) if (each + 1) ** count > _SAFE_GUESS), _MAX_TWINS
    )


def _vary(maker: _Maker, path: str, text: str, names: set[str]) -> str:
    tree = ast.parse(text)
    fixed = names.intersection(maker.mentioned)
    defined = {node.name for node in ast.walk(tree) if isinstance(node, Test)}
    for name in sorted(names - defined):
        maker.originals[path, name] = name
        maker.untwinned.add((path, name))
    labels = {
        name: [
            name if name in fixed else _random_name(maker.random),
            *(_random_name(maker.random) for _ in range(maker.each)),
        ]
        for name in sorted(names & defined)
    }
    other = _random_name(maker.random).replace("test_", "_")
    body = _place(maker, path, tree.body, labels, other=other)
    start = 1 if ast.get_docstring(tree, clean=False) is not None else 0
    while start < len(body):
        node = body[start]
        if not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        start += 1
    tree.body = [*body[:start], *helper(other), *body[start:]]
    return ast.unparse(ast.fix_missing_locations(tree))


def _place(
    maker: _Maker, path: str, body: list[ast.stmt], labels: Mapping[str, list[str]], *, other: str
) -> list[ast.stmt]:
    """The statements of a file or class, with twins beside the tests in random order."""
    found: list[ast.stmt] = []
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.If, ast.Try, ast.With)):
            node.body = _place(maker, path, node.body, labels, other=other)
        if isinstance(node, Test) and node.name in labels:
            found += _variants(maker, path, node, labels[node.name], other=other)
        else:
            found.append(node)
    return found


def _variants(
    maker: _Maker, path: str, test: Test, labels: list[str], *, other: str
) -> list[ast.stmt]:
    """A test and its twins."""
    name = test.name
    strong, weak = map(len, _edits(maker, copy.deepcopy(test), other=other))
    free = [number for number in range(strong) if (path, name, number) not in maker.barred]
    later = range(-weak, 0)
    free = free or [number for number in later if (path, name, number) not in maker.barred]
    made: list[ast.stmt] = []
    edit, seed = (maker.random.choice(free) if free else None), maker.random.getrandbits(64)
    for number, label in enumerate(labels if edit is not None else labels[:1]):
        variant = copy.deepcopy(test)
        variant.name = label
        if edit is not None:
            found = _edits(maker, variant, other=other)
            found[0 if edit >= 0 else 1][edit](Variation(seed, number))
            if number:
                maker.twins[path, label] = name, edit
        made.append(variant)
    maker.originals[path, labels[0]] = name
    if edit is None:
        maker.untwinned.add((path, name))
    maker.random.shuffle(made)
    return made


def _edits(maker: _Maker, test: Test, *, other: str) -> tuple[list[Edit], list[Edit]]:
    return (edits_of_objects(test), []) if maker.of_objects else edits(test, other=other)


def _mentioned(tree: ast.AST) -> set[str]:
    """Names that a file uses besides defining them."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def _random_name(random: Random) -> str:
    return f"test_{random.getrandbits(48):012x}"
