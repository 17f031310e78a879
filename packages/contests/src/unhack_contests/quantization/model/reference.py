"""The model that submissions compress: its weights as a file, its logits, and a decoy of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]

from unhack.models.config import Config
from unhack.tournament.kit import UsageError, content_hash
from unhack_contests.quantization.model import numpy_qwen3

Array = NDArray[Any]
_TABLE = "model.embed_tokens.weight"
_SWAPPED = b"37xzqjkv"
"""Bytes whose embeddings are exchanged in pairs in the decoy."""


class Nano:
    """The byte model of the package, computed in numpy."""

    token_type = "uint8"
    """The integer type in which tokens are handed over."""

    def __init__(self, path: Path | None = None) -> None:
        """Raises UsageError where the checkpoint is not what its manifest says."""
        folder = Path(str(resources.files("unhack.models")))
        self._path = path or folder / "nano.safetensors"
        manifest = self._path.with_suffix(".json")
        if not (self._path.is_file() and manifest.is_file()):
            build = "python -m unhack.models.train_nano"
            raise UsageError(f"there is no checkpoint at {self._path}; build it with `{build}`")
        self._data = self._path.read_bytes()
        self.digest = content_hash(self._data)
        """Says which weights these are."""
        self.manifest: dict[str, Any] = json.loads(manifest.read_text())
        if self.manifest["sha256"] != hashlib.sha256(self._data).hexdigest():
            raise UsageError(f"{self._path} is not the checkpoint of its manifest")
        self._shape = Config(**self.manifest["config"])
        self._weights: dict[str, Array] = load_file(self._path)
        self._plain = _widened(self._weights)
        self._other = _widened(self._decoy_weights())

    @property
    def vocab(self) -> int:
        return self._shape.vocab

    @property
    def config(self) -> dict[str, Any]:
        """The shape, as `compress` is told it."""
        return asdict(self._shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the weights as 16-bit numbers."""
        return 2 * self._shape.parameters

    def weights(self, scratch: Path) -> Path:
        """A safetensors file of float16 tensors, alone in its directory."""
        return _write(scratch / "reference", self._data)

    def decoy(self, scratch: Path) -> Path:
        """A file of the same form with other weights."""
        # The file itself with other bytes: a header of its own would tell it from the weights.
        table, other = self._weights[_TABLE].tobytes(), self._decoy_weights()[_TABLE].tobytes()
        return _write(scratch / "decoy", self._data.replace(table, other))

    def logits(self, tokens: Array, positions: Array) -> Array:
        """float32 [B, P, V]."""
        return _forward(self._plain, self._shape, tokens, positions)

    def decoy_logits(self, tokens: Array, positions: Array) -> Array:
        """The answers of a submission that took the decoy for the weights."""
        return _forward(self._other, self._shape, tokens, positions)

    def arrays(self) -> dict[str, Array]:
        """The weights by name, float16."""
        return dict(self._weights)

    def _decoy_weights(self) -> dict[str, Array]:
        table = self._weights[_TABLE].copy()
        first, second = list(_SWAPPED[::2]), list(_SWAPPED[1::2])
        table[first + second] = table[second + first]
        return {**self._weights, _TABLE: table}


@lru_cache(maxsize=1)
def nano() -> Nano:
    """The package's checkpoint. Raises UsageError where there is none."""
    return Nano()


def _write(folder: Path, data: bytes) -> Path:
    path = folder / "model.safetensors"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path


def _widened(weights: Mapping[str, Array]) -> dict[str, Array]:
    return {name: np.asarray(array, dtype=np.float32) for name, array in weights.items()}


def _forward(weights: Mapping[str, Array], shape: Config, tokens: Array, positions: Array) -> Array:
    return numpy_qwen3.forward(
        weights, shape, tokens_B_T=tokens.astype(np.int64), positions_P=positions
    )
