"""Tensors of episodes: each turn a row, its advantage beside it.

Axes: B turns of all episodes, P tokens read, T tokens that follow.

Covered: unscored episodes are left out and are nobody's peers; tool output inside a completion is
masked; the divisor is a constant. Not covered: joining turns into one sequence (`sequences`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.episodes.credit import CreditSettings, Trajectory, turn_advantages
from unhack.training.episodes.episode import PlayedEpisode, PlayedTurn
from unhack.training.policy.rollouts import Rollouts


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
