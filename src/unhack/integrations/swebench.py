"""SWE-bench predictions: written from episodes, and judged by hidden tests instead of a log.

    write_predictions(Path("preds.jsonl"), [prediction_of(episode, model="mine")])
    report = await judge_predictions(loaded.tasks, read_predictions(Path("preds.jsonl")))
    report.to_json()                        # the shape of SWE-bench's own report

A patch is applied to the row's start state here. Files that the task does not hand in, tests among
them, are left out and named; the judge lays its own tests onto a fresh base.

Covered: JSON Lines, a list, or an object by id; each complaint names file, line and field, and
nothing is judged before all is read; patches that do not fit, that add links or leave the tree, or
that are too large are unresolved with a reason; what could not be scored after three tries is in
`error_ids`, as SWE-bench says it.
Not covered: rows that need an image (`load_swebench` reads local clones); images and containers of
the report; renames and binary parts of patches.
Source: swebench 5.0.2, `make_run_report`, `get_eval_report`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import UsageError
from unhack.core.lines import BoundedPattern
from unhack.core.verdict import Verdict
from unhack.environments.episode import Episode
from unhack.environments.files.unified_diff import BadPatchError, apply_diff
from unhack.environments.judging import RepositoryJudge, submission
from unhack.environments.task import PlayableTask, RepositoryTask

MAX_PATCH = 8 << 20
"""Characters of a patch; a longer one is unresolved, unread."""
_MAX_FILE = 1 << 30
_TRIES = 3
_FIELDS = ("instance_id", "model_name_or_path", "model_patch")
_LINK = BoundedPattern(r"^(?:new file |new |old )?mode (?:120000|160000)$")


@dataclass(frozen=True, slots=True)
class Prediction:
    """One line of a predictions file."""

    instance_id: str
    model: str
    patch: str | None
    """A unified diff; None, as "", for none."""


@dataclass(frozen=True, slots=True)
class PredictionResult:
    """The outcome of one prediction."""

    prediction: Prediction
    applied: bool
    verdict: Verdict | None
    """None where no patch was judged."""
    reason: str = ""
    left_out: tuple[str, ...] = ()
    """Files of the patch that the judge was not given."""

    @property
    def resolved(self) -> bool:
        """True when every hidden test passed."""
        return self.verdict is not None and self.verdict.passed

    @property
    def error(self) -> bool:
        """True where the judge could not score it."""
        return self.verdict is not None and not self.verdict.scored

    def to_json(self) -> dict[str, Any]:
        """An instance's report in SWE-bench's shape, with `reason` and `left_out`."""
        patch = self.prediction.patch
        return {
            "patch_is_None": patch is None, "patch_exists": bool(patch),
            "patch_successfully_applied": self.applied, "resolved": self.resolved,
            "infra_failure": self.error, "reason": self.reason, "left_out": list(self.left_out),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class PredictionsReport:
    """The results of a predictions file against some tasks."""

    task_ids: tuple[str, ...]
    submitted_ids: tuple[str, ...]
    results: tuple[PredictionResult, ...]
    """Of the predictions that have a task."""

    def to_json(self) -> dict[str, Any]:
        """SWE-bench's report of a run (schema 2), with `instances` for each prediction."""
        lists: dict[str, list[str]] = {
            name: [] for name in ("completed", "resolved", "unresolved", "empty_patch", "error")
        }
        for one in self.results:
            name = one.prediction.instance_id
            if not one.prediction.patch:
                lists["empty_patch"].append(name)
            elif one.error:
                lists["error"].append(name)
            else:
                lists["completed"].append(name)
                lists["resolved" if one.resolved else "unresolved"].append(name)
        lists["submitted"] = list(self.submitted_ids)
        lists["incomplete"] = sorted(set(self.task_ids) - set(self.submitted_ids))
        lists["infra_failure"], lists["ambiguous_failure"] = lists["error"], []
        counts = {f"{name}_instances": len(ids) for name, ids in lists.items()}
        del counts["incomplete_instances"]
        ids = {f"{name}_ids": sorted(found) for name, found in lists.items()}
        reasons = {one.prediction.instance_id: one.reason for one in self.results if one.error}
        instances = {one.prediction.instance_id: one.to_json() for one in self.results}
        return {
            "total_instances": len(self.task_ids), **counts, **ids,
            "failure_reasons": reasons, "schema_version": 2, "instances": instances,
        }  # fmt: skip


def read_predictions(path: Path) -> list[Prediction]:
    """The predictions of a file. Raises UsageError naming line and field."""
    try:
        if path.stat().st_size > _MAX_FILE:
            raise UsageError(f"{path} holds more than {_MAX_FILE >> 30} GiB: split it")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    found: dict[str, Prediction] = {}
    for where, row in _rows(path, text):
        one = _prediction(row, where)
        if one.instance_id in found:
            raise UsageError(f"{where}: instance_id {one.instance_id!r:.80} stands twice")
        found[one.instance_id] = one
    return list(found.values())


