"""Minimality: the size of a change against the size of the reference's.

A change is as large as the lines that it adds and takes away, lines of more than 100 bytes counted
as several. Lines are compared as a multiset, in linear time: a hostile text costs the host nothing.

Covered: a change that is no larger than the reference's scores 1, nothing done scores 1 too (the
outcome says that nothing was done); caches and other files that may not be handed in count for
nothing.
Not covered: lines that only changed places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from unhack.environments.steps.score import StateFiles, StepScore
from unhack.environments.task import RepositoryTask

_LINE_BYTES = 100


def judge_minimality(task: RepositoryTask, before: StateFiles, after: StateFiles) -> StepScore:
    """1 up to the reference's size, then the reference's size divided by the change's."""
    wanted: dict[str, bytes] = {path: task.files[path] for path in task.files}
    for path, text in task.reference.items():
        if text is None:
            wanted.pop(path, None)
        else:
            wanted[path] = text.encode()
    reference = changed_lines(task, wanted)
    size = changed_lines(task, after)
    step = size - changed_lines(task, before)
    score = 1.0 if size <= reference else reference / size
    reason = f"{size} changed lines, the reference changes {reference}"
    evidence = {"changed_lines": size, "reference_lines": reference, "grown_by_step": step}
    return StepScore("minimality", score, reason, evidence)


def changed_lines(task: RepositoryTask, files: Mapping[str, bytes]) -> int:
    """The lines that editable files add to the start state and take away from it."""
    paths = {path for path in (*task.files, *files) if task.may_change(path)}
    return sum(_changed(task.files.get(path, b""), files.get(path, b"")) for path in paths)


def _changed(old: bytes, new: bytes) -> int:
    if old == new:
        return 0
    was, now = Counter(old.splitlines()), Counter(new.splitlines())
    different = (was - now) + (now - was)
    return sum(count * max(1, -(-len(line) // _LINE_BYTES)) for line, count in different.items())
