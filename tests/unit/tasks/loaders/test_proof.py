"""Loading proves every row on what it holds; all rows here are made up."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tasks.loaders.layouts import ADDER, ROWS

from unhack.core.errors import TaskError
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.loaders.proof import LoadedRows, NoSoundRowError, RowReading, load_rows


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def load(folder: Path, pool: Pool, *rows: dict[str, Any], **options: Any) -> LoadedRows:
    names = {field.name for field in fields(RowReading)}
    reading = RowReading(**{name: options.pop(name) for name in names & options.keys()})
    return load_rows(write(folder, *rows), reading, backend=pool, **options)


@pytest.mark.slow
def test_rows_of_different_layouts_in_one_file_are_sound(tmp_path: Path, pool: Pool):
    names = ["apps", "humaneval", "mbpp", "codeforces", "gsm8k", "verl", "leetcode"]
    loaded = load(tmp_path, pool, *(ROWS[name] for name in names))
    assert [row.data_set for row in loaded.rows] == names
    assert [str(row) for row in loaded.left_out] == []
    assert len(loaded.tasks) == len(names)
    assert [row.has_reference for row in loaded.rows] == [name != "codeforces" for name in names]
    assert [row.reference_passed for row in loaded.rows] == [
        row.has_reference for row in loaded.rows
    ]
    assert all(row.spoiled_wrong == row.spoiled >= 2 for row in loaded.rows)
    assert loaded.cpu_s > 0.0


UNSOUND = {
    "its reference fails": {**ROWS["apps"], "solutions": ["print(3)\n"]},
    "cannot be read": {**ROWS["math"], "solution": "A proof."},
    "pays for nothing": {
        **ROWS["apps"],
        "input_output": {"inputs": [""], "outputs": [""]},
        "solutions": ["pass"],
    },
    "cannot be judged": {
        **ROWS["humaneval"],
        "task_id": "HumanEval/901",
        "test": "def check(candidate):\n    import nothing_like_it\n    candidate(1)\n",
    },
}


def test_every_row_that_is_not_sound_is_named_with_its_reason(tmp_path: Path, pool: Pool):
    loaded = load(tmp_path, pool, ROWS["apps"], *UNSOUND.values(), ROWS["mbpp"])
    assert [row.problem for row in loaded.rows] == ["", *UNSOUND, ""]
    assert [row.place.rpartition(":")[2] for row in loaded.left_out] == ["2", "3", "4", "5"]
    assert all(row.detail for row in loaded.left_out)
    assert [task.id for task in loaded.tasks] == ["3", "mbpp/900"]
    assert loaded.problems("apps") == {"its reference fails": 1, "pays for nothing": 1}


def test_a_row_of_another_shape_than_its_layout_is_named_too(tmp_path: Path, pool: Pool):
    broken = [
        {**ROWS["apps"], "input_output": {"inputs": None, "outputs": 3}},
        {**ROWS["code_contests"], "public_tests": [1, 2]},
        {**ROWS["mbpp"], "test_list": "assert"},
        {**ROWS["humaneval"], "prompt": None},
        {**ROWS["reasoning_gym"], "metadata": "no JSON", "answer": None},
        {**ROWS["verl"], "reward_model": {"ground_truth": None}},
        {**ROWS["prime"], "verification_info": "[" * 100_000},
    ]
    loaded = load(tmp_path, pool, ROWS["gsm8k"], *broken)
    assert [row.problem for row in loaded.left_out] == ["cannot be read"] * len(broken)


def test_kept_rows_are_tasks_and_still_listed(tmp_path: Path, pool: Pool):
    loaded = load(tmp_path, pool, *UNSOUND.values(), keep=True)
    assert len(loaded.tasks) == 3
    assert len(loaded.left_out) == 4


def test_without_the_check_nothing_is_run(tmp_path: Path):
    class NoBackend:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"{name} was used")

    loaded = load_rows(write(tmp_path, *UNSOUND.values()), check=False, backend=NoBackend())
    assert [row.problem for row in loaded.left_out] == ["cannot be read"]
    assert not loaded.checked
    assert len(loaded.tasks) == 3


def test_a_file_without_a_sound_row_is_an_error_that_holds_the_report(tmp_path: Path, pool: Pool):
    with pytest.raises(NoSoundRowError, match=r"none of 1 rows .*:1: 3: its ref") as error:
        load(tmp_path, pool, UNSOUND["its reference fails"])
    assert error.value.loaded.left_out[0].detail.startswith("case 2 of 2")


def test_an_unknown_layout_is_an_error_that_lists_the_columns(tmp_path: Path):
    with pytest.raises(TaskError, match="no known layout has these columns: text, label"):
        load_rows(write(tmp_path, {"text": "What is 1 + 1?", "label": "2"}))


def test_columns_of_other_names_are_mapped(tmp_path: Path, pool: Pool):
    rows = [{"text": "What is 1 + 1?", "label": value} for value in ("2", "\\boxed{2}", None)]
    columns = {"prompt": "text", "answer": "label"}
    loaded = load(tmp_path, pool, *rows, columns=columns)
    assert [task.problem.answer for task in loaded.tasks] == ["2", "2"]
    assert "gold answer" in loaded.left_out[0].detail
    with pytest.raises(TaskError, match="no column 'txt'; it has text, label"):
        load_rows(write(tmp_path, *rows), RowReading(columns={"prompt": "txt"}))


def test_a_named_layout_wins_over_the_columns(tmp_path: Path, pool: Pool):
    row = {**ROWS["gsm8k"], "input_output": ROWS["apps"]["input_output"], "solutions": [ADDER]}
    assert load(tmp_path, pool, row).rows[0].data_set == "apps"
    named = load(tmp_path, pool, row, data_set="gsm8k")
    assert named.tasks[0].problem.answer == "42"


def test_rows_with_one_id_are_different_tasks(tmp_path: Path, pool: Pool):
    loaded = load(tmp_path, pool, ROWS["apps"], ROWS["apps"], ROWS["taco"])
    assert [task.id for task in loaded.tasks] == ["3", "3/2", "3/3"]
    assert [row.id for row in loaded.rows] == ["3", "3/2", "3/3"]


def test_the_first_rows_and_own_options_can_be_asked_for(tmp_path: Path, pool: Pool):
    options = LoadOptions(limits=Limits(wall_s=7.0))
    loaded = load(tmp_path, pool, ROWS["apps"], ROWS["mbpp"], most=1, options=options)
    assert len(loaded.rows) == 1
    assert getattr(loaded.tasks[0].verifier, "limits", None) == Limits(wall_s=7.0)


@pytest.mark.slow
def test_a_scorer_that_pays_any_text_is_found(tmp_path: Path, pool: Pool):
    pytest.importorskip("reasoning_gym")
    row = {
        "question": "Does it halt?",
        "answer": "True",
        "metadata": {"source_dataset": "game_of_life_halting", "solution": True},
    }
    loaded = load(tmp_path, pool, row, ROWS["reasoning_gym"])
    assert [row.problem for row in loaded.rows] == ["cannot be read", ""]
    assert "pays 1 for any text" in loaded.rows[0].detail


def test_code_may_import_numpy_where_the_row_does(tmp_path: Path, pool: Pool):
    plain = ROWS["humaneval"]
    test = "import numpy as np\n" + plain["test"]
    text = f"import numpy\n{plain['prompt']}{plain['canonical_solution']}"
    for row, paid in (({**plain, "test": test}, 1.0), (plain, 0.0)):
        loaded = load(tmp_path, pool, row)
        assert run_batch(loaded.tasks[0], [text], backend=pool).rewards == (paid,)


def test_a_missing_package_is_told_with_what_helps(tmp_path: Path, pool: Pool):
    row = {**ROWS["mbpp"], "code": "import not_installed_here\n" + ROWS["mbpp"]["code"]}
    [report] = load(tmp_path, pool, row, ROWS["gsm8k"]).left_out
    assert "No module named 'not_installed_here'" in report.detail
    assert "--preload" in report.detail
