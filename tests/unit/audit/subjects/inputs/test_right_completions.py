"""Right completions that are found by trying: whatever columns and parameters are called."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from unhack.audit.subject import Query
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.loading import FunctionInputs, load_subject
from unhack.core.errors import UsageError
from unhack.sandbox.pool.pool import Pool

pytestmark = pytest.mark.slow
ROWS = [{"prompt": "6 times 7?", "key": "42"}, {"prompt": "9 minus 2?", "key": "7"}]


def loaded(
    folder: Path,
    pool: Pool,
    source: str,
    rows: Sequence[Mapping[str, Any]] = ROWS,
    **inputs: Mapping[str, str],
) -> FunctionSubject:
    (folder / "reward.py").write_text(source)
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    subject = load_subject(
        folder / "reward.py", problems=folder / "rows.jsonl", inputs=FunctionInputs(**inputs),
        backend=pool,
    )  # fmt: skip
    assert isinstance(subject, FunctionSubject)
    return subject


@pytest.mark.sample
def test_a_column_of_any_name_is_the_answer_where_its_scores_say_so(
    tmp_path: Path, pool: Pool
) -> None:
    source = "def reward(text, key):\n    return 1.0 if text.strip() == key else 0.0\n"
    subject = loaded(tmp_path, pool, source)
    assert [one.answer for one in subject.problems] == ["42", "7"]
    assert [one.correct[0] for one in subject.problems] == ["42", "7"]
    assert subject.sees_answer
    assert "'key'" in subject.assumed[-1]


def test_a_column_within_a_column_is_found(tmp_path: Path, pool: Pool) -> None:
    source = (
        "def reward(completions, metadata, **kwargs):\n"
        "    return [float(one == of['sum']) for one, of in zip(completions, metadata)]\n"
    )
    rows = [{"prompt": p, "metadata": {"sum": s, "n": 1}} for p, s in (("a?", "5"), ("b?", "8"))]
    subject = loaded(tmp_path, pool, source, rows)
    assert [one.answer for one in subject.problems] == ["5", "8"]


def test_a_list_is_written_with_the_signs_that_the_source_splits_at(
    tmp_path: Path, pool: Pool
) -> None:
    source = (
        "def reward(reply, order):\n"
        "    return float([one.strip() for one in reply.split('>')] == order)\n"
    )
    rows = [{"prompt": "a?", "order": ["x", "y"]}, {"prompt": "b?", "order": ["y", "x"]}]
    assert loaded(tmp_path, pool, source, rows).problems[0].correct[0] == "x > y"


def test_parameters_without_a_telling_name_are_told_by_trying(tmp_path: Path, pool: Pool) -> None:
    source = "def reward(left, right):\n    return float(right.strip() == left['key'])\n"
    subject = loaded(tmp_path, pool, source)
    assert dict(subject.signature.roles) == {"left": "=row", "right": "=completion"}
    assert subject.problems[0].correct == ("42",)


def test_a_reward_that_any_row_is_paid_shows_no_answer(tmp_path: Path, pool: Pool) -> None:
    source = "def reward(text, key):\n    return 1.0 if text.isdigit() else 0.0\n"
    assert all(one.answer is None for one in loaded(tmp_path, pool, source).problems)


def test_credit_for_a_part_is_no_right_completion(tmp_path: Path, pool: Pool) -> None:
    source = (
        "def reward(text, key):\n"
        "    return 1.0 if text == f'<<{key}!>>' else 0.1 if key in text else 0.0\n"
    )
    assert all(not one.correct for one in loaded(tmp_path, pool, source).problems)


def test_right_completions_that_are_given_show_that_a_row_counts(
    tmp_path: Path, pool: Pool
) -> None:
    source = (
        "def check(text, limit):\n    return float(text.isdigit() and int(text) % limit == 0)\n"
    )
    rows = [
        {"prompt": "a multiple of 5?", "limit": 5, "correct": ["25"]},
        {"prompt": "a multiple of 7?", "limit": 7, "correct": ["49"]},
    ]
    subject = loaded(tmp_path, pool, source, rows)
    assert subject.sees_answer
    assert all(one.answer is None for one in subject.problems)


def test_a_reward_of_form_is_one_still(tmp_path: Path, pool: Pool) -> None:
    source = "def tidy(text, **kwargs):\n    return 1.0 if text.startswith('So') else 0.0\n"
    rows = [{"prompt": one, "correct": [f"So {one}"]} for one in ("a", "b")]
    assert not loaded(tmp_path, pool, source, rows).sees_answer


def test_a_binding_goes_before_names(tmp_path: Path, pool: Pool) -> None:
    source = "def reward(answer, completion):\n    return float(answer == completion)\n"
    with pytest.raises(UsageError, match="roles are completion, gold, prompt and row"):
        loaded(tmp_path, pool, source, bind={"completion": "text"})
    bind = {"completion": "answer", "gold": "key"}
    subject = loaded(tmp_path, pool, source, bind=bind)
    assert dict(subject.signature.roles)["answer"] == "=completion"


def test_a_variable_of_the_environment_reaches_the_verifier(tmp_path: Path, pool: Pool) -> None:
    source = (
        "import os\nSIGN = os.environ['SIGN']\n"
        "def reward(text, key):\n    return float(text == SIGN + key)\n"
    )
    rows = [{**row, "correct": [f"#{row['key']}"]} for row in ROWS]
    for environ, value in (({"SIGN": "#"}, 1.0), ({}, None)):
        subject = loaded(tmp_path, pool, source, rows, environ=environ)
        [score] = subject.score([Query(subject.problems[0], "#42")])
        assert score.value == value
