"""The answers of a captured backward pass (`unhack.training.adapters.adapter.Gradients`).

Covered: inner products and norms of the deployed block's gradients, per rollout and per token;
weighted sums for both blocks. Kinds whose blocks share their place (`svd`, `lora_frozen_b`) have
one gradient: a rollout that ran with the quarantine off has the same g for both blocks, so a routed
one still teaches the quarantine. `lora_split` has one for each block (see its module). Not covered:
several backward passes in one capture.

Axes: B rollouts, T positions, M modules, N numbers of a block, R bottleneck.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.adapters.adapter import Block
from unhack.training.adapters.forms import GradientForm
from unhack.training.adapters.site import AdaptedLinear, BackwardRecord


class CapturedGradients:
    """Satisfies `Gradients`. Empty until a backward pass has run."""

    def __init__(self, sites: Mapping[str, AdaptedLinear], record: BackwardRecord) -> None:
        self._sites = sites
        self._record = record
        self._names = tuple(sites)

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def dots_B_M(self, direction: Mapping[str, Tensor]) -> Tensor:
        forms = self._forms("deployed")
        return torch.stack([forms[name].dots_B(direction[name]) for name in self._names], dim=1)

    def norms_B_M(self) -> Tensor:
        forms = self._forms("deployed")
        return torch.stack([forms[name].norms_B() for name in self._names], dim=1)

    def dots_B_T_M(self, direction: Mapping[str, Tensor]) -> Tensor:
        forms = self._forms("deployed")
        return torch.stack([forms[name].dots_B_T(direction[name]) for name in self._names], dim=2)

    def norms_B_T_M(self) -> Tensor:
        forms = self._forms("deployed")
        return torch.stack([forms[name].norms_B_T() for name in self._names], dim=2)

    def sums(self, weights: Tensor, *, block: Block) -> dict[str, Tensor]:
        """Raises UsageError for a shape that fits no rollouts, and for a deleted quarantine."""
        forms = self._forms(block)
        batch, count = self._record.mask_B_T.shape[0], len(self._names)
        if weights.dim() != 3 or weights.shape[0] != batch or weights.shape[2] not in {1, count}:
            raise UsageError(
                f"weights {tuple(weights.shape)} for {batch} rollouts and {count} modules:"
                " [B, 1 or T, 1 or M] is wanted"
            )
        columns = weights.unbind(2)
        return {
            name: forms[name].total_N(columns[number % len(columns)])
            for number, name in enumerate(self._names)
        }

    def mean_direction(self, signs_B: Tensor) -> dict[str, Tensor]:
        return self.sums((signs_B / signs_B.shape[0]).view(-1, 1, 1), block="deployed")

    def pooled_B_M(self, direction: Mapping[str, Tensor]) -> Tensor:
        activations = self.activations_B_R()
        return torch.stack(
            [activations[name] @ direction[name].to(activations[name]) for name in self._names],
            dim=1,
        )

    @torch.no_grad()
    def activations_B_R(self) -> dict[str, Tensor]:
        self._forms("deployed")
        return {
            name: site.kind.pool(self._record.mean_B_R(name), parts=site.parts, weight=site.weight)
            for name, site in self._sites.items()
        }

    def _forms(self, block: Block) -> dict[str, GradientForm]:
        forms = self._record.deployed if block == "deployed" else self._record.quarantine
        if len(forms) == len(self._names):
            return forms
        if block == "quarantine" and self._record.deployed:
            raise UsageError("the quarantine is deleted: it has no gradients")
        missing = sorted(set(self._names) - set(forms))
        raise UsageError(f"no backward pass has reached {', '.join(missing[:3])} in this capture")
