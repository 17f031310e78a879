"""Honest submissions with PyTorch: one program, and what each strategy sets in its first lines.

Round to nearest by the largest value (absmax), GPTQ (arXiv 2210.17323), AWQ (arXiv 2306.00978),
k-means codebooks (arXiv 1510.00149), mixed precision by the harm that a matrix's error does to what
follows it, uniform steps that are entropy-coded, and weights that stage 2 tunes on the text that it
is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from unhack.tournament.kit import Parameter
from unhack_contests.quantization.submission import FINE, Settings, SubmissionProgram, bits


def _compose(values: Settings, lines: Mapping[str, str]) -> str:
    """It tunes in stage 2 where TUNED is set."""
    tuned = bool(values["TUNED"])
    used = [line for name, line in lines.items() if tuned or name not in ("TUNED", "RATE")]
    plain = ["json", "os", *(["time"] if tuned else []), "zlib"]
    imports = [*(f"import {name}" for name in plain), "", "import numpy as np", "import torch", ""]
    parts = ["quantizer", *(["tuning"] if tuned else [])]
    return "\n".join([*imports, *used, ""]) + "".join(map(PROGRAM.part, parts))


PROGRAM = SubmissionProgram(
    folder=Path(__file__).with_name("submissions"),
    settings={
        "METHOD": ("absmax", "absmax, gptq, awq or kmeans"),
        "BITS": (bits(8, 8, 8), "of a code, by the kind of the matrix"),
        "GROUP": (32, "weights that share a scale; 0: a whole row"),
        "SCALE_BITS": (16, "16: float16; 8: a logarithm in a byte"),
        "CODING": ("packed", "packed or entropy"),
        "SHRINKAGES": ((1.0,), "of a group's largest value, to be tried for its scale"),
        "STEP": (
            0.0, "of the codes, in units of a group's root mean square; 0: by the largest value",
        ),
        "SENSITIVE": (0.0, "share of the weights that get a bit more, where it helps most"),
        "CALIBRATED": (96, "windows of 128 calibration tokens that are looked at"),
        "DAMPING": (0.01, "of the Hessian, in units of its mean diagonal"),
        "TUNED": (0, "steps on the given text in stage 2"),
        "RATE": (3e-4, "of the first of them"),
    },
    strategies={
        "absmax8": {},
        "absmax4": {"BITS": bits(4, 4, 4)},
        "absmax3": {"BITS": bits(3, 3, 3)},
        "awq4": {"METHOD": "awq", "BITS": bits(4, 4, 4), "GROUP": 64, "SHRINKAGES": FINE},
        "awq3": {"METHOD": "awq", "BITS": bits(4, 3, 3), "SHRINKAGES": FINE, "SCALE_BITS": 8},
        "mixed": {"BITS": bits(4, 3, 3), "SHRINKAGES": FINE, "SENSITIVE": 0.35, "SCALE_BITS": 8},
        "kmeans3": {
            "METHOD": "kmeans", "BITS": bits(4, 3, 3), "GROUP": 64, "SCALE_BITS": 8,
            "CODING": "entropy",
        },
        "gptq4": {"METHOD": "gptq", "BITS": bits(4, 4, 4), "GROUP": 64, "SHRINKAGES": FINE},
        "gptq3": {
            "METHOD": "gptq", "BITS": bits(4, 3, 3), "GROUP": 64, "SHRINKAGES": FINE,
            "SCALE_BITS": 8,
        },
        "entropy": {
            "METHOD": "gptq", "BITS": bits(4, 3, 3), "GROUP": 64, "SHRINKAGES": FINE,
            "SCALE_BITS": 8, "CODING": "entropy",
        },
        "tuned": {
            "METHOD": "gptq", "BITS": bits(4, 3, 3), "GROUP": 64, "SCALE_BITS": 8,
            "CODING": "entropy", "STEP": 0.75, "TUNED": 100,
        },
    },
    compose=_compose,
)  # fmt: skip
SPACE = (
    Parameter("method", ("absmax", "kmeans", "awq", "gptq")),
    Parameter("embed_bits", (8, 6, 5, 4, 3)),
    Parameter("attention_bits", (6, 5, 4, 3, 2)),
    Parameter("mlp_bits", (6, 5, 4, 3, 2)),
    Parameter("group", (16, 32, 64, 128, 0)),
    Parameter("coding", ("packed", "entropy")),
    Parameter("scale_bits", (16, 8)),
    Parameter("shrinkages", ("one", "six")),
    Parameter("sensitive", (0.0, 0.2, 0.4)),
    Parameter("step", (0.0, 0.5, 0.6, 0.75, 0.9)),
    Parameter("tuned", (0, 100)),
)
"""The parameters that an optimiser may vary; the first choices are the mildest."""
