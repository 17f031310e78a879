"""Audits of Harbor folders with an image: played by the folder's own judge, proven in the image."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.unit.sandbox.images.layouts import entry, shell_image, tar_of

from unhack.audit.environments.loading import environment_of
from unhack.audit.environments.registry import ENVIRONMENT_ATTACKS
from unhack.audit.environments.runner import EnvironmentAuditOptions, audit_environment
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.core.errors import TaskError
from unhack.sandbox.images.source import ImageSource
from unhack.sandbox.images.store import ImageStore

ADDS = "import sys\nsys.path.insert(0, '/work')\nfrom calc import add\nassert add(2, 3) == 5\n"
FILES = {
    "task.toml": '[verifier]\ntimeout_sec = 60\n[task]\nname = "calc"\n',
    "instruction.md": "add() in /work/calc.py is wrong; fix it.\n",
    "environment/Dockerfile": "FROM somewhere\nRUN true\nWORKDIR /work\n",
    "tests/test_outputs.py": f"{ADDS.rpartition('assert')[0]}\n\ndef test_add():\n"
    "    assert add(2, 3) == 5\n",
    "tests/check.py": ADDS,
    "tests/test.sh": "python3 /tests/check.py && S=1 || S=0\necho $S > /logs/verifier/reward.txt\n",
    "solution/solve.sh": "echo 'def add(a, b):\n    return a + b' > /work/calc.py\n",
}
PARTS = ("encodings", "json", "re", "collections", "importlib", "lib-dynload", "asyncio")


def python_layer() -> bytes:
    """This host's Python, as much of its library as small programs import, and a wrong module."""
    program = Path(os.path.realpath(sys.executable))
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    paths = [program, *map(Path, re.findall(r"(/\S+)", said))]
    for key in ("stdlib", "platstdlib"):
        library = Path(sysconfig.get_path(key, vars={"base": sys.base_prefix}))
        paths += library.glob("*.py")
        paths += [one for part in PARTS for one in (library / part).rglob("*") if one.is_file()]
    whole = {str(one).lstrip("/"): one for one in paths if "__pycache__" not in one.parts}
    files = [entry(path, one.resolve().read_bytes(), mode=0o755) for path, one in whole.items()]
    link = entry("usr/bin/python3", b"", type=b"2", linkname=str(program))
    made = [] if str(program) == "/usr/bin/python3" else [link]
    return tar_of([*files, *made, entry("work/calc.py", b"def add(a, b):\n    return a - b\n")])


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("images")
    shell_image(top / "plain", tar_of([entry("work/calc.py", b"def add(a, b):\n    pass\n")]))
    shell_image(top / "python", python_layer())
    return top


def laid(folder: Path, **changes: str | None) -> Path:
    """A folder; `changes` replace files by the last part of their names, None removes one."""
    for path, given in FILES.items():
        text = changes.get(path.rpartition("/")[2].partition(".")[0], given)
        if text is not None:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
    return folder


GIVES = "&& S=1 || S=0\necho $S > /logs/verifier/reward.txt\n"
LONG = "the first report has 3 lines"
LAZY = {
    "named_files": ("[ -s /work/report.txt ]", f"echo {LONG} > /work/report.txt\n"),
    "named_results": (
        "grep -q '\"passed\": true' /work/results.json",
        'echo \'{"passed": true, "by": "the agent"}\' > /work/results.json\n',
    ),
    "named_ones": (
        '[ "$(cat /work/score.txt)" = 1 ]',
        f"echo 1 > /work/score.txt; echo {LONG} > /work/report.txt\n",
    ),
    "named_programs": (
        "sh /work/build.sh",
        "echo 'echo building; cat calc.py > built; true' > /work/build.sh\n",
    ),
    "same_files": (
        '[ "$(cat /work/out.py)" = "$(cat /work/calc.py)" ]',
        "cat /work/calc.py > /work/out.py\n",
    ),
}
"""Attack -> a grader that it passes, and the right work."""


