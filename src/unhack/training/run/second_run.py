"""A run that leaks is trained again: the controller of a gate's share, which waits for the end.

The leak alarm's last score says whether the deployed policy earns its reward by what the quarantine
would write. Where it is above the limit, the policy is trained once more, from its base, with a
larger share. While a run goes on the score tells too little to act on it (`controller` of the
journal).

Covered: gates that route a share by score. Not covered: several processes; a second run that leaks
too, which is left as it is.
"""

from __future__ import annotations

from pathlib import Path

from unhack.core.errors import UsageError
from unhack.training.config.settings import Settings
from unhack.training.routing.leak import LIMIT
from unhack.training.run.folder import METRICS, read_lines


def check_again(settings: Settings, share: float, *, processes: int) -> None:
    """Raise UsageError where a second run with `share` cannot be made."""
    gate = settings.gate
    if processes > 1:
        raise UsageError(f"training again is for one process, not for {processes}")
    if gate.kind != "cosine" or gate.calibration != "quantile" or gate.action != "route":
        raise UsageError(
            "training again is for gates that route a share by score: gate.kind=cosine, "
            "gate.calibration=quantile, gate.action=route"
        )
    if not gate.constant < share <= 1:
        raise UsageError(
            f"training again needs a larger share than gate.constant={gate.constant:g}, and at "
            f"most 1: not {share:g}"
        )


def leak_score(folder: Path) -> float | None:
    """The last score of a run's leak alarm, in [0, 1]; None where none was made."""
    scores = [line["leak"] for line in read_lines(folder / METRICS) if "leak" in line]
    return scores[-1] if scores else None


def second_run(settings: Settings, folder: Path, share: float) -> tuple[Settings, Path] | None:
    """Settings and folder (`NAME-again`, beside it) of the second run; None where the first one's
    last score is within the limit, or it has none."""
    score = leak_score(folder)
    if score is None or score <= LIMIT:
        return None
    gate = settings.gate.model_copy(update={"constant": share})
    return settings.model_copy(update={"gate": gate}), folder.with_name(f"{folder.name}-again")
