"""Kinds of paths in a Python repository: code, tests with what they need, and the rest.

Covered: the layouts of pytest and unittest: `tests/`, `test/` and `testing/` folders anywhere,
`test_*.py`, `*_test.py`, `tests.py`.
Not covered: doctests, and tests that only a configuration names.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

_TEST_FOLDERS = frozenset({"tests", "test", "testing"})
_ASIDE_FOLDERS = frozenset({
    "docs", "doc", "examples", "example", "benchmarks", "bench", "scripts", "tools", "ci", "news",
    "changelog", ".github",
})  # fmt: skip
_ASIDE_FILES = frozenset({
    "setup.py", "noxfile.py", "tasks.py", "fabfile.py", "conf.py", "versioneer.py", "release.py",
    "ez_setup.py",
})  # fmt: skip
_MADE_FOLDERS = frozenset({
    ".git", "__pycache__", "build", "dist", ".tox", ".nox", ".eggs", ".pytest_cache", ".mypy_cache",
    ".hypothesis", "node_modules", ".venv", "venv",
})  # fmt: skip
_MADE_ENDS = (".pyc", ".pyo", ".so", ".pyd", ".egg", ".whl", ".orig", ".rej", ".pth", ".egg-link")


class PathKind(StrEnum):
    """The part that a path plays."""

    CODE = "code"
    """A module of the project."""
    TEST = "test"
    """A test file, or a file that stands beside tests."""
    ASIDE = "aside"
    """Documentation, packaging, data outside the packages."""
    MADE = "made"
    """Built from other files, or a cache: it may hold another version of the code."""


def kind_of(path: str) -> PathKind:
    """The kind of a path, by its name alone."""
    *folders, name = path.split("/")
    made = not _MADE_FOLDERS.isdisjoint(folders) or name.endswith(_MADE_ENDS)
    if made or any(one.endswith((".egg-info", ".dist-info")) for one in folders):
        return PathKind.MADE
    if is_test_file(path) or name == "conftest.py" or not _TEST_FOLDERS.isdisjoint(folders):
        return PathKind.TEST
    if folders and folders[0] in _ASIDE_FOLDERS:
        return PathKind.ASIDE
    if not name.endswith(".py") or (not folders and name in _ASIDE_FILES):
        return PathKind.ASIDE
    return PathKind.CODE


def is_test_file(path: str) -> bool:
    """True for a file that pytest collects by its name."""
    name = path.rpartition("/")[2]
    return name.endswith(".py") and (
        name.startswith("test_") or name.endswith("_test.py") or name == "tests.py"
    )


def root_of(path: str) -> str:
    """The package or module at the top that a path belongs to: `pkg/`, `src/pkg/`, `pkg.py`."""
    parts = path.split("/")
    depth = 2 if parts[0] in ("src", "lib") and len(parts) > 1 else 1
    top = "/".join(parts[:depth])
    return top if len(parts) == depth else f"{top}/"


def code_roots(paths: Iterable[str]) -> tuple[str, ...]:
    """The packages and modules at the top that hold code, sorted."""
    return tuple(sorted({root_of(path) for path in paths if kind_of(path) is PathKind.CODE}))


def import_roots(paths: Iterable[str]) -> tuple[str, ...]:
    """Folders that modules are imported from, as `RepositoryVerifier` has them."""
    known = set(paths)
    has_src = any(path.startswith("src/") and path.endswith(".py") for path in known)
    return ("src", "") if has_src and "src/__init__.py" not in known else ("",)


def module_of(path: str) -> str:
    """The dotted name that a file is imported by."""
    plain = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
    return plain.replace("/", ".")
