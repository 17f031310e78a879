"""Asserts that end a script by an exception, so that no canary gets a verdict."""

from __future__ import annotations

import pytest

from unhack.verifiers.canaries import asserting_line

HEAD = "import solution\n"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("def verify(a, b):\n    assert solution.f() == 1\n    return True\n", 3),
        ("def verify(a, b):\n    for x in a:\n        assert x\n    return True\n", 4),
        ("def check():\n    assert solution.f()\ndef verify(a, b):\n    check()\n", 3),
        ("def verify(a, b):\n    try:\n        assert a\n    finally:\n        b()\n", 4),
        ("assert solution.f() == 1\nprint(1)\n", 2),
        ("def verify(a, b):\n    try:\n        assert a\n    except AssertionError:\n"
         "        return False\n    return True\n", 0),
        ("def check():\n    assert solution.f()\ndef verify(a, b):\n    try:\n        check()\n"
         "    except Exception:\n        return 0.0\n    return 1.0\n", 0),
        ("def verify(a, b):\n    return solution.f() == 1\n", 0),
        ("def unused():\n    assert False\ndef verify(a, b):\n    return True\n", 0),
        ("def verify(a, b:\n", 0),
        ("def f():\n    f()\ndef verify(a, b):\n    f()\n    return verify(a, b)\n", 0),
    ],
)  # fmt: skip
def test_an_assert_that_leaves_the_script_is_found(body: str, line: int) -> None:
    assert asserting_line(HEAD + body) == line
