"""The default policy of tier 5: a small Qwen3 over the tokens of a grammar, made on the spot.

Warmed up by imitation of naive attempts, then trained by policy gradient and by imitation of its
own best sequences: a way that rewards is rare at first, and would be lost among many that reward a
little. It sees no prompt: it learns which way of writing is rewarded, on all problems at once.

Axes: B rollouts, T tokens, V vocabulary (the grammar's tokens and a start), S states.

Covered: sampling and scoring within the grammar, one update. Not covered: what is rewarded.

Source: Oh et al., "Self-Imitation Learning", arXiv 1806.05635.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from unhack.models.config import Config
from unhack.models.qwen3 import Qwen3
from unhack.training.discovery.grammar import END, Grammar, Written
from unhack.training.discovery.learner import LearnerUpdate, update_loss

_WARM_STEPS, _WARM_BATCH, _WARM_RATE = 120, 48, 4e-3
_RATE = 3e-3
_ENTROPY = 0.005
_CLIP = 1.0
_ELITES, _IMITATION, _ABOVE = 8, 0.3, 0.02
"""Own sequences that are imitated, the weight of that, and how far above the mean of an update a
sequence's own mean reward has to be."""
_FADING = 0.7
"""Weight of what a sequence got before, beside what it gets in this update."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The rollouts of one update."""

    tokens_B_T: Tensor
    mask_B_T: Tensor
    allowed_B_T_V: Tensor
    logprobs_B_T: Tensor

    def rows(self) -> list[tuple[int, ...]]:
        """The tokens of each, up to its end."""
        rows = cast("list[list[int]]", cast("Any", self.tokens_B_T).tolist())
        return [tuple(row[: row.index(END) + 1] if END in row else row) for row in rows]


