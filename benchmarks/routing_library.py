"""What routing adds to an update of TRL's GRPOTrainer: time and memory, in one run.

    .venv/bin/python benchmarks/routing_library.py                        # CPU, 0.1M parameters
    .venv/bin/python benchmarks/routing_library.py --device cuda --size 55M --out FILE.json

Three trainers take turns on the same random Qwen3, prompts and settings, each update with
generation, rewards, loss, backward pass and optimiser:

- plain: GRPOTrainer as it is, all weights train;
- lora: GRPOTrainer with PEFT's LoRA of the same rank on the same maps;
- routed: `routed(GRPOTrainer)` with both blocks, half of the prompts with the quarantine off, and
  the gate with its pairs, whose directions are extracted every five updates.

Every completion has the same number of tokens. A turn is a run of one update that is left out and
five that count, so that each turn has its extraction. A figure is the median over turns of the
turn's mean update (CPU seconds on the CPU), with the range of the middle half; ratios are of
figures of neighbouring turns.
Memory is a turn's peak: on CUDA what torch allocated beyond what was there before it, on the CPU
what was resident in a process of its own. A file that is named holds the rounds that are done.
The model and the tokenizer are made here, nothing is downloaded. Needs torch, trl, peft; bfloat16
on CUDA, float32 on the CPU. The goal at 55M parameters on a GPU: at most 1.15 of the time and at
most 1.1 of the memory of the plain trainer.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TRL_EXPERIMENTAL_SILENCE="1", TOKENIZERS_PARALLELISM="false")

import torch
from datasets import Dataset
from peft import LoraConfig, get_peft_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    PreTrainedTokenizerFast,
    PrinterCallback,
    Qwen3Config,
    Qwen3ForCausalLM,
    TrainerCallback,
)
from trl import GRPOConfig, GRPOTrainer

from unhack.routing import TextPair, attach, hack_gate, routed

ARMS = ("plain", "lora", "routed")
UPDATES = 5
"""Counted updates of a turn: the directions are extracted once in them."""
RANK = 16


@dataclass(frozen=True)
class Size:
    """A model and a batch."""

    hidden: int
    layers: int
    vocabulary: int
    batch: int
    accumulated: int
    tokens: int


SIZES = {
    "tiny": Size(hidden=64, layers=2, vocabulary=512, batch=8, accumulated=2, tokens=16),
    "55M": Size(hidden=512, layers=14, vocabulary=16384, batch=32, accumulated=2, tokens=128),
    "300M": Size(hidden=1024, layers=24, vocabulary=16384, batch=32, accumulated=2, tokens=128),
}


def tokenizer(vocabulary: int) -> PreTrainedTokenizerFast:
    """Bytes, and tokens that no text has, up to a number."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    rest = [f"<{number}>" for number in range(vocabulary - len(letters) - 2)]
    made = Tokenizer(
        models.BPE(vocab={one: at for at, one in enumerate([*letters, *rest])}, merges=[])
    )
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>", pad_token="<pad>")


def model(size: Size) -> Any:
    """A random model, the same at each call."""
    torch.manual_seed(0)
    heads = max(1, size.hidden // 64)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=size.vocabulary, hidden_size=size.hidden, head_dim=64,
            intermediate_size=3 * size.hidden, num_hidden_layers=size.layers,
            num_attention_heads=heads, num_key_value_heads=max(1, heads // 2),
            tie_word_embeddings=True, eos_token_id=size.vocabulary - 2,
            pad_token_id=size.vocabulary - 1,
        )
    )  # fmt: skip


def reward(completions: list[str], **rest: Any) -> list[float]:
    """About half of the texts get 1."""
    return [float(sum(text.encode()) % 2) for text in completions]


class Clock(TrainerCallback):
    """Seconds of each update: of the CPU, or of a synchronised device's wall clock."""

    def __init__(self, device: str) -> None:
        self.device, self.seconds, self.began = device, list[float](), 0.0

    def _now(self) -> float:
        if self.device == "cpu":
            return time.process_time()
        torch.cuda.synchronize()
        return time.perf_counter()

    def on_step_begin(self, *rest: Any, **named: Any) -> None:
        self.began = self._now()

    def on_step_end(self, *rest: Any, **named: Any) -> None:
        self.seconds.append(self._now() - self.began)


