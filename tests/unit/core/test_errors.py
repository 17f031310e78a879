from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import unhack
from unhack.core import errors

ALL = [
    item
    for _, item in inspect.getmembers(errors, inspect.isclass)
    if item.__module__ == errors.__name__
]


def _classes() -> dict[str, tuple[str, list[str]]]:
    """Every class of the package as it is written: name -> module, names of its bases."""
    root = Path(unhack.__file__).parent
    found: dict[str, tuple[str, list[str]]] = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        if not {"suites", "corpus"} & {*parts}:
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
                    found[node.name] = ".".join(("unhack", *parts)), bases
    return found


class TestTree:
    @pytest.mark.sample
    @pytest.mark.slow
    def test_it_is_that_of_the_package(self) -> None:
        """Read, not imported, so that it holds without the optional dependencies."""
        drawn: dict[str, tuple[str, str]] = {}
        above: list[str] = []
        for line in (errors.__doc__ or "").splitlines():
            if named := re.match(r"    ((?:[│ ]   )*)[├└]── (\w+) .*?(?:\(`([\w.]+)`\))?$", line):
                depth = len(named[1]) // 4
                above[depth:] = [named[2]]
                base = above[depth - 1] if depth else "UnhackError"
                drawn[named[2]] = named[3] or errors.__name__, base
        classes = _classes()
        tree = {"UnhackError"}
        while grown := {name for name, (_, bases) in classes.items() if tree & {*bases}} - tree:
            tree |= grown
        real = {
            name: (classes[name][0], next(base for base in classes[name][1] if base in tree))
            for name in tree - {"UnhackError"}
        }
        assert drawn == real

    @pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
    def test_every_error_is_an_unhack_error_and_named_in_the_tree(self, kind: type) -> None:
        assert issubclass(kind, errors.UnhackError)
        assert kind.__name__ in (errors.__doc__ or "")

    def test_usage_errors_are_caught_as_one_kind(self) -> None:
        assert issubclass(errors.TaskError, errors.UsageError)
        assert issubclass(errors.UnknownNameError, errors.UsageError)
        assert not issubclass(errors.SandboxError, errors.UsageError)

    def test_a_closed_pool_is_a_sandbox_error(self) -> None:
        assert issubclass(errors.PoolClosedError, errors.SandboxError)


class TestUnknownName:
    def test_the_message_names_the_nearest_valid_names(self) -> None:
        error = errors.UnknownNameError("suite", "nubmers", valid=["strings", "numbers", "parsing"])
        assert str(error) == "unknown suite 'nubmers'; did you mean numbers?"
        assert error.name == "nubmers"
        assert error.valid == ["numbers", "parsing", "strings"]

    def test_without_a_near_name_all_are_offered(self) -> None:
        error = errors.UnknownNameError("suite", "zzzzzz", valid=["strings", "numbers"])
        assert "numbers, strings" in str(error)

    def test_with_nothing_valid_no_name_is_offered(self) -> None:
        assert str(errors.UnknownNameError("suite", "x", valid=[])) == "unknown suite 'x'"


class TestBatchUnscored:
    def test_the_error_carries_the_batch(self) -> None:
        batch = object()
        assert errors.BatchUnscoredError("7 of 7", batch=batch).batch is batch
