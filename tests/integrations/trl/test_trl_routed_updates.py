"""What an update of a routed TRL trainer is made of: prompts and their numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

from . import routed_run as run

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def recorded(trainer: Any) -> list[tuple[int, dict[int, set[str]]]]:
    """By backward pass: its update, and the prompts of each number that the router is given."""
    found: list[tuple[int, dict[int, set[str]]]] = []
    loss = trainer._compute_loss

    def spied(model: Any, inputs: Any) -> Any:
        seen: dict[int, set[str]] = {}
        texts = trainer.processing_class.batch_decode(inputs["prompt_ids"])
        for number, text in zip(inputs["group"].tolist(), texts, strict=True):
            seen.setdefault(number, set()).add(text)
        found.append((trainer.state.global_step, seen))
        return loss(model, inputs)

    trainer._compute_loss = spied
    return found


@pytest.mark.parametrize(
    "named",
    [
        {"gradient_accumulation_steps": 2, "steps_per_generation": 1},
        {"gradient_accumulation_steps": 4, "steps_per_generation": 2, "num_iterations": 2},
        {"gradient_accumulation_steps": 3, "steps_per_generation": 1, "num_generations": 2},
        {"gradient_accumulation_steps": 1, "steps_per_generation": 4},
    ],
    ids=["two batches", "each twice", "three batches", "a part of a batch"],
)
def test_a_number_stands_for_one_prompt_in_an_update(
    named: dict[str, Any], model: Path, tmp_path: Path
) -> None:
    settings = {"per_device_train_batch_size": 4, "max_steps": 3, **named}
    trainer = run.trainer(run.attached(model), model, run.config(tmp_path, **settings))
    passes = recorded(trainer)
    trainer.train()
    assert {step for step, _ in passes} == {0, 1, 2}
    for update in range(3):
        prompts: dict[int, set[str]] = {}
        for step, seen in passes:
            if step == update:
                for number, texts in seen.items():
                    prompts.setdefault(number, set()).update(texts)
        assert all(len(texts) == 1 for texts in prompts.values())
        assert len(prompts) == len(set.union(*prompts.values()))
