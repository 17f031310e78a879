"""An audit that was ordered over HTTP.

Covered: a reward's source comes as text, lies alone in a folder of its own and runs in the sandbox
alone; it is parsed here. Its entry is defined in that text: names that it takes over from a module
of this machine, and imports that would widen its folder, are refused. A killed audit goes on with
the scores that it has. No path of this machine is in a report.
Not covered: tier 5, language models, environments, fixed copies.
"""

from __future__ import annotations

import html
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from unhack.audit.options import AuditOptions
from unhack.audit.report.page import page
from unhack.audit.report.wording import strict
from unhack.audit.runner import Progress, audit
from unhack.audit.subject import Subject
from unhack.audit.subjects.loading import load_subject
from unhack.audit.subjects.problem_rows import problem_of
from unhack.audit.subjects.signatures import NAMES
from unhack.audit.subjects.target import find_target
from unhack.audit.subjects.task_subject import TaskSubject
from unhack.core import plain
from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.pool.pool import shared_pool
from unhack.server.http.job_models import AuditOrder, JobProgress, RewardSource
from unhack.server.http.problems import FieldError, of_field
from unhack.server.jobs.job_work import JobResult, JobWork
from unhack.server.scoring.served_tasks import check_served
from unhack.store.files import write_whole
from unhack.tasks.suite import find_tasks

_TARGET, _ROWS, _RUN = "the-target", "rows.jsonl", "run"
_FILE = "reward.py"


def check_audit(order: AuditOrder, folder: Path) -> None:
    """Lay down what the audit needs in its folder. Raises UsageError for an order that cannot be
    carried out, with the name of its field."""
    if (order.task is None) == (order.reward is None):
        words = "give it or `reward`, one of the two: a task's name, or a reward's source"
        raise FieldError("task", words)
    if len(set(order.tiers)) != len(order.tiers):
        raise FieldError("tiers", "a number stands there twice")
    if order.task is not None:
        with of_field("task"):
            check_served(order.task)
    if order.reward is not None:
        _lay_down(order.reward, folder)


def run_audit(order: AuditOrder, work: JobWork) -> JobResult:
    """Audit, or go on with it. Raises UsageError, SandboxUnavailableError, StoreError,
    JobStopped."""
    began = time.monotonic()
    work.tell(JobProgress(stage="loading", done=0, total=1))
    subject = _subject(order, work.folder)
    left = max(1.0, order.seconds - (time.monotonic() - began))
    options = AuditOptions(
        tiers=tuple(sorted(order.tiers)),
        calls=order.calls,
        seconds=left,
        seed=order.seed,
        thorough=order.thorough,
        stop_at_first=order.stop_at_first,
        run_folder=work.folder / _RUN,
    )

    def step(now: Progress) -> None:
        note = f"{now.findings} proven" if now.findings else ""
        work.tell(JobProgress(stage=now.stage, done=now.done, total=now.total, note=note))

    report = audit(subject, options=options, backend=shared_pool(), on_progress=step)
    shown = page(report, source=subject.source, made=datetime.now(UTC))
    return JobResult(
        without_paths(strict(report.to_json()), work.folder),
        shown.replace(f"{html.escape(str(work.folder / _TARGET))}/", ""),
    )


def without_paths(value: Any, folder: Path) -> Any:
    """A JSON value whose texts do not show where the job's folder is."""
    if isinstance(value, str):
        return value.replace(f"{folder / _TARGET}/", "").replace(f"{folder}/", "")
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value)
        return {key: without_paths(one, folder) for key, one in pairs.items()}
    if isinstance(value, list):
        return [without_paths(one, folder) for one in cast("list[Any]", value)]
    return value


def _subject(order: AuditOrder, folder: Path) -> Subject:
    if order.reward is None:
        name = check_served(str(order.task))
        return TaskSubject(name, find_tasks(name), shared_pool())
    _lay_down(order.reward, folder)  # again: the data folder may be another one by now
    rows = folder / _ROWS
    return load_subject(
        _target(order.reward, folder),
        problems=rows if rows.exists() else None,
        signature=order.reward.signature,
        seconds=order.seconds,
        backend=shared_pool(),
    )


def _target(reward: RewardSource, folder: Path) -> str:
    path = str(folder / _TARGET / _FILE)
    return f"{path}:{reward.entry}" if reward.entry is not None else path


def _lay_down(reward: RewardSource, folder: Path) -> None:
    """Write the source and the rows, and look at them. Raises UsageError."""
    if reward.signature is not None and reward.signature not in NAMES:
        with of_field("reward.signature"):
            raise UnknownNameError("signature", reward.signature, valid=NAMES)
    (folder / _TARGET).mkdir(parents=True, exist_ok=True)
    if reward.rows:
        _check_rows(reward.rows)
        text = "".join(f"{json.dumps(row)}\n" for row in reward.rows)
        write_whole(folder / _ROWS, text.encode(), mode=0o644)
    write_whole(folder / _TARGET / _FILE, reward.source.encode(), mode=0o644)
    try:
        found = find_target(_target(reward, folder))
    except UsageError as error:
        raise FieldError("reward.source", without_paths(str(error), folder)) from None
    except (ValueError, RecursionError, MemoryError):
        raise FieldError("reward.source", "no Python that could be parsed") from None
    own = (folder / _TARGET / _FILE).resolve()
    if not own == found.module.path == found.defined_in.path:
        raise FieldError(
            "reward.entry",
            "it is defined in another module, of which the server has no copy of yours; put its "
            "definition into reward.source",
        )
    if found.module.root != own.parent:
        raise FieldError("reward.source", "it imports a name that the server keeps; rename it")


def _check_rows(rows: list[dict[str, Any]]) -> None:
    """Raise UsageError for the first row that is none."""
    names: set[str] = set()
    for number, row in enumerate(rows):
        try:
            read: Any = plain.decode_tags(row)
            problem = problem_of(read, name=f"row#{number}")
        except (ValueError, TypeError) as error:
            raise FieldError(f"reward.rows.{number}", str(error)) from None
        if problem.id in names:
            raise FieldError(f"reward.rows.{number}", "another row has the same `id`")
        names.add(problem.id)
