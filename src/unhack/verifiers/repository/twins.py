"""Twins: tests with a changed expectation, under random names. Originals must pass, twins fail.

`object_twins`: originals and twins stand side by side, for a process that holds no test. `written`:
each test stands once, as itself or as its twin, in the form that its author gave it and in its
place, for processes that hold the solution too: none of them sees both.

Covered: functions and methods whose names are asked for; names of one order are given names of the
same order; docstrings and messages of tests, which say what is meant, are left out of all.
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
    Test,
    Variation,
    edits,
    edits_of_objects,
)
from unhack.verifiers.repository.vocabulary import Vocabulary

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
    weak: frozenset[tuple[str, str]] = frozenset()
    """(file, function) whose twins tell no more than that the outcome is not always the same."""

    @property
    def functions(self) -> list[str]:
        """All names, for the process that runs them, which does not learn more."""
        return sorted({name for _, name in (*self.originals, *self.twins)})


@dataclass(slots=True)
class _Maker:
    random: Random
    barred: Collection[Place]
    mentioned: Collection[str]
    """Names that a test file uses besides defining them; they stay."""
    originals: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    twins: dict[tuple[str, str], tuple[str, int]] = field(
        default_factory=dict[tuple[str, str], tuple[str, int]]
    )
    untwinned: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    weak: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])


def object_twins(
    tests: Mapping[str, str],
    wanted: Collection[tuple[str, str]],
    *,
    random: Random,
    barred: Collection[Place] = (),
) -> TwinSuite:
    """The test files with twins of the `wanted` (file, function), in which what the objects that a
    test compares are made from is changed.

    `barred`: edits after which a right solution was seen to pass. Raises SyntaxError.
    """
    mentioned = {name for text in tests.values() for name in _mentioned(ast.parse(text))}
    maker = _Maker(random, barred, mentioned)
    sources: dict[str, str] = {}
    for path, text in tests.items():
        names = {name for file, name in wanted if file == path}
        sources[path] = _vary(maker, path, text, names) if names else text
    return TwinSuite(sources, maker.originals, maker.twins, frozenset(maker.untwinned))


def written(
    tests: Mapping[str, str],
    wanted: Collection[tuple[str, str]],
    twinned: Collection[tuple[str, str]],
    *,
    random: Random,
    barred: Collection[Place] = (),
) -> TwinSuite:
    """The test files, in which each of the `wanted` (file, function) stands once: as its twin where
    it is among the `twinned`. Raises SyntaxError."""
    mentioned = {name for text in tests.values() for name in _mentioned(ast.parse(text))}
    maker = _Maker(random, barred, mentioned)
    sources: dict[str, str] = {}
    for path, text in tests.items():
        names = {name for file, name in wanted if file == path}
        changed = {name for file, name in twinned if file == path}
        sources[path] = _rewritten(maker, path, text, names=names, changed=changed)
    return TwinSuite(
        sources, maker.originals, maker.twins, frozenset(maker.untwinned), frozenset(maker.weak)
    )


def rounds(count: int) -> int:
    """How many pairs of runs make a guess of all outcomes as good as impossible."""
    return next((n for n in range(1, _MAX_TWINS) if 4 ** (n * count) > _SAFE_GUESS), _MAX_TWINS)


def _rewritten(maker: _Maker, path: str, text: str, *, names: set[str], changed: set[str]) -> str:
    tree = ast.parse(text)
    vocabulary = Vocabulary.of(tree)
    tests = [node for node in ast.walk(tree) if isinstance(node, Test) and node.name in names]
    free = sorted({test.name for test in tests} - set(maker.mentioned))
    labels = dict(zip(free, sorted(_random_name(maker.random) for _ in free), strict=True))
    for name in names:
        maker.originals[path, labels.get(name, name)] = name
        if name not in {test.name for test in tests}:
            maker.untwinned.add((path, name))
    for test in tests:
        name, test.name = test.name, labels.get(test.name, test.name)
        strong, weak = edits(test)
        numbers = [n for n in range(len(strong)) if (path, name, n) not in maker.barred]
        later = [n for n in range(-len(weak), 0) if (path, name, n) not in maker.barred]
        if not numbers and not later:
            maker.untwinned.add((path, name))
        elif not numbers:
            maker.weak.add((path, name))
        if name in changed and (numbers or later):
            edit = maker.random.choice(numbers or later)
            (strong if edit >= 0 else weak)[edit](Variation(0, 1, vocabulary))
            maker.originals.pop((path, test.name), None)
            maker.twins[path, test.name] = name, edit
        _strip(test)
    vocabulary.settle(maker.random)
    return ast.unparse(ast.fix_missing_locations(tree))


def _strip(test: Test) -> None:
    """Leave out what says in words what a test expects."""
    if ast.get_docstring(test, clean=False) is not None:
        test.body = test.body[1:] or [ast.Pass()]
    for node in ast.walk(test):
        if isinstance(node, ast.Assert):
            node.msg = None


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
            *(_random_name(maker.random) for _ in range(_MAX_TWINS)),
        ]
        for name in sorted(names & defined)
    }
    tree.body = _place(maker, path, tree.body, labels)
    return ast.unparse(ast.fix_missing_locations(tree))


def _place(
    maker: _Maker, path: str, body: list[ast.stmt], labels: Mapping[str, list[str]]
) -> list[ast.stmt]:
    """The statements of a file or class, with twins beside the tests in random order."""
    found: list[ast.stmt] = []
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.If, ast.Try, ast.With)):
            node.body = _place(maker, path, node.body, labels)
        if isinstance(node, Test) and node.name in labels:
            found += _variants(maker, path, node, labels[node.name])
        else:
            found.append(node)
    return found


def _variants(maker: _Maker, path: str, test: Test, labels: list[str]) -> list[ast.stmt]:
    """A test and its twins."""
    name = test.name
    count = len(edits_of_objects(copy.deepcopy(test)))
    free = [number for number in range(count) if (path, name, number) not in maker.barred]
    made: list[ast.stmt] = []
    edit, seed = (maker.random.choice(free) if free else None), maker.random.getrandbits(64)
    for number, label in enumerate(labels if edit is not None else labels[:1]):
        variant = copy.deepcopy(test)
        variant.name = label
        if edit is not None:
            edits_of_objects(variant)[edit](Variation(seed, number))
            if number:
                maker.twins[path, label] = name, edit
        made.append(variant)
    maker.originals[path, labels[0]] = name
    if edit is None:
        maker.untwinned.add((path, name))
    maker.random.shuffle(made)
    return made


def _mentioned(tree: ast.AST) -> set[str]:
    """Names that a file uses besides defining them."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def _random_name(random: Random) -> str:
    return f"test_{random.getrandbits(48):012x}"
