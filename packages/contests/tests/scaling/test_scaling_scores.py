"""Scores, draws and twins of the scaling contest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from packages.contests.tests.scaling.scaling_ladder import write_invented

from unhack.tournament.contest import DataPool
from unhack_contests.scaling.draw.chinchilla import fit_law, forecast
from unhack_contests.scaling.draw.draws import make_draws, make_twin, make_worlds
from unhack_contests.scaling.runs.ladder import Family, read_ladder
from unhack_contests.scaling.score import (
    IDEAL,
    attainable,
    chi2_below,
    credited,
    interval_of_skill,
    interval_score,
    knowledge,
    skill,
    strain,
)

Z = 1.2815515655446004


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Family:
    path: Path = tmp_path_factory.mktemp("ladder") / "ladder.json"
    return read_ladder(write_invented(path)).families[DataPool.JUDGE]


class TestScores:
    def test_who_knows_the_law_scores_half_a_deviation(self) -> None:
        outcomes = np.random.default_rng(1).normal(0, 1, (200_000, 1))
        answers = np.tile([0.0, -Z, Z], (len(outcomes), 1))
        assert interval_score(answers, outcomes).mean() == pytest.approx(IDEAL, abs=0.005)

    @pytest.mark.parametrize("said", [(0.3, -Z, Z), (0.0, -0.2, 0.2), (0.0, -4.0, 4.0)])
    def test_saying_other_than_what_one_believes_costs(
        self, said: tuple[float, float, float]
    ) -> None:
        outcomes = np.random.default_rng(1).normal(0, 1, (50_000, 1))
        honest = interval_score(np.tile([0.0, -Z, Z], (50_000, 1)), outcomes).mean()
        assert interval_score(np.tile(said, (50_000, 1)), outcomes).mean() > honest * 1.02

    def test_the_baseline_itself_is_worth_nothing(self) -> None:
        scores = np.array([1.0, 2.0])
        assert skill(scores, scores, best=0.9) == 0.0
        assert skill(2 * scores, scores, best=0.9) == 0.0
        assert skill(0 * scores, scores, best=0.9) == 0.9
        assert skill(0.5 * scores, scores, best=0.9) == pytest.approx(0.5)

    @pytest.mark.parametrize("on_runs", [0.3, 0.5, 0.9])
    def test_knowledge_of_the_real_runs_brings_nothing(self, on_runs: float) -> None:
        assert credited(0.4, low_on_worlds=0.3, high_on_runs=on_runs, best=0.9) == pytest.approx(
            0.4
        )

    def test_who_fails_on_real_runs_is_credited_what_the_intervals_leave(self) -> None:
        found = credited(0.4, low_on_worlds=0.3, high_on_runs=0.05, best=0.9)
        assert found == pytest.approx(0.15)
        assert credited(0.95, low_on_worlds=0.9, high_on_runs=0.9, best=0.86) == 0.86

    def test_noise_bounds_the_skill(self) -> None:
        assert attainable(np.array([1.0, 1.0]), np.array([0.2, 0.2])) == pytest.approx(0.9)

    def test_the_interval_holds_the_skill(self) -> None:
        rng = np.random.default_rng(3)
        scores, baseline = rng.uniform(0.2, 0.6, 18), rng.uniform(0.8, 1.2, 18)
        low, high = interval_of_skill(scores, baseline, best=1.0, seed=4)
        assert low < skill(scores, baseline, best=1.0) < high

    def test_chi_squared_is_that_of_the_tables(self) -> None:
        assert chi2_below(18.307, 10) == pytest.approx(0.95, abs=1e-4)
        assert chi2_below(3.940, 10) == pytest.approx(0.05, abs=1e-4)
        assert chi2_below(0.0, 10) == 0.0
        assert chi2_below(1e6, 10) == 1.0

    @pytest.mark.slow
    def test_a_forecast_without_error_but_noise_is_not_knowledge(self) -> None:
        rng = np.random.default_rng(5)
        found: list[float] = []
        for _ in range(2_000):
            outcomes = rng.normal(0, 1, (9, 2))
            answers = np.zeros((9, 3))
            strained = strain(answers, outcomes, noise=1.0)
            found.append(knowledge(strained, queries=9, seeds_known=12))
        assert min(found) > 1e-4
        assert knowledge(0.005, queries=9, seeds_known=12) < 1e-6


class TestTheLaw:
    def test_a_clean_law_is_found_again(self, family: Family) -> None:
        n, d = family.parameters, family.tokens
        truth = 0.9 + 0.2 * (n / 1e5) ** -0.37 + 0.4 * (d / 7e5) ** -0.31
        law = fit_law(n, d, truth, floor=0.6)
        assert np.abs(law.at(4 * n, 4 * d) / _truth(4 * n, 4 * d) - 1).max() < 0.01

    def test_a_unit_changes_nothing_of_a_forecast(self, family: Family) -> None:
        n, d, loss = family.parameters[:12], family.tokens[:12], family.losses[:12, 0]
        ahead = family.parameters[12:], family.tokens[12:]
        plain = forecast((n, d, loss), ahead, floor=family.floor)
        other = forecast(
            (7 * n, 0.3 * d, 1.5 * loss), (7 * ahead[0], 0.3 * ahead[1]), floor=1.5 * family.floor
        )
        assert np.allclose(other, 1.5 * plain, rtol=1e-3)


def _truth(n: np.ndarray, d: np.ndarray) -> np.ndarray:
    return 0.9 + 0.2 * (n / 1e5) ** -0.37 + 0.4 * (d / 7e5) ** -0.31


class TestDraws:
    def test_what_is_asked_is_never_on_the_menu(self, family: Family) -> None:
        for seed in range(20):
            draws = [*make_draws(family, seed=seed)]
            assert draws
            for draw in draws:
                assert not set(draw.asked) & set(draw.menu[:, 0])
                assert draw.queries()["flops"].min() >= draw.prices()["flops"].max()

    def test_the_usual_purchase_keeps_within_the_budget(self, family: Family) -> None:
        for seed in range(20):
            draws = [*make_draws(family, seed=seed)]
            assert draws
            for draw in draws:
                assert draw.affords(draw.usual)
                assert len(draw.usual) >= 6
                assert not draw.affords(tuple(range(len(draw.menu))))

    def test_a_run_that_is_bought_twice_is_paid_twice(self, family: Family) -> None:
        draw, _ = make_draws(family, seed=0)
        assert draw.price((3, 3)) == pytest.approx(2 * draw.price((3,)))

    def test_the_same_seed_asks_the_same_and_another_does_not(self, family: Family) -> None:
        one, two, other = (make_draws(family, seed=seed)[0] for seed in (5, 5, 6))
        assert np.array_equal(one.runs(one.usual)["loss"], two.runs(two.usual)["loss"])
        assert one.units != other.units

    def test_the_two_draws_have_other_units_of_loss(self, family: Family) -> None:
        for seed in range(20):
            first, second = make_draws(family, seed=seed)
            assert abs(np.log(first.units.loss / second.units.loss)) >= 0.3

    def test_nothing_of_a_draw_stands_in_the_ladder_as_a_number(self, family: Family) -> None:
        draw, _ = make_draws(family, seed=2)
        known = draw.runs(draw.usual)
        assert not np.isin(known["loss"].round(6), family.losses).any()
        assert not np.isin(known["parameters"].round(), family.parameters).any()


class TestTwins:
    def test_worlds_are_other_laws_that_follow_from_the_seed(self, family: Family) -> None:
        draw, _ = make_draws(family, seed=3)
        worlds = make_worlds(draw, seed=3, count=3)
        again = make_worlds(draw, seed=3, count=3)
        shapes = [world.outcomes / world.family.floor for world in (draw, *worlds)]
        for at, one in enumerate(shapes):
            assert all(np.abs(one / other - 1).max() > 0.01 for other in shapes[:at])
        assert all((a.outcomes == b.outcomes).all() for a, b in zip(worlds, again, strict=True))
        assert all((world.asked == draw.asked).all() for world in worlds)

    def test_a_table_of_the_real_runs_fits_no_world(self, family: Family) -> None:
        for seed in range(6):
            draw, _ = make_draws(family, seed=seed)
            real = draw.family.losses.mean(axis=1) / draw.family.floor
            order = np.argsort(draw.family.flops, kind="stable")
            worlds = [*make_worlds(draw, seed=seed, count=3)]
            assert worlds
            for world in worlds:
                apart = np.abs(np.log(world.family.losses.mean(axis=1) / world.family.floor / real))
                small, large = np.split(apart[order], 2)
                assert min(np.median(small), np.median(large)) >= 0.06

    def test_a_twin_asks_the_same_about_another_law(self, family: Family) -> None:
        draw, _ = make_draws(family, seed=3)
        twin = make_twin(draw, seed=3)
        assert np.array_equal(twin.queries()["flops"], draw.queries()["flops"])
        ratio = twin.outcomes / draw.outcomes
        assert ratio.std() / ratio.mean() > 0.003
        assert twin.outcomes.min() > twin.family.floor

    @pytest.mark.slow
    def test_the_same_forecast_is_about_as_good_on_a_twin(self, family: Family) -> None:
        ratios: list[float] = []
        for seed in range(6):
            draw, _ = make_draws(family, seed=seed)
            errors: list[float] = []
            for one in (draw, make_twin(draw, seed=seed)):
                runs, asked = one.runs(one.usual), one.queries()
                known = runs["parameters"], runs["tokens"], runs["loss"]
                wanted = asked["parameters"], asked["tokens"]
                found = forecast(known, wanted, floor=one.family.floor)
                errors.append(strain(found, one.outcomes, noise=one.noise))
            ratios.append(errors[1] / errors[0])
        assert 0.2 < float(np.median(ratios)) < 5
