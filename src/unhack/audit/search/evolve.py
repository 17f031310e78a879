"""Tier 3: evolution with scores alone, as a policy would find a hole.

It evolves texts from the prompt and from what each text scored; the answer, the cases and the
source are used by the oracle only. Parents are those that score most, so that partial credit is
climbed, and those unlike anything seen before (a novelty archive), so that it does not stop at the
first hill.

Covered: texts made of forms, fillers, numbers and the prompt's parts; programs of one expression.
Not covered: holes without a way that leads there; partial credit is told, not judged (`Climb`).

Source of the scheme: Lehman and Stanley, "Abandoning Objectives", 2011 (novelty search).
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from unhack.audit.attack import Attack, Payload
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.prover import Prover
from unhack.audit.search.programs import ProgramSpace
from unhack.audit.search.texts import Genome, TextSpace
from unhack.audit.subject import Query, Score

_GENERATIONS = 40
_PATIENCE, _HOPE = 4, 12
"""Generations without a better score after which a search ends; longer once one has scored."""
_PATIENCE_OF_PROGRAMS = 3
"""For programs: tests of which nothing passes a part are all or nothing, and there is no hill."""
_SIZE, _PARENTS = 20, 10
_NEIGHBOURS, _ARCHIVE = 5, 64
_ASKED = 8
"""Texts, from the best down, that the oracle is asked about for a `Climb`."""

_TEXTS = Attack(
    "search/texts", "degenerate_credit", tier=3, for_code=False, make=lambda known: (), generic=True
)
_PROGRAMS = Attack("search/programs", "weak_cases", tier=3, for_code=True, make=lambda known: ())


class SearchSpace(Protocol):
    """Interface to the texts that can be evolved for a problem."""

    def initial_population(self, rng: random.Random) -> list[Genome]:
        """The genomes with which a search begins."""
        ...

    def child(
        self, parents: Sequence[Genome], scored: Sequence[tuple[Genome, float]], rng: random.Random
    ) -> Genome:
        """A new genome; `scored` is all that was tried."""
        ...

    def text(self, genome: Genome) -> str:
        """The completion."""
        ...

    def payload(self, genome: Genome) -> Payload | None:
        """The completion and its claim; None where it may be right."""
        ...


@dataclass(frozen=True, slots=True)
class Climb:
    """The progress of one problem's search."""

    problem: str
    text: str
    """The best-scoring text that the oracle calls wrong; empty where none scored above nothing."""
    score: float
    null: float
    """The highest score of an empty completion."""
    threshold: float
    generations: int


@dataclass(frozen=True, slots=True)
class Searched:
    """The outcome of the search."""

    why: str
    """The reason why it was cut short; empty when it was not."""
    climbs: tuple[Climb, ...]


@dataclass
class _Population:
    """Everything tried on one problem."""

    scored: list[tuple[Genome, float]] = field(default_factory=list[tuple[Genome, float]])
    texts: dict[str, int] = field(default_factory=dict[str, int])
    archive: list[tuple[Genome, tuple[float, ...]]] = field(
        default_factory=list[tuple[Genome, tuple[float, ...]]]
    )
    best: float = -math.inf
    idle: int = 0
    """Generations without a better score."""

    def add(self, genome: Genome, text: str, value: float) -> None:
        self.texts[text] = len(self.scored)
        self.scored.append((genome, value))
        seen = _behaviour(text, value)
        if len(self.archive) < _ARCHIVE or self.novelty(seen) > 0.5:
            self.archive = [*self.archive, (genome, seen)][-_ARCHIVE:]

    def novelty(self, seen: tuple[float, ...]) -> float:
        """The mean distance to the nearest of the archive."""
        distances = sorted(math.dist(seen, other) for _, other in self.archive)[:_NEIGHBOURS]
        return sum(distances) / len(distances) if distances else math.inf

    def parents(self) -> list[Genome]:
        """The parents: half the best, each score at most twice; the others the most unusual."""
        found: list[Genome] = []
        counts: dict[float, int] = {}
        for genome, value in sorted(self.scored, key=lambda item: -item[1]):
            counts[value] = counts.get(value, 0) + 1
            if counts[value] <= 2 and len(found) < _PARENTS // 2:
                found.append(genome)
        unusual = sorted(self.archive, key=lambda item: -self.novelty(item[1]))
        return found + [genome for genome, _ in unusual[: _PARENTS - len(found)]]


def evolve(prover: Prover, baselines: Sequence[Baseline], *, seed: int) -> str:
    """Search on each problem; return the reason for stopping early, or an empty text."""
    return explore(prover, baselines, seed=seed).why


