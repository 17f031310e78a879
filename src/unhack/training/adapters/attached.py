"""All adapted modules of a model.

Covered: our Qwen3 and any torch model whose target maps are linear (`linears`), Hugging Face causal
models among them, plain, wrapped by PEFT or quantised; any floating dtype of the base (parameters
of adapters are at least float32); a model on any device, draws being the same on all. Not covered:
data-parallel wrappers (attach first, wrap never: gradients are reduced by the training loop).

A merged weight in bfloat16 is rounded: a change below 2^-9 of a weight is lost while sampling.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter
from collections.abc import Generator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from unhack.core.errors import UsageError
from unhack.training.adapters.adapter import Block
from unhack.training.adapters.beside import AdaptedBeside
from unhack.training.adapters.gradients import CapturedGradients
from unhack.training.adapters.kinds import AdapterKind, Draw, Tensors
from unhack.training.adapters.linears import (
    is_plain,
    linear_maps,
    placed,
    plain_name,
    untyped,
    variants,
)
from unhack.training.adapters.lora_frozen_b import LoraFrozenB
from unhack.training.adapters.lora_split import LoraSplit
from unhack.training.adapters.site import AdaptedLinear, BackwardRecord, Switch
from unhack.training.adapters.svd import Svd
from unhack.training.config.settings import AdapterSettings

KINDS: dict[str, AdapterKind] = {kind.name: kind for kind in (Svd(), LoraFrozenB(), LoraSplit())}

LARGEST_HALVES = 1 << 31
"""Bytes of adapted weights up to which halves of a batch are sampled by folded copies: beyond, two
copies cost more memory and bandwidth than they spare time."""


class AttachedAdapters:
    """The blocks of a model. Outside every context the quarantine is on, if there is one."""

    def __init__(self, kind: str, sites: Mapping[str, AdaptedLinear], switch: Switch) -> None:
        self._kind = kind
        self._sites = dict(sites)
        self._switch = switch

    @property
    def kind(self) -> str:
        return self._kind

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._sites)

    @property
    def quarantined(self) -> bool:
        """True while there is a quarantine."""
        return any(site.quarantine is not None for site in self._sites.values())

    @property
    def mergeable(self) -> bool:
        """True where every adapted weight is a plain matrix of that module alone."""
        sites = self._sites.values()
        return not any(site.tied or isinstance(site, AdaptedBeside) for site in sites)

    @property
    def halvable(self) -> bool:
        """True where `halves` can be entered and its copies are worth their memory."""
        weights = [site.weight for site in self._sites.values()]
        size = sum(item.numel() * item.element_size() for item in weights)
        return self.mergeable and self.quarantined and size <= LARGEST_HALVES

    @property
    def sites(self) -> Mapping[str, AdaptedLinear]:
        """The adapted modules by their path."""
        return self._sites

    def parameters(self, block: Block) -> dict[str, list[nn.Parameter]]:
        """Trainable parameters by module; the deleted quarantine has none."""
        return {
            name: tensors.trained()
            for name, site in self._sites.items()
            if (tensors := _block(site, block)) is not None
        }

    def every_parameter(self) -> list[nn.Parameter]:
        """The trainable parameters of both blocks, the kept one's first."""
        blocks = [self.parameters("deployed"), self.parameters("quarantine")]
        return [item for block in blocks for items in block.values() for item in items]

    @contextlib.contextmanager
    def knob(self, quarantine: bool | Tensor) -> Generator[None, None, None]:
        """Within: forwards have the quarantine on, off, or per rollout (bool [B]).

        Raises UsageError while merged, and for "on" where the quarantine is deleted.
        """
        switch = self._switch
        if switch.merged:
            raise UsageError("the knob is in the merged weights: leave merged() to turn it")
        if isinstance(quarantine, Tensor):
            share = float(quarantine.float().mean())
            quarantine = quarantine.detach() if 0.0 < share < 1.0 else share == 1.0
        if quarantine is not False and not self.quarantined:
            raise UsageError("the quarantine is deleted: it cannot be turned on")
        before, switch.knob = switch.knob, quarantine
        try:
            yield
        finally:
            switch.knob = before

    @contextlib.contextmanager
    def off(self) -> Generator[None, None, None]:
        """Within: forwards are those of the frozen base. Raises UsageError while merged."""
        if self._switch.merged:
            raise UsageError("the adapters are in the weights: leave merged() to switch them off")
        with self._bypass():
            yield

    @contextlib.contextmanager
    def merge(self, *, quarantine: bool) -> Generator[None, None, None]:
        """Within: the adapters' effect is in the weights, forwards are plain linears (sampling).

        Keeps a copy of every adapted weight meanwhile; the weights come back bit for bit.

        Raises UsageError where a weight is no plain matrix, or tied (`mergeable`).
        """
        if self._switch.merged:
            raise UsageError("the adapters are merged already")
        if not self.mergeable:
            raise UsageError(
                "a weight that is quantised, or tied to another module's, takes no merged adapter:"
                " use knob() instead"
            )
        if quarantine and not self.quarantined:
            raise UsageError("the quarantine is deleted: it cannot be merged")
        copies = {name: site.weight.detach().clone() for name, site in self._sites.items()}
        self._switch.merged = True
        try:
            with self._bypass():
                self._fold(quarantine=quarantine)
                yield
        finally:
            self._switch.merged = False
            with torch.no_grad():
                for name, site in self._sites.items():
                    site.weight.copy_(copies[name])

    @contextlib.contextmanager
    def halves(self, *, quarantine_first: bool) -> Generator[None, None, None]:
        """Within: the first half of the rollouts runs in one knob state, the second in the other,
        each multiplied by a folded weight. Keeps two copies of every adapted weight meanwhile.

        Raises UsageError where `merge` does.
        """
        if self._switch.merged or not self.mergeable or not self.quarantined:
            raise UsageError("halves need a quarantine, plain weights and no merge around them")
        self._switch.merged = True
        try:
            for site in self._sites.values():
                off_on = site.fold(both=True)
                pair = off_on[::-1] if quarantine_first else off_on
                site.halves = torch.stack([item.t() for item in pair]).to(site.weight.dtype)
            yield
        finally:
            self._switch.merged = False
            for site in self._sites.values():
                site.halves = None

    @contextlib.contextmanager
    def capture(
        self, rollouts: int, *, tokens: bool = True
    ) -> Generator[CapturedGradients, None, None]:
        """Within: one forward and one backward pass record the gradients of so many rollouts;
        `tokens=False` keeps those of whole rollouts only.

        Raises UsageError while merged or capturing.
        """
        switch = self._switch
        if switch.merged or switch.record is not None:
            raise UsageError("capture neither while merged nor inside another capture")
        switch.record = BackwardRecord(rollouts, tokens)
        try:
            yield CapturedGradients(self._sites, switch.record)
        finally:
            switch.record = None

    def assign(self, deployed: Mapping[str, Tensor], quarantine: Mapping[str, Tensor]) -> None:
        """Set `.grad` of both blocks from flattened [N] sums (added where a gradient is there).

        Modules that a mapping lacks get nothing. Raises UsageError for unknown modules.
        """
        blocks: tuple[tuple[Block, Mapping[str, Tensor]], ...] = (
            ("deployed", deployed), ("quarantine", quarantine),
        )  # fmt: skip
        for block, sums in blocks:
            parameters = self.parameters(block)
            for name, flat_N in sums.items():
                if name not in parameters:
                    raise UsageError(f"no {block} block of {name!r} to give a gradient")
                _give(parameters[name], flat_N)

    def state(self) -> dict[str, Tensor]:
        """Detached tensors by `MODULE.PART.NAME`, on their device."""
        return {name: tensor.detach() for name, tensor in self._stored_tensors().items()}

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Copy in place. A state without a quarantine deletes this quarantine too.

        Raises UsageError where names, shapes or the base's singular values differ.
        """
        if self.quarantined and not any(".quarantine." in name for name in state):
            self.deploy()
        own = self._stored_tensors()
        missing, extra = sorted(own.keys() - state.keys()), sorted(state.keys() - own.keys())
        if missing or extra:
            raise UsageError(
                f"this state is of other adapters: it lacks {missing[:3]}, it has {extra[:3]} more"
            )
        compared = KINDS[self._kind].compared
        for name, tensor in own.items():
            given = state[name]
            if given.shape != tensor.shape:
                raise UsageError(f"{name}: {tuple(given.shape)} for {tuple(tensor.shape)}")
            if name.rpartition(".")[2] in compared and not torch.allclose(
                given.to(tensor), tensor, rtol=1e-3, atol=1e-5 * float(tensor.max())
            ):
                raise UsageError(f"{name}: these adapters were made for another base")
        with torch.no_grad():
            for name, tensor in own.items():
                if name.rpartition(".")[2] not in compared:
                    tensor.copy_(state[name])

    def deploy(self) -> None:
        """Delete the quarantine in place: its weights are gone from the modules and from `state()`.
        Optimisers that hold the parameters must be made anew.

        Raises UsageError while merged or capturing.
        """
        if self._switch.merged or self._switch.record is not None:
            raise UsageError("deploy neither while merged nor while capturing")
        self._switch.knob = False
        for site in self._sites.values():
            site.quarantine = None

    @contextlib.contextmanager
    def _bypass(self) -> Generator[None, None, None]:
        before, self._switch.bypass = self._switch.bypass, True
        try:
            yield
        finally:
            self._switch.bypass = before

    @torch.no_grad()
    def _fold(self, *, quarantine: bool) -> None:
        for site in self._sites.values():
            site.weight.copy_(site.fold(both=quarantine)[1])

    def _stored_tensors(self) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        for name, site in self._sites.items():
            for key in (*site.kind.stored, *site.kind.compared):
                found[f"{name}.basis.{key}"] = getattr(site.basis, key)
            for part, block in (("deployed", site.deployed), ("quarantine", site.quarantine)):
                if block is not None:
                    for key, tensor in (*block.named_parameters(), *block.named_buffers()):
                        found[f"{name}.{part}.{key}"] = tensor
        return found


def attach(
    model: nn.Module, settings: AdapterSettings, *, seed: int, quarantine: bool = True
) -> AttachedAdapters:
    """Put adapters in place of the model's target linears; everything else is frozen.

    Logits stay as they are, bit for bit. `quarantine=False` attaches the deployed block only (to
    load what was deployed). Raises UsageError where no module has a target's name, and for a model
    that has adapters.
    """
    # A second set of blocks would know of its own alone, and the first would be lost.
    if any(isinstance(item, AdaptedLinear) for item in model.modules()):
        raise UsageError("this model has adapters already: attach to the base model, once")
    model = getattr(model, "_orig_mod", model)  # of torch.compile, so that paths are the model's
    linears = linear_maps(model)
    chosen = {name: item for name, item in linears.items() if plain_name(name) in settings.targets}
    if not chosen:
        found = sorted({plain_name(name) for name in linears})
        raise UsageError(
            f"no linear module is named one of {', '.join(settings.targets)};"
            f" this model has {', '.join(found) or 'no linear module'}"
        )
    model.requires_grad_(False)
    kind, switch = KINDS[settings.kind], Switch(knob=quarantine)
    holders = Counter(id(item) for part in model.modules() for item in part.parameters(False))
    places = placed(model)
    sites: dict[str, AdaptedLinear] = {}
    for name, linear in chosen.items():
        adapted = AdaptedLinear if is_plain(linear) else AdaptedBeside
        site = adapted(untyped(linear), name=name, kind=kind, switch=switch)
        weight, rank = site.weight.detach(), settings.rank
        site.basis = kind.basis(weight, rank, _draws(seed, name, "basis"))
        site.deployed = kind.block(weight, rank, _draws(seed, name, "deployed"))
        if quarantine:
            site.quarantine = kind.block(weight, rank, _draws(seed, name, "quarantine"))
        site.tied = holders[id(site.weight)] > 1 or any(
            variants(parent) for parent, _ in places[id(linear)]
        )
        site.train(linear.training)
        for parent, last in places[id(linear)]:
            setattr(parent, last, site)
        sites[name] = site
    return AttachedAdapters(settings.kind, sites, switch)


def _draws(seed: int, name: str, part: str) -> Draw:
    digest = hashlib.sha256(f"{seed}/{name}/{part}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)

    def draw(rows: int, columns: int, *, scale: float) -> Tensor:
        return torch.randn(rows, columns, generator=generator) * scale

    return draw


def _block(site: AdaptedLinear, block: Block) -> Tensors | None:
    return site.deployed if block == "deployed" else site.quarantine


def _give(parameters: list[nn.Parameter], flat_N: Tensor) -> None:
    pieces = torch.split(flat_N.detach(), [item.numel() for item in parameters])
    for parameter, piece in zip(parameters, pieces, strict=True):
        gradient = piece.to(parameter).view_as(parameter)
        held: Any = parameter.grad
        parameter.grad = gradient.clone() if held is None else held + gradient
