"""Filters of the prompts and rollouts that take part.

Covered: prompts without variance (drop, or refill as DAPO's dynamic sampling), truncated answers,
prompts that are always solved. Not covered: how prompts are drawn.

Traps: TRL 1.16 has no dynamic sampling; `std == 0` as the test of variance misses groups that are
equal up to rounding and a mean in (0, 1) misreads rewards that are not 0/1: equality is tested.
Dropping shrinks the batch and so raises the weight of what is left (all aggregations but
`constant`); refilling costs more samples the better the policy is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.objectives.estimators import advantages
from unhack.training.objectives.plain import numbers

Drawn = TypeVar("Drawn")


def active(
    mask_B_T: Tensor, signal_B: Tensor, *, zero_variance: Literal["keep", "drop", "refill"]
) -> Tensor:
    """The token mask with rollouts without signal taken out, unless they are kept.

    `signal_B` is the mask of `advantages`. Kept rows have advantage 0: they count in normalisers
    and feel the KL penalty.
    """
    return mask_B_T if zero_variance == "keep" else mask_B_T & signal_B.unsqueeze(1)


def untruncated(tokens_B_T: Tensor, mask_B_T: Tensor, *, stop: int) -> Tensor:
    """Mask of completions that ended with the stop token, bool [B].

    DAPO's overlong filtering multiplies the token mask with this (TRL:
    `mask_truncated_completions`).
    """
    return ((tokens_B_T == stop) & mask_B_T).any(1)


@dataclass(frozen=True, slots=True)
class Refilled(Generic[Drawn]):
    """The prompts that dynamic sampling kept."""

    kept: tuple[tuple[Drawn, Tensor], ...]
    """Each draw with the indices [K] (int64) of its prompts that are used, in order."""
    drawn: int
    """Prompts sampled in all."""
    short: int
    """Prompts that are missing after the last round."""


def refill(
    draw: Callable[[int], tuple[Drawn, Tensor]], *, prompts: int, group: int, rounds: int = 8
) -> Refilled[Drawn]:
    """Draw until `prompts` prompts have rewards that differ (DAPO, arXiv 2503.14476, section 3.2).

    `draw(round)` gives anything and its rewards [B]. At most `rounds` draws: the paper's loop has
    no end when every prompt is solved. Raises UsageError for fewer than one round.
    """
    if rounds < 1:
        raise UsageError(f"refill needs at least one round, not {rounds}")
    kept: list[tuple[Drawn, Tensor]] = []
    found = drawn = 0
    for number in range(rounds):
        item, rewards_B = draw(number)
        _, signal_B = advantages(rewards_B, group=group, estimator="dr_grpo")
        with_signal = signal_B.view(-1, group).any(1).nonzero().squeeze(1)[: prompts - found]
        kept.append((item, with_signal))
        found, drawn = found + len(with_signal), drawn + len(rewards_B) // group
        if found == prompts:
            break
    return Refilled(tuple(kept), drawn, prompts - found)


@dataclass(slots=True)
class PassHistory:
    """No-positive-resampling (ScaleRL, arXiv 2510.13786): a prompt that has been solved in at least
    a share `threshold` (0.9) of all its rollouts so far is not drawn again."""

    threshold: float = 0.9
    _counts: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def observe(self, problems: Iterable[str], passed_B: Tensor) -> None:
        """Record rollouts: the problem of each prompt, and [B] passes (0/1), prompt-major."""
        names = list(problems)
        passed_P_G = passed_B.view(len(names), -1)
        for name, row in zip(names, numbers(passed_P_G.double().sum(1)), strict=True):
            passes, total = self._counts.get(name, [0.0, 0.0])
            self._counts[name] = [passes + row, total + passed_P_G.shape[1]]

    def retired(self, problem: str) -> bool:
        """Tell whether the problem is left out from here on."""
        passes, total = self._counts.get(problem, [0.0, 0.0])
        return total > 0 and passes >= self.threshold * total

    def state(self) -> dict[str, list[float]]:
        """Plain data: problem -> [passes, rollouts]."""
        return {name: list(pair) for name, pair in self._counts.items()}

    def load(self, state: Mapping[str, list[float]]) -> None:
        """Go on from `state()`."""
        self._counts = {name: list(pair) for name, pair in state.items()}
