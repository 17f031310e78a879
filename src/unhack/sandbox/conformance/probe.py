"""The parts of a check: a claim, jobs that put it to the test, and its result."""

from __future__ import annotations

import base64
import json
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from unhack.core import plain
from unhack.sandbox.job import Backend, Ending, Job, Kind, Outcome, Profile
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.linux import rlimits
from unhack.sandbox.pool.worker import supports
from unhack.sandbox.pool.worker_start import ENVIRON
from unhack.sandbox.rootfs import inside, interpreter

LIMITS = Limits(wall_s=20.0, cpu_s=10.0, memory_bytes=256 * MIB, soft_slice_s=0.5)
"""Wide enough that only a check that means to hits one."""
NO_ARGUMENTS: list[list[Any]] = [[]]
"""One call without arguments."""
_PATIENCE_S = 180.0
"""Longer than any limit of a check: a busy host is slow to say how a job ended."""


class CheckState(StrEnum):
    """The result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One claim about one backend."""

    claim: str
    state: CheckState
    reason: str = ""
    """The contradiction, or the reason why it cannot be checked here; empty when passed."""


class ConformanceError(Exception):
    """The claim does not hold; the text says what was seen."""


class SkipError(Exception):
    """The claim cannot be put to this backend; the text says why."""


def expect(condition: bool, reason: str) -> None:
    """Raises ConformanceError unless `condition`."""
    if not condition:
        raise ConformanceError(reason)


@dataclass(frozen=True, slots=True)
class ConformanceCheck:
    """A claim that every backend must meet."""

    claim: str
    """A sentence, unique."""
    test: Callable[[Probe], None]
    """Returns, or raises ConformanceError or SkipError."""
    benign: bool = False
    """True when it only asks for what a well-behaved job needs."""
    harmless: bool = True
    """True when it may also run where nothing is sealed, as a control of the check itself."""


def run_test(claim: str, test: Callable[[], None]) -> CheckResult:
    """Put one claim to the test. A test that breaks counts as failed."""
    try:
        test()
    except SkipError as error:
        return CheckResult(claim, CheckState.NOT_APPLICABLE, str(error))
    except ConformanceError as error:
        return CheckResult(claim, CheckState.FAILED, str(error))
    except Exception as error:
        return CheckResult(claim, CheckState.FAILED, f"{type(error).__name__}: {error}")
    return CheckResult(claim, CheckState.PASSED)


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a command inside a program job."""

    outcome: Outcome
    code: int
    signal: int
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def text(self) -> str:
        """The command's standard output."""
        return self.outcome.stdout.decode(errors="replace")


