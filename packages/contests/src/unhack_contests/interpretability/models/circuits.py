"""Compiled transformers: weights that are constructed so that chosen heads carry out a behaviour.

A circuit is a chain of stages. The heads of a stage do the same thing (copies back each other up)
and write what the next stage reads. Around them stand decoys: loud heads that write much where
nobody reads, mimics that attend exactly as a circuit head does and write nowhere useful, and heads
and MLPs of noise that touch everything a little. Then the heads of each layer are shuffled and the
residual stream is turned by a random rotation, so that no direction means anything by itself.

Covered: the truth is known by construction; `tests` compare it with joint ablations.
Not covered: circuits that were learnt (`trained`), features that several circuits share.
Source: the idea of compiling programs into attention heads is that of Lindner et al. 2023
(arXiv 2301.05062).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from unhack_contests.interpretability.models.behaviours import Behaviour
from unhack_contests.interpretability.models.network import Array, Edge, Network, Node

ROLES = ("previous", "offset", "duplicate", "induction", "lookup", "mirror")
NOISE = 0.006
"""Standard deviation of what is added to every map of a network of the default size; larger ones
get less in each, so that the sum over features and heads stays."""


LOUD = 0.4
"""Standard deviation of a decoy's output weights at the default size: its output is several times
that of a circuit head."""
_FULL = 25 * 29 * 3 * 6
"""Free directions x head width x layers x heads of the default size."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The circuit."""

    nodes: frozenset[Node]
    edges: frozenset[Edge]
    roles: Mapping[Node, str]
    """Empty where the roles are not known (trained models)."""


@dataclass(frozen=True, slots=True)
class CircuitSize:
    """How large a compiled network is."""

    layers: int = 3
    heads: int = 6
    vocabulary: int = 14
    length: int = 14
    width: int = 96
    """Features that the weights are written in."""
    mlp: int = 24
    relays: int = 0
    """Stages that are put into each chain and pass something on by a drawn distance."""
    cancelling: int = 0
    """Pairs of heads that write the same with opposite signs: each alone seems to matter."""
    shared: int = 0
    """Directions that the residual stream lacks: what a circuit may read then shares directions."""


@dataclass(frozen=True, slots=True)
class _Space:
    """Places of the features: ranges of the feature axis, then of a head's inner axis."""

    size: CircuitSize

    @property
    def token(self) -> slice:
        return slice(0, self.size.vocabulary)

    @property
    def place(self) -> slice:
        return slice(self.token.stop, self.token.stop + self.size.length)

    @property
    def one(self) -> int:
        return self.place.stop

    @property
    def answer(self) -> slice:
        """The register that the unembedding reads."""
        return self.slot(2 + self.size.relays)

    def slot(self, number: int) -> slice:
        """The stream's registers: inner ones, and behind them that of the answer."""
        start = self.one + 1 + number * self.size.vocabulary
        return slice(start, start + self.size.vocabulary)

    @property
    def junk(self) -> slice:
        return slice(self.answer.stop, self.size.width)

    @property
    def inner(self) -> int:
        return self.size.length + self.size.vocabulary + 1


@dataclass(frozen=True, slots=True)
class _Head:
    """A head on features: (3, width, k) and (k, width)."""

    qkv: Array
    output: Array


@dataclass(frozen=True, slots=True)
class _Stage:
    role: str
    head: _Head


def compiled(
    behaviour: Behaviour, *, size: CircuitSize, rng: np.random.Generator
) -> tuple[Network, Truth]:
    """A network for the behaviour, and its circuit. Raises ValueError for a size too small."""
    space = _Space(size)
    if space.junk.stop - space.junk.start < 4:
        raise ValueError(f"a width of {size.width} leaves no room for decoys")
    stages = _chain(behaviour, space=space, rng=rng)
    placed = _places(len(stages), size=size, rng=rng)
    heads = {
        node: stages[number].head for number, nodes in enumerate(placed) for node in nodes
    }  # fmt: skip
    free = [
        (layer, h)
        for layer in range(size.layers)
        for h in range(size.heads)
        if (layer, h) not in heads
    ]
    order = rng.permutation(len(free)) if size.cancelling else ()
    chosen = [free[int(n)] for n in order[: 2 * size.cancelling]]
    for one, other in zip(chosen[::2], chosen[1::2], strict=False):
        heads[one], heads[other] = _opposed(space, rng=rng)
    for node in free:
        if node not in heads:
            heads[node] = _decoy(stages, space=space, rng=rng)
    roles = {node: stages[n].role for n, nodes in enumerate(placed) for node in nodes}
    edges = frozenset(
        (*start, *end) for here, there in pairwise(placed) for start in here for end in there
    )
    return _assembled(heads, space=space, rng=rng), Truth(frozenset(roles), edges, roles)


