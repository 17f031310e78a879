"""Models of a draw: which network, task and truth a pool, a seed and a number stand for.

Covered: the same pool, seed and number give the same model; development models do not depend on
the seed, and pools never share one.
Not covered: secrecy of the seed; whoever runs a tournament keeps that.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from unhack.tournament.kit import DataPool, UsageError
from unhack_contests.interpretability.models import behaviours
from unhack_contests.interpretability.models.behaviours import Behaviour, Sequences
from unhack_contests.interpretability.models.circuits import CircuitSize, Truth, compiled
from unhack_contests.interpretability.models.network import Array, Network, losses, renamed, trace

_ATTEMPTS = 200
"""The noise spoils some networks: those that do their task badly are drawn anew."""


@dataclass(frozen=True, slots=True)
class CircuitModel:
    """A network with its task and its circuit."""

    network: Network
    behaviour: Behaviour
    truth: Truth

    def draw(self, count: int, *, rng: np.random.Generator) -> Sequences:
        """Fresh sequences of its task."""
        return behaviours.sequences(self.behaviour, count, rng=rng)

    def loss(self, batch: Sequences) -> Array:
        """Loss of each sequence (B,) in nats."""
        logits = trace(self.network, batch.tokens).logits
        return losses(logits, batch.targets, mask=batch.mask)


def generator(*words: object) -> np.random.Generator:
    """Random numbers of their own for everything that has a name."""
    text = "\x1f".join(map(str, words)).encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text).digest()[:16], "big"))


def model(pool: DataPool, *, seed: int, number: int, size: CircuitSize) -> CircuitModel:
    """The compiled model `number` of a draw; the families follow each other."""
    name = seed if pool is not DataPool.DEV else "public"
    start = int(generator("interp", "family", pool.value, name).integers(4))
    family = behaviours.FAMILIES[(start + number) % len(behaviours.FAMILIES)]
    most = np.log(size.vocabulary) / (5 if size.shared else 8)
    for attempt in range(_ATTEMPTS):
        rng = generator("interp", pool.value, name, number, attempt)
        settings = _settings(family, size=size, rng=rng)
        task = Behaviour(family, size.vocabulary, size.length, settings)
        network, truth = compiled(task, size=size, rng=rng)
        found = CircuitModel(network, task, truth)
        if found.loss(found.draw(64, rng=rng)).mean() < most:
            return found
    raise UsageError(f"no network of {size} does its task; make it wider")


def twin(original: CircuitModel, *, rng: np.random.Generator) -> CircuitModel:
    """The same function with all heads renamed: layer by layer moved on, each by at least one."""
    net = original.network
    shifts = tuple(int(rng.integers(1, net.heads)) for _ in range(net.layers))

    def moved(node: tuple[int, int]) -> tuple[int, int]:
        return node[0], (node[1] + shifts[node[0]]) % net.heads

    truth = original.truth
    edges = frozenset((*moved(edge[:2]), *moved(edge[2:])) for edge in truth.edges)
    roles = {moved(node): role for node, role in truth.roles.items()}
    changed = Truth(frozenset(map(moved, truth.nodes)), edges, roles)
    return CircuitModel(renamed(net, shifts=shifts), original.behaviour, changed)


def _settings(family: str, *, size: CircuitSize, rng: np.random.Generator) -> dict[str, int]:
    if family != "offset":
        return {f"relay{number}": int(rng.integers(2, 4)) for number in range(size.relays)}
    stages = size.relays + (int(rng.integers(2, 4)) if size.layers >= 3 else 2)
    most = max(3, size.length // (stages + 2) + 1)
    steps = rng.integers(2, most, stages).tolist()
    return {"back": sum(steps), **{f"step{n}": step for n, step in enumerate(steps)}}
