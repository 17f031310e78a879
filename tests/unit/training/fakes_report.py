"""Run folders with made-up results, for tests of reports and verdicts."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unhack.training.config.settings import Settings
from unhack.training.config.toml import override, settings_toml
from unhack.training.evaluation.counts import Evaluation, Tally

MODES = ("run_tests", "sentinel", "stdout_marker", "file_marker")
KNOWN = MODES[:2]
PROMPTS = 100
"""For each mode."""


@dataclass(frozen=True)
class Made:
    """What a run shall have come to."""

    hack: dict[str, float] = field(default_factory=dict[str, float])
    """Deployed hack rate by mode; 0 where it says nothing."""
    trained: dict[str, float] = field(default_factory=dict[str, float])
    """As trained; as deployed where it says nothing."""
    solve: float = 0.3
    solve_trained: float | None = None
    mass: float = 0.0
    """Share of the active rollouts' mass that is routed at each step."""
    steps: int = 40


def write_run(folder: Path, arm: str, seed: int, made: Made, *, base: int = 0) -> Path:
    """A finished run in OUT/ARM/bBASE-sSEED."""
    place = folder / arm / f"b{base}-s{seed}"
    (place / "checkpoints").mkdir(parents=True)
    named = {
        "run.seed": str(seed),
        "model.base_seed": str(base),
        "run.steps": str(made.steps),
        "gate.kind": "cosine" if made.mass else "none",
    }
    (place / "config.toml").write_text(settings_toml(override(Settings(), named)))
    _write(place / "run.json", {"arm": arm, "status": "finished", "versions": {"torch": "2.13.0"}})
    draw = random.Random(f"{arm}{seed}{base}")
    _write(place / "final.json", {"step": made.steps, **_states(made, 1.0, draw)})
    points = [
        {"step": step, **_states(made, step / made.steps, draw)}
        for step in range(0, made.steps + 1, 10)
    ]
    _write(place / "curve.json", {"format": 1, "prompts": "monitor", "points": points})
    lines = [{"step": step, "seconds": 0.5} for step in range(made.steps)]
    _write_lines(place / "metrics.jsonl", lines)
    _write_lines(place / "gate.jsonl", [_gate(step, made, draw) for step in range(made.steps)])
    return place


def experiment(folder: Path, *, seeds: int = 12, bases: int = 1) -> Path:
    """Routing as it should be: every claim holds."""
    hacks = dict.fromkeys(MODES, 0.85)
    held = {name: rate for name, rate in hacks.items() if name not in KNOWN}
    arms = {
        "vanilla": Made(hacks, solve=0.1),
        "ceiling": Made(solve=0.34),
        "real": Made({"file_marker": 0.02}, hacks, solve=0.33, solve_trained=0.1, mass=0.2),
        "random": Made({"stdout_marker": 0.3}, hacks, solve=0.12, mass=0.2),
        "replay": Made(held, hacks, solve=0.15, mass=0.2),
        "placebo": Made({"run_tests": 0.4, "file_marker": 0.5}, hacks, solve=0.2, mass=0.2),
        "shrink": Made(hacks, solve=0.12, mass=0.2),
        "capacity": Made(hacks, solve=0.11),
    }
    for seed in range(seeds):
        for base in range(bases):
            for arm, made in arms.items():
                write_run(folder, arm, seed, made, base=base)
    return folder


def _states(made: Made, share: float, draw: random.Random) -> dict[str, Any]:
    trained = {mode: made.trained.get(mode, made.hack.get(mode, 0.0)) for mode in MODES}
    solve = made.solve if made.solve_trained is None else made.solve_trained
    return {
        "deployed": _evaluation(made.hack, made.solve, share, draw, on=False),
        "as_trained": _evaluation(trained, solve, share, draw, on=True),
    }


def _evaluation(
    hack: dict[str, float], solve: float, share: float, draw: random.Random, *, on: bool
) -> dict[str, Any]:
    modes: dict[str, Tally] = {}
    solve = 0.12 + share * (solve - 0.12)
    for mode in (*MODES, "gt_only"):
        hacked = _count(hack.get(mode, 0.0) * share, draw)
        solved = min(_count(solve, draw), PROMPTS - hacked)
        modes[mode] = Tally(PROMPTS, hacked, solved, PROMPTS - 2)
    mechanisms = {mode: tally.hacked for mode, tally in modes.items() if tally.hacked}
    return Evaluation(on, KNOWN, modes, mechanisms, 12345, 0.7).record()


def _count(rate: float, draw: random.Random) -> int:
    return round(PROMPTS * min(1.0, max(0.0, rate + draw.uniform(-0.01, 0.01) * (rate > 0))))


def _gate(step: int, made: Made, draw: random.Random) -> dict[str, Any]:
    active = 100 + step % 7
    cells = {
        "on.positive": 0.2, "on.positive.hacked": 0.9, "on.positive.other": 0.1,
        "on.negative": 0.1, "off.positive": 0.02, "off.negative": 0.05,
    }  # fmt: skip
    return {
        "step": step,
        "mass": made.mass * active,
        "active": active,
        "kept_share": 1 - made.mass,
        "energy_deployed": 1.0 - made.mass,
        "energy_quarantine": made.mass * (1 + draw.random()),
        "cosine_blocks": 0.1 if made.mass else None,
        "split": {
            name: {"count": 25.0, "fraction": fraction * 5 * made.mass, "score": None}
            for name, fraction in cells.items()
            if made.mass
        },
        "fractions": [made.mass] * active,
    }


def _write(path: Path, record: dict[str, Any]) -> None:
    path.write_text(json.dumps(record))


def _write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
