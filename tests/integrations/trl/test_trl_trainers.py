"""TRL's own trainers take our reward function and callback as they are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from unhack.integrations.trl import reward_function, watch

from .trl_tasks import equals, mentions, task

pytest.importorskip("trl")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random Qwen3 with a byte tokenizer."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("model")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={one: at for at, one in enumerate(letters)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|end|>", pad_token="<|pad|>")
    fast.save_pretrained(folder)
    config = Qwen3Config(
        vocab_size=len(fast), hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, head_dim=8, max_position_embeddings=128,
        eos_token_id=fast.eos_token_id, pad_token_id=fast.pad_token_id, tie_word_embeddings=True,
    )  # fmt: skip
    torch.manual_seed(0)
    Qwen3ForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("kind", ["GRPO", "RLOO"])
def test_two_steps_of_a_trainer_log_what_the_monitor_saw(
    kind: str, model: Path, tmp_path: Path
) -> None:
    import trl
    from datasets import Dataset

    tasks = {name: task(mentions, name, name=name) for name in "ae"}
    strict = {name: task(equals, name, name=name) for name in "ae"}
    rewards = reward_function(tasks, column="task", oracle=strict)
    rows = [{"prompt": f"Say {name}.", "task": name} for name in "aeae"]
    config: Any = getattr(trl, f"{kind}Config")(
        output_dir=str(tmp_path), max_steps=2, per_device_train_batch_size=8, num_generations=4,
        max_completion_length=24, logging_steps=1, report_to=[], save_strategy="no",
        use_cpu=True, seed=1, disable_tqdm=True,
    )  # fmt: skip
    trainer: Any = getattr(trl, f"{kind}Trainer")(
        model=str(model), reward_funcs=rewards, args=config, train_dataset=Dataset.from_list(rows),
        callbacks=[watch(rewards.monitor)],
    )  # fmt: skip
    trainer.train()
    logs = [one for one in trainer.state.log_history if "reward" in one]
    assert len(logs) == len(rewards.monitor.seen) == 2
    for one, seen in zip(logs, rewards.monitor.seen, strict=True):
        assert one["reward"] == pytest.approx(seen.reward)
        assert one["rewards/unhack/mean"] == pytest.approx(seen.reward)
        assert one["unhack/hacked"] == pytest.approx(seen.hacked)
        assert one["unhack/zero_variance_share"] == pytest.approx(seen.zero_variance_share)
        assert one["unhack/alarms"] == 0.0
    assert "unhack.integrations.trl" in sys.modules
