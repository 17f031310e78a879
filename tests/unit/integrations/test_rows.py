"""Tasks of rows, texts of completions."""

from __future__ import annotations

from typing import Any

import pytest

from unhack.core.errors import UnknownNameError, UsageError
from unhack.integrations.rows import name_in, named_task, task_of, text_of
from unhack.tasks.suite import find_task

KNIT = find_task("strings/knit-rows")


class TestTasks:
    def test_one_task_serves_all_rows(self) -> None:
        assert task_of(KNIT, {}, column="task") is KNIT

    def test_a_column_names_the_task(self) -> None:
        assert task_of({"knit": KNIT}, {"task": "knit"}, column="task") is KNIT

    def test_a_function_makes_it_of_the_row(self) -> None:
        assert task_of(lambda row: row["made"], {"made": KNIT}, column="task") is KNIT
        with pytest.raises(UsageError, match="returned None"):
            task_of(lambda row: row["made"], {"made": None}, column="task")

    @pytest.mark.parametrize(
        ("row", "said"),
        [({}, "column"), ({"task": 3.5}, "'task' holds a float"), ({"task": ""}, "an empty text")],
    )
    def test_a_row_that_names_none_is_refused_by_its_column(self, row: Any, said: str) -> None:
        with pytest.raises(UsageError, match=said):
            name_in(row, "task")

    def test_an_unknown_name_is_answered_with_the_nearest(self) -> None:
        with pytest.raises(UnknownNameError, match="knit"):
            task_of({"knit": KNIT}, {"task": "knti"}, column="task")
        with pytest.raises(UnknownNameError, match="knit-rows"):
            named_task("strings/knit-row")


class TestTexts:
    def test_the_last_message_of_the_assistant_counts_whatever_comes_after(self) -> None:
        chat = [
            {"role": "assistant", "content": "mine"},
            {"role": "tool", "content": "\\boxed{42}"},
            {"role": "user", "content": "42"},
        ]
        assert text_of(chat) == "mine"

    def test_a_chat_without_one_is_the_empty_text(self) -> None:
        assert text_of([{"role": "tool", "content": "42"}]) == text_of([]) == ""

    def test_parts_are_joined_and_those_without_text_left_out(self) -> None:
        parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
        assert text_of([{"role": "assistant", "content": parts}]) == "ab"
        assert text_of([{"role": "assistant", "content": None}]) == ""

    @pytest.mark.parametrize(
        "completion", [None, 3, b"x", ["x"], [{"role": "assistant", "content": 3}]]
    )
    def test_anything_else_is_refused_by_its_field(self, completion: Any) -> None:
        with pytest.raises(UsageError, match="response"):
            text_of(completion, name="response")
