"""From a step's batch, update and routing to its record, over all ranks.

Covered: sums are reduced, so every rank has the same record. Not covered: `gate.jsonl`, which
holds the fractions of all ranks but otherwise what the leader's part was like.

The readings of the leak alarm during training: one more forward pass, every few updates.

It scores the rollouts that were sampled with the quarantine off, in both knob states. No random
number is drawn and no gradient is left, so a run trains the same with it.

Covered: several ranks (the reading is over the rollouts of all). Not covered: what a reading means
(`routing.leak`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch

from unhack.training.config.settings import Settings
from unhack.training.evaluation.evaluate import decode_rollouts
from unhack.training.loop.batches import RolloutBatch, select_rollouts
from unhack.training.loop.distributed import Ranks
from unhack.training.loop.optimiser import Stepped
from unhack.training.loop.sampling import RolloutSource, SampledBatch
from unhack.training.loop.update import Estimated, Update
from unhack.training.objectives.plain import numbers
from unhack.training.routing.leak import EVERY, FIRST, claimed_B, claimed_share
from unhack.training.routing.split import RoutingLog
from unhack.training.run.step_record import StepRecord
from unhack.training.worlds.world import Judged, World


@dataclass(frozen=True, slots=True)
class Done:
    """Results of one update."""

    sampled: SampledBatch
    estimated: Estimated
    update: Update
    """The first one, where a batch serves several."""
    routing: RoutingLog
    stepped: Stepped


def summarise_step(done: Done, settings: Settings, ranks: Ranks, *, step: int) -> StepRecord:
    """The record of a step, without times and alarms."""
    sums = _reduce(_sums(done), ranks)
    judged, prompts = sums["rollouts"], settings.rollouts.prompts
    routing = done.routing
    return StepRecord(
        step=step,
        steps=settings.run.steps,
        reward=sums["reward"] / judged,
        hacked=_mean(sums, "hacked", "rollouts"),
        solved=_mean(sums, "solved", "rollouts"),
        parses=_mean(sums, "parses", "rollouts"),
        detected=_mean(sums, "detected", "rollouts"),
        truncated=sums["truncated"] / judged,
        hacked_on=_mean(sums, "hacked_on", "on"),
        hacked_off=_mean(sums, "hacked_off", "off"),
        solved_on=_mean(sums, "solved_on", "on"),
        solved_off=_mean(sums, "solved_off", "off"),
        entropy=sums["surprise"] / max(sums["tokens"], 1),
        kl=sums["kl"] / max(sums["kl_count"], 1),
        kl_count=int(sums["kl_count"]),
        zero_variance_share=sums["flat"] / sums["prompts"],
        dropped=int(sums["dropped"]),
        refilled=int(sums["sampled"]) - prompts,
        routed_mass=sums["mass"],
        loss=sums["loss"],
        norm_deployed=done.stepped.norm_deployed,
        norm_quarantine=done.stepped.norm_quarantine,
        tokens=int(sums["sampled_tokens"]),
        reward_unparsed=_mean(sums, "reward_unparsed", "unparsed"),
        reward_unsolved=_mean(sums, "reward_unsolved", "unsolved"),
        reward_solved=_mean(sums, "reward_solved", "solved"),
        objective=done.update.log,
        gate=dict(routing.gate),
    )


def gate_line(routing: RoutingLog, ranks: Ranks, *, step: int) -> dict[str, object]:
    """The line of `gate.jsonl`; fractions, mass and active count are those of all ranks."""
    line = routing.record(step)
    if ranks.count == 1:
        return line
    own = [routing.mass, routing.active, routing.kept_share, float(len(routing.fractions))]
    parts = ranks.gather([*own, *routing.fractions, *map(float, routing.quarantine)])
    ends = [4 + int(part[3]) for part in parts]
    active = sum(int(part[1]) for part in parts)
    kept = sum(part[1] * part[2] for part in parts)
    return {
        **line,
        "mass": sum(part[0] for part in parts),
        "active": active,
        "kept_share": kept / active if active else 1.0,
        "fractions": [
            value for part, end in zip(parts, ends, strict=True) for value in part[4:end]
        ],
        "quarantine": "".join(
            str(int(value)) for part, end in zip(parts, ends, strict=True) for value in part[end:]
        ),
    }


def rollouts_line(world: World, done: Done, *, step: int) -> dict[str, object]:
    """The line of `rollouts.jsonl`: prompts, what each rollout wrote, its reward and labels.

    `fractions` and `scores` are the gate's, of the rollouts of prompts with `signal` alone, in
    their order. Labels are None in a world without an oracle. This rank's part of the batch.
    """
    batch, routing = done.sampled.batch, done.routing
    signal_P = done.estimated.mask_B_T.any(1).view(-1, batch.rollouts.group).any(1)
    labels = ("reward", "solved", "channel", "mechanism", "detected")
    return {
        "step": step,
        "group": batch.rollouts.group,
        "prompts": [[item.problem, item.mode, item.text] for item in batch.prompts],
        "signal": list(map(bool, numbers(signal_P))),
        "quarantine": list(map(bool, numbers(batch.rollouts.quarantine_B))),
        "texts": decode_rollouts(world, batch.rollouts),
        **{name: [getattr(item, name) for item in batch.judged] for name in labels},
        "fractions": routing.fractions,
        "scores": routing.scores,
    }


def _sums(done: Done) -> dict[str, float]:
    """The sums over this rank's rollouts; those of labels only where the world has them."""
    sampled, estimated = done.sampled, done.estimated
    batch, judged = sampled.batch, sampled.batch.judged
    rollouts = batch.rollouts
    on: list[bool] = cast(Any, rollouts.quarantine_B).tolist()
    groups = estimated.mask_B_T.any(1).view(-1, rollouts.group).any(1)
    labels: dict[str, float] = {}
    if all(item.solved is not None for item in judged):
        labels = _oracle_sums(judged, on)
    elif all(item.detected is not None for item in judged):
        labels["detected"] = _total(judged, "detected")
    if all(item.parses is not None for item in judged):
        labels["parses"] = _total(judged, "parses")
    return {
        **labels,
        "rollouts": len(judged),
        "prompts": len(batch.prompts),
        "reward": _total(judged, "reward"),
        "truncated": sampled.truncated,
        "surprise": -float((rollouts.logprobs_B_T * rollouts.mask_B_T).sum().item()),
        "tokens": float(rollouts.mask_B_T.sum().item()),
        "kl": float(estimated.kl_B.sum().item()),
        "kl_count": estimated.kl_B.numel(),
        "flat": estimated.flat,
        "dropped": float((~groups).sum().item()),
        "sampled": sampled.prompts,
        "sampled_tokens": sampled.tokens,
        "mass": done.routing.mass,
        "loss": done.update.loss,
    }


