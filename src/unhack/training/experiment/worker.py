"""The worker of a sweep: one process that trains and evaluates one run.

Covered: why it failed is left in the run's folder; too little memory has an exit status of its own.
Not covered: which runs there are, and when they start (`sweep`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import traceback
from collections.abc import Generator
from pathlib import Path

import torch

from unhack.core.errors import UnhackError
from unhack.training.config.settings import Settings
from unhack.training.evaluation.curve import evaluate_curve
from unhack.training.evaluation.evaluate import evaluate_run, is_current
from unhack.training.loop.train import train
from unhack.training.policy.policy import load_policy
from unhack.training.run import checkpoint
from unhack.training.run.folder import TrainingRecords
from unhack.training.worlds.registry import make_world

ERROR = "error.txt"
"""In a run folder: why its last try failed."""
DONE = "done"
"""In a run folder: it is trained and evaluated."""
OUT_OF_MEMORY = 77
"""Exit status of a worker that had too little memory."""


def reason_of(folder: Path, exitcode: int | None) -> str:
    """Why a worker ended badly, in words."""
    if exitcode is not None and exitcode < 0:
        return f"killed by signal {-exitcode}"
    path = folder / ERROR
    return path.read_text() if path.exists() else f"exit status {exitcode}"


def work(
    settings: Settings, folder: Path, arm: str, curve_every: int, keep: int, cores: frozenset[int]
) -> None:
    """Train, evaluate, thin out."""
    os.sched_setaffinity(0, cores)
    with _note_errors(folder):
        with TrainingRecords(folder, settings) as files:
            files.describe(arm=arm)
        train(settings, folder)
        evaluate_curve(folder, every=curve_every)
        if not is_current(folder):
            evaluate_run(folder)
        if keep:
            checkpoint.thin(folder, keep=keep)
        (folder / DONE).touch()


def make_base(settings: Settings, folder: Path) -> None:
    """Make the base model, into its cache."""
    with _note_errors(folder):
        load_policy(settings, make_world(settings, folder=folder))


@contextlib.contextmanager
def _note_errors(folder: Path) -> Generator[None]:
    """One thread; SIGINT is the parent's; what goes wrong is left in the folder."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ERROR).unlink(missing_ok=True)
    try:
        yield
    except Exception as error:
        text = str(error) if isinstance(error, UnhackError) else traceback.format_exc()
        (folder / ERROR).write_text(text)
        raise SystemExit(OUT_OF_MEMORY if is_out_of_memory(error) else 1) from error


def is_out_of_memory(error: BaseException | None) -> bool:
    """Tell whether an error, or what caused it, is for want of memory: of a GPU or of the host."""
    while error is not None:
        if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
            return True
        if isinstance(error, RuntimeError) and "can't allocate memory" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False
