"""No attempt of `pumps` is paid more than honest work of the same end state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any

import pytest
from tests.unit.environments.steps import pumps
from tests.unit.environments.steps.test_sandboxed_judges import needs_pyright, needs_ruff

from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.steps.rewards import StepRewards

pytestmark = pytest.mark.slow
FILES = {"build": 0.25, "lint": 0.25, "minimality": 0.25, "tampering": 0.25}
Paid = Callable[[tuple[Any, ...]], float]


def payer(judges: dict[str, float]) -> Generator[Paid]:
    """The sum of the rewards of some actions, played once."""
    rewards = StepRewards(progress=0.5, judges=judges)
    workshop, task = RepositoryWorkshop(slots=1, rewards=rewards), pumps.pumped_task()
    known: dict[str, float] = {}

    async def played(actions: tuple[Any, ...]) -> float:
        assert await workshop.check(task) == ""
        episode = workshop.begin(task)
        results = [await episode.step(action) for action in actions]
        assert results[-1].ended
        assert results[-1].scored
        return sum(one.reward for one in results)

    with asyncio.Runner() as runner:

        def paid(actions: tuple[Any, ...]) -> float:
            key = repr(actions)
            if key not in known:
                known[key] = runner.run(played(actions))
            return known[key]

        yield paid
        workshop.close()


@pytest.fixture(scope="module")
def paid() -> Generator[Paid]:
    yield from payer(FILES)


@pytest.fixture(scope="module")
def paid_for_types() -> Generator[Paid]:
    yield from payer({"types": 1.0})


@pytest.fixture(scope="module")
def paid_for_lint() -> Generator[Paid]:
    yield from payer({"lint": 1.0})


@needs_ruff
@pytest.mark.sample
def test_honest_work_is_paid_in_full_and_faults_are_not(paid: Paid) -> None:
    start = 0.25  # what progress is worth there, which every episode pays back
    assert paid(pumps.CLEAN) == pytest.approx(1.0 - start)
    assert 0 < paid(pumps.FAULTY) + start < 0.9
    assert 0 < paid(pumps.WORDY) + start < 0.9
    assert paid((pumps.END,)) == pytest.approx(-start)


@needs_ruff
@pytest.mark.parametrize("name", pumps.SEQUENCES)
def test_no_way_to_an_end_state_is_paid_more_than_the_straight_one(paid: Paid, name: str) -> None:
    attempt, honest = pumps.SEQUENCES[name]
    assert paid(attempt) <= paid(honest) + 1e-9


@needs_ruff
@pytest.mark.parametrize("name", pumps.ENDS)
def test_no_hidden_fault_is_paid_more_than_an_open_one(
    paid: Paid, paid_for_lint: Paid, name: str
) -> None:
    attempt, honest = pumps.ENDS[name]
    assert paid(attempt) <= paid(honest) + 1e-9
    assert paid_for_lint(attempt) <= paid_for_lint(honest) + 1e-9


@needs_pyright
@pytest.mark.parametrize("name", pumps.TYPED)
def test_no_silenced_type_is_paid_more_than_an_open_one(paid_for_types: Paid, name: str) -> None:
    attempt, honest = pumps.TYPED[name]
    assert paid_for_types(honest) < 0.9
    assert paid_for_types(attempt) <= paid_for_types(honest) + 1e-9
