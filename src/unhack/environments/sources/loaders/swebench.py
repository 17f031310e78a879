"""SWE-bench rows on local clones as repository tasks.

    loaded = load_swebench(Path("rows.jsonl"), clones=Path("clones"))
    loaded.tasks, loaded.refused

A row has `instance_id`, `repo`, `base_commit`, `patch`, `test_patch`, `problem_statement`,
`FAIL_TO_PASS` and `PASS_TO_PASS` (lists, or JSON texts of lists); further columns are left alone.
The clone of `owner/name` is looked for in `clones` as `owner/name`, `owner__name` or `name`, bare
ones also with `.git`. Nothing is fetched, and the clone's history reaches no workspace.

Covered: JSON and JSON Lines; a row that cannot be judged exactly is refused with the reason, and
the others are loaded: patches with renames or binary parts, ids that are neither pytest's nor those
of unittest (`library_ids`) or were cut off in the data set, tests in files that the clone lacks.
Not covered: the installation of what a repository needs; whether the listed tests come out as the
row says here, which `environments.agreement.agreed` finds out.
Source: the SWE-bench data set card and harness, 5.0.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import TaskError, UsageError
from unhack.environments.files.unified_diff import BadPatchError, apply_diff
from unhack.environments.sources.loaders.library_ids import pytest_id
from unhack.environments.sources.mining.paths import PathKind, code_roots, kind_of
from unhack.environments.task import RepositoryTask
from unhack.sandbox.workspace.git_objects import GitObjects
from unhack.verifiers.script import Mode

_TEXTS = ("instance_id", "repo", "base_commit", "patch", "test_patch", "problem_statement")
_MOST_SHOWN = 160


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row that makes no task."""

    where: str
    """The id of the row, or its place in the file."""
    reason: str


@dataclass(frozen=True, slots=True)
class RepositoryRows:
    """The tasks of a file and the rows that make none."""

    tasks: tuple[RepositoryTask, ...]
    refused: tuple[RefusedRow, ...]


def load_swebench(rows: Path, *, clones: Path, preload: tuple[str, ...] = ()) -> RepositoryRows:
    """The tasks of a file of rows. `preload`: installed packages that the repositories import.

    Raises TaskError for a file that is no JSON or JSON Lines of objects.
    """
    tasks: dict[str, RepositoryTask] = {}
    refused: list[RefusedRow] = []
    for number, row in enumerate(_read_rows(rows), 1):
        name = str(row.get("instance_id") or f"row {number}")
        try:
            if name in tasks:
                raise TaskError("its instance_id stands twice")
            tasks[name] = task_of_row(row, clones=clones, preload=preload)
        except UsageError as error:
            refused.append(RefusedRow(name, str(error)))
    return RepositoryRows(tuple(tasks.values()), tuple(refused))


def task_of_row(
    row: Mapping[str, Any], *, clones: Path, preload: tuple[str, ...] = ()
) -> RepositoryTask:
    """The task of one row. Raises UsageError with what is wrong with it."""
    texts = {name: _text(row, name) for name in _TEXTS}
    listed = {name: _ids(row, name) for name in ("FAIL_TO_PASS", "PASS_TO_PASS")}
    with GitObjects(_clone(clones, texts["repo"])) as git:
        tree = git.tree(git.commit_id(texts["base_commit"]))
        kept = {path: one for path, one in tree.items()
                if one.regular and kind_of(path) is not PathKind.MADE}  # fmt: skip
        found = git.contents(one.id for one in kept.values())
    files = {path: found[one.id] for path, one in kept.items()}
    reference = _patched(files, texts["patch"], "patch")
    changed = _patched(files, texts["test_patch"], "test_patch")
    paths = {*files, *changed}
    failing, passing = (_exact(ids, paths, name) for name, ids in listed.items())
    both = set(failing) & set(passing)
    if both:
        raise TaskError(f"{min(both)!r:.{_MOST_SHOWN}} is both FAIL_TO_PASS and PASS_TO_PASS")
    tests = _hidden_tests(files, changed, (*failing, *passing))
    roots = set(code_roots(files))
    folders = tuple(root for root in roots if root.endswith("/"))
    loose = [path for path in reference if not path.startswith(folders)]
    return RepositoryTask(
        id=texts["instance_id"],
        statement=texts["problem_statement"],
        files=files,
        editable=tuple(sorted(roots | set(loose))),
        tests=tests,
        reference=reference,
        fail_to_pass=failing,
        pass_to_pass=passing,
        preload=preload,
        executable=frozenset(path for path, one in kept.items() if one.mode == "100755"),
        mode=Mode.AS_WRITTEN,
        facts={"repo": texts["repo"], "base_commit": texts["base_commit"]},
    )