def _chain(task: Behaviour, *, space: _Space, rng: np.random.Generator) -> list[_Stage]:
    sharp, loud = float(rng.uniform(8, 11)), float(rng.uniform(5, 7))
    token, first, answer = space.token, space.slot(0), space.answer
    relays = [value for key, value in sorted(task.settings.items()) if key.startswith("relay")]
    late = space.slot(len(relays))

    def back(by: int, *, read: slice, write: slice, gain: float) -> _Head:
        goal = np.maximum(np.arange(space.size.length) - by, 0)
        return _head(space, goal=goal, read=read, write=write, scale=(2 * sharp, gain))

    passing = [
        _Stage("offset", back(by, read=space.slot(n), write=space.slot(n + 1), gain=1.0))
        for n, by in enumerate(relays)
    ]
    if task.family == "induction":
        return [
            _Stage("previous", back(1, read=token, write=first, gain=1.0)),
            *passing,
            _Stage("induction", _same(space, key=late, gains=(sharp, loud))),
        ]
    if task.family == "duplicate":
        return [
            _Stage("duplicate", _again(space, sharp=sharp)),
            *passing,
            _Stage("lookup", _flagged(space, key=late, gains=(sharp, loud))),
        ]
    if task.family == "mirror":
        goal = np.maximum(space.size.length - np.arange(space.size.length) + 1 + sum(relays), 0)
        goal = np.minimum(goal, np.arange(space.size.length))
        last = _head(space, goal=goal, read=late, write=answer, scale=(2 * sharp, loud))
        return [
            _Stage("previous", back(1, read=token, write=first, gain=1.0)),
            *passing,
            _Stage("mirror", last),
        ]
    steps = [value for key, value in sorted(task.settings.items()) if key.startswith("step")]
    slots = [token, *(space.slot(number) for number in range(len(steps) - 1)), answer]
    gains = [1.0] * (len(steps) - 1) + [loud]
    return [
        _Stage("offset", back(step, read=slots[n], write=slots[n + 1], gain=gains[n]))
        for n, step in enumerate(steps)
    ]


def _empty(space: _Space) -> _Head:
    wide, inner = space.size.width, space.inner
    return _Head(np.zeros((3, wide, inner)), np.zeros((inner, wide)))


def _words(space: _Space) -> slice:
    return slice(space.size.length, space.size.length + space.size.vocabulary)


def _head(
    space: _Space, *, goal: Array, read: slice, write: slice, scale: tuple[float, float]
) -> _Head:
    """Position i attends to position goal[i] and copies one register to another."""
    head = _empty(space)
    places = np.arange(space.size.length)
    head.qkv[0, space.place][places, goal] = scale[0]
    head.qkv[1, space.place][places, places] = 1
    words = np.eye(space.size.vocabulary)
    head.qkv[2, read, _words(space)] = words
    head.output[_words(space), write] = scale[1] * words
    return head


def _same(space: _Space, *, key: slice, gains: tuple[float, float]) -> _Head:
    """Attend to where the register `key` holds the token here; copy the token there."""
    head = _empty(space)
    words = np.eye(space.size.vocabulary)
    head.qkv[0, space.token, _words(space)] = gains[0] * words
    head.qkv[1, key, _words(space)] = words
    head.qkv[2, space.token, _words(space)] = words
    head.output[_words(space), space.answer] = gains[1] * words
    return head


def _again(space: _Space, *, sharp: float) -> _Head:
    """Attend to an earlier place with the same token, else to the beginning; write a flag."""
    head = _empty(space)
    words, places = np.eye(space.size.vocabulary), np.arange(space.size.length)
    head.qkv[0, space.token, _words(space)] = 2 * sharp * words
    head.qkv[1, space.token, _words(space)] = words
    head.qkv[0, space.place][places, places] = -3 * sharp
    head.qkv[1, space.place][places, places] = 1
    head.qkv[0, space.one, -1] = sharp
    head.qkv[1, space.token.start, -1] = 1
    head.qkv[2, 1 : space.size.vocabulary, -1] = 1
    head.output[-1, space.slot(0).start] = 1
    return head


def _flagged(space: _Space, *, key: slice, gains: tuple[float, float]) -> _Head:
    """Attend to the flagged place, else to the beginning; copy the token there."""
    head = _empty(space)
    words = np.eye(space.size.vocabulary)
    head.qkv[0, space.one, -1] = 1.3 * gains[0]
    head.qkv[1, key.start, -1] = 1
    head.qkv[1, space.token.start, -1] = 0.3
    head.qkv[2, space.token, _words(space)] = words
    head.output[_words(space), space.answer] = gains[1] * words
    return head


