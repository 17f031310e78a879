"""A warm-up teaches what the world shows, is kept, and is the same model for every run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("transformers")

from tests.unit.training.test_one_run import saved_model

from unhack.core.errors import UsageError
from unhack.training.config.settings import ModelSettings, Settings, WorldSettings
from unhack.training.one_run import train
from unhack.training.policy import policy
from unhack.training.policy.policy import load_policy
from unhack.training.policy.rollouts import given_rollouts
from unhack.training.worlds.registry import make_world

WORLD: dict[str, Any] = {
    "modes": ("magic_word", "silence", "special_casing"), "known": ("magic_word",),
    "prompt_tokens": 900, "completion_tokens": 12, "pairs_per_mode": 2,
}  # fmt: skip
REAL = os.environ.get("UNHACK_SMOLLM2", "")
"""A folder that experiments/pretrained/model.py wrote."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(policy, "BATCH", 8)
    monkeypatch.setattr(policy, "RATE", 3e-3)
    monkeypatch.setattr(policy, "RISE", 1)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return saved_model(tmp_path / "model", kind="llama")


def settings(folder: str, **model: Any) -> Settings:
    chosen = ModelSettings(path=folder, **model)
    return Settings(world=WorldSettings(name="pretrained", **WORLD), model=chosen)


def nats(chosen: Settings, tmp_path: Path) -> float:
    """Mean negative log-likelihood of completions that are shown."""
    world: Any = make_world(chosen, tmp_path)
    policy = load_policy(chosen, world)
    shown = world.demonstrations(16, hacks=0.0, order="asked")
    rows = given_rollouts(
        [(prompt.tokens, taught) for prompt, taught in shown], pad=world.pad, device=policy.device
    )
    with torch.no_grad():
        return -float(policy.score(rows).sum() / rows.mask_B_T.sum())


def test_completions_that_were_shown_are_likelier_afterwards(folder: str, tmp_path: Path) -> None:
    before = nats(settings(folder), tmp_path)
    assert nats(settings(folder, warmup_steps=10, warmup_hacks=0.0), tmp_path) < before - 0.3


def test_a_warm_up_is_made_once_for_each_share_seed_and_length(folder: str, tmp_path: Path) -> None:
    def made(**model: Any) -> Path:
        chosen = settings(folder, **model)
        return policy.warmed(chosen.model, make_world(chosen, tmp_path))

    first = made(warmup_steps=1)
    written = (first / "model.safetensors").stat().st_mtime_ns
    assert made(warmup_steps=1) == first
    assert (first / "model.safetensors").stat().st_mtime_ns == written
    others = [
        made(warmup_steps=2), made(warmup_steps=1, warmup_hacks=0.0),
        made(warmup_steps=1, base_seed=1),
    ]  # fmt: skip
    assert len({first, *others}) == 4
    assert sorted(path.name for path in first.parent.iterdir()) == sorted(
        path.name for path in (first, *others)
    )


def test_a_world_with_nothing_to_show_is_refused() -> None:
    chosen = ModelSettings(path="somewhere", warmup_steps=1)
    with pytest.raises(UsageError, match=r"warmup_steps=0"):
        policy.warmed(chosen, type("Mute", (), {"name": "mute"})())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["own tokenizer", "that of SmolLM2"])
def test_a_warmed_model_is_routed_measured_and_deployed(
    folder: str, tmp_path: Path, kind: str
) -> None:
    if kind != "own tokenizer":
        folder = _tiny_with_the_real_tokenizer(tmp_path / "real")
    run = train("pretrained", tmp_path / "run", model=folder, settings={
        "world": WORLD, "model": {"warmup_steps": 4, "warmup_hacks": 0.5},
        "rollouts": {"prompts": 4, "group": 4}, "run": {"steps": 2, "monitor_every": 0},
    })  # fmt: skip
    assert [line["step"] for line in run.steps] == [0, 1]
    assert all(0 <= line["hacked"] + line["solved"] <= 1 for line in run.steps)
    assert {path.name for path in run.folder.iterdir()} >= {"gate.jsonl", "metrics.jsonl"}
    prompts = make_world(run.settings, tmp_path).monitor()
    assert len(prompts) == 16 * 3


def _tiny_with_the_real_tokenizer(folder: Path) -> str:
    if not REAL:
        pytest.skip("UNHACK_SMOLLM2 names no folder of experiments/pretrained/model.py")
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    tokenizer: Any = AutoTokenizer.from_pretrained(REAL)
    assert tokenizer.eos_token == "<|im_end|>"
    assert len(tokenizer) == 49152
    sizes: dict[str, Any] = {
        "vocab_size": len(tokenizer), "hidden_size": 16, "intermediate_size": 16,
        "num_hidden_layers": 1, "num_attention_heads": 1, "tie_word_embeddings": True,
    }  # fmt: skip
    model: Any = LlamaForCausalLM(LlamaConfig(**sizes))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
