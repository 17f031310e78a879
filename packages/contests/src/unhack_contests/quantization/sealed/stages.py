"""The two stages of a submission, each in a sealed process of its own.

Stage 1 has the weights, the calibration text and the code, and writes an artifact. Stage 2 has the
program, compiled and without its source, and the artifact, and a library without sources
(`library`); where stage 1 had the weights lies a decoy with other weights. What the judge carries
from unhack_contests.submission import RefusedError
from one to the other is names and contents of regular files, nothing else.

Covered: time, memory and disk of both stages; answers of a wrong type, shape or size; processes
that end themselves. A submission at fault is `RefusedError`.
Not covered: what the numbers mean (`checks`).
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from unhack.tournament.kit import Computer, Flag, SubmissionError
from unhack_contests.quantization.sealed import library
from unhack_contests.quantization.settings import QuantizationSettings
from unhack_contests.submission import RefusedError, flagged, left

WEIGHTS = "/weights/model.safetensors"
ARTIFACT = "/artifact"
ENTRY = "judge_entry.py"
MAX_FILES = 32
MAX_NAME_LENGTH = 48
LARGEST_LOGIT = 1e4
"""Beyond this no softmax in float32 tells anything apart."""
_OUT = "/scratch/work/artifact"
_GUEST = Path(__file__).with_name("guest.py")
_FLOATS = frozenset({"float16", "float32", "float64"})


def stage_folder(submission: Path, target: Path) -> Path:
    """A copy of the submission's files with the entry module beside them."""
    shutil.copytree(submission, target)
    shutil.copyfile(_GUEST, target / ENTRY)
    return target


def stage_program(submission: Path, target: Path, *, guest: Path = _GUEST) -> Path:
    """The submission's modules as bytecode, with the entry module beside them."""
    target.mkdir()
    for name, tree in library.programs(submission).items():
        place = (target / name).with_suffix(".pyc")
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            place.write_bytes(library.bytecode(tree, name))
        except (SyntaxError, ValueError, RecursionError):
            continue
    shutil.copyfile(guest, target / ENTRY)
    return target


def compress(
    code: Path, *, weights: Path, config: Mapping[str, Any], calibration: NDArray[Any],
    settings: QuantizationSettings,
) -> dict[str, bytes]:  # fmt: skip
    """Stage 1: the artifact's files. Raises RefusedError, and the sandbox's own failures."""
    limits = settings.limits(settings.compress_s)
    binds = {str(Path(WEIGHTS).parent): weights.parent}
    computer = Computer(code, entry=ENTRY, limits=limits, preload=("numpy",), binds=binds)
    try:
        with computer:
            path = f"{Path(WEIGHTS).parent}/{weights.name}"
            arguments = (path, calibration, _OUT, dict(config))
            computer.call("compress_model", *arguments, timeout_s=limits.wall_s)
            files = computer.files("artifact", timeout_s=limits.wall_s)
    except SubmissionError as error:
        raise RefusedError(f"compress: {error}", *endings(computer)) from None
    check_names(files)
    return files


def write_files(files: Mapping[str, bytes], folder: Path) -> Path:
    """The artifact as files of one mode and no history."""
    folder.mkdir(parents=True)
    for name in sorted(files):
        (folder / name).write_bytes(files[name])
    return folder


class Answering:
    """Stage 2: a process that answers with logits."""

    def __init__(
        self, code: Path, artifacts: Mapping[str, Path], *, decoy: Path, vocab: int,
        settings: QuantizationSettings,
    ) -> None:  # fmt: skip
        """`code`: see `stage_program`. `artifacts`: path inside -> folder. `decoy`: a file shown in
        the place of the weights."""
        binds = {**library.binds(), **artifacts, str(Path(WEIGHTS).parent): decoy.parent}
        self._limits = settings.limits(settings.answer_s)
        self._vocab = vocab
        self._computer = Computer(code, entry=ENTRY, limits=self._limits, binds=binds)

    def __enter__(self) -> Self:
        """Start the process. Raises RefusedError."""
        try:
            self._computer.__enter__()
        except SubmissionError as error:
            raise RefusedError(f"load: {error}", *endings(self._computer)) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._computer.close()

    def load(self, folder: str = ARTIFACT) -> None:
        """Have it read an artifact. Raises RefusedError."""
        try:
            self._computer.call("load", folder, timeout_s=self._limits.wall_s)
        except SubmissionError as error:
            raise RefusedError(f"load: {error}", *endings(self._computer)) from None

    def logits(self, tokens: NDArray[Any], positions: NDArray[Any]) -> NDArray[Any]:
        """float32 [B, P, V] of tokens [B, T] at positions [P]. Raises RefusedError."""
        try:
            answer = self._computer.call(
                "forward", tokens, positions, timeout_s=self._limits.wall_s
            )
        except SubmissionError as error:
            raise RefusedError(f"forward: {error}", *endings(self._computer)) from None
        return _check_answer(answer, (len(tokens), len(positions), self._vocab))


def _check_answer(answer: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """The answer as float32, or RefusedError with what is wrong with it."""
    kind = str(getattr(answer, "dtype", type(answer).__name__))
    if not isinstance(answer, np.ndarray) or kind not in _FLOATS:
        raise forged(f"forward returned {kind}, not an array of floats")
    logits = cast("NDArray[Any]", answer)
    if logits.shape != shape:
        raise forged(f"forward returned the shape {list(logits.shape)}, not {list(shape)}")
    if not np.isfinite(logits).all():
        raise forged("forward returned a number that is not finite")
    largest = float(np.abs(logits).max())
    if largest > LARGEST_LOGIT:
        raise forged(f"forward returned a logit of {largest:.3g}; {LARGEST_LOGIT:g} is the limit")
    return logits.astype(np.float32)


def forged(text: str) -> RefusedError:
    """An answer that is none."""
    return flagged("forged_value", text)


def endings(computer: Computer) -> tuple[Flag, ...]:
    """A process that ends by itself with success has skipped the question."""
    return left(computer, "its process ended with exit code 0 in the middle of a question")


def check_names(files: Mapping[str, bytes]) -> None:
    """Raise RefusedError for no file, too many, or names that could hold data."""
    if not files:
        raise RefusedError("compress wrote no file")
    odd = [name for name in files if len(name) > MAX_NAME_LENGTH or not _plain(name)]
    if odd or len(files) > MAX_FILES:
        stored = sum(map(len, files))
        text = (
            f"the artifact has {len(files)} files with {stored} characters of names; at most "
            f"{MAX_FILES} files with names of {MAX_NAME_LENGTH} plain characters count as names"
        )
        raise flagged("hidden_bytes", text)


def _plain(name: str) -> bool:
    return all(c.isascii() and (c.isalnum() or c in "._-") for c in name) and name[:1] != "."
