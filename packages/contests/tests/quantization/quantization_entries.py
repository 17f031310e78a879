"""What the tests of the quantization contest share: a small contest, and folders of files."""

from __future__ import annotations

from pathlib import Path

from unhack.tournament.contest import DataPool, Files, Flag, Measurement
from unhack_contests.quantization.contest import Quantization, load

SMALL = {"windows": "16", "length": "64", "calibration": "4096", "segments": "3"}
_MADE: list[Quantization] = []


def small() -> Quantization:
    """One contest for all tests: it keeps the artifacts that it has built."""
    if not _MADE:
        _MADE.append(load(SMALL))
    return _MADE[0]


def folder_of(files: Files, top: Path) -> Path:
    """The files on disk."""
    top.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (top / name).write_bytes(content)
    return top


def judged(
    contest: Quantization, folder: Path, *, seed: int = 3
) -> tuple[Measurement, tuple[Flag, ...]]:
    """The measurement on the judge's pool, and every flag that the contest gives."""
    measured = contest.measure(folder, pool=DataPool.JUDGE, seed=seed)
    if not measured.valid:
        return measured, measured.flags
    audited = contest.measure(folder, pool=DataPool.AUDIT, seed=seed + 1)
    gap = contest.gap(measured, audited)
    flags = (*measured.flags, *contest.bounds(measured), *audited.flags, *((gap,) if gap else ()))
    return measured, flags
