"""Finished runs on disk: a run is trained once, whoever asks for it and however often.

Covered: processes and threads that ask for the same run at once (one trains, the others wait); a
kill at any point (what was finished stays, what was not is trained again); a file that is not whole
or was edited counts as none. The folder is the judge's: no submission and no agent is shown it.
Not covered: what a run costs (`training_service`).

Trains runs of a world, on the processor or in the queue for a card, once each.

Covered: the judge's own code is all that trains; settings are numbers. Runs come from the record
where it has them. On a card each run waits for its turn in the queue that kernels use too.
Not covered: what runs cost, and who may ask for them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unhack.sandbox.gpu.card_queue import CardQueue
from unhack.sandbox.gpu.cards import Card, check_free, own_processes
from unhack.store.files import write_whole
from unhack.tournament.kit import UsageError, content_hash
from unhack_contests.scaling.trained.service.training_service import locked
from unhack_contests.scaling.trained.world.run_settings import LabSettings, TrainingOutcome
from unhack_contests.scaling.trained.world.world import DrawnWorld, write_text


def default_folder() -> Path:
    """The record of a user who named none."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "unhack" / "scaling-runs"


class RunRecord:
    """The record of one world."""

    def __init__(self, folder: Path) -> None:
        """Raises UsageError where the folder cannot be made."""
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise UsageError(
                f"the record of runs cannot be made at {folder} ({error.strerror}): name a folder "
                "with --option record=PATH"
            ) from None

    def once(
        self, key: str, train: Callable[[], Sequence[TrainingOutcome]]
    ) -> tuple[TrainingOutcome, ...]:
        """The outcomes under a key, from the record or from `train`. Raises OSError."""
        name = content_hash(key)
        path = self.folder / f"{name}.json"
        found = _read(path)
        if found is not None:
            return found
        with locked(self.folder / f"{name}.lock"):
            found = _read(path)
            if found is None:
                found = tuple(train())
                body = [[run.loss, [list(point) for point in run.curve]] for run in found]
                text = json.dumps({"runs": body, "sha256": content_hash(json.dumps(body))})
                write_whole(path, text.encode())
        return found


def _read(path: Path) -> tuple[TrainingOutcome, ...] | None:
    try:
        stored: dict[str, Any] = json.loads(path.read_bytes())
        if stored["sha256"] != content_hash(json.dumps(stored["runs"])):
            return None
        return tuple(
            TrainingOutcome(float(loss), tuple((int(at), float(value)) for at, value in curve))
            for loss, curve in stored["runs"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


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
