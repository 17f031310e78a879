"""Every test that has checks makes one of them, whatever its loops and conditions find."""

from __future__ import annotations

import textwrap

import pytest

from .reach import passed_by
from .source_roots import ROOT, roots_of_tests


@pytest.mark.slow  # it reads every file
@pytest.mark.sample
def test_no_test_can_pass_by_all_of_its_checks() -> None:
    files = [path for folder in roots_of_tests() for path in folder.rglob("test_*.py")]
    assert len(files) > 400
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in files
        if "def test" in (text := path.read_text())
        for line in passed_by(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    "body",
    [
        "for x in found: assert x",
        "if found: assert x",
        "while found: assert x",
        "for x in []: assert x",
        "for x in range(len(found)): assert x",
        "for x in EMPTY: assert x",
        "for x in REBOUND: assert x",
        "for x, y in zip((1, 2), found): assert x",
        "for x in (1, 2):\n    if x == 3: assert x",
        "for x in [y for y in (1, 2) if y > 2]: assert x",
        "if x: assert x\nelif y: assert y",
        "try: x = f()\nexcept OSError: assert x\nelse: pass",
        "match x:\n    case 1: assert x",
        "with pytest.raises(ValueError) if x else y: pass\nfor x in found: assert x",
    ],
)
def test_a_check_that_may_not_run_is_found(body: str) -> None:
    assert passed_by(_file(body)) == ["6: test_it"]


@pytest.mark.parametrize(
    "body",
    [
        "assert x",
        "for x in found: assert x\nassert found",
        "for x in (1, 2): assert x",
        "for x in NUMBERS: assert x",
        "for x in TABLE.items(): assert x",
        "for n, x in enumerate(sorted(NUMBERS)): assert x",
        "for x in range(3):\n    for y in (1, x): assert y",
        "for x, y in zip((1, 2), found, strict=True): assert x",
        "if x: assert x\nelse: assert y",
        "with pytest.raises(ValueError): f()",
        "with block(): assert x",
        "try: x = f()\nexcept OSError: assert x\nelse: assert y",
        "match x:\n    case 1: assert x\n    case _: assert y",
        "torch.testing.assert_close(x, y)",
        "holds(x)",
        "for x in given: assert x",
        "f(x)",
    ],
)
def test_a_check_that_runs_is_none(body: str) -> None:
    assert passed_by(_file(body)) == []


def _file(body: str) -> str:
    return (
        "NUMBERS = [1]\n"
        + "EMPTY = []; REBOUND = [1]; REBOUND = found; TABLE = {1: 2}\n"
        + "def holds(x):\n    assert x\n"
        + "@pytest.mark.parametrize('given', [(1, 2), [3]])\n"
        + "def test_it(given):\n"
        + textwrap.indent(body, "    ")
        + "\n"
    )
