"""Gains and their intervals: what they cover, and when enough pairs have been made."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels import score
from unhack_contests.kernels.calls.gains import TrimmedGains
from unhack_contests.kernels.calls.session import KernelCall
from unhack_contests.kernels.calls.stopping import Looks, close_enough
from unhack_contests.kernels.calls.verdict import OutputKind, OutputVerdict

pytestmark = pytest.mark.slow

RUNS = 1500
Noise = Callable[[Generator, int], NDArray[np.float64]]


def normal(rng: Generator, count: int) -> NDArray[np.float64]:
    return 0.1 * rng.standard_normal(count)


def wild(rng: Generator, count: int) -> NDArray[np.float64]:
    """One of ten calls is off by five times as much."""
    return normal(rng, count) * np.where(rng.random(count) < 0.1, 5.0, 1.0)


def late(rng: Generator, count: int) -> NDArray[np.float64]:
    """Differences of what is only ever too late."""
    return 0.1 * (rng.lognormal(0, 0.8, count) - rng.lognormal(0, 0.8, count))


def interval(rng: Generator, noise: Noise, count: int) -> tuple[float, float, float]:
    made = TrimmedGains()
    for _ in range(2):
        made.add(noise(rng, count), ceiling=math.inf)
    return made.mean()


@pytest.mark.parametrize("noise", [normal, wild, late])
@pytest.mark.parametrize("count", [4, 9, 30])
def test_an_interval_covers_in_95_of_100_cases(noise: Noise, count: int) -> None:
    rng = np.random.default_rng(5)
    found = [interval(rng, noise, count) for _ in range(RUNS)]
    assert np.mean([low <= 0 <= high for _, low, high in found]) >= 0.94


@pytest.mark.parametrize("noise", [normal, wild, late])
def test_where_equal_programs_end_a_measurement_intervals_cover_all_the_same(noise: Noise) -> None:
    rng = np.random.default_rng(6)
    covered: list[tuple[bool, bool]] = []
    biases: list[float] = []
    for _ in range(RUNS // 2):
        reference, twin, own = (np.stack([noise(rng, 120) for _ in range(2)]) for _ in range(3))
        looks = Looks(9)
        for count in range(9, 121):
            if not looks.due(count):
                continue
            equal = _mean(reference[:, :count] - twin[:, :count])
            if 2 ** (abs(equal[0]) + equal[2] - equal[0]) - 1 <= 0.05:
                break
        mine = _mean(reference[:, :count] - own[:, :count])
        covered.append((equal[1] <= 0 <= equal[2], mine[1] <= 0 <= mine[2]))
        biases.append(mine[0])
    assert min(np.mean(covered, axis=0)) >= 0.935
    assert abs(np.mean(biases)) < 4 * np.std(biases) / math.sqrt(len(biases))


def _mean(gains: NDArray[np.float64]) -> tuple[float, float, float]:
    made = TrimmedGains()
    for group in gains:
        made.add(group, ceiling=math.inf)
    return made.mean()


def test_a_wild_fifth_at_either_end_moves_nothing() -> None:
    calm = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    upset = np.array([-9.0, -8.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 80.0, 90.0])
    assert _mean(calm[None]) == pytest.approx(_mean(upset[None]))


def test_a_ceiling_bounds_the_centre_and_the_upper_end() -> None:
    made = TrimmedGains()
    assert made.add(np.linspace(2, 3, 9), ceiling=1.0) == 1.0
    centre, low, high = made.mean()
    assert low < centre == high == 1.0


def test_looks_are_few() -> None:
    looks = Looks(9)
    assert [count for count in range(1, 60) if looks.due(count)] == [9, 12, 15, 19, 24, 30, 38, 48]


@pytest.mark.parametrize(
    ("equal", "half", "enough"),
    [(0.01, 0.015, True), (0.02, 0.015, False), (-0.02, 0.015, False), (0, 0.03, False)],
)
def test_enough_is_two_percent_at_the_far_end(equal: float, half: float, enough: bool) -> None:
    assert close_enough(equal, half) is enough


def call(reference_s: float, twin_s: float | None, submission_s: float, **more: int) -> KernelCall:
    finding = OutputVerdict(OutputKind.RIGHT, 0.0, 1.0)
    times = (reference_s, submission_s, submission_s, 1e-9)
    return KernelCall("softmax", False, *times, finding, twin_s=twin_s, **more)


def test_nothing_of_a_submission_is_in_the_control() -> None:
    noise = [1.0, 1.02, 0.98, 1.01, 0.99]
    slow, fast = (
        [call(1e-3 * n, 1e-3 / n, own * n**3) for n in noise] for own in (5e-3, 1e-4)
    )  # fmt: skip
    found = score.equal_programs(slow, TrimmedGains)
    assert found == score.equal_programs(fast, TrimmedGains)
    assert found is not None
    assert score.equal_programs([call(1.0, None, 1.0)], TrimmedGains) is None


def test_a_charge_is_of_a_call_whatever_the_number_of_its_sets() -> None:
    fitness = {}
    for sets in (1, 10):
        calls = [call(1e-3, 1e-3, 0.5e-3, sets=sets) for _ in range(9)]
        record = score.CallRecord(calls=calls, idle_s=9 * 1e-3)
        for one in calls:
            one.cpu_s = 0.5  # so much work on the clock that nobody is accused
        fitness[sets] = score.decide(record, charge_load=False, gains=TrimmedGains).fitness
    assert fitness[1] == 0.0
    assert fitness[10] == pytest.approx(math.log2(1 / 0.6))
