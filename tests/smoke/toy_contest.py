"""A contest that takes no time to judge, and inputs of a turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unhack.tournament.contest import Declared, Files, Measurement, Submissions, Terms, invalid
from unhack.tournament.players.player import TurnInputs


class Toy:
    """The fitness is the number after the sign of equality in `solution.py`."""

    name, title, exclusive = "toy", "Toy", False
    declared = Declared(("solution.py",), ("extra/*.txt",))
    settings: Mapping[str, Any] = {}
    submissions = Submissions(
        null=dict,
        identity=dict,
        honest=lambda: {"one": {"solution.py": b"x = 1\n"}},
        cheats=dict,
        space=(),
        at=lambda choice: {},
    )


def check(files: Files) -> Measurement:
    """What the judge would measure."""
    try:
        value = float(files["solution.py"].partition(b"=")[2])
    except (KeyError, ValueError):
        return invalid("there is no number in solution.py")
    return Measurement(value, value - 0.1, value + 0.1, {"files": len(files)})


def inputs_in(folder: Path, **changes: Any) -> TurnInputs:
    """Inputs with a workspace in a fresh folder; the fields of `TurnInputs` may be changed."""
    for name in ("workspace", "transcript", "memory"):
        (folder / name).mkdir(parents=True)
    (folder / "workspace" / "STATEMENT.md").write_text("Hand in the largest number.\n")
    (folder / "workspace" / "solution.py").write_text("x = 0\n")
    counted: Callable[[Files], Measurement] = check
    values: dict[str, Any] = {
        "contest": Toy(),
        "terms": Terms(1),
        "workspace": folder / "workspace",
        "check": counted,
        "seed": 1,
        "time_limit_s": 120.0,
        "cost_limit_usd": 1.0,
        "transcript": folder / "transcript",
        "memory": folder / "memory",
        **changes,
    }
    return TurnInputs(**values)
