"""A Hugging Face causal language model as a decoder: loading, the trunk's output, a cached step.

The library's `generate` draws from the global generator and scores nothing, so the loop is
`models.sampling.completions`, over the library's own cache of keys and values.

Covered: models whose `base_model` takes `attention_mask`, `position_ids` and `past_key_values` and
whose logits are a linear map of its output (Qwen3, Llama and their relatives), float32, bfloat16,
transformers 5. Not covered, and refused: soft-capped or scaled logits (Gemma 2, Cohere, Granite),
recurrent states (Mamba). Not covered: encoder-decoders, remote code, downloads.

Axes: N prompts, B rows, P prompt tokens, S positions, D hidden, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Generator, Tensor

from unhack.core.errors import UsageError
from unhack.core.optional_dependencies import require
from unhack.models.sampling import Sampled, SamplingPlan, completions, fused, multiply


def load(folder: Path, *, dtype: torch.dtype) -> Any:
    """A causal language model from a local folder. Raises UsageError where there is none."""
    require("train", "transformers", purpose="a Hugging Face model")
    from transformers import AutoModelForCausalLM

    if not (folder / "config.json").exists():
        raise UsageError(
            f"{folder}: no config.json; model.path is a folder that save_pretrained made"
        )
    made: Any = AutoModelForCausalLM
    try:
        model = made.from_pretrained(folder, local_files_only=True, dtype=dtype)
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder}: {error}") from error
    model.requires_grad_(False)
    return model.eval()


@torch.no_grad()
def check(model: Any) -> None:
    """Raises UsageError for a model whose logits are not its output times a matrix, or that keeps
    no cache of keys and values: it would be sampled and scored as another model than it is."""
    name, last = type(model).__name__, head(model)
    tokens_B_S = torch.arange(4, device=last.weight.device).view(1, 4) % last.weight.shape[0]
    found = model.base_model(input_ids=tokens_B_S, use_cache=True)
    if not hasattr(getattr(found, "past_key_values", None), "batch_repeat_interleave"):
        raise UsageError(
            f"{name} keeps no cache of keys and values, by which `unhack train` samples; route a "
            "loop of your own (unhack.routing)"
        )
    wanted = model(input_ids=tokens_B_S, use_cache=False).logits.float()
    logits = multiply(found.last_hidden_state.flatten(0, 1).float(), fused(last).float())
    logits = (logits if last.bias is None else logits + last.bias.float()).view(wanted.shape)
    capped = getattr(model.config, "final_logit_softcapping", None)  # small logits do not show it
    if capped or not torch.allclose(
        logits, wanted, rtol=2e-2, atol=2e-2 * float(wanted.abs().max())
    ):
        raise UsageError(
            f"{name} scales or caps its logits, which `unhack train` would leave out; route a loop "
            "of your own (unhack.routing)"
        )


def head(model: Any) -> Any:
    """The output embedding. Raises UsageError where the model has none."""
    found = model.get_output_embeddings()
    if found is None:
        raise UsageError(f"{type(model).__name__} has no output embedding: not a causal model")
    return found


def positions(mask_B_S: Tensor) -> Tensor:
    """Place of each token among its row's tokens, int64 [B, S]; 0 at padding on the left."""
    return (mask_B_S.long().cumsum(1) - 1).clamp(min=0)


def hidden(model: Any, tokens_B_S: Tensor, *, mask_B_S: Tensor) -> Tensor:
    """The trunk's output [B, S, D]."""
    return model.base_model(
        input_ids=tokens_B_S,
        attention_mask=mask_B_S.long(),
        position_ids=positions(mask_B_S),
        use_cache=False,
    ).last_hidden_state


def sample(
    model: Any,
    prompt_N_P: Tensor,
    *,
    mask_N_P: Tensor,
    plan: SamplingPlan,
    generators: Sequence[Generator],
) -> Sampled:
    """As `models.sampling.sample`, for a model of the library."""
    with torch.no_grad():
        run = _Run(model, prompt_N_P, mask_N_P, plan)
        return completions(run, plan, generators=generators)


class _Run:
    """The library's cache of one batch. Prompts are read once each, then repeated."""

    def __init__(
        self, model: Any, prompt_N_P: Tensor, mask_N_P: Tensor, plan: SamplingPlan
    ) -> None:
        self.model = model
        last = head(model)
        # In float32 as in scoring; widened once, since the matrix is large.
        self.weight = fused(last).float()
        self.bias = None if last.bias is None else last.bias.float()
        found = model.base_model(
            input_ids=prompt_N_P,
            attention_mask=mask_N_P.long(),
            position_ids=positions(mask_N_P),
            use_cache=True,
        )
        self.cache: Any = found.past_key_values
        self.cache.batch_repeat_interleave(plan.group)
        self.mask_B_S = mask_N_P.repeat_interleave(plan.group, dim=0)
        self.next_B = self.mask_B_S.long().sum(1)
        self.first = self._logits(found.last_hidden_state[:, -1]).repeat_interleave(
            plan.group, dim=0
        )

    def _logits(self, hidden_B_D: Tensor) -> Tensor:
        logits_B_V = multiply(hidden_B_D.float(), self.weight)
        return logits_B_V if self.bias is None else logits_B_V + self.bias

    def step(self, tokens_B: Tensor) -> Tensor:
        """See `Decoder.step`."""
        one_B = torch.ones_like(self.mask_B_S[:, :1])
        self.mask_B_S = torch.cat([self.mask_B_S, one_B], dim=1)
        found = self.model.base_model(
            input_ids=tokens_B[:, None],
            attention_mask=self.mask_B_S.long(),
            position_ids=self.next_B[:, None],
            past_key_values=self.cache,
            use_cache=True,
        )
        self.next_B = self.next_B + 1
        return self._logits(found.last_hidden_state[:, -1])

    def narrow(self, keep_B: Tensor) -> None:
        """See `Decoder.narrow`."""
        self.cache.batch_select_indices(keep_B)
        self.mask_B_S, self.next_B = self.mask_B_S[keep_B], self.next_B[keep_B]
