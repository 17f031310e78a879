"""The batch of a step: draw prompts, choose knob states, sample, judge, refill.

Every random draw comes from the run's seed, the step, a purpose and the rank (`make_generator`), so
arms with one seed see the same prompts and noise, and a resumed run needs no generator state.

Covered: an exact share of prompts with the quarantine off; dynamic sampling (DAPO) within each knob
state, so that the share stays; prompts that nearly always earn the reward are replaced by others of
their mode (ScaleRL); prompts dealt out to ranks. Not covered: what rollouts are worth (`update`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Generator, Tensor

from unhack.core.hashing import content_hash
from unhack.training import objectives
from unhack.training.config.settings import Settings
from unhack.training.evaluation.evaluate import decode_rollouts
from unhack.training.loop.batches import RolloutBatch, join_rollouts, knob_off, select_rollouts
from unhack.training.loop.distributed import Ranks
from unhack.training.objectives.critic import Critic
from unhack.training.policy.policy import ModelPolicy
from unhack.training.worlds.world import Judged, Prompt, World

ROUNDS = 8
"""Draws of dynamic sampling at most, and of replacements for prompts that are retired."""


@dataclass(frozen=True, slots=True)
class RolloutSource:
    """The parts that rollouts come from."""

    settings: Settings
    world: World
    policy: ModelPolicy
    ranks: Ranks
    critic: Critic | None = None
    """With advantages `gae`."""
    history: objectives.PassHistory | None = None
    """With `objective.retire_share`: the same in every rank."""


@dataclass(frozen=True, slots=True)
class SampledBatch:
    """This rank's part of a step's batch, and what it took."""

    batch: RolloutBatch
    prompts: int
    """Prompts that were sampled; more than the batch has where it was refilled."""
    tokens: int
    """Completion tokens that were sampled."""
    truncated: int
    """Rollouts of the batch that end without the stop token."""
    seconds_sample: float
    seconds_judge: float


def sample_batch(source: RolloutSource, step: int) -> SampledBatch:
    """Sampled and judged rollouts: those with the quarantine on, then those with it off. What was
    sampled is added to the source's history of passes.

    Raises BatchUnscoredError where the judging machinery broke.
    """
    clock = _Clock()
    batch = _halves(source, step, clock) or _sides(source, step, clock)
    if source.history is not None:
        for names, passes in source.ranks.gather([clock.names, clock.passes]):
            source.history.observe(names, torch.tensor(passes))
    rollouts = batch.rollouts
    ended_B = objectives.untruncated(rollouts.tokens_B_T, rollouts.mask_B_T, stop=source.world.stop)
    truncated = int((~ended_B).sum().item())
    return SampledBatch(batch, clock.prompts, clock.tokens, truncated, clock.sample, clock.judge)


def make_generator(
    seed: int, step: int, purpose: str, *, rank: int, device: torch.device
) -> Generator:
    """A generator of its own for each purpose of each step."""
    return Generator(device=device).manual_seed(_seed(seed, step, purpose, str(rank)))


@dataclass(slots=True)
class _Clock:
    """Counts and times of sampling and judging one batch."""

    prompts: int = 0
    tokens: int = 0
    sample: float = 0.0
    judge: float = 0.0
    names: list[str] = field(default_factory=list[str])
    """Of the sampled prompts."""
    passes: list[bool] = field(default_factory=list[bool])
    """Of their rollouts, prompt-major."""


def _sides(source: RolloutSource, step: int, clock: _Clock) -> RolloutBatch:
    """One knob state after the other."""
    parts: list[RolloutBatch] = []
    for quarantine in (True, False):
        parts += _side(source, step, quarantine, clock)
    return RolloutBatch(
        prompts=[prompt for part in parts for prompt in part.prompts],
        rollouts=join_rollouts([part.rollouts for part in parts], pad=source.world.pad),
        judged=[item for part in parts for item in part.judged],
    )


def _halves(source: RolloutSource, step: int, clock: _Clock) -> RolloutBatch | None:
    """Both knob states in one loop over positions; None where that cannot be, or is no quicker."""
    settings = source.settings
    if not source.policy.samples_halves or settings.objective.zero_variance == "refill":
        return None
    on, off = (_prompts(source, step, 0, state) for state in (True, False))
    if not on or len(on) != len(off):
        return None
    generators = {state: _generator(source, step, 0, state) for state in (True, False)}
    return _batch(source, [*on, *off], generators, clock)


def _side(source: RolloutSource, step: int, quarantine: bool, clock: _Clock) -> list[RolloutBatch]:
    """The batch of one knob state, in as many parts as it was drawn in; none without prompts."""
    wanted = len(_prompts(source, step, 0, quarantine))
    if not wanted:
        return []

    def draw(number: int) -> tuple[RolloutBatch, Tensor]:
        prompts = _prompts(source, step, number, quarantine)
        generators = {quarantine: _generator(source, step, number, quarantine)}
        batch = _batch(source, prompts, generators, clock)
        return batch, batch.rewards_B

    if source.settings.objective.zero_variance != "refill":
        return [draw(0)[0]]

    group = source.settings.rollouts.group
    found = objectives.refill(draw, prompts=wanted, group=group, rounds=ROUNDS)
    kept = [_select_prompts(batch, rows, group) for batch, rows in found.kept if len(rows)]
    return kept or [found.kept[0][0]]


def _prompts(source: RolloutSource, step: int, number: int, quarantine: bool) -> list[Prompt]:
    """This rank's prompts of one knob state, for a round of dynamic sampling."""
    settings, seed = source.settings, source.settings.run.seed
    if number:
        seed = _seed(seed, step, "refill", str(number))
    drawn = source.world.draw(settings.rollouts.prompts, seed=seed, step=step)
    drawn = _replace_retired(source, drawn, step, number)
    off = knob_off(drawn, share=settings.rollouts.off_share, step=step)
    ordered = [
        (prompt, state)
        for state in (True, False)
        for prompt, is_off in zip(drawn, off, strict=True)
        if is_off is not state
    ]
    mine = ordered[source.ranks.rank :: source.ranks.count]
    return [prompt for prompt, state in mine if state is quarantine]