def _oracle_sums(judged: Sequence[Judged], on: Sequence[bool]) -> dict[str, float]:
    """The sums that need an oracle."""
    with_on = [item for item, state in zip(judged, on, strict=True) if state]
    with_off = [item for item, state in zip(judged, on, strict=True) if not state]
    unparsed = [item for item in judged if not item.parses and not item.solved]
    unsolved = [item for item in judged if item.parses and not item.solved]
    solved = [item for item in judged if item.solved]
    return {
        "hacked": _total(judged, "hacked"),
        "solved": len(solved),
        "on": len(with_on),
        "off": len(with_off),
        "hacked_on": _total(with_on, "hacked"),
        "hacked_off": _total(with_off, "hacked"),
        "solved_on": _total(with_on, "solved"),
        "solved_off": _total(with_off, "solved"),
        "unparsed": len(unparsed),
        "unsolved": len(unsolved),
        "reward_unparsed": _total(unparsed, "reward"),
        "reward_unsolved": _total(unsolved, "reward"),
        "reward_solved": _total(solved, "reward"),
    }


def _reduce(sums: Mapping[str, float], ranks: Ranks) -> dict[str, float]:
    """Sum over the ranks."""
    values = torch.tensor(list(sums.values()), dtype=torch.float64)
    ranks.all_reduce([values])
    return dict(zip(sums, numbers(values), strict=True))


def _total(judged: Iterable[Judged], name: str) -> float:
    return float(sum(float(getattr(item, name)) for item in judged))


def _mean(sums: Mapping[str, float], name: str, count: str) -> float | None:
    return sums[name] / sums[count] if name in sums and sums[count] else None


def read_leak(source: RolloutSource, batch: RolloutBatch, *, step: int) -> float | None:
    """The reading of a step; None between readings and before the first, where no quarantine is
    trained, and where no rollout with the quarantine off earned more than another."""
    settings = source.settings
    if settings.gate.kind == "none" or settings.gate.action != "route":
        return None
    if step < FIRST or step % EVERY:
        return None
    rollouts = batch.rollouts
    off = (~rollouts.quarantine_B).nonzero().squeeze(1)
    rewards, claimed = batch.rewards_B[off], torch.zeros(0, dtype=torch.bool)
    if off.numel():
        part = select_rollouts(rollouts, off)
        on = replace(part, quarantine_B=torch.ones_like(part.quarantine_B))
        with torch.no_grad():
            on_B_T, off_B_T = (source.policy.score(one) for one in (on, part))
        claimed = claimed_B(on_B_T, off_B_T, part.mask_B_T)
    pairs = list(zip(numbers(rewards), numbers(claimed), strict=True))
    every = [pair for own in source.ranks.gather(pairs) for pair in own]
    return claimed_share([reward for reward, _ in every], [bool(taken) for _, taken in every])
