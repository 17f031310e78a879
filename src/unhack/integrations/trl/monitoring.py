"""Figures of reward calls over all processes, and the alarms about them.

Covered: groups that are spread over processes; calls that hold one group, as an asynchronous
trainer makes them, and that a spawned process wrote down; evaluation, which is kept apart and
raises no alarm.
Not covered: rewards of other functions; the figures are those of this one alone.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import NamedTuple

from unhack.core.group import has_no_signal
from unhack.integrations.answers import AnswerTasks
from unhack.integrations.trl.journal import RewardJournal
from unhack.tasks.batch import is_too_many

_REFERENCE = 20
"""Reward batches that the others are compared with."""
_LIMIT, _LEAST = 8.0, 0.05
_COLLAPSED = 0.9
"""Share of groups without variance from which on there is hardly anything to learn from."""
_FLAT_CALLS, _FLAT_GROUPS = 5, 20
"""Calls and groups that have to be flat for an alarm: a few unsolved prompts in a row are none."""
_log = logging.getLogger("unhack.trl")


class RewardRow(NamedTuple):
    """One judged completion, as processes exchange it: no text, only figures."""

    prompt: str
    """Hash of the prompt."""
    reward: float | None
    passed: bool
    invalid: bool
    solved: bool | None
    hacked: bool | None


@dataclass(frozen=True, slots=True)
class RewardCall:
    """One call of a reward function, over all processes.

    Example:

        call = reward.monitor.seen[-1]
        call.step, call.passed, call.zero_variance_share
    """

    step: int
    reward: float
    """Mean reward of the scored items; NaN where none was scored."""
    passed: float
    """Share of all items that the verifier passes."""
    invalid: float
    """Share of items that hold nothing to judge (no code, no answer, a syntax error)."""
    unscored: int
    zero_variance_share: float
    """Of groups whose rewards are all the same."""
    solved: float | None
    """Share of items that the oracle passes; None without an oracle."""
    hacked: float | None
    """Share that the verifier passes and the oracle does not."""
    groups: int = 1
    items: int = 1

    @classmethod
    def of(cls, rows: Sequence[RewardRow], *, step: int, generations: int | None) -> RewardCall:
        """The figures of rows in the order of their ranks. A group is `generations` rows, or a run
        of rows of one prompt where that is None or does not divide them."""
        rewards = [row.reward for row in rows]
        scored = [reward for reward in rewards if reward is not None]
        flat = [
            has_no_signal([one for one in group if one is not None])
            for group in _groups(rows, generations)
        ]
        return cls(
            step=step,
            reward=math.fsum(scored) / len(scored) if scored else math.nan,
            passed=_share([row.passed for row in rows]) or 0.0,
            invalid=_share([row.invalid for row in rows]) or 0.0,
            unscored=len(rewards) - len(scored),
            zero_variance_share=sum(flat) / max(1, len(flat)),
            solved=_share([row.solved for row in rows]),
            hacked=_share([row.hacked for row in rows]),
            groups=len(flat),
            items=len(rows),
        )

    def metrics(self) -> dict[str, float]:
        """By the names that appear in the trainer's log."""
        names = ("passed", "invalid", "unscored", "zero_variance_share", "solved", "hacked")
        values = {name: getattr(self, name) for name in names}
        return {f"unhack/{name}": float(each) for name, each in values.items() if each is not None}


def _groups(rows: Sequence[RewardRow], generations: int | None) -> list[list[float | None]]:
    if generations is not None and len(rows) % generations == 0:
        starts = range(0, len(rows), generations)
        return [[row.reward for row in rows[at : at + generations]] for at in starts]
    return [[row.reward for row in group] for _, group in groupby(rows, key=lambda row: row.prompt)]


def _share(marks: Sequence[bool | None]) -> float | None:
    known = [mark for mark in marks if mark is not None]
    return sum(known) / len(known) if known else None


