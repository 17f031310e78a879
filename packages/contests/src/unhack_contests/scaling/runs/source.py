"""Text with a known entropy: what the runs of a ladder are trained on.

A source is drawn from a secret seed. It writes words of its own vocabulary, each ended by a space.
Words are strings of syllables; every word belongs to one class; a document follows one of a few
class-transition matrices (the secret mixture) and now and then repeats the word that it wrote
`lag` words before. All bytes go through a secret permutation.

Covered: the probability of every word given the document so far and its component is known, words
and bytes determine each other, so `floor` is the code length of the text under its own generator.
No model that sees only bytes has a smaller expected loss: it knows less than the generator.
Not covered: resemblance to any language.

Source: Shannon 1948 (conditional entropy; conditioning never raises it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
DOCUMENT_WORDS = 400


@dataclass(frozen=True, slots=True)
class TextStyle:
    """The kind of text of a family; the seed decides the rest."""

    classes: int = 48
    words_per_class: int = 40
    components: int = 3
    concentration: float = 0.08
    """Of the Dirichlet law of the class transitions: smaller is more predictable."""
    zipf: float = 1.0
    """Exponent of the word frequencies within a class."""
    repeat: float = 0.12
    """Probability that a word repeats the one `lag` words before."""
    lag: int = 3
    letters: int = 24
    syllables: int = 50


@dataclass(frozen=True, slots=True)
class SampledText:
    """Bytes and what they cost under their own generator."""

    data: NDArray[np.uint8]
    """(n,)"""
    floor: float
    """Nats per byte."""
    floor_error: float
    """Standard error of `floor`, over documents."""


@dataclass(frozen=True, slots=True)
class EntropySource:
    """One generator of text."""

    style: TextStyle
    words: tuple[bytes, ...]
    """Class by class, already permuted, each with its end."""
    transitions: Array
    """(components, classes, classes)"""
    mixture: Array
    """(components,)"""
    within: Array
    """(words_per_class,): word frequencies within a class."""


def make_source(seed: int, style: TextStyle) -> EntropySource:
    """The source of a seed."""
    draw = np.random.default_rng([seed, 1])
    permuted = draw.permutation(256).astype(np.uint8)
    parts = _syllables(style, draw)
    chance = np.arange(1, len(parts) + 1) ** -1.0
    seen: set[bytes] = set()
    while len(seen) < style.classes * style.words_per_class:
        count = 1 + int(draw.integers(0, 2) + draw.integers(0, 3))
        chosen: list[int] = draw.choice(len(parts), size=count, p=chance / chance.sum()).tolist()
        seen.add(b"".join(parts[at] for at in chosen))
    listed = sorted(seen)
    order: list[int] = draw.permutation(len(listed)).tolist()
    end = bytes([int(permuted[255])])
    words = tuple(permuted[np.frombuffer(listed[at], np.uint8)].tobytes() + end for at in order)
    shape = (style.components, style.classes)
    transitions = draw.dirichlet(np.full(style.classes, style.concentration), size=shape)
    transitions = 0.98 * transitions + 0.02 / style.classes
    rank = np.arange(1, style.words_per_class + 1) ** -style.zipf
    mixture = draw.dirichlet(np.full(style.components, 4.0))
    return EntropySource(style, words, transitions, mixture, rank / rank.sum())


def _syllables(style: TextStyle, draw: np.random.Generator) -> list[bytes]:
    """Short strings that words are made of: small models learn them first."""
    frequency = draw.dirichlet(np.full(style.letters, 0.8))
    seen: set[bytes] = set()
    while len(seen) < style.syllables:
        size = int(draw.integers(1, 4))
        seen.add(draw.choice(style.letters, size=size, p=frequency).astype(np.uint8).tobytes())
    listed = sorted(seen)
    return [listed[at] for at in draw.permutation(len(listed))]


def write_text(source: EntropySource, *, size: int, seed: int) -> SampledText:
    """At least `size` bytes of documents, cut to `size`; `floor` is of the documents as a whole."""
    draw = np.random.default_rng([seed, 2])
    mean = float(np.mean([len(word) for word in source.words]))
    count = int(1.3 * size / (mean * DOCUMENT_WORDS)) + 2
    parts: list[bytes] = []
    costs: list[Array] = []
    lengths: list[Array] = []
    total = 0
    while total < size:
        chosen, cost = _documents(source, count, draw)
        numbers: list[list[int]] = chosen.tolist()
        rows = [b"".join(source.words[word] for word in row) for row in numbers]
        parts += rows
        lengths.append(np.array([len(row) for row in rows], float))
        costs.append(cost)
        total += sum(map(len, rows))
    cost, length = np.concatenate(costs), np.concatenate(lengths)
    floor = float(cost.sum() / length.sum())
    spread = float(np.std(cost - floor * length, ddof=1) * np.sqrt(len(cost)) / length.sum())
    data = np.frombuffer(b"".join(parts)[:size], np.uint8)
    return SampledText(data, floor, spread)


def _documents(source: EntropySource, count: int, draw: np.random.Generator) -> tuple[Array, Array]:
    """Word numbers (count, DOCUMENT_WORDS) and the nats of each document (count,)."""
    style, size = source.style, source.style.words_per_class
    component = draw.choice(style.components, size=count, p=source.mixture)
    steps = source.transitions.cumsum(axis=2)
    ranks = source.within.cumsum()
    words = np.zeros((count, DOCUMENT_WORDS), np.int64)
    cost = np.zeros(count)
    kind = draw.integers(0, style.classes, size=count)
    for at in range(DOCUMENT_WORDS):
        before = kind
        rows = steps[component, before]
        drawn = (draw.random((count, 1)) * rows[:, -1:] > rows).sum(axis=1)
        kind = np.minimum(drawn, style.classes - 1)
        place = np.minimum(np.searchsorted(ranks, draw.random(count)), size - 1)
        fresh = kind * size + place
        again = np.zeros(count, bool)
        old = fresh
        if at >= style.lag:
            again = draw.random(count) < style.repeat
            old = words[:, at - style.lag]
        word = np.where(again, old, fresh)
        kind = word // size
        chance = source.transitions[component, before, kind] * source.within[word % size]
        if at >= style.lag:
            chance = (1 - style.repeat) * chance + style.repeat * (word == old)
        words[:, at] = word
        if at:  # the first class of a document is uniform and costs more: leaving it out is safe
            cost -= np.log(chance)
    return words, cost
