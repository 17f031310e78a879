"""The answers of a captured backward pass (`unhack.training.adapters.adapter.Gradients`).

Covered: inner products and norms of the deployed block's gradients, per rollout and per token;
weighted sums for both blocks. Kinds whose blocks share their place (`svd`, `lora_frozen_b`) have
one gradient: a rollout that ran with the quarantine off has the same g for both blocks, so a routed
one still teaches the quarantine. `lora_split` has one for each block (see its module). Not covered:
several backward passes in one capture.

Axes: B rollouts, T positions, M modules, N numbers of a block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.adapters.adapter import Block
from unhack.training.adapters.forms import GradientForm, Solid, vector_norm
from unhack.training.adapters.site import AdaptedLinear, BackwardRecord


class CapturedGradients:
    """Satisfies `Gradients`. Empty until a backward pass has run."""

    def __init__(self, sites: Mapping[str, AdaptedLinear], record: BackwardRecord) -> None:
        self._sites = sites
        self._record = record
        self._names = tuple(sites)
        self._stacks: dict[Block, Stacks | None] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def check_complete(self) -> None:
        """Raises UsageError unless a backward pass has reached every module."""
        self._forms("deployed")

    def dots_B_M(self, direction: Mapping[str, Tensor]) -> Tensor:
        forms, stacks = self._forms("deployed"), self._stacked("deployed")
        if stacks is not None:
            return stacks.dots_B_M([direction[name] for name in self._names])
        return torch.stack([forms[name].dots_B(direction[name]) for name in self._names], dim=1)

    def norms_B_M(self) -> Tensor:
        forms, stacks = self._forms("deployed"), self._stacked("deployed")
        if stacks is not None:
            return stacks.norms_B_M()
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
        batch, count = self._record.rollouts, len(self._names)
        if weights.dim() != 3 or weights.shape[0] != batch or weights.shape[2] not in {1, count}:
            raise UsageError(
                f"weights {tuple(weights.shape)} for {batch} rollouts and {count} modules:"
                " [B, 1 or T, 1 or M] is wanted"
            )
        stacks = self._stacked(block) if weights.shape[1] == 1 else None
        if stacks is not None:
            return dict(zip(self._names, stacks.sums(weights[:, 0]), strict=True))
        columns = weights.unbind(2)
        return {
            name: forms[name].total_N(columns[number % len(columns)])
            for number, name in enumerate(self._names)
        }

    def differences(self) -> tuple[Tensor, dict[str, Tensor]]:
        """Raises UsageError for an odd number of rollouts."""
        if self._record.rollouts % 2:
            raise UsageError(f"{self._record.rollouts} rollouts do not make pairs of neighbours")
        squares: list[Tensor] = []
        sums: dict[str, Tensor] = {}
        for name, form in self._forms("deployed").items():
            rows = [part[0::2] - part[1::2] for part in form.rows().parts]
            found = [vector_norm(part, dim=1, dtype=torch.float64).square() for part in rows]
            squares.append(found[0] if len(found) == 1 else torch.stack(found).sum(0))
            sums[name] = torch.cat([part.sum(0) for part in rows])
        order = {name: place for place, name in enumerate(sums)}
        squares = [squares[order[name]] for name in self._names]
        return torch.stack(squares, dim=1), {name: sums[name] for name in self._names}

    def _stacked(self, block: Block) -> Stacks | None:
        """The rows of all modules side by side; None where one has no rows."""
        if block not in self._stacks:
            forms = self._forms(block)
            other: Block = "quarantine" if block == "deployed" else "deployed"
            if self._stacks.get(other) and forms[self._names[0]] is self._first(other):
                self._stacks[block] = self._stacks[other]
            else:
                self._stacks[block] = Stacks.of([forms[name] for name in self._names])
        return self._stacks[block]

    def _first(self, block: Block) -> GradientForm:
        return self._forms(block)[self._names[0]]

    def _forms(self, block: Block) -> dict[str, GradientForm]:
        """By module; one that no forward pass called has a gradient of zeros."""
        forms = self._record.deployed if block == "deployed" else self._record.quarantine
        if len(forms) == len(self._names):
            return forms
        if block == "quarantine" and self._record.deployed and not forms:
            raise UsageError("the quarantine is deleted: it has no gradients")
        missing = [name for name in self._names if name not in forms]
        lost = [name for name in missing if self._sites[name].called is self._record.mark]
        if lost or not forms:
            raise UsageError(
                f"no backward pass has reached {', '.join((lost or missing)[:3])} in this capture"
            )
        for name in missing:
            site = self._sites[name]
            tensors = site.deployed if block == "deployed" else site.quarantine
            assert tensors is not None
            parts = [
                item.new_zeros(self._record.rollouts, item.numel()) for item in tensors.trained()
            ]
            forms[name] = Solid(*(part.detach() for part in parts))
        return forms


class Stacks:
    """Rows of many modules, those of one shape in one tensor [K, B, N]: one product for all."""

    def __init__(self, forms: Sequence[Solid]) -> None:
        """Takes the place of the rows that the forms hold, so that nothing is held twice."""
        shapes: dict[tuple[int, int, int], list[int]] = {}
        for module, form in enumerate(forms):
            start = 0
            for place, part in enumerate(form.parts):
                shapes.setdefault((place, start, part.shape[1]), []).append(module)
                start += part.shape[1]
        first, parts = forms[0].parts[0], len(forms[0].parts)
        self._device, self._modules, self._parts = first.device, len(forms), parts
        self._norms_B_M: Tensor | None = None
        self._groups: list[tuple[Tensor, int, list[int]]] = []
        """Rows, where their numbers start in the block, modules."""
        held, order = [list(form.parts) for form in forms], list[tuple[int, int]]()
        for (place, start, _), modules in shapes.items():
            order += [(place, module) for module in modules]
            rows_K_B_N = torch.stack([held[module][place] for module in modules])
            for module, row in zip(modules, rows_K_B_N.unbind(), strict=True):
                held[module][place] = row
                forms[module].parts = tuple(held[module])
            self._groups.append((rows_K_B_N, start, modules))
        back = sorted(range(len(order)), key=order.__getitem__)
        self._back = torch.tensor(back, device=self._device)

    @staticmethod
    def of(forms: Sequence[GradientForm]) -> Stacks | None:
        """None where a form is no rows, or where modules lie on several devices."""
        if not all(isinstance(form, Solid) for form in forms):
            return None
        solid = cast(Sequence[Solid], forms)
        kinds = {(part.device, part.dtype) for form in solid for part in form.parts}
        counts = {len(form.parts) for form in solid}
        return Stacks(solid) if len(kinds) == len(counts) == 1 else None

    def dots_B_M(self, direction: Sequence[Tensor]) -> Tensor:
        """Inner products with one vector for each module."""
        found: list[Tensor] = []
        for rows_K_B_N, start, modules in self._groups:
            end = start + rows_K_B_N.shape[2]
            pieces = [direction[module][start:end] for module in modules]
            vectors_K_N_1 = torch.stack(pieces).to(rows_K_B_N).unsqueeze(2)
            found.append(torch.bmm(rows_K_B_N, vectors_K_N_1).squeeze(2))
        return self._ordered(found).sum(0).t()

    def norms_B_M(self) -> Tensor:
        """Euclidean norms of the rows."""
        if self._norms_B_M is None:
            found = [vector_norm(rows_K_B_N, dim=2) for rows_K_B_N, _, _ in self._groups]
            norms_P_M_B = self._ordered(found)
            norms_M_B = norms_P_M_B[0] if self._parts == 1 else vector_norm(norms_P_M_B, dim=0)
            self._norms_B_M = norms_M_B.t()
        return self._norms_B_M

    def sums(self, weights_B_M: Tensor) -> list[Tensor]:
        """Weighted sums, [N] for each module."""
        found: list[list[Tensor]] = [[] for _ in range(self._modules)]
        for rows_K_B_N, _, modules in self._groups:
            weights_K_1_B = weights_B_M.to(rows_K_B_N).t().unsqueeze(1)
            if weights_B_M.shape[1] > 1:
                weights_K_1_B = weights_K_1_B[modules]
            else:
                weights_K_1_B = weights_K_1_B.expand(len(modules), 1, -1)
            total_K_N = torch.bmm(weights_K_1_B, rows_K_B_N).squeeze(1)
            for module, total_N in zip(modules, total_K_N.unbind(), strict=True):
                found[module].append(total_N)
        return [parts[0] if len(parts) == 1 else torch.cat(parts) for parts in found]

    def _ordered(self, found: list[Tensor]) -> Tensor:
        """[P, M, B] of what the groups gave: by part, then in the order of modules."""
        whole = found[0] if len(found) == 1 else torch.cat(found)
        return whole[self._back].view(self._parts, self._modules, -1)
