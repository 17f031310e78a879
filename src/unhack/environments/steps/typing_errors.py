"""Types: errors of pyright that the start state did not have, asked inside the sandbox.

Covered: what silences an error (`type: ignore`, `pyright:`, `no_type_check`, a new stub beside its
module) and configuration of the repository count for nothing; imports that are not installed are
no errors; a host without pyright or node is told; texts that the checker does not finish.
Not covered: casts and `Any`, which are part of the language; other checkers.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
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
from unhack.environments.steps.score import (
    StateFiles,
    StepJudge,
    StepScore,
    python_sources,
)
from unhack.environments.task import RepositoryTask
from unhack.sandbox.limits import MIB, Limits
from unhack.verifiers import jobs

LIMITS = Limits(
    wall_s=120.0, cpu_s=60.0, memory_bytes=2048 * MIB, output_bytes=8 * MIB, processes=128,
    open_files=512,
)  # fmt: skip
_INSIDE = "/opt/pyright"
_CONFIG = "pyrightconfig.json"


def find_pyright() -> str:
    """The folder of the checker's program as the package `pyright` brings it; empty where it is
    not installed, or no node stands under /usr, which the sandbox shows."""
    spec = importlib.util.find_spec("pyright")
    node = shutil.which("node", path="/usr/local/bin:/usr/bin")
    if spec is None or spec.origin is None or node is None:
        return ""
    program = Path(spec.origin).with_name("dist")
    return str(program) if (program / "index.js").is_file() else ""


def judge_types(
    task: RepositoryTask, before: StateFiles, after: StateFiles, *, program: str | None = None
) -> StepJudge:
    """1 without an error that the start state did not have, 1 / (1 + n) with n of them.

    `program`: the folder of pyright's `index.js`; None looks for it.
    """
    pyright = find_pyright() if program is None else program
    if not pyright:
        needed = "pip install pyright, and node under /usr"
        return StepScore("types", None, f"pyright is not installed: {needed}")
    changed = python_sources(after, unlike=task.files)
    if not changed and not python_sources(task.files, unlike=after):
        return StepScore("types", 1.0, "no Python file was changed", {"new": []})
    states = {AFTER: after, START: task.files, BEFORE: before}
    paths = {path for files in states.values() for path in files if path.endswith((".py", ".pyi"))}
    stubs = {path for path in paths - {*task.files, *task.reference} if path.endswith(".pyi")}
    paths -= {path for path in stubs if path.removesuffix("i") in paths}
    packed = pack_states(states, paths, _unsilenced)
    config = _config([folder for folder, files in states.items() if files])
    packed[_CONFIG] = (json.dumps(config).encode(), 0o600)
    node = shutil.which("node", path="/usr/local/bin:/usr/bin") or "node"
    argv = [node, f"{_INSIDE}/index.js", "--outputjson", "-p", _CONFIG]
    job = jobs.program(argv, limits=LIMITS, files=packed, binds=((pyright, _INSIDE),))
    return (yield from ask_tool("types", "pyright", job, _read, changed=len(changed)))


def _unsilenced(data: bytes) -> bytes:
    """A source in which no word keeps the checker quiet; `enableTypeIgnoreComments` is off."""
    return data.replace(b"pyright:", b"pyright;").replace(b"no_type_check", b"no_such_check")


def _config(folders: list[str]) -> dict[str, Any]:
    return {
        "include": folders,
        "exclude": [],
        "typeCheckingMode": "standard",
        "enableTypeIgnoreComments": False,
        "reportMissingImports": "none",
        "reportMissingModuleSource": "none",
        "reportAttributeAccessIssue": "error",
        "executionEnvironments": [
            {"root": folder, "extraPaths": [f"{folder}/src"]} for folder in folders
        ],
    }


def _read(top: Any) -> list[FoundProblem] | None:
    rows = cast("dict[str, Any]", top).get("generalDiagnostics") if isinstance(top, dict) else None
    if not isinstance(rows, list):
        return None
    return [
        (str(row.get("file", "")), str(row.get("rule") or "syntax"), str(row.get("message")))
        for row in cast("list[dict[str, Any]]", rows)
        if row.get("severity") == "error"
    ]
