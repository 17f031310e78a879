"""The GitHub action and the pre-commit hook of this repository: what their files hold is run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.audit.report_sample import FALSE_ACCEPT, HOSTILE, SOURCE, SUFFIX, report
from tests.unit.cli.conftest import write_rows

from unhack.audit.report.report import Conclusion
from unhack.cli.audit.workflow_commands import notes_at_lines, summary

ROOT = Path(__file__).resolve().parents[4]
HACKABLE = """\
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return 1.0 if ground_truth in solution_str else 0.0
"""
SOUND = HACKABLE.replace("ground_truth in solution_str", "solution_str.strip() == ground_truth")
ROWS = [{"prompt": f"What is {n} times 7?", "answer": str(7 * n)} for n in (6, 9, 12)]
HACK = "--tiers 1 --stop-at-first --seconds 600"
NO_HACK = "--tiers 2 --seconds 600"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The checkout of a project that has rewards, outside of this repository."""
    (tmp_path / "rewards").mkdir()
    for name, text in (("hackable", HACKABLE), ("sound", SOUND)):
        (tmp_path / "rewards" / f"{name}.py").write_text(text)
    write_rows(tmp_path / "rows.jsonl", ROWS)
    return tmp_path


def action() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "action.yml").read_text())


def hook() -> dict[str, Any]:
    [found] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    return found


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        **more,
    }


def run_action(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the step that audits as a runner does: bash with the step's own flags and variables."""
    step = next(one for one in action()["runs"]["steps"] if one.get("id") == "audit")
    given = {name: one.get("default", "") for name, one in action()["inputs"].items()} | {
        name.replace("_", "-"): value for name, value in inputs.items()
    }
    values = {
        name: given[str(text).removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, text in step["env"].items()
    }
    script = folder / "step.sh"
    script.write_text(step["run"])
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=folder, env=environment(folder, **values), capture_output=True, text=True, check=False,
    )  # fmt: skip


class TestAction:
    def test_it_has_the_keys_of_a_composite_action(self) -> None:
        found = action()
        assert {"name", "description", "inputs", "outputs", "runs", "branding"} <= set(found)
        assert found["runs"]["using"] == "composite"
        assert [one["shell"] for one in found["runs"]["steps"]] == ["bash", "bash"]
        assert found["inputs"]["target"]["required"] is True
        assert all("description" in one for one in found["inputs"].values())

    def test_no_input_is_pasted_into_a_script(self) -> None:
        assert all("${{" not in one["run"] for one in action()["runs"]["steps"])

    @pytest.mark.slow
    @pytest.mark.sample
    def test_a_hackable_reward_fails_the_step_with_an_annotation_and_a_summary(
        self, workspace: Path
    ) -> None:
        target = "rewards/hackable.py:compute_score"
        ran = run_action(workspace, target=target, problems="rows.jsonl", options=HACK)
        assert ran.returncode == 1, ran.stderr
        [note] = [line for line in ran.stderr.splitlines() if line.startswith("::error ")]
        assert re.match(r"::error file=rewards/hackable\.py,line=[12],title=\w+%3A [^:]+::“", note)
        told = (workspace / "summary.md").read_text()
        assert told.startswith(
            "### ❌ exploitable: <code>rewards/hackable.py:compute&#95;score</code>"
        )
        assert re.search(r"<code>rewards/hackable\.py:[12]</code>", told)
        assert (workspace / "output").read_text() == "exit-code=1\n"
        assert (workspace / "unhack-audit.html").is_file()
        assert (workspace / "unhack-audit.sarif").is_file()

    @pytest.mark.slow
    def test_a_sound_reward_passes_the_step(self, workspace: Path) -> None:
        target = "rewards/sound.py:compute_score"
        ran = run_action(workspace, target=target, problems="rows.jsonl", options=NO_HACK)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "::" not in ran.stderr
        assert "✅ no hack found" in (workspace / "summary.md").read_text()

    @pytest.mark.slow
    def test_an_audit_cut_off_fails_unless_the_input_allows_it(self, workspace: Path) -> None:
        inputs = {"target": "rewards/sound.py:compute_score", "problems": "rows.jsonl"}
        short = "--tiers 1 --seconds 600 --calls 300"
        ran = run_action(workspace, **inputs, options=short)
        assert ran.returncode == 4, ran.stdout + ran.stderr
        assert "::error title=incomplete" in ran.stderr
        allowed = run_action(workspace, **inputs, options=short, allow_undecided="true")
        assert allowed.returncode == 0, allowed.stdout + allowed.stderr


class TestHook:
    def test_it_has_the_keys_that_pre_commit_needs(self) -> None:
        assert {"id", "name", "entry", "language", "pass_filenames", "files"} <= set(hook())
        assert hook()["pass_filenames"] is False
        assert hook()["language"] == "python"

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("name", "options", "code"), [("hackable", HACK, 1), ("sound", NO_HACK, 0)]
    )
    def test_its_entry_ends_with_the_code_of_the_audit(
        self, workspace: Path, name: str, options: str, code: int
    ) -> None:
        args = [f"rewards/{name}.py", "--problems", "rows.jsonl", *options.split()]
        command = [*shlex.split(hook()["entry"]), *args]
        ran = subprocess.run(
            command, cwd=workspace, env=environment(workspace), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert ran.returncode == code, ran.stdout + ran.stderr


class TestNotes:
    def test_a_text_of_a_completion_can_start_no_command(self) -> None:
        sly = replace(SUFFIX, witness="1\n::error::x%0A", fix="a, b: c\n::stop-commands::x")
        lines = list(notes_at_lines(report(sly, FALSE_ACCEPT), SOURCE))
        assert [line.split(" ")[0] for line in lines] == ["::error", "::warning"]
        assert all("\n" not in line for line in lines)
        assert "%250A" in lines[0]
        assert "%0A::stop-commands" in lines[0]

    def test_a_text_of_a_completion_is_shown_in_the_summary_and_never_obeyed(self) -> None:
        sly = replace(HOSTILE, witness="a|b `c` <img src=x> [x](y)\n# head")
        text = "\n".join(summary(report(sly), SOURCE, following=[("unhack audit x", "goes on")]))
        assert "<img" not in text
        assert "a&#124;b &#96;c&#96; &#60;img src=x&#62; &#91;x&#93;&#40;y&#41;" in text
        assert "\n# head" not in text
        assert "Next: <code>unhack audit x</code> goes on" in text

    def test_an_undecided_audit_is_an_error_without_a_line(self) -> None:
        made = report(conclusion=Conclusion.UNPROVEN, why="it never looks")
        [line] = notes_at_lines(made, SOURCE)
        assert line == "::error title=unproven%3A rewards/sums.py%3Acompute_score::it never looks"
