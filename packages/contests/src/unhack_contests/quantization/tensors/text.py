"""Windows of tokens for a model with any tokenizer: programs made afresh, or a text of the user's.

Covered: pools that share no piece; windows that exist only after their seed is known.
Not covered: what the model has read before: a public text may be known to it by heart, which the
reference is then given too.
"""

from __future__ import annotations

import hashlib
import typing
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from unhack.tournament.kit import DataPool, UsageError
from unhack_contests.quantization.data import text
from unhack_contests.quantization.data.questions import Texts

Array = NDArray[Any]
_CHUNK = 8192
"""Characters of a piece of a text; a piece belongs to one pool."""
_POOLS = (DataPool.DEV, DataPool.JUDGE, DataPool.AUDIT, DataPool.CONFIRM)
_TOKENIZERS = ("tokenizer.json", "tokenizer_config.json", "vocab.json", "tokenizer.model")
_BYTES_A_TOKEN = 6
_MADE_BYTES = 4 * text.DEV_BYTES
"""Of the text that agents get where a token is several bytes."""


class Coder(typing.Protocol):
    """From text to tokens and back."""

    def encode(self, words: str) -> Array:
        """int32 [N], without special tokens."""
        ...

    def decode(self, tokens: Array) -> bytes: ...


class ByteCoder:
    """A token is a byte."""

    def encode(self, words: str) -> Array:
        return np.frombuffer(words.encode("utf-8", "replace"), dtype=np.uint8).astype(np.int32)

    def decode(self, tokens: Array) -> bytes:
        return tokens.astype(np.uint8).tobytes()


class TokenizerCoder:
    """The tokenizer that lies beside a model."""

    def __init__(self, folder: Path) -> None:
        """Raises UsageError where transformers cannot load it."""
        import transformers

        try:
            self._coder = cast("Any", transformers.AutoTokenizer).from_pretrained(str(folder))
        except (OSError, ValueError, KeyError, ImportError) as error:
            told = str(error).strip().splitlines() or [type(error).__name__]
            raise UsageError(f"transformers cannot load {folder}'s tokenizer: {told[0]}") from None

    def encode(self, words: str) -> Array:
        found = self._coder(words, add_special_tokens=False, verbose=False)["input_ids"]
        return np.asarray(found, dtype=np.int32)

    def decode(self, tokens: Array) -> bytes:
        return str(self._coder.decode(tokens.tolist())).encode()


def open_texts(model: str, words: str, *, vocab: int, needed: int) -> Texts:
    """The texts of a model's folder: of the user's file `words`, or made afresh.

    `needed`: tokens that every pool has to hold. Raises UsageError where there is no tokenizer for
    more than 256 tokens, or the text is too short.
    """
    folder = Path(model)
    has = bool(model) and any((folder / name).is_file() for name in _TOKENIZERS)
    if not has and vocab > 256:
        raise UsageError(
            f"model={model} has {vocab} tokens and no tokenizer: put its tokenizer.json beside "
            "config.json (without one a token is a byte, and there are 256)"
        )
    coder: Coder = TokenizerCoder(folder) if has else ByteCoder()
    if words:
        return FileTexts(Path(words), coder, needed=needed)
    return MadeTexts(coder) if has else text.Programs()


def calibration_tokens(texts: Texts, *, most: int) -> Array:
    """The tokens [N] that both stages of every submission are given, `most` at most: of the first
    half of the agents' text, for the windows of `check` come from the second."""
    given = texts.given()
    return given[: min(most, len(given) // 2)]


class _Coded:
    """The parts that both sources share: no planted text, crops of tokens."""

    def planted(self) -> Array | None:
        return None

    def unused(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (), ()

    def crops(self, tokens: Array, *, seed: int, count: int, length: int) -> Array:
        rng = np.random.default_rng(seed & (2**63 - 1))
        starts = rng.integers(0, len(tokens) - length, count)
        return np.stack([tokens[first : first + length + 1] for first in starts])


class MadeTexts(_Coded):
    """Programs with the shapes of library files, made afresh, in the tokens of a tokenizer."""

    def __init__(self, coder: Coder) -> None:
        self._coder = coder

    def windows(self, pool: DataPool, *, seed: int, count: int, length: int) -> Array:
        if pool is DataPool.DEV:
            given = self.given()
            return self.crops(given[len(given) // 2 :], seed=seed, count=count, length=length)
        size = _BYTES_A_TOKEN * length
        while True:
            drawn = text.windows(pool, seed=seed, count=count, length=size)
            rows = [self._coder.encode(row.tobytes().decode("utf-8", "replace")) for row in drawn]
            if min(map(len, rows)) > length:
                return np.stack([row[: length + 1] for row in rows])
            size *= 2

    def given(self) -> Array:
        return self._given

    def sealed(self, *, seed: int, count: int, length: int) -> bytes:
        size = _BYTES_A_TOKEN * length
        return text.sealed(DataPool.JUDGE, seed=seed, count=count, length=size)

    def public(self) -> bytes:
        return text.given(_MADE_BYTES)

    @cached_property
    def _given(self) -> Array:
        return self._coder.encode(self.public().decode("utf-8", "replace"))


class FileTexts(_Coded):
    """Windows of a text on disk, whose pieces belong to one pool each."""

    def __init__(self, path: Path, coder: Coder, *, needed: int) -> None:
        """`path`: a file, or a folder of them. Raises UsageError where it is too short."""
        files = (
            sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
        )
        whole = "\n".join(item.read_text(errors="replace") for item in files)
        pieces = dict.fromkeys(whole[at : at + _CHUNK] for at in range(0, len(whole), _CHUNK))
        parts: dict[DataPool, list[Array]] = {pool: [] for pool in _POOLS}
        for piece in pieces:
            place = hashlib.sha256(piece.encode("utf-8", "replace")).digest()[0] % len(_POOLS)
            parts[_POOLS[place]].append(coder.encode(piece))
        self._coder = coder
        self.digest = hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()
        """Of the text."""
        self._pools = {
            pool: np.concatenate(found) if found else np.zeros(0, np.int32)
            for pool, found in parts.items()
        }
        short = {pool: len(found) for pool, found in self._pools.items() if len(found) < needed}
        if short:
            pool, found = min(short.items(), key=lambda item: item[1])
            raise UsageError(
                f"text={path} is too short: the pool {pool} has {found} tokens of it, and needs "
                f"{needed}; give a longer text, or fewer tokens (calibration, length)"
            )

    def windows(self, pool: DataPool, *, seed: int, count: int, length: int) -> Array:
        tokens = self._pools[pool]
        if pool is DataPool.DEV:
            tokens = tokens[len(tokens) // 2 :]
        return self.crops(tokens, seed=seed, count=count, length=length)

    def given(self) -> Array:
        return self._pools[DataPool.DEV]

    def sealed(self, *, seed: int, count: int, length: int) -> bytes:
        rows = self.windows(DataPool.JUDGE, seed=seed, count=count, length=length)
        return b"\x00".join(self._coder.decode(row) for row in rows)

    def public(self) -> bytes:
        return self._coder.decode(self.given())
