from __future__ import annotations

import pytest

from unhack.cli.demo.group import DemoGroup, DemoVerdicts, count_rewarded, judge, load_group
from unhack.sandbox.pool.pool import shared_pool

FOOLS_ONE_PROCESS = {
    "forged verdict",
    "equality object",
    "frame walk",
    "answer file",
    "patched json",
    "result channel",
}


@pytest.fixture(scope="module")
def group() -> DemoGroup:
    return load_group()


@pytest.fixture(scope="module")
def judged(group: DemoGroup) -> DemoVerdicts:
    return judge(group, shared_pool())


def test_the_group_has_sixteen_different_completions(group: DemoGroup) -> None:
    kinds = [attempt.kind for attempt in group.attempts]
    assert len({attempt.text for attempt in group.attempts}) == 16
    assert {kind: kinds.count(kind) for kind in kinds} == {"right": 3, "wrong": 4, "hack": 9}


def test_its_table_fits_eighty_columns(group: DemoGroup) -> None:
    assert max(len(attempt.name) for attempt in group.attempts) <= 15
    assert max(len(attempt.tries) for attempt in group.attempts) <= 30


@pytest.mark.slow
def test_sealed_only_the_right_ones_are_rewarded(group: DemoGroup, judged: DemoVerdicts) -> None:
    scores = [verdict.score for verdict in judged.sealed.verdicts]
    assert scores == [float(attempt.kind == "right") for attempt in group.attempts]


@pytest.mark.slow
def test_the_hacks_are_real_they_fool_a_harness_of_one_process(
    group: DemoGroup, judged: DemoVerdicts
) -> None:
    fooled = {
        attempt.name
        for attempt, verdict in zip(group.attempts, judged.beside, strict=True)
        if verdict is not None and verdict.passed and attempt.kind == "hack"
    }
    assert fooled == FOOLS_ONE_PROCESS
    assert count_rewarded(judged.beside, group.attempts, kind="hack") == len(FOOLS_ONE_PROCESS)
    assert count_rewarded(judged.beside, group.attempts, kind="right") == 3
    assert count_rewarded(judged.beside, group.attempts, kind="wrong") == 0


@pytest.mark.slow
def test_the_same_harness_behind_the_seal_is_not_fooled(
    group: DemoGroup, judged: DemoVerdicts
) -> None:
    scores = [verdict and verdict.score for verdict in judged.resealed]
    assert scores == [float(attempt.kind == "right") for attempt in group.attempts]


@pytest.mark.slow
def test_only_the_fork_bomb_is_kept_out_of_the_harness(
    group: DemoGroup, judged: DemoVerdicts
) -> None:
    missing = [
        attempt.name
        for attempt, verdict in zip(group.attempts, judged.beside, strict=True)
        if verdict is None
    ]
    assert missing == ["fork bomb"]
    assert judged.beside_advantages.mask[-1] is False


@pytest.mark.slow
def test_every_verdict_says_how_it_was_kept_apart(judged: DemoVerdicts) -> None:
    assert {verdict.seal.value for verdict in judged.sealed.verdicts} == {"sealed"}
    assert {v.seal.value for v in judged.beside if v is not None} == {"as_written"}
