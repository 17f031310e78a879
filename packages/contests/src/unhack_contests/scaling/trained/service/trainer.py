"""Trains runs of a world, on the processor or in the queue for a card, once each.

Covered: the judge's own code is all that trains; settings are numbers. Runs come from the record
where it has them. On a card each run waits for its turn in the queue that kernels use too.
Not covered: what runs cost, and who may ask for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from unhack.sandbox.gpu.card_queue import CardQueue
from unhack.sandbox.gpu.cards import Card, check_free, own_processes
from unhack_contests.scaling.trained.service.record import RunRecord
from unhack_contests.scaling.trained.world.run_settings import LabSettings, TrainingOutcome
from unhack_contests.scaling.trained.world.world import DrawnWorld, write_text

_QUEUE_S = 3600.0


@dataclass(frozen=True, slots=True)
class TrainingPlace:
    """The device on which runs train."""

    device: str = "cpu"
    """PyTorch's name."""
    card: Card | None = None


class Trainer:
    """Trains the runs of one world."""

    def __init__(self, world: DrawnWorld, *, place: TrainingPlace, records: Path) -> None:
        """Raises UsageError where the record cannot be written."""
        self._world, self._place = world, place
        kind = place.card.name.replace("/", "-") if place.card else "cpu"
        self.record = RunRecord(records / world.id[:32] / f"{version('torch')} {kind}")

    def run(self, settings: LabSettings) -> TrainingOutcome:
        """One run."""
        [found] = self.record.once(f"run {settings.key()}", lambda: self._train([settings]))
        return found

    def repeated(self, settings: LabSettings) -> tuple[TrainingOutcome, ...]:
        """The runs of a target, one for each seed, side by side."""
        each = [replace(settings, again=at) for at in range(self._world.size.seeds)]
        return self.record.once(f"target {settings.key()}", lambda: self._train(each))

    def _train(self, runs: Sequence[LabSettings]) -> list[TrainingOutcome]:
        """Runs that differ in `again` alone. Raises SandboxUnavailableError: the card is in use."""
        if self._place.card is None:
            return self._trained(runs)
        with CardQueue(self._place.card.key).turn(timeout_s=_QUEUE_S):
            check_free(self._place.card, ours=own_processes())
            return self._trained(runs)

    def _trained(self, runs: Sequence[LabSettings]) -> list[TrainingOutcome]:
        # torch, only where something is trained
        from unhack_contests.scaling.trained.world import training

        return training.train(
            self._world.recipe,
            runs[0],
            seeds=[self._world.run_seed(run) for run in runs],
            text=write_text(self._world),
            device=self._place.device,
        )
