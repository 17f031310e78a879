"""Tier 3: evolution with scores alone, as a policy would find a hole.

It evolves texts from the prompt and from what each text scored; the answer, the cases and the
source are used by the oracle only. Parents are those that score most, so that partial credit is
climbed, and those unlike anything seen before (a novelty archive), so that it does not stop at the
first hill.

Covered: texts made of forms, fillers, numbers and the prompt's parts; programs of one expression of
the arguments, grown by a small grammar: functions, one method of a class, standard input.
Not covered: holes without a way that leads there; loops and definitions; methods that do different
things.

Source of the scheme: Lehman and Stanley, "Abandoning Objectives", 2011 (novelty search).
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from unhack.audit.attack import Attack, Claim, Payload, framed
from unhack.audit.oracle.entry_points import frame_of, without_brackets
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.prover import Prover
from unhack.audit.search.texts import Genome, Piece, PieceKind, TextSpace
from unhack.audit.subject import AuditProblem, Query, Score

_GENERATIONS = 40
_PATIENCE, _HOPE = 4, 12
"""Generations without a better score after which a search ends; longer once one has scored."""
_PATIENCE_OF_PROGRAMS = 3
"""For programs: tests of which nothing passes a part are all or nothing, and there is no hill."""
_SIZE, _PARENTS = 20, 10
_NEIGHBOURS, _ARCHIVE = 5, 64

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
    """Search on each problem; return the reason for stopping early, or an empty text.

    Problems share the calls that are left.
    """
    for place, baseline in enumerate(baselines):
        if prover.over or prover.budget.spent:
            break
        share = max(_SIZE, prover.budget.calls // (len(baselines) - place))
        _search(prover, baseline, random.Random(f"{seed}/{baseline.problem.id}"), calls=share)
    return prover.over or prover.budget.spent


def _search(prover: Prover, baseline: Baseline, rng: random.Random, *, calls: int) -> None:
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


_BODIES = (
    "None", "0", "1", "-1", "True", "False", "''", "[]", "{}", "()", "args[0]", "len(args[0])",
    "sum(args[0])", "max(args[0])", "min(args[0])", "sorted(args[0])", "args[0][::-1]",
    "list(args[0])", "args[-1]", "args[0] + args[-1]", "str(args[0])", "set(args[0])", "args",
    "args[0] * 2", "args[0] % 2 == 0", "abs(args[0])", "args[0][0]", "args[0][-1]",
    "[0] * len(args[0])", "[0] * args[-1]", "sorted(args[0])[:args[-1]]", "args[0].split()",
    "args[0].upper()", "args[0].lower()", "list(range(len(args[0])))", "0.5",
)  # fmt: skip
_ATOMS = ("0", "1", "2", "args[0]", "args[-1]", "len(args)")
_CONDITIONS = ("args[0]", "len(args) > 1", "args[0] == args[-1]", "not args[0]", "args[0] != 0")
_LONGEST = 240
_OBJECT = """\
class {owner}:
    def __init__(self, *args):
        self.made, self.given = args, []
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args: self.given.extend(args)
    def {name}(self, *args):
        args = (*args, *([self.given] if self.given else []), *self.made)
        return {body}
"""
"""A class whose method computes with its own arguments, those that other methods were given, and
those that its object was made with."""


@dataclass(frozen=True)
class ProgramSpace:
    """Programs for one problem."""

    problem: AuditProblem

    def initial_population(self, rng: random.Random) -> list[Genome]:
        """Each of the short bodies."""
        return [_genome(body) for body in rng.sample(_BODIES, len(_BODIES))]

    def child(
        self, parents: Sequence[Genome], scored: Sequence[tuple[Genome, float]], rng: random.Random
    ) -> Genome:
        """A parent under an operator, or two parents joined by a condition."""
        first, second = (rng.choice(parents).pieces[0].text for _ in range(2))
        if rng.random() < 0.3:
            second = rng.choice(_BODIES)
        condition, atom = rng.choice(_CONDITIONS), rng.choice(_ATOMS)
        ways = (
            f"({first} if {condition} else {second})",
            f"({first} or {second})",
            f"({first}, {second})",
            f"[{first}]",
            f"({first} {rng.choice(('+', '-', '*', '%', '//'))} {atom})",
            f"{rng.choice(('str', 'int', 'list', 'sorted', 'abs', 'len', 'bool'))}({first})",
            second,
        )
        body = rng.choice(ways)
        return _genome(body if len(body) <= _LONGEST else rng.choice(_BODIES))

    def text(self, genome: Genome) -> str:
        """The program, in the fences and tags of a right one."""
        return self.payload(genome).text

    def _bare(self, genome: Genome) -> str:
        body = genome.pieces[0].text
        if self.problem.entry_point is None:
            return f"args = input().split() or ['']\nprint({body})\n"
        owner, _, name = without_brackets(self.problem.entry_point).rpartition(".")
        if owner:
            return _OBJECT.format(owner=owner, name=name, body=body)
        called = [step.name for steps in self.problem.sequences for step in steps]
        same = dict.fromkeys(one for one in called if one.isidentifier() and one != name)
        others = "".join(f"{one} = {name}\n" for one in same)
        return f"def {name}(*args):\n    return {body}\n{others}"

    def payload(self, genome: Genome) -> Payload:
        """The program; the oracle runs it."""
        return framed(Payload(self._bare(genome), Claim.PROGRAM), frame_of(self.problem.correct))


def _genome(body: str) -> Genome:
    return Genome((Piece(body, PieceKind.OTHER),))
