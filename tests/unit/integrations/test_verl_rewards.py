"""The functions that verl's `custom_reward_function` names."""

from __future__ import annotations

import pytest

from unhack.core.errors import UnhackError
from unhack.integrations.verl import compute_score, compute_scores
from unhack.tasks.suite import find_task

KNIT = "strings/knit-rows"


@pytest.fixture(scope="module")
def right() -> str:
    return str(find_task(KNIT).problem.reference)


class TestScores:
    def test_one_completion_is_judged_by_its_data_source(self, right: str) -> None:
        found = compute_score(KNIT, right, None, {"index": 3}, reward_router_address=None)
        assert (found["score"], found["passed"], found["reason"]) == (1.0, True, "")
        assert compute_score(KNIT, "pass", None, None)["score"] == 0.0

    def test_extra_info_may_name_the_task(self, right: str) -> None:
        assert compute_score("my-data", right, extra_info={"task": KNIT})["passed"]

    def test_lists_are_judged_together_and_in_order(self, right: str) -> None:
        found = compute_scores([KNIT] * 3, [right, "pass", right], [None] * 3, [None] * 3)
        assert [one["score"] for one in found] == [1.0, 0.0, 1.0]

    def test_an_unknown_task_is_answered_with_the_nearest(self) -> None:
        with pytest.raises(UnhackError, match="knit-rows"):
            compute_score("strings/knit-row", "x")
