"""Functions that come without rows: what stands in, and what they read that no row has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unhack.audit.options import AuditOptions
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.subject import AuditProblem, Query
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.inputs.functions_inside import find_function
from unhack.audit.subjects.inputs.missing_fields import needed_columns, needed_text
from unhack.audit.subjects.loading import comes_without_rows, load_subject
from unhack.audit.subjects.signatures import detect
from unhack.audit.subjects.target import find_target
from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.pool.pool import Pool

SIGNATURES = {
    "trl_messages": (
        "def r(completions, answer, **kwargs):\n"
        "    texts = [one[0]['content'] for one in completions]\n"
        "    return [float(text.split('<answer>')[-1].split('</answer>')[0].strip() == a)\n"
        "            for text, a in zip(texts, answer)]\n"
    ),
    "trl_texts": (
        "def r(prompts, completions, solution, **kwargs):\n"
        "    return [2.0 * ('#### ' + s in c) for c, s in zip(completions, solution)]\n"
    ),
    "verl": (
        "def r(data_source, solution_str, ground_truth, extra_info=None):\n"
        "    return {'score': float(solution_str.strip() == ground_truth)}\n"
    ),
    "verifiers": (
        "def r(parser, completion, answer, state, **kwargs):\n"
        "    return 1.0 if (parser.parse_answer(completion) or '') == answer else 0.0\n"
    ),
    "async": (
        "async def r(completion, answer):\n"
        "    text = completion if isinstance(completion, str) else completion[-1]['content']\n"
        "    return float(text.strip() == answer)\n"
    ),
    "letter": (
        "import re\n"
        "def r(response: str, gold: str) -> float:\n"
        "    found = re.findall(r'^[A-D]$', response.strip())\n"
        "    return float(bool(found) and found[-1] == gold)\n"
    ),
}
ENVIRONMENT = '''\
import absent as vf

MARK = "#### "


def load_environment(mark=MARK, *, strict: bool = True, **kwargs):
    data = vf.load("rows")
    if strict:
        end = ""
    else:
        end = "."

    def final(text):
        return text.rpartition(mark)[2]

    def right_answer(completion, answer, **kwargs):
        """The last one counts."""
        return 1.0 if final(completion) == answer + end else 0.0

    return vf.Env(data, right_answer)
'''


def written(folder: Path, text: str) -> str:
    path = folder / "reward.py"
    path.write_text(text)
    return str(path)


@pytest.mark.slow
class TestStandIns:
    @pytest.mark.parametrize("name", SIGNATURES)
    def test_a_right_answer_to_one_is_rewarded(self, tmp_path: Path, pool: Pool, name: str) -> None:
        target = f"{written(tmp_path, SIGNATURES[name])}:r"
        subject = load_subject(target, seconds=1200.0, backend=pool)
        assert isinstance(subject, FunctionSubject)
        assert subject.drilled
        kind = "questions with a letter" if name == "letter" else "sums"
        assert f" {kind}" in subject.assumed[0], subject.assumed
        queries = [Query(one, one.correct[0]) for one in subject.problems]
        assert min(score.value or 0.0 for score in subject.score(queries)) > 0.0

    def test_a_function_of_one_text_is_told_to_see_no_answer(
        self, tmp_path: Path, pool: Pool
    ) -> None:
        text = "def reward(response: str) -> float:\n    return min(1.0, len(response) / 99)\n"
        subject = load_subject(written(tmp_path, text), seconds=1200.0, backend=pool)
        assert not subject.sees_answer
        assert isinstance(subject, FunctionSubject)
        assert "reward gives the score" in subject.assumed

    def test_a_function_in_a_function_is_called_with_what_it_uses(
        self, tmp_path: Path, pool: Pool
    ) -> None:
        subject = load_subject(written(tmp_path, ENVIRONMENT), seconds=1200.0, backend=pool)
        problem = AuditProblem("p", "What is 6 times 7?", "42")
        texts = ("#### 42", "#### 43", "42")
        scores = subject.score([Query(problem, text) for text in texts])
        assert [score.value for score in scores] == [1.0, 0.0, 1.0]


class TestFunctionsInFunctions:
    @pytest.mark.parametrize("name", ["", ":right_answer", ":load_environment.right_answer"])
    def test_each_name_finds_it_with_its_lines_and_what_it_uses(
        self, tmp_path: Path, name: str
    ) -> None:
        path = written(tmp_path, ENVIRONMENT)
        target, source = find_function(path + name)
        assert target.entry == "right_answer"
        names: dict[str, Any] = {}
        exec(source.replace("import absent as vf", ""), names)
        right: Callable[..., float] = names["right_answer"]
        assert [right("#### 42", "42"), right("#### 41", "42")] == [1.0, 0.0]
        assert "vf.load" not in source
        for number, line in enumerate(source.split("\n")):
            whole = ENVIRONMENT.split("\n")[number].strip()
            assert line.strip() in ("", whole) or whole.startswith("def load_environment")

    def test_a_function_at_the_top_is_the_files_own(self, tmp_path: Path) -> None:
        assert find_function(f"{written(tmp_path, SIGNATURES['verl'])}:r")[1] == ""

    def test_several_are_listed(self, tmp_path: Path) -> None:
        text = ENVIRONMENT.replace(
            "return vf", "def other(completion): return 1.0\n\n    return vf"
        )
        with pytest.raises(UsageError, match=r"reward\.py:load_environment\.other"):
            find_function(written(tmp_path, text))

    def test_a_wrong_name_is_explained(self, tmp_path: Path) -> None:
        with pytest.raises(UnknownNameError, match="right_answr"):
            find_function(f"{written(tmp_path, ENVIRONMENT)}:right_answr")


class TestNeededColumns:
    def needs(self, folder: Path, text: str, **extra: Any) -> dict[str, tuple[str, ...]]:
        found = find_target(f"{written(folder, text)}:r")
        row = AuditProblem("p", "q", "42", extra=extra)
        subject = FunctionSubject("r", found, detect(found), (row,))
        assert bool(needed_text(subject)) == bool(needed_columns(subject))
        return needed_columns(subject)

    def test_a_parameter_and_its_keys_are_named(self, tmp_path: Path) -> None:
        text = (
            "def r(completion, info, board):\n    return use(info) + len(board)\n\n"
            "def use(info):\n    return info.get('size', 1) + info['cells'][0]\n"
        )
        assert self.needs(tmp_path, text) == {"info": ("size", "cells"), "board": ()}
        given = {"info": {"size": 3, "cells": [1]}, "board": "x"}
        assert self.needs(tmp_path, text, **given) == {}

    def test_a_name_out_of_the_keywords_and_the_keys_of_a_batch_are_named(
        self, tmp_path: Path
    ) -> None:
        text = (
            "def r(completions, **kwargs):\n    tests = kwargs['verification']\n"
            "    verification = tests\n    return [verification[0]['cases']] * len(completions)\n"
        )
        assert self.needs(tmp_path, text) == {"verification": ("cases",)}

    @pytest.mark.parametrize("name", SIGNATURES)
    def test_what_a_framework_brings_is_no_column(self, tmp_path: Path, name: str) -> None:
        assert self.needs(tmp_path, SIGNATURES[name]) == {}


def test_a_path_may_be_a_text_wherever_one_is_taken(tmp_path: Path) -> None:
    target = f"{written(tmp_path, SIGNATURES['verl'])}:r"
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"prompt": "q", "answer": "a"}\n')
    assert comes_without_rows(target, None)
    assert not comes_without_rows(target, str(rows))
    options = AuditOptions(oracle=str(tmp_path / "oracle.py"), run_folder=str(tmp_path / "run"))
    found = find_target(target)
    subject = FunctionSubject("r", found, detect(found), (AuditProblem("p", "q", "a"),))
    with ScoreJournal(subject, options.run_folder):
        assert (tmp_path / "run").is_dir()


@pytest.mark.slow
def test_rows_may_be_named_by_a_text(tmp_path: Path, pool: Pool) -> None:
    target = Path(written(tmp_path, SIGNATURES["verl"]))
    (tmp_path / "own.jsonl").write_text('{"prompt": "q", "answer": "a"}\n')
    for given in (str(tmp_path / "own.jsonl"), tmp_path / "own.jsonl"):
        for named in (target, str(target)):
            subject = load_subject(named, problems=given, seconds=1200.0, backend=pool)
            assert [one.prompt for one in subject.problems] == ["q"]
