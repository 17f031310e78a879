"""Runs really train, and repeat bit for bit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from packages.contests.tests.scaling.trained.small_world import small_world

from unhack_contests.scaling.trained.world.run_settings import LabSettings, TrainingOutcome
from unhack_contests.scaling.trained.world.world import DrawnWorld, write_text

torch = pytest.importorskip("torch")
from unhack_contests.scaling.trained.world.training import train  # noqa: E402

pytestmark = pytest.mark.slow

RUN = LabSettings(width=16, depth=1, steps=40, batch=8, rate=1.0, mix=0.5)


def trained(
    world: DrawnWorld, run: LabSettings, seeds: tuple[int, ...] = (7,)
) -> list[TrainingOutcome]:
    return train(world.recipe, run, seeds=seeds, text=write_text(world), device="cpu")


def test_a_run_repeats_bit_for_bit_whatever_threads_the_process_has() -> None:
    before = torch.get_num_threads()
    try:
        found: list[list[TrainingOutcome]] = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(trained(small_world(), RUN))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1]


def test_seeds_beside_each_other_are_what_they_would_be_alone() -> None:
    beside = trained(small_world(), RUN, (7, 8))
    assert beside[0].loss == pytest.approx(trained(small_world(), RUN)[0].loss, abs=1e-3)
    assert beside[0].loss != beside[1].loss


@pytest.mark.slow
def test_training_learns_and_stays_above_the_entropy() -> None:
    world = small_world()
    short, long = (trained(world, replace(RUN, steps=steps))[0].loss for steps in (5, 160))
    assert write_text(world).floor < long < short


def test_every_choice_of_the_recipe_is_one_that_trains() -> None:
    recipes = [small_world(seed=seed) for seed in range(8)]
    assert len({world.recipe.activation for world in recipes}) > 2
    for world in recipes:
        [run] = trained(world, replace(RUN, steps=8))
        assert 0 < run.loss < 10
        assert [tokens for tokens, _ in run.curve][-1] == 8 * 8 * 16


def test_the_count_of_parameters_is_that_of_the_weights() -> None:
    recipe = small_world().recipe
    run = replace(RUN, width=24, depth=2)
    inner = 2 * (24 * 72 + 24 * 24 + 2 * 24 * 24 * recipe.expansion)
    ends = recipe.vocabulary * 24 * (1 if recipe.tied else 2) + recipe.window * 24
    assert recipe.parameters(run) == inner + ends
