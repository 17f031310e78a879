"""The words of the sandbox: profiles, jobs, outcomes, and what every backend can do.

A job is untrusted bytes plus limits. It ends in exactly one outcome, which tells what the kernel
and the worker observed, never what the job said about itself. Three ends are kept apart: the job
ended by itself, the job was ended by a limit, and the sandbox failed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from unhack.sandbox.limits import Limits

TIME_LIMITS = frozenset({"wall", "wall_hard", "cpu"})
"""The limits that say that a job took too long (`Outcome.limit`)."""


class Isolation(StrEnum):
    """The layers that hold a job.

    Example:

        pool = Pool(isolation=Isolation.NAMESPACES)  # nothing weaker
    """

    NAMESPACES = "namespaces"
    """User, mount, pid, net, ipc, uts and cgroup namespaces, seccomp, Landlock, rlimits."""
    LANDLOCK = "landlock"
    """Landlock, seccomp and rlimits without namespaces; no writable files, no child processes."""
    NONE = "none"
    """Nothing but a separate process. For measuring the cost of the layers, and by explicit
    name."""


class Kind(StrEnum):
    """The room that a job gets: no files, a private directory, or programs.

    Example:

        Profile(kind=Kind.SCRATCH)  # Python that may write files
    """

    FUNCTION = "function"
    """Python in a fork of the warm interpreter: no writable file, no new process."""
    SCRATCH = "scratch"
    """The same with a private writable directory as cwd and TMPDIR."""
    PROGRAM = "program"
    """Any command, with a private writable directory; may start processes."""


class Role(StrEnum):
    """The side that a process runs for. Two roles never share a uid where another can be had."""

    CANDIDATE = "candidate"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Profile:
    """The preparation of a worker. Jobs of one profile share a pool of workers.

    Example:

        Profile(kind=Kind.SCRATCH, preload=("numpy",))
    """

    kind: Kind = Kind.FUNCTION
    role: Role = Role.CANDIDATE
    preload: tuple[str, ...] = ()
    """Importable module names, loaded once in the worker; only they are visible of
    site-packages, and nothing of it where a bind takes the place of the standard library."""
    binds: tuple[tuple[str, str], ...] = ()
    """(host path, path inside) pairs, mounted read-only."""
    site_packages: bool = False
    """True shows the whole of site-packages, read-only (judge code may import anything)."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run inside the sandbox.

    Example:

        limits = Limits(wall_s=2.0)
        bounds = {"rlimits": rlimits.encode(limits), "disk": limits.disk_bytes}
        message = json.dumps({"mode": "main", "source": "print(1)", **bounds})
        job = Job(message.encode(), limits, capture=True)
        run_one(shared_pool(), job).stdout
    """

    message: bytes
    """The job as JSON (see `candidate.runner`); the worker never reads it, only the job does."""
    limits: Limits
    profile: Profile = field(default_factory=Profile)
    fallback: Profile | None = None
    """The profile to use instead where this host cannot give `profile`; None refuses the job."""
    stdin: bytes | None = None
    """Standard input; None is an empty one."""
    capture: bool = False
    """True when stdout and stderr are collected; otherwise they are thrown away."""
    peer: int | None = None
    """A socket to the process on the other side of the seal; the backend takes the descriptor."""
    stop_when: Callable[[bytes], bool] | None = None
    """Called with the complete result lines that are new; True ends the job early."""


class Ending(StrEnum):
    """The end of a job.

    Example:

        outcome = run_one(shared_pool(), job)
        if outcome.ending is Ending.LIMIT:
            print(f"stopped at the limit of {outcome.limit}")
    """

    EXITED = "exited"
    """By itself, with an exit code."""
    SIGNALED = "signaled"
    """By a signal that the sandbox did not send."""
    LIMIT = "limit"
    """The sandbox ended it at a limit."""
    STOPPED = "stopped"
    """The judge had seen enough, or the caller cancelled."""
    BROKEN = "broken"
    """The sandbox itself failed, on a second worker too."""
    REFUSED = "refused"
    """This host cannot isolate such a job; `error` says what would help."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The observations of the sandbox. `result`, `stdout` and `stderr` are claims of the job.

    Example:

        outcome = run_one(shared_pool(), job)
        outcome.ending, outcome.exit_code, outcome.cpu_s
    """

    ending: Ending
    exit_code: int | None = None
    signal: int | None = None
    limit: str = ""
    """`wall`, `wall_hard`, `cpu`, `memory`, `output` or `file`; empty unless a limit ended it."""
    result: bytes = b""
    """The bytes that the job wrote on its result channel."""
    stdout: bytes = b""
    stderr: bytes = b""
    truncated: bool = False
    """True when output was cut at `Limits.output_bytes`."""
    wall_s: float = 0.0
    cpu_s: float = 0.0
    max_rss_bytes: int = 0
    isolation: Isolation = Isolation.NONE
    error: str = ""
    """The reason why the sandbox failed (`broken`, `refused`), who ended the job (`stopped`), or
    why one that a limit ended did not run again alone, which might have helped."""
    patience: float = 1.0
    """Times that somebody who gave it up should wait longer, for want of a core; more
    than 1 only where the backend has time for another try."""
    attempts: int = 1
    """The number of workers it was tried on."""


class JobHandle(Protocol):
    """A job that was handed in."""

    def cancel(self) -> None:
        """End the job; its outcome is `stopped`. Safe to call at any time, from any thread."""
        ...


class Backend(Protocol):
    """Runs jobs. `unhack.sandbox.conformance` holds the checks that each backend must pass."""

    @property
    def isolation(self) -> Isolation:
        """The level of every outcome."""
        ...

    @property
    def slots(self) -> int:
        """The number of jobs that run at full speed at once."""
        ...

    def submit(self, job: Job, on_done: Callable[[Outcome], None]) -> JobHandle:
        """Queue a job; `on_done` is called exactly once, on a thread of the backend.

        Raises SandboxUnavailableError when the host cannot isolate this profile.
        """
        ...

    def call_soon(self, function: Callable[[], None]) -> None:
        """Run `function` on the thread that delivers outcomes."""
        ...

    def close(self) -> None:
        """End every job and worker."""
        ...


def limit_behind_kill(limits: Limits, *, cpu_s: float, peak_bytes: int) -> str:
    """`cpu` or `memory`: which limit the kernel enforced with SIGKILL, which nothing else sends.

    It counts CPU time by ticks, which beside others may run ahead of the time that it reports.
    """
    large = peak_bytes >= limits.memory_bytes / 2
    return "cpu" if cpu_s >= (0.95 if large else 0.5) * limits.cpu_s else "memory"


def run_all(backend: Backend, jobs: Iterable[Job]) -> list[Outcome]:
    """Run `jobs` and wait for all outcomes, in order."""
    ready = threading.Semaphore(0)
    outcomes: dict[int, Any] = {}

    def keep(index: int) -> Callable[[Outcome], None]:
        def done(outcome: Outcome) -> None:
            outcomes[index] = outcome
            ready.release()

        return done

    count = 0
    for index, job in enumerate(jobs):
        backend.submit(job, keep(index))
        count += 1
    for _ in range(count):
        ready.acquire()
    return [outcomes[index] for index in range(count)]


def run_one(backend: Backend, job: Job) -> Outcome:
    """Run one job and wait for its outcome."""
    return run_all(backend, [job])[0]
