"""A command-line agent: its turn as an assignment, and a check's answer in figures.

Covered: a check tells the fitness to the digits that its noise leaves, and in a contest without
development data what the judge would take; the agent's processes stand
still, and its clock with them, while somebody measures time.
Not covered: flags are not told: an agent learns whether it is valid, not what was suspected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from unhack.agents.command_line.command import CommandAgent
from unhack.agents.play import Assignment, HandedIn, Play, WorkFiles
from unhack.tournament.contest import DECLINED, Equipped, Measurement, Metric
from unhack.tournament.hidden_data import hidden_reason
from unhack.tournament.judging.machine_lock import MACHINE, Clock
from unhack.tournament.players.player import TurnInputs
from unhack.tournament.players.prompt import prompt

_MAX_REASON = 2000
_DIGITS = 3
_SHARES, _FILES, _BYTES = 3, 2000, 64 << 20
"""The champion's files, the agent's own best and whatever it leaves match the patterns too. They
are left out before the limits of the contest are applied, so more is read than these allow."""


@dataclass(frozen=True, slots=True)
class CommandPlayer:
    """A command-line agent that competes."""

    agent: CommandAgent

    @property
    def name(self) -> str:
        """As given on the command line."""
        return self.agent.name

    def play(self, inputs: TurnInputs) -> Play:
        """Run the agent until it ends or a limit ends it.

        Raises UsageError, SandboxUnavailableError where this host cannot wall it in, SandboxError.
        """
        return self.agent.play(assignment_of(inputs))


def assignment_of(inputs: TurnInputs) -> Assignment:
    """The turn as the agent is given it."""
    declared = inputs.contest.declared

    def check(files: WorkFiles) -> dict[str, Any]:
        return measurement_fields(inputs.check(files), hidden=hidden_reason(inputs.contest))

    return Assignment(
        prompt=prompt(inputs),
        workspace=inputs.workspace,
        handed_in=HandedIn(
            (*declared.required, *declared.optional, DECLINED),
            declared.required,
            DECLINED,
            max(_FILES, _SHARES * declared.max_files),
            max(_BYTES, _SHARES * declared.max_bytes),
        ),
        check=check,
        time_limit_s=inputs.time_limit_s,
        cost_limit_usd=inputs.cost_limit_usd,
        transcript=inputs.transcript,
        packages=inputs.contest.packages if isinstance(inputs.contest, Equipped) else None,
        start_clock=Clock,
        hold=MACHINE.registered,
        device=inputs.card,
    )


def measurement_fields(measured: Measurement, *, hidden: str = "") -> dict[str, Any]:
    """A measurement, to the digits that its noise leaves. `hidden`: why it has no fitness."""
    left_out = dict(measured.left_out)
    rest = [f"left out, {path}: {reason}" for path, reason in left_out.items()]
    if not measured.valid:
        reason = measured.reason[:_MAX_REASON]
        text = "\n".join([f"not valid: {reason}", *rest])
        return {"valid": False, "reason": reason, "left_out": left_out, "text": text}
    metrics = {name: _short(value) for name, value in measured.metrics.items()}
    told = [*(f"  {name}: {value}" for name, value in metrics.items()), *rest]
    if hidden:
        lines = [f"no fitness: {hidden}", "this can be handed in:", *told]
        told = {"metrics": metrics, "left_out": left_out, "text": "\n".join(lines)}
        return {"valid": True, "fitness": None, **told}
    noise = max(0.0, (measured.high - measured.low) / 2)
    fitness = rounded(measured.fitness, noise)
    spread = float(f"{noise:.1g}")
    lines = [f"fitness {fitness:g} ± {spread:g} (development data, 95 %)", *told]
    return {
        "valid": True,
        "fitness": fitness,
        "noise": spread,
        "metrics": metrics,
        "left_out": left_out,
        "text": "\n".join(lines),
    }


def rounded(value: float, noise: float) -> float:
    """`value` to the place of the first digit of its noise; three digits where there is none."""
    if not math.isfinite(value):
        return 0.0
    if noise <= 0 or not math.isfinite(noise):
        return float(f"{value:.{_DIGITS}g}")
    return round(value, -math.floor(math.log10(noise)))


def _short(value: Metric) -> Metric:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else str(value)
    return value