def _decoy(stages: list[_Stage], *, space: _Space, rng: np.random.Generator) -> _Head:
    """A mimic, a loud head, or an empty one that the noise will fill."""
    kind = str(rng.choice(["mimic", "loud", "quiet"]))
    head = _empty(space)
    if kind == "quiet":
        return head
    if kind == "mimic":
        copied = stages[int(rng.integers(len(stages)))].head
        head.qkv[:2] = copied.qkv[:2]
    else:
        head.qkv[:2] = rng.normal(0, 0.5, head.qkv[:2].shape)
    head.qkv[2, space.token] = rng.normal(0, 1, head.qkv[2, space.token].shape)
    wide = space.junk.stop - space.junk.start
    loud = LOUD * np.sqrt(_FULL / (wide * space.inner * space.size.layers * space.size.heads))
    head.output[:, space.junk] = rng.normal(0, loud, (space.inner, wide))
    return head


def _opposed(space: _Space, *, rng: np.random.Generator) -> tuple[_Head, _Head]:
    """Two heads that copy the same token to the answer, one of them with the opposite sign."""
    goal = np.maximum(np.arange(space.size.length) - int(rng.integers(0, 4)), 0)
    scale = float(rng.uniform(14, 20)), float(rng.uniform(9, 13))
    head = _head(space, goal=goal, read=space.token, write=space.answer, scale=scale)
    return head, _Head(head.qkv, -head.output)


def _places(
    stages: int, *, size: CircuitSize, rng: np.random.Generator
) -> list[tuple[Node, ...]]:  # fmt: skip
    """For each stage one to three heads, each stage in layers after all of the one before."""
    cuts = np.sort(rng.permutation(size.layers - 1)[: stages - 1]) + 1
    bounds = [0, *cuts.tolist(), size.layers]
    placed: list[tuple[Node, ...]] = []
    for low, high in pairwise(bounds):
        free = [(layer, h) for layer in range(low, high) for h in range(size.heads)]
        chosen = rng.permutation(len(free))[: int(rng.integers(1, 4 if stages == 2 else 3))]
        placed.append(tuple(sorted(free[int(number)] for number in chosen)))
    return placed


def _turn(space: _Space, *, rng: np.random.Generator) -> Array:
    """(features, stream): a direction of length about 1 for each feature, at random. Features that
    share directions overlap a little with each other, and with no answer or decoy."""
    used, lacking = space.answer.start, space.size.shared
    narrow = space.size.width - lacking
    turn = np.linalg.qr(rng.normal(size=(narrow, narrow)))[0]
    if not lacking:
        return turn
    kept = used - lacking
    frame = np.linalg.qr(rng.normal(size=(used, used)))[0][:, :kept] * np.sqrt(used / kept)
    return np.concatenate([frame @ turn[:kept], turn[kept:]])


def _assembled(heads: dict[Node, _Head], *, space: _Space, rng: np.random.Generator) -> Network:
    """Stack the heads, add noise to every map, turn the stream."""
    size, wide = space.size, space.size.width
    usual = CircuitSize()
    volume = usual.width * usual.layers * usual.heads
    noise = NOISE * np.sqrt(volume / (wide * size.layers * size.heads))
    turn = _turn(space, rng=rng)
    grid = [[heads[layer, h] for h in range(size.heads)] for layer in range(size.layers)]
    qkv = np.array([[[head.qkv[part] for head in row] for part in range(3)] for row in grid])
    output = np.array([[head.output for head in row] for row in grid])
    qkv = qkv + rng.normal(0, noise, qkv.shape)
    output = output + rng.normal(0, 2 * noise, output.shape)
    shape = (size.layers, wide, size.mlp)
    mlp_in = rng.normal(0, 1 / np.sqrt(wide), shape)
    mlp_out = rng.normal(0, 6 * noise / np.sqrt(size.mlp), (size.layers, size.mlp, wide))
    embed, position = np.zeros((size.vocabulary, wide)), np.zeros((size.length, wide))
    embed[:, space.token] = np.eye(size.vocabulary)
    position[:, space.place] = np.eye(size.length)
    position[:, space.one] = 1
    unembed = np.zeros((wide, size.vocabulary))
    unembed[space.answer] = np.eye(size.vocabulary)
    unembed += rng.normal(0, noise, unembed.shape)
    parts = (
        embed @ turn, position @ turn, np.matmul(turn.T, qkv),
        output @ turn, turn.T @ mlp_in, mlp_out @ turn, turn.T @ unembed,
    )  # fmt: skip
    return Network(*(np.ascontiguousarray(part, dtype=np.float32) for part in parts))
