"""Validation of a mined commit: what has to hold before it is called a task.

1. The reference passes in three runs with other hash seeds, time zones and orders; a test that does
   not is dropped, and so is one whose id was reported twice.
2. Without it each test to pass fails, in two runs, by an error of its own; a test file that cannot
   be collected counts only where it asks for a name that the reference brings.
3. The verifier that will judge says the same of both; a test that it judges otherwise is dropped.
4. The start state does not hold the reference, and the statement quotes nothing secret.

Covered: each reason for dropping is kept. Not covered: wrong solutions that the tests let pass.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from unhack.environments.agreement import DisagreementError, agreed
from unhack.environments.sources.mining.commit_parts import CommitParts, CommitSkippedError
from unhack.environments.sources.mining.leaks import added_shingles, copied_share, shingles_of
from unhack.environments.sources.mining.paths import is_test_file
from unhack.environments.sources.mining.statement import missing_name, write_statement
from unhack.environments.sources.mining.test_runs import RunConditions, TestRun, run_tests
from unhack.environments.task import RepositoryTask
from unhack.sandbox.job import Backend
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.verifiers.script import Mode

MOST_FAILING = 40
"""Tests to pass that a task keeps; the first by a hash of their ids."""
MOST_PASSING = 20
"""Tests to keep passing, likewise."""
MOST_COPIED = 0.5
"""Share of a reference that a file of the start state may hold."""
_TRACED = 12
"""Tests whose calls are looked at for the statement."""
_OTHERS = (RunConditions(1, "Asia/Kathmandu", 1), RunConditions(20231, "America/St_Johns", 2))


@dataclass(frozen=True, slots=True)
class Machinery:
    """The sandbox for runs, and for verdicts."""

    pool: CommandPool
    backend: Backend | None = None
    preload: tuple[str, ...] = ()
    """Installed packages that the repository imports; the pool has them too."""


@dataclass(slots=True)
class _Found:
    failing: list[str]
    passing: list[str]
    facts: dict[str, object] = field(default_factory=dict[str, object])


async def validated(parts: CommitParts, machinery: Machinery, *, name: str) -> RepositoryTask:
    """The task of a commit. Raises CommitSkippedError with the first check that it fails."""
    pool, tests = machinery.pool, parts.test_files
    laid = {path: text.encode() for path, text in parts.tests.items()}
    start, right = {**parts.files, **laid}, {**parts.after(), **laid}
    after = await run_tests(pool, right, tests)
    if after.ended or not after.passed:
        why = after.ended or next(iter(after.uncollected.values()), "")[-200:] or "no test passes"
        raise CommitSkippedError(f"the tests do not run with the change: {why}")
    before = await run_tests(pool, start, tests)
    found = _flips(parts, before, after)
    found.facts["suite_cpu_s"] = round(after.cpu_s, 2)
    seen = await _drop_unsteady(parts, pool, found, start=start, right=right)
    found.facts["copied_share"] = round(check_copied(parts), 3)
    return await agreed_task(
        parts, machinery, id=name, statement=_statement(parts, found, *seen), tests=parts.tests,
        fail_to_pass=tuple(found.failing), pass_to_pass=tuple(found.passing),
        mode=Mode.AS_WRITTEN, facts=found.facts,
    )  # fmt: skip


def check_copied(parts: CommitParts) -> float:
    """The largest share of the reference in a file before the change. Raises CommitSkippedError
    where it is too large."""
    share, path = copied_share(parts.files, parts.reference)
    if share > MOST_COPIED:
        raise CommitSkippedError(f"{path} holds {share:.0%} of the reference before the change")
    return share


def secret_of(parts: CommitParts) -> set[tuple[str, ...]]:
    """The shingles that the reference adds."""
    secret: set[tuple[str, ...]] = set()
    for path, text in parts.reference.items():
        secret |= added_shingles(parts.files.get(path, b"").decode(errors="replace"), text or "")
    return secret


async def agreed_task(
    parts: CommitParts, machinery: Machinery, *, facts: Mapping[str, object], **fields: Any
) -> RepositoryTask:
    """The task of a commit with the tests that its judge tells; `fields` are those of the task that
    the commit does not give. Raises CommitSkippedError."""
    task = RepositoryTask(
        files=parts.files,
        editable=parts.editable,
        reference=parts.reference,
        preload=machinery.preload,
        executable=parts.executable,
        facts={"commit": parts.commit.id, "changed_lines": parts.changed_lines, **facts},
        **fields,
    )
    try:
        return await agreed(task, backend=machinery.backend)
    except DisagreementError as error:
        raise CommitSkippedError(str(error)) from None


def _flips(parts: CommitParts, before: TestRun, after: TestRun) -> _Found:
    if before.ended in ("wall", "cpu", "memory", "output"):
        raise CommitSkippedError(f"the tests hit the limit {before.ended} without the change")
    passing = sorted(after.passed & before.passed)
    failing: list[str] = []
    missing = False
    for name in sorted(after.passed - before.passed - before.twice):
        failure = before.failed.get(name)
        if failure is not None:
            if not failure.skipped:
                failing.append(name)
            continue
        error = before.uncollected.get(name.partition("::")[0])
        if error is not None:
            if not _is_brought(missing_name(error), parts):
                line = error.strip().splitlines()[-1][-160:]
                raise CommitSkippedError(f"the tests cannot be collected before it: {line}")
            missing = True
            failing.append(name)
    if not failing:
        raise CommitSkippedError("no test that fails before it passes after it")
    return _Found(failing, passing, {"missing_feature": missing})


def _is_brought(name: str, parts: CommitParts) -> bool:
    """True for a name that the code has after the commit and not before."""
    return name.rpartition(".")[2] in _brought(parts)


def _brought(parts: CommitParts) -> set[str]:
    """Names that the code binds after the commit and not before, new modules and folders too."""
    found: set[str] = set()
    folders = {part for path in parts.files for part in path.split("/")[:-1]}
    for path, text in parts.reference.items():
        if not path.endswith(".py"):
            continue
        found |= _defined(text or "") - _defined(
            parts.files.get(path, b"").decode(errors="replace")
        )
        if path not in parts.files:
            found |= set(path.removesuffix(".py").split("/")) - folders
    return found


def _defined(source: str) -> set[str]:
    """Names that a module binds anywhere."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).rpartition(".")[2])
    return found


