"""Trained checkpoints as models: their circuit is what the judge's own interventions find.

A checkpoint is an `.npz` with the fields of `Network` (as float16 or float32) and `family`. A draw
turns it: heads shuffled, vocabulary permuted, stream rotated; positions cannot be remembered.
The truth is established by intervention: components are resampled jointly, the least important
first, as long as the behaviour stays; then the paths between those that are left. What cannot be
removed is the circuit. Source: the order of elimination is that of Conmy et al. 2023
(arXiv 2304.14997), on components before paths.

Covered: attention-only models of this package's builder (`train_checkpoints`).
Not covered: roles; circuits in which every component matters a little.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unhack.tournament.kit import DataPool, UsageError
from unhack_contests.interpretability.models.behaviours import Behaviour
from unhack_contests.interpretability.models.circuits import Truth
from unhack_contests.interpretability.models.draw import CircuitModel, generator
from unhack_contests.interpretability.models.network import Edge, Intervention, Network, Node
from unhack_contests.interpretability.models.runs import ForwardBackend, NetworkRuns

MATTERS = 0.1
"""Share of the whole loss rise that all removed components may cost, and all paths again."""
_ROWS = 128


def digest(folder: str) -> str:
    """Hash of all checkpoints. Raises UsageError where there are none."""
    found = hashlib.sha256()
    for path in _checkpoints(folder):
        found.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def model(
    folder: str, *, pool: DataPool, seed: int, number: int, backend: ForwardBackend
) -> CircuitModel:
    """A turned checkpoint with the circuit that `backend` measures. Raises UsageError."""
    found = unmeasured(folder, pool=pool, seed=seed, number=number)
    name = _name(pool, seed)
    rng = generator("interp", "truth", pool.value, name, number)
    return replace(found, truth=measured(found, rng=rng, backend=backend))


def unmeasured(folder: str, *, pool: DataPool, seed: int, number: int) -> CircuitModel:
    """A turned checkpoint of which no circuit is known. Raises UsageError."""
    paths = _checkpoints(folder)
    rng = generator("interp", "trained", pool.value, _name(pool, seed), number)
    with np.load(paths[int(rng.integers(len(paths)))], allow_pickle=False) as stored:
        fields = {key: np.asarray(stored[key]) for key in stored.files}
    family = str(fields.pop("family"))
    net = turned(Network(**{k: v.astype(np.float32) for k, v in fields.items()}), rng=rng)
    task = Behaviour(family, net.vocabulary, net.length, {})
    return CircuitModel(net, task, Truth(frozenset(), frozenset(), {}))


def turned(net: Network, *, rng: np.random.Generator) -> Network:
    """The same function of renamed tokens, with shuffled heads and a rotated stream."""
    width = net.embed.shape[1]
    turn = np.linalg.qr(rng.normal(size=(width, width)))[0]
    words = np.concatenate([[0], 1 + rng.permutation(net.vocabulary - 1)])
    orders = [rng.permutation(net.heads) for _ in range(net.layers)]
    qkv = np.stack([net.qkv[layer][:, order] for layer, order in enumerate(orders)])
    output = np.stack([net.output[layer][order] for layer, order in enumerate(orders)])
    parts: tuple[Any, ...] = (
        net.embed[words] @ turn, net.position @ turn, np.matmul(turn.T, qkv),
        output @ turn, turn.T @ net.mlp_in, net.mlp_out @ turn, turn.T @ net.unembed[:, words],
    )  # fmt: skip
    return Network(*(np.ascontiguousarray(part, dtype=np.float32) for part in parts))


def measured(
    found: CircuitModel, *, rng: np.random.Generator, backend: ForwardBackend
) -> Truth:  # fmt: skip
    """The circuit, by joint ablations and joint path ablations on fresh sequences."""
    runs = backend.runs(found.network)
    runs.add(found.draw(_ROWS, rng=rng))
    with backend.turn():
        return _eliminated(found.network, runs)


def _eliminated(net: Network, runs: NetworkRuns) -> Truth:
    """The components and paths that cannot be removed, measured on batch 0 of `runs`."""

    def every_loss(plans: Iterable[Intervention]) -> list[float]:
        return [float(row.mean()) for row in runs.losses(0, [(plan, -1) for plan in plans])]

    def loss(plan: Intervention) -> float:
        return every_loss([plan])[0]

    every = frozenset(net.nodes)
    base = loss(Intervention())
    worst = loss(Intervention(every))
    bar = base + MATTERS * (worst - base)
    ordered = sorted(every)
    singles = every_loss(Intervention(frozenset([node])) for node in ordered)
    alone = dict(zip(ordered, singles, strict=True))
    gone: frozenset[Node] = frozenset()
    for node in sorted(alone, key=alone.__getitem__):
        if loss(Intervention(gone | {node})) <= bar:
            gone |= {node}
    nodes = sorted(every - gone)
    paths = [(*a, *b) for a in nodes for b in nodes if a[0] < b[0]]
    costs = every_loss(Intervention(gone, frozenset([edge])) for edge in paths)
    cost = dict(zip(paths, costs, strict=True))
    cut: frozenset[Edge] = frozenset()
    bar += MATTERS * (worst - base)
    for edge in sorted(cost, key=cost.__getitem__):
        if loss(Intervention(gone, cut | {edge})) <= bar:
            cut |= {edge}
    return Truth(frozenset(nodes), frozenset(paths) - cut, {})


def _name(pool: DataPool, seed: int) -> object:
    """The words that name a draw: development models do not depend on the seed."""
    return seed if pool is not DataPool.DEV else "public"


def _checkpoints(folder: str) -> list[Path]:
    paths = sorted(Path(folder).glob("*.npz"))
    if not paths:
        raise UsageError(f"trained={folder!r} holds no .npz checkpoint; build some first")
    return paths
