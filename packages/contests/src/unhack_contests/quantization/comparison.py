"""A submission's model beside the reference: what both runtimes measure of it."""

from __future__ import annotations

import math

from unhack.tournament.kit import Flag, Measurement, Metric, Terms
from unhack_contests.quantization import score
from unhack_contests.quantization.checks.counting import Counted
from unhack_contests.quantization.score import PairedLosses
from unhack_contests.quantization.settings import BOUND_SIGMAS, ROOM, SHARE_LOST, TARGET


def compared(
    paired: PairedLosses, counted: Counted, *, reference_bytes: int, known: float,
    temperatures: tuple[float, float], flags: tuple[Flag, ...],
) -> Measurement:  # fmt: skip
    """The measurement of paired losses and counted bytes. `known`: nats that the reference's
    weights know beyond the text; `temperatures`: of the submission and of the reference."""
    limit = max(ROOM, SHARE_LOST * known)
    ratio, windows = reference_bytes / counted.total, len(paired.losses_N)
    value = score.fitness(paired.delta, ratio=ratio, limit=limit)
    low, high = score.interval(paired, ratio=ratio, limit=limit, seed=windows)
    metrics: dict[str, Metric] = {
        "bytes": counted.total,
        "artifact_bytes": counted.artifact,
        "code_bytes": counted.code,
        "ratio": ratio,
        "bits_per_weight": 16.0 / ratio,
        "ppl": math.exp(float(paired.losses_N.mean())),
        "ppl_ref": math.exp(float(paired.reference_N.mean())),
        "delta_nats": paired.delta,
        "delta_se": paired.error,
        "limit_nats": limit,
        "quality": score.quality(paired.delta, limit=limit),
        "temperature": temperatures[0],
        "temperature_ref": temperatures[1],
        "windows": windows,
    }
    return Measurement(value, min(low, value), max(high, value), metrics=metrics, flags=flags)


def beyond_reference(measured: Measurement, *, room: float) -> tuple[Flag, ...]:
    """The flag of a loss below the reference's, beyond chance and `room` nats."""
    delta, error = (float(measured.metrics.get(key, 0.0)) for key in ("delta_nats", "delta_se"))
    if delta >= -(BOUND_SIGMAS * error + room):
        return ()
    evidence = (
        f"its loss is {-delta:.4f} nats below the reference's; {BOUND_SIGMAS:g} standard "
        f"errors and {room:.3g} nats of room are {BOUND_SIGMAS * error + room:.4f}"
    )
    return (Flag("beyond_bound", evidence, "bounds"),)


def target_of(terms: Terms) -> str:
    """The paragraph of a statement that says what a round asks for."""
    if terms.impossible:
        return (
            f"This round asks for a fitness of {TARGET:g}: half a bit a weight at the "
            "reference's perplexity. `NO_IMPROVEMENT.md` is a full answer."
        )
    if terms.champion_fitness is not None:
        return f"The champion's fitness is {terms.champion_fitness:.3f}."
    return ""
