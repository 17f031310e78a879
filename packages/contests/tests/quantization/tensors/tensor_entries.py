"""What the tests of `runtime=torch` share: a small contest, entries, tiny models."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from unhack.tournament.contest import Files, Terms
from unhack.tournament.judging.judge import Known, Seeds, SubmissionJudgement, judge
from unhack_contests.quantization.tensors.contest import TensorQuantization, load

SMALL = {"windows": "16", "length": "64", "compress_s": "60"}


@functools.cache
def small() -> TensorQuantization:
    """One contest for all tests: it keeps what the stages gave."""
    return load(SMALL)


def judged(
    files: Files, top: Path, contest: TensorQuantization | None = None
) -> SubmissionJudgement:
    """The whole judgement: scan, both draws, bounds."""
    for name, content in files.items():
        (top / name).write_bytes(content)
    found = contest or small()
    return judge(found, top, seeds=Seeds(5, 6), terms=Terms(1), known=Known())


@functools.cache
def unusual() -> dict[str, Files]:
    """Name -> honest program of an unusual kind."""
    page = Path(__file__).with_name("unusual.txt").read_text()
    parts = dict(part.split("\n", 1) for part in page.split("#### ")[1:])
    frame = parts.pop("frame")
    kept = frame + "\nplain_compress = compress\n"
    return {name: {"solution.py": (kept + body).encode()} for name, body in parts.items()}


def tiny_model(kind: str, folder: Path, **changes: Any) -> Path:
    """A random-initialised model as a Hugging Face folder: `llama` or `gpt2`."""
    import torch
    import transformers

    torch.manual_seed(3)
    if kind == "llama":
        sizes: dict[str, Any] = {
            "vocab_size": 256, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 256,
        }  # fmt: skip
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**(sizes | changes)))
    else:
        sizes = {"vocab_size": 256, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 256}
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**(sizes | changes)))
    model.save_pretrained(str(folder))
    return folder


def trained_a_little(folder: Path, text: bytes, *, steps: int = 60) -> Path:
    """The model of a folder after some steps on a text, so that it knows more than nothing."""
    import torch
    import transformers

    torch.set_num_threads(1)
    model = transformers.AutoModelForCausalLM.from_pretrained(str(folder)).train()
    tokens = torch.tensor(list(text[: 64 * 512])).reshape(-1, 64)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(steps):
        rows = tokens[step * 16 % 496 :][:16]
        loss = model(input_ids=rows, labels=rows).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.half().save_pretrained(str(folder))
    return folder
