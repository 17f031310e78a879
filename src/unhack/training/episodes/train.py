"""The loop over batches of episodes: play, credit, loss, backward, step.

Covered: any credit, process rewards by a law of potentials, the objectives' policy terms with the
constant divisor episodes x tokens, one update a batch. Not covered: routing, KL to the base, run
folders; a caller keeps what it wants of the yielded steps.

Play episodes: all states of a moment are read by the policy together, then act together.

Covered: token ids and log-probabilities as they were sampled, cuts judged like ends, potentials of
every state for the law that makes process rewards. Not covered: asynchronous environments; these
are played by their own loop and exported (`unhack.integrations`).

Tensors of episodes: each turn a row, its advantage beside it.

Axes: B turns of all episodes, P tokens read, T tokens that follow.

Covered: unscored episodes are left out and are nobody's peers; tool output inside a completion is
masked; the divisor is a constant. Not covered: joining turns into one sequence (`sequences`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Generic

import torch
from torch import Generator, Tensor

from unhack.core.errors import UnknownNameError, UsageError
from unhack.core.shaping import check_weight, newly_passing, shaped
from unhack.training import objectives
from unhack.training.config.settings import ObjectiveSettings, OptimiserSettings
from unhack.training.episodes.credit import CreditSettings, Trajectory, turn_advantages
from unhack.training.episodes.episode import PlayedEpisode, PlayedTurn
from unhack.training.loop.optimiser import Optimiser
from unhack.training.objectives.plain import numbers
from unhack.training.policy.policy import ModelPolicy
from unhack.training.policy.rollouts import Rollouts
from unhack.training.worlds.turns import State, TurnResult, TurnWorld


@dataclass(frozen=True, slots=True)
class TurnBatch:
    """The turns of a batch of episodes that train."""

    rollouts: Rollouts
    """Rows are turns; `mask_B_T` is True at what the policy wrote."""
    advantages_B: Tensor
    """float32; one for each turn."""
    episodes: int
    """All episodes of the batch, also those without a row here."""
    tokens: int
    """Most tokens that an episode can write."""

    @property
    def whole(self) -> Tensor:
        """`counts` for `policy_loss` with the aggregation `constant` and `max_new = tokens`: the
        loss is divided by episodes x tokens, whatever the policy did."""
        rows = self.rollouts.count
        counted = self.rollouts.mask_B_T.sum().item()
        return torch.tensor([self.episodes, rows, rows, counted], dtype=torch.float64)


def credited(
    episodes: Sequence[PlayedEpisode],
    settings: CreditSettings | None = None,
    *,
    process: float = 1.0,
    values: Sequence[Sequence[float]] = (),
) -> list[list[float]]:
    """The advantage of each turn; an unscored episode has zeros.

    `process`: weight of the process rewards beside the outcome. `values`: V of the state before
    each turn, for `vineppo`.
    """
    scored = [place for place, one in enumerate(episodes) if one.outcome is not None]
    played = [
        Trajectory(
            start=episodes[place].task,
            states=tuple(turn.state for turn in episodes[place].turns),
            rewards=tuple(episodes[place].rewards(process=process)),
            values=tuple(values[place]) if values else (),
        )
        for place in scored
    ]
    found = dict(zip(scored, turn_advantages(played, settings), strict=True))
    return [found.get(place, [0.0] * len(one.turns)) for place, one in enumerate(episodes)]


def turn_batch(
    episodes: Sequence[PlayedEpisode],
    advantages: Sequence[Sequence[float]],
    *,
    pad: int,
    tokens: int,
) -> TurnBatch | None:
    """The rows of all turns whose advantage is not 0; None where there is none.

    `tokens`: most tokens that an episode can write (turns x longest action). Raises UsageError for
    advantages that do not fit the turns.
    """
    rows = [
        (turn, advantage)
        for one, credits in zip(episodes, advantages, strict=True)
        for turn, advantage in _paired(one, credits)
        if advantage
    ]
    if not rows:
        return None
    width = max(len(turn.prompt) for turn, _ in rows)
    length = max(len(turn.completion) for turn, _ in rows)
    prompts = [[pad] * (width - len(turn.prompt)) + list(turn.prompt) for turn, _ in rows]
    filled = [length - len(turn.completion) for turn, _ in rows]
    tokens_B_T = torch.tensor(
        [[*turn.completion, *[pad] * left] for (turn, _), left in zip(rows, filled, strict=True)]
    )
    mask_B_T = torch.tensor(
        [[*turn.written, *[False] * left] for (turn, _), left in zip(rows, filled, strict=True)]
    )
    logs_B_T = torch.tensor(
        [[*turn.logprobs, *[0.0] * left] for (turn, _), left in zip(rows, filled, strict=True)]
    )
    lengths_B = torch.tensor([len(turn.prompt) for turn, _ in rows])
    rollouts = Rollouts(
        prompt_B_P=torch.tensor(prompts),
        prompt_mask_B_P=torch.arange(width) >= width - lengths_B[:, None],
        tokens_B_T=tokens_B_T,
        mask_B_T=mask_B_T,
        logprobs_B_T=logs_B_T.masked_fill(~mask_B_T, 0.0),
        quarantine_B=torch.zeros(len(rows), dtype=torch.bool),
        group=1,
    )
    advantages_B = torch.tensor([advantage for _, advantage in rows], dtype=torch.float32)
    return TurnBatch(rollouts, advantages_B, len(episodes), tokens)


def _paired(episode: PlayedEpisode, credits: Sequence[float]) -> list[tuple[PlayedTurn, float]]:
    if len(credits) != len(episode.turns):
        raise UsageError(
            f"{episode.task}: {len(credits)} advantages for {len(episode.turns)} turns"
        )
    return list(zip(episode.turns, credits, strict=True))


Law = Callable[[Sequence[float]], list[float]]
"""Process rewards [T] from the potentials [T + 1] of an episode."""
LAWS: dict[str, Law] = {
    "none": lambda potentials: [0.0] * (len(potentials) - 1),
    "shaped": shaped,
    "newly_passing": newly_passing,
}
"""`shaped` keeps the best policy; `newly_passing` is naive and can be pumped."""


@dataclass(slots=True)
class _Running(Generic[State]):
    """An episode under way."""

    task: str
    state: State
    potentials: list[float]
    turns: list[PlayedTurn] = field(default_factory=list[PlayedTurn])
    last: TurnResult[State] | None = None

    def take(self, turn: PlayedTurn, result: TurnResult[State]) -> None:
        """Note a turn and what came of it."""
        self.turns.append(turn)
        self.state, self.last = result.state, result
        self.potentials.append(result.potential)

    def played(self, law: Law) -> PlayedEpisode:
        """The record."""
        assert self.last is not None
        return PlayedEpisode(
            task=self.task,
            turns=tuple(self.turns),
            outcome=self.last.outcome,
            cut=self.last.cut,
            process=tuple(law(self.potentials)),
            potentials=tuple(self.potentials),
        )


def play(
    world: TurnWorld[State],
    policy: ModelPolicy,
    states: Sequence[State],
    *,
    generator: Generator,
    law: Law = LAWS["none"],
    temperature: float = 1.0,
) -> list[PlayedEpisode]:
    """One episode from each state, in order; a state that stands there G times is played G times.

    Raises BatchUnscoredError where the judge broke.
    """
    begun = world.potentials(states)
    episodes = [
        _Running(world.task_id(state), state, [potential])
        for state, potential in zip(states, begun, strict=True)
    ]
    running = episodes
    while running:
        before = [one.state for one in running]
        prompts = [world.prompt(state) for state in before]
        drawn = policy.sample(
            prompts,
            group=1,
            max_new=world.max_new,
            temperature=temperature,
            generators={False: generator},
        )
        actions = _rows(drawn.tokens_B_T, drawn.mask_B_T)
        logs = _rows(drawn.logprobs_B_T, drawn.mask_B_T)
        results = world.act(before, actions)
        for one, prompt, action, log, result in zip(
            running, prompts, actions, logs, results, strict=True
        ):
            written = (True,) * len(action)
            state = world.state_id(one.state)
            turn = PlayedTurn(prompt, action, written, log, state)
            one.take(turn, result)
        running = [one for one in running if one.last is not None and not one.last.ended]
    return [one.played(law) for one in episodes]


def _rows(values_B_T: Tensor, mask_B_T: Tensor) -> list[tuple[Any, ...]]:
    """Plain numbers of each row up to its end."""
    values: Any = values_B_T
    lengths = mask_B_T.sum(1)
    return [
        tuple(row[: int(length)])
        for row, length in zip(values.tolist(), numbers(lengths), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class EpisodeSettings:
    """Settings of training over episodes. Raises UnknownNameError for an unknown law,
    UsageError for a weight that is none.

    Example:

        settings = EpisodeSettings(law="shaped", process=0.5, group=16, steps=100)
        for step in train_episodes(world, policy, draw, settings=settings):
            print(step.solved)
    """

    credit: CreditSettings = field(default_factory=CreditSettings)
    law: str = "none"
    """Makes process rewards of potentials: `none`, `shaped`, `newly_passing`."""
    process: float = 1.0
    """Weight of process rewards beside the outcome."""
    group: int = 8
    """Episodes of a start state."""
    steps: int = 40
    temperature: float = 1.0
    seed: int = 0
    objective: ObjectiveSettings = field(default_factory=ObjectiveSettings)
    optimiser: OptimiserSettings = field(default_factory=OptimiserSettings)

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise UnknownNameError("law of process rewards", self.law, valid=LAWS)
        check_weight(self.process, "process rewards")


@dataclass(frozen=True, slots=True)
class EpisodeStep:
    """Means over the episodes of one batch."""

    step: int
    episodes: int
    """Played so far, this batch included."""
    solved: float
    """Mean outcome of the scored ones."""
    process: float
    """Sum of process rewards of an episode."""
    turns: float
    falls: float
    """Sum of what the potential lost in an episode's turns before its end: what a law that rewards
    rises alone has given beyond the net rise."""
    cut: float
    """Share that a limit ended."""
    unscored: int
    norm: float
    """Of the gradient before clipping; 0 where nothing had a signal."""


def train_episodes(
    world: TurnWorld[State],
    policy: ModelPolicy,
    draw: Callable[[int], Sequence[State]],
    *,
    settings: EpisodeSettings,
) -> Iterator[EpisodeStep]:
    """Train in place; one record for each batch, after its update.

    `draw(step)` gives the start states of a batch. Raises BatchUnscoredError where the judge broke.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    optimiser = Optimiser(settings.optimiser, policy.adapters)
    played = 0
    for step in range(settings.steps):
        states = [state for state in draw(step) for _ in range(settings.group)]
        episodes = play(
            world,
            policy,
            states,
            generator=generator,
            law=LAWS[settings.law],
            temperature=settings.temperature,
        )
        advantages = credited(episodes, settings.credit, process=settings.process)
        tokens = world.max_turns * world.max_new
        batch = turn_batch(episodes, advantages, pad=world.pad, tokens=tokens)
        norm = 0.0
        if batch is not None:
            episode_loss(policy, batch, settings.objective).backward()  # pyright: ignore[reportUnknownMemberType]
            norm = optimiser.step().norm_deployed
        played += len(episodes)
        yield summarise(episodes, step=step, played=played, norm=norm)


