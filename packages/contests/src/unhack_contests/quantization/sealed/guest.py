"""The submission's side of both stages: the entry module of its process. Nothing here is trusted.

Stage 1 calls `compress_model`, stage 2 `load` and `forward`. The weights are views of a mapped
file, so a model larger than memory is compressed matrix by matrix.
"""

from __future__ import annotations

import importlib
import json
import os
import struct
import sys
import types
from typing import Any


def _drop_docstrings() -> None:
    """Take the docstrings out of modules that were loaded from sources before this one."""
    seen: set[int] = set()
    for module in list(sys.modules.values()):
        waiting = list(getattr(module, "__dict__", {}).values())
        module.__doc__ = None
        for value in waiting:
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, types.FunctionType) and isinstance(value.__doc__, str):
                constants = value.__code__.co_consts
                if constants[:1] == (value.__doc__,):
                    value.__code__ = value.__code__.replace(co_consts=(None, *constants[1:]))
                value.__doc__ = None
            elif isinstance(value, type) and value.__module__ == module.__name__:
                waiting += [item for key, item in vars(value).items() if key != "__class__"]
                heap, immutable = value.__flags__ & 1 << 9, value.__flags__ & 1 << 8
                if isinstance(vars(value).get("__doc__"), str) and heap and not immutable:
                    value.__doc__ = None


_drop_docstrings()
for _name in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"  # read by numerical libraries when they are loaded

import numpy as np  # noqa: E402


def _solution() -> Any:
    """The submission's module; of a library module that stage 2 lacks the error says so."""
    try:
        return importlib.import_module("solution")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in sys.stdlib_module_names:
            raise
        raise ModuleNotFoundError(
            f"stage 2 has no module {error.name!r}: STATEMENT.md lists those of the standard "
            "library that are there; import others inside `compress`"
        ) from None


solution: Any = _solution()
_TYPES = {"F16": "<f2", "F32": "<f4"}


def compress_model(path: str, calibration: Any, out_dir: str, config: dict[str, Any]) -> None:
    """Hand the weights to the submission's `compress`."""
    os.makedirs(out_dir)
    data: Any = np.memmap(path, dtype=np.uint8, mode="r")
    (length,) = struct.unpack("<Q", data[:8].tobytes())
    header = json.loads(data[8 : 8 + length].tobytes())
    header.pop("__metadata__", None)
    weights: dict[str, Any] = {}
    for name, fields in header.items():
        first, last = fields["data_offsets"]
        flat = data[8 + length + first : 8 + length + last].view(_TYPES[fields["dtype"]])
        weights[name] = flat.reshape(fields["shape"])
    solution.compress(weights, calibration, out_dir, config)


def load(folder: str) -> None:
    """Hand the artifact's folder to the submission's `load`."""
    solution.load(folder)


def forward(tokens: Any, positions: Any) -> Any:
    """The submission's logits."""
    return solution.forward(tokens, positions)
