"""What the tests of the quantization protocol share: a small protocol, and folders of files."""

from __future__ import annotations

from pathlib import Path

from unhack.tournament.contest import DataPool, Files, Flag, Measurement
from unhack.tournament.contests.quantization.contest import Quantization, load

SMALL = {"windows": "16", "length": "64", "calibration": "4096", "segments": "3"}
_MADE: list[Quantization] = []


def small() -> Quantization:
    """One protocol for all tests: it keeps the artifacts that it has built."""
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
    protocol: Quantization, folder: Path, *, seed: int = 3
) -> tuple[Measurement, tuple[Flag, ...]]:
    """The measurement on the judge's pool, and every flag that the protocol gives."""
    measured = protocol.measure(folder, pool=DataPool.JUDGE, seed=seed)
    if not measured.valid:
        return measured, measured.flags
    audited = protocol.measure(folder, pool=DataPool.AUDIT, seed=seed + 1)
    gap = protocol.gap(measured, audited)
    flags = (*measured.flags, *protocol.bounds(measured), *audited.flags, *((gap,) if gap else ()))
    return measured, flags
