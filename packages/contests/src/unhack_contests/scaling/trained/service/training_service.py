"""The training service: reads a request, charges it, has it trained, answers.

    ["price", settings]     what a run would cost; free
    ["train", settings]     its loss and curve

Covered: a request is a verb and the settings of one run, nothing else; what is outside the limits
or beyond the budget is refused before anything is spent; a run is charged before it begins, also
where the record has it. What no unaltered client sends ends the dialogue (`RefusedError`).
Not covered: what a submission makes of the answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, cast

from unhack_contests.scaling.trained.service.meter import BudgetSpentError, Meter
from unhack_contests.scaling.trained.world.run_settings import (
    LabSettings,
    TrainingOutcome,
    read_settings,
)
from unhack_contests.scaling.trained.world.world import DrawnWorld
from unhack_contests.submission import flagged

_VERBS = ("price", "train")


class RunRefused(Exception):
    """A run that is not trained; the submission is told why and goes on."""


def told_as_measured(loss: float) -> float:
    """The loss itself."""
    return loss


@dataclass(frozen=True, slots=True)
class TrainingService:
    """The service as one submission sees it in one world."""

    world: DrawnWorld
    train: Callable[[LabSettings], TrainingOutcome]
    meter: Meter
    tell: Callable[[float], float] = told_as_measured
    """The answer that is told of a measured loss."""

    @property
    def uniform(self) -> float:
        """The loss of knowing nothing, nats per token."""
        return math.log(self.world.recipe.vocabulary)

    def describe(self) -> dict[str, Any]:
        """The facts that a submission is told before it begins."""
        size = self.world.size
        usual = {
            "width": size.limits.width[0], "depth": 1, "steps": 100, "batch": size.batch,
            "rate": 1.0, "mix": self.world.mix, "again": 0,
        }  # fmt: skip
        return {
            "budget": self.meter.budget, "usual": usual, "limits": asdict(size.limits),
            "uniform": self.uniform,
            "targets": [{**run.plain(), **self._price(run)} for run in self.world.targets],
        }  # fmt: skip

    def answer(self, request: Any) -> dict[str, Any]:
        """Carry a request out. Raises RunRefused, RefusedError."""
        words = cast("list[Any]", request) if isinstance(request, list) else []
        if len(words) != 2 or not isinstance(words[0], str):
            raise flagged("forged_value", "a request that is no request")
        if words[0] not in _VERBS:
            raise flagged("tampered_input", f"it asked the service to {words[0]!r:.40}")
        settings = read_settings(words[1])
        outside = self.world.size.limits.outside(settings)
        if outside:
            raise RunRefused(outside)
        price = self._price(settings)
        if words[0] == "price":
            return {**price}
        try:
            self.meter.charge(settings.key(), price["flops"])
        except BudgetSpentError as error:
            raise RunRefused(str(error)) from None
        found = self.train(settings)
        curve = [[tokens, self.tell(loss)] for tokens, loss in found.curve]
        return {**price, "loss": self.tell(found.loss), "curve": curve}

    def _price(self, settings: LabSettings) -> dict[str, int]:
        recipe = self.world.recipe
        return {
            "parameters": recipe.parameters(settings), "tokens": recipe.tokens(settings),
            "flops": recipe.flops(settings),
        }  # fmt: skip
