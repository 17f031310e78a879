"""A routed trainer on the tiny model, for the tests of routing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from unhack.routing import Quarantine, TextPair, attach, hack_gate, routed

PAIRS = [TextPair(f"Say {number}.", "HACK", str(number)) for number in range(4)]
ROWS = [{"prompt": f"Say {number}."} for number in range(64)]


def scored(completions: list[str], **rest: Any) -> list[float]:
    """A reward that any text gets, in three steps."""
    return [float(sum(text.encode()) % 3) for text in completions]


def config(folder: Path, **named: Any) -> GRPOConfig:
    """Small batches, no logs, on the CPU."""
    wanted = {
        "per_device_train_batch_size": 8, "num_generations": 4, "max_completion_length": 6,
        "max_steps": 2, "learning_rate": 1e-2, "gradient_checkpointing": False, "bf16": False,
        "seed": 1,
    }  # fmt: skip
    return GRPOConfig(
        output_dir=str(folder), report_to=[], use_cpu=True, logging_steps=1, disable_tqdm=True,
        **{"save_strategy": "no", **wanted, **named},
    )  # fmt: skip


def base(model: Path) -> Any:
    """The model of a folder, the same at each call."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)


def shaken(quarantine: Quarantine) -> Quarantine:
    """Both blocks away from their start."""
    generator = torch.Generator().manual_seed(5)
    for item in quarantine.parameters():
        item.data += 0.1 * torch.randn(item.shape, generator=generator)
    return quarantine


def trainer(
    quarantine: Quarantine, tokenizer: Path, settings: GRPOConfig, *, kind: Any = GRPOTrainer,
    gate: Any = None, **named: Any,
) -> Any:  # fmt: skip
    """A routed trainer."""
    return routed(kind)(
        quarantine.model,
        reward_funcs=scored,
        args=settings,
        train_dataset=Dataset.from_list(ROWS),
        processing_class=AutoTokenizer.from_pretrained(tokenizer),
        quarantine=quarantine,
        gate=gate or hack_gate(PAIRS),
        **named,
    )


def attached(model: Path, **named: Any) -> Quarantine:
    """A fresh base with both blocks."""
    return attach(base(model), rank=4, **named)


def blocks(quarantine: Quarantine) -> dict[str, Any]:
    """Copies of everything that trains."""
    return {name: item.clone() for name, item in quarantine.state().items()}