def episode_loss(
    policy: ModelPolicy, batch: TurnBatch, settings: ObjectiveSettings
) -> torch.Tensor:
    """The loss of a batch, divided by episodes x tokens whatever `aggregation` says."""
    rollouts = batch.rollouts
    logprobs_B_T = policy.score(rollouts)
    losses_B, _ = objectives.policy_loss(
        logprobs_B_T,
        rollouts.logprobs_B_T,
        batch.advantages_B.unsqueeze(1).expand_as(logprobs_B_T),
        rollouts.mask_B_T,
        settings=settings.model_copy(update={"aggregation": "constant"}),
        group=1,
        max_new=batch.tokens,
        whole=batch.whole,
    )
    return losses_B.sum()


def summarise(
    episodes: Sequence[PlayedEpisode], *, step: int, played: int, norm: float = 0.0
) -> EpisodeStep:
    """The means of a batch."""
    outcomes = [one.outcome for one in episodes if one.outcome is not None]
    count = len(episodes)
    return EpisodeStep(
        step=step,
        episodes=played,
        solved=sum(outcomes) / max(1, len(outcomes)),
        process=sum(sum(one.process) for one in episodes) / count,
        turns=sum(len(one.turns) for one in episodes) / count,
        falls=sum(falls(one.potentials) for one in episodes) / count,
        cut=sum(one.cut for one in episodes) / count,
        unscored=count - len(outcomes),
        norm=norm,
    )


def falls(potentials: Sequence[float]) -> float:
    """The sum of what the potential lost from state to state; 0 without potentials."""
    return sum(max(0.0, before - after) for before, after in pairwise(potentials))
