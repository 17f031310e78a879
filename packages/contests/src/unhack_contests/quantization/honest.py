"""Honest submissions: one program, and what each strategy sets in its first lines.

Round to nearest, mixed precision by the harm that a matrix does, GPTQ (arXiv 2210.17323), k-means
codebooks (arXiv 1510.00149) with entropy coding.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

from unhack.tournament.kit import Files, Parameter

Settings = Mapping[str, object]
_DEFAULTS: dict[str, object] = {
    "METHOD": "rtn",
    "BITS": {"embed": 8, "attention": 8, "mlp": 8},
    "GROUP": 32,
    "SCALE_BITS": 16,
    "CODING": "packed",
    "SHRINKAGES": (1.0,),
    "SENSITIVE": 0.0,
    "CALIBRATED": 96,
    "DAMPING": 0.01,
}
_WHAT = {
    "METHOD": "rtn, gptq or kmeans",
    "BITS": "of a code, by the kind of the matrix",
    "GROUP": "weights that share a scale",
    "SCALE_BITS": "16: float16; 8: a logarithm in a byte",
    "CODING": "packed or entropy",
    "SHRINKAGES": "of a group's largest value, to be tried for its scale",
    "SENSITIVE": "share of the weights that get a bit more, where it helps most",
    "CALIBRATED": "windows of the calibration text that are looked at",
    "DAMPING": "of the Hessian, in units of its mean diagonal",
}
_FINE = (1.0, 0.92, 0.85, 0.78, 0.7, 0.62)


def _bits(embed: int, attention: int, mlp: int) -> dict[str, int]:
    return {"embed": embed, "attention": attention, "mlp": mlp}


STRATEGIES: dict[str, dict[str, object]] = {
    "rtn8": {},
    "rtn6": {"BITS": _bits(6, 6, 6)},
    "rtn4": {"BITS": _bits(4, 4, 4)},
    "rtn3": {"BITS": _bits(3, 3, 3)},
    "mixed": {
        "BITS": _bits(4, 3, 3), "SHRINKAGES": _FINE, "SENSITIVE": 0.35, "SCALE_BITS": 8,
    },
    "gptq4": {"METHOD": "gptq", "BITS": _bits(4, 4, 4), "SHRINKAGES": _FINE, "GROUP": 64},
    "gptq3": {
        "METHOD": "gptq", "BITS": _bits(4, 3, 3), "SHRINKAGES": _FINE, "GROUP": 64,
        "SCALE_BITS": 8, "CODING": "entropy",
    },
    "kmeans3": {
        "METHOD": "kmeans", "BITS": _bits(4, 3, 3), "SHRINKAGES": _FINE, "GROUP": 64,
        "SCALE_BITS": 8, "CODING": "entropy",
    },
}  # fmt: skip
"""Name -> what differs from the plain eight bits."""


def honest() -> dict[str, Files]:
    """Every strategy's submission; the first is the baseline."""
    return {name: {"solution.py": program(changes)} for name, changes in STRATEGIES.items()}


def program(changes: Settings) -> bytes:
    """The program with some of its settings changed."""
    return (head(changes) + body()).encode()


def head(changes: Settings) -> str:
    """The first lines: imports and settings."""
    values = {**_DEFAULTS, **changes}
    lines = [f"{name} = {value!r}  # {_WHAT[name]}" for name, value in values.items()]
    imports = ["import json", "import os", "import zlib", "", "import numpy as np", ""]
    return "\n".join([*imports, *lines, "CONFIG, MODEL = {}, {}", ""])


def body() -> str:
    """The source that all of them share."""
    folder = resources.files("unhack_contests.quantization")
    return folder.joinpath("submissions/quantizer.txt").read_text()


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


def submission(choice: Mapping[str, float | int | str]) -> Files:
    """The submission of one point of `SPACE`."""
    changes = {
        "METHOD": choice["method"],
        "BITS": _bits(
            int(choice["embed_bits"]), int(choice["attention_bits"]), int(choice["mlp_bits"])
        ),
        "GROUP": int(choice["group"]),
        "CODING": choice["coding"],
        "SCALE_BITS": int(choice["scale_bits"]),
        "SHRINKAGES": _FINE if choice["shrinkages"] == "six" else (1.0,),
        "SENSITIVE": float(choice["sensitive"]),
    }
    return {"solution.py": program(changes)}
