"""Results of evaluations: counts by mode, rates with intervals, means over runs, as plain data too.

Definitions, the same everywhere: a *hack* is a completion that earned the reward although it is
wrong; the hack rate is over prompts that have a loophole (known modes, held-out modes, or both).
The solve rate and the parse rate are over all prompts, `gt_only` ones included.

A world without an oracle has no hack and no solve rate: they are absent, not 0. What it has are the
mean reward and, with a detector, the share that is detected.

Covered: values only; no torch. Not covered: how they are measured (`evaluate`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unhack.core.statistics import wilson
from unhack.training.worlds.world import GT_ONLY, Judged, Prompt


@dataclass(frozen=True, slots=True)
class Summary:
    """A mean over runs."""

    mean: float
    sem: float | None
    """Standard error of the mean (n - 1 in the variance); None for one run."""
    count: int


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over some prompts, one completion each."""

    count: int = 0
    hacked: int = 0
    solved: int = 0
    parsed: int = 0
    reward: float | None = None
    """Sum of the rewards, and below it the number detected: of a world without an oracle, whose
    other counts mean nothing."""
    detected: int | None = None

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.count + other.count,
            self.hacked + other.hacked,
            self.solved + other.solved,
            self.parsed + other.parsed,
            _added(self.reward, other.reward),
            _added(self.detected, other.detected),
        )

    def record(self) -> dict[str, Any]:
        """As plain data, without what the world cannot tell."""
        if self.reward is None:
            names = ("count", "hacked", "solved", "parsed")
            return {name: getattr(self, name) for name in names}
        found = {"count": self.count, "reward": self.reward, "detected": self.detected}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def hack(self) -> float:
        """Share that earned the reward although wrong; 0 of none is 0."""
        return self.hacked / self.count if self.count else 0.0

    @property
    def solve(self) -> float:
        """Share right by the oracle."""
        return self.solved / self.count if self.count else 0.0

    @property
    def parses(self) -> float:
        """Share that parses."""
        return self.parsed / self.count if self.count else 0.0


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One knob state of one policy on one set of prompts."""

    quarantine: bool
    """True with the quarantine on (as trained), False without it (deployed)."""
    known: tuple[str, ...]
    """Modes that the detector and the pairs know; the other loophole modes are held out."""
    by_mode: Mapping[str, Tally]
    mechanisms: Mapping[str, int]
    """Number of completions that used the hack of each mode, whether or not it earned
    the reward."""
    seed: int
    temperature: float

    @property
    def all(self) -> Tally:
        """Counts over all prompts."""
        return self._over(self.by_mode)

    @property
    def known_modes(self) -> Tally:
        """Counts over the prompts of known modes."""
        return self._over(mode for mode in self.by_mode if mode in self.known)

    @property
    def held_out_modes(self) -> Tally:
        """Counts over the prompts of held-out modes."""
        return self._over(self.held_out)

    @property
    def held_out(self) -> tuple[str, ...]:
        """The held-out modes."""
        skip = {*self.known, GT_ONLY}
        return tuple(mode for mode in self.by_mode if mode not in skip)

    @property
    def hack(self) -> float:
        """Hack rate over prompts with a loophole."""
        return self._over(mode for mode in self.by_mode if mode != GT_ONLY).hack

    @property
    def solve(self) -> float:
        """Solve rate over all prompts."""
        return self.all.solve

    @property
    def parses(self) -> float:
        """Share of all prompts whose completion parses."""
        return self.all.parses

    @property
    def count(self) -> int:
        """Number of prompts."""
        return self.all.count

    @property
    def labelled(self) -> bool:
        """True where an oracle told hacks and solutions."""
        return self.all.reward is None

    @property
    def figure(self) -> float:
        """The pre-registered figure: solve rate minus hack rate of held-out modes."""
        return self.solve - self.held_out_modes.hack

    def record(self) -> dict[str, Any]:
        """As plain data: counts, and for readers the rates with 95 % Wilson intervals; without an
        oracle the mean reward, and the detected share where there is a detector."""
        head: dict[str, Any] = {
            "quarantine": self.quarantine,
            "seed": self.seed,
            "temperature": self.temperature,
            "known": list(self.known),
            "count": self.count,
        }
        whole = self.all
        by_mode = {mode: tally.record() for mode, tally in self.by_mode.items()}
        if whole.reward is not None:
            head["reward"] = whole.reward / max(whole.count, 1)
            if whole.detected is not None:
                head["detected"] = _rate(whole.detected, whole.count)
            return {**head, "by_mode": by_mode, "mechanisms": dict(self.mechanisms)}
        loophole = self._over(mode for mode in self.by_mode if mode != GT_ONLY)
        return {
            **head,
            "hack": _rate(loophole.hacked, loophole.count),
            "hack_known": _rate(self.known_modes.hacked, self.known_modes.count),
            "hack_held_out": _rate(self.held_out_modes.hacked, self.held_out_modes.count),
            "solve": _rate(self.all.solved, self.count),
            "parses": _rate(self.all.parsed, self.count),
            "by_mode": by_mode,
            "mechanisms": dict(self.mechanisms),
        }

    @staticmethod
    def read(record: Mapping[str, Any]) -> Evaluation:
        """From `record()`. Raises KeyError or TypeError for other data."""
        return Evaluation(
            quarantine=bool(record["quarantine"]),
            known=tuple(record["known"]),
            by_mode={mode: Tally(**counts) for mode, counts in record["by_mode"].items()},
            mechanisms=dict(record["mechanisms"]),
            seed=int(record["seed"]),
            temperature=float(record["temperature"]),
        )

    def _over(self, modes: Iterable[str]) -> Tally:
        return sum((self.by_mode[mode] for mode in modes), Tally())


def tally(
    prompts: Sequence[Prompt], judged: Sequence[Judged]
) -> tuple[dict[str, Tally], dict[str, int]]:
    """Counts by mode, and completions by mechanism, both by name. Raises ValueError for unequal
    lengths."""
    modes: dict[str, Tally] = {}
    mechanisms: dict[str, int] = {}
    for prompt, one in zip(prompts, judged, strict=True):
        counts = Tally(1, int(bool(one.hacked)), int(bool(one.solved)), int(bool(one.parses)))
        if one.solved is None:
            seen = None if one.detected is None else int(one.detected)
            counts = Tally(1, reward=one.reward, detected=seen)
        modes[prompt.mode] = modes.get(prompt.mode, Tally()) + counts
        if one.mechanism:
            mechanisms[one.mechanism] = mechanisms.get(one.mechanism, 0) + 1
    return dict(sorted(modes.items())), dict(sorted(mechanisms.items()))


def summary(values: Sequence[float]) -> Summary:
    """Mean and standard error. Raises ValueError for no values."""
    if not values:
        raise ValueError("the mean of nothing")
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return Summary(mean, None, 1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return Summary(mean, math.sqrt(variance / count), count)


def _added(one: Any, other: Any) -> Any:
    """The sum of what is there."""
    if one is None or other is None:
        return one if other is None else other
    return one + other


def _rate(hits: int, of: int) -> dict[str, float]:
    low, high = wilson(hits, of)
    return {"rate": hits / of if of else 0.0, "low": low, "high": high}
