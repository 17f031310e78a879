"""The size of things: what grows beyond a budget is cut in two before it is read by anybody."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.quality.source_roots import ROOT, modules_of, roots_of_tests, source_roots

# They read every file: once in CI, and by name while one writes.
pytestmark = [pytest.mark.slow, pytest.mark.sample]
FILE_LINES, FUNCTION_LINES, ARGUMENTS, PUBLIC_NAMES, NAME_WORDS = 400, 60, 6, 20, 3
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}

SOURCES = [path for package in source_roots() for path in modules_of(package)]
TEST_FILES = [path for folder in roots_of_tests() for path in sorted(folder.rglob("test_*.py"))]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@functools.cache
def _functions(path: Path) -> list[Function]:
    tree = _tree(path)
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def long_functions(path: Path) -> list[str]:
    """Functions of a file with more lines than the budget."""
    return [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in _functions(path)
        if node.end_lineno is not None and node.end_lineno - node.lineno + 1 > FUNCTION_LINES
    ]


def crowded_functions(path: Path) -> list[str]:
    """Functions of a file with more arguments than the budget; `self` and `cls` do not count."""
    found: list[str] = []
    for node in _functions(path):
        spec = node.args
        names = [item.arg for item in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
        names += [item.arg for item in (spec.vararg, spec.kwarg) if item is not None]
        if names[:1] in (["self"], ["cls"]):
            names = names[1:]
        if len(names) > ARGUMENTS:
            found.append(f"{node.name}: {len(names)} arguments")
    return found


def public_names(path: Path) -> list[str]:
    """Names that a module defines at its top and that do not begin with an underscore; constants,
    which are spelled in capitals, do not count: a kernel has many."""
    names: list[str] = []
    for node in _tree(path).body:
        if isinstance(node, (Function, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            assigned = [target.id for target in targets if isinstance(target, ast.Name)]
            names += [name for name in assigned if not name.isupper()]
    return [name for name in names if not name.startswith("_")]


def _collected(path: Path) -> list[Function]:
    """The functions that pytest would run as tests: at the top, or in a class at the top."""
    found: list[Function] = []
    for node in _tree(path).body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        found += [item for item in members if isinstance(item, Function)]
    return [item for item in found if item.name.startswith("test")]


def is_a_claim(test: Function) -> bool:
    """Whether a test's name can be read as a sentence; the ids of a parametrised test go on with
    it, so there one word less is enough."""
    words = [word for word in test.name.removeprefix("test_").split("_") if word]
    continued = any("parametrize" in ast.unparse(item) for item in test.decorator_list)
    return test.name.startswith("test_") and len(words) >= NAME_WORDS - continued


def unclaimed_tests(path: Path) -> list[str]:
    """Tests of a file whose names are no claims."""
    return [item.name for item in _collected(path) if not is_a_claim(item)]


def vague_words(path: Path) -> list[str]:
    """Words in a module's name and folders that say nothing."""
    words = set(path.stem.split("_")) | set(path.parent.relative_to(ROOT).parts)
    return sorted(words & VAGUE)


def offenders(
    paths: Sequence[Path], found: Callable[[Path], Sequence[object]]
) -> dict[str, list[object]]:
    """What `found` names in each of the files where it names anything."""
    return {_shown(path): list(names) for path in paths if (names := found(path))}


class TestBudgets:
    def test_a_source_file_keeps_within_its_lines(self) -> None:
        lines = {_shown(path): len(path.read_text().splitlines()) for path in SOURCES}
        assert {name: count for name, count in lines.items() if count > FILE_LINES} == {}

    def test_a_function_keeps_within_its_lines_and_arguments(self) -> None:
        assert offenders(SOURCES, long_functions) == {}
        assert offenders(SOURCES, crowded_functions) == {}

    def test_a_module_has_few_public_names(self) -> None:
        found = {_shown(path): public_names(path) for path in SOURCES}
        assert {name: names for name, names in found.items() if len(names) > PUBLIC_NAMES} == {}

    def test_a_module_is_named_after_what_it_does(self) -> None:
        assert offenders(SOURCES, vague_words) == {}

    def test_the_budgets_look_at_the_whole_package(self) -> None:
        names = {_shown(path) for path in SOURCES}
        assert {"src/unhack/__init__.py", "src/unhack/sandbox/guest/server/fork_server.py"} <= names
        assert "packages/contests/src/unhack_contests/__init__.py" in names
        assert not any("/tasks/strings/" in name or "/corpus/" in name for name in names)


class TestNamesOfTests:
    def test_the_name_of_a_test_is_a_claim(self) -> None:
        assert offenders(TEST_FILES, unclaimed_tests) == {}

    def test_the_tests_are_found_at_all(self) -> None:
        assert Path(__file__).resolve() in TEST_FILES
        assert sum(len(_collected(path)) for path in TEST_FILES) > 100


class TestTheChecksThemselves:
    def test_what_exceeds_a_budget_is_found(self, tmp_path: Path) -> None:
        path = tmp_path / "module.py"
        body = "\n".join("    x = 1" for _ in range(FUNCTION_LINES))
        path.write_text(
            f"def long():\n{body}\n"
            "def crowded(a, b, /, c, *d, e, f, **g): pass\n"
            "class C:\n    async def method(self, a, b, c, d, e, f): pass\n"
            + "\n".join(f"name_{number}: int = 1" for number in range(19))
            + "\nCONSTANT = _private = 5\n"
        )
        assert long_functions(path) == [f"long: {FUNCTION_LINES + 1} lines"]
        assert crowded_functions(path) == ["crowded: 7 arguments"]
        assert len(public_names(path)) == 22

    @pytest.mark.parametrize(
        ("source", "claim"),
        [
            ("def test_a_nan_equals_nothing(): pass", True),
            ("class TestIt:\n    def test_it_never_fails(self): pass", True),
            ("class TestIt:\n    def test_it(self): pass", False),
            ("def test_two_words(): pass", False),
            ("@pytest.mark.parametrize('x', [1])\ndef test_two_words(x): pass", True),
            ("@pytest.mark.parametrize('x', [1])\ndef test_it(x): pass", False),
            ("def testing_a_long_name(): pass", False),
            ("def test___a__b(): pass", False),
        ],
    )
    def test_a_claim_has_at_least_three_words(
        self, tmp_path: Path, source: str, claim: bool
    ) -> None:
        path = tmp_path / "test_module.py"
        path.write_text(source)
        [test] = _collected(path)
        assert is_a_claim(test) is claim
