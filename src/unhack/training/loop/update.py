"""Advantages of a batch, its gradients per rollout, and the update.

Axes: B rollouts (prompt-major), T completion tokens, S positions of prompt and completion.

Covered: shaping, advantages, baselines, KL to the base, whole-batch normalisers over ranks and
micro-batches. Not covered: gates and routing; optimisation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training import objectives
from unhack.training.adapters.adapter import Block, Gradients
from unhack.training.adapters.attached import AttachedAdapters
from unhack.training.config.settings import BaselineSettings
from unhack.training.loop.batches import (
    JoinedGradients,
    RolloutBatch,
    cut_out,
    select_rollouts,
    slices,
)
from unhack.training.loop.optimiser import BLOCKS, Optimiser, Stepped
from unhack.training.loop.sampling import RolloutSource
from unhack.training.objectives import critic
from unhack.training.policy.rollouts import Rollouts
from unhack.training.routing.gate import Gated, GateView
from unhack.training.routing.gates.rewarded import differs
from unhack.training.routing.split import RoutingLog, per_rollout
from unhack.training.worlds.world import Judged

PENALTY = 3.0
"""Reward that the baseline `detector_penalty` takes off what the weak detector labels."""

NOTHING = RoutingLog(
    mass=0.0, active=0, kept_share=1.0, kept_norm=1.0, fractions=(), energy_deployed=0.0,
    energy_quarantine=0.0, cosine_blocks=math.nan, cosine_deployed=math.nan,
    cosine_quarantine=math.nan, auroc=math.nan, aurocs={}, quarantine=(), split={}, gate={},
)  # fmt: skip
"""The routing of a step in which no rollout of this rank has a signal."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """A batch with what each rollout is worth."""

    batch: RolloutBatch
    advantages_B: Tensor
    """[B], or [B, T] from a critic; 0 where a rollout must not train."""
    mask_B_T: Tensor
    """bool: the tokens that count; a row without any is left out."""
    whole: Tensor
    """The normalisers of the whole batch, all ranks together (`objectives.counts`)."""
    flat: int
    """Prompts whose rollouts all have the same reward."""
    reference_B_T: Tensor | None
    """Log-probabilities under the base, where the objective needs them."""
    kl_B: Tensor
    """KL to the base in nats, of the rollouts on which it was measured."""
    valued: tuple[Tensor, critic.Estimate] | None = None
    """Hidden states and what the critic says of them."""


@dataclass(frozen=True, slots=True)
class Update:
    """The gradients of one update, and what the gate may look at."""

    view: GateView | None
    """None where no rollout of this rank has a signal."""
    loss: float
    log: dict[str, float] = field(default_factory=dict[str, float])


def estimate(source: RolloutSource, batch: RolloutBatch) -> Estimated:
    """Turn rewards into advantages; rollouts without a signal are masked."""
    settings, rollouts = source.settings, batch.rollouts
    reference_B_T, kl_B = _divergence(source, rollouts)
    rewards_B_T = objectives.token_rewards(
        batch.rewards_B,
        rollouts.mask_B_T,
        settings=settings.objective,
        max_new=source.world.max_new,
        logprobs_B_T=rollouts.logprobs_B_T,
        reference_B_T=reference_B_T,
    )
    if source.critic is not None:
        return _estimate_with_critic(source, batch, rewards_B_T, reference_B_T, kl_B)
    shaped_B = rewards_B_T.sum(1)
    advantages_B, signal_B = _advantages(source, shaped_B, rollouts)
    rewards_B = penalise(shaped_B, batch.judged, settings.baseline)
    if rewards_B is not shaped_B:
        advantages_B, signal_B = _advantages(source, rewards_B, rollouts)
    mask_B_T = objectives.active(
        rollouts.mask_B_T,
        signal_B,
        zero_variance=settings.objective.zero_variance,
    )
    whole = objectives.counts(mask_B_T, group=rollouts.group)
    source.ranks.all_reduce([whole])
    flat = int((~signal_B.view(-1, rollouts.group).any(1)).sum().item())
    return Estimated(batch, advantages_B, mask_B_T, whole, flat, reference_B_T, kl_B)


def backward(source: RolloutSource, estimated: Estimated, *, step: int) -> Update:
    """Score what has a signal and go backward once, in micro-batches where settings ask for them.

    Only whole groups are left out, so that rollouts stay prompt-major.
    """
    group = estimated.batch.rollouts.group
    groups_P = estimated.mask_B_T.any(1).view(-1, group).any(1)
    rows = groups_P.repeat_interleave(group).nonzero().squeeze(1)
    if not rows.numel():
        return Update(None, 0.0)
    part = _select(estimated, rows)
    micro = source.settings.run.micro_batch
    size = max(micro // group, 1) * group if micro else 0
    cuts = list(slices(rows.numel(), size=size))
    found = [_backward(source, part, cut) for cut in cuts]
    counts = [cut.stop - cut.start for cut in cuts]
    gradients = [item[0] for item in found]
    log = _mean_logs([item[2] for item in found], counts)
    if source.critic is not None and estimated.valued is not None:
        states_B_T_D, judgement = estimated.valued
        log |= source.critic.learn(
            states_B_T_D, judgement, estimated.mask_B_T, reduce=_averaging(source)
        )
    view = GateView(
        gradients=gradients[0] if len(found) == 1 else JoinedGradients(gradients, counts),
        advantages_B=_per_rollout(part),
        quarantine_B=part.batch.rollouts.quarantine_B,
        judged=part.batch.judged,
        step=step,
    )
    return Update(view, sum(item[1] for item in found), log)


def take_step(
    source: RolloutSource, optimiser: Optimiser, routing: RoutingLog, *, whole: Tensor, step: int
) -> Stepped:
    """Sum both blocks' gradients over the ranks and make one update, the same in every rank.

    Where no rank has a signal nothing is updated: moments would move the policy by themselves.
    """
    if not whole[1]:
        return Stepped(norm_deployed=0.0, norm_quarantine=0.0, rate=0.0, kept=1.0)
    adapters, ranks, totals = source.policy.adapters, source.ranks, routing.totals
    if ranks.count > 1:
        parameters = adapters.every_parameter()
        for item in parameters:
            item.grad = torch.zeros_like(item) if item.grad is None else item.grad
        ranks.all_reduce([item.grad for item in parameters if item.grad is not None])
        if source.settings.optimiser.shared_moments:
            totals = totals or _no_totals(adapters)
            ranks.all_reduce([totals[block][name] for block in BLOCKS for name in totals[block]])
    return optimiser.step(totals or None, at=step)


def penalise(rewards_B: Tensor, judged: Sequence[Judged], settings: BaselineSettings) -> Tensor:
    """Rewards [B] under a baseline; the very same tensor without one."""
    if settings.kind == "none":
        return rewards_B
    labels = [bool(item.detected) for item in judged]
    return rewards_B - PENALTY * torch.tensor(labels, device=rewards_B.device).to(rewards_B)


def recentre_kept(gated: Gated, view: GateView, *, group: int) -> Gated:
    """A gate's answer with advantages relative to the kept mass of each group (`per_knob`).

    A rollout's gradient is linear in its advantage, so the deployed block's part (1 - f) g is
    scaled by A' / A. Rollouts with an advantage of exactly 0 stay without a gradient.
    """
    kept = 1 - gated.fractions if gated.kept is None else gated.kept
    kept_B = per_rollout(kept, view.gradients)
    changed_B = objectives.recentre(view.advantages_B, kept_B, group=group)
    scale_B = torch.where(view.advantages_B != 0, changed_B / view.advantages_B, 1.0)
    return replace(gated, kept=kept * scale_B.view(-1, 1, 1))


def _advantages(
    source: RolloutSource, rewards_B: Tensor, rollouts: Rollouts
) -> tuple[Tensor, Tensor]:
    settings, group = source.settings.objective, rollouts.group
    advantages_B, signal_B = objectives.advantages(
        rewards_B,
        group=group,
        estimator=settings.advantage,
        knob_B=rollouts.quarantine_B if settings.per_knob else None,
    )
    prompts_B = torch.arange(len(rewards_B), device=rewards_B.device) // group
    return advantages_B * differs(rewards_B, prompts_B), signal_B


def _divergence(source: RolloutSource, rollouts: Rollouts) -> tuple[Tensor | None, Tensor]:
    """Log-probabilities under the base where settings need them, and the KL per rollout.

    Without such a need the KL is for the log, and one rollout of each prompt is enough.
    """
    settings = source.settings
    needed = bool(settings.objective.kl_beta)
    part = rollouts
    if not needed:
        first = torch.arange(0, rollouts.count, rollouts.group, device=rollouts.tokens_B_T.device)
        part = select_rollouts(rollouts, first)
    with torch.no_grad():
        reference_B_T = source.policy.reference(part)
    kl_B_T = objectives.kl(part.logprobs_B_T, reference_B_T, "k3") * part.mask_B_T
    return reference_B_T if needed else None, kl_B_T.sum(1)


def _estimate_with_critic(
    source: RolloutSource,
    batch: RolloutBatch,
    rewards_B_T: Tensor,
    reference_B_T: Tensor | None,
    kl_B: Tensor,
) -> Estimated:
    """The same from a critic: advantages per token. Raises UsageError for a baseline that acts on
    groups."""
    settings, rollouts = source.settings, batch.rollouts
    assert source.critic is not None
    if settings.baseline.kind != "none":
        raise UsageError(f"baseline {settings.baseline.kind} compares groups: it takes no critic")
    with torch.no_grad(), critic.hidden_states(source.policy.model) as states:
        source.policy.score(rollouts)
    states_B_T_D = states.before(rollouts.prompt_B_P.shape[1], rollouts.tokens_B_T.shape[1])
    judgement = source.critic.estimate(states_B_T_D, rewards_B_T, rollouts.mask_B_T)
    whole = objectives.counts(rollouts.mask_B_T, group=rollouts.group)
    source.ranks.all_reduce([whole])
    rewards_P_G = batch.rewards_B.view(-1, rollouts.group)
    return Estimated(
        batch=batch,
        advantages_B=judgement.advantages_B_T,
        mask_B_T=rollouts.mask_B_T,
        whole=whole,
        flat=int((rewards_P_G == rewards_P_G[:, :1]).all(1).sum().item()),
        reference_B_T=reference_B_T,
        kl_B=kl_B,
        valued=(states_B_T_D, judgement),
    )


def _select(estimated: Estimated, rows: Tensor) -> Estimated:
    """The part of a batch with these rollouts, cut to their lengths."""
    rollouts = select_rollouts(estimated.batch.rollouts, rows)
    length = rollouts.tokens_B_T.shape[1]
    advantages_B, reference_B_T = estimated.advantages_B[rows], estimated.reference_B_T
    places: list[int] = cast(Any, rows).tolist()
    judged = [estimated.batch.judged[row] for row in places]
    return replace(
        estimated,
        batch=replace(estimated.batch, rollouts=rollouts, judged=judged),
        advantages_B=advantages_B if advantages_B.dim() == 1 else advantages_B[:, :length],
        mask_B_T=estimated.mask_B_T[rows, :length],
        reference_B_T=None if reference_B_T is None else reference_B_T[rows, :length],
        valued=None,
    )


def _per_rollout(part: Estimated) -> Tensor:
    """One advantage per rollout, 0 for what is left out."""
    advantages_B = part.advantages_B
    if advantages_B.dim() == 2:
        lengths_B = part.mask_B_T.sum(1).clamp(min=1)
        advantages_B = (advantages_B * part.mask_B_T).sum(1) / lengths_B
    return advantages_B * part.mask_B_T.any(1)


def _backward(
    source: RolloutSource, part: Estimated, cut: slice
) -> tuple[Gradients, float, dict[str, float]]:
    """One backward pass over some rollouts."""
    settings, rollouts = source.settings, cut_out(part.batch.rollouts, cut)
    known: dict[str, Any] = {}
    if part.reference_B_T is not None:
        known["reference_B_T"] = part.reference_B_T[cut]
    tokens = settings.gate.granularity == "token"
    with source.policy.adapters.capture(rollouts.count, tokens=tokens) as gradients:
        logprobs_B_T = source.policy.score(rollouts)
        loss_B, log = objectives.policy_loss(
            logprobs_B_T,
            rollouts.logprobs_B_T,
            part.advantages_B[cut],
            part.mask_B_T[cut],
            settings=settings.objective,
            group=rollouts.group,
            max_new=source.world.max_new,
            whole=part.whole,
            **known,
        )
        loss: Tensor = loss_B.sum()
        loss.backward()  # pyright: ignore[reportUnknownMemberType]
    return gradients, loss.item(), log


def _averaging(source: RolloutSource) -> Callable[[list[Tensor]], None]:
    """Reduction that keeps the critics of all ranks alike."""

    def reduce(gradients: list[Tensor]) -> None:
        source.ranks.all_reduce(gradients)
        for gradient in gradients:
            gradient.div_(source.ranks.count)

    return reduce


def _no_totals(adapters: AttachedAdapters) -> dict[Block, dict[str, Tensor]]:
    """Zeros in the shape of the unrouted gradients."""
    return {
        block: {
            name: torch.cat([torch.zeros_like(item).flatten() for item in items])
            for name, items in adapters.parameters(block).items()
        }
        for block in BLOCKS
    }


def _mean_logs(logs: Sequence[dict[str, float]], counts: Sequence[int]) -> dict[str, float]:
    total = sum(counts)
    return {
        name: sum(log[name] * count for log, count in zip(logs, counts, strict=True)) / total
        for name in logs[0]
    }