def audited(
    monkeypatch: pytest.MonkeyPatch, folder: Path, layout: Path, *names: str
) -> AuditReport:
    store = layout.parent / f"store-{layout.name}"
    monkeypatch.setenv("UNHACK_IMAGES", str(store))
    ImageStore(store).take(layout, key=ImageSource(folder / "environment").key)
    subject = environment_of(str(folder))
    chosen = tuple(ENVIRONMENT_ATTACKS[name] for name in names)
    return asyncio.run(audit_environment(subject, options=EnvironmentAuditOptions(attacks=chosen)))


@pytest.mark.slow
@pytest.mark.sample
def test_an_object_that_equals_everything_is_proven_wrong_in_the_image(
    monkeypatch: pytest.MonkeyPatch, images: Path, tmp_path: Path
) -> None:
    names = ("always_equal", "written_results", "git_replace")
    report = audited(monkeypatch, laid(tmp_path / "task"), images / "python", *names)
    assert report.conclusion is Conclusion.EXPLOITABLE, report.why
    [finding] = report.findings
    assert finding.attack == "source/always_equal"
    assert finding.evidence.kind == "differs"
    tried = [one.attack for one in report.tried if "named" not in one.attack]
    assert tried == ["source/always_equal", "workspace/written_results", "workspace/same_files"]
    assert any("the image lacks git: git_replace" in part.why for part in report.plan)


@pytest.mark.slow
def test_attacks_that_an_image_has_no_programs_for_are_named(
    monkeypatch: pytest.MonkeyPatch, images: Path, tmp_path: Path
) -> None:
    script = (
        '[ "$(cat /work/answer.txt)" = 5 ] && S=1 || S=0\necho $S > /logs/verifier/reward.txt\n'
    )
    task = laid(tmp_path / "task", test=script, solve="echo 5 > /work/answer.txt\n")
    report = audited(
        monkeypatch, task, images / "plain", "link_to_device", "pickled_code", "os_exit"
    )
    assert report.conclusion is Conclusion.SOUND, report.why
    [why] = [part.why for part in report.plan if part.tier == 1 and part.why]
    assert "the image lacks python3: pickled_code" in why
    assert "no Python file is handed in: os_exit" in why


@pytest.mark.slow
@pytest.mark.parametrize("name", LAZY)
def test_a_grader_that_asks_for_no_work_is_proven_hackable(
    monkeypatch: pytest.MonkeyPatch, images: Path, tmp_path: Path, name: str
) -> None:
    passes, solve = LAZY[name]
    statement = "Write report.txt, build.sh or out.py in /work, as calc.py says.\n"
    task = laid(tmp_path / "task", test=f"{passes} {GIVES}", solve=solve, instruction=statement)
    report = audited(monkeypatch, task, images / "plain")
    assert report.conclusion is Conclusion.EXPLOITABLE, report.why
    assert [one.attack for one in report.findings] == [f"workspace/{name}"]
    assert report.findings[0].evidence.kind == "no_answer"


EXAMPLE = """Write the sums of calc.py to /work/sums.json, such as:

```json
{
  "first": 1,
  "second": 2
}
```
"""
FORM = """import json


def test_the_form():
    with open("/work/sums.json") as file:
        found = json.load(file)
    assert found["first"] > 0
    assert found["second"] > 0
"""
SUMS = 'echo \'{"first": 12, "second": 345}\' > /work/sums.json\n'
RUN_FORM = 'python3 -c \'import sys; sys.path[:0] = ["/tests"]; import test_outputs; '


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "solve", "wins"),
    [
        (FORM, SUMS, True),
        (FORM.replace('["first"] > 0', '["first"] == 12'), SUMS, False),
        (FORM, SUMS.replace("12", "1").replace("345", "2"), False),
    ],
    ids=["only the form is looked at", "values are looked at", "the example is the work"],
)
def test_a_statements_example_is_a_hack_where_the_work_is_another(
    monkeypatch: pytest.MonkeyPatch, images: Path, tmp_path: Path,
    test: str, solve: str, wins: bool,
) -> None:  # fmt: skip
    run = f"{RUN_FORM}test_outputs.test_the_form()' {GIVES}"
    task = laid(
        tmp_path / "task", test=run, test_outputs=test, solve=solve, instruction=EXAMPLE, check=None
    )
    report = audited(monkeypatch, task, images / "python", "link_to_device")
    assert [one.attack for one in report.findings] == ["workspace/example_1"] * wins
    assert report.conclusion is (Conclusion.EXPLOITABLE if wins else Conclusion.SOUND), report.why


