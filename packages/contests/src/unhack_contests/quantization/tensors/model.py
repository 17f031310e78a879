"""The model that submissions compress: a folder that transformers loads, computed by the judge.

    model = open_model(Path("qwen"), device="cuda:0")
    with model.turn():
        losses = model.losses(windows, weights)      # weights: those that a submission gave back

Covered: any causal language model that transformers knows, from safetensors; its weights rounded to
16 bits, which is what a submission is held against; parameters that are shared count once.
Not covered: code that a checkpoint brings along (`trust_remote_code`), pickled weights.

Axes: N windows, T tokens, V vocabulary.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Generator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from unhack.models.config import NANO
from unhack.tournament.kit import UsageError
from unhack_contests.quantization import score

Array = NDArray[Any]
Weights = Mapping[str, Any]
"""Parameter name -> array."""
_EXACT_BYTES = 16 << 30
"""Models below this size, as 16-bit numbers, are computed in float32."""
_BATCH_LOGITS = 1 << 27
"""Numbers of one batch's logits."""
_SHOWN = ("/usr", "/lib", "/lib64", "/bin", os.path.realpath(os.path.dirname(os.__file__)))
"""Folders of the host that a sealed process sees."""


class ReferenceModel:
    """A model in this process's memory, and its files as stage 1 gets them."""

    def __init__(self, model: Any, *, digest: str, device: str) -> None:
        """`model`: as transformers loads it, in 16 bits."""
        self.digest, self.device = digest, device
        self._room = Path(tempfile.mkdtemp(prefix="unhack-model-"))
        weakref.finalize(self, shutil.rmtree, str(self._room), ignore_errors=True)
        self.staged = self._room / "model"
        """Folder with `config.json` and the weights in 16 bits, for stage 1 alone."""
        model.save_pretrained(str(self.staged))
        for path in (self._room, self.staged, *self.staged.iterdir()):
            path.chmod(0o755 if path.is_dir() else 0o644)
        self._parameters: dict[str, Any] = dict(model.named_parameters())
        self.shapes = {name: list(item.shape) for name, item in self._parameters.items()}
        """Sizes of every parameter, in the model's own order; a shared one stands once."""
        self.parameters = sum(int(item.numel()) for item in self._parameters.values())
        self.dtype = "float32" if self.nbytes < _EXACT_BYTES else str(model.dtype).split(".")[-1]
        """Name of the format that is computed in."""
        import torch

        self._torch: Any = torch
        self._device = torch.device(device)
        self._model = model.to(self._device, getattr(torch, self.dtype)).eval()
        self._model.requires_grad_(False)
        self._lock = threading.Lock()

    @property
    def vocab(self) -> int:
        return int(self._model.config.vocab_size)

    @property
    def nbytes(self) -> int:
        """Bytes of the parameters as 16-bit numbers."""
        return 2 * self.parameters

    @property
    def longest(self) -> int:
        """Tokens that it can look back on; 0 where it does not say."""
        return int(getattr(self._model.config, "max_position_embeddings", 0) or 0)

    @contextlib.contextmanager
    def turn(self) -> Generator[None]:
        """Have the model for a block of code: it computes for one thread at a time."""
        with self._lock:
            yield

    def losses(self, windows: Array, weights: Weights | None, *, temperature: float = 1.0) -> Array:
        """Nats [N, T] of each token after the first of windows [N, T + 1]; `weights` in place of
        the reference's own where they are given. To be called within `turn`."""
        torch, found = self._torch, list[Array]()
        with self._holding(weights):
            for ids in self._batches(windows):
                logits = self._logits(ids[:, :-1]) / temperature
                chosen = logits.gather(-1, ids[:, 1:, None])[..., 0]
                found.append((torch.logsumexp(logits, -1) - chosen).double().cpu().numpy())
        return np.concatenate(found)

    def logits(self, windows: Array, weights: Weights | None) -> Array:
        """float32 [N, T, V] for a model with a small vocabulary. To be called within `turn`."""
        found: list[Array] = []
        with self._holding(weights):
            for ids in self._batches(windows):
                found.append(self._logits(ids[:, :-1]).cpu().numpy())
        return np.concatenate(found)

    def temperature(self, windows: Array, weights: Weights | None) -> float:
        """The one under which these windows [N, T + 1] have the least loss; as many of them are
        looked at as one batch holds. To be called within `turn`."""
        torch = self._torch
        with self._holding(weights):
            ids = next(self._batches(windows))
            logits = self._logits(ids[:, :-1])
        chosen = logits.gather(-1, ids[:, 1:, None])[..., 0]

        def loss(heat: float) -> float:
            return float((torch.logsumexp(logits / heat, -1) - chosen / heat).double().mean())

        return score.least(loss)

    def _batches(self, windows: Array) -> Generator[Any]:
        size = max(1, _BATCH_LOGITS // (windows.shape[1] * self.vocab))
        for first in range(0, len(windows), size):
            rows = windows[first : first + size].astype(np.int64)
            yield self._torch.from_numpy(rows).to(self._device)

    def _logits(self, ids: Any) -> Any:
        with self._torch.inference_mode():
            return self._model(input_ids=ids, use_cache=False).logits.float()

    @contextlib.contextmanager
    def _holding(self, weights: Weights | None) -> Generator[None]:
        """Another model's weights in the places of its own, for a block of code."""
        if weights is None:
            yield
            return
        own = {name: item.data for name, item in self._parameters.items()}
        try:
            for name, item in self._parameters.items():
                given = self._torch.from_numpy(np.array(weights[name]))
                item.data = given.to(item.device, item.dtype)
            yield
        finally:
            for name, item in self._parameters.items():
                item.data = own[name]


def open_model(folder: str, *, device: str) -> ReferenceModel:
    """The model of a folder, or the package's own for an empty name.

    Raises UsageError with what is missing, and what transformers says of a model it cannot load.
    """
    if not folder:
        with tempfile.TemporaryDirectory() as scratch:
            return _opened(_own(Path(scratch)), device)
    path = check_folder(folder)
    return _opened(path, device)


def check_folder(name: str) -> Path:
    """The folder of a model, once it is one. Raises UsageError."""
    folder = Path(name)
    if not folder.is_dir():
        raise UsageError(f"model={name}: there is no such folder")
    if not (folder / "config.json").is_file():
        raise UsageError(
            f"model={name} holds no config.json: give the folder that save_pretrained wrote, or "
            "the snapshot of a download"
        )
    if not sorted(folder.glob("*.safetensors")):
        raise UsageError(
            f"model={name} holds no .safetensors file: pickled weights are not read; save it again "
            "with save_pretrained"
        )
    real = str(folder.resolve())
    if any(real == top or real.startswith(f"{top}/") for top in _SHOWN):
        raise UsageError(
            f"model={name} lies below a folder of the system, which sealed processes see: copy it "
            "elsewhere, so that stage 2 cannot read it"
        )
    return folder


def _own(scratch: Path) -> Path:
    """The package's byte model as a folder for transformers."""
    data = resources.files("unhack.models").joinpath("nano.safetensors").read_bytes()
    (scratch / "model.safetensors").write_bytes(data)
    (scratch / "config.json").write_text(json.dumps(NANO.to_huggingface()))
    return scratch


def _opened(folder: Path, device: str) -> ReferenceModel:
    import torch
    import transformers

    cast("Any", transformers).utils.logging.disable_progress_bar()
    digest = hashlib.sha256()
    for path in (folder / "config.json", *sorted(folder.glob("*.safetensors"))):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    loader = cast("Any", transformers.AutoModelForCausalLM)
    try:
        model = loader.from_pretrained(str(folder), dtype="auto")
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        told = str(error).strip().splitlines() or [type(error).__name__]
        raise UsageError(f"transformers cannot load a model from {folder}: {told[0]}") from None
    wide = model.dtype == torch.bfloat16 or not _fits(torch, model)
    model = model.to(torch.bfloat16 if wide else torch.float16)
    return ReferenceModel(model, digest=digest.hexdigest(), device=device)


def _fits(torch: Any, model: Any) -> bool:
    """True when float16 holds every weight."""
    largest = torch.finfo(torch.float16).max
    return all(float(item.detach().abs().max()) <= largest for item in model.parameters())
