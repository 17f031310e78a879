"""The byte tokenizer: a token is a byte, so nothing has to be learnt or shipped."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

VOCABULARY = 256


def encode(text: str | bytes) -> NDArray[Any]:
    """uint8 [N]: the UTF-8 bytes."""
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return np.frombuffer(data, dtype=np.uint8).copy()


def decode(tokens: NDArray[Any]) -> str:
    """The text of bytes; what is no UTF-8 becomes U+FFFD."""
    return np.asarray(tokens, dtype=np.uint8).tobytes().decode("utf-8", "replace")
