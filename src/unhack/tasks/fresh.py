"""Cases drawn anew from a task's generator, so that a completion cannot know them.

    fresh_tasks(task, count=20, seed=7)

The generator and the reference run inside the sandbox, never in the caller's process; what they
give comes back as plain data. Case i of a seed is drawn from a `random.Random` of its own, so that
a longer draw begins with the shorter one. A reference that raises makes the exception the expected
result.

Covered: kinds `function`, `stdio` (Python) and `text`.
Not covered: `script` and `pytest`, whose cases belong to their scripts; a generator that draws from
anything but its `rng` (`unhack.tasks.validate` finds it out).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unhack.core import plain
from unhack.core.errors import SandboxError, SandboxUnavailableError, TaskError
from unhack.sandbox.job import Backend, Ending, Job, Kind, Outcome, Profile, Role, run_all
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.pool.pool import shared_pool
from unhack.tasks.directory import Rows, TaskFolder, build, read_folder
from unhack.tasks.reading import fault, read_text
from unhack.tasks.rows import RowError, call_of, stdin_of, text_row
from unhack.tasks.settings import FunctionOptions, StdioOptions, TextOptions
from unhack.tasks.task import Task
from unhack.verifiers import jobs
from unhack.verifiers.function import Case
from unhack.verifiers.jobs import Answer, bad_ending, read_claims
from unhack.verifiers.stdio import StdioCase

_DRAW = """

def _unhack_draw(seed):
    import random
    return generate(random.Random(seed))
"""
_CALLS_A_JOB = 64
_OUTPUT_BYTES = 64 * MIB
"""Room for what a trusted generator or reference gives; a candidate's room is the task's limit."""
_PATIENCE = 6
"""Wall time of a task's own code on a busy host, in multiples of the task's limit; its CPU time is
the task's limit, so that an endless loop still ends."""


def fresh_tasks(
    source: Task | TaskFolder | Path, *, count: int = 20, seed: int, backend: Backend | None = None
) -> tuple[Task, ...]:
    """The task with `count` drawn cases in place of its own; a text task gives `count` tasks.

    Raises TaskError (the generator or the reference is missing or breaks), SandboxUnavailableError.
    """
    folder = folder_of(source)
    rows = draw(folder, count=count, seed=seed, backend=backend)
    return build(folder, rows, mark=f"{seed}.")


def folder_of(source: Task | TaskFolder | Path) -> TaskFolder:
    """The task directory behind a task. Raises TaskError for a task that was made without one."""
    if isinstance(source, TaskFolder):
        return source
    if isinstance(source, Path):
        return read_folder(source)
    if source.path is None:
        raise TaskError(f"task {source.id!r} has no directory, so no generator.py to draw from")
    return read_folder(source.path)


def draw(folder: TaskFolder, *, count: int, seed: int, backend: Backend | None = None) -> Rows:
    """`count` cases (or text problems) of the folder's generator, answered by its reference.

    Raises what `fresh_tasks` raises.
    """
    pool = backend or shared_pool()
    values = draw_values(folder, [f"{seed}/{index}" for index in range(count)], backend=pool)
    try:
        if isinstance(folder.options, FunctionOptions):
            return _function_cases(folder, [call_of(value) for value in values], pool)
        if isinstance(folder.options, StdioOptions):
            return _stdio_cases(folder, [stdin_of(value) for value in values], pool)
        return [text_row(value) for value in values]
    except RowError as error:
        raise fault(folder.generator_path, f"`generate` gave a wrong case: {error}") from None


def draw_values(folder: TaskFolder, seeds: Sequence[str], *, backend: Backend) -> list[Any]:
    """The values of `generate` for generators seeded with each of `seeds`. Raises TaskError."""
    path = folder.generator_path
    if not isinstance(folder.options, (FunctionOptions, StdioOptions, TextOptions)):
        raise fault(path, f"a task of kind {folder.settings.kind} has no cases to draw")
    answers = call_all(
        read_text(path) + _DRAW, "_unhack_draw", calls=[((seed,), {}) for seed in seeds],
        limits=folder.limits, profile=trusted_profile(folder), backend=backend,
    )  # fmt: skip
    return [_value_of(path, f"seed {seed}", a) for seed, a in zip(seeds, answers, strict=True)]


def trusted_profile(folder: TaskFolder) -> Profile:
    """The profile of a task's own code: apart from the candidates, for it knows the answers."""
    options = folder.options
    scratch = isinstance(options, FunctionOptions) and options.scratch
    preload = options.preload if isinstance(options, (FunctionOptions, StdioOptions)) else ()
    kind = Kind.SCRATCH if scratch else Kind.FUNCTION
    return Profile(kind=kind, role=Role.JUDGE, preload=preload)


