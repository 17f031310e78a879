"""The submission's second stage, inside: `decompress`, and its tensors one after the other.

It is the entry module of a `sandbox.submission.compute` process. Nothing here is trusted.
"""

from __future__ import annotations

import importlib
from typing import Any

torch: Any = importlib.import_module("torch")
torch.set_num_threads(1)  # the process may have no other thread
torch.manual_seed(0)
torch.backends.mkldnn.enabled = False  # it writes machine code, which no process here may run
solution: Any = importlib.import_module("solution")
_FOUND: dict[str, Any] = {}


def decompress(folder: str, shapes: dict[str, list[int]]) -> int:
    """Hand the artifact's folder to the submission; how many tensors it gave."""
    _FOUND.clear()
    _FOUND.update(solution.decompress(folder, shapes))
    return len(_FOUND)


def tensor(name: str) -> Any:
    """One of them as an array: float16 as it is, every other number as float32."""
    if name not in _FOUND:
        raise KeyError(f"decompress gave no tensor {name!r}")
    data = torch.as_tensor(_FOUND.pop(name)).detach()
    kind = torch.float16 if data.dtype == torch.float16 else torch.float32
    return data.to(kind).contiguous().numpy()
