"""Claims about rewards of rows that hold the right answer, as published data sets have them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from unhack.core.errors import BatchUnscoredError, UnknownNameError, UsageError
from unhack.integrations.openrlhf.answers import reward_func
from unhack.integrations.trl import AnswerTasks, reward_function, watch
from unhack.integrations.verl import answer_score
from unhack.tasks.batch import run_batch
from unhack.verifiers.answers.gold import GoldError

WORKED = "Six crates hold seven jars each, so $6\\cdot 7=42$. The answer is $\\boxed{42}$."
SAID = ["\\boxed{42}", "\\boxed{43}"]
PROSE = "Some of the jars were moved, so that nobody can say today how many there are left."
COLUMNS: list[Any] = [
    WORKED, "6*7=<<6*7=42>>42 jars\n#### 42", "\\boxed{42}", "42", 42, 42.0, ["42"], "$42$",
]  # fmt: skip


@pytest.mark.parametrize("gold", COLUMNS, ids=repr)
def test_a_published_column_pays_the_right_answer_in_every_trainer(gold: Any) -> None:
    pytest.importorskip("math_verify")
    trl = reward_function(AnswerTasks("solution"))
    assert trl(["p", "p"], SAID, solution=[gold, gold]) == [1.0, 0.0]
    verl = [answer_score("openai/gsm8k", text, gold)["score"] for text in SAID]
    assert verl == [1.0, 0.0]
    openrlhf = reward_func([f"p{text}" for text in SAID], ["p", "p"], [gold, gold])
    assert list(openrlhf["rewards"]) == [1.0, 0.0]


@pytest.mark.parametrize("gold", [None, "", math.nan, [], True, PROSE])
@pytest.mark.parametrize("size", [1, 4])
def test_a_first_step_without_any_answer_is_an_error_that_names_the_column(
    gold: Any, size: int
) -> None:
    pytest.importorskip("math_verify")
    rewards = reward_function(AnswerTasks("solution"))
    with pytest.raises(BatchUnscoredError, match=r"none of the .* column 'solution'") as raised:
        rewards(["p"] * size, [SAID[0]] * size, solution=[gold] * size)
    assert len(raised.value.batch.verdicts) == size
    assert rewards.monitor.alarms == ["step 0: nothing could be scored"]
    with pytest.raises(GoldError):
        answer_score("math", SAID[0], gold)
    with pytest.raises(GoldError):
        reward_func([f"p{SAID[0]}"], ["p"], [gold])


def test_a_column_may_be_an_array_and_a_call_may_be_empty() -> None:
    numpy = pytest.importorskip("numpy")
    pytest.importorskip("math_verify")
    rewards = reward_function(AnswerTasks("answer"))
    assert rewards(["p", "p"], SAID, answer=numpy.array([42.0, 42.0])) == [1.0, 0.0]
    assert rewards([], [], answer=[]) == []


def test_unscored_items_are_counted_over_calls(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("math_verify")
    rewards = reward_function(AnswerTasks("solution"))
    for _ in range(5):
        assert rewards(["p", "p"], SAID[:1] * 2, solution=["42", None]) == [1.0, None]
    assert "1 of 2 unscored; first: column 'solution'" in caplog.text
    with pytest.raises(BatchUnscoredError, match="6 of 12 completions"):
        rewards(["p", "p"], SAID[:1] * 2, solution=["42", None])


@pytest.mark.slow
def test_rows_without_an_answer_are_named_before_training(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("math_verify")
    answers = AnswerTasks("answer")
    rows = [{"answer": gold} for gold in ("42", None, WORKED, "")]
    assert list(answers.unreadable(rows)) == [1, 3]
    callback = watch(reward_function(answers).monitor)
    loader = SimpleNamespace(dataset=rows)
    with pytest.raises(GoldError, match=r"2 of 4 rows .* row 1: column 'answer'"):
        callback.on_train_begin(None, None, None, train_dataloader=loader)
    callback.on_train_begin(None, None, None, train_dataloader=SimpleNamespace(dataset=rows[:1]))


def test_the_other_checks_compare_the_column_as_it_is() -> None:
    rewards = reward_function(AnswerTasks("answer", check="choice"))
    assert rewards(["p"], ["\\boxed{B}"], answer=["B"]) == [1.0]
    with pytest.raises(BatchUnscoredError, match="check choice compares a text"):
        rewards(["p"], ["\\boxed{B}"], answer=[2])
    with pytest.raises(UnknownNameError, match="answer"):
        rewards(["p"], ["\\boxed{B}"], anwser=["B"])
    with pytest.raises(UsageError, match="check"):
        reward_function(AnswerTasks("answer", check="maths"))(["p"], ["4"], answer=["4"])


@pytest.mark.parametrize(
    "question",
    [
        {"problem": "How many hours does he walk?"},
        {"prompt": [{"role": "user", "content": "How many hours does he walk?"}]},
    ],
    ids=["column", "chat"],
)
def test_the_unit_that_the_question_asks_for_is_the_only_one_that_is_paid(question: Any) -> None:
    pytest.importorskip("math_verify")
    task = AnswerTasks("answer")({"answer": "5", **question})
    said = ["\\boxed{5\\text{ hours}}", "\\boxed{5\\text{ minutes}}"]
    assert run_batch(task, said).rewards == (1.0, 0.0)
    answered = {"prompt": [{"role": "assistant", "content": "How many minutes?"}], "answer": "5"}
    assert AnswerTasks("answer")(answered).problem.prompt == ""
    trl = reward_function(AnswerTasks("answer"))
    prompts = ["How many hours does he walk?"] * 2
    assert trl(prompts, said, answer=["5", "5"]) == [1.0, 0.0]
    verl = [answer_score("x", text, "5", {"question": prompts[0]})["score"] for text in said]
    assert verl == [1.0, 0.0]


def test_a_text_of_one_line_is_its_own_answer_and_a_longer_one_has_none() -> None:
    pytest.importorskip("math_verify")
    task = AnswerTasks("answer")({"answer": "21"})
    said = ["21", "$21$.", "Hence $x=21$", "21 or 22", "21\nNo, 22", "It is 21, or so I think"]
    assert run_batch(task, said).rewards == (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
