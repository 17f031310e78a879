"""A repository task as a folder, and folders of them with a manifest.

    TASK/task.json        statement, editable paths, test ids, hidden tests, reference, facts
    TASK/files/…          the start state

Covered: a task that is read is equal to the one that was written; files that are no text; every
complaint names the folder. Not covered: links and empty folders, which a task does not hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import TaskError, UsageError
from unhack.environments.task import RepositoryTask
from unhack.sandbox.workspace.tree import split
from unhack.verifiers.script import Mode

MANIFEST = "manifest.json"
_TUPLES = ("editable", "fail_to_pass", "pass_to_pass", "dev_ids", "preload", "beside")
_MAPPINGS = ("tests", "reference", "dev_tests", "facts")


def write_task(folder: Path, task: RepositoryTask) -> None:
    """Write a task into a new folder. Raises UsageError where there is one with files in it."""
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty: name a folder that is to be made")
    top = folder / "files"
    top.mkdir(parents=True)
    for path, data in task.files.items():
        file = top.joinpath(*split(path))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        if path in task.executable:
            file.chmod(0o755)
    fields: dict[str, Any] = {"id": task.id, "statement": task.statement, "mode": task.mode.value}
    fields |= {name: list(getattr(task, name)) for name in _TUPLES}
    fields |= {name: dict(getattr(task, name)) for name in _MAPPINGS}
    fields["executable"] = sorted(task.executable)
    fields["judge_s"] = task.judge_s
    (folder / "task.json").write_text(json.dumps(fields, indent=1) + "\n")


def read_task(folder: Path) -> RepositoryTask:
    """The task of a folder. Raises TaskError naming what is wrong."""
    fields = _object(folder / "task.json")
    top = folder / "files"
    if not top.is_dir():
        raise TaskError(f"{folder}: there is no folder files/ with the start state")
    files = {
        file.relative_to(top).as_posix(): file.read_bytes()
        for file in sorted(top.rglob("*"))
        if file.is_file() and not file.is_symlink()
    }
    lists = {name: tuple(fields.get(name, ())) for name in _TUPLES}
    mappings: dict[str, Any] = {name: dict(fields.get(name, {})) for name in _MAPPINGS}
    try:
        more: dict[str, Any] = {**lists, **mappings, "mode": Mode(fields["mode"])}
        more["executable"] = frozenset[str](fields.get("executable", ()))
        if "judge_s" in fields:
            more["judge_s"] = float(fields["judge_s"])
        return RepositoryTask(id=fields["id"], statement=fields["statement"], files=files, **more)
    except KeyError as error:
        raise TaskError(f"{folder}/task.json: the field {error} is missing") from None
    except (TypeError, ValueError, UsageError) as error:
        raise TaskError(f"{folder}/task.json: {error}") from None


def write_manifest(
    folder: Path, *, origin: Mapping[str, Any], tasks: Sequence[str],
    skipped: Sequence[Mapping[str, str]],
) -> None:  # fmt: skip
    """Write what a folder holds: where its tasks come from, their folders, what was passed over."""
    content = {**origin, "tasks": list(tasks), "skipped": [dict(one) for one in skipped]}
    (folder / MANIFEST).write_text(json.dumps(content, indent=1) + "\n")


def load_mined(folder: Path) -> list[RepositoryTask]:
    """The tasks that the manifest of a folder names. Raises TaskError."""
    names = _object(folder / MANIFEST).get("tasks")
    if not isinstance(names, list):
        raise TaskError(f"{folder / MANIFEST}: it needs a list `tasks` of folders")
    found = [read_task(folder.joinpath(*split(str(name)))) for name in cast("list[Any]", names)]
    seen: set[str] = set()
    for task in found:
        if task.id in seen:
            raise TaskError(f"{folder}: two tasks have the id {task.id}")
        seen.add(task.id)
    return found


def _object(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text())
    except FileNotFoundError:
        raise TaskError(f"{path} is not there") from None
    except ValueError as error:
        raise TaskError(f"{path} is no JSON: {error}") from None
    if not isinstance(data, dict):
        raise TaskError(f"{path} holds no JSON object")
    return cast("dict[str, Any]", data)