@dataclass
class Monitor:
    """Statistics of a reward function, and the alarms about it; the same on every process.

    Example:

        reward = reward_function()
        GRPOTrainer(model, reward_funcs=reward, train_dataset=rows).train()
        reward.monitor.alarms, reward.monitor.seen[-1].reward
    """

    seen: list[RewardCall] = field(default_factory=list[RewardCall])
    """Calls of training."""
    evaluated: list[RewardCall] = field(default_factory=list[RewardCall])
    """Calls of evaluation; they raise no alarm."""
    alarms: list[str] = field(default_factory=list[str])
    in_step: bool | None = None
    """True while the callback sees a training step; None without a callback."""
    answers: AnswerTasks | None = None
    """The tasks whose golds the callback reads before training begins."""
    _items: int = 0
    _unscored: int = 0
    _journal: RewardJournal | None = field(default=None, repr=False)
    _written: bool = False
    _excess: float = 0.0
    _raised: set[str] = field(default_factory=set[str])

    def keep(self, seen: RewardCall, *, training: bool | None) -> None:
        """Keep a call; `training` is None where the caller does not tell."""
        self._items += seen.items
        self._unscored += seen.unscored
        if training is False or (training is None and self.in_step is False):
            self.evaluated.append(seen)
            return
        if self._written and self._journal is not None:
            try:
                self._journal.append(asdict(seen))
            except OSError:  # the process that made the journal is gone, or on another host
                self._journal = None
            else:
                return
        self.note(seen)

    def too_many_unscored(self, seen: RewardCall) -> str:
        """The words for a call in which nothing could be scored, and where more than 1 %
        and 5 items of all calls could not; empty where neither holds."""
        if seen.unscored == seen.items > 0:
            return f"none of the {seen.items} completions of this call could be scored"
        if seen.unscored and is_too_many(self._unscored, of=self._items):
            return f"{self._unscored} of {self._items} completions could not be scored"
        return ""

    def catch_up(self, *, step: int) -> None:
        """Take over what copies of the reward function saw in other processes, as of this step."""
        if self._journal is not None and not self._written:
            for figures in self._journal.news():
                self.note(RewardCall(**{**figures, "step": step}))

    def journal(self) -> str:
        """The path at which a copy of this monitor, in another process, writes what it sees."""
        if self._journal is None:
            self._journal = RewardJournal()
        return self._journal.path

    @classmethod
    def written_to(cls, path: str) -> Monitor:
        """A monitor that writes what it sees into a journal, for the one that made it."""
        return cls(_journal=RewardJournal(path), _written=True)

    def note(self, seen: RewardCall) -> list[str]:
        """Keep a call of training; the alarms that it raises, each once until it is over."""
        self.seen.append(seen)
        flat = self._alarm_once("zero_variance", "hardly any group has a signal", over=self._flat())
        rising = self._alarm_once(
            "proxy_without_oracle",
            "more and more passes that the oracle calls wrong",
            over=self._rising(seen),
        )
        nothing = self._alarm_once(
            "unscored", "nothing could be scored", over=seen.unscored == seen.items > 0
        )
        raised = [f"step {seen.step}: {text}" for text in (nothing, flat, rising) if text]
        self.alarms += raised
        for alarm in raised:
            _log.warning("%s", alarm)
        return raised

    def _flat(self) -> bool:
        calls = groups = 0
        flat = 0.0
        for one in reversed(self.seen):
            calls, groups = calls + 1, groups + one.groups
            flat += one.groups * one.zero_variance_share
            if calls >= _FLAT_CALLS and groups >= _FLAT_GROUPS:
                return flat > _COLLAPSED * groups
        return False

    def _rising(self, seen: RewardCall) -> bool:
        """A one-sided CUSUM (Page 1954) of the hack share above that of the first calls."""
        if seen.hacked is None or len(self.seen) <= _REFERENCE:
            return False
        first = [one.hacked for one in self.seen[:_REFERENCE] if one.hacked is not None]
        centre = math.fsum(first) / len(first)
        spread = math.sqrt(math.fsum((one - centre) ** 2 for one in first) / len(first))
        scale = max(spread, _LEAST)
        self._excess = max(0.0, self._excess + (seen.hacked - centre) / scale - 0.5)
        return self._excess > _LIMIT

    def _alarm_once(self, name: str, text: str, *, over: bool) -> str:
        if not over:
            self._raised.discard(name)
            return ""
        if name in self._raised:
            return ""
        self._raised.add(name)
        return text
