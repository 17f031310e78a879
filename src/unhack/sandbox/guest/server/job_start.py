"""The start of a job, in the child of the fork server: descriptors, layers, then the runner.

Everything here was made before the first job and is the same for all of them. The frames of the
fork server, which know its jobs, are left before a job runs, and nothing refers to them any more.

Covered: a job finds the same interpreter wherever it stands in a batch: no object of the server,
no count of it in the garbage collector, a calendar that starts with the job.
Not covered: numbers that the kernel gives out to the whole machine (inodes of pipes, clocks that
native code reads), and without a pid namespace the job's own pid.
"""

from __future__ import annotations

import gc
import os
import select
from dataclasses import dataclass
from typing import Any

from unhack.sandbox.guest.candidate import runner
from unhack.sandbox.guest.server import clock
from unhack.sandbox.linux import calls, landlock, namespaces, rlimits, seccomp

JOB_CHANNEL, PEER_CHANNEL = 3, 4
_NAMESPACE = 5
"""The descriptor of the job's user namespace, until it enters that; the same for all jobs."""
HAS_STDIN, HAS_OUTPUT, HAS_PEER, HAS_GROUP = 1, 2, 4, 8
_SIGKILL = 9


@dataclass(slots=True)
class JobStart:
    """The layers of the jobs of one fork server."""

    server: int
    """A pidfd of the fork server."""
    kind: str
    isolated: bool
    spaces: bool
    others: int | None
    """Processes that the kernel counts with a job's own (see `rlimits.apply`)."""
    ruleset: int = -1
    second_filter: seccomp.FilterProgram | None = None
    mapped_bytes: int = 0

    def run(self, order: list[Any]) -> None:
        """Run the job of `order` ([descriptors, flags, user namespace]). Never returns."""
        code = runner.BROKEN_EXIT
        try:
            code = self._live(order)
        finally:
            os._exit(code)

    def rehearse(self, order: list[Any]) -> None:
        """The same, but its end waits for a byte of standard input, so that it can be looked at."""
        try:
            self._live(order)
            os.read(0, 1)
        finally:
            os._exit(0)

    def _live(self, order: list[Any]) -> int:
        """Everything but the end; the exit code."""
        calls.prctl(calls.PR_SET_PDEATHSIG, _SIGKILL)
        self._end_if_orphaned()
        first = _take_descriptors(*order)
        order.clear()
        clock.restart()
        gc.freeze()  # counts of the collector begin at zero, and what it has is out of sight
        gc.enable()
        return runner.run(self._prepare, first, JOB_CHANNEL)

    def _end_if_orphaned(self) -> None:
        """End the child whose server died before the kernel was told to send a signal."""
        poller = select.poll()
        poller.register(self.server, select.POLLIN)
        if poller.poll(0):
            os._exit(0)

    def _prepare(self, job: dict[str, Any], first_closed: int) -> None:
        """Apply the layers of this one job before it is run."""
        if self.isolated:
            if self.spaces and self.kind != "function":
                os.setsid()  # the scheduler then counts all processes of the job as one
                namespaces.mount_scratch(disk_bytes=job["disk"], executable=self.kind == "program")
            if self.spaces and self.others == 0:
                calls.join_user_namespace(_NAMESPACE)
                calls.prctl(calls.PR_SET_PDEATHSIG, _SIGKILL)  # new credentials may clear it
                self._end_if_orphaned()
            if self.ruleset >= 0:
                landlock.restrict(self.ruleset)
        os.closerange(first_closed, 1 << 20)
        if self.isolated:
            if self.second_filter is not None:
                self.second_filter.load()
            calls.drop_capabilities()
        rlimits.apply(job["rlimits"], mapped_bytes=self.mapped_bytes, others=self.others)


def _take_descriptors(fds: list[int], flags: int, namespace: int) -> int:
    """Put the job's descriptors where it looks for them, and enter its control group; the first
    number that is not its own."""
    rest = iter(fds)
    os.dup2(next(rest), JOB_CHANNEL, inheritable=False)
    if flags & HAS_STDIN:
        os.dup2(next(rest), 0)
    if flags & HAS_OUTPUT:
        os.dup2(next(rest), 1)
        os.dup2(next(rest), 2)
    first = JOB_CHANNEL + 1
    if flags & HAS_PEER:
        os.dup2(next(rest), PEER_CHANNEL, inheritable=False)
        first = PEER_CHANNEL + 1
    if flags & HAS_GROUP:
        os.write(next(rest), b"0")
    if namespace >= 0:
        os.dup2(namespace, _NAMESPACE, inheritable=False)
    return first
