"""A checkpoint from disk as the reference: any causal language model that transformers can load.

The reference's logits come from transformers on the chosen device; `compress` gets the tensors of
the safetensors shards as float16. A checkpoint with a tokenizer is judged on its tokens, one over
bytes (256 entries or fewer) on generated programs like the package's own model.

Covered: one code path with the byte model; memory is bounded by batches and asked positions.
Not covered: a decoy of the weights, and a planted text where the model has a tokenizer. The text of
such a model is a file of the user's: keep it away from workspaces.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from unhack.core.errors import UsageError
from unhack.models.config import Config
from unhack.tournament.contest import DataPool
from unhack.tournament.contests.quantization.data.questions import Texts
from unhack.tournament.contests.quantization.data.text import Programs
from unhack.tournament.contests.quantization.model.reference import Reference
from unhack.tournament.contests.quantization.settings import QuantizationSettings

Array = NDArray[Any]
_CHUNK = 8192
"""Characters of a piece of the text; a piece belongs to one pool."""
_EXACT_BYTES = 16 << 30
"""Checkpoints below this size are computed in float32."""
_POOLS = (DataPool.DEV, DataPool.JUDGE, DataPool.AUDIT, DataPool.CONFIRM)


def open_checkpoint(settings: QuantizationSettings) -> tuple[Reference, Texts]:
    """The reference and its texts. Raises UsageError where the checkpoint or the text do not do."""
    reference = Checkpoint(Path(settings.model), device=settings.device)
    if (Path(settings.model) / "tokenizer.json").is_file():
        if not settings.text:
            raise UsageError("a model with a tokenizer needs `text=PATH`: what to judge it on")
        return reference, Tokenised(Path(settings.text), Path(settings.model))
    if reference.vocab > 256:
        raise UsageError(f"{settings.model} has no tokenizer.json and more than 256 tokens")
    return reference, Programs()


class Checkpoint:
    """A directory with `config.json` and safetensors shards."""

    token_type = "int32"

    def __init__(self, folder: Path, *, device: str) -> None:
        """Raises UsageError where there are no shards."""
        import torch
        import transformers

        self._shards = sorted(folder.glob("*.safetensors"))
        if not self._shards:
            raise UsageError(f"{folder} holds no .safetensors file")
        fields: dict[str, Any] = json.loads((folder / "config.json").read_text())
        self._shape = Config.from_huggingface(fields)
        digest = hashlib.sha256((folder / "config.json").read_bytes())
        for shard in self._shards:
            with shard.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        self.digest = digest.hexdigest()
        self._device = torch.device(device)
        size = sum(shard.stat().st_size for shard in self._shards)
        narrow = torch.float32 if size < _EXACT_BYTES else torch.bfloat16
        loader = cast("Any", transformers.AutoModelForCausalLM)
        model = loader.from_pretrained(str(folder), dtype=narrow)
        self._model = model.to(self._device).eval()
        self._parameters = int(sum(item.numel() for item in self._model.parameters()))

    @property
    def vocab(self) -> int:
        return self._shape.vocab

    @property
    def config(self) -> Mapping[str, Any]:
        return asdict(self._shape)

    @property
    def nbytes(self) -> int:
        return 2 * self._parameters

    def weights(self, scratch: Path) -> Path:
        import torch
        from safetensors.torch import (
            load_file,  # pyright: ignore[reportUnknownVariableType]
            save_file,  # pyright: ignore[reportUnknownVariableType]
        )

        path = scratch / "reference" / "model.safetensors"
        if not path.exists():
            tensors = {
                name: tensor.to(torch.float16)
                for shard in self._shards
                for name, tensor in load_file(shard).items()  # numpy has no bfloat16
                if not (name == "lm_head.weight" and self._shape.tied)
            }
            path.parent.mkdir(parents=True)
            save_file(tensors, path)
        return path

    def decoy(self, scratch: Path) -> Path | None:
        return None

    def logits(self, tokens: Array, positions: Array) -> Array:
        import torch

        ids = torch.tensor(tokens.astype(np.int64), device=self._device)
        with torch.inference_mode():
            whole = self._model(input_ids=ids, use_cache=False).logits
            chosen = whole[:, torch.tensor(positions, device=self._device)]
        return chosen.float().cpu().numpy()

    def decoy_logits(self, tokens: Array, positions: Array) -> Array | None:
        return None


class Tokenised:
    """Windows of tokens of a text on disk, whose pieces belong to one pool each."""

    def __init__(self, path: Path, tokenizer: Path) -> None:
        """`path`: a file, or a folder of them. Raises UsageError where it is too short."""
        import transformers

        files = (
            sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
        )
        text = "\n".join(item.read_text(errors="replace") for item in files)
        pieces = [text[at : at + _CHUNK] for at in range(0, len(text), _CHUNK)]
        self._coder = cast("Any", transformers.AutoTokenizer).from_pretrained(str(tokenizer))
        self._pools: dict[DataPool, list[Array]] = {pool: [] for pool in _POOLS}
        for piece in pieces:
            place = hashlib.sha256(piece.encode("utf-8", "replace")).digest()[0] % len(_POOLS)
            ids = np.asarray(
                self._coder(piece, add_special_tokens=False)["input_ids"], dtype=np.int32
            )
            self._pools[_POOLS[place]].append(ids)
        short = [pool for pool, found in self._pools.items() if not found]
        if short:
            raise UsageError(f"{path} is too short: no piece for the pool {short[0]}")

    def windows(self, pool: DataPool, *, seed: int, count: int, length: int) -> Array:
        joined = np.concatenate(self._pools[pool])
        if pool is DataPool.DEV:
            joined = joined[len(joined) // 2 :]
        return self.crops(joined, seed=seed, count=count, length=length)

    def given(self) -> Array:
        return np.concatenate(self._pools[DataPool.DEV])

    def sealed(self, *, seed: int, count: int, length: int) -> bytes:
        windows = self.windows(DataPool.JUDGE, seed=seed, count=count, length=length)
        return b"\x00".join(str(self._coder.decode(row.tolist())).encode() for row in windows)

    def public(self) -> bytes:
        return str(self._coder.decode(self.given().tolist())).encode()

    def planted(self) -> Array | None:
        return None

    def unused(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (), ()

    def crops(self, tokens: Array, *, seed: int, count: int, length: int) -> Array:
        if len(tokens) < 4 * length:
            raise UsageError(f"a pool of the text has {len(tokens)} tokens: too few for windows")
        rng = np.random.default_rng(seed & (2**63 - 1))
        starts = rng.integers(0, len(tokens) - length, count)
        return np.stack([tokens[first : first + length + 1] for first in starts])
