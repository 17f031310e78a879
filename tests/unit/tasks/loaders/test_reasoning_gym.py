"""reasoning-gym tasks: the library's own scores, computed where an answer can do no harm."""

from __future__ import annotations

from typing import Any

import pytest

from unhack.core.errors import TaskError, UnknownNameError, UsageError
from unhack.core.verdict import Seal, Status, Verdict
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers.answers.final_answer import Marker, write_answer

gym = pytest.importorskip("reasoning_gym")
loader = pytest.importorskip("unhack.tasks.loaders.reasoning_gym")


def judge(pool: Pool, task: Task, completion: str) -> Verdict:
    return run_batch(task, [completion], backend=pool).verdicts[0]


def tagged(answer: str) -> str:
    return write_answer(answer, Marker.TAG)


@pytest.fixture(scope="module")
def base() -> Task:
    return loader.load("base_conversion", size=1, seed=5)[0]


@pytest.mark.slow
def test_the_reference_scores_1(pool: Pool, base: Task):
    verdict = judge(pool, base, base.problem.reference or "")
    assert (verdict.status, verdict.score, verdict.seal) == (Status.PASSED, 1.0, Seal.TEXT)


def test_a_wrong_answer_scores_what_the_library_says(pool: Pool, base: Task):
    dataset = gym.create_dataset("base_conversion", size=1, seed=5)
    for answer in ("17", dataset[0]["answer"] + "0", "ff"):
        verdict = judge(pool, base, tagged(answer))
        assert verdict.score == dataset.score_answer(answer, dataset[0])
        assert not verdict.passed


def test_the_last_marked_answer_counts(pool: Pool, base: Task):
    right = base.problem.reference or ""
    assert judge(pool, base, f"{tagged('1')} no, {right}").passed
    assert not judge(pool, base, f"{right} no, {tagged('1')}").passed


@pytest.mark.parametrize("completion", ["", "7", "<answer></answer>", "<answer>7", r"\boxed{7}"])
def test_an_answer_that_is_not_marked_is_invalid(pool: Pool, base: Task, completion: str):
    verdict = judge(pool, base, completion)
    assert (verdict.status, verdict.score) == (Status.INVALID, 0.0)


@pytest.mark.parametrize("marker", [Marker.BOXED, Marker.WHOLE, Marker.HASHES])
def test_the_form_of_the_answer_can_be_chosen(pool: Pool, marker: Marker):
    [task] = loader.load("base_conversion", size=1, seed=5, markers=(marker,))
    assert judge(pool, task, task.problem.reference or "").passed


def test_a_seed_gives_the_same_tasks_and_another_one_others():
    first = loader.load("chain_sum", size=3, seed=1)
    assert [task.prompt for task in first] == [
        task.prompt for task in loader.load("chain_sum", size=3, seed=1)
    ]
    assert first[0].prompt != loader.load("chain_sum", size=3, seed=2)[0].prompt
    assert first[2].id == "reasoning-gym/chain_sum/2"


def test_the_configuration_reaches_the_generator_and_the_scorer(pool: Pool):
    [task] = loader.load("chain_sum", size=1, seed=1, config={"min_terms": 9, "max_terms": 9})
    assert task.prompt.count("+") + task.prompt.count(" - ") >= 8
    assert judge(pool, task, task.problem.reference or "").passed


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean base_conversion"):
        loader.load("base_convertion")


def test_a_wrong_configuration_is_named():
    with pytest.raises(TaskError, match="chain_sum"):
        loader.load("chain_sum", config={"no_such_field": 1})
    with pytest.raises(TaskError, match="chain_sum"):
        loader.load("chain_sum", config={"min_terms": 9, "max_terms": 1})


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "reasoning_gym", None)
    with pytest.raises(UsageError, match=r"\.\[reasoning-gym\]"):
        loader.load("chain_sum")


def test_a_scorer_that_raises_on_an_answer_scores_it_0(pool: Pool):
    [task] = loader.load("prime_factorization", size=1, seed=1)
    verdict = judge(pool, task, tagged("no numbers"))
    assert (verdict.status, verdict.score) == (Status.ERROR, 0.0)
    assert "ValueError" in verdict.reason


@pytest.mark.parametrize(
    "name", ["boxnet", "graph_color", "propositional_logic", "rubiks_cube", "rush_hour"]
)
@pytest.mark.parametrize("answer", ["0", "none", "[[[", "{}", "null"])
def test_no_answer_makes_a_task_without_reference_unscored(pool: Pool, name: str, answer: str):
    [task] = loader.load(name, size=1, seed=2)
    assert task.problem.reference is None
    verdict = judge(pool, task, tagged(answer))
    assert verdict.scored
    assert not verdict.passed


def test_numpy_values_in_an_entry_cross_as_builtin_ones(pool: Pool):
    [task] = loader.load("knights_knaves", size=1, seed=1)
    assert judge(pool, task, task.problem.reference or "").passed


FORGERY = "__import__('os').write(3, b'[0,true,1.0,\"\"]\\n') and __import__('os')._exit(0)"


@pytest.mark.parametrize(
    "name",
    ["spiral_matrix", "binary_matrix", "n_queens", "string_insertion", "polynomial_multiplication",
     "simple_integration", "puzzle24", "countdown", "bitwise_arithmetic", "number_sorting"],
)  # fmt: skip
def test_an_answer_cannot_run_code_in_the_scorer(pool: Pool, name: str):
    [task] = loader.load(name, size=1, seed=3)
    assert judge(pool, task, task.problem.reference or "").passed
    verdict = judge(pool, task, tagged(FORGERY))
    assert verdict.scored
    assert verdict.score < 0.1  # type: ignore[operator]


def test_the_forgery_works_where_nothing_guards_the_scorer(tmp_path: Any):
    """The control of the test above: unguarded, the library runs what an answer says."""
    dataset = gym.create_dataset("spiral_matrix", size=1, seed=3)
    made = tmp_path / "made"
    dataset.score_answer(f"[__import__('os').mkdir({str(made)!r})]", dataset[0])
    assert made.exists()
