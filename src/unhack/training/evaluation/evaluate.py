"""Measure a policy off the training path: one completion for each prompt, both knob states.

*Deployed* is measured after the quarantine is deleted, *as trained* before. A curve has many
points, so there the knob is switched off instead; `evaluate_run` proves on the final checkpoint
that both are the same (`deploy_gap`).

Covered: batched sampling with a generator of its own, so that training draws the same with and
without evaluations; deletion and its proof. Not covered: statistics over runs (`report`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from unhack.core.errors import UnhackError, UsageError
from unhack.training.config.settings import Settings
from unhack.training.config.toml import read_settings
from unhack.training.evaluation.counts import Evaluation, tally
from unhack.training.policy.policy import ModelPolicy, load_policy
from unhack.training.policy.rollouts import Rollouts
from unhack.training.run import checkpoint
from unhack.training.run.folder import CONFIG, read_json, write_json
from unhack.training.worlds.registry import make_world
from unhack.training.worlds.world import Prompt, World

SEED = 12345
"""Of all evaluations: every arm draws alike."""
TEMPERATURE = 0.7
FINAL = "final.json"
_BATCH = 256
"""Prompts sampled at once. Draws depend on it, so it is no option."""
_PROBES = 32
"""Prompts whose log-probabilities are compared between states."""
_SLACK = 1e-5
"""Largest difference of log-probabilities, in nats, between knob off and quarantine deleted."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A run read from its folder, with the policy as its last checkpoint left it."""

    folder: Path
    settings: Settings
    world: World
    policy: ModelPolicy
    steps: tuple[int, ...]
    """Completed updates at which a checkpoint is stored."""


def evaluate(
    policy: ModelPolicy,
    world: World,
    prompts: Sequence[Prompt],
    *,
    quarantine: bool,
    seed: int = SEED,
    temperature: float = TEMPERATURE,
) -> Evaluation:
    """One completion for each prompt, judged by reward and oracle.

    The same arguments give the same completions; the draws are the processor's, whatever device
    the policy is on. No other generator is touched. Raises
    BatchUnscoredError where the judging machinery broke, UsageError for no prompts.
    """
    if not prompts:
        raise UsageError("an evaluation needs at least one prompt")
    generator = torch.Generator().manual_seed(seed)
    texts: list[str] = []
    for first in range(0, len(prompts), _BATCH):
        part = prompts[first : first + _BATCH]
        rollouts = _sample(policy, world, part, quarantine, (generator, temperature))
        texts += decode_rollouts(world, rollouts)
    modes, mechanisms = tally(prompts, world.judge(prompts, texts))
    return Evaluation(quarantine, world.known, modes, mechanisms, seed, temperature)


def both_states(
    policy: ModelPolicy, world: World, prompts: Sequence[Prompt]
) -> tuple[Evaluation, Evaluation]:
    """(deployed by the knob, as trained). One evaluation serves for both where the knob changes no
    log-probability, as in arms that train no quarantine."""
    deployed = evaluate(policy, world, prompts, quarantine=False)
    if _gap(*_probe(policy, world, prompts)[1:]) == 0.0:
        return deployed, replace(deployed, quarantine=True)
    return deployed, evaluate(policy, world, prompts, quarantine=True)


def evaluate_run(folder: Path) -> dict[str, Any]:
    """Evaluate the last checkpoint on the final set and write `final.json`; return its content.

    Raises UsageError where there is no checkpoint, UnhackError where deleting the quarantine
    changes the deployed model.
    """
    run = open_run(folder)
    prompts = run.world.final()
    _, as_trained = both_states(run.policy, run.world, prompts)
    gap, deleted = delete_quarantine(run.policy, run.world, prompts)
    record = {
        "format": 1,
        "step": run.steps[-1],
        "deployed": evaluate(run.policy, run.world, prompts, quarantine=False).record(),
        "as_trained": as_trained.record(),
        "deploy_gap": gap,
        "deleted": deleted,
    }
    write_json(folder / FINAL, record)
    return record


def is_current(folder: Path) -> bool:
    """Tell whether `final.json` is of the last checkpoint."""
    steps = checkpoint.checkpoint_steps(folder)
    return bool(steps) and read_json(folder / FINAL).get("step") == steps[-1]


