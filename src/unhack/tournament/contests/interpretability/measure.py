"""One measurement: a dialogue about each fresh model, and about a development model by two names.

Covered: all experiments and all measurements are the judge's; claims that do not depend on
experiments are told apart by a model whose heads are renamed.
Not covered: how an agent arrived at its program.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unhack.tournament.contest import DataPool, Flag, Measurement, Metric, invalid
from unhack.tournament.contests.interpretability import honeypot
from unhack.tournament.contests.interpretability.dialogue.dialogue import (
    DialogueError,
    DialogueResult,
    converse,
    questions,
    stage,
)
from unhack.tournament.contests.interpretability.dialogue.laboratory import Laboratory
from unhack.tournament.contests.interpretability.evidence import follows, unmeasured, widened
from unhack.tournament.contests.interpretability.models.draw import CircuitModel, generator, twin
from unhack.tournament.contests.interpretability.models.network import Node
from unhack.tournament.contests.interpretability.score import (
    ClaimScore,
    bench,
    by_chance,
    interval,
    score,
)
from unhack.tournament.contests.interpretability.settings import InterpSettings

CHANCE = 0.001
"""Claims that random ones of the same sizes would match so often are worth nothing."""


def measure(options: InterpSettings, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
    """Judge on `models` fresh models, and on a development model under two names."""
    scores: list[ClaimScore] = []
    heard: list[DialogueResult] = []
    with stage(folder) as place:
        try:
            for number in range(options.models):
                words = ("interp", "judge", pool.value, seed, number)
                model = options.model(pool, seed=seed, number=number)
                said, queries = _hear(options, place, model, words=words)
                stand = bench(model, count=options.sequences, rng=generator(*words, "bench"))
                heard.append(said)
                counted = said if said.distinguishing else widened(said)
                scores.append(
                    score(stand, counted, queries=queries, rng=generator(*words, "score"))
                )
            flags = _flags(options, heard, place=place, seed=seed)
        except DialogueError as error:
            return invalid(str(error), *([error.flag] if error.flag else []))
    return _measurement(scores, heard, flags=flags, words=(pool.value, seed))


def _hear(
    options: InterpSettings, place: Path, model: CircuitModel, *, words: tuple[object, ...]
) -> tuple[DialogueResult, list[tuple[Node, ...]]]:
    """A dialogue about one model, and what was asked at its end."""
    queries = questions(model.network.nodes, rng=generator(*words, "queries"))
    laboratory = Laboratory(model, generator(*words, "laboratory"), options.budget, options.weights)
    said = converse(place, laboratory, queries=queries, time_s=options.time_s)
    return said, queries


def _flags(
    options: InterpSettings, heard: list[DialogueResult], *, place: Path, seed: int
) -> list[Flag]:
    flags = [flag for flag in (unmeasured(heard), honeypot.used(heard, size=options.size)) if flag]
    if all(not said.claim.nodes for said in heard):
        return flags
    words = ("interp", "renamed", seed)
    rng = generator(*words)
    number = int(rng.integers(options.dev_models))
    known = options.model(DataPool.DEV, seed=0, number=number)
    other = twin(known, rng=rng)
    first, _ = _hear(options, place, known, words=words)
    second, _ = _hear(options, place, other, words=words)
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
