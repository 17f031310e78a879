"""Pairs from files and lists, in a model's tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import UsageError
from unhack.routing import TextPair, hack_gate, read_pairs, routed
from unhack.routing.pairs import encode_pairs

ROW = {"problem": "p", "prompt": "Add.", "hack": "exit()", "clean": "1", "flaw": "early-exit"}


class WordTokenizer:
    """As those of Hugging Face: a call, a template, a stop token and one that begins a text."""

    eos_token_id = 3

    def apply_chat_template(self, messages: Any, **named: Any) -> str:
        assert named == {"add_generation_prompt": True, "tokenize": False}
        return "".join(f"<{one['role']}>{one['content']}" for one in messages) + "<assistant>"

    def __call__(self, text: str, *, add_special_tokens: bool) -> dict[str, list[int]]:
        return {"input_ids": [1] * add_special_tokens + [ord(letter) for letter in text]}


def written(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_file_of_an_audit_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "pairs.jsonl", ROW, ROW)
    assert read_pairs(path) == [TextPair("Add.", "exit()", "1", "early-exit")] * 2
    assert hack_gate(path).pairs == tuple(read_pairs(path))


def test_text_ends_with_the_stop_token_and_a_prompt_begins_as_the_tokenizer_says() -> None:
    [pair] = encode_pairs([TextPair("ab", "c", "d")], WordTokenizer())
    assert pair.prompt.tokens == (1, ord("a"), ord("b"))
    assert (pair.hack, pair.clean) == ((ord("c"), 3), (ord("d"), 3))


def test_a_chat_is_rendered_up_to_the_answer(tmp_path: Path) -> None:
    pairs = read_pairs(written(tmp_path / "pairs.jsonl", ROW), chat=True)
    [pair] = encode_pairs(pairs, WordTokenizer())
    assert "".join(map(chr, pair.prompt.tokens)) == "<user>Add.<assistant>"


def test_ids_are_taken_as_they_are_and_a_function_may_encode() -> None:
    [pair] = encode_pairs([TextPair([5], [6, 2], [7])], None)
    assert (pair.prompt.tokens, pair.hack, pair.clean) == ((5,), (6, 2), (7,))
    [pair] = encode_pairs([TextPair("a", "b", "c")], lambda text: [ord(text)])
    assert pair.hack == (98,)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "found no hack"),
        ([{"prompt": "a", "hack": "b"}], ":1: no pair"),
        ([ROW, {**ROW, "hack": 3}], ":2: prompt, hack and clean have to be text"),
        ([ROW, 7], ":2: no pair"),
    ],
)
def test_a_file_without_pairs_says_what_is_wrong(tmp_path: Path, rows: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_pairs(written(tmp_path / "pairs.jsonl", *rows))


def test_other_bad_input_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_pairs(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="at least one pair"):
        hack_gate([])
    with pytest.raises(UsageError, match=r"share=1.5: it lies in \[0, 1\]"):
        hack_gate([TextPair("a", "b", "c")], share=1.5)
    with pytest.raises(UsageError, match="give `tokenizer`"):
        encode_pairs([TextPair("a", "b", "c")], None)
    with pytest.raises(UsageError, match="two different completions"):
        encode_pairs([TextPair([1], [2], [2])], None)
    with pytest.raises(UsageError, match="the prompt has no tokens"):
        encode_pairs([TextPair([], [2], [1])], None)
    with pytest.raises(UsageError, match=r"str .* lacks _generate_and_score_completions"):
        routed(str)
