"""A repository task as a Harbor folder.

    export_repository(task, Path("out/shapes-1"))

Covered: the start state, the reference as `solution/solve.sh`, the hidden tests with their exact
ids; the declared artefacts are the editable paths, and `environment_mode` is `separate`.
Not covered: the sealed judge and the twins, which no `test.sh` has: the folder's own verdict is
weaker than that of the task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from unhack.core.errors import UsageError
from unhack.environments.sources.mining.paths import import_roots
from unhack.environments.task import RepositoryTask
from unhack.integrations.harbor import exported_judge
from unhack.sandbox.workspace.tree import split

_DOCKERFILE = """\
FROM python:3.11
WORKDIR /app
COPY files/ /app/
"""
_TEST = """\
#!/bin/bash
python3 -m pytest --version >/dev/null 2>&1 || python3 -m pip install -q pytest
python3 /tests/judge.py
"""
_SOLVE = """\
#!/bin/bash
set -e
here="$(cd "$(dirname "$0")" && pwd)"
if [ -d "$here/files" ]; then cp -r "$here/files/." /app/; fi
"""
VERIFIER = {"environment_mode": "separate", "timeout_sec": 600.0}
"""Of `task.toml`."""


def export_repository(task: RepositoryTask, folder: Path) -> None:
    """Write the folder. Raises UsageError where there is one with files in it."""
    require_new(folder)
    expected = [*task.fail_to_pass, *task.pass_to_pass]
    plan = {
        "expected": expected,
        "files": sorted(task.tests),
        "roots": import_roots(task.files),
    }
    changed = {path: text for path, text in task.reference.items() if text is not None}
    gone = [path for path, text in task.reference.items() if text is None]
    solve = _SOLVE + "".join(f"rm -f '/app/{path}'\n" for path in sorted(gone))
    artifacts = [f"/app/{path}".rstrip("/") for path in task.editable]
    texts = {
        "task.toml": settings_text(artifacts, {"task": {"name": task.id}, "verifier": VERIFIER}),
        "instruction.md": task.statement.rstrip("\n") + "\n",
        "environment/Dockerfile": _DOCKERFILE,
        "tests/test.sh": _TEST,
        "tests/judge.py": Path(exported_judge.__file__).read_text(),
        "tests/expected.json": json.dumps(plan, indent=1) + "\n",
        "solution/solve.sh": solve,
        **{f"tests/hidden/{path}": text for path, text in task.tests.items()},
        **{f"solution/files/{path}": text for path, text in changed.items()},
    }
    files = {path: text.encode(errors="surrogateescape") for path, text in texts.items()}
    files |= {f"environment/files/{path}": data for path, data in task.files.items()}
    write_files(folder, files)
    for path in task.executable:
        (folder / "environment" / "files" / path).chmod(0o755)


def require_new(folder: Path) -> None:
    """Raise UsageError for a folder that has files in it, or is none."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty: name a folder that is to be made")


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths below a folder; shell scripts can be executed."""
    for path, data in files.items():
        place = folder.joinpath(*split(path))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        if path.endswith(".sh"):
            place.chmod(0o755)


def settings_text(artifacts: Sequence[str], tables: Mapping[str, Mapping[str, object]]) -> str:
    """`task.toml` of a folder with a verifier of its own; strings of JSON in ASCII are strings of
    TOML too."""
    lines = ['schema_version = "1.4"', f"artifacts = {json.dumps(artifacts)}", ""]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
        lines.append("")
    return "\n".join(lines)