def _replace_retired(
    source: RolloutSource, drawn: list[Prompt], step: int, number: int
) -> list[Prompt]:
    """Prompts, with others of their mode in the place of those that are retired, if there are."""
    history, settings, found = source.history, source.settings, list(drawn)
    if history is None:
        return found
    for again in range(ROUNDS):
        retired = [place for place, prompt in enumerate(found) if history.retired(_name(prompt))]
        if not retired:
            break
        seed = _seed(settings.run.seed, step, "retired", str(number), str(again))
        others = source.world.draw(settings.rollouts.prompts, seed=seed, step=step)
        for place in retired:
            mode = found[place].mode
            same = [other for other in others if other.mode == mode]
            fresh = next((other for other in same if not history.retired(_name(other))), None)
            if fresh is not None:
                others.remove(fresh)
                found[place] = fresh
    return found


def _name(prompt: Prompt) -> str:
    """The name of a prompt: the same problem with another loophole is another prompt."""
    return f"{prompt.problem}/{prompt.mode}"


def _batch(
    source: RolloutSource,
    prompts: list[Prompt],
    generators: Mapping[bool, Generator],
    clock: _Clock,
) -> RolloutBatch:
    """Sample and judge."""
    settings, began = source.settings, time.perf_counter()
    group = settings.rollouts.group
    with torch.no_grad():
        rollouts = source.policy.sample(
            [prompt.tokens for prompt in prompts],
            group=group,
            max_new=source.world.max_new,
            temperature=settings.rollouts.temperature,
            generators=generators,
        )
    texts = decode_rollouts(source.world, rollouts)
    sampled = time.perf_counter()
    repeated = [prompt for prompt in prompts for _ in range(group)]
    judged = source.world.judge(repeated, texts)
    clock.names += [_name(prompt) for prompt in prompts]
    clock.passes += [item.rewarded for item in judged]
    clock.prompts += len(prompts)
    clock.tokens += int(rollouts.mask_B_T.sum().item())
    clock.sample += sampled - began
    clock.judge += time.perf_counter() - sampled
    return RolloutBatch(prompts, rollouts, judged)


def _generator(source: RolloutSource, step: int, number: int, quarantine: bool) -> Generator:
    """Of one knob state, for a round of dynamic sampling."""
    purpose = f"sample.{'on' if quarantine else 'off'}.{number}"
    rank, device = source.ranks.rank, source.policy.device
    return make_generator(source.settings.run.seed, step, purpose, rank=rank, device=device)


def _select_prompts(batch: RolloutBatch, chosen_P: Tensor, group: int) -> RolloutBatch:
    """The part of a batch with these prompts."""
    prompts: list[int] = cast(Any, chosen_P).tolist()
    rows = [prompt * group + place for prompt in prompts for place in range(group)]
    judged: list[Judged] = [batch.judged[row] for row in rows]
    index = torch.tensor(rows, dtype=torch.long, device=batch.rollouts.tokens_B_T.device)
    return RolloutBatch(
        [batch.prompts[row] for row in prompts], select_rollouts(batch.rollouts, index), judged
    )


def _seed(seed: int, step: int, *purpose: str) -> int:
    name = content_hash(str(seed), str(step), *purpose)
    return int(name[:13], 16)
