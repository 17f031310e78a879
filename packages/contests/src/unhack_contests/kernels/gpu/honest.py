"""Submissions for a GPU without tricks: the reference, kernels in Triton, CUDA C++ and PyTorch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from unhack.tournament.kit import Cheat, Choice, Files, Parameter, Submissions
from unhack_contests.kernels.gpu import corpus
from unhack_contests.kernels.gpu.kernelbench import ProblemFile
from unhack_contests.kernels.gpu.problems.registry import find

KINDS = ("triton", "cuda", "torch")
SPACE = (Parameter("kind", KINDS), Parameter("num_warps", (1, 2, 4, 8, 16)))
"""The choices of an optimiser: the language, and the warps of a program in Triton."""
_WARPS = re.compile(r"num_warps=\d+")
_NULL = """from torch import nn


class Model(nn.Module):
    def forward(self, {parameters}, out):
        pass
"""


def reference(names: Sequence[str]) -> Files:
    """Eager PyTorch: what agents start from."""
    problems = [find(name) for name in names]
    return {f"{p.name}.py": p.reference_text(p.listed(small=False)).encode() for p in problems}


def null(names: Sequence[str]) -> Files:
    """Models that do nothing."""
    return {f"{name}.py": _nothing(find(name).parameters()) for name in names}


def _nothing(parameters: Sequence[str]) -> bytes:
    return _NULL.format(parameters=", ".join(parameters)).encode()


def of_files(given: Mapping[str, ProblemFile]) -> Submissions:
    """The submissions to problems of the user's: the files themselves, and models that do
    nothing."""

    def reference() -> Files:
        return {f"{name}.py": file.text.encode() for name, file in given.items()}

    def nothing() -> Files:
        return {f"{name}.py": _nothing(file.parameters()) for name, file in given.items()}

    return Submissions(
        null=nothing,
        identity=reference,
        honest=lambda: {"reference": reference()},
        cheats=dict[str, Cheat],
        space=(),
        at=lambda choice: reference(),
    )


def strategies(names: Sequence[str]) -> dict[str, Files]:
    """By name; the first is the baseline of every round. The next are the first kernels of a
    language for each problem, the rest further kernels of one problem. What has none keeps the
    reference."""
    plain = reference(names)
    found: dict[str, Files] = {"reference": plain}
    for kind in KINDS:
        own = _of_kind(names, kind)
        if own:
            found[kind] = {**plain, **own}
    for entry in corpus.entries("honest").values():
        if entry.problem in names and not any(_holds(files, entry) for files in found.values()):
            found[entry.name] = {**plain, **entry.files}
    return found


def _holds(files: Files, entry: corpus.CorpusEntry) -> bool:
    return all(files.get(path) == text for path, text in entry.files.items())


def tuned(names: Sequence[str], choice: Choice) -> Files:
    """The kernels of a language with so many warps; the reference where there is none."""
    chosen = {"kind": KINDS[0], "num_warps": 8, **choice}
    own = _of_kind(names, str(chosen["kind"]))
    warps = f"num_warps={int(chosen['num_warps'])}"
    changed = {
        name: _WARPS.sub(warps, text.decode()).encode() if name.endswith(".py") else text
        for name, text in own.items()
    }
    return {**reference(names), **changed}


def _of_kind(names: Sequence[str], kind: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for entry in corpus.entries("honest").values():
        if entry.language == kind and entry.problem in names and f"{entry.problem}.py" not in found:
            found.update(entry.files)
    return found
