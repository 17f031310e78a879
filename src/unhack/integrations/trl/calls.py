"""The trainer behind a call of a reward function, as far as TRL's arguments tell.

GRPOTrainer and RLOOTrainer hand over bound methods of theirs. Their trainer knows what no argument
says: whether the model is in training or in evaluation, and how many completions make a group.

Covered: TRL 1.16's `log_metric`, `trainer_state`; other callers, which are told apart by their lack
of both.
Not covered: trainers that evaluate without `log_metric`; the callback tells these apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from unhack.core.errors import UsageError

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
