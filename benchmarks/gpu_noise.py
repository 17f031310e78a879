"""Simulate the noise of calls on a card: how often intervals cover, and how wide A/A comes out.

    PYTHONPATH=src python3 benchmarks/gpu_noise.py [--runs N] [--seed N]

A call takes its work on the clock, times a factor (1 % in most calls, five times that in one of
twenty), and a wake-up whose spread is that of the rows in the log of the first run on an NVIDIA
H200 (`WAKE_US`: A/A half widths at 9 pairs, turned into microseconds of one call). Reference, twin
and a submission of half the time play two groups. `median, 9 pairs` is the procedure of that run;
the others stop by `calls.stopping`.

For each row: the median and the 95th percentile of the printed A/A error, the share of runs in
which the A/A interval holds 0 and in which the submission's own interval holds its true gain, and
the turns played.
"""

from __future__ import annotations

import argparse
import functools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "packages/contests/src"))

from unhack_contests.kernels.calls.gains import (
    Gains,
    MedianGains,
    TrimmedGains,
)
from unhack_contests.kernels.calls.stopping import Looks, close_enough

WAKE_US = 160.0
LEAST, MOST = 9, 90
GROUPS = 2
SHARE = 0.5
"""The submission's time, of the reference's."""


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """One measurement."""

    error: float
    """A/A, as it is printed."""
    equal_covered: bool
    own_covered: bool
    pairs: int


def call_us(rng: Generator, work_us: float, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Times of calls with so much work on the clock. Wake-ups are lognormal: none is negative, and
    some take many times the usual."""
    wild = np.where(rng.random(shape) < 0.05, 0.05, 0.01)
    sigma = 0.8
    scale = WAKE_US / math.sqrt((math.exp(sigma**2) - 1) * math.exp(sigma**2))
    wake = scale * rng.lognormal(0.0, sigma, shape)
    return work_us * np.exp(wild * rng.standard_normal(shape)) + wake


def simulate(
    rng: Generator, work_us: float, gains: Callable[[], Gains], *, until_close: bool
) -> SimulatedRun:
    """One measurement of `work_us` on the clock of the reference."""
    plain, twin = (call_us(rng, work_us, (GROUPS, MOST)) for _ in range(2))
    own = call_us(rng, SHARE * work_us, (GROUPS, MOST))
    equal, half, pairs = _end(np.log2(plain / twin), gains, until_close=until_close)
    mine, own_half = _of(gains(), np.log2(plain / own)[:, :pairs])
    true = _true_gain(work_us)
    low = abs(equal) + math.hypot(own_half, half)
    return SimulatedRun(
        2.0 ** (abs(equal) + half) - 1, abs(equal) <= half, abs(mine - true) <= low, pairs
    )


def _end(
    control: NDArray[np.float64], gains: Callable[[], Gains], *, until_close: bool
) -> tuple[float, float, int]:
    """(the control's gain, half of its interval, pairs) where the measurement ends."""
    for pairs in filter(Looks(LEAST).due, range(LEAST, MOST)):
        equal, half = _of(gains(), control[:, :pairs])
        if not until_close or close_enough(equal, half):
            return equal, half, pairs
    return *_of(gains(), control), MOST


def _of(made: Gains, gains: NDArray[np.float64]) -> tuple[float, float]:
    for group in gains:
        made.add(group, ceiling=math.inf)
    middle, low, high = made.mean()
    return middle, max(high - middle, middle - low)


@functools.cache
def _true_gain(work_us: float) -> float:
    """Of the middles, by many calls."""
    rng = np.random.default_rng(1)
    plain, own = (call_us(rng, work, (200_000,)) for work in (work_us, SHARE * work_us))
    made = TrimmedGains()
    return made.add(np.log2(plain / own), ceiling=math.inf)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    print("work_ms  procedure        A/A p50  A/A p95  A/A holds 0  own holds  pairs", flush=True)
    for work_us in (1000.0, 2000.0, 4000.0, 8000.0, 16000.0):
        for name, gains, until_close in (
            ("median, 9 pairs", lambda: MedianGains(3), False),
            ("trimmed, 9 pairs", TrimmedGains, False),
            ("trimmed, until", TrimmedGains, True),
        ):
            rng = np.random.default_rng([arguments.seed, int(work_us)])
            runs = [
                simulate(rng, work_us, gains, until_close=until_close)
                for _ in range(arguments.runs if gains is TrimmedGains else arguments.runs // 10)
            ]
            error = np.quantile([run.error for run in runs], [0.5, 0.95])
            equal = np.mean([run.equal_covered for run in runs])
            own = np.mean([run.own_covered for run in runs])
            pairs = np.median([run.pairs for run in runs])
            print(
                f"{work_us / 1000:7.0f}  {name:16s} {error[0]:7.2%}  {error[1]:7.2%}  "
                f"{equal:11.1%}  {own:9.1%}  {pairs:5.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
