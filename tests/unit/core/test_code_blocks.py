"""Completions in many styles: what is extracted is the code that a reader would take."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.code_blocks import MAX_BLOCKS, solution
from unhack.core.completion import extract_code

COMPLETIONS = [
    json.loads(line)
    for line in Path(__file__).with_name("completions.jsonl").read_text().splitlines()
]


def lines(code: str | None) -> list[str]:
    """Lines that are not blank, without white space at their ends."""
    return [line.rstrip() for line in (code or "").splitlines() if line.strip()]


@pytest.mark.parametrize("item", COMPLETIONS, ids=lambda item: item["id"])
def test_the_code_is_what_a_reader_would_take(item: dict[str, str]) -> None:
    assert lines(extract_code(item["text"])) == lines(item["code"])


def test_there_are_as_many_styles_as_the_rule_was_written_for() -> None:
    assert len({item["id"] for item in COMPLETIONS}) >= 200


@pytest.mark.slow
@given(st.lists(st.text(max_size=60), min_size=1, max_size=6))
def test_any_blocks_give_some_code(codes: list[str]) -> None:
    assert isinstance(solution(codes), str)


def test_only_the_last_blocks_are_compared_with_one_another() -> None:
    codes = [f"def f{number}(): pass\n" for number in range(MAX_BLOCKS + 50)]
    assert solution(codes) == "\n".join(codes[-MAX_BLOCKS:])


@pytest.mark.parametrize(
    ("blocks", "code"),
    [
        (["x = 1", "y = 2"], "y = 2"),
        (["def f(): pass", "def g(): f()"], "def f(): pass\ndef g(): f()"),
        (["def f(): return 1", "def f(): return 2"], "def f(): return 2"),
        (["def test_f(): f()"], "def test_f(): f()"),
        (["def f(): pass", "f()\n"], "def f(): pass"),
        (["import math", "def f(): pass"], "import math\ndef f(): pass"),
        (["print(input())", "def f(): pass"], "def f(): pass"),
        (["n = int(input())", "print(n * n)"], "n = int(input())\nprint(n * n)"),
    ],
)
def test_the_rule_on_small_blocks(blocks: list[str], code: str) -> None:
    assert solution(blocks) == code


def test_a_future_import_of_a_later_block_comes_first() -> None:
    text = "```py\nimport math\n```\n```py\nfrom __future__ import annotations\nx = math.pi\n```\n"
    code = extract_code(text)
    assert code is not None
    assert code.startswith("from __future__ import annotations\n")
    compile(code, "c", "exec")


@pytest.mark.parametrize(
    "body",
    [
        "    import math\n    return math.sqrt(n)\n",
        "\n    def inner(x):\n        return x\n\n    return inner(n)\n",
        "\tfrom math import sqrt\n\treturn sqrt(n)\n",
    ],
)
def test_a_text_that_goes_on_with_the_body_of_a_prompt_is_taken_whole(body: str) -> None:
    assert extract_code(body) == body


def test_a_closing_tag_within_code_is_no_end_of_thoughts() -> None:
    text = "```python\nmark = '</think>'\nx = 1\n```"
    assert extract_code(text) == "mark = '</think>'\nx = 1\n"
