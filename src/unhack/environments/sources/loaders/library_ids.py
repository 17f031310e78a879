"""Ids of tests as `unittest` and Django write them, as those of pytest.

    test_area (tests.test_core.TestArea)             tests/test_core.py::TestArea::test_area
    test_area (tests.test_core.TestArea.test_area)   the same, of Python 3.11 and later
    tests.test_core.TestArea.test_area               the same
    test_area (gis.tests.TestArea)                   tests/gis/tests.py::..., as Django runs it

Covered: modules below the top, below `src` and below a folder of tests.
Not covered: subtests, and the first line of a docstring in the place of a name: they name no test.
"""

from __future__ import annotations

from collections.abc import Collection

_TOPS = ("", "tests/", "test/", "src/", "lib/")


def pytest_id(name: str, paths: Collection[str]) -> str:
    """The id of pytest, or nothing for what names no test of a file among `paths`."""
    method, _, rest = name.strip().partition(" (")
    where, closed, more = rest.partition(")")
    if rest and (not closed or more.strip()):
        return ""
    dotted = where if rest else method.rpartition(".")[0]
    method = method if rest else method.rpartition(".")[2]
    parts = dotted.split(".")
    if len(parts) > 2 and parts[-1] == method:
        parts.pop()
    if not method.isidentifier() or not all(part.isidentifier() for part in parts):
        return ""
    for count in range(len(parts) - 1, 0, -1):
        module, classes = "/".join(parts[:count]), "::".join(parts[count:])
        for top in _TOPS:
            for path in (f"{top}{module}.py", f"{top}{module}/__init__.py"):
                if path in paths:
                    return f"{path}::{classes}::{method}"
    return ""
