"""The submission's side of both stages: the entry module of its process. Nothing here is trusted.

Stage 1 calls `compress_model`, stage 2 `load` and `forward`. The weights are views of a mapped
file, so a model larger than memory is compressed matrix by matrix.
"""

from __future__ import annotations

import importlib
import json
import os
import struct
from typing import Any

import numpy as np

solution: Any = importlib.import_module("solution")
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
