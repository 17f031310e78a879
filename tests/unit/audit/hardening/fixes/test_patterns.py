"""Fixes of patterns: anchors, the last match, ends of numbers."""

from __future__ import annotations

import re

import pytest

from unhack.audit.hardening.edits import apply
from unhack.audit.hardening.fixes.fixes import fixes
from unhack.audit.subject import Source


def made(line: str) -> list[str]:
    source = Source("v.py", f"import re\n{line}\n", entry="score")
    return [apply(source.text, [one])[0].splitlines()[1] for one in fixes(source)]


@pytest.mark.parametrize(
    ("line", "fixed"),
    [
        (r're.match(r"(\d+)", said)', r're.fullmatch(r"(\d+)", said)'),
        (r're.match(r"(\d+)", said)', r're.match(r"(\d+)\s*\Z", said)'),
        (r're.search("(\\d+)", said)', r're.search("(\\d+)\\s*\\Z", said)'),
        (r're.search(r"<a>(.*?)</a>", said)', r're.search(r"(?s:.*)<a>(.*?)</a>", said)'),
        (r're.search(r"^a|b$", said)', r're.search(r"^(?:a|b)$", said)'),
        (r're.findall(r"(\d+)", said)', r're.findall(r"(-?\d+)", said)'),
    ],
)
def test_a_pattern_is_fixed_where_it_stands(line: str, fixed: str) -> None:
    assert fixed in made(line)


def test_every_fixed_pattern_compiles() -> None:
    lines = made(r're.search(r"answer: (-?\d+(?:\.\d+)?)", said)')
    patterns = [found[1] for line in lines if (found := re.search(r'r"(.*)"', line))]
    assert patterns
    assert all(re.compile(pattern).groups == 1 for pattern in patterns)


def test_a_pattern_that_is_put_together_is_left_alone() -> None:
    assert all("Z" not in line for line in made('re.search(f"{gold}", said)'))
