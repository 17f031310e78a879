"""The function that verl's `reward.custom_reward_function` names."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from unhack.core.errors import UnhackError, UsageError
from unhack.integrations.verl import compute_score
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
        assert compute_score("my-data", right, extra_info={"task": KNIT, "num_turns": 2})["passed"]

    def test_threads_get_their_own_verdicts(self, right: str) -> None:
        texts = [right, "pass"] * 8
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda text: compute_score(KNIT, text), texts))
        assert [one["score"] for one in found] == [1.0, 0.0] * 8

    def test_an_unknown_task_is_answered_with_the_nearest(self) -> None:
        with pytest.raises(UnhackError, match="knit-rows"):
            compute_score("strings/knit-row", "x")

    @pytest.mark.parametrize(
        ("source", "text", "extra", "words"),
        [
            (None, "x", None, "data_source"),
            (float("nan"), "x", None, "data_source"),
            (KNIT, None, None, "completion"),
            (KNIT, b"x", None, "completion"),
            (KNIT, "x", "task", "extra_info"),
            (KNIT, "x", {"task": ["a"]}, "'task'"),
            (KNIT, "x", {"num_turns": 4}, "solution_str holds the answers of tools"),
        ],
    )
    def test_bad_input_is_named(self, source: Any, text: Any, extra: Any, words: str) -> None:
        with pytest.raises(UsageError, match=words):
            compute_score(source, text, None, extra)

    def test_odd_texts_are_judged_like_others(self) -> None:
        for text in ("\ud800", "\0", "x" * 10_000_000):
            assert compute_score(KNIT, text)["score"] == 0.0
