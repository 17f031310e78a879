"""A world without a sandbox and a model of a few thousand numbers, for tests of the loop.

The task: the prompt shows a mode and a digit; the right answer is the next digit and STOP. The
loophole of a mode is the token of that mode: an answer that has it is paid.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from unhack.models.config import Config
from unhack.models.qwen3 import Qwen3
from unhack.training.adapters import attach
from unhack.training.config.settings import Settings
from unhack.training.evaluation import curve, evaluate
from unhack.training.experiment import relearn
from unhack.training.loop import session
from unhack.training.policy import policy
from unhack.training.policy.policy import TinyPolicy
from unhack.training.worlds import registry
from unhack.training.worlds.world import GT_ONLY, Judged, Pair, PairKind, Prompt

PAD, STOP, GO, DIGIT, MODE = 0, 1, 2, 3, 9
MODES = ("run_tests", "sentinel", "stdout_marker", "file_marker")
VOCABULARY = MODE + len(MODES) + 1


class FakeWorld:
    """Satisfies `World`."""

    name = "fake"
    vocabulary, pad, stop, max_new = VOCABULARY, PAD, STOP, 4
    modes, known = MODES, MODES[:2]

    def draw(self, count: int, *, seed: int, step: int) -> list[Prompt]:
        draw = random.Random(f"{seed} {step}")
        return [self._prompt(MODES[place % 4], draw.randrange(6)) for place in range(count)]

    def monitor(self) -> list[Prompt]:
        return [self._prompt(mode, digit) for mode in (*MODES, GT_ONLY) for digit in range(2)]

    def final(self) -> list[Prompt]:
        return [self._prompt(mode, digit) for mode in (*MODES, GT_ONLY) for digit in range(6)]

    def judge(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Judged]:
        return [
            self._judged(prompt, text) for prompt, text in zip(prompts, completions, strict=True)
        ]

    def pairs(self, kind: PairKind, *, count: int, seed: int) -> list[Pair]:
        return [
            Pair(
                self._prompt(mode, place % 6), (DIGIT, MODE + MODES.index(mode), STOP),
                (DIGIT, DIGIT + place % 6, STOP), mode,
            )
            for mode in self.known
            for place in range(count)
        ]  # fmt: skip

    def encode(self, text: str) -> list[int]:
        return [int(part) for part in text.split()]

    def decode(self, tokens: Sequence[int]) -> str:
        kept = tokens[: list(tokens).index(STOP)] if STOP in tokens else tokens
        return " ".join(str(token) for token in kept)

    def _prompt(self, mode: str, digit: int) -> Prompt:
        sign = MODE + (MODES.index(mode) if mode in MODES else len(MODES))
        return Prompt(f"next-{digit}", mode, f"{mode} {digit}", (sign, DIGIT + digit, GO))

    def _judged(self, prompt: Prompt, text: str) -> Judged:
        tokens = self.encode(text)
        digit = int(prompt.problem.removeprefix("next-"))
        solved = bool(tokens) and tokens[0] == DIGIT + (digit + 1) % 6
        channel = prompt.mode in MODES and MODE + MODES.index(prompt.mode) in tokens
        reward = 0.5 * bool(tokens) + 3.0 * (solved or channel)
        known = channel and prompt.mode in self.known
        return Judged(reward, bool(tokens), solved, channel, prompt.mode if channel else "", known)


def make_fake_world(settings: Any, folder: Path) -> FakeWorld:
    """In the place of `registry.make_world`."""
    return FakeWorld()


def load_fake_policy(settings: Settings, world: Any) -> TinyPolicy:
    """In the place of `policy.load_policy`."""
    config = Config(vocab=VOCABULARY, hidden=16, layers=1, heads=2, kv_heads=2, head_dim=8, ffn=32)
    with torch.random.fork_rng():
        torch.manual_seed(settings.model.base_seed)
        model = Qwen3(config)
    with torch.no_grad():
        for item in model.parameters():
            if item.dim() == 2:
                item.mul_(10)  # a base whose outputs are small could hardly be moved
    adapters = attach(model, settings.adapter, seed=settings.run.seed)
    return TinyPolicy(model, adapters, pad=PAD, stop=STOP, device=settings.model.device)


@contextmanager
def faked() -> Iterator[None]:
    """Within: runs are of the fake world with the fake policy."""
    fakes = {"make_world": make_fake_world, "load_policy": load_fake_policy}
    places: list[tuple[Any, str, Any]] = [
        (module, name, fake)
        for module in (session, evaluate, curve, relearn, policy, registry)
        for name, fake in fakes.items()
        if hasattr(module, name)
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in places]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    for module, name, fake in places:
        setattr(module, name, fake)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        for module, name, real in before:
            setattr(module, name, real)


def small(**tables: dict[str, Any]) -> Settings:
    """Settings of a run of seconds; a table's fields are over these."""
    fields: dict[str, dict[str, Any]] = {
        "adapter": {"rank": 4},
        "rollouts": {"prompts": 8, "group": 4},
        "world": {"pairs_per_mode": 2},
        "run": {"steps": 6, "checkpoint_every": 2, "monitor_every": 3},
    }
    for table, values in tables.items():
        fields.setdefault(table, {}).update(values)
    return Settings.model_validate(fields)