def delete_quarantine(
    policy: ModelPolicy, world: World, prompts: Sequence[Prompt]
) -> tuple[float, int]:
    """Delete the quarantine in place and prove that the deployed policy is what it was.

    Returns the largest difference of log-probabilities (nats) between knob off before and the
    policy after, and how many numbers were deleted. Raises UnhackError where the difference is
    above 1e-5 or nothing was deleted.
    """
    adapters = policy.adapters
    rollouts, before_B_T, _ = _probe(policy, world, prompts)
    held = sum(value.numel() for value in adapters.state().values())
    adapters.deploy()
    gap = _gap(before_B_T, _logprobs(policy, rollouts))
    left = sum(value.numel() for value in adapters.state().values())
    if gap > _SLACK:
        raise UnhackError(f"deleting the quarantine moved a log-probability by {gap:.2g} nats")
    if left >= held:
        raise UnhackError("the adapters hold as many numbers after deploy() as before it")
    return gap, held - left


def open_run(folder: Path) -> Opened:
    """Read a run folder. Raises UsageError where it is none or has no checkpoint."""
    settings, steps = read_trained(folder)
    world = make_world(settings, folder=folder)
    opened = Opened(folder, settings, world, load_policy(settings, world), steps)
    restore(opened, steps[-1])
    return opened


def read_trained(folder: Path) -> tuple[Settings, tuple[int, ...]]:
    """The settings of a run and the steps of its checkpoints. Raises UsageError for a folder that
    is no run or has none."""
    if not (folder / CONFIG).exists():
        raise UsageError(f"{folder}: no run folder, {CONFIG} is missing")
    settings, steps = read_settings(folder / CONFIG), checkpoint.checkpoint_steps(folder)
    if not steps:
        raise UsageError(f"{folder}: no checkpoint; `unhack train run` writes them")
    return settings, tuple(steps)


def restore(run: Opened, step: int) -> None:
    """Put the adapters back to a checkpoint. Raises UsageError, StoreError."""
    state = checkpoint.load_adapters(run.folder, step, device=str(run.policy.device))
    run.policy.adapters.load(state)


def decode_rollouts(world: World, rollouts: Rollouts) -> list[str]:
    """The completions as text."""
    tokens = cast(list[list[int]], rollouts.tokens_B_T.tolist())  # pyright: ignore[reportUnknownMemberType]
    lengths = cast(list[int], rollouts.mask_B_T.sum(1).tolist())  # pyright: ignore[reportUnknownMemberType]
    return [world.decode(row[:length]) for row, length in zip(tokens, lengths, strict=True)]


def _sample(
    policy: ModelPolicy,
    world: World,
    prompts: Sequence[Prompt],
    quarantine: bool,
    draw: tuple[torch.Generator, float],
) -> Rollouts:
    generator, temperature = draw
    with torch.no_grad():
        return policy.sample(
            [prompt.tokens for prompt in prompts],
            group=1,
            max_new=world.max_new,
            temperature=temperature,
            generators={quarantine: generator},
        )


def _probe(
    policy: ModelPolicy, world: World, prompts: Sequence[Prompt]
) -> tuple[Rollouts, Tensor, Tensor]:
    """Some deployed rollouts, and their log-probabilities with the knob off and on."""
    generator = torch.Generator().manual_seed(SEED)
    # Spread over the set, which is in the order of modes.
    spread = prompts[:: max(1, len(prompts) // _PROBES)][:_PROBES]
    rollouts = _sample(policy, world, spread, False, (generator, 1.0))
    on = replace(rollouts, quarantine_B=torch.ones_like(rollouts.quarantine_B))
    return rollouts, _logprobs(policy, rollouts), _logprobs(policy, on)


def _logprobs(policy: ModelPolicy, rollouts: Rollouts) -> Tensor:
    with torch.no_grad():
        return policy.score(rollouts) * rollouts.mask_B_T


def _gap(one_B_T: Tensor, other_B_T: Tensor) -> float:
    return float((one_B_T - other_B_T).abs().max())
