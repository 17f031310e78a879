"""Whatever a user names is found, or the complaint says what to change."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from unhack.audit.subject import Call, Query
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.loading import load_subject
from unhack.audit.subjects.problem_rows import folder_cases, read_problems
from unhack.audit.subjects.target import find_module, find_target
from unhack.audit.subjects.task_subject import TaskSubject
from unhack.core.errors import TaskError, UnknownNameError, UsageError
from unhack.sandbox.pool.pool import Pool

REFERENCE = "def double(x):\n    return 2 * x\n"
VERIFIER = """
import importlib.util, json
from tools import load_cases

def verify(solution_path, test_cases_path):
    spec = importlib.util.spec_from_file_location("candidate", solution_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cases = load_cases(test_cases_path)
    return sum(module.double(c["input"]) == c["output"] for c in cases) / len(cases)
"""
TOOLS = "import json\ndef load_cases(path):\n    return json.load(open(path))\n"
CASES = [{"input": 2, "output": 4}, {"input": -1, "output": -2}]


def _folder(path: Path, **files: str) -> Path:
    texts = {
        "verifier.py": VERIFIER,
        "tools.py": TOOLS,
        "reference.py": REFERENCE,
        "prompt.md": "Write `double(x)`.",
        "cases.json": json.dumps(CASES),
    } | {name.replace("_toml", ".toml").replace("_py", ".py"): text for name, text in files.items()}
    path.mkdir()
    for name, text in texts.items():
        (path / name).write_text(text)
    return path


@pytest.mark.slow
class TestAFolderWithAVerifier:
    def test_it_runs_as_its_author_runs_it(self, tmp_path: Path, pool: Pool) -> None:
        subject = load_subject(str(_folder(tmp_path / "double")), backend=pool)
        [problem] = subject.problems
        assert isinstance(subject, FunctionSubject)
        assert problem.prompt == "Write `double(x)`."
        assert problem.entry_point == "double"
        assert problem.calls == (Call((2,), {}, 4), Call((-1,), {}, -2))
        fenced = f"Here:\n```python\n{REFERENCE}```\n"
        texts = (problem.correct[0], fenced, "def double(x): return 4\n", "")
        scores = subject.score([Query(problem, text) for text in texts])
        assert [score.value for score in scores] == [1.0, 1.0, 0.5, None]
        assert scores[3].trouble == "raised"

    def test_a_task_file_changes_its_names(self, tmp_path: Path, pool: Pool) -> None:
        toml = 'id = "x/double"\nkind = "script"\n[verifier]\ncases = "cases.json"\n'
        subject = load_subject(str(_folder(tmp_path / "double", task_toml=toml)), backend=pool)
        assert subject.problems[0].id == "x/double"
        assert subject.score([Query(subject.problems[0], REFERENCE)])[0].value == 1.0

    def test_a_sealed_task_stays_sealed(self, tmp_path: Path, pool: Pool) -> None:
        toml = (
            'id = "x/double"\nkind = "script"\n[verifier]\nmode = "sealed"\nfiles = ["tools.py"]\n'
        )
        folder = _folder(tmp_path / "double", task_toml=toml + 'cases = "cases.json"\n')
        subject = load_subject(str(folder), backend=pool)
        assert isinstance(subject, TaskSubject)
        assert subject.score([Query(subject.problems[0], REFERENCE)])[0].value == 1.0
        assert subject.source is not None

    @pytest.mark.parametrize(
        ("given", "value"),
        [("return {'score': 7.5}", 7.5), ("return True", 1.0), ("print('{\"score\": 0.5}')", 0.5)],
    )
    def test_its_raw_score_is_kept(
        self, tmp_path: Path, pool: Pool, given: str, value: float
    ) -> None:
        script = f"def verify(solution_path, test_cases_path):\n    {given}\n"
        subject = load_subject(str(_folder(tmp_path / "d", verifier_py=script)), backend=pool)
        assert subject.score([Query(subject.problems[0], "x = 1")])[0].value == value

    def test_a_script_that_is_a_program_prints_its_score(self, tmp_path: Path, pool: Pool) -> None:
        script = (
            "import json, sys\nif __name__ == '__main__':\n"
            "    space = {}\n    exec(open(sys.argv[1]).read(), space)\n"
            "    cases = json.load(open(sys.argv[2]))\n"
            "    good = all(space['double'](c['input']) == c['output'] for c in cases)\n"
            "    print(json.dumps({'score': float(good)}))\n"
        )
        subject = load_subject(str(_folder(tmp_path / "d", verifier_py=script)), backend=pool)
        texts = (REFERENCE, "def double(x): return x")
        scores = subject.score([Query(subject.problems[0], text) for text in texts])
        assert [score.value for score in scores] == [1.0, 0.0]

    def test_a_script_may_start_the_solution(self, tmp_path: Path, pool: Pool) -> None:
        script = (
            "import subprocess, sys\ndef verify(solution_path, test_cases_path):\n"
            "    run = subprocess.run([sys.executable, solution_path], capture_output=True)\n"
            "    return run.returncode == 0 and run.stdout == b'4\\n'\n"
        )
        subject = load_subject(str(_folder(tmp_path / "d", verifier_py=script)), backend=pool)
        texts = ("print(4)", "print(5)")
        scores = subject.score([Query(subject.problems[0], text) for text in texts])
        assert [score.value for score in scores] == [1.0, 0.0], scores

    def test_the_reference_is_out_of_a_completions_reach(self, tmp_path: Path, pool: Pool) -> None:
        subject = load_subject(str(_folder(tmp_path / "double")), backend=pool)
        [score] = subject.score([Query(subject.problems[0], "from reference import double\n")])
        assert (score.value, score.trouble) == (None, "raised")

    def test_cases_beside_the_script_can_be_opened_by_name(
        self, tmp_path: Path, pool: Pool
    ) -> None:
        script = "def verify(solution_path):\n    return len(open('cases.json').read()) > 9\n"
        subject = load_subject(str(_folder(tmp_path / "d", verifier_py=script)), backend=pool)
        assert subject.score([Query(subject.problems[0], "x = 1")])[0].value == 1.0


class TestAFunction:
    @pytest.mark.slow
    def test_rows_become_problems(self, tmp_path: Path, pool: Pool) -> None:
        (tmp_path / "m.py").write_text(
            "def compute_score(data_source, solution_str, ground_truth, extra_info=None):\n"
            "    return float(solution_str == ground_truth and extra_info['level'] == 2)\n"
        )
        rows = tmp_path / "rows.jsonl"
        rows.write_text('{"prompt": "?", "answer": "42", "correct": ["42"], "level": 2}\n\n')
        target = str(tmp_path / "m.py")
        subject = load_subject(target, problems=rows, backend=pool)
        [problem] = subject.problems
        assert (problem.answer, problem.correct, problem.extra["level"]) == ("42", ("42",), 2)
        assert subject.score([Query(problem, "42")])[0].value == 1.0

    @pytest.mark.slow
    @pytest.mark.parametrize(("cheap_s", "count"), [(0.0, 3), (math.inf, 8)])
    def test_the_form_that_it_wants_is_found_by_trying(
        self,
        tmp_path: Path,
        pool: Pool,
        monkeypatch: pytest.MonkeyPatch,
        cheap_s: float,
        count: int,
    ) -> None:
        # three for the trial, eight where the reward is cheap: a clock of the test's own
        monkeypatch.setattr("unhack.audit.subjects.inputs.own_problems._CHEAP_S", cheap_s)
        (tmp_path / "m.py").write_text(
            "import re\ndef reward(completion, answer):\n"
            "    found = re.search(r'<answer>(.*?)</answer>', completion)\n"
            "    return float(bool(found) and found.group(1) == answer)\n"
        )
        subject = load_subject(str(tmp_path / "m.py"), backend=pool)
        assert len(subject.problems) == count
        assert subject.problems[0].correct[0] == "<answer>42</answer>"
        assert {one.correct[0][:8] for one in subject.problems} == {"<answer>"}

    @pytest.mark.slow
    def test_rows_beside_the_file_are_taken(self, tmp_path: Path, pool: Pool) -> None:
        (tmp_path / "m.py").write_text("def reward(completion, answer): return 1.0\n")
        (tmp_path / "m.jsonl").write_text('{"prompt": "here", "answer": "1", "correct": "1"}')
        assert load_subject(str(tmp_path / "m.py"), backend=pool).problems[0].prompt == "here"

    def test_a_task_takes_no_rows(self, tmp_path: Path, pool: Pool) -> None:
        with pytest.raises(UsageError, match="takes no problems"):
            load_subject("strings/knit-rows", problems=tmp_path, backend=pool)

    @pytest.mark.parametrize(
        ("target", "error", "says"),
        [
            ("no/such.py:f", TaskError, "no such file"),
            ("no_such_module:f", UsageError, "no module 'no_such_module'"),
            ("{here}/m.py:sore", UnknownNameError, "did you mean score"),
            ("{here}/m.py:Grader.chekc", UnknownNameError, "did you mean check"),
            ("{here}/bad.py:f", TaskError, "bad.py:2: not Python"),
            ("{here}/many.py", UsageError, "which function gives the score"),
            ("strings/knit-row", UnknownNameError, "knit-rows"),
        ],
    )
    def test_a_wrong_name_is_explained(
        self, tmp_path: Path, pool: Pool, target: str, error: type[Exception], says: str
    ) -> None:
        (tmp_path / "m.py").write_text(
            "def score(completion): return 1\nclass Grader:\n    def check(self, text): return 1\n"
        )
        (tmp_path / "bad.py").write_text("x = 1\ndef f(:\n")
        (tmp_path / "many.py").write_text("def a_reward(c): pass\ndef b_reward(c): pass\n")
        with pytest.raises(error, match=says):
            load_subject(target.format(here=tmp_path), backend=pool)

    def test_an_unknown_signature_is_refused_at_once(self) -> None:
        with pytest.raises(UnknownNameError, match="did you mean openrlhf"):
            load_subject("nowhere:f", signature="openrlfh")


class TestRows:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ('{"prompt": "?"}\n{"answer": "1"}', "rows.jsonl:2: needs `prompt`"),
            ('{"prompt": "?"', "rows.jsonl:1: not JSON"),
            ("[1]", "rows.jsonl:1: a row must be an object"),
            ("", "holds no problem"),
            ('{"prompt": "?", "correct": [1]}', "rows.jsonl:1: `correct` must be a list"),
            ('{"prompt": "?", "id": 1}\n{"prompt": "?", "id": 1}', "the same `id`"),
            ('{"prompt": "?", "entry_point": 1}', "rows.jsonl:1: `entry_point`"),
        ],
    )
    def test_a_wrong_row_is_named_by_its_line(self, tmp_path: Path, text: str, says: str) -> None:
        (tmp_path / "rows.jsonl").write_text(text)
        with pytest.raises(TaskError, match=says):
            read_problems(tmp_path / "rows.jsonl")

    def test_the_columns_of_a_verl_row_are_understood(self, tmp_path: Path) -> None:
        row = {
            "data_source": "openai/gsm8k",
            "prompt": [{"role": "system", "content": "s"}, {"role": "user", "content": "How?"}],
            "reward_model": {"style": "rule", "ground_truth": "72"},
        }
        (tmp_path / "rows.jsonl").write_text(json.dumps(row))
        [problem] = read_problems(tmp_path / "rows.jsonl")
        assert (problem.prompt, problem.answer) == ("How?", "72")
        assert problem.extra["data_source"] == "openai/gsm8k"

    def test_a_number_as_answer_keeps_its_type_for_the_function(self, tmp_path: Path) -> None:
        (tmp_path / "rows.jsonl").write_text('{"question": "?", "answer": 42}')
        [problem] = read_problems(tmp_path / "rows.jsonl")
        assert (problem.answer, problem.extra["answer"]) == ("42", 42)

    def test_a_row_of_code_has_calls(self, tmp_path: Path) -> None:
        row = '{"prompt": "?", "entry_point": "f", "calls": [{"args": [1], "expected": 2}]}'
        (tmp_path / "rows.jsonl").write_text(row)
        [problem] = read_problems(tmp_path / "rows.jsonl")
        assert (problem.entry_point, problem.calls) == ("f", (Call((1,), {}, 2),))


class TestCasesOfAFolder:
    @pytest.mark.parametrize(
        "rows",
        [
            [{"args": [1, 2], "expected": 3}],
            [{"kwargs": {"a": 1, "b": 2}, "expected": 3}],
            [{"input": [1, 2], "output": 3}],
            [{"input": {"b": 2, "a": 1}, "expected_output": 3}],
            [{"a": 1, "b": 2, "result": 3}],
            [[[1, 2], 3]],
            {"test_cases": [{"inputs": [1, 2], "expected": 3}]},
            {"inputs": [[1, 2]], "outputs": [3]},
        ],
    )
    def test_the_usual_shapes_give_the_same_call(self, rows: object) -> None:
        found = folder_cases("def add(a, b): return a + b", json.dumps(rows), "solution.add")
        assert found == ("add", (Call((1, 2), {}, 3),))

    def test_a_list_is_one_argument_of_a_function_with_one(self) -> None:
        rows = json.dumps([{"input": [3, 1], "output": [1, 3]}])
        assert folder_cases("def order(x): return sorted(x)", rows, "m.order")[1] == (
            Call(([3, 1],), {}, [1, 3]),
        )

    def test_a_list_in_a_list_is_spread_only_where_the_verifier_spreads_it(self) -> None:
        rows, reference = json.dumps([{"input": [[3, 1]], "output": 4}]), "def f(x): return 4"
        one, spread = "m.f(case['input'])", "m.f(*case['input'])"
        assert folder_cases(reference, rows, one)[1][0].args == ([[3, 1]],)
        assert folder_cases(reference, rows, spread)[1][0].args == ([3, 1],)

    def test_a_program_with_functions_is_a_program(self) -> None:
        reference = "def part(x): return x\nprint(part(input()))\n"
        rows = json.dumps([{"input": "1", "output": "1"}])
        found = folder_cases(reference, rows, "import subprocess\nsubprocess.run")
        assert found == (None, (Call(("1",), {}, "1"),))

    def test_lines_of_json_are_rows_too(self) -> None:
        rows = '{"args": [1], "expected": 2}\n{"args": [2], "expected": 3}\n'
        assert len(folder_cases("def up(x): return x + 1", rows, "m.up")[1]) == 2

    def test_the_verifier_names_the_entry_point(self) -> None:
        reference = "def part(x): return x\ndef whole(x): return part(x)\ndef other(x): return x\n"
        script = "from solution import whole\nTABLE = [((1,), 1), ((2,), 2)]\n"
        assert folder_cases(reference, "", script) == (
            "whole",
            (Call((1,), {}, 1), Call((2,), {}, 2)),
        )

    def test_asserts_of_the_verifier_are_calls(self) -> None:
        script = "import solution\nassert solution.up(1) == 2\nassert solution.up(2) == 3\n"
        entry, calls = folder_cases("def up(x): return x + 1", "", script)
        assert entry == "up"
        assert [call.args for call in calls] == [(1,), (2,)]

    def test_a_program_reads_standard_input(self) -> None:
        rows = json.dumps([{"input": "1 2\n", "output": "3\n"}])
        entry, calls = folder_cases("print(sum(map(int, input().split())))", rows, "subprocess")
        assert (entry, calls) == (None, (Call(("1 2\n",), {}, "3\n"),))


class TestFindingWithoutImporting:
    def test_a_module_of_the_standard_library_is_found(self) -> None:
        found = find_module("json.decoder")
        assert found is not None
        assert (found.path.name, found.name) == ("decoder.py", "json.decoder")

    def test_a_name_that_a_package_takes_over_leads_to_its_definition(self) -> None:
        target = find_target("json:JSONDecoder.decode")
        assert target.defined_in.path.name == "decoder.py"
        assert target.function is not None

    def test_a_checkout_named_as_its_package_is_no_package(self, tmp_path: Path) -> None:
        folder = tmp_path / "rewards" / "rewards" / "kinds"
        folder.mkdir(parents=True)
        for inner in (folder, folder.parent):
            (inner / "__init__.py").touch()
        (folder / "exact.py").write_text("import rewards.kinds\n\ndef r(text, gold): return 0\n")
        module = find_target(f"{folder / 'exact.py'}:r").module
        assert (module.name, module.root) == ("rewards.kinds.exact", tmp_path / "rewards")

    def test_a_method_of_a_base_class_is_found(self, tmp_path: Path) -> None:
        (tmp_path / "base.py").write_text("class Base:\n    def score(self, text): return 1\n")
        (tmp_path / "m.py").write_text("from base import Base\nclass Mine(Base):\n    pass\n")
        target = find_target(f"{tmp_path / 'm.py'}:Mine")
        assert (target.entry, target.defined_in.path.name) == ("Mine.score", "base.py")