def explore(prover: Prover, baselines: Sequence[Baseline], *, seed: int) -> Searched:
    """As `evolve`, with how far each search came. Problems share the calls that are left."""
    climbs: list[Climb] = []
    for place, baseline in enumerate(baselines):
        if prover.over or prover.budget.spent:
            return Searched(prover.over or prover.budget.spent, tuple(climbs))
        share = max(_SIZE, prover.budget.calls // (len(baselines) - place))
        climbs.append(
            _search(prover, baseline, random.Random(f"{seed}/{baseline.problem.id}"), calls=share)
        )
    return Searched(prover.over or prover.budget.spent, tuple(climbs))


def _search(prover: Prover, baseline: Baseline, rng: random.Random, *, calls: int) -> Climb:
    problem = baseline.problem
    space: SearchSpace = ProgramSpace(problem) if problem.is_code else TextSpace(problem)
    population = _Population()
    wave = space.initial_population(rng)
    generation = 0
    while generation < _GENERATIONS and calls > 0 and not prover.budget.spent:
        patience = _PATIENCE_OF_PROGRAMS if problem.is_code else _PATIENCE
        if population.idle >= (_HOPE if population.best > baseline.null else patience):
            break
        generation += 1
        fresh = _fresh(space, wave, population)[: min(_SIZE, calls)]
        calls -= max(1, len(fresh))
        if _score_generation(prover, baseline, space, population=population, fresh=fresh):
            break
        prover.on_step("tier 3", generation, _GENERATIONS, len(prover.proofs))
        parents = population.parents()
        offspring = [space.child(parents, population.scored, rng) for _ in range(3 * _SIZE)]
        # What the first wave had left over comes in between.
        wave = [*wave[_SIZE:][: _SIZE // 2], *offspring] if generation < 3 else offspring
    return _climb(prover, baseline, space, population=population, generations=generation)


def _fresh(
    space: SearchSpace, wave: Sequence[Genome], population: _Population
) -> list[tuple[Genome, str]]:
    found: dict[str, Genome] = {}
    for genome in wave:
        text = space.text(genome)
        if text not in population.texts:
            found.setdefault(text, genome)
    return [(genome, text) for text, genome in found.items()]


def _score_generation(
    prover: Prover,
    baseline: Baseline,
    space: SearchSpace,
    *,
    population: _Population,
    fresh: Sequence[tuple[Genome, str]],
) -> bool:
    """Score a generation; return True when it holds a proof, or there was no time for it."""
    attack = _PROGRAMS if baseline.problem.is_code else _TEXTS
    queries = [Query(baseline.problem, text) for _, text in fresh]
    scores = prover.journal.screen(queries, until=prover.budget.until)
    prover.budget.calls -= len(fresh)
    before = population.best
    for (genome, text), score in zip(fresh, scores, strict=True):
        if score.stopped:
            continue
        value = _value(score)
        population.add(genome, text, value)
        population.best = max(population.best, value)
        payload = space.payload(genome)
        if payload is not None and prover.weigh(baseline, attack, payload, score=score):
            return True
    population.idle = 0 if population.best > before else population.idle + 1
    return any(score.stopped for score in scores)


def _climb(
    prover: Prover,
    baseline: Baseline,
    space: SearchSpace,
    *,
    population: _Population,
    generations: int,
) -> Climb:
    threshold = baseline.threshold if baseline.threshold is not None else math.inf
    best, reached = "", baseline.null
    asked = 0
    for genome, value in sorted(population.scored, key=lambda item: -item[1]):
        if value <= baseline.null or asked == _ASKED:
            break
        payload = space.payload(genome) if value < threshold else None
        if payload is not None:
            asked += 1
            if prover.oracle.why_wrong(baseline.problem, payload) is not None:
                best, reached = payload.text, value
                break
    return Climb(baseline.problem.id, best, reached, baseline.null, threshold, generations)


def _value(score: Score) -> float:
    if score.value is None or math.isnan(score.value):
        return -1.0
    return score.value


def _behaviour(text: str, value: float) -> tuple[float, ...]:
    """The coordinates of a text: its score, its size, and what it is made of."""
    size = max(1, len(text))
    words = text.split()
    bounded = max(-10.0, min(10.0, value))
    return (
        2.0 * bounded,
        math.log1p(len(text)) / 2,
        math.log1p(text.count("\n")),
        2.0 * sum(char.isdigit() for char in text) / size,
        2.0 * len(re.findall(r"[^\w\s]", text)) / size,
        len(set(words)) / max(1, len(words)),
    )
