"""Pairs of a hack and an honest completion of one prompt, as text or token ids.

Covered: the file that `unhack audit --pairs` writes, lists, prompts as text or as a chat, the
tokenizers of Hugging Face (their template, their stop token), any function from text to ids.
Not covered: pictures in prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from torch import nn

from unhack.core.errors import UsageError
from unhack.training.worlds.pair_rows import read_pair_rows
from unhack.training.worlds.world import Pair, Prompt

_OFFSET = 2
"""Rows more than positions that a table may have (OPT)."""

Text = str | Sequence[int]
"""Text, or the ids of its tokens."""


@dataclass(frozen=True, slots=True)
class TextPair:
    """Two completions of one prompt: one that games the reward, one that earns it.

    Example:

        TextPair("Write f.", hack="import sys; sys.exit(0)", clean="def f(): return 1")
    """

    prompt: Text | Sequence[Mapping[str, Any]]
    """Text, token ids, or a chat whose next message is the completion."""
    hack: Text
    clean: Text
    flaw: str = ""
    """The kind of hack, for the log."""


def read_pairs(path: str | Path, *, chat: bool = False) -> list[TextPair]:
    """The pairs of a file that `unhack audit --pairs` wrote: one JSON object a line.

    `chat`: prompts become a user's message, for models that are trained on chats. Raises UsageError
    for a file without pairs or with a line that is none.
    """
    found: list[TextPair] = []
    for row in read_pair_rows(Path(path)):
        asked = row["prompt"]
        prompt = [{"role": "user", "content": asked}] if chat else asked
        found.append(TextPair(prompt, row["hack"], row["clean"], str(row.get("flaw", ""))))
    return found


def encode_pairs(pairs: Sequence[TextPair], tokenizer: Any) -> list[Pair]:
    """Pairs in a model's vocabulary. Raises UsageError for text without a tokenizer, and for a
    completion of no tokens."""
    found: list[Pair] = []
    for number, pair in enumerate(pairs):
        try:
            hack, clean = (_completion(side, tokenizer) for side in (pair.hack, pair.clean))
            tokens = _prompt(pair.prompt, tokenizer)
        except (TypeError, ValueError) as error:
            raise UsageError(f"pair {number}: no text and no token ids: {error}") from error
        if not hack or not clean or hack == clean:
            raise UsageError(f"pair {number}: two different completions are wanted, none empty")
        if not tokens:
            raise UsageError(f"pair {number}: the prompt has no tokens")
        prompt = Prompt(str(number), pair.flaw, "", tokens)
        found.append(Pair(prompt, hack, clean, pair.flaw))
    return found


def check_pairs(pairs: Sequence[Pair], model: nn.Module) -> None:
    """Raises UsageError for tokens that a model has no embedding of, and for pairs that are longer
    than its table of positions."""
    words, places = _tables(model)
    for number, pair in enumerate(pairs):
        for side in (pair.hack, pair.clean):
            ids = (*pair.prompt.tokens, *side)
            strange = [token for token in ids if token < 0 or (words and token >= words)]
            if strange:
                raise UsageError(
                    f"pair {number}: the model has no token {strange[0]}; take ids that it has"
                )
            if places and len(ids) > places:
                raise UsageError(
                    f"pair {number} has {len(ids)} tokens, the model {places} positions: shorten it"
                )


def _tables(model: nn.Module) -> tuple[int, int]:
    """Rows of the embeddings of tokens and of positions; 0 where that is unknown, or no table."""
    find: Any = getattr(model, "get_input_embeddings", None)
    try:
        held: Any = None if find is None else find()
    except (NotImplementedError, AttributeError):
        held = None
    words = held.num_embeddings if isinstance(held, nn.Embedding) else 0
    limit: Any = getattr(getattr(model, "config", None), "max_position_embeddings", None)
    tables = (
        item for item in model.modules() if isinstance(item, nn.Embedding) and item is not held
    )
    learnt = isinstance(limit, int) and any(
        0 <= item.num_embeddings - limit <= _OFFSET for item in tables
    )
    return words, cast(int, limit) if learnt else 0


def _prompt(
    prompt: Text | Sequence[Mapping[str, Any]], tokenizer: Any
) -> tuple[int, ...]:  # fmt: skip
    if not isinstance(prompt, str) and len(prompt) and isinstance(prompt[0], Mapping):
        template = getattr(tokenizer, "apply_chat_template", None)
        if template is None:
            raise UsageError("a prompt is a chat: give a tokenizer with a chat template")
        told = template(list(prompt), add_generation_prompt=True, tokenize=False)
        return _ids(_call(tokenizer)(told, add_special_tokens=False))
    return _encoded(cast(Text, prompt), tokenizer, special=True)


def _completion(side: Text, tokenizer: Any) -> tuple[int, ...]:
    """Token ids; text is followed by the tokenizer's stop token, if it has one."""
    tokens = _encoded(side, tokenizer, special=False)
    stop = getattr(tokenizer, "eos_token_id", None)
    return tokens if not isinstance(side, str) or stop is None else (*tokens, int(stop))


def _encoded(text: Text, tokenizer: Any, *, special: bool) -> tuple[int, ...]:
    if not isinstance(text, str):
        given: Any = text
        plain: list[Any] = given.tolist() if hasattr(given, "tolist") else given
        return tuple(int(token) for token in plain)
    if tokenizer is None:
        raise UsageError("pairs are text: give `tokenizer`, or pairs of token ids")
    if hasattr(tokenizer, "apply_chat_template"):
        return _ids(_call(tokenizer)(text, add_special_tokens=special))
    return _ids(_call(tokenizer)(text))


def _call(tokenizer: Any) -> Callable[..., Any]:
    """The tokenizer itself, or that of a processor of text and pictures."""
    return getattr(tokenizer, "tokenizer", tokenizer)


def _ids(encoded: Any) -> tuple[int, ...]:
    ids = encoded["input_ids"] if hasattr(encoded, "keys") else encoded
    return tuple(int(token) for token in ids)
