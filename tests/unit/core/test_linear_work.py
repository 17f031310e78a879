"""The work on a completion grows with its length and no faster, whatever it holds.

Counted, never timed: every character that the parser looks at (see `counted`).
"""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unhack.core.completion import MAX_CHARS, Extraction, extract_code, with_setup
from unhack.core.lines import PIECE, pieces

from .counted import CountedText, counting_visits, visits

pytestmark = pytest.mark.slow

_TWO = "```python\ndef add(a, b):\n    return a + b\n```\n\n```python\nx = 1\n"
PARTS = {
    "one word a line": "word\n",
    "white space": "    \n",
    "one long line of words": "the ",
    "one long line of marks": "``` ",
    "one long line of thoughts": "</think> ",
    "one long line of quotes": "' \" ",
    "one long line of tags": "<code>",
    "one long line without a break": "x",
    "an unclosed signature": "def f(a, ",
    "sentences": "we then add it and go on to the next one\n",
    "imports": "import a\n",
    "lambdas": "lambda a ",
    "numbers": "1 2 3\n",
    "comments": "# a comment line of prose\n",
    "returns": "    return x\n",
    "prints": "    print(x)\n",
    "assignments": "x = 1\n",
    "decorators": "@a\n",
    "opening brackets": "([{",
    "long strings that stay open": '"""\n',
    "backslashes": "\\\n",
    "fences that open and close": "```python\nx = 1\n```\n",
    "fences that only open": "```python\n",
    "bare fences": "```\n",
    "tildes": "~~~\n~~~~\n",
    "fences behind words": "Answer: ```python\n",
    "fences behind code": "x = 1```\n",
    "indented fences": "        ```python\n\tx\n        ```\n",
    "quoted fences": "> ```python\n> x = 1\n> ```\n",
    "markdown fences": "````markdown\n```python\n",
    "thoughts that end": "<think>\na\n</think>\n",
    "thoughts that end within lines": "<think>a</think> b</think>'\n",
    "tags that open and close": "<code>\nx = 1\n</code>\n",
    "square tags": "[PYTHON]\nx\n",
    "tokens that end a turn": "<|im_end|>",
    "future imports": "from __future__ import annotations\n",
    "entities": "<code>\nx &lt; 1 &amp;\n",
    "full stops": ".",
    "chained names": "a.b.c.",
}
SHAPES = {f"{name}, {how}": (start, part) for name, part in PARTS.items()
          for how, start in (("alone", ""), ("after a block", _TWO))}  # fmt: skip
MOST_VISITS = 200
"""Looks at each character of a completion, as SECURITY.md states."""


@cache
def _visits_each(shape: str, size: int) -> float:
    start, part = SHAPES[shape]
    text = (start + part * (size // len(part) + 1))[:size]
    with counting_visits(pytest.MonkeyPatch()):
        return visits(extract_code, text) / size


@pytest.mark.parametrize("shape", SHAPES)
def test_ten_times_the_text_takes_ten_times_the_looks(shape: str) -> None:
    few, more = _visits_each(shape, 10_000), _visits_each(shape, 100_000)
    assert 1 <= few <= MOST_VISITS
    assert more <= max(1.1 * few, 3)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_a_text_of_a_megabyte_takes_no_more_looks_at_each_character(shape: str) -> None:
    assert _visits_each(shape, 1_000_000) <= max(1.1 * _visits_each(shape, 10_000), 3)


_MARKS = [
    "```", "~~~", "python", "\n", "\n\n", " ", "    ", "\t", "<think>", "</think>", "'", '"""',
    "(", ")", "def f(x):", "return", "x = 1", "=", ",", "import os", "[PYTHON]", "<code>",
    "</code>", "markdown", "text", "# a", "\\", "<|im_end|>", "> ", "- ", "é", "\u200b",
]  # fmt: skip
_TEXTS = st.builds(
    lambda start, part, times, end: start + part * times + end,
    *[st.lists(st.sampled_from(_MARKS), max_size=12).map("".join)] * 2,
    st.integers(1, 200),
    st.lists(st.sampled_from(_MARKS), max_size=6).map("".join),
)


@pytest.mark.slow
@given(_TEXTS)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_text_takes_more_looks_than_the_bound(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    with counting_visits(monkeypatch):
        seen = visits(extract_code, text)
        seen += visits(lambda one: with_setup("import os", one), text)
    assert seen <= MOST_VISITS * len(text) + 2_000


class TestTheCountItself:
    """The counter sees work that is not linear."""

    def test_a_search_from_every_line_is_seen(self) -> None:
        def quadratic(text: str) -> None:
            for start in range(0, len(text), 10):
                text.find("none", start)

        text = "word words" * 100
        assert visits(quadratic, text) > 40 * len(text)

    def test_a_pattern_over_a_whole_text_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from unhack.core import code_blocks

        with counting_visits(monkeypatch), pytest.raises(AssertionError, match="more than a piece"):
            code_blocks._WORD._pattern.search("x" * 2 * PIECE)

    def test_what_an_operation_reads_is_counted(self) -> None:
        text = CountedText("abcdef")
        for work, count in (
            (lambda: text.find("c"), 3), (lambda: "z" in text, 6), (lambda: text[1:3], 2),
            (text.strip, 6), (lambda: text.startswith("ab"), 2), (lambda: list(text), 6),
            (lambda: text.rfind("e", 0, 6), 2), (lambda: len(text), 0),
        ):  # fmt: skip
            CountedText.visited = 0
            work()
            assert CountedText.visited == count


def test_the_pieces_of_a_line_overlap_and_hold_all_of_it() -> None:
    line = "".join(chr(0x4E00 + number) for number in range(3 * PIECE + 7))
    found = list(pieces(f"short\n\n{line}"))
    assert found[0] == "short"
    assert set("".join(found[1:])) == set(line)
    assert max(map(len, found)) == PIECE
    hits = [line[at : at + 100] for at in range(0, len(line) - 100, 97)]
    assert all(any(hit in piece for piece in found) for hit in hits)


@pytest.mark.parametrize("how", list(Extraction))
def test_a_text_beyond_the_cap_holds_no_code(how: Extraction) -> None:
    code = "```python\nx = 1\n```\n"
    assert extract_code(code + " " * (MAX_CHARS - len(code)), how=how)
    assert extract_code(code + " " * (MAX_CHARS - len(code) + 1), how=how) is None
