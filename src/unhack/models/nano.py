"""The model over bytes that ships with the package: 0.8M parameters, trained on Python programs.

`train_nano` made it, and `nano.json` says how. It is there for tests and first steps: it knows no
task, and byte 0, which ends a completion, only what training teaches it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from safetensors.numpy import (
    load_file,  # pyright: ignore[reportUnknownVariableType]
)

from unhack.models.config import NANO
from unhack.models.qwen3 import Qwen3, from_weights

CHECKPOINT = Path(__file__).with_name("nano.safetensors")


def byte_model() -> Qwen3:
    """The shipped model, in float32 on the CPU."""
    weights: dict[str, Any] = load_file(CHECKPOINT)
    return from_weights(NANO, weights).eval()
