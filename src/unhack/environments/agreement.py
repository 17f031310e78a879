"""Agreement of a task and its judge: with the reference all listed tests pass, without it each of
`fail_to_pass` fails.

    task = await agreed(task)

Covered: single tests that come out otherwise are dropped, and counted in `facts["not_judged"]`; of
a task that is judged as written, the tests that the reference passes sealed are sealed.
Not covered: chance; a test that differs from run to run may agree in this one. That `pass_to_pass`
passes without the reference: where a test file cannot be collected, the judge runs no other.
"""

from __future__ import annotations

from dataclasses import replace

from unhack.core.errors import BatchUnscoredError, UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import Status, Verdict
from unhack.environments.task import RepositoryTask
from unhack.sandbox.job import Backend
from unhack.tasks.batch import arun_batch
from unhack.tasks.task import Task
from unhack.verifiers.repository.files import pack_files
from unhack.verifiers.repository.verifier import RepositoryVerifier
from unhack.verifiers.script import Mode


class DisagreementError(UsageError):
    """A task that its judge cannot tell solved from unsolved; the text says why."""


async def agreed(task: RepositoryTask, *, backend: Backend | None = None) -> RepositoryTask:
    """The task with the tests that its judge tells as they are listed. Raises DisagreementError
    where none of `fail_to_pass` is left."""
    asked = len(task.fail_to_pass) + len(task.pass_to_pass)
    task = await _sealed_where_possible(task, backend)
    for last in (False, True):
        expected = (*task.fail_to_pass, *task.pass_to_pass)
        right, empty = await _judged(task, expected, backend)
        if right.status in (Status.TIMEOUT, Status.LIMIT):
            raise DisagreementError(f"the reference hits a limit of the judge: {right.reason}")
        kept = _told(task, expected, right, empty)
        if kept is None:
            raise DisagreementError(f"the judge does not agree: {right.reason or empty.reason}")
        if right.passed and not empty.passed and len(kept) == len(expected):
            left = asked - len(expected)
            return replace(task, facts={**task.facts, "not_judged": left})
        if last:
            raise DisagreementError(f"the judge does not agree twice: {right.reason}")
        failing = tuple(name for name in task.fail_to_pass if name in kept)
        if not failing:
            raise DisagreementError(f"the judge can tell none of the tests: {right.reason}")
        passing = tuple(name for name in task.pass_to_pass if name in kept)
        beside = tuple(name for name in task.beside if name in kept)
        mode = task.mode if beside or not task.beside else Mode.SEALED
        task = replace(task, fail_to_pass=failing, pass_to_pass=passing, mode=mode, beside=beside)
    raise AssertionError("the second round returns or raises")


async def _sealed_where_possible(task: RepositoryTask, backend: Backend | None) -> RepositoryTask:
    """A task that is judged as written, with those tests sealed that the reference passes so."""
    expected = (*task.fail_to_pass, *task.pass_to_pass)
    if task.mode is Mode.SEALED:
        return task
    try:
        sealed = replace(task, mode=Mode.SEALED)
        right, empty = await _judged(sealed, expected, backend)
    except (DisagreementError, BatchUnscoredError):
        return task
    apart = _told(task, expected, right, empty) or set[str]()
    apart -= set(right.details.get("unverified", ()))
    if not apart:
        return task
    beside = tuple(name for name in expected if name not in apart)
    try:
        _verifier(replace(sealed, beside=beside), expected)
    except DisagreementError:  # not one of them has an expectation that can be changed
        failing = tuple(name for name in task.fail_to_pass if name in apart)
        passing = tuple(name for name in task.pass_to_pass if name in apart)
        return replace(sealed, fail_to_pass=failing, pass_to_pass=passing) if failing else task
    return replace(sealed, beside=beside)


def _told(
    task: RepositoryTask, expected: tuple[str, ...], right: Verdict, empty: Verdict
) -> set[str] | None:
    """The tests that come out as they are listed, with the reference and without it; None where
    some have no result."""
    if len(right.cases) != len(expected) or len(empty.cases) != len(expected):
        return None
    return {
        name
        for name, with_it, without in zip(expected, right.cases, empty.cases, strict=True)
        if with_it.passed and (name in task.pass_to_pass or not without.passed)
    }


def _verifier(task: RepositoryTask, expected: tuple[str, ...]) -> RepositoryVerifier:
    try:
        return RepositoryVerifier(
            tests=task.tests, base=task.files, editable=task.editable, expected=expected,
            mode=task.mode, preload=task.preload, beside=task.beside, partial_credit=True,
        )  # fmt: skip
    except ValueError as error:
        raise DisagreementError(f"the judge refuses the tests: {error}") from None


async def _judged(
    task: RepositoryTask, expected: tuple[str, ...], backend: Backend | None
) -> tuple[Verdict, Verdict]:
    """The verdicts on the reference and on no change at all."""
    verifier = _verifier(task, expected)
    reference = pack_files(task.reference)
    bound = Task(Problem(task.id, task.statement, reference=reference), verifier)
    batch = await arun_batch(bound, [reference, pack_files({})], backend=backend)
    return batch.verdicts[0], batch.verdicts[1]
