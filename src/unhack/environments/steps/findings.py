"""Findings of a tool on three states: what the state after a step has that the start had not.

Covered: findings are compared by file, rule and words, so lines that moved are no new findings.
Not covered: the tool; `lint` and `typing_errors` run theirs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import PurePosixPath
from typing import Any

from unhack.environments.steps.score import StateFiles, StepJudge, StepScore, sandbox_trouble
from unhack.sandbox.job import Job

AFTER, START, BEFORE = "after", "start", "before"
"""Folders of the three states inside a job."""
FoundProblem = tuple[str, str, str]
"""(path, rule, words)."""


def pack_states(
    states: Mapping[str, StateFiles],
    paths: Collection[str],
    change: Callable[[bytes], bytes] = bytes,
) -> dict[str, tuple[bytes, int]]:
    """The files of a job: folder/path -> (content, mode), for `paths` as far as states have
    them."""
    return {
        f"{folder}/{path}": (change(files[path]), 0o600)
        for folder, files in states.items()
        for path in sorted(paths)
        if path in files
    }


def ask_tool(
    kind: str,
    tool: str,
    job: Job,
    read: Callable[[Any], list[FoundProblem] | None],
    *,
    changed: int,
) -> StepJudge:
    """Run a tool's job; 1 / (1 + n) for n findings that the start state did not have.

    `read` makes findings, with files as the tool names them, of the JSON that it prints; None for
    JSON that is none of its own.
    """
    [outcome] = yield [job]
    trouble = sandbox_trouble(outcome)
    if trouble:
        return StepScore(kind, None, f"the sandbox could not run {tool}: {trouble}")
    try:
        rows = None if outcome.truncated else read(json.loads(outcome.stdout))
    except ValueError:
        rows = None
    if rows is None:
        how = outcome.limit or outcome.ending.value
        return StepScore(kind, 0.0, f"{tool} did not finish on these files ({how})")
    found = {folder: Counter[FoundProblem]() for folder in (AFTER, START, BEFORE)}
    for filename, rule, words in rows:
        place = _place_of(filename)
        if place is not None:
            found[place[0]][place[1], rule, words] += 1
    return _score(kind, found, changed=changed)


def _place_of(filename: str) -> tuple[str, str] | None:
    """(folder, path) of a file that a tool names."""
    parts = PurePosixPath(filename).parts
    at = next((number for number, part in enumerate(parts) if part in (AFTER, START, BEFORE)), None)
    return None if at is None else (parts[at], "/".join(parts[at + 1 :]))


def _score(kind: str, found: Mapping[str, Counter[FoundProblem]], *, changed: int) -> StepScore:
    """1 / (1 + n) for n findings that the start state did not have."""
    new = sorted((found[AFTER] - found[START]).elements())
    by_step = sorted((found[AFTER] - found[BEFORE]).elements())
    reason = f"{len(new)} new findings in {changed} changed files"
    reason += f", the first in {new[0][0]}: {new[0][1]} {new[0][2]}" if new else ""
    evidence = {"new": [list(one) for one in new], "by_step": [list(one) for one in by_step]}
    return StepScore(kind, 1.0 / (1 + len(new)), reason, evidence)
