"""Worlds: drawn from a seed, different from each other, with a known entropy."""

from __future__ import annotations

import numpy as np
import pytest
from packages.contests.tests.scaling.trained.small_world import SMALL, small_world

from unhack.tournament.contest import DataPool
from unhack_contests.scaling.trained.settings import SIZES
from unhack_contests.scaling.trained.world.source import code_length, draw_source, write_tokens
from unhack_contests.scaling.trained.world.world import draw_world, write_text


def test_the_same_seed_gives_the_same_world_and_text() -> None:
    draw_world.cache_clear()
    write_text.cache_clear()
    first = small_world()
    text = write_text(first)
    draw_world.cache_clear()
    again = small_world()
    assert again is not first
    assert (again.id, again.recipe, again.targets) == (first.id, first.recipe, first.targets)
    assert np.array_equal(write_text(again).held, text.held)


@pytest.mark.slow
def test_pools_and_seeds_are_worlds_of_their_own() -> None:
    worlds = [small_world(pool=pool, seed=seed) for pool in DataPool for seed in (1, 2)]
    assert len({world.id for world in worlds}) == 8
    assert len({world.recipe for world in worlds}) == 8
    assert len({write_text(world).held.tobytes() for world in worlds}) == 8


@pytest.mark.parametrize("size", [SMALL, *SIZES.values()], ids=["small", *SIZES])
def test_every_target_is_dearer_than_a_whole_budget(size: object) -> None:
    assert isinstance(size, type(SMALL))
    for seed in range(4):
        world = draw_world(size, pool=DataPool.JUDGE, seed=seed, number=0)
        costs = [world.recipe.flops(target) for target in world.targets]
        assert len(costs) == size.targets
        assert min(costs) > size.budget
        assert max(costs) < 1.2 * size.reach * size.budget
        assert not any(size.limits.outside(target) for target in world.targets)


def test_targets_are_as_usual_of_another_mix_of_another_rate_and_of_both() -> None:
    world = draw_world(SIZES["demo"], pool=DataPool.JUDGE, seed=3, number=0)
    kinds = [(run.mix != world.mix, run.rate != 1.0) for run in world.targets]
    assert kinds == [(False, False), (True, False), (False, True), (True, True)]


def test_the_code_length_of_a_known_process_is_its_entropy() -> None:
    source = draw_source(np.random.default_rng(5), vocabulary=20)
    text = write_tokens(source, np.random.default_rng(6), rows=512, length=64)
    other = draw_source(np.random.default_rng(7), vocabulary=20)
    assert code_length(source, text) < np.log(20)
    assert code_length(source, text) < code_length(other, text)


def test_tokens_follow_the_process_that_says_how_probable_they_are() -> None:
    source = draw_source(np.random.default_rng(5), vocabulary=20)
    fresh = [
        code_length(source, write_tokens(source, np.random.default_rng(n), rows=800, length=40))
        for n in (1, 2)
    ]
    assert fresh[0] == pytest.approx(fresh[1], rel=0.03)
