"""A model whose changes go to two blocks: one is kept, the quarantine is deleted in the end.

Covered: any torch model whose maps are linear (`unhack.training.adapters.linears`): Hugging Face
causal models, plain, wrapped by PEFT (whose own adapter stays as it is, frozen) or quantised.
Not covered: models that a data-parallel, FSDP or DeepSpeed wrapper holds; attach first, wrap never.

Axes: B rollouts.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from unhack.core.errors import UsageError
from unhack.routing.export import left_out_by_peft, write_lora
from unhack.training.adapters.attached import KINDS, AttachedAdapters
from unhack.training.adapters.attached import attach as attach_adapters
from unhack.training.adapters.linears import linear_maps, plain_name
from unhack.training.adapters.merged import merge_into, merged_state, merged_weights
from unhack.training.adapters.site import Switch
from unhack.training.config.settings import AdapterSettings
from unhack.training.routing.leak import claimed_B

_MAMBAS = ("falcon_h1", "falcon_mamba", "mamba", "mamba2", "nemotron_h")
"""Types of models of whose maps PEFT refuses some."""
_SAVE = "quarantine.save(folder) writes it with what was learnt, and so does this after merge()"


class Quarantine:
    """The two blocks of a model. Outside every context the quarantine is on.

    Example:

        quarantine = attach(model, rank=16)
        optimizer = torch.optim.AdamW(quarantine.parameters(), lr=1e-4)
        ...
        quarantine.deploy()  # only the kept block is left
    """

    def __init__(self, model: nn.Module, adapters: AttachedAdapters) -> None:
        self.model, self.adapters = model, adapters

    @property
    def device(self) -> torch.device:
        """Device of the blocks."""
        found = self.parameters() or list(self.model.parameters())
        return found[0].device

    def parameters(self) -> list[nn.Parameter]:
        """Everything that trains: both blocks, or the kept one where the quarantine is deleted."""
        return self.adapters.every_parameter()

    def knob(self, quarantine: bool | Tensor) -> AbstractContextManager[None]:
        """Within: forwards have the quarantine on, off, or per rollout (bool [B])."""
        return self.adapters.knob(quarantine)

    def base(self) -> AbstractContextManager[None]:
        """Within: forwards are those of the model before `attach`."""
        return self.adapters.off()

    @contextlib.contextmanager
    def sampling(self, knob_B: Tensor) -> Generator[None, None, None]:
        """Within: generation of a batch of B rollouts, each in its knob state.

        One state for all is merged into the weights; two halves run by folded weights; anything
        else by factors. Raises UsageError where another context has merged already.
        """
        states: list[bool] = cast(Any, knob_B.bool()).tolist()
        adapters, half = self.adapters, len(states) // 2
        halves = [states[0]] * half + [not states[0]] * half if states else []
        with contextlib.ExitStack() as stack:
            if len(set(states)) <= 1 and adapters.mergeable:
                stack.enter_context(adapters.merge(quarantine=bool(states and states[0])))
            elif states == halves and adapters.halvable:
                stack.enter_context(adapters.halves(quarantine_first=states[0]))
            else:
                stack.enter_context(adapters.knob(knob_B))
            yield

    @contextlib.contextmanager
    def rows(self, knob_B: Tensor) -> Generator[None, None, None]:
        """Within: each forward of the model takes the next rollouts of a batch of B, in order.

        A loop that scores a batch in pieces needs to know nothing of knob states.
        """
        done = 0

        def advance(_: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
            nonlocal done
            tokens = arguments[0] if arguments else named["input_ids"]
            now_B = knob_B[done : done + tokens.shape[0]]
            if now_B.shape[0] != tokens.shape[0]:
                raise UsageError(f"more rollouts are scored than the {len(knob_B)} with a state")
            done += tokens.shape[0]
            switch.enter_context(self.knob(now_B))

        with contextlib.ExitStack() as switch:
            handle = self.model.register_forward_pre_hook(advance, with_kwargs=True)
            switch.callback(handle.remove)
            yield

    @torch.no_grad()
    def claims(self, logprobs: Callable[[], Tensor], mask_B_T: Tensor) -> list[bool]:
        """Tell which of B rollouts, sampled with the quarantine off, it would have written too.

        `logprobs` scores them with the model as it stands: log-probabilities [B, T] of their
        completion tokens, of which `mask_B_T` (bool) says which count. It is called with the
        quarantine on and with it off. For the alarm: `leak.claimed_share`.
        """
        with self.knob(True):
            on_B_T = logprobs()
        with self.knob(False):
            off_B_T = logprobs()
        found: list[bool] = cast(Any, claimed_B(on_B_T, off_B_T, mask_B_T)).tolist()
        return found

    def deploy(self) -> None:
        """Delete the quarantine in place. The model then is, bit for bit, what it was with the
        quarantine off. Raises UsageError within another context.

        Its `save_pretrained` would write the base without what was learnt, and is refused from then
        on: `save` writes it, and so does `save_pretrained` after `merge`.
        """
        self.adapters.deploy()
        self._guard(_SAVE)

    def merge(self) -> None:
        """Delete the quarantine and put what is kept into the weights, in place: the model is a
        plain one again, as its library made it, and knows of no block.

        Logits are those of the deployed model but for rounding; a weight in bfloat16 loses a change
        below 2^-9 of it. Raises UsageError for weights that are quantised or tied, and within
        another context; the model then is as it was.
        """
        weights = merged_weights(self.adapters)  # raises before anything is deleted
        self.adapters.deploy()
        merge_into(_plain(self.model), self.adapters, weights)
        self.adapters = AttachedAdapters(self.adapters.kind, {}, Switch(knob=False))
        getattr(_plain(self.model), "__dict__").pop("save_pretrained", None)  # noqa: B009
        if _wrapped(self.model):  # it would write its own adapter, and leave the weights out
            self._guard("call merge_and_unload(), and save what that gives")

    def save(self, folder: str | Path) -> Path:
        """Write the model as it is deployed, for transformers' `from_pretrained`; its folder.

        Before `deploy` and after it; the model itself stays as it is, and no number of the
        quarantine is written. Raises UsageError for models that are not of transformers, that PEFT
        has wrapped, and whose weights are quantised or tied.
        """
        model = _plain(self.model)
        if _wrapped(model):
            raise UsageError("PEFT has wrapped this model: `to_peft` writes its LoRA and the block")
        kind: Any = model.__class__
        if not hasattr(kind, "save_pretrained"):
            raise UsageError(
                "only models of transformers have a folder: merge(), and save model.state_dict()"
            )
        if getattr(model, "hf_quantizer", None) is not None:
            raise UsageError("quantised weights take no block: `to_peft` writes a LoRA")
        state = merged_state(model, self.adapters)
        kind.save_pretrained(model, str(folder), state_dict=state)
        return Path(folder)

    def to_peft(self, folder: str | Path) -> Path:
        """Write the kept block as a LoRA that PEFT loads onto the base model; its folder.

        The adapter of a model that PEFT had wrapped is in it. Raises UsageError for one that is no
        plain LoRA. Warns where the PEFT that is installed would leave maps out.
        """
        written = write_lora(self.model, self.adapters, Path(folder))
        if left_out := left_out_by_peft(self.model, written):
            warnings.warn(
                f"PEFT {metadata.version('peft')} takes maps of this type of model for experts and "
                f"would load this folder without {len(left_out)} of them ({left_out[0]}, ...): "
                "leave them out of `targets`, or load `quarantine.state()`",
                stacklevel=2,
            )
        return written

    def state(self) -> dict[str, Tensor]:
        """Tensors that restore the blocks."""
        return self.adapters.state()

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Copy in place; a state without a quarantine deletes this one. Raises UsageError."""
        self.adapters.load(state)
        if not self.adapters.quarantined:
            self._guard(_SAVE)

    def _guard(self, advice: str) -> None:
        """From now on `save_pretrained` of the model raises."""
        model = _plain(self.model)
        if hasattr(model, "save_pretrained"):
            model.save_pretrained = functools.partial(_refuse_to_save, advice)


