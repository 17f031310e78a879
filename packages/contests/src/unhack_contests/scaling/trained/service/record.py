"""Finished runs on disk: a run is trained once, whoever asks for it and however often.

Covered: processes and threads that ask for the same run at once (one trains, the others wait); a
kill at any point (what was finished stays, what was not is trained again); a file that is not whole
or was edited counts as none. The folder is the judge's: no submission and no agent is shown it.
Not covered: what a run costs (`meter`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from unhack.store.files import write_whole
from unhack.tournament.kit import UsageError, content_hash
from unhack_contests.scaling.trained.service.meter import locked
from unhack_contests.scaling.trained.world.run_settings import TrainingOutcome


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
