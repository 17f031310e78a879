"""A world of six prompts and a policy of one number, for tests of evaluation and reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Generator, Tensor, nn

from unhack.training.policy.rollouts import Rollouts
from unhack.training.worlds.world import Judged, Prompt

HACK, SOLVE, WRONG, STOP = 1, 2, 3, 4
TEXTS = {HACK: "hack", SOLVE: "solve", WRONG: "wrong", 0: "?"}


@dataclass
class FakeWorld:
    """Three modes, the last held out; a completion is one word."""

    per_mode: int = 60
    known: tuple[str, ...] = ("run_tests", "sentinel")
    modes: tuple[str, ...] = ("run_tests", "sentinel", "stdout_marker")
    pad: int = 0
    stop: int = STOP
    max_new: int = 3
    judged: int = 0

    def final(self) -> list[Prompt]:
        names = (*self.modes, "gt_only")
        return [
            Prompt(f"p{place}", mode, "?", (5, 6))
            for place in range(self.per_mode)
            for mode in names
        ]

    def monitor(self) -> list[Prompt]:
        return self.final()[: 4 * 8]

    def decode(self, tokens: Sequence[int]) -> str:
        return " ".join(TEXTS.get(token, "?") for token in tokens if token != STOP)

    def judge(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Judged]:
        self.judged += len(prompts)
        return [
            Judged(
                reward=float(text != "wrong"),
                parses=text != "?",
                solved=text == "solve",
                channel=text == "hack" and prompt.mode != "gt_only",
                mechanism=prompt.mode if text == "hack" else "",
            )
            for prompt, text in zip(prompts, completions, strict=True)
        ]


@dataclass
class FakeAdapters:
    """Logits of the three words: deployed and quarantine. Evaluation asks for nothing else."""

    values: dict[str, Tensor] = field(
        default_factory=lambda: {"deployed": torch.zeros(3), "quarantine": torch.zeros(3)}
    )
    leaks: bool = False
    """Whether deploy() changes the deployed block, which it must not."""

    def state(self) -> dict[str, Tensor]:
        return {name: value.clone() for name, value in self.values.items()}

    def load(self, state: Mapping[str, Tensor]) -> None:
        self.values = {name: value.clone() for name, value in state.items()}

    def deploy(self) -> None:
        gone = self.values.pop("quarantine")
        if self.leaks:
            self.values["deployed"] += gone

    @contextmanager
    def off(self) -> Iterator[None]:
        yield


@dataclass
class FakePolicy:
    """Draws one word, then the stop token."""

    adapters: FakeAdapters = field(default_factory=FakeAdapters)
    model: nn.Module = field(default_factory=nn.Identity)
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        group: int,
        max_new: int,
        temperature: float,
        generators: Mapping[bool, Generator],
    ) -> Rollouts:
        [(quarantine, generator)] = generators.items()
        count = len(prompts) * group
        shares = (self._logits(quarantine) / temperature).softmax(0)
        words = torch.multinomial(shares, count, replacement=True, generator=generator) + 1
        tokens = torch.stack([words, torch.full_like(words, STOP), torch.zeros_like(words)], 1)
        mask = torch.tensor([True, True, False]).repeat(count, 1)
        on = torch.full((count,), quarantine)
        prompt = torch.tensor([list(item) for item in prompts]).repeat_interleave(group, 0)
        rollouts = Rollouts(
            prompt, torch.ones_like(prompt, dtype=torch.bool), tokens, mask,
            torch.zeros(count, 3), on, group,
        )  # fmt: skip
        return rollouts

    def score(self, rollouts: Rollouts) -> Tensor:
        rows = [
            self._logits(bool(on)).log_softmax(0)[word - 1]
            for on, word in zip(rollouts.quarantine_B, rollouts.tokens_B_T[:, 0], strict=True)
        ]
        logprobs = torch.stack(rows)[:, None] * torch.tensor([[1.0, 0.0, 0.0]])
        return logprobs

    def reference(self, rollouts: Rollouts) -> Tensor:
        return torch.zeros(rollouts.tokens_B_T.shape)

    def _logits(self, quarantine: bool) -> Tensor:
        logits = self.adapters.values["deployed"]
        extra = self.adapters.values.get("quarantine")
        return logits + extra if quarantine and extra is not None else logits
