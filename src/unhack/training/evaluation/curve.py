"""The curve of a run: every checkpoint, both knob states, in one file `curve.json`.

Covered: points at 0, 10, 20, … completed updates and the last; 0 is the base model. Points are
written one by one, so an interrupted evaluation goes on where it was. Not covered: the deletion
of the quarantine (`evaluate.evaluate_run` proves it on the last checkpoint).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from unhack.core.errors import UsageError
from unhack.training.evaluation.evaluate import (
    SEED,
    TEMPERATURE,
    Opened,
    both_states,
    open_run,
    restore,
)
from unhack.training.policy.policy import load_policy
from unhack.training.run.checkpoint import checkpoint_steps
from unhack.training.run.folder import write_json

CURVE = "curve.json"
PromptSet = Literal["monitor", "final"]
Watch = Callable[[dict[str, Any], int], None]
"""Called with each point and the number of points in all."""


def evaluate_curve(
    folder: Path,
    *,
    every: int = 10,
    prompts: PromptSet = "monitor",
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Complete `curve.json` of a run; return its content.

    A run that has gone on since gets the points that it lacks. Raises UsageError where the file
    holds points of another prompt set, or `every` names no checkpoint.
    """
    wanted = plan_steps(checkpoint_steps(folder), every=every)
    path = folder / CURVE
    curve = _read_or_begin(path, prompts)
    done = {point["step"] for point in curve["points"]}
    missing = [step for step in wanted if step not in done]
    if not missing:
        return curve
    run = open_run(folder)
    chosen = run.world.monitor() if prompts == "monitor" else run.world.final()
    base = _base(run, missing)
    for step in missing:
        if step in run.steps:
            restore(run, step)
        elif base is not None:
            run.policy.adapters.load(base)
        deployed, as_trained = both_states(run.policy, run.world, chosen)
        point: dict[str, Any] = {
            "step": step,
            "deployed": deployed.record(),
            "as_trained": as_trained.record(),
        }
        curve["points"] = sorted([*curve["points"], point], key=lambda item: item["step"])
        write_json(path, curve)
        if watch is not None:
            watch(point, len(wanted))
    return curve


def plan_steps(steps: Sequence[int], *, every: int) -> list[int]:
    """The checkpoints that a curve has: 0, multiples of `every`, and the last."""
    if every < 1:
        raise UsageError("--every: at least 1")
    return sorted({0, *(step for step in steps if step % every == 0), *steps[-1:]})


def _base(run: Opened, missing: Sequence[int]) -> dict[str, Any] | None:
    """The adapters before the first update: those of a fresh policy, whatever `open_run` loaded."""
    if 0 not in missing or 0 in run.steps:
        return None
    return load_policy(run.settings, run.world).adapters.state()


def _read_or_begin(path: Path, prompts: PromptSet) -> dict[str, Any]:
    """Read the stored curve, or begin one."""
    head = {"format": 1, "prompts": prompts, "seed": SEED, "temperature": TEMPERATURE}
    if not path.exists():
        return {**head, "points": []}
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        found = {name: stored[name] for name in head}
        list(stored["points"])
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: not a curve ({error}); remove it and run this again") from None
    if found != head:
        raise UsageError(f"{path}: made with {found}, wanted {head}; remove it to begin again")
    return stored
