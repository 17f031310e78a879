"""Tokens per second of a whole GRPO step on the CPU, beside TRL on the same model.

    python benchmarks/train_throughput.py [--steps 30] [--python PYTHON] [--rebuild]

Both train one tiny Qwen3 (hidden 64, two layers, 79k parameters, all of them trained) from the same
weights, on 8 prompts of 12 tokens with 8 completions of 32 tokens each, with the same advantages
(group, divided by the deviation), clipped loss, token mean, gradient clipping and fused AdamW. A
step is everything from prompts to updated weights: sample, reward, score, loss, backward, update.
One process, one thread; each TRL step is followed by one of ours, so both see the same noise, and
CPU time is what counts. The end token is suppressed on both sides: 2048 tokens per step. A third
line is our step with adapters (`lora_frozen_b`, both blocks) instead of all parameters.

TRL and torch live in an environment under `benchmarks/.train-venv/`, built on first use; `--python`
names an interpreter that has them already. Writes `results/train_throughput.json` with `--save`.
The exit code is 1 where the median ratio is below 1.5.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import save, show, spread

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"
VENV = HERE / ".train-venv" / "trl"
PINS = ("torch==2.13.0", "trl==1.16.0", "transformers==5.23.0", "pydantic>=2.7")
PROMPTS, GROUP, WIDTH, LENGTH = 8, 8, 12, 32
VOCABULARY, PAD, STOP = 80, 0, 1
GOAL = 1.5
WARM = 3
"""Steps at the start that are not counted."""
Step = Callable[[], None]


def build(*, rebuild: bool) -> Path:
    """The interpreter of an environment with TRL; torch first, so that its build is kept."""
    python = VENV / "bin" / "python"
    stamp = VENV / ".pins"
    if not rebuild and stamp.exists() and stamp.read_text().split("\n") == list(PINS):
        return python
    VENV.parent.mkdir(exist_ok=True)
    (VENV.parent / ".gitignore").write_text("*\n")
    venv.EnvBuilder(clear=True, symlinks=True, with_pip=True).create(VENV)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, PINS[0]], check=True)
    subprocess.run([*pip, *PINS], check=True)
    stamp.write_text("\n".join(PINS))
    return python


def texts() -> list[str]:
    """Prompts as words; each word is a token."""
    words = [[(7 * row + 11 * place) % 70 + 5 for place in range(WIDTH)] for row in range(PROMPTS)]
    return [" ".join(f"w{word}" for word in row) for row in words]


def reward(completions: list[list[int]]) -> list[float]:
    """Cheap, and not the same for all."""
    return [sum(token % 3 == 0 for token in row) / len(row) for row in completions]


def tokenizer() -> Any:
    """One word, one token."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {"<pad>": PAD, "<stop>": STOP} | {f"w{i}": i for i in range(2, VOCABULARY)}
    inner = Tokenizer(models.WordLevel(words, unk_token="<pad>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="<stop>", padding_side="left"
    )


def shape() -> Any:
    """The model of both sides."""
    from unhack.models.config import Config

    return Config(vocab=VOCABULARY, hidden=64, layers=2, heads=4, kv_heads=2, head_dim=16, ffn=128)


def ours(start: dict[str, Any], *, adapted: bool) -> Step:
    """Our step; the objects live in its closure."""
    import torch

    from unhack.models.qwen3 import Qwen3
    from unhack.training import objectives
    from unhack.training.adapters import attach
    from unhack.training.config.settings import AdapterSettings, ObjectiveSettings
    from unhack.training.policy.policy import TinyPolicy

    model = Qwen3(shape())
    model.load_state_dict(start)
    adapters: Any = attach(model, AdapterSettings(rank=8), seed=0) if adapted else Plain()
    policy = TinyPolicy(model, adapters, pad=PAD, stop=-1, device="cpu")
    trained = [item for item in model.parameters() if item.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=1e-6, weight_decay=0.0, fused=True)
    settings = ObjectiveSettings(advantage="grpo", aggregation="token_mean")
    generator = torch.Generator().manual_seed(0)
    prompts = [[int(word[1:]) for word in text.split()] for text in texts()]

    def step() -> None:
        rollouts = policy.sample(
            prompts, group=GROUP, max_new=LENGTH, temperature=1.0,
            generators={True: generator},
        )  # fmt: skip
        rewards_B = torch.tensor(reward(rollouts.tokens_B_T.tolist()))
        advantages_B, _ = objectives.advantages(rewards_B, group=GROUP, estimator="grpo")
        loss_B, _ = objectives.policy_loss(
            policy.score(rollouts), rollouts.logprobs_B_T, advantages_B,
            rollouts.mask_B_T, settings=settings, group=GROUP, max_new=LENGTH,
        )  # fmt: skip
        loss_B.sum().backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return step


class Plain:
    """No adapters: all parameters are trained, so no context changes anything."""

    def merge(self, *, quarantine: bool) -> Any:
        import contextlib

        return contextlib.nullcontext(quarantine)

    def knob(self, quarantine: Any) -> Any:
        import contextlib

        return contextlib.nullcontext(quarantine)


def trl_trainer(start: dict[str, Any], steps: int, callback: Any) -> Any:
    """TRL's trainer with what it needs on a CPU, and nothing that it could leave out."""
    from datasets import Dataset
    from transformers import Qwen3Config, Qwen3ForCausalLM
    from trl import GRPOConfig, GRPOTrainer

    fields = {
        k: v for k, v in shape().to_huggingface().items() if k not in ("architectures", "dtype")
    }
    model = Qwen3ForCausalLM(
        Qwen3Config(**fields, eos_token_id=STOP, pad_token_id=PAD, bos_token_id=None)
    )
    model.load_state_dict(start)
    arguments = GRPOConfig(
        output_dir=str(VENV.parent / "output"),
        per_device_train_batch_size=PROMPTS * GROUP,
        num_generations=GROUP,
        max_completion_length=LENGTH,
        max_steps=steps,
        learning_rate=1e-6,
        beta=0.0,
        bf16=False,
        activation_checkpointing=False,
        use_cpu=True,
        report_to="none",
        logging_steps=10**9,
        save_strategy="no",
        disable_tqdm=True,
        shuffle_dataset=False,
        generation_kwargs={"suppress_tokens": [STOP]},
        seed=0,
    )

    def rewarded(completion_ids: list[list[int]], **_: Any) -> list[float]:
        return reward(completion_ids)

    return GRPOTrainer(
        model=model,
        reward_funcs=rewarded,
        args=arguments,
        train_dataset=Dataset.from_list([{"prompt": text} for text in texts() * 4]),
        processing_class=tokenizer(),
        callbacks=[callback],
    )


def measured(steps: int) -> dict[str, list[tuple[float, float]]]:
    """CPU and wall seconds of every counted step, by name."""
    import torch
    from transformers import TrainerCallback

    from unhack.models.qwen3 import Qwen3

    torch.set_num_threads(1)
    torch.manual_seed(0)
    start = Qwen3(shape()).state_dict()
    sides = {"unhack": ours(start, adapted=False), "unhack_adapters": ours(start, adapted=True)}
    found: dict[str, list[tuple[float, float]]] = {"trl": []} | {name: [] for name in sides}

    class Interleave(TrainerCallback):
        """Ends TRL's step, makes ours, begins TRL's next: its data loading counts as its own."""

        clock = (0.0, 0.0)

        def on_train_begin(self, *_: Any, **__: Any) -> None:
            self.clock = _now()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            found["trl"].append(_since(self.clock))
            for name, step in sides.items():
                began = _now()
                step()
                found[name].append(_since(began))
            self.clock = _now()

    trainer = trl_trainer(start, WARM + steps, Interleave())
    trainer.train()
    return {name: values[WARM:] for name, values in found.items()}


def _now() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


def _since(clock: tuple[float, float]) -> tuple[float, float]:
    now = _now()
    return now[0] - clock[0], now[1] - clock[1]


def report(found: dict[str, list[tuple[float, float]]], *, load: float, keep: bool) -> int:
    """Print, and write the file if asked; 1 where the goal is missed."""
    import torch
    import transformers
    import trl

    tokens = PROMPTS * GROUP * LENGTH
    figures: dict[str, Any] = {
        "parameters": shape().parameters,
        "tokens_per_step": tokens,
        "counted_steps": len(found["trl"]),
        "threads": torch.get_num_threads(),
        "versions": {
            "torch": torch.__version__,
            "trl": trl.__version__,
            "transformers": transformers.__version__,
        },
        "load_at_start": round(load, 2),
        "load_at_end": round(os.getloadavg()[0], 2),
        "goal": GOAL,
    }
    for name, values in found.items():
        cpu = [1000 * item[0] for item in values]
        figures[name] = {
            "cpu_ms": spread(cpu),
            "wall_ms": spread([1000 * item[1] for item in values]),
            "tokens_per_cpu_second": round(tokens / statistics.median(cpu) * 1000),
        }
        print(show(f"{name}: CPU per step", cpu, unit="ms"))
    for name in ("unhack", "unhack_adapters"):
        pairs = zip(found["trl"], found[name], strict=True)
        ratios = [theirs[0] / own[0] for theirs, own in pairs]
        figures[f"trl_over_{name}"] = spread(ratios)
        print(show(f"TRL / {name}, paired steps", ratios, unit="x", digits=2))
    print(f"load at start and end: {figures['load_at_start']}, {figures['load_at_end']}")
    if keep:
        save("train_throughput", "python benchmarks/train_throughput.py --save", figures)
    return int(figures["trl_over_unhack"]["median"] < GOAL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--python", type=Path, help="an interpreter that has TRL")
    parser.add_argument("--rebuild", action="store_true")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside:
        load = os.getloadavg()[0]
        return report(measured(chosen.steps), load=load, keep=chosen.save)
    python = chosen.python or build(rebuild=chosen.rebuild)
    command = [str(python), __file__, "--inside", "--steps", str(chosen.steps)]
    environment = {
        **os.environ,
        "PYTHONPATH": f"{SOURCE}{os.pathsep}{HERE}",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    extra = ["--save"] if chosen.save else []
    return subprocess.run([*command, *extra], env=environment, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
