"""Pairs from files and lists, in a model's tokens."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from unhack.core.errors import UsageError
from unhack.routing import Router, TextPair, attach, hack_gate, read_pairs, routed
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
    with pytest.raises(UsageError, match=r"share=1.5: it is a number in \[0, 1\]"):
        hack_gate([TextPair("a", "b", "c")], share=1.5)
    with pytest.raises(UsageError, match="give `tokenizer`"):
        encode_pairs([TextPair("a", "b", "c")], None)
    with pytest.raises(UsageError, match="two different completions"):
        encode_pairs([TextPair([1], [2], [2])], None)
    with pytest.raises(UsageError, match="the prompt has no tokens"):
        encode_pairs([TextPair([], [2], [1])], None)
    with pytest.raises(UsageError, match=r"str .* lacks _generate_and_score_completions"):
        routed(str)


@pytest.mark.parametrize(
    ("pairs", "named", "words"),
    [
        ([("a", "b", "c")], {}, r"pair 0 is a tuple: write TextPair\("),
        ([{"prompt": "a", "hack": "b", "clean": "c"}], {}, "pair 0 is a dict"),
        (None, {"share": "0.3"}, "share='0.3': it is a number"),
        (None, {"off_share": math.nan}, "off_share=nan: it is a number"),
        (None, {"refresh": -1}, "refresh=-1: it is a number of updates"),
        (None, {"refresh": 1.5}, "refresh=1.5"),
        (None, {"action": "filter"}, "action='filter': it is 'route' or 'drop'"),
    ],
)
def test_settings_of_a_gate_are_told_before_it_is_used(pairs: Any, named: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        hack_gate(pairs or [TextPair([1], [2], [3])], **named)


def test_one_pair_alone_and_ids_in_tensors_are_pairs() -> None:
    assert hack_gate(TextPair([1], [2], [3])).pairs == (TextPair([1], [2], [3]),)  # type: ignore[arg-type]
    tensors = TextPair(*(torch.tensor([number, 1]) for number in range(3)))  # type: ignore[arg-type]
    (pair,) = encode_pairs([tensors], None)
    assert (pair.prompt.tokens, pair.hack, pair.clean) == ((0, 1), (1, 1), (2, 1))


def test_an_empty_text_is_a_completion_that_only_stops() -> None:
    (pair,) = encode_pairs([TextPair("a", "b", "")], WordTokenizer())
    assert pair.clean == (WordTokenizer.eos_token_id,)


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (TextPair([1], [99], [2]), "pair 0: the model has no token 99"),
        (TextPair([-1], [1], [2]), "pair 0: the model has no token -1"),
        (TextPair([1] * 8, [2], [3]), "pair 0 has 9 tokens, the model 8 positions"),
        (TextPair(None, [2], [3]), "pair 0: no text and no token ids"),  # type: ignore[arg-type]
        (TextPair(["a"], [2], [3]), "pair 0: no text and no token ids"),  # type: ignore[list-item]
    ],
)
def test_what_the_model_cannot_read_is_told_before_the_first_update(
    pair: TextPair, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        Router(attach(Placed()), hack_gate([pair]))


def test_a_pair_may_fill_the_positions_of_a_model() -> None:
    Router(attach(Placed()), hack_gate([TextPair([1] * 7, [2], [3])]))


class Placed(nn.Module):
    """A model with a table of eight positions."""

    def __init__(self) -> None:
        super().__init__()
        self.config = SimpleNamespace(max_position_embeddings=8)
        self.words, self.places = nn.Embedding(11, 4), nn.Embedding(8, 4)
        self.up, self.lm_head = nn.Linear(4, 4), nn.Linear(4, 11)

    def get_input_embeddings(self) -> nn.Embedding:
        return self.words