def trusted_limits(limits: Limits) -> Limits:
    """A task's limits, widened for its own code."""
    return limits.with_(
        wall_s=_PATIENCE * limits.wall_s, output_bytes=max(limits.output_bytes, _OUTPUT_BYTES)
    )


def call_all(
    source: str,
    entry: str,
    *,
    calls: Sequence[tuple[Sequence[Any], dict[str, Any]]],
    limits: Limits,
    profile: Profile,
    backend: Backend,
) -> list[Answer | str]:
    """Call `entry` of a task's own source on each (args, kwargs), inside the sandbox.

    What each call gave, or a text that says why it gave nothing. Raises SandboxError,
    SandboxUnavailableError.
    """
    room = trusted_limits(limits)
    encoded = [
        [[plain.encode_tags(a) for a in args], _encode_items(kwargs)] for args, kwargs in calls
    ]
    parts = [encoded[at : at + _CALLS_A_JOB] for at in range(0, len(encoded), _CALLS_A_JOB)]
    waiting = [
        jobs.CallsTemplate(entry, part, limits=room, profile=profile).job(source) for part in parts
    ]
    found: list[Answer | str] = []
    for part, outcome in zip(parts, _run(backend, waiting), strict=True):
        claims = read_claims(outcome.result, len(part))
        bad = bad_ending(outcome)
        ended = bad[1] if bad else f"ended with code {outcome.exit_code} before it answered"
        why = claims.failure[1] if claims.failure else ended
        found += [why if answer is None else answer for answer in claims.answers]
    return found


def _encode_items(mapping: dict[str, Any]) -> dict[str, Any]:
    return {key: plain.encode_tags(item) for key, item in mapping.items()}


def _run(backend: Backend, waiting: list[Job]) -> list[Outcome]:
    """The outcomes, none of which is the sandbox's own failure."""
    outcomes = run_all(backend, waiting)
    for outcome in outcomes:
        if outcome.ending is Ending.REFUSED:
            raise SandboxUnavailableError(outcome.error)
        if outcome.ending is Ending.BROKEN:
            raise SandboxError(f"the sandbox failed: {outcome.error}")
    return outcomes


def _value_of(path: Path, which: str, answer: Answer | str) -> Any:
    """The value of a call that has to return plain data. Raises TaskError when it did not."""
    if isinstance(answer, str):
        raise fault(path, f"{which}: {answer}")
    if answer.raised is not None:
        raise fault(path, f"{which}: raised {answer.to_text()}")
    value = plain.to_builtins(answer.value)
    # The tag of an opaque value; inside a string the quotes would be escaped.
    if '{"$opaque":' in plain.dumps(value):
        raise fault(path, f"{which}: {answer.to_text()} is not plain data")
    return value


def _function_cases(
    folder: TaskFolder, calls: list[tuple[tuple[Any, ...], dict[str, Any]]], backend: Backend
) -> list[Case]:
    """The drawn calls with what the reference returns or raises."""
    assert isinstance(folder.options, FunctionOptions)
    path = folder.reference_path
    answers = call_all(
        folder.options.setup + read_text(path), folder.settings.entry_point or "", calls=calls,
        limits=folder.limits, profile=trusted_profile(folder), backend=backend,
    )  # fmt: skip
    cases: list[Case] = []
    for number, ((args, kwargs), answer) in enumerate(zip(calls, answers, strict=True)):
        if isinstance(answer, Answer) and answer.raised is not None:
            cases.append(Case(args, kwargs, raises=answer.raised[0]))
        else:
            cases.append(Case(args, kwargs, _value_of(path, f"drawn case {number}", answer)))
    return cases


def _stdio_cases(folder: TaskFolder, inputs: list[str], backend: Backend) -> list[StdioCase]:
    """The drawn inputs with what the reference prints."""
    path = folder.reference_path
    if path.suffix != ".py":
        raise fault(path, "fresh cases need a reference in Python")
    source = read_text(path)
    profile, room = trusted_profile(folder), trusted_limits(folder.limits)
    waiting = [
        jobs.main(
            source,
            stdin=text.encode("utf-8", "surrogateescape"),
            limits=room,
            profile=profile,
        )
        for text in inputs
    ]
    cases: list[StdioCase] = []
    for number, (text, outcome) in enumerate(zip(inputs, _run(backend, waiting), strict=True)):
        bad = bad_ending(outcome)
        if bad is not None or outcome.exit_code != 0:
            last = outcome.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            why = bad[1] if bad else f"exited with code {outcome.exit_code}: {''.join(last)}"
            raise fault(path, f"drawn case {number}: {why}")
        cases.append(StdioCase(text, outcome.stdout.decode("utf-8", "surrogateescape")))
    return cases