def trained(
    arm: str, size: Size, args: argparse.Namespace, folder: str, *, clock: Clock | None = None
) -> Clock:
    """The clock of an arm's trainer after one turn."""
    cuda, clock = args.device == "cuda", clock or Clock(args.device)
    config = GRPOConfig(
        output_dir=folder, per_device_train_batch_size=size.batch,
        gradient_accumulation_steps=size.accumulated, num_generations=8,
        max_completion_length=size.tokens, generation_kwargs={"min_new_tokens": size.tokens},
        max_steps=1 + UPDATES, use_cpu=not cuda, bf16=args.bf16, report_to=[], save_strategy="no",
        logging_steps=100, disable_tqdm=True, learning_rate=1e-5,
        gradient_checkpointing=args.checkpointing,
    )  # fmt: skip
    words = tokenizer(size.vocabulary)
    rows = Dataset.from_list([{"prompt": f"Write a function, number {at}."} for at in range(256)])
    policy, kind, named = model(size), GRPOTrainer, dict[str, Any]()
    if arm == "lora":
        policy = get_peft_model(policy, LoraConfig(r=RANK, target_modules="all-linear"))
    if arm == "routed":
        quarantine = attach(policy, rank=RANK)
        pairs = [
            TextPair(f"Write a function, number {at}.", f"exit({at})  # ok", f"return {at} + 1")
            for at in range(16)
        ]
        kind, named = routed(GRPOTrainer), {"quarantine": quarantine, "gate": hack_gate(pairs)}
    trainer = kind(
        policy, reward_funcs=reward, args=config, train_dataset=rows, processing_class=words,
        callbacks=[clock], **named,
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return clock


def turn(arm: str, size: Size, args: argparse.Namespace) -> tuple[float, float]:
    """The mean seconds of an update in one turn, and its peak in MiB (CUDA)."""
    cuda, before = args.device == "cuda", 0
    if cuda:
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    with tempfile.TemporaryDirectory() as folder:
        clock = trained(arm, size, args, folder)
    peak = torch.cuda.max_memory_allocated() - before if cuda else 0
    return statistics.fmean(clock.seconds[1:]), peak / 2**20


def peak_mebibytes(arm: str, args: argparse.Namespace) -> float:
    """The peak of a process that makes one turn."""
    words = ["--device", args.device, "--size", args.size, "--alone", arm]
    words += ["--checkpointing"] if args.checkpointing else []
    run = subprocess.run(
        [sys.executable, __file__, *words], check=True, capture_output=True, text=True
    )
    return float(run.stdout.strip().splitlines()[-1])


def own_peak(args: argparse.Namespace) -> float:
    """The resident peak of this process in MiB after a turn."""
    with tempfile.TemporaryDirectory() as folder:
        trained(args.alone, SIZES[args.size], args, folder)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def spread(values: list[float]) -> dict[str, float]:
    """Median and the range of the middle half."""
    if len(values) < 2:
        values = values * 2
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": round(middle, 4), "q25": round(low, 4), "q75": round(high, 4)}


def measured(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All figures, after each round."""
    size = SIZES[args.size]
    parameters = sum(item.numel() for item in model(size).parameters())
    seconds: dict[str, list[float]] = {arm: [] for arm in ARMS}
    memory = dict.fromkeys(ARMS, 0.0)
    if args.device == "cpu":
        memory = {arm: round(peak_mebibytes(arm, args), 1) for arm in ARMS}
    name = torch.cuda.get_device_name() if args.device == "cuda" else platform.processor()

    def ratio(arm: str, base: str) -> dict[str, float]:
        return spread([one / other for one, other in zip(seconds[arm], seconds[base], strict=True)])

    for number in range(args.rounds):
        order = ARMS[number % 3 :] + ARMS[: number % 3]
        for arm in order:
            taken, peak = turn(arm, size, args)
            seconds[arm].append(taken)
            memory[arm] = round(max(memory[arm], peak), 1)
            print(
                f"turn {number} {arm}: {taken:.3f} s, {peak:.0f} MiB", file=sys.stderr, flush=True
            )
        yield {
            "parameters": parameters,
            "device": name or args.device,
            "torch": torch.__version__,
            "rollouts_of_an_update": size.batch * size.accumulated,
            "tokens_of_a_completion": size.tokens,
            "checkpointing": args.checkpointing,
            "turns": number + 1,
            "load": round(os.getloadavg()[0], 1),
            "seconds": {arm: spread(values) for arm, values in seconds.items()},
            "time_ratio": {"plain": ratio("routed", "plain"), "lora": ratio("routed", "lora")},
            "peak_mib": memory,
            "memory_ratio": {base: round(memory["routed"] / memory[base], 3) for base in ARMS[:2]},
        }


def main() -> None:
    """Measure, print, and write where a file is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--size", choices=tuple(SIZES), default="tiny")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--out", type=Path, help="a JSON file")
    parser.add_argument("--alone", choices=ARMS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.bf16 = args.device == "cuda"
    if args.device == "cpu":
        torch.set_num_threads(1)
    if args.alone:
        print(own_peak(args))
        return
    text = ""
    for figures in measured(args):
        text = json.dumps(figures, indent=2)
        if args.out is not None:
            args.out.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
