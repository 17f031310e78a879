"""The shuffled gate: the fractions of a recorded run, dealt out at random.

Step by step it routes the mass that the recorded run routed, without any tie between a rollout and
its fraction. What it does to the policy is what routing that much does, whatever the direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from unhack.training.routing.gate import Gated, GateView
from unhack.training.routing.gates.mass import mix_seed, portions
from unhack.training.routing.split import read_gate_log, recorded_step


class ReplayGate:
    """Deals the fractions of the same step of a recorded run to random active rollouts.

    Raises UsageError where the run has no record, or none of the step that is asked for.
    """

    def __init__(self, folder: str, *, seed: int, knob: bool | None = None) -> None:
        """`knob`: deal what the record gave to the rollouts of one knob state alone."""
        self._folder = folder
        self._seed = seed
        self._steps = read_gate_log(Path(folder), knob=knob)

    def __call__(self, view: GateView, /) -> Gated:
        recorded = recorded_step(self._steps, view.step, folder=self._folder)
        active = (view.advantages_B != 0).nonzero().flatten().cpu()
        dealt = portions(recorded, count=active.numel())
        generator = torch.Generator().manual_seed(mix_seed(self._seed, view.step))
        order = torch.randperm(active.numel(), generator=generator)
        fractions_B = torch.zeros(view.advantages_B.shape[0])
        fractions_B[active[order]] = torch.tensor(dealt.fractions)
        fractions_B = fractions_B.to(view.advantages_B.device)
        return Gated(fractions_B.view(-1, 1, 1), log=dealt.log(recorded))

    def state(self) -> dict[str, object]:
        """Nothing: the order of a step depends on the seed and the step alone."""
        return {}

    def load(self, state: Mapping[str, object]) -> None:
        """Nothing to restore."""
