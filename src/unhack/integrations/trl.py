"""Rewards and monitors for TRL's GRPOTrainer and RLOOTrainer.

    rewards = reward_function(tasks, column="task")
    trainer = GRPOTrainer(
        model, reward_funcs=rewards, callbacks=[watch(rewards.monitor)],
        train_dataset=dataset, args=config,
    )

A reward function is what TRL calls with lists (`prompts`, `completions`, the dataset's columns); it
judges the whole list at once in the sealed sandbox. The callback only reads what the reward
function saw. Neither touches the trainer's own methods.

Covered: plain and chat completions, one task or one per row, columns of any kind, an oracle that is
measured and never rewarded, several reward functions in one trainer. Unscored items are None, which
TRL leaves out. Checked with TRL 1.16.
Not covered: tools and environments of TRL; with several processes each one watches its own part.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, cast

from unhack.core.errors import UsageError
from unhack.core.group import has_no_signal
from unhack.core.verdict import Status, Verdict
from unhack.integrations.rows import Tasks, task_of, text_of
from unhack.sandbox.job import Backend
from unhack.tasks.batch import Batch, run_batch

_OWN = ("completion_ids", "trainer_state", "log_extra", "log_metric", "environments")
"""Arguments that TRL hands over besides the dataset's columns."""
_REFERENCE = 20
"""Reward batches that the others are compared with."""
_LIMIT, _LEAST = 8.0, 0.05
_COLLAPSED = 0.9
"""Share of groups without variance from which on there is hardly anything to learn from."""
_log = logging.getLogger("unhack.trl")


@dataclass(frozen=True, slots=True)
class RewardCall:
    """One call of a reward function."""

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

    def metrics(self) -> dict[str, float]:
        """By the names that appear in the trainer's log."""
        values: dict[str, float | None] = {
            "passed": self.passed,
            "invalid": self.invalid,
            "unscored": float(self.unscored),
            "zero_variance_share": self.zero_variance_share,
            "solved": self.solved,
            "hacked": self.hacked,
        }
        return {f"unhack/{name}": value for name, value in values.items() if value is not None}


@dataclass
class Monitor:
    """Statistics of a reward function, and the alarms about it."""

    seen: list[RewardCall] = field(default_factory=list[RewardCall])
    alarms: list[str] = field(default_factory=list[str])
    _excess: float = 0.0
    _raised: set[str] = field(default_factory=set[str])

    def note(self, seen: RewardCall) -> list[str]:
        """Keep a call; the alarms that it raises, each once until it is over."""
        self.seen.append(seen)
        flat = self._alarm_once("zero_variance", "hardly any group has a signal", over=self._flat())
        rising = self._alarm_once(
            "proxy_without_oracle",
            "more and more passes that the oracle calls wrong",
            over=self._rising(seen),
        )
        raised = [f"step {seen.step}: {text}" for text in (flat, rising) if text]
        self.alarms += raised
        return raised

    def _flat(self) -> bool:
        last = self.seen[-5:]
        return len(last) == 5 and all(one.zero_variance_share > _COLLAPSED for one in last)

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


@dataclass
class RewardFunction:
    """Callable as TRL calls reward functions; see `reward_function`."""

    tasks: Tasks
    column: str
    oracle: Tasks | None
    backend: Backend | None
    monitor: Monitor
    __name__: str = "unhack"

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        """One reward for each completion, None where unscored. Raises BatchUnscoredError."""
        texts = [text_of(completion) for completion in completions]
        rows = _rows(columns, len(texts))
        tasks = [task_of(self.tasks, row, column=self.column) for row in rows]
        batch = run_batch(tasks, texts, backend=self.backend)
        right: Sequence[Verdict] | None = None
        if self.oracle is not None:
            strict = [task_of(self.oracle, row, column=self.column) for row in rows]
            right = run_batch(strict, texts, backend=self.backend).verdicts
        seen = _seen(prompts, batch, right=right, step=_step(columns))
        log = columns.get("log_metric")
        if callable(log):
            for name, value in seen.metrics().items():
                log(name, value)
        for alarm in self.monitor.note(seen):
            _log.warning("%s", alarm)
        return list(batch.rewards)


def reward_function(
    tasks: Tasks,
    *,
    column: str = "task",
    oracle: Tasks | None = None,
    backend: Backend | None = None,
    name: str = "unhack",
) -> RewardFunction:
    """A reward function for `reward_funcs`, scored in parallel and sealed.

    `column` names the dataset's column that holds ids of `tasks`, where these are a mapping.
    `oracle`: stricter tasks, taken in the same way, which judge the same completions for the
    monitor alone. `name` is how the reward is called in TRL's log.
    """
    return RewardFunction(tasks, column, oracle, backend, Monitor(), name)


def watch(monitor: Monitor, *, stop_on_alarm: bool = False) -> Any:
    """A `transformers.TrainerCallback` that puts the monitor's last figures into the log of
    trainers that have no `log_metric`, and ends training at an alarm where that is asked for.

    Raises UsageError without transformers.
    """
    try:
        from transformers import TrainerCallback
    except ImportError as error:
        raise UsageError(
            "the callback needs transformers: pip install '.[trl]' in a checkout of unhack"
        ) from error

    class Watch(TrainerCallback):
        """Reads a monitor."""

        def on_log(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
            """Add what is not there yet."""
            if not monitor.seen or "reward" not in (rest.get("logs") or {}):
                return
            missing = {**monitor.seen[-1].metrics(), "unhack/alarms": float(len(monitor.alarms))}
            for logs in (rest.get("logs"), state.log_history[-1] if state.log_history else None):
                for key, value in missing.items():
                    if isinstance(logs, dict):
                        cast("dict[str, Any]", logs).setdefault(key, value)

        def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> Any:
            """End the run at an alarm."""
            if stop_on_alarm and monitor.alarms:
                control.should_training_stop = True
            return control

    return Watch()


def _rows(columns: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    kept = {
        key: cast("Sequence[Any]", values)
        for key, values in columns.items()
        if key not in _OWN and isinstance(values, (list, tuple))
    }
    wrong = next((key for key, values in kept.items() if len(values) != count), None)
    if wrong is not None:
        raise UsageError(f"column {wrong!r} has {len(kept[wrong])} values for {count} completions")
    return [{key: values[at] for key, values in kept.items()} for at in range(count)]


def _step(columns: Mapping[str, Any]) -> int:
    return int(getattr(columns.get("trainer_state"), "global_step", 0) or 0)


def _seen(
    prompts: Sequence[Any], batch: Batch, *, right: Sequence[Verdict] | None, step: int
) -> RewardCall:
    rewards, verdicts = batch.rewards, batch.verdicts
    scored = [reward for reward in rewards if reward is not None]
    size = max(1, len(verdicts))
    groups = [
        [rewards[at] for at, _ in group]
        for _, group in groupby(enumerate(prompts), key=lambda item: item[1])
    ]
    flat = [has_no_signal([one for one in group if one is not None]) for group in groups]
    solved = hacked = None
    if right is not None:
        solved = sum(one.passed for one in right) / size
        both = zip(verdicts, right, strict=True)
        hacked = sum(one.passed and true.scored and not true.passed for one, true in both) / size
    return RewardCall(
        step=step,
        reward=math.fsum(scored) / len(scored) if scored else math.nan,
        passed=sum(one.passed for one in verdicts) / size,
        invalid=sum(one.status is Status.INVALID for one in verdicts) / size,
        unscored=len(rewards) - len(scored),
        zero_variance_share=sum(flat) / max(1, len(flat)),
        solved=solved,
        hacked=hacked,
    )
