"""A stand-in for TRL's client of a vLLM server: it keeps what it is sent, and answers alike."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor
from trl.generation.vllm_generation import VLLMGeneration


@dataclass
class Answer:
    """Of a server."""

    status_code: int = 200
    text: str = ""


class StandInClient:
    """Answers every prompt with one token: 65 after the first load of weights, 66 after that.

    It is its own HTTP session: LoRAs that it is told to load are copied. `lora` is the status that
    it answers to such requests.
    """

    base_url = "http://server"

    def __init__(self, base: Any, *, copies: Path | None = None, lora: int = 200) -> None:
        self.base, self.copies, self.lora = base, copies, lora
        self.model, self.session = "base", self
        self.serving: list[str] = []
        self.told: list[str] = []
        self.names: list[str] = []
        self.loaded: list[dict[str, Tensor]] = []
        self.asked: list[Any] = []

    def update_named_params(
        self, metadata: list[tuple[str, str, list[int]]], named: Iterator[tuple[str, Tensor]]
    ) -> None:
        """Keep copies: the sender's tensors change afterwards."""
        found = {name: tensor.clone() for name, tensor in named}
        assert [name for name, _, _ in metadata] == list(found)
        self.names = list(found)
        self.loaded.append(found)

    def reset_prefix_cache(self) -> None:
        """Nothing is cached."""

    def post(self, url: str, json: dict[str, str]) -> Answer:
        """Load or unload a LoRA."""
        self.told.append(url.removeprefix(self.base_url))
        if self.lora == 200 and url.endswith("/load_lora_adapter"):
            assert self.copies is not None
            shutil.copytree(json["lora_path"], self.copies / json["lora_name"])
            self.loaded.append({})
        return Answer(self.lora, "no")

    def generate(self, prompts: Any, n: int, **rest: Any) -> dict[str, Any]:
        """One token for each of `n` completions."""
        self.asked.append(prompts)
        self.serving.append(self.model)
        token = 64 + len(self.loaded)
        count = len(prompts) * n
        return {
            "prompt_ids": prompts,
            "completion_ids": [[token]] * count,
            "logprobs": [[[-1.0]]] * count,
        }


def generation(trainer: Any, client: StandInClient) -> Any:
    """TRL's object between trainer and server, without what its start asks a server for."""
    made: Any = VLLMGeneration.__new__(VLLMGeneration)
    made.__dict__.update(
        model=trainer.model, accelerator=trainer.accelerator, mode="server",
        vllm_client=client, _dist=trainer._dist, _weight_metadata=None,
        enable_sleep_mode=False, tensor_parallel_size=1, temperature=1.0, top_p=1.0, top_k=0,
        min_p=None, repetition_penalty=1.0, max_completion_length=6, logprobs=0,
        structured_outputs_regex=None, generation_kwargs={},
        processing_class=trainer.processing_class,
    )  # fmt: skip
    return made
