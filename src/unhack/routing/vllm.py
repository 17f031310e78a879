"""Knob states while vLLM generates for a TRL trainer, the prompts of one state after the other.

Merged weights: before the prompts of a state are sampled, its weights go to vLLM by TRL's own way
of keeping it in step with the model; what is pushed are the merged weights, under the names of the
base model. LoRA: the blocks of a state are written as a LoRA into a folder that the server sees,
the server loads it and answers in its name; the frozen weights are never pushed.

Covered: vLLM as a server by both ways, in the same process on one device by merged weights. Not
covered: LoRA in the same process (TRL 1.16 makes that vLLM without LoRA and asks it without a LoRA
request), tensor parallelism and sleep mode there, merging into quantised weights; all refused.
Nothing here has run with vLLM itself: tests put a fake at TRL's client.

Axes: B rollouts of this process.
"""

from __future__ import annotations

import contextlib
import shutil
import uuid
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, cast

from torch import Tensor

from unhack.core.errors import UsageError
from unhack.routing.export import write_lora

_OURS = (".deployed.", ".quarantine.")


def generate(
    trainer: Any, single_turn: Callable[..., Any], prompt_ids: Any, knob_B: Tensor, call: Any
) -> Any:
    """Completions and log-probabilities of all prompts, each state sampled by its own weights.

    `call`: what TRL gave beside the prompts. Raises UsageError for what is not covered.
    """
    generation, states_here = trainer.vllm_generation, cast(Any, knob_B).tolist()
    check(trainer, generation)
    rest, named = call
    beside: list[Any] = [*rest[:2], *named.values()]
    if any(len(cast(Any, item)) for item in beside if isinstance(item, (list, dict))):
        raise UsageError("prompts with pictures: routing knows text alone while vLLM generates")
    shared = generation.mode == "server"
    every = _all(trainer, list(prompt_ids), shared=shared)
    states = _all(trainer, [bool(state) for state in states_here], shared=shared)
    found: list[Any] = [None] * len(every)
    for state in sorted(set(states)):
        rows = [row for row, its in enumerate(states) if its == state]
        own = _share(trainer, [every[row] for row in rows], shared=shared)
        with _merged(trainer, state) if trainer.vllm_loras is None else _served(trainer, state):
            texts, logprobs = single_turn(own, *rest, **named)
        scored = [None] * len(texts) if logprobs is None else logprobs
        done = _all(trainer, list(zip(texts, scored, strict=True)), shared=shared)
        for row, answer in zip(rows, done, strict=True):
            found[row] = answer
    first = trainer.accelerator.process_index * len(knob_B) if shared else 0
    mine = found[first : first + len(knob_B)]
    logprobs = [scores for _, scores in mine]
    return [tokens for tokens, _ in mine], None if None in logprobs else logprobs


def without_blocks(named: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Weights under the names of the base model: blocks are merged, vLLM does not know them."""
    for name, tensor in named:
        if not any(part in name for part in _OURS):
            yield name, tensor


@contextlib.contextmanager
def _merged(trainer: Any, state: bool) -> Generator[None, None, None]:
    """Within: TRL pushes the merged weights of a state, and does so first of all."""
    generation = trainer.vllm_generation
    named_params = generation._iter_named_params
    generation._iter_named_params = lambda: without_blocks(named_params())
    trainer._last_loaded_step = -1  # the weights of the other state are there
    try:
        with trainer.quarantine.adapters.merge(quarantine=state):
            yield
    finally:
        generation._iter_named_params = named_params
        trainer._last_loaded_step = -1


@contextlib.contextmanager
def _served(trainer: Any, state: bool) -> Generator[None, None, None]:
    """Within: the server answers by the LoRA of a state. Raises UsageError where it loads none."""
    trainer._last_loaded_step = trainer.state.global_step  # the weights are frozen
    if not trainer.accelerator.is_main_process:  # it alone talks to the server
        yield
        return
    client, quarantine = trainer.vllm_generation.vllm_client, trainer.quarantine
    name = f"unhack-{'on' if state else 'off'}-{uuid.uuid4().hex[:12]}"
    folder, base = Path(trainer.vllm_loras, name).absolute(), client.model
    write_lora(quarantine.model, quarantine.adapters, folder, quarantine=state)
    try:
        _ask(client, "load_lora_adapter", {"lora_name": name, "lora_path": str(folder)})
        client.model = name
        yield
        _ask(client, "unload_lora_adapter", {"lora_name": name})
    finally:
        client.model = base
        shutil.rmtree(folder, ignore_errors=True)


def _ask(client: Any, what: str, body: dict[str, str]) -> None:
    """One request about LoRAs. Raises UsageError for any answer but yes."""
    answer = client.session.post(f"{client.base_url}/v1/{what}", json=body)
    if answer.status_code == 404:
        raise UsageError(
            f"the vLLM server has no {what}: start it with VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 and "
            "--enable-lora, or leave vllm_loras out"
        )
    if answer.status_code != 200:
        raise UsageError(
            f"the vLLM server refused to {what.replace('_', ' ')} {body}: {answer.text[:500]}; it "
            "has to see that folder, and --max-lora-rank has to reach the ranks of both blocks"
        )


def check(trainer: Any, generation: Any) -> None:
    """Raises UsageError for ways to generate that have no knob state."""
    if trainer.vllm_loras is not None:
        if generation.mode != "server":
            raise UsageError(
                "vllm_loras: TRL makes the vLLM of its own process without LoRA; use "
                "vllm_mode='server', or leave vllm_loras out, and merged weights are pushed"
            )
        return
    if not trainer.quarantine.adapters.mergeable:
        raise UsageError(
            "a weight that is quantised or tied takes no merged adapter: generate without vLLM, or "
            "by vllm_loras"
        )
    parallel = getattr(generation, "tensor_parallel_size", 1) or 1
    if generation.mode == "colocate" and parallel > 1:
        raise UsageError("vllm_tensor_parallel_size > 1 in the same process: use the server mode")
    if getattr(generation, "enable_sleep_mode", False):
        raise UsageError("a sleeping vLLM forgets the weights of a state: turn the sleep mode off")


def _all(trainer: Any, items: list[Any], *, shared: bool) -> list[Any]:
    """The items of all processes where they share a server, else the own."""
    if not shared or trainer.accelerator.num_processes == 1:
        return items
    from accelerate import utils  # it is there wherever TRL is  # pyright: ignore

    gather: Any = cast(Any, utils).gather_object
    return list(gather(items))


def _share(trainer: Any, items: list[Any], *, shared: bool) -> list[Any]:
    """This process's part of what goes to a shared server. Raises UsageError for uneven parts."""
    count = trainer.accelerator.num_processes
    if not shared or count == 1:
        return items
    if len(items) % count:
        raise UsageError(
            f"{len(items)} rollouts of one knob state over {count} processes: choose batch sizes "
            "and off_share that divide evenly"
        )
    size = len(items) // count
    first = trainer.accelerator.process_index * size
    return items[first : first + size]
