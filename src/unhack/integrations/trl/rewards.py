"""Reward functions for TRL's trainers, judged sealed and watched.

    rewards = reward_function(tasks, column="task")
    trainer = GRPOTrainer(
        model, reward_funcs=rewards, callbacks=[watch(rewards.monitor)],
        train_dataset=dataset, args=config,
    )

A reward function is what TRL calls with lists (`prompts`, `completions`, the dataset's columns); it
judges the whole list at once in the sealed sandbox. In a run of several processes each judges its
part, and the figures are gathered in the call, where the trainer gathers the rewards as well.
GRPOTrainer and RLOOTrainer hand over bound methods of theirs, whose trainer knows what no argument
says: whether the model is in training or in evaluation, and how many completions make a group.

Covered: plain and chat completions, tools (only the last assistant message is judged), one task or
one per row, an oracle that is measured and never rewarded, several reward functions in one trainer,
GRPOTrainer, RLOOTrainer, AsyncGRPOTrainer (the function pickles; what its copy in the spawned
process judges comes back to this monitor by a file). What cannot be scored in three tries, and what
has no gold that can be read, is None, which TRL leaves out; a call in which nothing could be scored
raises, and so does the call after which more than 1 % and 5 items of all calls could not. Checked
with TRL 1.16, its `log_metric` and `trainer_state`; other callers, which are told apart by their
lack of both.
Not covered: rewards of environments (`episodes`, `repositories`), which the monitor does not see;
trainers that evaluate without `log_metric`, which the callback tells apart.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from unhack.core.errors import BatchUnscoredError, UsageError
from unhack.core.hashing import content_hash
from unhack.core.verdict import Status, Verdict, unscored_verdict
from unhack.integrations.answers import AnswerTasks
from unhack.integrations.rows import Tasks, name_in, named_task, task_of, text_of
from unhack.integrations.trl.monitoring import Monitor, RewardCall, RewardRow
from unhack.integrations.trl.processes import all_rows
from unhack.integrations.trl.watching import watch
from unhack.sandbox.job import Backend
from unhack.tasks.batch import Batch
from unhack.tasks.execution.choosing import choose, shared_scheduler
from unhack.tasks.execution.scheduler import Scheduler
from unhack.tasks.task import Task
from unhack.verifiers.answers.gold import GoldError
from unhack.verifiers.reward import reward_of

_log = logging.getLogger("unhack.trl")


@dataclass(frozen=True, slots=True)
class NamedTasks:
    """Tasks by the names that a column holds: built-in ones, directories, `NAME#3`."""

    column: str

    def __call__(self, row: Mapping[str, Any]) -> Task:
        """The task of a row. Raises UnknownNameError, UsageError."""
        return named_task(name_in(row, self.column))


@dataclass
class RewardFunction:
    """Callable as TRL calls reward functions; see `reward_function`.

    Example:

        reward = reward_function(column="task")
        reward(prompts, completions, task=["strings/knit-rows"] * len(completions))
        reward.monitor.alarms
    """

    tasks: Tasks
    column: str
    oracle: Tasks | None
    backend: Backend | None
    monitor: Monitor
    __name__: str = "unhack"

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        """One reward for each completion, None where unscored. Raises UsageError,
        BatchUnscoredError."""
        call = TrainerCall.of(columns)
        mine: list[RewardRow] = []
        verdicts: tuple[Verdict, ...] = ()
        failure: Exception | None = None
        try:
            mine, verdicts = self._judged(prompts, completions, columns)
        except Exception as error:  # whatever it is, the other processes must hear of it
            failure = error
            if not call.in_step:
                raise
        rows = all_rows(mine, failure) if call.in_step else mine
        seen = RewardCall.of(rows, step=call.step, generations=call.generations)
        if call.log is not None:
            for name, value in seen.metrics().items():
                call.log(name, value)
        self.monitor.keep(seen, training=call.training)
        first = next((one.reason for one in verdicts if not one.scored), "in another process")
        if seen.unscored:
            _log.warning("%d of %d unscored; first: %s", seen.unscored, seen.items, first)
        if said := self.monitor.too_many_unscored(seen):
            batch = Batch(verdicts, (tuple(range(len(verdicts))),))
            raise BatchUnscoredError(f"{said}; first: {first}", batch=batch)
        return [row.reward for row in mine]

    def __getstate__(self) -> dict[str, Any]:
        """The parts of a copy in another process, which writes what it sees into a journal."""
        if self.backend is not None:
            raise UsageError(
                "a reward function with a backend of its own cannot go to another process; leave "
                "`backend` out, the process makes a pool of its own"
            )
        return {**self.__dict__, "monitor": self.monitor.journal()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, monitor=Monitor.written_to(state["monitor"]))

    def _judged(
        self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]
    ) -> tuple[list[RewardRow], tuple[Verdict, ...]]:
        if len(prompts) != len(completions):
            raise UsageError(f"{len(prompts)} prompts for {len(completions)} completions")
        texts = [
            text_of(completion, name=f"completions[{at}]")
            for at, completion in enumerate(completions)
        ]
        rows = rows_of({"prompt": prompts, **columns}, len(texts))
        verdicts = self._verdicts(self.tasks, rows, texts)
        right: Sequence[Verdict | None] = [None] * len(texts)
        if self.oracle is not None:
            right = self._verdicts(self.oracle, rows, texts)
        judged = [
            _row(str(prompt), verdict, true)
            for prompt, verdict, true in zip(prompts, verdicts, right, strict=True)
        ]
        return judged, verdicts

    def _verdicts(
        self, tasks: Tasks, rows: Sequence[Mapping[str, Any]], texts: Sequence[str]
    ) -> tuple[Verdict, ...]:
        """The verdicts in the order of `rows`; a row without a gold that can be read has one that
        is unscored."""
        shared = self.backend is None
        scheduler = shared_scheduler() if shared else Scheduler(choose(self.backend))
        named: dict[int, Task] = {}
        found: dict[int, Verdict] = {}
        for at, row in enumerate(rows):
            try:
                named[at] = task_of(tasks, row, column=self.column)
            except GoldError as error:
                found[at] = unscored_verdict(str(error))
        judged = scheduler.judge_all(list(named.values()), [texts[at] for at in named])
        found.update(zip(named, judged, strict=True))
        return tuple(found[at] for at in range(len(rows)))


def _row(prompt: str, verdict: Verdict, right: Verdict | None) -> RewardRow:
    return RewardRow(
        prompt=content_hash(prompt),
        reward=reward_of(verdict),
        passed=verdict.passed,
        invalid=verdict.status is Status.INVALID,
        solved=None if right is None else right.passed,
        hacked=None if right is None else verdict.passed and right.scored and not right.passed,
    )


def reward_function(
    tasks: Tasks | None = None,
    *,
    column: str = "task",
    oracle: Tasks | None = None,
    backend: Backend | None = None,
    name: str = "unhack",
) -> RewardFunction:
    """A reward function for `reward_funcs`, scored in parallel and sealed.

    `column` names the dataset's column that holds ids of `tasks`, where these are a mapping, or
    names of built-in tasks and directories, where `tasks` are left out. `oracle`: stricter tasks,
    taken in the same way, which judge the same completions for the monitor alone. `name` is how the
    reward is called in TRL's log.
    """
    wanted = NamedTasks(column) if tasks is None else tasks
    monitor = Monitor(answers=wanted if isinstance(wanted, AnswerTasks) else None)
    return RewardFunction(wanted, column, oracle, backend, monitor, name)


def hooks(
    tasks: Tasks | None = None,
    *,
    column: str = "task",
    oracle: Tasks | None = None,
    stop_on_alarm: bool = False,
) -> dict[str, Any]:
    """`reward_funcs` and `callbacks` for a trainer that has neither: `GRPOTrainer(..., **hooks())`.

    See `reward_function` and `watch`. Raises UsageError without transformers.
    """
    rewards = reward_function(tasks, column=column, oracle=oracle)
    return {
        "reward_funcs": rewards,
        "callbacks": [watch(rewards.monitor, stop_on_alarm=stop_on_alarm)],
    }


_OWN = ("completion_ids", "trainer_state", "log_extra", "log_metric", "environments")
"""Arguments that TRL hands over besides the dataset's columns."""


