"""A stand-in for TRL's client of a vLLM server: it keeps what it is sent, and answers alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor
from trl.generation.vllm_generation import VLLMGeneration


class StandInClient:
    """Answers every prompt with one token: 65 after the first load of weights, 66 after that."""

    def __init__(self, base: Any) -> None:
        self.base = base
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

    def generate(self, prompts: Any, n: int, **rest: Any) -> dict[str, Any]:
        """One token for each of `n` completions."""
        self.asked.append(prompts)
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
