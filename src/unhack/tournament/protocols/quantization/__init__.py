"""Quantization: compress a language model; bytes and predictions are measured in two sealed stages.

load({})                                    the byte model of the package, on two cores
load({"size": "demo"})                      fewer and shorter windows
load({"model": PATH, "device": "cuda"})     a Qwen3-style checkpoint from disk
"""

from __future__ import annotations

from collections.abc import Mapping

from unhack.tournament.protocols.quantization.protocol import Quantization
from unhack.tournament.protocols.quantization.reference import nano
from unhack.tournament.protocols.quantization.settings import parse
from unhack.tournament.protocols.quantization.text import Programs

__all__ = ["Quantization", "load"]


def load(options: Mapping[str, str]) -> Quantization:
    """The protocol with `key=value` options; `settings.Settings` lists them.

    Raises UsageError for an option that does not do, or a checkpoint that is not there.
    """
    settings = parse(options)
    if not settings.large:
        return Quantization(nano(), Programs(), settings)
    from unhack.tournament.protocols.quantization import checkpoint  # torch, only for this

    return Quantization(*checkpoint.opened(settings), settings)