@dataclass(frozen=True, slots=True)
class TrainerCall:
    """One call's trainer."""

    step: int
    in_step: bool
    """True where a trainer calls that calls on every process alike."""
    training: bool | None
    """False for evaluation; None where the arguments do not tell."""
    generations: int | None
    """Completions of a group; None where the arguments do not tell."""
    log: Callable[[str, float], None] | None

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> TrainerCall:
        """The call that these keyword arguments belong to."""
        state, log = columns.get("trainer_state"), columns.get("log_metric")
        trainer = getattr(log, "__self__", None)
        training = getattr(getattr(trainer, "model", None), "training", None)
        name = "num_generations_eval" if training is False else "num_generations"
        size = getattr(trainer, name, None)
        return cls(
            step=int(getattr(state, "global_step", 0) or 0),
            in_step=state is not None,
            training=training if isinstance(training, bool) else None,
            generations=size if isinstance(size, int) and size > 0 else None,
            log=cast("Callable[[str, float], None]", log) if callable(log) else None,
        )


def rows_of(columns: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """The dataset's columns, one mapping for each completion. Raises UsageError for a column of
    another length."""
    kept = {
        key: cast("Sequence[Any]", values)
        for key, values in columns.items()
        if key not in _OWN and not isinstance(values, (str, Mapping)) and hasattr(values, "__len__")
    }
    wrong = next((key for key, values in kept.items() if len(values) != count), None)
    if wrong is not None:
        raise UsageError(f"column {wrong!r} has {len(kept[wrong])} values for {count} completions")
    return [{key: values[at] for key, values in kept.items()} for at in range(count)]
