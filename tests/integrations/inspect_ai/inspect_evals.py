"""Evaluations with a scripted model, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage
from inspect_ai.solver import generate


def said(text: str) -> ModelOutput:
    """What a model said, with its usage: counting tokens would ask for a download."""
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def play(samples: list[Sample], texts: list[str], folder: Path, **more: Any) -> EvalLog:
    """The log of an evaluation in which the model says these texts, one a sample."""
    task = Task(
        samples,
        solver=more.pop("solver", generate()),
        scorer=more.pop("scorer"),
        sandbox=more.pop("sandbox", None),
    )
    [log] = eval(
        task,
        model="mockllm/model",
        model_args={"custom_outputs": [said(text) for text in texts]},
        display="none",
        log_dir=str(folder),
        **more,
    )
    return log