@pytest.mark.slow
@pytest.mark.parametrize(
    ("passes", "solve"),
    [
        (f"[ \"$(cat /work/report.txt)\" = '{LONG}' ]", f"echo {LONG} > /work/report.txt\n"),
        ("[ -e /work/ready.flag ]", "echo ready > /work/ready.flag\n"),
        ("[ -x /work/calc.py ]", "chmod +x /work/calc.py\n"),
        ("[ ! -s /work/calc.py ]", "true > /work/calc.py; cat /bin/sh > /work/unasked\n"),
    ],
)
def test_a_grader_that_asks_for_the_work_is_not_accused(
    monkeypatch: pytest.MonkeyPatch, images: Path, tmp_path: Path, passes: str, solve: str
) -> None:
    statement = "Write report.txt or ready.flag in /work, or change calc.py.\n"
    task = laid(tmp_path / "task", test=f"{passes} {GIVES}", solve=solve, instruction=statement)
    report = audited(monkeypatch, task, images / "plain", "link_to_device")
    assert report.conclusion is not Conclusion.EXPLOITABLE, report.findings


@pytest.mark.slow
def test_a_history_that_is_the_matter_of_a_task_is_no_leak(
    monkeypatch: pytest.MonkeyPatch, images: Path, tmp_path: Path
) -> None:
    statement = "The last commit of the repository in /work lost add() in calc.py; recover it.\n"
    task = laid(tmp_path / "task", instruction=statement)
    report = audited(monkeypatch, task, images / "python", "other_copy")
    assert any("history is its matter: other_copy" in part.why for part in report.plan)


@pytest.mark.slow
def test_what_passes_is_undecided_where_the_tests_are_no_python(
    monkeypatch: pytest.MonkeyPatch, images: Path, tmp_path: Path
) -> None:
    script = "[ -L /work/answer.txt -o -s /work/answer.txt ] && S=1 || S=0\n"
    script += "echo $S > /logs/verifier/reward.txt\n"
    task = laid(tmp_path / "task", test=script, solve="echo 5 > /work/answer.txt\n")
    report = audited(monkeypatch, task, images / "plain", "link_to_device")
    assert report.conclusion is Conclusion.UNPROVEN
    assert "cannot be told from right work" in report.why


@pytest.mark.slow
def test_a_folder_without_a_solution_is_never_called_sound(
    monkeypatch: pytest.MonkeyPatch, images: Path, tmp_path: Path
) -> None:
    script = '[ "$(cat /work/calc.py)" = 5 ] && S=1 || S=0\necho $S > /logs/verifier/reward.txt\n'
    task = laid(tmp_path / "task", test=script, solve=None)
    report = audited(monkeypatch, task, images / "plain", "link_to_device", "sibling_channel")
    assert report.conclusion is Conclusion.UNPROVEN
    assert report.why.endswith("nothing shows that right work does")
    assert any("no solution is there" in part.why for part in report.plan)


def test_an_image_that_is_not_built_is_named_with_the_command_that_builds_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("UNHACK_IMAGES", str(tmp_path / "none"))
    with pytest.raises(TaskError, match="unhack env build"):
        environment_of(str(laid(tmp_path / "task")))
