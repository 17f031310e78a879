"""Honest submissions with PyTorch: one program, and what each strategy sets in its first lines.

Round to nearest by the largest value (absmax), GPTQ (arXiv 2210.17323), AWQ (arXiv 2306.00978),
k-means codebooks (arXiv 1510.00149), mixed precision by the harm that a matrix's error does to what
follows it, uniform steps that are entropy-coded, and weights that stage 2 tunes on the text that it
is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

from unhack.tournament.kit import Files, Parameter

Settings = Mapping[str, object]
_DEFAULTS: dict[str, object] = {
    "METHOD": "absmax",
    "BITS": {"embed": 8, "attention": 8, "mlp": 8},
    "GROUP": 32,
    "SCALE_BITS": 16,
    "CODING": "packed",
    "SHRINKAGES": (1.0,),
    "STEP": 0.0,
    "SENSITIVE": 0.0,
    "CALIBRATED": 96,
    "DAMPING": 0.01,
    "TUNED": 0,
    "RATE": 3e-4,
}
_WHAT = {
    "METHOD": "absmax, gptq, awq or kmeans",
    "BITS": "of a code, by the kind of the matrix",
    "GROUP": "weights that share a scale; 0: a whole row",
    "SCALE_BITS": "16: float16; 8: a logarithm in a byte",
    "CODING": "packed or entropy",
    "SHRINKAGES": "of a group's largest value, to be tried for its scale",
    "STEP": "of the codes, in units of a group's root mean square; 0: by the largest value",
    "SENSITIVE": "share of the weights that get a bit more, where it helps most",
    "CALIBRATED": "windows of 128 calibration tokens that are looked at",
    "DAMPING": "of the Hessian, in units of its mean diagonal",
    "TUNED": "steps on the given text in stage 2",
    "RATE": "of the first of them",
}
_FINE = (1.0, 0.92, 0.85, 0.78, 0.7, 0.62)


def _bits(embed: int, attention: int, mlp: int) -> dict[str, int]:
    return {"embed": embed, "attention": attention, "mlp": mlp}


STRATEGIES: dict[str, dict[str, object]] = {
    "absmax8": {},
    "absmax4": {"BITS": _bits(4, 4, 4)},
    "absmax3": {"BITS": _bits(3, 3, 3)},
    "awq4": {"METHOD": "awq", "BITS": _bits(4, 4, 4), "GROUP": 64, "SHRINKAGES": _FINE},
    "awq3": {"METHOD": "awq", "BITS": _bits(4, 3, 3), "SHRINKAGES": _FINE, "SCALE_BITS": 8},
    "mixed": {"BITS": _bits(4, 3, 3), "SHRINKAGES": _FINE, "SENSITIVE": 0.35, "SCALE_BITS": 8},
    "kmeans3": {
        "METHOD": "kmeans", "BITS": _bits(4, 3, 3), "GROUP": 64, "SCALE_BITS": 8,
        "CODING": "entropy",
    },
    "gptq4": {"METHOD": "gptq", "BITS": _bits(4, 4, 4), "GROUP": 64, "SHRINKAGES": _FINE},
    "gptq3": {
        "METHOD": "gptq", "BITS": _bits(4, 3, 3), "GROUP": 64, "SHRINKAGES": _FINE,
        "SCALE_BITS": 8,
    },
    "entropy": {
        "METHOD": "gptq",
        "BITS": _bits(4, 3, 3),
        "GROUP": 64,
        "SHRINKAGES": _FINE,
        "SCALE_BITS": 8,
        "CODING": "entropy",
    },
    "tuned": {
        "METHOD": "gptq", "BITS": _bits(4, 3, 3), "GROUP": 64, "SCALE_BITS": 8,
        "CODING": "entropy", "STEP": 0.75, "TUNED": 100,
    },
}  # fmt: skip
"""Name -> what differs from the plain eight bits; the first is the baseline of every round."""


def honest() -> dict[str, Files]:
    """Every strategy's submission."""
    return {name: {"solution.py": program(changes)} for name, changes in STRATEGIES.items()}


def program(changes: Settings) -> bytes:
    """The program with some of its settings changed; it tunes in stage 2 where TUNED is set."""
    return (head(changes) + body() + (tuning() if changes.get("TUNED") else "")).encode()


def head(changes: Settings) -> str:
    """The first lines: imports and settings."""
    values = {**_DEFAULTS, **changes}
    used = (name for name in values if values["TUNED"] or name not in ("TUNED", "RATE"))
    lines = [f"{name} = {values[name]!r}  # {_WHAT[name]}" for name in used]
    plain = ["json", "os", *(["time"] if values["TUNED"] else []), "zlib"]
    imports = [f"import {name}" for name in plain]
    return "\n".join([*imports, "", "import numpy as np", "import torch", "", *lines, ""])


def body() -> str:
    """The source that all of them share."""
    return _source("quantizer")


def tuning() -> str:
    """The source that tunes weights once they are decoded, to stand behind the others."""
    return _source("tuning")


def _source(name: str) -> str:
    folder = resources.files("unhack_contests.quantization.tensors")
    return folder.joinpath(f"submissions/{name}.txt").read_text()


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
        "STEP": float(choice["step"]),
        "TUNED": int(choice["tuned"]),
    }
    return {"solution.py": program(changes)}