def _read_rows(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"{path} cannot be read: {error}") from None
    try:
        data: Any = json.loads(text)
        rows = cast("list[Any]", data) if isinstance(data, list) else [data]
    except ValueError:
        rows = [_line(path, number, line) for number, line in enumerate(text.splitlines(), 1)
                if line.strip()]  # fmt: skip
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise TaskError(f"{path}: row {number} is no object")
    return rows


def _line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise TaskError(f"{path}, line {number}: {error}") from None


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise TaskError(f"the field {name} is missing, empty or no text")
    return value


def _ids(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Ids of tests as they stand in a row."""
    value: Any = row.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise TaskError(f"{name} is neither a list nor the JSON of one") from None
    if not isinstance(value, list):
        raise TaskError(f"{name} is neither a list nor the JSON of one")
    return tuple(str(one) for one in cast("list[Any]", value))


def _exact(ids: tuple[str, ...], paths: Collection[str], name: str) -> tuple[str, ...]:
    """Ids of pytest, each once. Raises TaskError for those that name no test exactly."""
    found: list[str] = []
    for one in ids:
        file, _, test = one.partition("::")
        if not test or not file.endswith(".py"):
            found.append(pytest_id(one, paths))
            if not found[-1]:
                raise TaskError(
                    f"{name}: {one!r:.{_MOST_SHOWN}} is no id of pytest (file.py::test), nor one of"
                    " unittest of a file that is there: test_name (package.module.Class)"
                )
            continue
        found.append(one)
        if "[" in test and not test.endswith("]"):
            raise TaskError(
                f"{name}: {one!r:.{_MOST_SHOWN}} was cut off, so that it names no test exactly;"
                " take the row out, or write the whole id"
            )
    return tuple(dict.fromkeys(found))


def _clone(clones: Path, repo: str) -> Path:
    owner, _, name = repo.partition("/")
    if not name or any(part in ("", ".", "..") for part in repo.split("/")):
        raise TaskError(f"repo: {repo!r:.80} is not written as owner/name")
    places = [clones / one for one in (repo, f"{owner}__{name}", name)]
    places += [place.with_name(place.name + ".git") for place in places]
    for place in places:
        if place.is_dir():
            return place
    raise TaskError(f"no clone of {repo} in {clones}: put it there as {name} or {owner}__{name}")


def _patched(files: Mapping[str, bytes], patch: str, name: str) -> dict[str, str | None]:
    """The files that a patch changes. Raises TaskError where it does not fit."""
    try:
        changed = apply_diff(patch, files.get)
    except BadPatchError as error:
        raise TaskError(f"{name}: {error}") from None
    return {
        path: None if data is None else data.decode(errors="surrogateescape")
        for path, data in changed.items()
    }


def _hidden_tests(
    files: Mapping[str, bytes], changed: Mapping[str, str | None], ids: tuple[str, ...]
) -> dict[str, str]:
    """The files of the test patch, and those that hold listed tests."""
    found = {path: text for path, text in changed.items() if text is not None}
    for name in ids:
        path = name.partition("::")[0]
        if path in found:
            continue
        if path in changed or path not in files:
            raise TaskError(f"{name!r:.{_MOST_SHOWN}} is in a file that is not there")
        found[path] = files[path].decode(errors="surrogateescape")
    return found
