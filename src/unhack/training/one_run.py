"""`train`: from a world and a model to a trained policy, in one call.

    run = train("rewards.py:score", "out/score", model="models/my-llama", arm="vanilla")
    run.evaluate()["deployed"]["reward"]
    run.export("deployed")

Covered: what `unhack train run` does: the recipe `top_rewarded`, arms, runs that were interrupted
(call it again), threads for tiny models. Not covered: several processes (`torchrun unhack train
run`), sweeps (`experiment.sweep`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhack.training.config.settings import Settings
from unhack.training.evaluation.evaluate import FINAL, evaluate_run, is_current
from unhack.training.evaluation.export import export_run
from unhack.training.experiment.arms import DEFAULT_ARM, choose_settings
from unhack.training.loop.train import train as train_policy
from unhack.training.policy.threads import threads, threads_for
from unhack.training.run.folder import METRICS, TrainingRecords, read_json, read_lines
from unhack.training.run.step_record import StepRecord


@dataclass(frozen=True, slots=True)
class TrainedRun:
    """A run that has ended.

    Example:

        run = train("rewards.py:score", "out/score", model="models/my-llama")
        run.evaluate()["deployed"]["reward"]
        run.export("deployed")
    """

    folder: Path
    settings: Settings

    @property
    def steps(self) -> Sequence[Mapping[str, Any]]:
        """The lines of `metrics.jsonl`: one for each update."""
        return read_lines(self.folder / METRICS)

    def evaluate(self) -> dict[str, Any]:
        """The last checkpoint on the world's final set, deployed and as trained (`final.json`).

        Raises BatchUnscoredError where the judging machinery broke.
        """
        if is_current(self.folder):
            return read_json(self.folder / FINAL)
        with threads(threads_for(self.settings)):
            return evaluate_run(self.folder)

    def export(self, out: str | Path) -> dict[str, Any]:
        """Write the deployed model for `from_pretrained`. Raises UsageError for a folder that is
        not empty."""
        with threads(threads_for(self.settings)):
            return export_run(self.folder, Path(out))


def train(
    world: str,
    out: str | Path,
    *,
    model: str = "",
    arm: str = DEFAULT_ARM,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    watch: Callable[[StepRecord], None] | None = None,
) -> TrainedRun:
    """Train a policy in a world, or go on with the run in `out`.

    `world`: `programs`, `leetcode`, or a target: a task, a suite, a folder, `file.py:function`,
    `module:name`. `model`: the folder of a Hugging Face causal language model with its tokenizer;
    without it the world's own base, a model over bytes for targets. `arm`: a name of
    `experiment.arms.all_arms`. `settings`: tables of fields over all that, as in a TOML file.
    `watch` is called after each update.

    Raises UsageError (UnknownNameError, TaskError) for what does not go together,
    BatchUnscoredError where judging broke, StoreError.
    """
    chosen = choose_settings({"world": {"name": world}, "model": {"path": model}}, arm, settings)
    folder = Path(out)
    with TrainingRecords(folder, chosen) as files:
        files.describe(arm=arm)
    with threads(threads_for(chosen)):
        train_policy(chosen, folder, watch=watch)
    return TrainedRun(folder, chosen)
