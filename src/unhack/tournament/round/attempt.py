"""One attempt at a turn: its inputs, its meter, and the check that its agent may ask for.

Covered: the judge's own path on development data, metered and within the time limit; a check that
fails of itself is told as one that is not valid.
Not covered: where it is measured; whoever makes it says so.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from unhack.agents.play import AttemptClock
from unhack.core.errors import SandboxError, SandboxUnavailableError
from unhack.store.errors import StoreError, storing
from unhack.tournament.contest import Contest, Files, Measurement, Terms, invalid
from unhack.tournament.judging.judge import checked_numbers, unmeasured
from unhack.tournament.judging.machine_lock import Machine
from unhack.tournament.judging.submission import freeze, write_files
from unhack.tournament.players.player import TurnInputs
from unhack.tournament.round.metering import AttemptMeter
from unhack.tournament.round.workspace_files import WorkspaceFiles


class Interrupted(BaseException):
    """The tournament was told to stop; what is under way is done again on the next run."""


@dataclass(frozen=True, slots=True)
class DevelopmentCheck:
    """Measures what an agent has, on development data; see `TurnInputs.check`."""

    contest: Contest
    """That of the round."""
    terms: Terms
    files: WorkspaceFiles
    seed: int
    """Of the development data; nothing of the judge's own follows from it."""
    time_limit_s: float
    room: Path
    """A directory for frozen files."""
    machine: Machine
    clock: AttemptClock
    meter: AttemptMeter
    measure: Callable[[DevelopmentCheck, Path], Measurement]
    """Measures a frozen folder. Raises what `Contest.measure` does."""

    def __call__(self, files: Files) -> Measurement:
        """The measurement of these files. Raises Interrupted, StoreError, SandboxError."""
        if self.machine.interrupted:
            raise Interrupted
        if self.clock.elapsed_s() >= self.time_limit_s:
            return invalid("the time limit is over")
        if any({"", ".", ".."} & set(path.split("/")) for path in files):
            return invalid("a path leads out of the submission")
        self.meter.check()
        with storing(self.room):
            place = Path(tempfile.mkdtemp(prefix="check-", dir=self.room))
        try:
            with storing(self.room):
                write_files(self.files.without(files), place / "in")
                frozen = freeze(place / "in", self.contest, into=place / "out")
            gone = frozen.problem or frozen.declined
            found = unmeasured(frozen).measured if gone else self._measured(frozen.folder)
            return replace(found, left_out=frozen.left_out)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _measured(self, folder: Path) -> Measurement:
        try:
            return checked_numbers(self.measure(self, folder))
        except (SandboxError, SandboxUnavailableError, StoreError):
            raise
        except Exception as error:
            return invalid(f"the judge could not measure it: {type(error).__name__}: {error}"[:400])


@dataclass(frozen=True, slots=True)
class PreparedAttempt:
    """The inputs of a turn with what belongs to one attempt at it."""

    inputs: TurnInputs
    meter: AttemptMeter
    files: WorkspaceFiles
    check: DevelopmentCheck
    """The check of the turn."""