class Probe:
    """Runs jobs on one backend for the checks."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.token = f"unhack-conformance-{secrets.token_hex(8)}"
        """Names whatever a check makes on the host."""
        self.errnos: dict[Kind, dict[str, int]] = {}
        """Answers to forbidden system calls, by kind; filled on first use."""

    def lacks(self, kind: Kind) -> str:
        """The reason why this backend holds no job of a kind; empty when it does."""
        return supports(Profile(kind=kind), self.backend.isolation)

    def require(self, kind: Kind) -> None:
        """Raises SkipError when the backend holds no job of this kind."""
        reason = self.lacks(kind)
        if reason:
            raise SkipError(reason)

    def kinds(self, *wanted: Kind) -> list[Kind]:
        """The kinds of `wanted` (default: all) that the backend holds."""
        return [kind for kind in wanted or tuple(Kind) if not self.lacks(kind)]

    def start(self, job: Job) -> tuple[Any, Callable[[], Outcome]]:
        """Hand a job in; its handle, and a function that waits for the outcome."""
        ready = threading.Event()
        outcomes: list[Outcome] = []

        def done(outcome: Outcome) -> None:
            outcomes.append(outcome)
            ready.set()

        handle = self.backend.submit(job, done)

        def wait() -> Outcome:
            expect(ready.wait(_PATIENCE_S), f"no outcome after {_PATIENCE_S:.0f} s")
            expect(len(outcomes) == 1, f"{len(outcomes)} outcomes of one job")
            return outcomes[0]

        return handle, wait

    def run(self, job: Job) -> Outcome:
        """Run a job that the backend must be able to hold."""
        _, wait = self.start(job)
        outcome = wait()
        broken = outcome.ending in {Ending.BROKEN, Ending.REFUSED}
        expect(not broken, f"the job did not run ({outcome.ending}): {outcome.error[:300]}")
        return outcome

    def job(self, source: str, calls: Sequence[Sequence[Any]], *, limits: Limits = LIMITS,
            profile: Profile | None = None) -> Job:  # fmt: skip
        """A job that calls `f` of `source` once for each argument list."""
        nothing: dict[str, Any] = {}
        encoded = [[[plain.encode_tags(item) for item in args], nothing] for args in calls]
        fields = {"source": source, "entry": "f", "each": True, "calls": encoded}
        return message("calls", fields, limits=limits, profile=profile or Profile())

    def calls(self, source: str, calls: Sequence[Sequence[Any]], *, kind: Kind = Kind.FUNCTION,
              limits: Limits = LIMITS, profile: Profile | None = None) -> Outcome:  # fmt: skip
        """Run such a job."""
        chosen = profile or Profile(kind=kind)
        return self.run(self.job(source, calls, limits=limits, profile=chosen))

    def ask(self, source: str, args: Sequence[Any] = (), *, kind: Kind = Kind.FUNCTION,
            limits: Limits = LIMITS, profile: Profile | None = None) -> Any:  # fmt: skip
        """The answer of one call of `f`. Raises ConformanceError when there is none."""
        outcome = self.calls(source, [args], kind=kind, limits=limits, profile=profile)
        for line in lines(outcome.result):
            if line[0] == 0 and line[1] == "ok":
                return plain.decode_tags(line[2])
        raise ConformanceError(f"no answer: {describe(outcome)}")

    def script(self, source: str, *, stdin: bytes = b"", limits: Limits = LIMITS) -> Outcome:
        """Run `source` as a program in the warm interpreter."""
        job = message("main", {"source": source}, limits=limits, profile=Profile())
        return self.run(_with_streams(job, stdin))

    def command(self, argv: Sequence[str], *, files: Mapping[str, bytes] | None = None,
                collect: Sequence[str] = (), limits: Limits = LIMITS,
                profile: Profile | None = None) -> Ended:  # fmt: skip
        """Run a command in a private directory. Raises SkipError where no program may run."""
        self.require(Kind.PROGRAM)
        packed = {
            name: {"data": base64.b64encode(data).decode("ascii"), "mode": 0o644}
            for name, data in (files or {}).items()
        }
        fields = {
            "argv": list(argv),
            "env": ENVIRON,
            "files": packed,
            "collect": list(collect),
            "collect_bytes": limits.file_bytes,
        }
        job = message("program", fields, limits=limits,
                      profile=profile or Profile(kind=Kind.PROGRAM))  # fmt: skip
        return _parse_ended(self.run(_with_streams(job, b"")))

    def python(self, source: str, *, limits: Limits = LIMITS) -> Ended:
        """Run `source` in a fresh interpreter, as a program."""
        return self.command([inside(interpreter()), "-I", "-S", "-c", source], limits=limits)


def message(mode: str, fields: Mapping[str, Any], *, limits: Limits, profile: Profile) -> Job:
    """A job as the runner understands it."""
    common = {"mode": mode, "rlimits": rlimits.encode(limits), "disk": limits.disk_bytes}
    return Job(json.dumps({**common, **fields}).encode(), limits, profile)


def _with_streams(job: Job, stdin: bytes) -> Job:
    return Job(job.message, job.limits, job.profile, stdin=stdin, capture=True)


def _parse_ended(outcome: Outcome) -> Ended:
    code, number = -1, 0
    files: dict[str, bytes] = {}
    for line in lines(outcome.result):
        if line[1] == "exit":
            code, number = line[2], line[3]
        elif line[1] == "file":
            files[line[2]] = base64.b64decode(line[3])
    return Ended(outcome, code, number, files)


def lines(result: bytes) -> list[list[Any]]:
    """The lines of a result channel."""
    return [json.loads(line) for line in result.splitlines() if line.endswith(b"]")]


def describe(outcome: Outcome) -> str:
    """An outcome in a few words, for reasons."""
    parts = [outcome.ending.value, outcome.limit]
    parts += [f"exit {outcome.exit_code}"] if outcome.exit_code else []
    parts += [f"signal {outcome.signal}"] if outcome.signal else []
    parts += [outcome.result[:200].decode(errors="replace").strip()]
    parts += [outcome.stderr[-200:].decode(errors="replace").strip()]
    return ", ".join(part for part in parts if part)
