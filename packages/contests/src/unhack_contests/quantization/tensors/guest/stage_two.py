"""The submission's second stage, inside: `decompress`, and its tensors one after the other.

It is the entry module of a `sandbox.submission.compute` process. Nothing here is trusted.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

torch: Any = importlib.import_module("torch")
torch.set_num_threads(1)  # the process may have no other thread
torch.manual_seed(0)
torch.backends.mkldnn.enabled = False  # it writes machine code, which no process here may run
solution: Any = importlib.import_module("solution")
_FOUND: dict[str, Any] = {}


def decompress(folder: str, shapes: dict[str, list[int]], calibration: Any) -> int:
    """Hand the artifact's folder to the submission, and the text where it has a parameter
    `calibration`; how many tensors it gave. Raises TypeError where it takes other arguments."""
    signature = inspect.signature(solution.decompress)
    asked = "calibration" in signature.parameters
    text = {"calibration": torch.tensor(calibration, dtype=torch.int64)} if asked else {}
    try:
        signature.bind(folder, shapes, **text)
    except TypeError as error:
        raise TypeError(
            f"{error}: write decompress(folder, shapes), or decompress(folder, shapes, "
            "calibration) for the calibration text"
        ) from None
    _FOUND.clear()
    _FOUND.update(solution.decompress(folder, shapes, **text))
    return len(_FOUND)


def tensor(name: str) -> Any:
    """One of them as an array: float16 as it is, every other number as float32."""
    if name not in _FOUND:
        raise KeyError(f"decompress gave no tensor {name!r}")
    data = torch.as_tensor(_FOUND.pop(name)).detach()
    kind = torch.float16 if data.dtype == torch.float16 else torch.float32
    return data.to(kind).contiguous().numpy()
