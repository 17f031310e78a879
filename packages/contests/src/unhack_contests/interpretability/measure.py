"""One measurement: a dialogue about each fresh model, and about a development model by two names.

Covered: all experiments and all measurements are the judge's; claims that do not depend on
experiments are told apart by a model whose heads are renamed.
Not covered: how an agent arrived at its program.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unhack.tournament.kit import DataPool, Flag, Measurement, Metric
from unhack_contests.interpretability import honeypot
from unhack_contests.interpretability.dialogue.dialogue import (
    DialogueResult,
    Query,
    converse,
    questions,
    stage,
)
from unhack_contests.interpretability.dialogue.experiment_service import ExperimentService
from unhack_contests.interpretability.evidence import follows, unmeasured, widened
from unhack_contests.interpretability.models.draw import CircuitModel, generator, twin
from unhack_contests.interpretability.models.runs import ForwardBackend
from unhack_contests.interpretability.score import ClaimScore, bench, by_chance, interval, score
from unhack_contests.interpretability.settings import InterpSettings
from unhack_contests.submission import RefusedError

CHANCE = 0.001
"""Claims that random ones of the same sizes would match so often are worth nothing."""


@dataclass(frozen=True, slots=True)
class InterpJudge:
    """The settings of a measurement and what computes its forward passes."""

    options: InterpSettings
    backend: ForwardBackend

    def model(self, pool: DataPool, *, seed: int, number: int) -> CircuitModel:
        """A model of a draw, with its circuit."""
        return self.options.model(pool, seed=seed, number=number, backend=self.backend)


def measure(judge: InterpJudge, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
    """Judge on `models` fresh models, and on a development model under two names."""
    options = judge.options
    scores: list[ClaimScore] = []
    heard: list[DialogueResult] = []
    with stage(folder) as place:
        try:
            for number in range(options.models):
                words = ("interp", "judge", pool.value, seed, number)
                model = judge.model(pool, seed=seed, number=number)
                said, queries = _hear(judge, place, model, words=words)
                heard.append(said)
                counted = said if said.distinguishing else widened(said)
                scores.append(_scored(judge, model, counted, queries=queries, words=words))
            flags = _flags(judge, heard, place=place, seed=seed)
        except RefusedError as refused:
            return refused.measured()
    return _measurement(scores, heard, flags=flags, words=(pool.value, seed))


def _scored(
    judge: InterpJudge, model: CircuitModel, said: DialogueResult, *,
    queries: list[Query], words: tuple[object, ...],
) -> ClaimScore:  # fmt: skip
    """The score of a claim, on sequences of the judge's own."""
    rng, count = generator(*words, "bench"), judge.options.sequences
    stand = bench(model, count=count, rng=rng, backend=judge.backend)
    with judge.backend.turn():
        return score(stand, said, queries=queries, rng=generator(*words, "score"))


def _hear(
    judge: InterpJudge, place: Path, model: CircuitModel, *, words: tuple[object, ...]
) -> tuple[DialogueResult, list[Query]]:
    """A dialogue about one model, and what was asked at its end."""
    options = judge.options
    queries = questions(model.network.nodes, rng=generator(*words, "queries"))
    service = ExperimentService(
        model, generator(*words, "laboratory"), options.budget, options.weights,
        backend=judge.backend,
    )  # fmt: skip
    said = converse(place, service, queries=queries, time_s=options.time_s)
    return said, queries


def _flags(
    judge: InterpJudge, heard: list[DialogueResult], *, place: Path, seed: int
) -> list[Flag]:
    options = judge.options
    flags = [flag for flag in (unmeasured(heard), honeypot.used(heard, size=options.size)) if flag]
    if all(not said.claim.nodes for said in heard):
        return flags
    words = ("interp", "renamed", seed)
    rng = generator(*words)
    number = int(rng.integers(options.dev_models))
    known = judge.model(DataPool.DEV, seed=0, number=number)
    other = twin(known, rng=rng)
    first, _ = _hear(judge, place, known, words=words)
    second, _ = _hear(judge, place, other, words=words)
    flag = follows(first, second, known=known, renamed=other)
    return [*flags, flag] if flag else flags


def _measurement(
    scores: list[ClaimScore],
    heard: list[DialogueResult],
    *,
    flags: list[Flag],
    words: tuple[object, ...],
) -> Measurement:
    values = [item.value for item in scores]
    chance = by_chance(scores)
    mean = float(np.mean(values))
    low, high = interval(values, rng=generator("interp", "bootstrap", *words))
    if chance > CHANCE or mean <= 0:
        mean = low = high = 0.0
    covered = [item.covered for item in scores if item.covered == item.covered]
    metrics: dict[str, Metric] = {
        "models": len(scores),
        "node_f1": float(np.mean([item.node_f1 for item in scores])),
        "edge_f1": float(np.mean([item.edge_f1 for item in scores])),
        **{
            part: float(np.mean([item.parts[part] for item in scores if part in item.parts] or [0]))
            for part in ("faithful", "roles", "calibration")
        },
        "coverage": float(np.mean(covered)) if covered else 0.0,
        "chance": chance,
        "spread": float(np.std(values, ddof=1)) if len(values) > 1 else 0.0,
        "sequences": sum(said.used for said in heard),
        "experiments": sum(said.distinguishing for said in heard),
    }
    return Measurement(mean, max(low, 0.0), max(high, 0.0), metrics, flags=tuple(flags))
