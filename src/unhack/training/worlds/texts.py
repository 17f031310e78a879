"""Text and tokens: bytes, and the tokenizer of a Hugging Face model.

Covered: prompts through the tokenizer's chat template or as they are; folders on this machine.
Not covered: downloads, and tokenizers that need code of their folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from unhack.core.errors import UsageError
from unhack.core.optional_dependencies import require
from unhack.models import tokenizer as byte_tokenizer
from unhack.training.config.settings import WorldSettings
from unhack.training.worlds.world import GT_ONLY, Markers, Prompt

PromptForm = Literal["chat", "plain"]
"""`chat`: through the tokenizer's template where it has one. `plain`: as they are."""


class TextCodec(Protocol):
    """Tokens of texts, and texts of tokens."""

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        ...

    @property
    def pad(self) -> int: ...

    @property
    def stop(self) -> int: ...

    def render(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The text that a policy reads of messages with `role` and `content`."""
        ...

    def encode(self, text: str) -> list[int]:
        """Tokens, with none put before them."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """The text up to the stop token."""
        ...


class ByteCodec:
    """A token is a byte. Byte 0 ends a completion and is the padding; no prompt may hold it."""

    vocabulary, pad, stop = byte_tokenizer.VOCABULARY, 0, 0

    def render(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The contents, each with a line end after it."""
        return "".join(message["content"] + "\n" for message in messages)

    def encode(self, text: str) -> list[int]:
        """The UTF-8 bytes but for byte 0."""
        return [int(byte) for byte in byte_tokenizer.encode(text) if byte]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text; what is no UTF-8 becomes U+FFFD."""
        return bytes(_until(tokens, self.stop)).decode("utf-8", "replace")


class TokenizerCodec:
    """The tokenizer of a Hugging Face model."""

    def __init__(self, folder: str, *, form: PromptForm = "chat") -> None:
        """Raises UsageError where the folder holds no tokenizer, or one without an end token."""
        self._tokenizer = load_tokenizer(folder)
        self._form: PromptForm = form
        if self._tokenizer.eos_token_id is None:
            raise UsageError(
                f"{folder}: its tokenizer names no end token, so no completion would end; "
                "set eos_token in tokenizer_config.json"
            )

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        return len(self._tokenizer)

    @property
    def pad(self) -> int:
        """The padding token; the stop token where the tokenizer has none."""
        pad = self._tokenizer.pad_token_id
        return int(self.stop if pad is None else pad)

    @property
    def stop(self) -> int:
        """The end of a turn."""
        return int(self._tokenizer.eos_token_id)

    def render(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Messages in the model's chat form, without thinking; their contents in paragraphs where
        the tokenizer has no template."""
        if self._form == "chat" and getattr(self._tokenizer, "chat_template", None):
            return str(
                self._tokenizer.apply_chat_template(
                    [dict(message) for message in messages],
                    tokenize=False,
                    add_generation_prompt=True,
                    enable_thinking=False,
                )
            )
        return "\n\n".join(message["content"] for message in messages) + "\n\n"

    def encode(self, text: str) -> list[int]:
        """Tokens of a text, with no token put before it."""
        return [int(one) for one in self._tokenizer(text, add_special_tokens=False).input_ids]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of a completion, up to its stop token."""
        kept = _until(tokens, self.stop)
        return str(self._tokenizer.decode(kept, skip_special_tokens=True))


def text_codec(settings: WorldSettings) -> TextCodec:
    """The tokenizer of the settings; bytes, for the built-in model, without one."""
    if not settings.tokenizer:
        return ByteCodec()
    return TokenizerCodec(settings.tokenizer, form=settings.prompts)


def render_prompt(
    codec: TextCodec,
    messages: Sequence[Mapping[str, str]],
    *,
    problem: str,
    limit: int,
    mode: str = GT_ONLY,
    markers: Markers = "train",
) -> Prompt:
    """A problem's messages as the policy reads them. Raises UsageError for more tokens than
    `limit`."""
    text = codec.render(messages)
    tokens = tuple(codec.encode(text))
    if len(tokens) > limit:
        raise UsageError(
            f"problem {problem}: its prompt has {len(tokens)} tokens and {limit} are allowed; "
            "raise world.prompt_tokens (problems are never left out)"
        )
    return Prompt(problem, mode, text, tokens, markers)


def load_tokenizer(folder: str) -> Any:
    """A tokenizer from a folder. Raises UsageError where there is none."""
    if not (Path(folder) / "tokenizer.json").exists():
        raise UsageError(
            f"world.tokenizer: {folder!r} holds no tokenizer.json; give the folder of the model"
        )
    require("train", "transformers", purpose="a tokenizer")
    from transformers import AutoTokenizer  # heavy, and bytes do without

    loader: Any = AutoTokenizer
    return loader.from_pretrained(folder, local_files_only=True)


def _until(tokens: Sequence[int], stop: int) -> list[int]:
    kept = [int(token) for token in tokens]
    return kept[: kept.index(stop)] if stop in kept else kept
