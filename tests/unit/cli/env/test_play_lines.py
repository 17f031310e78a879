"""Lines that a person types become actions; what is none is left for the episode to refuse."""

from __future__ import annotations

import pytest

from unhack.cli.env.play import actions


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["list"], [("list", {})]),
        (["", "  read pkg/core.py "], [("read", {"path": "pkg/core.py"})]),
        (["run ls -l | wc"], [("run", {"command": "ls -l | wc"})]),
        (["shell cd pkg; x=1"], [("shell", {"command": "cd pkg; x=1"})]),
        (["test"], [("test", {"paths": []})]),
        (["test a.py b.py"], [("test", {"paths": ["a.py", "b.py"]})]),
        (["write a.txt", "one", "", "two", ".", "submit"],
         [("write", {"text": "one\n\ntwo\n", "path": "a.txt"}), ("submit", {})]),
        (["patch", "--- a/x", "+++ b/x", "."], [("patch", {"patch": "--- a/x\n+++ b/x\n"})]),
        (['{"name": "read", "arguments": {"path": "a"}}'], [("read", {"path": "a"})]),
        (["{no json"], [("{no json", {})]),
        (["dance wildly"], [("dance", {})]),
    ],
)  # fmt: skip
def test_lines_become_actions(lines: list[str], expected: list[tuple[str, object]]) -> None:
    assert list(actions(iter(lines))) == expected
