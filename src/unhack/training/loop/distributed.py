"""Data parallelism: every rank holds the whole model and trains on its share of the prompts.

`torchrun` starts the ranks; one process needs no torch.distributed at all. Adapters' gradients are
written by hand, so nothing is wrapped: the loop adds them up with `all_reduce` before the optimiser
steps, and every rank makes the same step. `check_equal` proves that it did. Only the leader (rank
0) writes files.

Covered: gloo on the CPU, nccl on CUDA (one device per rank); sums in one flat tensor per dtype, so
that one reduction is made per step; plain data between ranks as JSON. Not covered: sharded models,
lost or joining ranks (the launcher ends all ranks with one).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed

from unhack.core.errors import UnhackError, UsageError

Item = TypeVar("Item")
_wire: Any = distributed


class RanksDifferError(UnhackError):
    """Error of ranks that have to hold the same numbers and do not."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """This process among those that train together. `Ranks()` is a single process."""

    rank: int = 0
    count: int = 1
    device: str = "cpu"
    """Device of this rank, on which collectives run too."""

    @property
    def leads(self) -> bool:
        """True for the rank that writes files."""
        return self.rank == 0

    def share(self, items: Sequence[Item]) -> list[Item]:
        """This rank's neighbours of a list that all ranks have; the shares differ by at most one.

        `gather` of lists in rank order restores the order.
        """
        total = len(items)
        return list(items[total * self.rank // self.count : total * (self.rank + 1) // self.count])

    def all_reduce(self, tensors: Sequence[Tensor]) -> None:
        """Sum each tensor over the ranks, in place. Shapes and dtypes are those of all ranks."""
        if self.count == 1:
            return
        for group in _by_dtype(tensors):
            flat = torch.cat([tensor.detach().flatten() for tensor in group]).to(self.device)
            _wire.all_reduce(flat)
            parts = torch.split(flat, [tensor.numel() for tensor in group])
            for tensor, part in zip(group, parts, strict=True):
                tensor.detach().copy_(part.view_as(tensor))

    def broadcast(self, tensors: Sequence[Tensor]) -> None:
        """Copy the leader's numbers into every rank's tensors, in place."""
        if self.count == 1:
            return
        for tensor in tensors:
            held = tensor.detach().to(self.device).contiguous()
            _wire.broadcast(held, src=0)
            tensor.detach().copy_(held)

    def gather(self, value: Any) -> list[Any]:
        """Every rank's plain data (what JSON holds), in rank order, on every rank."""
        if self.count == 1:
            return [value]
        raw = bytearray(json.dumps(value).encode())
        sizes = [torch.zeros(1, dtype=torch.int64, device=self.device) for _ in range(self.count)]
        _wire.all_gather(sizes, torch.tensor([len(raw)], device=self.device))
        widest = max(int(size) for size in sizes)
        held = torch.zeros(widest, dtype=torch.uint8, device=self.device)
        held[: len(raw)] = torch.frombuffer(raw, dtype=torch.uint8).to(self.device)
        found = [torch.zeros_like(held) for _ in range(self.count)]
        _wire.all_gather(found, held)
        pairs = zip(found, sizes, strict=True)
        texts = [part[: int(size)].cpu().numpy().tobytes() for part, size in pairs]
        return [json.loads(text) for text in texts]

    def barrier(self) -> None:
        """Wait until every rank is here."""
        if self.count > 1:
            self.gather(None)

    def check_equal(self, tensors: Sequence[Tensor], *, what: str = "weights") -> str:
        """The checksum of the tensors. Raises RanksDifferError unless it is every rank's."""
        digest = checksum(tensors)
        found = self.gather(digest)
        if len(set(found)) > 1:
            raise RanksDifferError(
                f"the {what} of the ranks differ ({', '.join(item[:12] for item in found)}): "
                "start from the same checkpoint and the same library versions on every rank"
            )
        return digest


def checksum(tensors: Sequence[Tensor]) -> str:
    """SHA-256 of the bytes of tensors, in order."""
    found = hashlib.sha256()
    for tensor in tensors:
        flat = tensor.detach().contiguous().flatten().view(torch.uint8)
        found.update(flat.cpu().numpy().data)
    return found.hexdigest()


@contextlib.contextmanager
def ranks(device: str = "cpu", *, timeout_s: float = 1800.0) -> Generator[Ranks]:
    """The ranks that `torchrun` started, or a single process; the group ends with the context.

    A rank's CUDA device is its place on the machine. Raises UsageError where a machine has fewer
    devices than ranks.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Ranks(device=device)
        return
    rank, place = int(os.environ["RANK"]), int(os.environ.get("LOCAL_RANK", "0"))
    cuda = torch.device(device).type == "cuda"
    if cuda and torch.cuda.device_count() <= place:
        raise UsageError(
            f"rank {rank} wants CUDA device {place}, this machine has {torch.cuda.device_count()}: "
            "start torchrun with fewer processes per node"
        )
    here = torch.device("cuda", place) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(here)
    # Its functions take the group as a default argument: imported later (torch does so by itself),
    # it would hold the group, whose threads may abort a process that ends.
    importlib.import_module("torch.distributed.nn.functional")
    distributed.init_process_group(
        "nccl" if cuda else "gloo",
        timeout=timedelta(seconds=timeout_s),
        device_id=here if cuda else None,
    )
    try:
        yield Ranks(rank, count, str(here))
    finally:
        distributed.destroy_process_group()


def _by_dtype(tensors: Sequence[Tensor]) -> list[list[Tensor]]:
    groups: dict[torch.dtype, list[Tensor]] = {}
    for tensor in tensors:
        groups.setdefault(tensor.dtype, []).append(tensor)
    return list(groups.values())
