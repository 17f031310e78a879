"""Weights of what an episode pays beside its outcome.

    StepRewards(progress=0.2, judges={"lint": 0.1, "tampering": 0.5})

An episode pays, in all, −w·Φ(s₀) for progress, whatever was done, and once at its end the outcome
times 1 − Σ wₖ(1 − sₖ): each judge k of the end state takes away at most its weight's share of what
the outcome pays, and adds nothing. So no sequence of steps earns what its end state does not hold,
and without an outcome the judges pay nothing.

Covered: weights that are not finite, negative or more than the outcome; judges without their tool.
Not covered: how large a weight should be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from unhack.core.errors import UsageError
from unhack.core.shaping import check_weight
from unhack.environments.steps.lint import find_ruff
from unhack.environments.steps.typing_errors import find_pyright

KINDS = ("build", "lint", "types", "minimality", "tampering")
"""The judges of end states that can be given a weight."""


@dataclass(frozen=True, slots=True)
class StepRewards:
    """The weights of step rewards and of judges of the end state, beside the outcome.

    Example:

        RepositoryWorkshop(rewards=StepRewards(progress=0.2, gamma=0.99, judges={"lint": 0.1}))
    """

    progress: float = 0.0
    """Weight of Φ, the share of the dev tests that pass; 0 pays the outcome alone."""
    gamma: float = 1.0
    """Discount of the potential; it must be that of the returns."""
    judges: Mapping[str, float] = field(default_factory=dict[str, float])
    """Kind of judge (`KINDS`) -> the share of the outcome that it can take away; at most 1 in
    all."""
    split_seed: int = 0
    """Draws the dev tests of a task that has none of its own."""

    def __post_init__(self) -> None:
        check_weight(self.progress, "progress")
        if not 0 <= self.gamma <= 1:
            raise UsageError(f"the discount is {self.gamma}, no number between 0 and 1")
        object.__setattr__(self, "judges", dict(self.judges))
        for kind, weight in self.judges.items():
            if kind not in KINDS:
                raise UsageError(f"{kind!r} is no judge of end states: {', '.join(KINDS)}")
            if not 0 <= weight <= 1:
                raise UsageError(f"the weight of {kind} is {weight}, no number between 0 and 1")
        if math.fsum(self.judges.values()) > 1:
            raise UsageError("the weights of the judges are more than 1 in all, the outcome itself")

    def missing(self) -> str:
        """The weighted judges whose tool is not installed, and what to do; empty for none."""
        tools = {"lint": (find_ruff, "ruff"), "types": (find_pyright, "pyright, and node in /usr")}
        lacking = [
            f"{kind} needs {tools[kind][1]}"
            for kind, weight in self.judges.items()
            if weight and kind in tools and not tools[kind][0]()
        ]
        return "; ".join(lacking) + ": install it, or take the weight away" if lacking else ""
