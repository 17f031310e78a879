"""Development splits: drawn apart, never the whole, and no way to the outcome."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.environments.rectangles import RIGHT, WRONG, rectangles

from unhack.environments.actions import Submit, WriteFile
from unhack.environments.environment import RepositoryWorkshop, info_of
from unhack.environments.episode_pool import FinishedEpisode, play_all
from unhack.environments.players.scripted import ReferencePlayer
from unhack.environments.steps.development_split import SplitRefusedError, split_task
from unhack.environments.steps.rewards import StepRewards
from unhack.environments.task import RepositoryTask
from unhack.integrations.sessions import EpisodeHost
from unhack.verifiers.script import Mode

TESTS = "from shapes import area\n\n\n" + "\n\n".join(
    f"def test_{n}():\n    assert area({n}, {n + 1}) == {n * (n + 1)}\n" for n in range(9)
)
FAILING = tuple(f"tests/test_hidden.py::test_{n}" for n in (1, 2, 3, 4, 5, 6))
PASSING = ("tests/test_hidden.py::test_0",)


def task(**changes: Any) -> RepositoryTask:
    fields: dict[str, Any] = {
        "tests": {"tests/test_hidden.py": TESTS}, "dev_tests": {}, "dev_ids": (),
        "fail_to_pass": FAILING, "pass_to_pass": (), "mode": Mode.AS_WRITTEN, **changes,
    }  # fmt: skip
    return rectangles(**fields)


@given(
    failing=st.sets(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=2),
    passing=st.sets(st.tuples(st.integers(7, 9), st.integers(0, 3))),
    seed=st.integers(0, 99),
)
def test_a_split_is_apart_takes_at_most_half_and_leaves_the_judge_a_test(
    failing: set[tuple[int, int]], passing: set[tuple[int, int]], seed: int
) -> None:
    names = [
        tuple(f"tests/test_hidden.py::test_{n}[{row}]" for n, row in sorted(one))
        for one in (failing, passing)
    ]
    whole = task(fail_to_pass=names[0], pass_to_pass=names[1])
    made = split_task(whole, seed=seed)
    hidden = {*made.fail_to_pass, *made.pass_to_pass}
    assert hidden | set(made.dev_ids) == {*names[0], *names[1]}
    assert hidden.isdisjoint(made.dev_ids)
    assert made.fail_to_pass
    for part in names:
        assert len(set(made.dev_ids) & set(part)) <= len(part) / 2
    assert set(made.dev_ids) & set(names[0])
    assert made == split_task(whole, seed=seed)


def test_another_seed_draws_another_split_and_dev_files_hold_nothing_of_the_rest() -> None:
    drawn = {split_task(task(), seed=seed).dev_ids for seed in range(20)}
    assert len(drawn) > 5
    made = split_task(task(), seed=1)
    shown = made.dev_tests["tests/test_hidden.py"]
    assert all(f"{name.partition('::')[2]}()" in shown for name in made.dev_ids)
    assert not [one for one in made.fail_to_pass if f"{one.partition('::')[2]}()" in shown]


def test_a_task_with_too_few_tests_is_named() -> None:
    with pytest.raises(
        SplitRefusedError, match=r"shapes/area pays no steps: it has 1 test to pass"
    ):
        split_task(task(fail_to_pass=FAILING[:1], pass_to_pass=PASSING))


def played(whole: RepositoryTask, *actions: Any, progress: float = 0.5) -> tuple[list[float], Any]:
    async def main() -> tuple[list[float], Any]:
        weights = StepRewards(progress=progress, split_seed=3)
        async with RepositoryWorkshop(slots=1, rewards=weights) as workshop:
            assert await workshop.check(whole) == ""
            episode = workshop.begin(whole)
            results = [await episode.step(one) for one in actions]
            return [one.reward for one in results], info_of(episode, results[-1])

    return asyncio.run(main())


@pytest.mark.slow
def test_a_mined_task_pays_steps_by_its_split_and_the_rest_decides() -> None:
    first, last = played(task(), WriteFile("shapes/core.py", RIGHT), Submit())[0]
    assert (first, last) == pytest.approx((0.5, 1.0 - 0.5))


@pytest.mark.slow
@pytest.mark.sample
def test_what_only_passes_the_split_wins_nothing_at_the_end() -> None:
    made = split_task(task(), seed=3)
    known = {int(name.rpartition("_")[2]) for name in made.dev_ids}
    table = {n: n * (n + 1) for n in known}
    cheat = f"def area(a, b):\n    return {table!r}.get(a, a + b)\n"
    rewards, info = played(task(), WriteFile("shapes/core.py", cheat), Submit())
    idle, _ = played(task(), Submit())
    assert rewards[0] == pytest.approx(0.5)
    assert info["outcome"] == 0.0
    assert sum(rewards) == pytest.approx(sum(idle))


@pytest.mark.slow
def test_a_task_too_small_to_split_is_played_and_says_that_no_step_is_paid() -> None:
    small = task(fail_to_pass=FAILING[:1])
    rewards, info = played(small, WriteFile("shapes/core.py", RIGHT), Submit())
    assert rewards == [0.0, 1.0]
    assert info["process"] == {}
    assert info["unpaid"].startswith("shapes/area pays no steps: it has 1 test to pass")

    async def all_of_them() -> list[FinishedEpisode]:
        weights = StepRewards(progress=0.5)
        async with RepositoryWorkshop(slots=1, rewards=weights) as workshop:
            return [one async for one in play_all(workshop, [small], ReferencePlayer())]

    [one] = asyncio.run(all_of_them())
    assert one.unpaid == info["unpaid"]


@pytest.mark.slow
def test_a_split_with_a_part_that_cannot_be_judged_is_given_up_by_name() -> None:
    """Of two tests one has no expectation that can be changed, so that its part has no twin."""
    text = "from shapes import area\n\n\ndef test_1():\n    area(1, 2).real.conjugate()\n\n\n"
    text += "def test_2():\n    assert area(2, 3) == 6\n"
    whole = task(tests={"tests/test_hidden.py": text}, fail_to_pass=FAILING[:2])
    rewards, info = played(whole, WriteFile("shapes/core.py", RIGHT), Submit())
    assert "no test has an expectation" in info["unpaid"]
    assert rewards[0] == 0.0


@pytest.mark.slow
def test_a_split_that_its_own_reference_fails_is_given_up_by_name() -> None:
    """Tests that need one another: whatever is drawn, a part lacks the first."""
    text = "from shapes import area\n\nSEEN = []\n\n\n" + "\n\n".join(
        f"def test_{n}():\n    SEEN.append({n})\n    assert len(SEEN) == {n}\n"
        f"    assert area({n}, {n + 1}) == {n * (n + 1)}\n" for n in range(1, 5)
    )  # fmt: skip
    whole = task(tests={"tests/test_hidden.py": text}, fail_to_pass=FAILING[:4], mode=Mode.SEALED)
    rewards, info = played(whole, WriteFile("shapes/core.py", RIGHT), Submit())
    assert "the reference fails the" in info["unpaid"]
    assert rewards[0] == 0.0
    assert WRONG not in str(info)


@pytest.mark.slow
def test_a_stack_that_begins_an_unpaid_episode_is_warned() -> None:
    host = EpisodeHost(rewards=StepRewards(progress=0.5))
    try:
        with pytest.warns(UserWarning, match="pays no steps: it has 1 test to pass"):
            host.begin(task(fail_to_pass=FAILING[:1]))
        assert host.begin(task(id="shapes/other")).task.dev_ids
    finally:
        host.close()
