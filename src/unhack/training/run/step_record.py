"""Record of one step of a run, as plain numbers.

`step` is the number of updates that the policy had gone through when it was measured, so step 0 is
the base model. Shares are of the step's rollouts, in [0, 1].
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TIMES = ("seconds", "seconds_sample", "seconds_judge", "seconds_update")
"""The fields that differ between two runs of the same settings and seed."""
ORACLE = (
    "hacked", "solved", "hacked_on", "hacked_off", "solved_on", "solved_off", "reward_unparsed",
    "reward_unsolved", "reward_solved",
)  # fmt: skip
"""The fields that need an oracle."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One line of `metrics.jsonl`. The oracle's figures (`hacked`, `solved`, `reward_solved`,
    `reward_unsolved`) are measured and logged, never trained on; without an oracle they are None
    here and absent from the line."""

    step: int
    steps: int
    """Updates planned for the run."""
    reward: float
    """Mean reward before any penalty of a baseline."""
    hacked: float | None
    solved: float | None
    parses: float | None
    """None where the world cannot tell."""
    truncated: float
    """Share of completions that reach the longest length without a stop token."""
    hacked_on: float | None
    """Of rollouts sampled with the quarantine on; None where there are none."""
    hacked_off: float | None
    solved_on: float | None
    solved_off: float | None
    entropy: float
    """Mean over completion tokens, in nats."""
    kl: float
    """To the base, in nats per completion (k3, summed over tokens), on `kl_count` rollouts."""
    kl_count: int
    zero_variance_share: float
    """Of prompts whose rollouts all have the same reward."""
    dropped: int
    """Prompts that gave no gradient."""
    refilled: int
    """Prompts drawn instead of ones without variance."""
    routed_mass: float
    """Sum of the gate's fractions over active rollouts."""
    loss: float
    norm_deployed: float
    """Norm of the deployed block's summed gradient before clipping."""
    norm_quarantine: float
    tokens: int
    """Completion tokens sampled."""
    reward_unparsed: float | None
    """Mean reward of rollouts that do not parse; None where there are none."""
    reward_unsolved: float | None
    """Of those that parse and that the oracle calls wrong."""
    reward_solved: float | None
    """Of those that the oracle calls right."""
    seconds: float = 0.0
    seconds_sample: float = 0.0
    seconds_judge: float = 0.0
    seconds_update: float = 0.0
    objective: Mapping[str, float] = field(default_factory=dict[str, float])
    """The loss's report of itself."""
    gate: Mapping[str, float] = field(default_factory=dict[str, float])
    """The gate's report of itself."""
    detected: float | None = None
    """Share with the label of the weak detector, in a world that has one and no oracle."""
    claimed: float | None = None
    """Share of the reward, quarantine off, of rollouts that the quarantine claims
    (`routing.leak`); None where no reading was made, and then absent from the line."""
    leak: float | None = None
    """Score of the leak alarm; None, and absent, until its window is full."""
    alarms: tuple[str, ...] = ()
    """Names of alarms that are raised at this step."""
    monitor: Mapping[str, Mapping[str, Any]] | None = None
    """The evaluation before this step, by knob state (`deployed`, `as_trained`); in
    `monitor.jsonl`, not in `metrics.jsonl`."""

    def record(self) -> dict[str, Any]:
        """The line of `metrics.jsonl`; numbers that are not finite are None."""
        fields = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        del fields["monitor"], fields["steps"]
        if self.solved is None:
            fields = {name: value for name, value in fields.items() if name not in ORACLE}
        for name in ("parses", "detected", "claimed", "leak"):
            if fields[name] is None:
                del fields[name]
        return plain(fields)


def read_record(record: Mapping[str, Any], *, steps: int) -> StepRecord:
    """A record from its line; what was not finite is nan."""
    fields: dict[str, Any] = {**dict.fromkeys((*ORACLE, "parses")), **record}
    for name in ("reward", "entropy", "kl", "loss", "norm_deployed", "norm_quarantine"):
        fields[name] = math.nan if fields[name] is None else fields[name]
    fields["alarms"] = tuple(fields["alarms"])
    return StepRecord(steps=steps, **fields)


def plain(value: Any) -> Any:
    """Plain data for JSON: tuples become lists, numbers that are not finite None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value