async def _drop_unsteady(
    parts: CommitParts, pool: CommandPool, found: _Found, *, start: dict[str, bytes],
    right: dict[str, bytes],
) -> tuple[TestRun, TestRun]:  # fmt: skip
    """Repeat both runs in other conditions, and drop the tests that come out otherwise.

    The runs without and with the reference in which calls were traced."""
    traced = found.failing[:_TRACED]
    first, second = _OTHERS
    files = parts.test_files
    after = await run_tests(pool, right, files, conditions=first, trace=traced)
    before = await run_tests(pool, start, files, conditions=first, trace=traced)
    again = await run_tests(pool, right, files, conditions=second)
    steady = after.passed & again.passed
    failing = [name for name in found.failing if name in steady and name not in before.passed]
    passing = [name for name in found.passing if name in steady and name in before.passed]
    dropped = len(found.failing) + len(found.passing) - len(failing) - len(passing)
    found.facts["unsteady"] = dropped
    if not failing:
        raise CommitSkippedError(
            "no test is left: each gives another result under another seed, time zone or order"
        )
    found.facts["flipped"] = len(failing)
    found.failing = _sample(failing, MOST_FAILING)
    found.passing = _sample(passing, MOST_PASSING)
    return before, after


def _sample(names: Sequence[str], most: int) -> list[str]:
    ranked = sorted(names, key=lambda name: sha256(name.encode(errors="replace")).digest())
    return sorted(ranked[:most])


def _statement(parts: CommitParts, found: _Found, before: TestRun, after: TestRun) -> str:
    texts = [text for path, text in parts.tests.items() if is_test_file(path)]
    secret = secret_of(parts) | set(shingles_of(texts))
    statement = write_statement(
        before, after, found.failing, roots=parts.editable, secret=frozenset(secret),
        brought=_brought(parts),
    )  # fmt: skip
    if not statement:
        raise CommitSkippedError("no observation tells what is wanted without quoting a test")
    return statement
