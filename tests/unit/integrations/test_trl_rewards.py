"""Reward functions and monitors for TRL, without TRL: what it hands over is plain lists."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from unhack import find_tasks
from unhack.core.errors import UnknownNameError, UsageError
from unhack.integrations.rows import text_of
from unhack.integrations.trl import (
    AnswerTasks,
    Monitor,
    RewardCall,
    RewardFunction,
    hooks,
    reward_function,
    watch,
)

from .trl_tasks import broken, equals, mentions, task


class TestRewards:
    def test_plain_and_chat_completions_get_the_same_reward(self) -> None:
        rewards = reward_function(task(mentions, "7"))
        plain = ["it is 7", "no"]
        chats = [[{"role": "assistant", "content": one}] for one in plain]
        parts = [
            [{"role": "assistant", "content": [{"type": "text", "text": one}]}] for one in plain
        ]
        for completions in (plain, chats, parts):
            assert rewards(["a", "a"], completions, completion_ids=[[1], [2]]) == [1.0, 0.0]
        assert rewards.__name__ == "unhack"
        assert text_of([]) == ""

    def test_a_column_chooses_the_task_of_each_row(self) -> None:
        tasks = {name: task(equals, name, name=name) for name in ("1", "2")}
        rewards = reward_function(tasks, column="id", name="sums")
        assert rewards(["a", "b", "b"], ["1", "1", "2"], id=[1, 2, "2"]) == [1.0, 0.0, 1.0]
        assert rewards.__name__ == "sums"

    def test_a_callable_makes_the_task_from_the_columns(self) -> None:
        rewards = reward_function(lambda row: task(equals, row["answer"]))
        assert rewards(["a", "b"], ["x", "x"], answer=["x", "y"]) == [1.0, 0.0]

    @pytest.mark.slow
    def test_what_cannot_be_scored_is_none(self) -> None:
        rewards = reward_function(lambda row: task(broken if row["bad"] else equals, "x"))
        assert rewards(["a", "a"], ["x", "x"], bad=[True, False]) == [None, 1.0]
        assert rewards.monitor.seen[-1].unscored == 1

    def test_wrong_columns_are_named(self) -> None:
        rewards = reward_function({"1": task(equals, "1")}, column="task")
        with pytest.raises(UnknownNameError, match="tasks"):
            rewards(["a"], ["1"], tasks=["1"])
        with pytest.raises(UnknownNameError, match="'2'"):
            rewards(["a"], ["1"], task=["2"])
        with pytest.raises(UsageError, match="2 values for 1 completions"):
            rewards(["a"], ["1"], task=["1", "1"])

    def test_names_and_answers_of_rows_are_tasks(self) -> None:
        [knit] = find_tasks("strings/knit-rows")
        named = reward_function(column="name")
        assert named(["p"], [knit.problem.reference], name=[knit.id]) == [1.0]
        sums = reward_function(AnswerTasks("solution", check="numeric"))
        texts = ["\\boxed{7}", "\\boxed{8}", "8\n7"]
        assert sums(["p"] * 3, texts, solution=[7, "7", "7"]) == [1.0, 0.0, 0.0]

    def test_what_a_tool_says_last_is_not_judged(self) -> None:
        rewards = reward_function(task(equals, "7"))
        said = [{"role": "assistant", "content": "6"}, {"role": "tool", "content": "7"}]
        call = [{"role": "assistant", "content": None, "tool_calls": []}, said[1]]
        assert rewards(["p"] * 3, [said, call, said[1:]]) == [0.0, 0.0, 0.0]

    @pytest.mark.parametrize(
        ("completions", "columns", "words"),
        [
            ([7], {}, r"completions\[0\] is an int"),
            ([b"7"], {}, r"completions\[0\] is bytes"),
            ([["7"]], {}, r"completions\[0\] holds a str"),
            ([[{"role": "assistant", "content": 7}]], {}, r"completions\[0\]: a message's content"),
            (["7", "7"], {}, "1 prompts for 2 completions"),
            (["7"], {"task": [None]}, "'task'"),
            (["7"], {"task": [math.nan]}, "'task'"),
            (["7"], {"task": [""]}, "an empty text"),
        ],
    )
    def test_bad_input_is_named(self, completions: Any, columns: Any, words: str) -> None:
        rewards = reward_function({"1": task(equals, "7")} if columns else task(equals, "7"))
        with pytest.raises(UsageError, match=words):
            rewards(["p"], completions, **columns)
        assert rewards.monitor.seen == []

    def test_odd_texts_are_judged_like_others(self) -> None:
        rewards = reward_function(task(equals, "7"))
        assert rewards(["p"] * 3, ["\ud800", "\0", "7" * 10_000_000]) == [0.0, 0.0, 0.0]


class TestTheMonitor:
    def test_the_oracle_is_measured_and_not_rewarded(self) -> None:
        logged: dict[str, float] = {}
        rewards = reward_function(task(mentions, "7"), oracle=task(equals, "7"))
        given = rewards(
            ["a", "a", "b", "b"], ["7", "17", "7", "7"],
            log_metric=logged.__setitem__, trainer_state=SimpleNamespace(global_step=3),
        )  # fmt: skip
        assert given == [1.0] * 4
        [seen] = rewards.monitor.seen
        assert (seen.step, seen.passed, seen.solved, seen.hacked) == (3, 1.0, 0.75, 0.25)
        assert logged == seen.metrics()
        assert logged["unhack/hacked"] == 0.25

    def test_groups_without_variance_are_counted_by_prompt(self) -> None:
        rewards = reward_function(task(equals, "7"))
        rewards(["a", "a", "b", "b", "a", "a"], ["7", "8", "7", "7", "1", "2"])
        assert rewards.monitor.seen[-1].zero_variance_share == pytest.approx(2 / 3)

    def test_a_rising_share_of_hacks_raises_one_alarm(self) -> None:
        monitor = Monitor()
        for step in range(40):
            assert monitor.note(_seen(step, hacked=0.02 * (step % 2))) == []
        raised = [monitor.note(_seen(step, hacked=0.5)) for step in range(40, 50)]
        found = [text for texts in raised for text in texts]
        assert len(found) == 1
        assert found == monitor.alarms
        assert "the oracle calls wrong" in found[0]

    def test_a_steady_share_of_hacks_raises_none(self) -> None:
        monitor = Monitor()
        for step in range(300):
            monitor.note(_seen(step, hacked=0.3 + 0.05 * math.sin(step)))
        assert monitor.alarms == []

    def test_groups_that_stay_flat_raise_an_alarm(self) -> None:
        monitor = Monitor()
        for step in range(9):
            monitor.note(_seen(step, flat=1.0, groups=8))
        assert [text.partition(": ")[0] for text in monitor.alarms] == ["step 4"]

    def test_a_few_calls_of_one_unsolved_group_raise_none(self) -> None:
        monitor = Monitor()
        for step in range(25):
            monitor.note(_seen(step, flat=1.0))
        assert [text.partition(": ")[0] for text in monitor.alarms] == ["step 19"]


class TestTheCallback:
    @pytest.fixture
    def parts(self) -> tuple[Monitor, Any, Any]:
        pytest.importorskip("transformers")
        monitor = Monitor()
        state = SimpleNamespace(log_history=[{"reward": 0.5}])
        return monitor, state, SimpleNamespace(should_training_stop=False)

    def test_it_adds_what_the_log_lacks(self, parts: tuple[Monitor, Any, Any]) -> None:
        monitor, state, control = parts
        callback = watch(monitor)
        logs = {"reward": 0.5, "unhack/passed": 0.125}
        callback.on_log(None, state, control, logs=logs)
        assert set(logs) == {"reward", "unhack/passed"}
        monitor.note(_seen(0, hacked=0.25))
        callback.on_log(None, state, control, logs=logs)
        assert logs["unhack/passed"] == 0.125
        assert state.log_history[-1]["unhack/hacked"] == 0.25
        assert logs["unhack/alarms"] == 0.0
        last = {"train_runtime": 1.0}
        callback.on_log(None, state, control, logs=last)
        assert last == {"train_runtime": 1.0}

    def test_hooks_are_both_arguments(self, parts: tuple[Monitor, Any, Any]) -> None:
        found = hooks(task(equals, "7"), stop_on_alarm=True)
        assert list(found) == ["reward_funcs", "callbacks"]
        assert isinstance(found["reward_funcs"], RewardFunction)
        assert len(found["callbacks"]) == 1

    @pytest.mark.parametrize("stops", [False, True])
    def test_it_stops_at_an_alarm_where_that_is_asked_for(
        self, parts: tuple[Monitor, Any, Any], stops: bool
    ) -> None:
        monitor, state, control = parts
        callback = watch(monitor, stop_on_alarm=stops)
        callback.on_step_end(None, state, control)
        assert not control.should_training_stop
        monitor.alarms.append("step 1: something")
        callback.on_step_end(None, state, control)
        assert control.should_training_stop is stops


def _seen(
    step: int, *, hacked: float | None = None, flat: float = 0.0, groups: int = 1
) -> RewardCall:
    solved = None if hacked is None else 0.1
    return RewardCall(step, 0.5, 0.5, 0.0, 0, flat, solved, hacked, groups)
