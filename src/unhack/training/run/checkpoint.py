"""Checkpoints: the adapters after so many updates, and what a run needs to go on from there.

    checkpoints/00010.safetensors   the adapters (`Adapters.state`)
    checkpoints/00010.json          commits it: hashes, lengths of the logs, plain state
    checkpoints/resume.00010.safetensors   moments and other tensors; only the newest is kept

Random draws of a step come from the run's seed, the step and a purpose (`sampling.make_generator`),
so there is no generator whose state has to be kept.

Covered: a kill at any point (what is not committed is not seen), a damaged file (StoreError).
Not covered: a disk that lies about fsync.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from safetensors.torch import load as _parsed
from safetensors.torch import save as _serialised
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.store.errors import StoreError, storing
from unhack.store.files import write_whole

FOLDER = "checkpoints"
_TENSOR = "__tensor__"


@dataclass(frozen=True, slots=True)
class Saved:
    """Contents of a checkpoint."""

    step: int
    """Completed updates."""
    adapters: Mapping[str, Tensor]
    state: Mapping[str, Any]
    """Nested plain data and tensors; tuples come back as lists."""
    lengths: Mapping[str, int]
    """Bytes of the run's logs at this point."""


def save(run: Path, saved: Saved) -> None:
    """Write a checkpoint; it is complete on the disk when this returns. Raises StoreError."""
    folder = run / FOLDER
    tensors: dict[str, Tensor] = {}
    plain = _pack(saved.state, tensors, "state")
    files = {
        f"{saved.step:05}.safetensors": _serialised(_portable(saved.adapters)),
        f"resume.{saved.step:05}.safetensors": _serialised(_portable(tensors)),
    }
    note = {
        "step": saved.step,
        "lengths": dict(saved.lengths),
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
        "state": plain,
    }
    with storing(run):
        folder.mkdir(exist_ok=True)
        for name, data in files.items():
            write_whole(folder / name, data, mode=0o644)
        text = json.dumps(note, indent=1) + "\n"
        write_whole(folder / f"{saved.step:05}.json", text.encode(), mode=0o644)
        for path in folder.glob("resume.*.safetensors"):
            if path.name not in files:
                path.unlink()


def checkpoint_steps(run: Path) -> list[int]:
    """Completed updates of the checkpoints of a run, rising."""
    found = (run / FOLDER).glob("[0-9]*.json")
    return sorted(int(path.stem) for path in found if path.with_suffix(".safetensors").exists())


def load_adapters(run: Path, step: int, *, device: str = "cpu") -> dict[str, Tensor]:
    """The adapters after `step` updates, for `Adapters.load`.

    Raises UsageError where there is no such checkpoint, StoreError where it is damaged.
    """
    note = _note(run, step)
    return {
        name: tensor.to(device)
        for name, tensor in _tensors(run, f"{step:05}.safetensors", note).items()
    }


def newest(run: Path) -> Saved | None:
    """The newest checkpoint that a run can go on from; None where there is none."""
    for step in reversed(checkpoint_steps(run)):
        resume = f"resume.{step:05}.safetensors"
        if (run / FOLDER / resume).exists():
            note = _note(run, step)
            return Saved(
                step=step,
                adapters=_tensors(run, f"{step:05}.safetensors", note),
                state=_unpack(note["state"], _tensors(run, resume, note)),
                lengths=note["lengths"],
            )
    return None


def thin(run: Path, *, keep: int = 1) -> None:
    """Delete all but the last `keep` checkpoints (their evaluation is in `curve.json`)."""
    with storing(run):
        for step in checkpoint_steps(run)[:-keep]:
            for suffix in (".json", ".safetensors"):
                (run / FOLDER / f"{step:05}{suffix}").unlink()


def _note(run: Path, step: int) -> dict[str, Any]:
    path = run / FOLDER / f"{step:05}.json"
    if not path.exists():
        found = ", ".join(str(item) for item in checkpoint_steps(run)) or "none"
        raise UsageError(f"{run}: no checkpoint after {step} updates; there are: {found}")
    with storing(run):
        return json.loads(path.read_bytes())


def _tensors(run: Path, name: str, note: Mapping[str, Any]) -> dict[str, Tensor]:
    with storing(run):
        data = (run / FOLDER / name).read_bytes()
    if hashlib.sha256(data).hexdigest() != note["sha256"][name]:
        raise StoreError(f"{run / FOLDER / name}: damaged; restore it from a copy, or begin anew")
    return _parsed(data)


def _portable(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Own, contiguous memory on the processor, in the order of names."""
    return {name: tensors[name].detach().to("cpu").contiguous().clone() for name in sorted(tensors)}


def _pack(value: Any, tensors: dict[str, Tensor], name: str) -> Any:
    """Plain data in which each tensor is a note of its name; the tensors go to `tensors`."""
    if isinstance(value, Tensor):
        tensors[name] = value
        return {_TENSOR: name}
    if isinstance(value, Mapping):
        items = cast(Mapping[str, Any], value).items()
        return {str(key): _pack(item, tensors, f"{name}/{key}") for key, item in items}
    if isinstance(value, (list, tuple)):
        items = enumerate(cast(list[Any], value))
        return [_pack(item, tensors, f"{name}/{index}") for index, item in items]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(f"{name}: {type(value).__name__} cannot be kept in a checkpoint")


def _unpack(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    if isinstance(value, dict):
        items = cast(dict[str, Any], value)
        if set(items) == {_TENSOR}:
            return torch.clone(tensors[items[_TENSOR]])
        return {key: _unpack(item, tensors) for key, item in items.items()}
    if isinstance(value, list):
        return [_unpack(item, tensors) for item in cast(list[Any], value)]
    return value
