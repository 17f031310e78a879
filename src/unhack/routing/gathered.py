"""A gate's view of rollouts that are spread over backward passes and processes.

Every process holds the gradients of its own rollouts. The gate sees all scores, in the order of
processes, so each process comes to the same decision; sums are of the own rollouts.

Covered: any number of rollouts per process, none too. Not covered: gates that look at tokens.

Axes: B rollouts of all processes, L those of this one, M adapted modules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor, distributed

from unhack.core.errors import UsageError
from unhack.training.adapters.adapter import Block, Gradients
from unhack.training.adapters.attached import AttachedAdapters
from unhack.training.loop.distributed import Ranks

_wire: Any = distributed


def present_ranks(device: torch.device) -> Ranks:
    """This process among those of torch's process group, if there is one."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return Ranks()
    return Ranks(distributed.get_rank(), distributed.get_world_size(), str(device))


def count_rollouts(own: int, ranks: Ranks) -> list[int]:
    """Rollouts of each process, by that of this one."""
    if ranks.count == 1:
        return [own]
    found = torch.zeros(ranks.count, dtype=torch.long, device=ranks.device)
    _wire.all_gather_into_tensor(found, torch.tensor([own], device=ranks.device))
    return cast(Any, found).tolist()


class GatheredGradients:
    """Satisfies `Gradients` for gates that score whole rollouts."""

    def __init__(
        self,
        own: Gradients | None,
        counts: Sequence[int],
        *,
        adapters: AttachedAdapters,
        ranks: Ranks,
    ) -> None:
        """`own`: None where this process has no rollout. `counts`: rollouts of each process."""
        self._own, self._counts, self._ranks = own, list(counts), ranks
        self._adapters = adapters
        self._norms_B_M: Tensor | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The adapted modules."""
        return self._adapters.names

    def dots_B_M(self, direction: Mapping[str, Tensor]) -> Tensor:
        """Of the rollouts of all processes."""
        own = None if self._own is None else self._own.dots_B_M(direction)
        return self.all_rows(own, columns=len(self.names))

    def norms_B_M(self) -> Tensor:
        """Of the rollouts of all processes."""
        if self._norms_B_M is None:
            own = None if self._own is None else self._own.norms_B_M()
            self._norms_B_M = self.all_rows(own, columns=len(self.names))
        return self._norms_B_M

    def sums(self, weights: Tensor, *, block: Block) -> dict[str, Tensor]:
        """Of this process's rollouts, by their part of the weights."""
        start = sum(self._counts[: self._ranks.rank])
        own = weights[start : start + self._counts[self._ranks.rank]]
        return {} if self._own is None else self._own.sums(own, block=block)

    def all_rows(self, own: Tensor | None, *, columns: int) -> Tensor:
        """Rows of all processes one below the other. A process without any gives None."""
        if self._ranks.count == 1:
            assert own is not None
            return own
        tall, device = max(self._counts), self._ranks.device
        held = torch.zeros(tall, columns, dtype=torch.float64, device=device)
        if own is not None:
            held[: own.shape[0]] = own.detach()
        found = [torch.empty_like(held) for _ in self._counts]
        _wire.all_gather(found, held)
        rows = torch.cat([part[:count] for part, count in zip(found, self._counts, strict=True)])
        first = next(iter(self._adapters.parameters("deployed").values()))
        return rows.to(first[0].dtype if own is None else own.dtype)

    def dots_B_T_M(self, direction: Mapping[str, Tensor]) -> Tensor:
        """Raises UsageError."""
        raise _whole_rollouts()

    def norms_B_T_M(self) -> Tensor:
        """Raises UsageError."""
        raise _whole_rollouts()

    def differences(self) -> tuple[Tensor, dict[str, Tensor]]:
        """Raises UsageError."""
        raise _whole_rollouts()


def _whole_rollouts() -> UsageError:
    return UsageError("rollouts of several passes are scored whole, by their gradients")
