"""One submission in one world: requests and answers, then predictions of the targets.

Covered: the code runs sealed in a fresh process for each world; requests are carried out one at a
time, so that the meter never sees two at once; after the predictions no request is answered. The
targets are trained after the dialogue: while it lasts there is nothing to look for.
Not covered: how good the predictions are (`measure`).
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, cast

from unhack.tournament.kit import MIB, Computer, Limits, SubmissionError
from unhack_contests.scaling.draw.asking import read_predictions, refusal
from unhack_contests.scaling.trained.service import client
from unhack_contests.scaling.trained.service.training_service import (
    RunRefused,
    TrainingService,
)
from unhack_contests.scaling.trained.world.source import Array
from unhack_contests.submission import RefusedError, staged

CLIENT_FILE = "unhack_lab.py"
"""The client's name beside the submission's files."""
MAX_REQUESTS = 2000
CPU_S = 60.0
"""Processor time of a submission in one world."""
_CALL_S = 180.0
"""Wall time between two requests, generous: processor time is what is limited."""
_DAY_S = 86_400.0
_LIMITS = Limits(
    wall_s=_DAY_S, cpu_s=CPU_S, memory_bytes=1024 * MIB, output_bytes=MIB, soft_slice_s=_DAY_S
)


def stage(folder: Path) -> contextlib.AbstractContextManager[Path]:
    """A copy of the submission with the client beside it, for as long as the block lasts."""
    return staged(folder, CLIENT_FILE, Path(client.__file__))


def converse(place: Path, service: TrainingService) -> Array:
    """(targets, 3): the predictions of the submission at `place`.

    Raises RefusedError where it gives none, and the sandbox's own failures.
    """
    computer = Computer(place, entry=CLIENT_FILE, limits=_LIMITS, preload=("numpy",))
    try:
        with computer:
            return _talk(computer, service)
    except SubmissionError as error:
        raise refusal(computer, str(error)) from None


def _talk(computer: Computer, service: TrainingService) -> Array:
    request: Any = computer.call("start", service.describe(), timeout_s=_CALL_S)
    for _ in range(MAX_REQUESTS):
        words = cast("list[Any]", request) if isinstance(request, list) else []
        if len(words) == 2 and words[0] == "done":
            return read_predictions(
                words[1], count=len(service.world.targets), uniform=service.uniform
            )
        try:
            reply = ["ok", service.answer(request)]
        except RunRefused as error:
            reply = ["refused", str(error)]
        request = computer.call("step", *reply, timeout_s=_CALL_S)
    raise RefusedError(f"more than {MAX_REQUESTS} requests")
