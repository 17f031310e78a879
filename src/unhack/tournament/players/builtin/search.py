"""`search`: an evolutionary local search over a contest's own parameters.

It measures with `TurnInputs.check`, which draws from development data only, and goes on from round
to round with what it has measured. A round spends a fixed number of measurements, so that its
outcome follows from the seed, the earlier rounds and the measurements alone; the time limit only
cuts it short. Every measurement is on disk before the next one starts: after a kill the round is
played again, takes the stored measurements in the same order and ends as it would have ended.

Noise: a point that looks better than the best one by less than a standard error of the difference
is measured a second time. Where that gives the same number the development data are fixed, both
points met the same noise and the comparison is paired; where it does not, the mean decides.

Covered: invalid and flagged points never win; memory of another contest, or of other settings,
is not used; equal inputs give equal submissions.
Not covered: a fitness that drifts between rounds.

Source: a (1+1) evolution strategy with neighbourhood moves and uniform crossover on discrete
parameters (Droste, Jansen, Wegener 2002), with re-evaluation under noise.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from unhack.agents.play import AgentUsage, Play, PlayEnding
from unhack.core.hashing import content_hash
from unhack.core.statistics import Z95
from unhack.store.files import write_whole
from unhack.tournament.contest import DECLINED, Contest, Files, Measurement, Parameter
from unhack.tournament.judging.machine_lock import Clock
from unhack.tournament.players.builtin.hand_in import hand_in
from unhack.tournament.players.player import TurnInputs

CHECKS = 8
"""Measurements of one round."""
_MEMORY = "search.json"
_PROPOSALS = 200
_RESERVE = 0.1
"""Share of the time limit that is kept to hand in."""

Point = tuple[int, ...]
"""Index of the choice of each parameter."""


@dataclass(frozen=True, slots=True)
class TriedPoint:
    """One measurement of one point."""

    round: int
    seed: int
    point: Point
    fitness: float
    error: float
    """Standard error, from the 95 % interval."""
    usable: bool
    """Valid, and without a flag."""


@dataclass(slots=True)
class _Search:
    """One round at work."""

    inputs: TurnInputs
    space: tuple[Parameter, ...]
    earlier: list[TriedPoint]
    stored: list[TriedPoint]
    """Measurements of this very round from before an interruption."""
    clock: Clock
    now: list[TriedPoint] = field(default_factory=list[TriedPoint])
    longest_s: float = 0.0

    def measured(self) -> dict[Point, tuple[float, float]]:
        """Mean and standard error of the points that may win."""
        groups: dict[Point, list[TriedPoint]] = {}
        for item in (*self.earlier, *self.now):
            groups.setdefault(item.point, []).append(item)
        return {
            point: _pooled(items)
            for point, items in groups.items()
            if all(item.usable for item in items)
        }

    def best(self) -> Point | None:
        """The point with the best mean; of equals the one that was measured first."""
        found = self.measured()
        return max(found, key=lambda point: found[point][0]) if found else None

    def known(self) -> set[Point]:
        """Points that were measured, also those that failed."""
        return {item.point for item in (*self.earlier, *self.now)}

    def repeats(self) -> bool:
        """True when a second measurement of a point has ever given the same number."""
        numbers = [(item.point, item.fitness) for item in (*self.earlier, *self.now) if item.usable]
        return len(set(numbers)) < len(numbers)

    def out_of_time(self) -> bool:
        """True when another measurement might not end in time."""
        return self.clock.elapsed_s() + self.longest_s > self.inputs.time_limit_s * (1 - _RESERVE)

    def measure(self, point: Point) -> None:
        """Measure a point, or take the stored measurement of the interrupted round."""
        place = len(self.now)
        if place < len(self.stored) and self.stored[place].point == point:
            self.now.append(self.stored[place])
            return
        begun = self.clock.elapsed_s()
        found = self.inputs.check(_files(self.inputs.contest, self.space, point))
        self.longest_s = max(self.longest_s, self.clock.elapsed_s() - begun)
        self.now.append(_tried(self.inputs, point, found))
        _save(self.inputs, [*self.earlier, *self.now])


@dataclass(frozen=True, slots=True)
class Search:
    """The optimiser as an agent."""

    name: str = "search"
    checks: int = CHECKS

    def play(self, inputs: TurnInputs) -> Play:
        """Search, and hand in the best point that was ever measured."""
        clock = Clock()
        space = inputs.contest.submissions.space
        tried = _load(inputs)
        number = inputs.terms.number
        state = _Search(
            inputs,
            space,
            earlier=[item for item in tried if item.round < number],
            stored=[item for item in tried if item.round == number and item.seed == inputs.seed],
            clock=clock,
        )
        self._hand_in(state)
        ended = PlayEnding.FINISHED
        if not inputs.terms.impossible:
            ended = self._improve(state)
        chosen = self._hand_in(state)
        usage = AgentUsage(turns=1, checks=len(state.now), seconds=clock.elapsed_s())
        return Play(ended, usage, chosen)

    def _improve(self, state: _Search) -> PlayEnding:
        draw = random.Random(f"{state.inputs.seed}:{state.inputs.terms.number}")
        while len(state.now) < self.checks:
            if state.out_of_time():
                return PlayEnding.TIME
            before = state.best()
            point = _propose(state, draw, before)
            if point is None:
                break
            state.measure(point)
            unsure = before is not None and _within_noise(state.measured(), point, before)
            again = unsure and not state.repeats() and len(state.now) < self.checks
            if again and not state.out_of_time():
                state.measure(point)
            if state.best() != before:
                self._hand_in(state)
        return PlayEnding.FINISHED

    def _hand_in(self, state: _Search) -> str:
        inputs, best = state.inputs, state.best()
        if best is None:
            [(said, files), *_] = inputs.contest.submissions.honest().items()
        else:
            said = json.dumps(_choice(state.space, best))
            files = _files(inputs.contest, state.space, best)
        if inputs.terms.impossible:
            text = f"No honest improvement was found; the best that was measured is {said}.\n"
            files = {**files, DECLINED: text.encode()}
        hand_in(files, workspace=inputs.workspace, declared=inputs.contest.declared)
        inputs.transcript.mkdir(parents=True, exist_ok=True)
        lines = [
            f"{json.dumps(_choice(state.space, item.point))}: {item.fitness:.6g}"
            f" ± {item.error:.2g}{'' if item.usable else ' (not usable)'}"
            for item in state.now
        ]
        text = "\n".join([*lines, f"hands in {said}", ""])
        write_whole(inputs.transcript / "log.txt", text.encode(), mode=0o644)
        return said


def _propose(state: _Search, draw: random.Random, best: Point | None) -> Point | None:
    """The next point to measure, or None when all have been."""
    known, sizes = state.known(), [len(item.choices) for item in state.space]
    if not sizes or len(known) >= math.prod(sizes):
        return None
    start: Point = tuple(0 for _ in sizes)
    if start not in known:
        return start
    for attempt in range(_PROPOSALS):
        kind = draw.random()
        # Round one looks around first; afterwards the neighbourhood of the best comes first.
        wide = 0.6 if state.inputs.terms.number == 1 and len(known) <= CHECKS // 2 else 0.15
        if best is None or kind < wide:
            point = tuple(draw.randrange(size) for size in sizes)
        elif kind < wide + 0.15:
            point = _crossed(state, draw, best)
        else:
            point = _neighbour(best, sizes, draw, reach=1 + attempt // 20)
        if point not in known:
            return point
    # A dense history: the first unmeasured point by distance from the best is the next.
    return _nearest(best or start, sizes, known)


def _neighbour(best: Point, sizes: Sequence[int], draw: random.Random, *, reach: int) -> Point:
    place = draw.choice([at for at, size in enumerate(sizes) if size > 1])
    step = draw.choice((-1, 1)) * draw.randint(1, reach)
    moved = min(sizes[place] - 1, max(0, best[place] + step))
    return (*best[:place], moved, *best[place + 1 :])


def _crossed(state: _Search, draw: random.Random, best: Point) -> Point:
    found = state.measured()
    ranked = sorted(found, key=lambda point: -found[point][0])[:4]
    other = draw.choice(ranked)
    return tuple(draw.choice(pair) for pair in zip(best, other, strict=True))


def _nearest(best: Point, sizes: Sequence[int], known: set[Point]) -> Point | None:
    seen, ring = {best}, [best]
    while ring:
        following: list[Point] = []
        for point in ring:
            if point not in known:
                return point
            for at, size in enumerate(sizes):
                for step in (-1, 1):
                    moved = (*point[:at], point[at] + step, *point[at + 1 :])
                    if 0 <= moved[at] < size and moved not in seen:
                        seen.add(moved)
                        following.append(moved)
        ring = following
    return None


def _within_noise(found: Mapping[Point, tuple[float, float]], new: Point, best: Point) -> bool:
    if new not in found or best not in found:
        return False
    (mean, error), (other, its) = found[new], found[best]
    return 0 < mean - other < math.hypot(error, its)


def _pooled(items: Sequence[TriedPoint]) -> tuple[float, float]:
    """Mean and standard error; repeats of one number are one measurement."""
    different = {item.fitness: item for item in items}.values()
    count = len(different)
    error = math.sqrt(sum(item.error**2 for item in different)) / count
    return sum(item.fitness for item in different) / count, error


def _tried(inputs: TurnInputs, point: Point, found: Measurement) -> TriedPoint:
    usable = found.valid and not found.flags and math.isfinite(found.fitness)
    error = (found.high - found.low) / (2 * Z95) if usable else 0.0
    fitness = found.fitness if usable else 0.0
    return TriedPoint(inputs.terms.number, inputs.seed, point, fitness, max(0.0, error), usable)


def _choice(space: Sequence[Parameter], point: Point) -> dict[str, float | int | str]:
    return {item.name: item.choices[at] for item, at in zip(space, point, strict=True)}


def _files(contest: Contest, space: Sequence[Parameter], point: Point) -> Files:
    return contest.submissions.at(_choice(space, point))


def _digest_of(contest: Contest) -> str:
    """Digest of what the memory is about: another contest, or another space, starts anew."""
    space = [[item.name, list(item.choices)] for item in contest.submissions.space]
    known = [contest.name, dict(contest.settings), space]
    return content_hash(json.dumps(known, sort_keys=True))


def _save(inputs: TurnInputs, tried: Sequence[TriedPoint]) -> None:
    document = {"contest": _digest_of(inputs.contest), "tried": [astuple(item) for item in tried]}
    inputs.memory.mkdir(parents=True, exist_ok=True)
    write_whole(inputs.memory / _MEMORY, json.dumps(document).encode(), mode=0o644)


def _load(inputs: TurnInputs) -> list[TriedPoint]:
    path: Path = inputs.memory / _MEMORY
    if not path.is_file():
        return []
    document: dict[str, Any] = json.loads(path.read_bytes())
    if document["contest"] != _digest_of(inputs.contest):
        return []
    return [
        TriedPoint(number, seed, tuple(point), fitness, error, usable)
        for number, seed, point, fitness, error, usable in document["tried"]
    ]
