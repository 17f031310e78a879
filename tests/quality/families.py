"""Families of slow tests, and which of them have a member in the sample that `.ci/run` runs.

A family is a folder of a distribution's `tests`, one of `tests/unit`, or a file of `tests/escape`,
with all below it. The stacks of `tests/integrations` are sampled by `ci = true` in their
`stack.toml`.

Covered: marks by the text of a file: `pytest.mark.slow`, `quick_ones(...)`.
Not covered: marks that a fixture or a plugin adds.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from .source_roots import ROOT, roots_of_tests


def files_of_tests() -> list[Path]:
    """Every file of tests of every distribution, but those of stacks."""
    found = [path for folder in roots_of_tests() for path in folder.rglob("test_*.py")]
    return sorted(path for path in found if ROOT / "tests" / "integrations" not in path.parents)


def family(path: Path) -> str:
    """The family of a file, whose path is relative to the checkout."""
    parts = path.parts
    depth = parts.index("tests") + 2 + (parts[1] == "unit")
    return "/".join(parts if parts[1] == "escape" else parts[:-1][:depth])


def marks(source: str) -> set[str]:
    """`slow` and `sample`, as far as a file uses them."""
    found: set[str] = set()
    if "slow" not in source and "quick_ones" not in source:
        return found
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "pytest.mark":
            found.add(node.attr)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "quick_ones":
            found.add("slow")
    return found & {"slow", "sample"}


def without_a_sample(files: Iterable[tuple[Path, str]]) -> list[str]:
    """Families with slow tests and no sample."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path, source in files:
        found[family(path)] |= marks(source)
    return sorted(name for name, used in found.items() if "slow" in used and "sample" not in used)
