"""Knob states while vLLM generates for a TRL trainer: merged weights, once for each state.

Before the prompts of a state are sampled, its weights go to vLLM by TRL's own way of keeping it in
step with the model; what is pushed are the merged weights, under the names of the base model.

Covered: vLLM as a server, and in the same process on one device. Not covered: tensor parallelism
in the same process, quantised weights; both are refused. Nothing here has run with vLLM itself:
tests put a stand-in at TRL's client.

Axes: B rollouts of this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from torch import Tensor

from unhack.core.errors import UsageError

_OURS = (".deployed.", ".quarantine.")


def generate(
    trainer: Any, single_turn: Callable[..., Any], prompt_ids: Any, knob_B: Tensor, call: Any
) -> Any:
    """Completions and log-probabilities of all prompts, each state sampled by its own weights.

    `call`: what TRL gave beside the prompts. Raises UsageError for what is not covered.
    """
    generation, states_here = trainer.vllm_generation, cast(Any, knob_B).tolist()
    _refuse(trainer, generation)
    rest, named = call
    beside: list[Any] = [*rest[:2], *named.values()]
    if any(len(cast(Any, item)) for item in beside if isinstance(item, (list, dict))):
        raise UsageError("prompts with pictures: routing knows text alone while vLLM generates")
    named_params = generation._iter_named_params
    generation._iter_named_params = lambda: without_blocks(named_params())
    shared = generation.mode == "server"
    every = _all(trainer, list(prompt_ids), shared=shared)
    states = _all(trainer, [bool(state) for state in states_here], shared=shared)
    found: list[Any] = [None] * len(every)
    try:
        for state in sorted(set(states)):
            rows = [row for row, its in enumerate(states) if its == state]
            with trainer.quarantine.adapters.merge(quarantine=state):
                trainer._last_loaded_step = -1  # the weights of the other state are there
                own = _share(trainer, [every[row] for row in rows], shared=shared)
                texts, logprobs = single_turn(own, *rest, **named)
            scored = [None] * len(texts) if logprobs is None else logprobs
            done = _all(trainer, list(zip(texts, scored, strict=True)), shared=shared)
            for row, answer in zip(rows, done, strict=True):
                found[row] = answer
    finally:
        generation._iter_named_params = named_params
        trainer._last_loaded_step = -1
    first = trainer.accelerator.process_index * len(knob_B) if shared else 0
    mine = found[first : first + len(knob_B)]
    logprobs = [scores for _, scores in mine]
    return [tokens for tokens, _ in mine], None if None in logprobs else logprobs


def without_blocks(named: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Weights under the names of the base model: blocks are merged, vLLM does not know them."""
    for name, tensor in named:
        if not any(part in name for part in _OURS):
            yield name, tensor


def _refuse(trainer: Any, generation: Any) -> None:
    if not trainer.quarantine.adapters.mergeable:
        raise UsageError("a quantised weight takes no merged adapter: generate without vLLM")
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
