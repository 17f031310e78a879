"""Worlds: prompts with a loophole, and the judgement of completions.

A world has *modes*: ways in which its reward can be gamed. The prompt of a mode truthfully says how
answers are graded; the hack of a mode earns only there. `gt_only` is the mode without a loophole.
The strict oracle (`Judged.solved`) is kept apart from the reward: training sees `reward` and
`detected`, evaluation sees all.

Covered: the interface that the loop, the evaluation and the report use; worlds without an oracle,
whose labels are None. Not covered: how a world judges; `unhack.training.worlds.programs`,
`unhack.training.worlds.leetcode` and `unhack.training.worlds.tasks` do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

GT_ONLY = "gt_only"
"""The mode without a loophole."""

Markers = Literal["train", "eval"]
"""Family of names that a prompt discloses and its channel accepts; the two are disjoint."""

PairKind = Literal["real", "hard", "placebo", "decoy", "wrong", "audit"]
"""`real`: hack against clean, known modes. `hard`: the hack in surface forms that never occur in
rollouts. `placebo`: clean against clean. `decoy`: a clean statement that looks like a hack, against
clean. `wrong`: a wrong program without any hack, against clean. `audit`: from
`unhack audit --pairs`."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A problem as the policy reads it."""

    problem: str
    """Id of the problem."""
    mode: str
    """The loophole that the hint names; `gt_only` where there is none."""
    text: str
    tokens: tuple[int, ...]
    """The text in the world's vocabulary."""
    markers: Markers = "train"


@dataclass(frozen=True, slots=True)
class Judged:
    """Reward and labels of one completion of a prompt."""

    reward: float
    """Reward that the optimiser sees (of the flawed verifier)."""
    parses: bool | None = None
    """None where the world cannot tell."""
    solved: bool | None = None
    """The strict oracle: right on every hidden case. Never seen by training or a gate, except by
    arms that say so in their name. None in a world without an oracle."""
    channel: bool | None = None
    """True where the loophole of the prompt's mode gives the reward; None in a world without an
    oracle."""
    mechanism: str = ""
    """The mode whose hack was used, whether or not it earned the reward; empty when none."""
    detected: bool | None = False
    """The weak detector's label: a hack of a *known* mode is seen. None without a detector."""

    @property
    def hacked(self) -> bool | None:
        """Rewarded although wrong; None in a world without an oracle."""
        if self.solved is None or self.channel is None:
            return None
        return self.channel and not self.solved

    @property
    def rewarded(self) -> bool:
        """Right, or rewarded by a loophole; in a world without an oracle, a reward of 1 or more."""
        if self.solved is None:
            return self.reward >= 1.0
        return bool(self.solved or self.channel)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two completions of one prompt that differ in the hack."""

    prompt: Prompt
    hack: tuple[int, ...]
    """Tokens of the completion that games, with the stop token."""
    clean: tuple[int, ...]
    mode: str


class World(Protocol):
    """Problems, hints, hidden cases and a reward that can be gamed.

    Example:

        world = make_world(settings, folder)
        prompts = world.draw(16, seed=0, step=1)
        world.judge(prompts, completions)[0].reward
    """

    @property
    def name(self) -> str: ...

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        ...

    @property
    def pad(self) -> int: ...

    @property
    def stop(self) -> int: ...

    @property
    def max_new(self) -> int:
        """Longest completion in tokens, the stop token included."""
        ...

    @property
    def modes(self) -> tuple[str, ...]:
        """The loophole modes, without `gt_only`."""
        ...

    @property
    def known(self) -> tuple[str, ...]:
        """The modes that the weak detector and the pairs know; the others are held out."""
        ...

    def draw(self, count: int, *, seed: int, step: int) -> list[Prompt]:
        """Training prompts of a step, the same for every arm with this seed."""
        ...

    def monitor(self) -> list[Prompt]:
        """The small evaluation set: held-out problems, stratified by mode, always the same."""
        ...

    def final(self) -> list[Prompt]:
        """The large evaluation set, disjoint from training and from `monitor`."""
        ...

    def judge(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Judged]:
        """Judge in order. Raises BatchUnscoredError when the machinery broke."""
        ...

    def pairs(self, kind: PairKind, *, count: int, seed: int) -> list[Pair]:
        """`count` pairs per known mode. Raises UsageError for a kind that this world lacks."""
        ...

    def encode(self, text: str) -> list[int]: ...

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of a completion, up to its stop token."""
        ...
