"""The contest `kernels`: honest work is valid, tricks are worth nothing and are named."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.sampling import quick_ones

from unhack.tournament.contest import DataPool, Files, Measurement
from unhack.tournament.contests.registry import load_contest
from unhack_contests.kernels.contest import Kernels
from unhack_contests.kernels.problems.registry import NAMES

pytestmark = pytest.mark.slow

QUICK = {"sizes": "small", "pairs": "4", "hidden_pairs": "3"}


def contest(**options: str) -> Kernels:
    made = load_contest("kernels", {**QUICK, **options})
    assert isinstance(made, Kernels)
    return made


def measure(made: Kernels, files: Files, folder: Path, *, seed: int = 3) -> Measurement:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return made.measure(folder, pool=DataPool.JUDGE, seed=seed)


def kinds(made: Kernels, measured: Measurement) -> set[str]:
    return {flag.kind for flag in (*measured.flags, *made.bounds(measured))}


def _thinned(names: Iterable[str]) -> list[Any]:
    """Every third of a family stays in the default tests; the others are slow."""
    return [
        name if index % 3 == 0 else pytest.param(name, marks=pytest.mark.slow)
        for index, name in enumerate(names)
    ]


SAMPLE = _thinned(NAMES)


class TestHonestWork:
    @pytest.mark.parametrize("name", quick_ones(SAMPLE, SAMPLE[:2]))
    def test_every_reference_is_right(self, tmp_path: Path, name: str) -> None:
        made = contest(problem=name, pairs="2", hidden_pairs="4")
        found = measure(made, made.submissions.identity(), tmp_path / "own")
        assert found.valid, found.reason
        assert not kinds(made, found)

    @pytest.mark.parametrize("name", quick_ones(SAMPLE, SAMPLE[:2]))
    def test_every_numpy_version_is_right(self, tmp_path: Path, name: str) -> None:
        made = contest(problem=name, pairs="2", hidden_pairs="3")
        found = measure(made, made.submissions.honest()["numpy"], tmp_path / "own")
        assert found.valid, found.reason
        assert not kinds(made, found)

    @pytest.mark.parametrize(
        "strategy", quick_ones(contest().submissions.honest(), ("reference", "numpy", "threads"))
    )
    def test_no_strategy_is_accused(self, tmp_path: Path, strategy: str) -> None:
        made = contest()
        found = measure(made, made.submissions.honest()[strategy], tmp_path / "own")
        assert found.valid, found.reason
        assert not kinds(made, found)
        assert found.low <= found.fitness <= found.high

    def test_doing_nothing_scores_zero_and_is_no_crime(self, tmp_path: Path) -> None:
        made = contest()
        found = measure(made, made.submissions.null(), tmp_path / "own")
        assert (found.fitness, found.valid, kinds(made, found)) == (0.0, False, set())

    @pytest.mark.long
    def test_parallel_sums_are_faster_than_one(self, tmp_path: Path) -> None:
        made = contest(problem="gemv_int8", sizes="full", pairs="15", hidden_pairs="15")
        found = measure(made, made.submissions.honest()["wide"], tmp_path / "wide")
        same = measure(made, made.submissions.identity(), tmp_path / "same")
        assert same.fitness + 0.5 < found.fitness

    @pytest.mark.sample
    @pytest.mark.slow
    @pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not here")
    def test_code_compiled_at_run_time_is_taken(self, tmp_path: Path) -> None:
        made = contest(problem="scan")
        text = (
            "import numba\nimport numpy as np\n\n\n"
            "@numba.njit(['void(Array(int32, 1, \"C\", readonly=True), int64[::1], int64)'])\n"
            "def scan(x, y, n):\n    total = 0\n    for i in range(n):\n"
            "        total += x[i]\n        y[i] = total\n"
        )
        found = measure(made, {"solution.py": text.encode()}, tmp_path / "own")
        assert found.valid, found.reason
        assert not kinds(made, found)


_SEEDS = (3, 4, 5)
"""A host that is busy with other work may leave a trick that works beside the calls no time to: it
gains nothing then and is not seen, and is measured again."""


class TestTricks:
    @pytest.mark.parametrize("name", _thinned(contest(problem="rmsnorm").submissions.cheats()))
    def test_a_trick_is_worth_nothing_and_named(self, tmp_path: Path, name: str) -> None:
        made = contest(problem="rmsnorm")
        cheat = made.submissions.cheats()[name]
        found: list[Measurement] = []
        for seed in _SEEDS:
            found.append(measure(made, cheat.files, tmp_path / f"own-{seed}", seed=seed))
            assert found[-1].fitness == 0
            if cheat.flag in kinds(made, found[-1]):
                return
        raise AssertionError(found)

    @pytest.mark.long
    @pytest.mark.parametrize("problem", ["histogram", "attention", "layernorm_backward"])
    def test_tricks_are_named_on_other_problems(self, tmp_path: Path, problem: str) -> None:
        made = contest(problem=problem)
        missed = {}
        for name, cheat in made.submissions.cheats().items():
            found = measure(made, cheat.files, tmp_path / name)
            if found.fitness or cheat.flag not in kinds(made, found):
                missed[name] = found
        assert not missed

    def test_a_crash_is_invalid_and_no_trick(self, tmp_path: Path) -> None:
        made = contest(problem="scan")
        text = b"void scan(const int *x, long *y, long n) { *(volatile int *)8 = (int)n; }"
        found = measure(made, {"solution.c": text}, tmp_path / "own")
        assert "signal 11" in found.reason
        assert not found.flags

    def test_a_forgotten_remainder_is_wrong_and_no_trick(self, tmp_path: Path) -> None:
        made = contest(problem="scan")
        text = (
            b"#include <stdint.h>\nvoid scan(const int32_t *x, int64_t *y, int64_t n) {\n"
            b"int64_t sum = 0; for (int64_t i = 0; i < n / 8 * 8; i++) y[i] = sum += x[i]; }"
        )
        found = measure(made, {"solution.c": text}, tmp_path / "own")
        assert "not right" in found.reason
        assert not found.flags

    @pytest.mark.slow
    def test_the_same_seed_finds_the_same(self, tmp_path: Path) -> None:
        made = contest(problem="rmsnorm")
        files = made.submissions.cheats()["replay_by_sample"].files
        one, two = (measure(made, files, tmp_path / "own", seed=9) for _ in range(2))
        assert (one.reason, one.flags) == (two.reason, two.flags)


class TestWithoutTheTrick:
    def test_late_threads_that_run_at_once_are_right(self, tmp_path: Path) -> None:
        made = contest(problem="rmsnorm")
        folder = tmp_path / "own"
        measure(made, made.submissions.cheats()["late_thread"].files, folder)
        found = measure(
            made, made.submissions.degamed(folder)["threads run at once"], tmp_path / "repaired"
        )
        assert found.valid, found.reason
        assert not kinds(made, found)

    def test_a_constructor_that_does_not_run_is_not_charged(self, tmp_path: Path) -> None:
        made = contest(problem="rmsnorm")
        folder = tmp_path / "own"
        measure(made, made.submissions.cheats()["constructor"].files, folder)
        files = made.submissions.degamed(folder)["without constructors"]
        found = [measure(made, files, tmp_path / f"repaired{number}") for number in range(3)]
        assert all(one.valid for one in found), found
        quickest = min(float(one.metrics["load_ms"]) for one in found)
        assert quickest < 1000  # for so long the constructor alone sleeps