def attach(
    model: nn.Module,
    *,
    rank: int = 16,
    targets: Sequence[str] = (),
    kind: Literal["lora_frozen_b", "lora_split", "svd"] = "lora_frozen_b",
    seed: int = 0,
) -> Quarantine:
    """Put a kept and a quarantined block of `rank` into a model; everything else is frozen.

    Logits stay as they are, bit for bit. `targets` are names of linear maps (`q_proj`); without
    them all are taken but the output embedding, and `out_proj` of Mamba and its like, whose weight
    is read by kernels and which PEFT refuses. Raises UsageError where there is none, and for a
    model that has blocks.
    """
    if kind not in KINDS:
        raise UsageError(f"kind={kind!r}: it is one of {', '.join(KINDS)}")
    if not isinstance(cast(Any, rank), int) or rank < 1:
        raise UsageError(f"rank={rank!r}: it is a whole number from 1 on")
    targets = [targets] if isinstance(targets, str) else targets
    if not targets:
        head, found = output_embedding(model), linear_maps(model)
        heads = {id(item) for item in head.modules()} if isinstance(head, nn.Module) else set[int]()
        left = {plain_name(name) for name, item in found.items() if id(item) in heads}
        left = left or {"lm_head"}
        if getattr(getattr(model, "config", None), "model_type", None) in _MAMBAS:
            left |= {"out_proj"}
        targets = sorted({plain_name(name) for name in found} - left)
    settings = AdapterSettings(kind=kind, rank=rank, targets=tuple(targets))
    return Quarantine(model, attach_adapters(model, settings, seed=seed))


def _plain(model: nn.Module) -> Any:
    """The model inside torch.compile."""
    return getattr(model, "_orig_mod", model)


def _wrapped(model: nn.Module) -> bool:
    """True where PEFT has wrapped maps of the model."""
    return any(hasattr(item, "base_layer") for item in model.modules())


def _refuse_to_save(advice: str, *_: Any, **__: Any) -> None:
    raise UsageError(f"this would write the base model without what was learnt: {advice}")


def output_embedding(model: nn.Module) -> Any:
    """The map that gives logits; None where a model does not say which."""
    find = getattr(model, "get_output_embeddings", None)
    return None if find is None else find()
