"""`train`: a reward function and a model from a folder, from the first update to the export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from unhack.training.one_run import train  # noqa: E402
from unhack.training.policy.policy import load_policy  # noqa: E402
from unhack.training.policy.threads import threads_for  # noqa: E402
from unhack.training.worlds.registry import make_world  # noqa: E402

pytestmark = pytest.mark.slow

REWARDS = """
def score(completion, answer):
    return float(answer in completion) + 0.1 * sum(one.isdigit() for one in completion[:20])
"""
TEMPLATE = "{% for m in messages %}<user>{{ m['content'] }}<end>{% endfor %}<reply>"
SMALL: dict[str, dict[str, Any]] = {
    "world": {"completion_tokens": 8},
    "rollouts": {"prompts": 2, "group": 4},
    "adapter": {"rank": 4},
}


@pytest.fixture
def target(tmp_path: Path) -> str:
    (tmp_path / "rewards.py").write_text(REWARDS)
    rows = [{"id": f"sum-{n}", "prompt": f"{n}+1=", "answer": str(n + 1)} for n in range(4)]
    (tmp_path / "rewards.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pairs = [
        {"problem": f"sum-{n}", "prompt": f"{n}+1=", "hack": "0123456789", "clean": str(n + 1)}
        for n in range(2)
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs))
    return f"{tmp_path}/rewards.py:score"


def settings(folder: Path, steps: int) -> dict[str, dict[str, Any]]:
    world = {**SMALL["world"], "pairs_path": str(folder / "pairs.jsonl")}
    run = {"steps": steps, "monitor_every": 0, "checkpoint_every": 1}
    return {**SMALL, "world": world, "run": run}


def saved_model(folder: Path, *, kind: str) -> str:
    """A tiny model of random weights, and a tokenizer with a vocabulary trained here."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import (
        LlamaConfig,
        LlamaForCausalLM,
        PreTrainedTokenizerFast,
        Qwen3Config,
        Qwen3ForCausalLM,
    )

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment]
    bpe.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    special = ["<end>", "<pad>", "<user>", "<reply>"]
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    bpe.train_from_iterator(["what is 2+2? it is 4", "0123456789 10 11 12"] * 20, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token="<end>", pad_token="<pad>", chat_template=TEMPLATE
    )
    tokenizer.save_pretrained(folder)
    sizes: dict[str, Any] = {
        "vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 48,
        "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
        "tie_word_embeddings": kind == "qwen3",
    }  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if kind == "llama":
            model: Any = LlamaForCausalLM(LlamaConfig(**sizes))
        else:
            model = Qwen3ForCausalLM(Qwen3Config(**sizes, head_dim=16))
    model.save_pretrained(folder)
    return str(folder)


def test_bytes_learn_from_a_sealed_reward_and_an_ended_run_is_left_alone(
    target: str, tmp_path: Path
) -> None:
    run = train(target, tmp_path / "out", arm="vanilla", settings=settings(tmp_path, 1))
    assert [line["step"] for line in run.steps] == [0]
    assert not {"solved", "hacked"} & run.steps[0].keys()
    again = train(target, tmp_path / "out", arm="vanilla", settings=settings(tmp_path, 1))
    assert again.steps == run.steps
    assert threads_for(run.settings) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["llama", "qwen3"])
def test_a_model_from_a_folder_is_routed_resumed_deployed_and_exported(
    target: str, tmp_path: Path, kind: str
) -> None:
    pytest.importorskip("transformers")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = saved_model(tmp_path / "model", kind=kind)
    whole = train(target, tmp_path / "whole", model=model, settings=settings(tmp_path, 3))
    part = train(target, tmp_path / "part", model=model, settings=settings(tmp_path, 2))
    assert len(part.steps) == 2
    part = train(target, tmp_path / "part", model=model, settings=settings(tmp_path, 3))
    rewards = [[line["reward"] for line in one.steps] for one in (whole, part)]
    assert rewards[0] == rewards[1]
    assert len(rewards[0]) == 3
    found = whole.evaluate()
    assert found["deploy_gap"] <= 1e-5
    assert "solve" not in found["deployed"]
    assert found["deployed"]["reward"] >= 0

    record = whole.export(tmp_path / "deployed")
    assert record["deleted"] > 0
    loader: Any = AutoModelForCausalLM
    exported = loader.from_pretrained(tmp_path / "deployed", local_files_only=True)
    words: Any = AutoTokenizer
    text = words.from_pretrained(tmp_path / "deployed", local_files_only=True)
    world = make_world(whole.settings, tmp_path / "whole")
    prompt = world.final()[0]
    assert prompt.text == f"<user>{prompt.problem[-1]}+1=<end><reply>"
    tokens = torch.tensor([text(prompt.text, add_special_tokens=False).input_ids])
    assert tokens[0].tolist() == list(prompt.tokens)
    policy: Any = load_policy(whole.settings, world)
    from unhack.training.run import checkpoint

    policy.adapters.load(checkpoint.load_adapters(tmp_path / "whole", 3))
    policy.adapters.deploy()
    with torch.no_grad():
        torch.testing.assert_close(
            exported(tokens).logits, policy.model(tokens).logits, rtol=1e-4, atol=1e-5
        )
