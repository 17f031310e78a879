"""`unhack env run --judge`: weights that are none end before anything is played."""

from __future__ import annotations

import pytest
from tests.unit.cli.conftest import Run, run  # noqa: F401

from unhack.cli.env.order import EnvRunOrder
from unhack.cli.env.run import choose_rewards
from unhack.core.errors import UsageError


def test_the_options_are_the_weights() -> None:
    order = EnvRunOrder("repos", progress=0.5, judge=["lint=0.1", "build=0.25"], split_seed=4)
    found = choose_rewards(order)
    assert found.judges == {"lint": 0.1, "build": 0.25}
    assert (found.progress, found.split_seed) == (0.5, 4)


@pytest.mark.parametrize("given", ["lint", "lint=much", "lint=nan", "lint=-1", "lint=2", "x=0.1"])
def test_what_is_no_weight_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match=r"KIND=W|no number|no judge"):
        choose_rewards(EnvRunOrder("repos", judge=[given]))


@pytest.mark.slow
@pytest.mark.sample
def test_a_weight_that_is_none_is_bad_usage(run: Run) -> None:  # noqa: F811
    done = run("env", "run", "repos", "--judge", "lint=nan")
    assert done.code == 2
    assert "no number between 0 and 1" in done.err
