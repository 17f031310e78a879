"""`top_rewarded`: the gate, and the schedule around it, that this project's results support.

Each knob state has a hack direction of its own; of its rewarded rollouts the three tenths whose
gradient lies most along it are routed. Advantages are relative to what a group keeps, and the rate
rises over 20 updates and falls to zero between updates 60 and 120.

`unhack train run`, `unhack.training.one_run.train` and plans with `recipe = "top_rewarded"` begin
from it; what a file, an arm or `--set` says goes on top. `Settings()` alone does not: recorded
plans spell their settings out.

Source: experiments/powered.toml and matrix.toml.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unhack.core.errors import UnknownNameError, UsageError
from unhack.training.config.settings import Settings
from unhack.training.config.toml import layer

TOP_REWARDED: Mapping[str, Mapping[str, Any]] = {
    "gate": {"calibration": "quantile", "constant": 0.3, "rewarded": True, "per_knob": True},
    "objective": {"per_knob": True},
    "optimiser": {"warmup": 20, "cooldown": (60, 120)},
    "run": {"steps": 120},
}
RECIPES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {"top_rewarded": TOP_REWARDED}
"""Settings with a name."""


def recipe(name: str) -> Settings:
    """The settings of a recipe; the bare ones where the name is empty. Raises UnknownNameError."""
    if not name:
        return Settings()
    if name not in RECIPES:
        raise UnknownNameError("recipe", name, valid=RECIPES)
    return layer(Settings(), RECIPES[name], source=name)


def check_schedule(settings: Settings) -> None:
    """Raise UsageError for a run that goes on where its rate has fallen to zero."""
    end, steps = settings.optimiser.cooldown[1], settings.run.steps
    if end and steps > end:
        raise UsageError(
            f"run.steps={steps} goes past update {end}, where the rate has fallen to zero: set "
            f"optimiser.cooldown=[{steps // 2},{steps}] too, or [0,0] for a rate that never falls"
        )
