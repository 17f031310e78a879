"""Sequences that run through a network, undisturbed and under interventions, on some device.

    runs = backend.runs(network)
    number = runs.add(batch)
    with backend.turn():
        runs.losses(number, [(Intervention(nodes), -1)])

Covered: NumPy here; PyTorch, for a card, in `torch_runs`.
Not covered: what an experiment costs, and who may ask for it (`dialogue.experiment_service`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np

from unhack_contests.interpretability.models.behaviours import Sequences
from unhack_contests.interpretability.models.network import (
    Array,
    ForwardTrace,
    Intervention,
    Network,
    disturbed,
    losses,
    trace,
)

Disturbance = tuple[Intervention, int]
"""The replacements, and the number of the batch that `resample` takes outputs from (of the same
shape); -1 for the next sequence of the same batch."""


class NetworkRuns(Protocol):
    """Batches of one network, by numbers from 0. All but `add` within a turn of the backend."""

    def add(self, batch: Sequences) -> int:
        """The number of a further batch."""
        ...

    def attention(self, number: int) -> Array:
        """Patterns (B, L, H, T, T) of the undisturbed run."""
        ...

    def logits(self, number: int, disturbance: Disturbance) -> Array:
        """(B, T, vocabulary)."""
        ...

    def losses(self, number: int, disturbances: Sequence[Disturbance]) -> Array:
        """Mean loss (disturbances, B) of each sequence at its marked positions, float32 nats."""
        ...


class ForwardBackend(Protocol):
    """Computes forward passes."""

    @property
    def waits_s(self) -> float:
        """Seconds that a dialogue may have to wait for the device, beyond its own."""
        ...

    def turn(self) -> AbstractContextManager[None]:
        """Have the device for a block of code; a turn within a turn of the same thread is free.
        Raises SandboxUnavailableError where the device is in use."""
        ...

    def runs(self, net: Network) -> NetworkRuns:
        """No batch of a network yet."""
        ...


class NumpyRuns:
    """`NetworkRuns` in NumPy. Undisturbed runs are kept."""

    def __init__(self, net: Network) -> None:
        self._net = net
        self._batches: list[tuple[Sequences, ForwardTrace]] = []

    def add(self, batch: Sequences) -> int:
        """See `NetworkRuns`."""
        self._batches.append((batch, trace(self._net, batch.tokens)))
        return len(self._batches) - 1

    def attention(self, number: int) -> Array:
        """See `NetworkRuns`."""
        return self._batches[number][1].attention.transpose(2, 0, 1, 3, 4)

    def logits(self, number: int, disturbance: Disturbance) -> Array:
        """See `NetworkRuns`."""
        plan, donor = disturbance
        other = self._batches[donor][1] if donor >= 0 else None
        return disturbed(self._net, self._batches[number][1], plan=plan, donor=other)

    def losses(self, number: int, disturbances: Sequence[Disturbance]) -> Array:
        """See `NetworkRuns`."""
        batch = self._batches[number][0]
        rows = np.zeros((len(disturbances), len(batch.tokens)), dtype=np.float32)
        for at, disturbance in enumerate(disturbances):
            logits = self.logits(number, disturbance)
            rows[at] = losses(logits, batch.targets, mask=batch.mask)
        return rows


class NumpyBackend:
    """`ForwardBackend` on the processors of this process."""

    waits_s = 0.0

    def turn(self) -> AbstractContextManager[None]:
        """See `ForwardBackend`; nobody waits."""
        return contextlib.nullcontext()

    def runs(self, net: Network) -> NumpyRuns:
        """See `ForwardBackend`."""
        return NumpyRuns(net)


NUMPY = NumpyBackend()
"""The only one that is needed: it holds nothing."""
