"""The stock example: a model trained by a script, as a Hugging Face folder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unhack.models.train_stock import LARGE, PLANS, train  # noqa: E402


def _made(out: Path, *, seed: int) -> bytes:
    plan = replace(PLANS["tiny"], batch=2, text_mb=0.02)
    record = train(plan, out, seed=seed, steps=3)
    assert record == json.loads((out / "stock.json").read_text())
    return (out / "model.safetensors").read_bytes()


def test_the_large_size_has_more_than_fifty_million_parameters() -> None:
    assert 50e6 < LARGE.parameters < 60e6


@pytest.mark.sample
@pytest.mark.slow
def test_one_seed_gives_the_same_folder_and_transformers_reads_it(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    torch.set_num_threads(1)
    first, again, other = (_made(tmp_path / name, seed=seed) for name, seed in
                           (("a", 1), ("b", 1), ("c", 2)))  # fmt: skip
    assert first == again
    assert first != other
    assert len(first) < 2_000_000
    model = transformers.AutoModelForCausalLM.from_pretrained(str(tmp_path / "a"))
    assert sum(item.numel() for item in model.parameters()) == PLANS["tiny"].shape.parameters
    logits = model(input_ids=torch.tensor([[1, 2, 3]])).logits
    assert logits.shape == (1, 3, 256)
    assert np.isfinite(logits.detach().numpy()).all()
