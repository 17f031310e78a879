"""The GPU problems by name."""

from __future__ import annotations

from pathlib import Path

from unhack.core.errors import UnknownNameError

_SOURCES = Path(__file__).parents[2] / "sources" / "gpu"
NAMES = ("rmsnorm", "softmax", "bias_gelu", "matmul")
DEFAULT = NAMES


def source(kind: str, name: str) -> str:
    """A file of this package: `problem`, `honest` or `cheat`."""
    return (_SOURCES / f"{kind}.{name}.txt").read_text()


def find(name: str) -> str:
    """Source of a problem in KernelBench's form. Raises UnknownNameError."""
    if name not in NAMES:
        raise UnknownNameError("problem", name, valid=NAMES)
    return source("problem", name)
