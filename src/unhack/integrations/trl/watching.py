"""The trainer's callback: a monitor's figures in the log, and the end of a run at an alarm.

Covered: several processes, which end together; trainers without `log_metric`; rewards that a
spawned process judges, which it collects after each step; golds of a data set with a length are
read before the first step.
Not covered: what the callbacks of loggers have written before this one is called; trainers with
`log_metric` hand the figures to these themselves.
"""

from __future__ import annotations

import logging
from typing import Any, cast

from unhack.core.errors import UsageError
from unhack.integrations.answers import AnswerTasks
from unhack.integrations.trl.monitoring import Monitor
from unhack.integrations.trl.processes import gathered
from unhack.verifiers.answers.gold import GoldError

_SHOWN = 5
_log = logging.getLogger("unhack.trl")


def check_golds(answers: AnswerTasks, rows: Any) -> None:
    """Raise GoldError for rows whose gold cannot be read, with the line that leaves them out."""
    if not hasattr(rows, "__len__"):
        _log.warning("golds are read as their rows come: the data set has no length")
        return
    if hasattr(rows, "select_columns"):  # of a `datasets` one: the others may be large
        rows = rows.select_columns([answers.column])
    found = answers.unreadable(rows)
    if not found:
        return
    shown = "; ".join(f"row {index}: {found[index]}" for index in list(found)[:_SHOWN])
    raise GoldError(
        f"{len(found)} of {len(rows)} rows have no answer that can be read: {shown}. To leave them "
        "out: bad = answers.unreadable(dataset); "
        "dataset = dataset.filter(lambda _, at: at not in bad, with_indices=True)"
    )


def watch(monitor: Monitor, *, stop_on_alarm: bool = False) -> Any:
    """A `transformers.TrainerCallback` that puts the last figures into the log of trainers that
    have no `log_metric`, and ends training at an alarm where that is asked for.

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

        def on_train_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
            """From here on, a call outside of a step is none of training. Raises GoldError for rows
            whose gold cannot be read."""
            monitor.in_step = False
            if monitor.answers is not None:
                check_golds(monitor.answers, getattr(rest.get("train_dataloader"), "dataset", None))

        def on_step_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
            """A training step begins."""
            monitor.in_step = True

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
            """End the run at an alarm, on every process in the same step."""
            monitor.in_step = False
            monitor.catch_up(step=int(getattr(state, "global_step", 0) or 0))
            # Gathered, though monitors agree: one that a single process feeds must stop all.
            if stop_on_alarm and any(gathered(bool(monitor.alarms))):
                control.should_training_stop = True
            return control

    return Watch()
