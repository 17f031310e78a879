"""The verifier interface: steps that ask for jobs and end in a verdict.

A verifier does no I/O. `verify` is a generator: it yields lists of jobs, receives their outcomes,
and returns a verdict. One driver (`unhack.tasks.execution.driver`) runs thousands of them at once,
for sync, async and streaming callers alike.

    def verify(self, problem, completion):
        [outcome] = yield [jobs.calls(...)]
        return judge(outcome)

Rule 2: whatever a completion does is a verdict. A verifier that cannot judge because its own
machinery broke raises `VerifierFault`; the driver then runs the control and decides.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

from unhack.core.completion import MAX_CHARS
from unhack.core.errors import UnhackError
from unhack.core.problem import Problem
from unhack.core.verdict import Seal, Status, Verdict
from unhack.sandbox.job import Job


class VerifierFault(UnhackError):
    """The verifier itself broke (its checker raised, its worker died); not a verdict yet."""


@dataclass(frozen=True, slots=True)
class HostCall:
    """A step that runs a trusted callable of the user in the caller's process, off the pool's
    thread."""

    function: Callable[[], Any]

    def start(self, then: Callable[[Any, BaseException | None], None]) -> None:
        """Run it on a thread of its own; `then` gets its value or its error, on that thread."""

        def work() -> None:
            try:
                value = self.function()
            except BaseException as error:
                then(None, error)
            else:
                then(value, None)

        _host_threads(os.getpid()).submit(work)


@lru_cache(maxsize=1)
def _host_threads(pid: int) -> Any:
    """A few threads for all runs of process `pid`: a fork has none of its parent's."""
    from concurrent.futures import ThreadPoolExecutor  # loads logging; only host calls need it

    return ThreadPoolExecutor(4, f"unhack-host-{pid}")


Steps = Generator[list[Job] | HostCall, Any, Verdict]
"""Yields jobs and receives `list[Outcome]` in the same order (or the value of a `HostCall`)."""


class Verifier(Protocol):
    """A judge of completions of problems.

    Example:

        class Palindrome:
            kind = "palindrome"

            def verify(self, problem: Problem, completion: str) -> Steps:
                outcomes = yield [job_of(completion)]
                return verdict_of(problem, outcomes[0])
    """

    @property
    def kind(self) -> str:
        """The name of the kind, as in `task.toml`."""
        ...

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge one completion. Raises VerifierFault inside the generator when it cannot."""
        ...

    def canary(self) -> str:
        """A trusted completion that this verifier must be able to score, right or wrong.

        The control of rule 2 for problems that have no reference.
        """
        ...


@runtime_checkable
class HasCanaries(Protocol):
    """A verifier that knows several canaries, made for one problem."""

    def canaries(self, problem: Problem) -> Sequence[str]:
        """Trusted completions, of which one that is judged, right or wrong, shows that this
        verifier works."""
        ...


@runtime_checkable
class DoubtsControls(Protocol):
    """A verifier that can see in its author's code that no canary may be judged."""

    def control_doubt(self) -> str:
        """The reason for that; empty where nothing says it."""
        ...


def canaries_of(verifier: Verifier, problem: Problem) -> Sequence[str]:
    """The controls of a problem that has no reference, the cheapest first."""
    if isinstance(verifier, HasCanaries):
        return verifier.canaries(problem)
    return (verifier.canary(),)


def unjudgeable_verdict(reason: str, *, seal: Seal, isolation: str) -> Verdict:
    """The verdict on a completion that broke a verifier which judges its control without
    trouble."""
    text = f"the verifier could not judge it: {reason}"[:1000]
    return Verdict(Status.ERROR, 0.0, text, seal=seal, isolation=isolation)


def invalid_verdict(reason: str, *, seal: Seal = Seal.SEALED) -> Verdict:
    """The verdict on a completion that holds nothing to run."""
    return Verdict(Status.INVALID, 0.0, reason, seal=seal)


def no_code_verdict(
    completion: str, *, seal: Seal = Seal.SEALED, reason: str = "no code in the completion"
) -> Verdict:
    """The verdict on a completion in which no code was found, or that is too long to look."""
    if len(completion) > MAX_CHARS:
        reason = f"the completion has {len(completion)} characters; at most {MAX_CHARS} are read"
    return invalid_verdict(reason, seal=seal)
