"""A task directory as a Harbor folder, judged by unhack in a container of its own.

    export_task(find_task("strings/knit-rows"), Path("out/knit-rows"))

    task.toml          schema 1.4; the answer's file is the only artefact, the verifier is separate
    instruction.md     the prompt, and the file that the answer is written to
    environment/       the agent's image: an empty /app
    solution/          the reference; left out where a task has none
    tests/             the verifier's image: unhack's own judge, and the task with its cases

The verifier's container gets the answer's file alone, runs `unhack.run_batch` on it with the task's
own verifier, and writes `/logs/verifier/reward.json`. What cannot be scored leaves no reward, which
Harbor books as the trial's error.

Covered: all kinds of task directories; expected values, checkers and references stand in `tests/`
and `solution/`, which the agent's image lacks; links of a directory are written as the files that
they name.
Not covered: tasks made in Python, which no folder can hold; the container's isolation: under
Docker's own filter scripts, pytest suites and programs in C cannot be sealed, so that they get no
reward there (`harbor.verifier` judges them on the host).
Source: Harbor 0.25.0, `TaskConfig`.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import tarfile
from pathlib import Path

import unhack
from unhack.core.errors import UsageError
from unhack.integrations.harbor import container_judge
from unhack.integrations.harbor.repository_folder import (
    VERIFIER,
    require_new,
    settings_text,
    write_files,
)
from unhack.tasks.directory import TaskFolder, read_folder
from unhack.tasks.settings import (
    FunctionOptions,
    PytestOptions,
    StdioOptions,
    TaskKind,
    TextOptions,
)
from unhack.tasks.task import Task
from unhack.verifiers.text import AnswerCheck

PLAN = "plan.json"
"""File of `tests/` that tells the judge where the task and the answer are."""
_JUDGES = ("core", "reporting", "sandbox", "store", "verifiers", "tasks")
"""Packages that judging needs."""
_LEFT = shutil.ignore_patterns("right", "wrong", "generator.py", "__pycache__", ".*")
_WRITE = {
    ".md": "Write your whole reply, as you would give it in a chat, to the file `{place}`.",
    ".py": "Write the program, and nothing else, to the file `{place}`.",
}
_AGENT = "FROM python:3.11\nWORKDIR /app\n"
_VERIFIER = """\
FROM python:3.11
RUN pip install --no-cache-dir {packages}
ADD unhack.tar.gz /opt/unhack/
COPY . /tests/
WORKDIR /app
"""
_TEST = """\
#!/bin/bash
here="$(cd "$(dirname "$0")" && pwd)"
export PYTHONPATH="/opt/unhack${PYTHONPATH:+:$PYTHONPATH}"
exec python3 "$here/judge.py" "${1:-/app}" "${2:-/logs/verifier}"
"""
_SOLVE = """\
#!/bin/bash
here="$(cd "$(dirname "$0")" && pwd)"
cp "$here/{name}" "${{1:-/app}}/{name}"
"""


def export_task(task: Task, folder: Path) -> None:
    """Write the folder of a task that was read from a directory.

    Raises UsageError for a task without one, and where the folder has files in it.
    """
    if task.path is None:
        raise UsageError(
            f"{task.id}: only tasks of a directory can be exported; write one with"
            " `unhack tasks new DIR`"
        )
    require_new(folder)
    source = read_folder(task.path)
    name = answer_name(source)
    place = f"/app/{name}"
    _, mark, row = task.id.rpartition("#")
    plan = {"id": task.id, "row": int(row) if mark else None, "answer": name}
    text = {
        "task.toml": _settings(task, source, place),
        "instruction.md": f"{task.prompt.rstrip()}\n\n{_asked(name, place)}\n",
        "environment/Dockerfile": _AGENT,
        "tests/Dockerfile": _VERIFIER.format(packages=_packages(source)),
        "tests/test.sh": _TEST,
        "tests/judge.py": Path(container_judge.__file__).read_text(),
        f"tests/{PLAN}": json.dumps(plan, indent=1) + "\n",
    }
    reference = _reference(task, source)
    if reference is not None:
        text["solution/solve.sh"] = _SOLVE.format(name=name)
        text[f"solution/{name}"] = reference
    files = {path: one.encode(errors="surrogateescape") for path, one in text.items()}
    write_files(folder, {**files, "tests/unhack.tar.gz": judge_archive()})
    shutil.copytree(task.path, folder / "tests" / "task", ignore=_LEFT)


def answer_name(source: TaskFolder) -> str:
    """The file that an agent writes: `answer.md` for a reply, `solution.py` for a program."""
    if source.settings.kind is TaskKind.TEXT:
        return "answer.md"
    return f"solution{source.suffix}"


def judge_archive() -> bytes:
    """unhack's judge as a gzipped tar, the same bytes for the same version."""
    top = Path(unhack.__file__).parent
    paths = [top / "__init__.py"]
    for package in _JUDGES:
        paths += sorted(path for path in (top / package).rglob("*") if path.is_file())
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for path in paths:
            inside = path.relative_to(top)
            if "__pycache__" in inside.parts or inside.parts[:2] == ("tasks", "suites"):
                continue
            entry = tarfile.TarInfo(f"unhack/{inside.as_posix()}")
            entry.size, entry.mode = path.stat().st_size, 0o644
            with path.open("rb") as file:
                archive.addfile(entry, file)
    return gzip.compress(made.getvalue(), mtime=0)


def _asked(name: str, place: str) -> str:
    text = _WRITE.get(Path(name).suffix, _WRITE[".py"])
    return text.format(place=place)


def _reference(task: Task, source: TaskFolder) -> str | None:
    """The right content of the answer's file; None where the task has none."""
    if source.settings.kind is TaskKind.TEXT:
        return task.problem.reference
    return source.reference


def _packages(source: TaskFolder) -> str:
    """The packages of the verifier's image, quoted for a shell."""
    options = source.options
    wanted = ["pydantic>=2.7"]
    if isinstance(options, TextOptions) and options.check is AnswerCheck.MATH:
        wanted.append("math-verify[antlr4_13_2]>=0.9,<0.10")
    if isinstance(options, PytestOptions):
        wanted.append("pytest>=8")
    if isinstance(options, FunctionOptions | StdioOptions):
        wanted += options.preload
    return " ".join(f"'{one}'" for one in wanted)


def harbor_name(name: str) -> str:
    """A name as Harbor writes them, `org/name`, out of a task's id."""
    org, _, rest = name.rpartition("/")
    parts = [re.sub(r"[^A-Za-z0-9_-]+", "-", part).strip("-_") for part in (org, rest)]
    return f"{parts[0] or 'unhack'}/{parts[1] or 'task'}"


def _settings(task: Task, source: TaskFolder, place: str) -> str:
    settings = source.settings
    about = {
        "name": harbor_name(task.id),
        "description": settings.title or "",
        "keywords": [settings.kind.value, *settings.tags],
    }
    return settings_text(
        [place],
        {
            "task": about,
            "metadata": {"unhack_task": task.id},
            "verifier": VERIFIER,
            "verifier.environment": {"network_mode": "no-network"},
        },
    )
