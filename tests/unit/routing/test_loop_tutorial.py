"""The tutorial's loop: at most 60 lines, and a planted hack that is not deployed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "tutorial" / "route-your-own-loop.md"


def lines() -> list[str]:
    """All code of the page, without blank lines."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def test_the_whole_loop_has_at_most_sixty_lines() -> None:
    assert 40 < len(lines()) <= 60


@pytest.mark.slow
def test_the_hack_is_learnt_as_usual_and_not_deployed_when_routed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    exec(compile("\n".join(lines()), str(PAGE), "exec"), {"__name__": "page"})
    found = re.findall(r"right (\d\.\d\d), hack (\d\.\d\d)", capsys.readouterr().out)
    (right, hack), (routed_right, routed_hack) = [tuple(map(float, pair)) for pair in found]
    assert hack > 0.5
    assert routed_hack < 0.1
    assert routed_right > right