def _rows(path: Path, text: str) -> Iterable[tuple[str, Any]]:
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        for number, line in enumerate(text.split("\n"), 1):
            where = f"{path}, line {number}"
            if line.strip():
                try:
                    yield where, json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise UsageError(f"{where}: {error}") from None
        return
    if isinstance(data, dict) and "instance_id" not in data:
        rows = cast("dict[str, Any]", data)
        for name, row in rows.items():
            given = cast("dict[str, Any]", row) if isinstance(row, dict) else {}
            yield f"{path}, {name!r:.80}", {"instance_id": name, **given}
        return
    for number, row in enumerate(cast("list[Any]", data) if isinstance(data, list) else [data], 1):
        yield f"{path}, row {number}", row


def _prediction(row: Any, where: str) -> Prediction:
    if not isinstance(row, dict):
        raise UsageError(f"{where}: this is no object with {', '.join(_FIELDS)}")
    fields = cast("dict[str, Any]", row)
    for name in _FIELDS:
        if name not in fields:
            raise UsageError(f"{where}: the field {name} is missing")
        none = name == "model_patch" and fields[name] is None
        if not none and not isinstance(fields[name], str):
            raise UsageError(f"{where}: {name} is {fields[name]!r:.40}, not a text")
    name, model, patch = (fields[key] for key in _FIELDS)
    if not name or not model:
        raise UsageError(f"{where}: instance_id and model_name_or_path must not be empty")
    return Prediction(name, model, patch)


def write_predictions(path: Path, predictions: Iterable[Prediction]) -> None:
    """Write JSON Lines. Raises UsageError for an id that stands twice; then nothing is written."""
    lines: dict[str, str] = {}
    for one in predictions:
        if one.instance_id in lines:
            raise UsageError(f"two predictions are for {one.instance_id}")
        fields = dict(zip(_FIELDS, (one.instance_id, one.model, one.patch), strict=True))
        lines[one.instance_id] = json.dumps(fields) + "\n"
    path.write_text("".join(lines.values()), encoding="utf-8")


def prediction_of(episode: Episode, *, model: str) -> Prediction:
    """The prediction that an episode's files are.

    Raises UsageError for files that no patch can hold, being no UTF-8.
    """
    changed = submission(episode.task, episode.state)
    parts = [_diff(episode.task, path, text) for path, text in sorted(changed.items())]
    return Prediction(episode.task.id, model, "".join(parts))


def _diff(task: PlayableTask, path: str, after: str | None) -> str:
    try:
        before = task.files[path].decode() if path in task.files else None
        (after or "").encode()
    except UnicodeError:
        raise UsageError(f"{task.id}: {path} is no UTF-8 text, which a patch needs") from None
    if any(char in path for char in '\n\t"'):
        raise UsageError(f"{task.id}: a patch cannot name {path!r:.80}")
    head = f"diff --git a/{path} b/{path}\n"
    head += "new file mode 100644\n" if before is None else ""
    head += "deleted file mode 100644\n" if after is None else ""
    old, new = (StringIO(text or "", newline="\n").readlines() for text in (before, after))
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else
             f"b/{path}")  # fmt: skip
    lines = unified_diff(old, new, *names)
    return head + "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


async def judge_predictions(
    tasks: Sequence[RepositoryTask], predictions: Sequence[Prediction]
) -> PredictionsReport:
    """Judge predictions by the tasks' hidden tests, one after another."""
    by_id = {task.id: task for task in tasks}
    results = [
        await _judged(by_id[one.instance_id], one)
        for one in predictions
        if one.instance_id in by_id
    ]
    submitted = tuple(sorted(one.instance_id for one in predictions))
    return PredictionsReport(tuple(by_id), submitted, tuple(results))


async def _judged(task: RepositoryTask, one: Prediction) -> PredictionResult:
    if not one.patch:
        return PredictionResult(one, False, None, "there is no patch")
    if len(one.patch) > MAX_PATCH:
        return PredictionResult(one, False, None, f"the patch has {len(one.patch)} characters")
    if _LINK.is_in(one.patch):
        return PredictionResult(one, False, None, "the patch makes a link or a submodule")
    try:
        changed = apply_diff(one.patch, task.files.get)
    except (BadPatchError, UnicodeError) as error:
        return PredictionResult(one, False, None, f"the patch does not apply: {error}"[:500])
    kept = {
        path: None if data is None else data.decode(errors="surrogateescape")
        for path, data in changed.items()
        if task.may_change(path)
    }
    left = tuple(sorted(set(changed) - set(kept)))
    judge = RepositoryJudge(task)
    verdict = await judge.outcome_of(kept)
    for _ in range(_TRIES - 1):
        if not verdict.scored:
            verdict = await judge.outcome_of(kept)
    return PredictionResult(one, True, verdict, verdict.reason, left)
