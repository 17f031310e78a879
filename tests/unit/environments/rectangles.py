"""A repository task for tests: a small package whose area is wrong."""

from __future__ import annotations

from typing import Any

from unhack.environments.task import RepositoryTask

WRONG = "def area(a, b):\n    return a + b\n"
RIGHT = "def area(a, b):\n    return a * b\n"
FIELDS: dict[str, Any] = {
    "id": "shapes/area",
    "statement": "`area` of a rectangle is wrong.",
    "files": {
        "shapes/__init__.py": b"from .core import area\n",
        "shapes/core.py": WRONG.encode(),
        "tests/test_core.py": (
            b"from shapes import area\n\ndef test_unit(): assert area(2, 2) == 4\n"
        ),
    },
    "judge_s": 5.0,
    "editable": ("shapes/",),
    "tests": {
        "tests/test_hidden.py": (
            "from shapes import area\n\n"
            "def test_area():\n    assert area(3, 5) == 15\n\n"
            "def test_zero():\n    assert area(0, 0) == 0\n"
        )
    },
    "dev_tests": {
        "tests/test_dev.py": (
            "from shapes import area\n\n"
            "def test_two():\n    assert area(2, 2) == 4\n\n"
            "def test_seven():\n    assert area(2, 7) == 14\n"
        )
    },
    "dev_ids": ("tests/test_dev.py::test_two", "tests/test_dev.py::test_seven"),
    "reference": {"shapes/core.py": RIGHT},
    "fail_to_pass": ("tests/test_hidden.py::test_area",),
    "pass_to_pass": ("tests/test_hidden.py::test_zero",),
}


def rectangles(**changes: Any) -> RepositoryTask:
    """The task with some fields changed."""
    fields: dict[str, Any] = {**FIELDS, **changes}
    return RepositoryTask(**fields)
