"""The training service: reads a request, charges it, has it trained, answers.

    ["price", settings]     what a run would cost; free
    ["train", settings]     its loss and curve

Covered: a request is a verb and the settings of one run, nothing else; what is outside the limits
or beyond the budget is refused before anything is spent; a run is charged before it begins, also
where the record has it. What no unaltered client sends ends the dialogue (`RefusedError`).
Not covered: what a submission makes of the answers.

The meter of one dialogue: what its runs cost, on disk before a run begins.

    with open_meter(path, budget=10_000) as meter:
        meter.charge("a run", 4_000)

Covered: the sum of all charges never exceeds the budget, however they are split or named; equal
runs are charged each time; a judge that is killed finds the meter as it was: what the cut-off
dialogue has paid is not paid again when the same submission asks again, and everything else adds
to it. A dialogue that ended leaves no meter. Two dialogues of the same submission about the same
world wait for each other.
Not covered: which runs may be asked for (the service says it).
Sources: flock(2).
"""

from __future__ import annotations

import fcntl
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from unhack.store.files import append_whole, read_whole_lines
from unhack_contests.scaling.trained.world.run_settings import (
    LabSettings,
    TrainingOutcome,
    read_settings,
)
from unhack_contests.scaling.trained.world.world import DrawnWorld
from unhack_contests.submission import flagged


class BudgetSpentError(Exception):
    """The budget does not pay for the run; nothing was charged."""


class Meter:
    """Counts the FLOPs of one dialogue."""

    def __init__(self, budget: int, path: Path | None = None) -> None:
        """Without a `path` nothing outlives the process. Raises OSError."""
        self.budget = budget
        self.spent = 0
        """In this attempt."""
        self.charges = 0
        self._path = path
        lines = read_whole_lines(path, repair=True) if path is not None else []
        earlier: list[tuple[str, int]] = [tuple(json.loads(line)) for line in lines]
        self._paid = Counter(key for key, _ in earlier)
        self._total = sum(flops for _, flops in earlier)

    def charge(self, key: str, flops: int) -> None:
        """Pay for a run. Raises BudgetSpentError, OSError."""
        if self._paid[key] > 0:
            self._paid[key] -= 1
        elif self._total + flops > self.budget:
            left = self.budget - self._total
            raise BudgetSpentError(
                f"the run costs {flops:.3g} FLOPs, and {left:.3g} of {self.budget:.3g} are left"
            )
        else:
            if self._path is not None:
                append_whole(self._path, json.dumps([key, flops]).encode() + b"\n", sync=True)
            self._total += flops
        self.spent += flops
        self.charges += 1


@contextmanager
def open_meter(path: Path, *, budget: int) -> Generator[Meter]:
    """The meter at a path, for one dialogue at a time. It is gone when the block ends, and stays
    when the block is cut off by something that is nobody's answer."""
    with locked(path):
        yield Meter(budget, path)
        os.truncate(path, 0)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Have a file for a block of code; it is gone where the block ends, and stays where that is cut
    off. Raises OSError."""
    fd = _locked(path)
    try:
        yield
        path.unlink(missing_ok=True)
    finally:
        os.close(fd)


def _locked(path: Path) -> int:
    """The descriptor of the file, locked. A file that its last owner removed is made anew."""
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.fstat(fd).st_ino == path.stat().st_ino:
                    return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


_VERBS = ("price", "train")


class RunRefused(Exception):
    """A run that is not trained; the submission is told why and goes on."""


def told_as_measured(loss: float) -> float:
    """The loss itself."""
    return loss


@dataclass(frozen=True, slots=True)
class TrainingService:
    """The service as one submission sees it in one world."""

    world: DrawnWorld
    train: Callable[[LabSettings], TrainingOutcome]
    meter: Meter
    tell: Callable[[float], float] = told_as_measured
    """The answer that is told of a measured loss."""

    @property
    def uniform(self) -> float:
        """The loss of knowing nothing, nats per token."""
        return math.log(self.world.recipe.vocabulary)

    def describe(self) -> dict[str, Any]:
        """The facts that a submission is told before it begins."""
        size = self.world.size
        usual = {
            "width": size.limits.width[0], "depth": 1, "steps": 100, "batch": size.batch,
            "rate": 1.0, "mix": self.world.mix, "again": 0,
        }  # fmt: skip
        return {
            "budget": self.meter.budget, "usual": usual, "limits": asdict(size.limits),
            "uniform": self.uniform,
            "targets": [{**run.plain(), **self._price(run)} for run in self.world.targets],
        }  # fmt: skip

    def answer(self, request: Any) -> dict[str, Any]:
        """Carry a request out. Raises RunRefused, RefusedError."""
        words = cast("list[Any]", request) if isinstance(request, list) else []
        if len(words) != 2 or not isinstance(words[0], str):
            raise flagged("forged_value", "a request that is no request")
        if words[0] not in _VERBS:
            raise flagged("tampered_input", f"it asked the service to {words[0]!r:.40}")
        settings = read_settings(words[1])
        outside = self.world.size.limits.outside(settings)
        if outside:
            raise RunRefused(outside)
        price = self._price(settings)
        if words[0] == "price":
            return {**price}
        try:
            self.meter.charge(settings.key(), price["flops"])
        except BudgetSpentError as error:
            raise RunRefused(str(error)) from None
        found = self.train(settings)
        curve = [[tokens, self.tell(loss)] for tokens, loss in found.curve]
        return {**price, "loss": self.tell(found.loss), "curve": curve}

    def _price(self, settings: LabSettings) -> dict[str, int]:
        recipe = self.world.recipe
        return {
            "parameters": recipe.parameters(settings), "tokens": recipe.tokens(settings),
            "flops": recipe.flops(settings),
        }  # fmt: skip