class GrammarLearner:
    """Writes by a grammar; see `learner.Learner`."""

    def __init__(self, grammar: Grammar, *, seed: int, warm_steps: int = _WARM_STEPS) -> None:
        torch.set_num_threads(1)
        self.name = "a policy over a grammar of pieces"
        self._grammar = grammar
        self._generator = torch.Generator().manual_seed(seed)
        size = len(grammar.tokens)
        self._start = size
        config = Config(
            vocab=size + 1, hidden=48, layers=2, heads=4, kv_heads=2, head_dim=12, ffn=128
        )
        with torch.random.fork_rng(devices=[]):  # pyright: ignore[reportUnknownMemberType]
            torch.manual_seed(seed)  # pyright: ignore[reportUnknownMemberType]
            self._model = Qwen3(config)
        self.parameters = config.parameters
        self._allowed_S_V, self._next_S_V = _automaton(grammar)
        self._warm(random.Random(seed), warm_steps)
        self._optimiser = torch.optim.AdamW(
            self._model.parameters(), lr=_RATE, betas=(0.9, 0.99), weight_decay=0.0
        )
        self._drawn: _Drawn | None = None
        self._worth: dict[tuple[int, ...], float] = {}

    def draw(self, problems: Sequence[int], *, group: int, step: int) -> list[Written]:
        """See `Learner`."""
        drawn = self._sample(len(problems) * group)
        self._drawn = drawn
        found: list[Written] = []
        for number, row in enumerate(drawn.rows()):
            place = number // group
            fill = step * len(problems) + place
            found.append(self._grammar.write(row, problem=problems[place], fill=fill))
        return found

    def learn(self, rewards: Sequence[float], *, group: int) -> LearnerUpdate:
        """See `Learner`."""
        assert self._drawn is not None
        drawn = self._drawn
        rewards_B = torch.tensor(list(rewards), dtype=torch.float32)
        logprobs_B_T, entropy_B_T = self._score_drawn(drawn)
        mask_B_T = drawn.mask_B_T
        loss = update_loss(
            logprobs_B_T, drawn.logprobs_B_T, rewards_B=rewards_B, mask_B_T=mask_B_T, group=group,
            max_new=self._grammar.longest,
        )  # fmt: skip
        entropy = (entropy_B_T * mask_B_T).sum() / mask_B_T.sum()
        own = self._imitation(drawn, rewards)
        if own is None and max(rewards) == min(rewards):
            return LearnerUpdate(0.0, float(entropy.detach()))  # there is nothing to learn from
        own = torch.zeros(()) if own is None else own
        self._optimiser.zero_grad(set_to_none=True)
        (loss + own - _ENTROPY * entropy).backward()  # pyright: ignore[reportUnknownMemberType]
        nn.utils.clip_grad_norm_(self._model.parameters(), _CLIP)
        self._optimiser.step()  # pyright: ignore[reportUnknownMemberType]
        return LearnerUpdate(float(loss.detach()), float(entropy.detach()))

    def _imitation(self, drawn: _Drawn, rewards: Sequence[float]) -> Tensor | None:
        """The loss of the best own sequences, by how far each is above the mean: a scalar; None
        where none is."""
        now: dict[tuple[int, ...], list[float]] = {}
        for row, reward in zip(drawn.rows(), rewards, strict=True):
            now.setdefault(row, []).append(reward)
        for key, got in now.items():
            mean = sum(got) / len(got)
            before = self._worth.get(key, mean)
            self._worth[key] = _FADING * before + (1 - _FADING) * mean
        least = sum(rewards) / len(rewards) + _ABOVE
        ranked = sorted(self._worth, key=lambda key: (-self._worth[key], len(key)))
        best = [key for key in ranked[:_ELITES] if self._worth[key] > least]
        if not best:
            return None
        weights_B = torch.tensor([min(1.0, self._worth[key] - least + _ABOVE) for key in best])
        losses_B_T, mask_B_T = self._losses(best)
        losses_B = losses_B_T.sum(1) / mask_B_T.sum(1)
        return _IMITATION * (losses_B * weights_B).sum() / len(best)

    def _warm(self, rng: random.Random, steps: int) -> None:
        """Imitate naive attempts."""
        optimiser = torch.optim.AdamW(self._model.parameters(), lr=_WARM_RATE, weight_decay=0.01)
        for _ in range(steps):
            losses_B_T, mask_B_T = self._losses(
                [self._grammar.naive(rng) for _ in range(_WARM_BATCH)]
            )
            optimiser.zero_grad(set_to_none=True)
            loss = losses_B_T.sum() / mask_B_T.sum()
            loss.backward()  # pyright: ignore[reportUnknownMemberType]
            optimiser.step()  # pyright: ignore[reportUnknownMemberType]

    def _losses(self, rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """The negative log-probabilities of sequences, 0 behind their ends, and the mask of that:
        both [B, T]."""
        longest = max(map(len, rows))
        tokens_B_T = torch.tensor([[*row, *[END] * (longest - len(row))] for row in rows])
        mask_B_T = torch.arange(longest) < torch.tensor([len(row) for row in rows])[:, None]
        losses_B_T = functional.cross_entropy(
            self._logits(tokens_B_T).transpose(1, 2), tokens_B_T, reduction="none"
        )
        return losses_B_T * mask_B_T, mask_B_T

    def _logits(self, tokens_B_T: Tensor) -> Tensor:
        """For each position from what is before it: [B, T, V] without the start."""
        start_B_1 = torch.full((tokens_B_T.shape[0], 1), self._start)
        seen_B_T = torch.cat([start_B_1, tokens_B_T[:, :-1]], dim=1)
        return self._model(seen_B_T)[..., : self._start]

    @torch.no_grad()
    def _sample(self, count: int) -> _Drawn:
        state_B = torch.zeros(count, dtype=torch.long)
        open_B = torch.ones(count, dtype=torch.bool)
        tokens_B_T = torch.zeros((count, 0), dtype=torch.long)
        parts: list[tuple[Tensor, Tensor, Tensor]] = []
        for _ in range(self._grammar.longest):
            padded = functional.pad(tokens_B_T, (0, 1))
            allowed_B_V = self._allowed_S_V[state_B]
            logits_B_V = self._logits(padded)[:, -1].masked_fill(~allowed_B_V, -torch.inf)
            chances_B_V = logits_B_V.softmax(-1)
            chosen_B = torch.multinomial(chances_B_V, 1, generator=self._generator)[:, 0]
            chosen_B = torch.where(open_B, chosen_B, END)
            logprobs_B = logits_B_V.log_softmax(-1).gather(1, chosen_B[:, None])[:, 0]
            parts.append((open_B.clone(), allowed_B_V, torch.where(open_B, logprobs_B, 0.0)))
            tokens_B_T = torch.cat([tokens_B_T, chosen_B[:, None]], dim=1)
            state_B = self._next_S_V[state_B, chosen_B]
            open_B = open_B & (chosen_B != END)
            if not bool(open_B.any()):
                break
        masks, allowed, logprobs = zip(*parts, strict=True)
        return _Drawn(
            tokens_B_T, torch.stack(masks, 1), torch.stack(allowed, 1), torch.stack(logprobs, 1)
        )

    def _score_drawn(self, drawn: _Drawn) -> tuple[Tensor, Tensor]:
        logits_B_T_V = self._logits(drawn.tokens_B_T)
        logits_B_T_V = logits_B_T_V.masked_fill(~drawn.allowed_B_T_V, -torch.inf)
        every_B_T_V = logits_B_T_V.log_softmax(-1)
        logprobs_B_T = every_B_T_V.gather(2, drawn.tokens_B_T[..., None])[..., 0]
        finite_B_T_V = every_B_T_V.masked_fill(~drawn.allowed_B_T_V, 0.0)
        entropy_B_T = -(finite_B_T_V.exp() * finite_B_T_V * drawn.allowed_B_T_V).sum(-1)
        return logprobs_B_T * drawn.mask_B_T, entropy_B_T


def _automaton(grammar: Grammar) -> tuple[Tensor, Tensor]:
    """(may a token come in a state, where it leads): bool and int64 [S, V]."""
    states = 1 + max(state for token in grammar.tokens for state in (*token.states, token.to or 0))
    allowed_S_V = torch.zeros((states, len(grammar.tokens)), dtype=torch.bool)
    next_S_V = torch.arange(states)[:, None].repeat(1, len(grammar.tokens))
    allowed_S_V[:, END] = True
    for at, token in enumerate(grammar.tokens):
        for state in token.states:
            allowed_S_V[state, at] = True
            next_S_V[state, at] = state if token.to is None else token.to
    return allowed_S_V, next_S_V
