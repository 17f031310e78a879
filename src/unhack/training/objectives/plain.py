"""Plain numbers of tensors: where torch's own `tolist` has no type."""

from __future__ import annotations

from typing import Any


def numbers(values_N: Any) -> list[float]:
    """The floats of a tensor [N], in order."""
    return [float(item) for item in values_N.tolist()]
