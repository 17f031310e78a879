"""A task directory becomes tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.completion import Extraction, extract_code
from unhack.core.errors import TaskError
from unhack.sandbox.limits import Limits
from unhack.tasks.directory import TaskFolder, load_directory, read_folder
from unhack.tasks.settings import (
    FunctionOptions,
    PytestOptions,
    StdioOptions,
    TaskKind,
    TaskSettings,
)
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.pytest import PytestVerifier
from unhack.verifiers.script import Mode, ScriptVerifier
from unhack.verifiers.stdio import StdioCase, StdioCompare, StdioVerifier
from unhack.verifiers.text import AnswerCheck, TextVerifier

FUNCTION = {
    "task.toml": 'id = "add"\nkind = "function"\nentry_point = "add"\ntitle = "Sum"\n'
    'difficulty = "easy"\ntags = ["sums"]\n',
    "prompt.md": "Add two numbers.\n",
    "cases.jsonl": '{"args": [1, 2], "expected": 3}\n{"args": [1], "raises": "TypeError"}\n',
    "reference.py": "def add(a, b):\n    return a + b\n",
}
STDIO = {
    "task.toml": 'id = "echo"\nkind = "stdio"\n[verifier]\ncompare = "exact"\n',
    "prompt.md": "Print what you read.\n",
    "cases.jsonl": '{"stdin": "1\\n", "stdout": "1\\n"}\n',
}
TEXT = {
    "task.toml": 'id = "sum"\nkind = "text"\n[verifier]\ncheck = "numeric"\n',
    "cases.jsonl": '{"prompt": "1 + 1?", "answer": "2"}\n{"prompt": "2 + 3?", "answer": "5"}\n',
}
SCRIPT = {
    "task.toml": 'id = "judged"\nkind = "script"\nprompt = "Write f."\n',
    "verifier.py": "def verify(solution_path, test_cases_path):\n    return 1.0\n",
}
PYTEST = {
    "task.toml": 'id = "tested"\nkind = "pytest"\nprompt = "Write f."\n',
    "tests/test_f.py": "def test_f():\n    assert True\n",
    "tests/data/input.txt": "1 2 3\n",
    "tests/conftest.py": "",
}


def write(folder: Path, files: dict[str, str], **changes: str) -> Path:
    """Files on disk; `changes` replaces some or adds to them, with `_` for the dot."""
    renamed = {name.replace("_", "."): text for name, text in changes.items()}
    for name, text in {**files, **renamed}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def complaint(folder: Path) -> str:
    with pytest.raises(TaskError) as caught:
        load_directory(folder)
    return str(caught.value).replace(f"{folder}/", "")


def test_a_function_directory_is_one_task(tmp_path: Path):
    [task] = load_directory(write(tmp_path, FUNCTION))
    assert task.id == "add"
    assert task.prompt == "Add two numbers.\n"
    assert task.path == tmp_path
    assert task.problem.reference == FUNCTION["reference.py"]
    assert task.problem.meta == {"title": "Sum", "difficulty": "easy", "tags": ["sums"]}
    assert task.verifier == FunctionVerifier(
        "add", (Case((1, 2), {}, 3), Case((1,), raises="TypeError"))
    )


def test_options_and_limits_reach_the_verifier(tmp_path: Path):
    toml = FUNCTION["task.toml"] + (
        '[verifier]\ncompare = "float"\nrel_tol = 0.5\npartial_credit = true\nearly_stop = true\n'
        'setup = "import math\\n"\nscratch = true\npreload = ["numpy"]\nextraction = "last"\n'
        "[limits]\ncpu_s = 3\n"
    )
    [task] = load_directory(write(tmp_path, FUNCTION, task_toml=toml, checker_py="# a checker\n"))
    verifier = task.verifier
    assert isinstance(verifier, FunctionVerifier)
    assert (verifier.compare, verifier.rel_tol, verifier.abs_tol) == ("float", 0.5, 1e-9)
    assert verifier.partial_credit
    assert verifier.early_stop
    assert verifier.scratch
    assert verifier.setup == "import math\n"
    assert verifier.preload == ("numpy",)
    assert verifier.extraction is Extraction.LAST
    assert verifier.checker == "# a checker\n"
    assert verifier.limits == Limits(cpu_s=3.0)


def test_a_stdio_directory_is_one_task(tmp_path: Path):
    [task] = load_directory(write(tmp_path, STDIO))
    assert task.problem.reference is None
    assert task.verifier == StdioVerifier((StdioCase("1\n", "1\n"),), StdioCompare.EXACT)


def test_the_reference_of_a_program_in_c_is_a_c_file(tmp_path: Path):
    toml = 'id = "echo"\nkind = "stdio"\n[verifier]\nlanguage = "c"\n'
    write(tmp_path, STDIO, task_toml=toml, reference_c="int main(void) { return 0; }\n")
    [task] = load_directory(tmp_path)
    assert task.problem.reference == "int main(void) { return 0; }\n"


def test_each_row_of_a_text_directory_is_a_task(tmp_path: Path):
    first, second = load_directory(write(tmp_path, TEXT, prompt_md="About the family.\n"))
    assert (first.id, second.id) == ("sum#0", "sum#1")
    assert (first.prompt, second.problem.answer) == ("1 + 1?", "5")
    assert isinstance(first.verifier, TextVerifier)
    assert first.verifier.check is AnswerCheck.NUMERIC
    assert first.verifier.limits == TextVerifier.limits


def test_a_single_row_keeps_the_plain_id(tmp_path: Path):
    [task] = load_directory(write(tmp_path, TEXT, cases_jsonl='{"prompt": "p", "answer": "1"}\n'))
    assert task.id == "sum"


@pytest.mark.parametrize(
    ("options", "answer", "reference"),
    [
        ('check = "exact"', "blue", "\n\\boxed{blue}"),
        ('check = "choice"', "B", "\n\\boxed{B}"),
        ('check = "exact"\nanswer_in = ["whole"]', "blue", "\nblue"),
        ('check = "exact"\nafter = "</think>"', "blue", "</think>\n\\boxed{blue}"),
        ('check = "regex"', "b.*e", None),
    ],
)
def test_a_text_task_knows_a_correct_text_unless_the_answer_is_a_pattern(
    tmp_path: Path, options, answer, reference
):
    write(
        tmp_path,
        TEXT,
        task_toml=f'id = "t"\nkind = "text"\n[verifier]\n{options}\n',
        cases_jsonl=f'{{"prompt": "p", "answer": "{answer}"}}\n',
    )
    [task] = load_directory(tmp_path)
    assert task.problem.reference == reference


def test_an_answer_that_the_check_cannot_use_is_reported_with_its_line(tmp_path: Path):
    write(tmp_path, TEXT, cases_jsonl=TEXT["cases.jsonl"] + '{"prompt": "p", "answer": "both"}\n')
    assert complaint(tmp_path).startswith("cases.jsonl:3: problem of this line: its answer 'both'")


def test_a_script_directory_needs_no_cases(tmp_path: Path):
    [task] = load_directory(write(tmp_path, SCRIPT))
    assert task.verifier == ScriptVerifier(SCRIPT["verifier.py"])


def test_a_script_gets_the_files_that_it_names(tmp_path: Path):
    toml = SCRIPT["task.toml"] + (
        '[verifier]\nmode = "as_written"\ncases = "cases.json"\nfiles = ["tools.py"]\n'
        'solution = "answer.py"\n'
    )
    write(tmp_path, SCRIPT, task_toml=toml, cases_json="[]", tools_py="X = 1\n")
    [task] = load_directory(tmp_path)
    assert task.verifier == ScriptVerifier(
        SCRIPT["verifier.py"],
        cases="[]",
        cases_name="cases.json",
        files={"tools.py": "X = 1\n"},
        solution="answer.py",
        mode=Mode.AS_WRITTEN,
    )


@pytest.mark.parametrize("name", ["/etc/hostname", "../secret.py", "a/../../b.py"])
def test_a_script_gets_no_file_from_outside_its_directory(tmp_path: Path, name: str):
    toml = SCRIPT["task.toml"] + f'[verifier]\nfiles = ["{name}"]\n'
    assert "lies outside the task directory" in complaint(write(tmp_path, SCRIPT, task_toml=toml))


def test_a_pytest_directory_tells_tests_from_other_files(tmp_path: Path):
    write(tmp_path, PYTEST)
    (tmp_path / "tests" / "__pycache__").mkdir()
    (tmp_path / "tests" / "__pycache__" / "test_f.pyc").write_bytes(b"\xff\xfe")
    [task] = load_directory(tmp_path)
    assert task.verifier == PytestVerifier(
        tests={"tests/conftest.py": "", "tests/test_f.py": PYTEST["tests/test_f.py"]},
        files={"tests/data/input.txt": "1 2 3\n"},
    )


def test_a_completion_of_several_files_is_kept_in_a_markdown_file(tmp_path: Path):
    toml = PYTEST["task.toml"] + '[verifier]\nsolution_files = ["a.py", "b.py"]\n'
    blocks = "```python a.py\nX = 1\n```\n```python b.py\nY = 2\n```\n"
    write(tmp_path, PYTEST, task_toml=toml, reference_md=blocks)
    folder = read_folder(tmp_path)
    assert folder.reference_path.name == "reference.md"
    assert load_directory(tmp_path)[0].problem.reference == blocks


@pytest.mark.parametrize(
    ("files", "without", "expected"),
    [
        (FUNCTION, "prompt.md", "prompt.md: this file is missing"),
        (FUNCTION, "cases.jsonl", "cases.jsonl: this file is missing"),
        (FUNCTION, "task.toml", "task.toml: this file is missing"),
        (STDIO, "cases.jsonl", "cases.jsonl: this file is missing"),
        (TEXT, "cases.jsonl", "cases.jsonl: this file is missing"),
        (SCRIPT, "verifier.py", "verifier.py: this file is missing"),
        (PYTEST, "tests/test_f.py", "tests: holds no file named test_*.py"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, files, without, expected):
    write(tmp_path, {name: text for name, text in files.items() if name != without})
    assert complaint(tmp_path).startswith(expected)


def test_a_named_file_must_be_there(tmp_path: Path):
    toml = SCRIPT["task.toml"] + '[verifier]\ncases = "no.json"\n'
    assert complaint(write(tmp_path, SCRIPT, task_toml=toml)) == "no.json: this file is missing"


def test_two_prompts_are_one_too_many(tmp_path: Path):
    expected = "prompt.md: task.toml has a `prompt` too"
    assert complaint(write(tmp_path, SCRIPT, prompt_md="Twice.\n")).startswith(expected)


def test_a_wrong_case_is_reported_with_its_line(tmp_path: Path):
    write(tmp_path, FUNCTION, cases_jsonl=FUNCTION["cases.jsonl"] + "{}\n")
    assert complaint(tmp_path).startswith("cases.jsonl:3: needs `expected`")


def test_a_path_that_is_no_directory_is_an_error(tmp_path: Path):
    with pytest.raises(TaskError, match="there is no such directory"):
        load_directory(tmp_path / "nowhere")


def test_the_solutions_of_a_directory_are_found_by_folder(tmp_path: Path):
    write(tmp_path, FUNCTION)
    for name in ("right/b.py", "right/a.py", "wrong/c.py", "wrong/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n")
    folder = read_folder(tmp_path)
    assert folder.solutions("right") == {
        "right/a.py": "# right/a.py\n",
        "right/b.py": "# right/b.py\n",
    }
    assert list(folder.solutions("wrong")) == ["wrong/c.py"]


_OPTIONS = st.sampled_from(list(Extraction)).flatmap(
    lambda how: st.sampled_from(
        [FunctionOptions(extraction=how), StdioOptions(extraction=how, language="c"),
         PytestOptions(extraction=how)]
    )
)  # fmt: skip
_LINES = st.sampled_from(
    ["x = 1", '"""', "```", "```python", "~~~", "````", "   ```", "y = '```'", "", "# ~~~~"]
)


@given(options=_OPTIONS, lines=st.lists(_LINES, min_size=1, max_size=6))
def test_the_verifier_takes_exactly_the_source_out_of_a_completion(options, lines):
    source = "\n".join([*lines, "end = True"]) + "\n"
    kind = TaskKind.STDIO if isinstance(options, StdioOptions) else TaskKind.FUNCTION
    folder = TaskFolder(Path("t"), TaskSettings(id="t", kind=kind), options)
    language = "c" if isinstance(options, StdioOptions) else "python"
    found = extract_code(folder.completion(source), language=language, how=options.extraction)
    assert found is not None
    assert found.rstrip("\n") == source.rstrip("\n")
