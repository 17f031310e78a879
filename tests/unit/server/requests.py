"""Requests that the tests of the server send."""

from __future__ import annotations

from typing import Any

BOTH = ["sqlite", "postgresql"]
"""Values of the fixture `database`."""
PLUS_ONE: dict[str, Any] = {
    "kind": "function",
    "entry_point": "f",
    "cases": [{"args": [1], "expected": 2}, {"args": [5], "expected": 6}],
}
RIGHT = "def f(x):\n    return x + 1\n"
WRONG = "def f(x):\n    return x - 1\n"
ENDLESS = "def f(x):\n    while True:\n        pass\n"


def bearer(key: str, **more: str) -> dict[str, str]:
    """The headers of a request with a key."""
    return {"Authorization": f"Bearer {key}", **more}


def answers(count: int, *, right: int = 4) -> list[str]:
    """Texts of which every other gives the right answer; no two are alike."""
    return [f"Text {index}: \\boxed{{{right if index % 2 else 7}}}" for index in range(count)]


FOUR: dict[str, Any] = {"kind": "text", "check": "numeric", "answer": "4"}
"""A task that starts no process."""
