"""Lint: findings of ruff that the start state did not have, asked inside the sandbox.

Covered: marks that silence a finding (`noqa`) and configuration of the repository count for
nothing; a host without ruff is told; texts that the linter does not finish.
Not covered: style; only errors of syntax and pyflakes' rules are asked.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any, cast

from unhack.environments.steps.findings import (
    AFTER,
    BEFORE,
    START,
    FoundProblem,
    ask_tool,
    pack_states,
)
from unhack.environments.steps.score import StateFiles, StepJudge, StepScore, python_sources
from unhack.environments.task import RepositoryTask
from unhack.sandbox.limits import MIB, Limits
from unhack.verifiers import jobs

LIMITS = Limits(
    wall_s=60.0, cpu_s=20.0, memory_bytes=2048 * MIB, output_bytes=8 * MIB, processes=128
)
_INSIDE = "/opt/ruff"
_ARGUMENTS = (
    "check", "--isolated", "--no-cache", "--ignore-noqa", "--select=E9,F",
    "--output-format=json", "--exit-zero", "--no-respect-gitignore", "--config", "exclude=[]",
)  # fmt: skip


def find_ruff() -> str:
    """The linter's program beside this interpreter or on the PATH; empty where there is none."""
    beside = Path(sys.executable).with_name("ruff")
    return str(beside) if beside.is_file() else shutil.which("ruff") or ""


def judge_lint(
    task: RepositoryTask, before: StateFiles, after: StateFiles, *, program: str | None = None
) -> StepJudge:
    """1 without a finding that the start state did not have, 1 / (1 + n) with n of them.

    `program`: ruff's; None looks for it.
    """
    ruff = find_ruff() if program is None else program
    if not ruff:
        return StepScore("lint", None, "ruff is not installed: pip install ruff")
    changed = python_sources(after, unlike=task.files)
    if not changed:
        return StepScore("lint", 1.0, "no Python file was changed", {"new": []})
    packed = pack_states({AFTER: after, START: task.files, BEFORE: before}, changed)
    folders = sorted({name.split("/", 1)[0] for name in packed})
    argv = [_INSIDE, *_ARGUMENTS, *folders]
    job = jobs.program(argv, limits=LIMITS, files=packed, binds=((ruff, _INSIDE),))
    return (yield from ask_tool("lint", "ruff", job, _read, changed=len(changed)))


def _read(rows: Any) -> list[FoundProblem] | None:
    if not isinstance(rows, list):
        return None
    return [
        (str(row.get("filename", "")), str(row.get("code") or "syntax"), str(row.get("message")))
        for row in cast("list[dict[str, Any]]", rows)
    ]
