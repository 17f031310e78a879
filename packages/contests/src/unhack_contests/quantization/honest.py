"""Honest submissions: one program, and what each strategy sets in its first lines.

Round to nearest, mixed precision by the harm that a matrix does, GPTQ (arXiv 2210.17323), k-means
codebooks (arXiv 1510.00149) with entropy coding.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from unhack.tournament.kit import Parameter
from unhack_contests.quantization.submission import FINE, Settings, SubmissionProgram, bits


def _compose(values: Settings, lines: Mapping[str, str]) -> str:
    del values
    imports = ["import json", "import os", "import zlib", "", "import numpy as np", ""]
    head = "\n".join([*imports, *lines.values(), "CONFIG, MODEL = {}, {}", ""])
    return head + PROGRAM.part("quantizer")


PROGRAM = SubmissionProgram(
    folder=Path(__file__).with_name("submissions"),
    settings={
        "METHOD": ("rtn", "rtn, gptq or kmeans"),
        "BITS": (bits(8, 8, 8), "of a code, by the kind of the matrix"),
        "GROUP": (32, "weights that share a scale"),
        "SCALE_BITS": (16, "16: float16; 8: a logarithm in a byte"),
        "CODING": ("packed", "packed or entropy"),
        "SHRINKAGES": ((1.0,), "of a group's largest value, to be tried for its scale"),
        "SENSITIVE": (0.0, "share of the weights that get a bit more, where it helps most"),
        "CALIBRATED": (96, "windows of the calibration text that are looked at"),
        "DAMPING": (0.01, "of the Hessian, in units of its mean diagonal"),
    },
    strategies={
        "rtn8": {},
        "rtn6": {"BITS": bits(6, 6, 6)},
        "rtn4": {"BITS": bits(4, 4, 4)},
        "rtn3": {"BITS": bits(3, 3, 3)},
        "mixed": {
            "BITS": bits(4, 3, 3), "SHRINKAGES": FINE, "SENSITIVE": 0.35, "SCALE_BITS": 8,
        },
        "gptq4": {"METHOD": "gptq", "BITS": bits(4, 4, 4), "SHRINKAGES": FINE, "GROUP": 64},
        "gptq3": {
            "METHOD": "gptq", "BITS": bits(4, 3, 3), "SHRINKAGES": FINE, "GROUP": 64,
            "SCALE_BITS": 8, "CODING": "entropy",
        },
        "kmeans3": {
            "METHOD": "kmeans", "BITS": bits(4, 3, 3), "SHRINKAGES": FINE, "GROUP": 64,
            "SCALE_BITS": 8, "CODING": "entropy",
        },
    },
    compose=_compose,
)  # fmt: skip
SPACE = (
    Parameter("method", ("rtn", "kmeans", "gptq")),
    Parameter("embed_bits", (3, 4, 5, 6, 8)),
    Parameter("attention_bits", (2, 3, 4, 5, 6)),
    Parameter("mlp_bits", (2, 3, 4, 5, 6)),
    Parameter("group", (16, 32, 64, 128)),
    Parameter("coding", ("packed", "entropy")),
    Parameter("scale_bits", (16, 8)),
    Parameter("shrinkages", ("one", "six")),
    Parameter("sensitive", (0.0, 0.2, 0.4)),
)
"""The parameters that an optimiser may vary."""
