"""Threads of torch that suit a model: more than one only slow a tiny one down.

Covered: the sizes of `model.size`, checkpoints in a folder by the bytes of their weights.
Not covered: threads that NumPy's libraries start.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from pathlib import Path

import torch

from unhack.training.config.settings import Settings

_TINY_BYTES = 64 << 20
"""Weights of less are a tiny model: 16M parameters in float32."""


def threads_for(settings: Settings) -> int:
    """1 for a model below 16M parameters, else as many as this process has cores."""
    chosen = settings.model
    if chosen.path:
        files = [
            path for kind in ("*.safetensors", "*.bin") for path in Path(chosen.path).glob(kind)
        ]
        tiny = sum(path.stat().st_size for path in files) < _TINY_BYTES
    else:
        tiny = chosen.size not in ("large", "huge")
    return 1 if tiny else len(os.sched_getaffinity(0))


def set_threads(count: int) -> None:
    """Threads of torch from here on."""
    torch.set_num_threads(count)


@contextlib.contextmanager
def threads(count: int) -> Generator[None]:
    """Within: torch uses so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
