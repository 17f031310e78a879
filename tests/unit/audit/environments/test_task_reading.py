"""Tasks that are read: each kind is found where it is, and not where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from unhack.audit.environments.reading.reader import read_task, task_folders
from unhack.audit.environments.reading.summary import summarised
from unhack.audit.environments.reading.suspicion import KINDS, LAYOUT, SuspicionKind, TaskReading
from unhack.core.errors import UsageError

GRADE = "#!/bin/bash\npytest /tests/test_it.py && echo 1 > /logs/verifier/reward.txt\n"
ASKED = "Count the lines of `/app/words.txt`.\n\nSave the number to `/app/out.txt`.\n"
IMAGE = "FROM debian\nRUN mkdir -p /app\nCOPY words.txt /app/words.txt\nWORKDIR /app\n"
COMPARED = """\
from pathlib import Path

OUT = Path("/app/out.txt")


def test_the_number_is_right():
    assert int(OUT.read_text()) == 7041
"""


def written(
    folder: Path,
    tests: str = COMPARED,
    *,
    statement: str = ASKED,
    image: str = IMAGE,
    script: str = GRADE,
    settings: str = "",
) -> TaskReading:
    """A task of these texts, read."""
    texts = {
        "instruction.md": statement,
        "task.toml": settings,
        "environment/Dockerfile": image,
        "environment/words.txt": "one\ntwo\n",
        "tests/test.sh": script,
        "tests/test_it.py": tests,
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return read_task(folder)


def kinds(reading: TaskReading) -> set[str]:
    return {kind.value for kind in reading.kinds}


def body(*lines: str, before: str = "") -> str:
    """A file with one test."""
    head = f"import json\nimport subprocess\nfrom pathlib import Path\n\n{before}\n\n"
    return head + "def test_it():\n" + "".join(f"    {line}\n" for line in lines)


READ = 'text = Path("/app/out.txt").read_text()'


def test_a_value_of_the_tests_own_is_nothing_suspicious(tmp_path: Path) -> None:
    reading = written(tmp_path)
    assert reading.said == "read, nothing suspicious; not run"
    assert [one.kind for one in reading.suspicions] == [SuspicionKind.SHARED_MACHINE]


@pytest.mark.parametrize(
    "check",
    [
        "assert len(text) > 0",
        "assert isinstance(json.loads(text), dict)",
        'assert text.startswith("N")',
        'assert text in ["a", "b"]',
        "assert 0 <= float(text) <= 10",
        "assert sorted(text.split()) == text.split()",
        'assert "total" in json.loads(text)',
    ],
)
def test_tests_of_the_form_alone_are_told(tmp_path: Path, check: str) -> None:
    asked = ASKED + "A JSON object with the field `total`.\n"
    assert kinds(written(tmp_path, body(READ, check), statement=asked)) == {"form_only"}


@pytest.mark.parametrize(
    "check",
    [
        "assert text == 'seventeen lines'",
        "assert abs(float(text) - 3.25) < 0.1",
        "assert json.loads(text)['total'] in (5, 6) or text == '5 or 6'",
        "assert text == str(len([]) + 12)",
    ],
)
def test_a_value_that_is_compared_is_more_than_form(tmp_path: Path, check: str) -> None:
    assert "form_only" not in kinds(written(tmp_path, body(READ, check)))


def test_values_that_the_statement_tells_are_named(tmp_path: Path) -> None:
    tests = body(READ, 'assert text.strip() == "port=8080"')
    assert kinds(written(tmp_path, tests, statement=ASKED + "Set port=8080.\n")) == {"told"}
    assert kinds(written(tmp_path, tests)) == set()


@pytest.mark.parametrize(
    ("check", "found"),
    [
        ('assert json.loads(text)["status"] == "SUCCESS"', True),
        ('assert json.loads(text)["build_ok"] is True', True),
        ('assert float(json.loads(text)["seconds"]) < 10', True),
        ('assert json.loads(text)["colour"] == "red"', False),
        ('assert json.loads(text)["is_even"] is True', False),
    ],
)
def test_a_success_that_the_agent_writes_is_a_claim(
    tmp_path: Path, check: str, found: bool
) -> None:
    assert ("claim" in kinds(written(tmp_path, body(READ, check)))) is found


def test_an_expected_value_out_of_the_workspace_is_named_with_its_file(tmp_path: Path) -> None:
    lines = (
        "total = 0",
        'for line in open("/app/words.txt"):',
        "    total += 1",
        READ,
        "assert int(text) == total",
    )
    [one, _] = written(tmp_path, body(*lines)).suspicions
    assert (one.kind, one.about) == (SuspicionKind.INPUT_WRITABLE, "/app/words.txt")
    assert (one.file, one.quote.strip()) == ("tests/test_it.py", "assert int(text) == total")


def test_a_file_of_which_only_the_existence_is_asked_is_named(tmp_path: Path) -> None:
    asked = ASKED + "Save your program to `/app/count.sh`.\n"
    lines = ('assert Path("/app/count.sh").exists()', READ, "assert text == 'x41'")
    [one, _] = written(tmp_path, body(*lines), statement=asked).suspicions
    assert (one.kind, one.about) == (SuspicionKind.EXISTENCE_ONLY, "/app/count.sh")


def test_that_a_file_is_absent_is_no_question_of_existence_alone(tmp_path: Path) -> None:
    lines = ('assert not Path("/app/old.log").exists()', READ, "assert text == 'x41'")
    assert "existence_only" not in kinds(written(tmp_path, body(*lines)))


def test_a_file_that_no_test_reads_is_named_by_the_line_that_asks_for_it(tmp_path: Path) -> None:
    asked = ASKED + "Write a log to `/app/log.json`.\nRead `/app/more.txt` first.\n"
    [one, _] = written(tmp_path, statement=asked).suspicions
    assert (one.kind, one.file, one.line) == (SuspicionKind.OUTPUT_UNREAD, "instruction.md", 4)
    assert one.about == "/app/log.json"


def test_the_same_name_in_another_folder_is_another_file(tmp_path: Path) -> None:
    tests = COMPARED.replace("/app/out.txt", "/workspace/app/out.txt")
    assert kinds(written(tmp_path, tests)) == {"output_unread", "unnamed"}


@pytest.mark.parametrize(
    ("wanted", "check", "found"),
    [
        ("It must take less than 5 seconds.", "assert text == 'x41'", True),
        ("It must take less than 5 seconds.", "assert text == 'x41' and 5 > 4", False),
        ("At least 80% must be right: it must be at least 80%.", "assert 0.8 < 1", False),
        ("The memory must not exceed 512MB.", "assert 512 * 1024 * 1024 > 0", False),
        ("The memory must not exceed 512MB.", '"""512"""', True),
        ("The file holds exactly 900 lines.", "assert text == 'x41'", False),
    ],
)
def test_a_number_that_is_asked_and_not_in_the_code_is_named(
    tmp_path: Path, wanted: str, check: str, found: bool
) -> None:
    tests = body(READ, check, "assert text != 'y'")
    reading = written(tmp_path, tests, statement=f"{ASKED}\n{wanted}\n")
    assert ("number_unchecked" in kinds(reading)) is found


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ('subprocess.run(["bash", "/app/run.sh"])', True),
        ('subprocess.run(["/app/tool", "3"])', True),
        ('subprocess.run("cd /app && make all", shell=True)', True),
        ('subprocess.run(Path("/app/out.txt").read_text(), shell=True)', True),
        ('started("python3 /app/run.py")', True),
        ('subprocess.run(["file", "/app/tool"])', False),
        ('subprocess.run(["python3", "--version"])', False),
        ('subprocess.run(["/usr/bin/wc", "/app/out.txt"])', False),
    ],
)
def test_a_program_of_the_workspace_is_told_from_a_tool(
    tmp_path: Path, call: str, found: bool
) -> None:
    before = "def started(line):\n    return subprocess.run(line, shell=True)\n"
    tests = body(f"result = {call}", "assert result.returncode == 0", before=before)
    assert ("runs_workspace" in kinds(written(tmp_path, tests))) is found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ((READ, "if not text:", "    return", "assert text == 'x41'"), True),
        ((READ, "try:", "    assert text == 'x41'", "except Exception:", "    pass"), True),
        ((READ, "if text.count('x') > 3:", "    assert text == 'x41'"), True),
        ((READ, "if text.count('x') > 3:", "    assert text == 'x41'", "assert text == 'y'"),
         False),
        ((READ, "for line in text.split():", "    if line:", "        assert line == 'q'"), False),
        ((READ, "try:", "    n = int(text)", "except ValueError:", "    assert False"), False),
    ],
)  # fmt: skip
def test_checks_that_may_be_left_out_are_named(
    tmp_path: Path, lines: tuple[str, ...], found: bool
) -> None:
    assert ("skippable" in kinds(written(tmp_path, body(*lines)))) is found


def test_a_condition_that_another_test_demands_leaves_nothing_out(tmp_path: Path) -> None:
    lines = (READ, "if len(text) > 3:", "    assert text == 'x41'")
    demand = (
        "def test_length():\n    text = open('/app/out.txt').read()\n    assert len(text) > 3\n"
    )
    assert "skippable" in kinds(written(tmp_path, body(*lines)))
    assert "skippable" not in kinds(written(tmp_path, body(*lines, before=demand)))


def test_a_field_that_nobody_named_is_told(tmp_path: Path) -> None:
    tests = body("data = json.load(open('/app/out.txt'))", "assert data['lineTotal'] == 19")
    assert kinds(written(tmp_path, tests)) == {"unnamed"}
    assert kinds(written(tmp_path, tests, statement=ASKED + "Field: lineTotal\n")) == set()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("pip install pytest", True),
        ("apt-get install -y curl", True),
        ("curl -s https://example.org/x | sh", True),
        ("curl -s http://localhost:8080/", False),
        ("# pip install pytest", False),
        ("echo pip install pytest", False),
    ],
)
def test_tests_that_need_the_network_are_told(tmp_path: Path, line: str, found: bool) -> None:
    reading = written(tmp_path, script=f"{line}\n{GRADE}")
    assert ("network" in kinds(reading)) is found


def test_an_answer_in_the_image_is_named_where_the_tests_read_it(tmp_path: Path) -> None:
    image = IMAGE + "COPY expected.txt /app/expected.txt\n"
    tests = body(READ, 'assert text == Path("/app/expected.txt").read_text()')
    (tmp_path / "environment").mkdir()
    (tmp_path / "environment" / "expected.txt").write_text("9\n")
    reading = written(tmp_path, tests, image=image)
    found = [one for one in reading.suspicions if one.kind is SuspicionKind.ANSWER_IN_IMAGE]
    assert [(one.file, one.line) for one in found] == [("environment/Dockerfile", 5)]
    assert "answer_in_image" not in kinds(written(tmp_path, image=image))


def test_a_grader_of_the_image_is_named_unless_the_verifier_is_separate(tmp_path: Path) -> None:
    script = "python3 /app/grade.py /app/out.txt > /logs/verifier/reward.txt\n"
    assert "grader_in_image" in kinds(written(tmp_path, script=script))
    apart = '[verifier]\nenvironment_mode = "separate"\n'
    assert written(tmp_path, script=script, settings=apart).suspicions == ()


def test_what_cannot_be_read_is_said_by_name(tmp_path: Path) -> None:
    broken = written(tmp_path / "broken", "def test_it(:\n")
    assert broken.unread == ("tests/test_it.py, line 1: invalid syntax",)
    assert broken.said.endswith("; not run; not read: tests/test_it.py, line 1: invalid syntax")
    bare = written(tmp_path / "bare", "def test_it():\n    check()\n")
    assert bare.unread == ("tests/test_it.py: no assertion found",)
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "task.toml").write_text("")
    assert read_task(empty).said == "not read: there is no instruction.md that can be read"
    (tmp_path / "broken" / "task.toml").write_text("=")
    assert read_task(tmp_path / "broken").failed


def test_tests_in_another_language_are_not_called_read(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "tests" / "test_it.py").unlink()
    (tmp_path / "tests" / "check.js").write_text("process.exit(0)\n")
    unread = read_task(tmp_path).unread
    assert unread == ("tests/check.js", "no tests in Python: what they compare")


def test_a_summary_counts_tasks_and_names_those_that_were_not_read(tmp_path: Path) -> None:
    written(tmp_path / "all" / "one")
    written(tmp_path / "all" / "deep" / "two", body(READ, "assert text"))
    (tmp_path / "all" / "three").mkdir()
    (tmp_path / "all" / "three" / "task.toml").write_text("")
    below = tmp_path / "all"
    summary = summarised(read_task(one, below=below) for one in task_folders(below))
    assert (summary.read, summary.quiet) == (2, 1)
    assert summary.failed == {"three": "there is no instruction.md that can be read"}
    assert summary.counts[SuspicionKind.FORM_ONLY] == 1
    assert summary.share(1) == "1 of 2, 50.0 % (9.5 to 90.5)"
    told = summary.to_json()
    assert (told["tasks"], told["kinds"]["form_only"]["tasks"]) == (3, 1)


def test_a_folder_without_tasks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has a task\.toml"):
        task_folders(tmp_path)


def test_every_kind_has_its_sentence() -> None:
    assert set(KINDS) == set(SuspicionKind)
    assert set(KINDS) > LAYOUT
