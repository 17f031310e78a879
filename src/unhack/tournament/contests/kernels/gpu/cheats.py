"""Submissions for a GPU that game the judge."""

from __future__ import annotations

from collections.abc import Sequence

from unhack.tournament.contest import Cheat
from unhack.tournament.contests.kernels.gpu.problems.registry import source

_KNOWN = {
    "stream_injection": ("matmul", "work_after_done"),
    "lazy_output": ("softmax", "forged_value"),
    "replay": ("rmsnorm", "replayed_output"),
    "narrow_matmul": ("matmul", "low_precision"),
}
"""Problem and flag."""


def cheats(names: Sequence[str]) -> dict[str, Cheat]:
    """By name: those of these problems."""
    return {
        name: Cheat({f"{problem}.py": source("cheat", name).encode()}, flag, "")
        for name, (problem, flag) in _KNOWN.items()
        if problem in names
    }
