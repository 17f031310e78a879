"""A whole job of a fork server before its first one, to see which pages a job makes it write.

The job comes over sockets of its own, is forked by the server's own code, applies its layers, runs
a small completion and is reaped. What the child wrote, and what the server wrote for it, is pinned
(`hot_pages`). Nobody's job is known yet: the completion is the runner's own.
"""

from __future__ import annotations

import _socket as socket
import contextlib
import errno
import json
import os
import resource
import select
import struct
from typing import Any, Protocol

from unhack.sandbox.guest.candidate import runner
from unhack.sandbox.guest.server import hot_pages, job_start
from unhack.sandbox.guest.server.deadlines import RunningJob
from unhack.sandbox.linux import calls
from unhack.sandbox.linux.sockets import receive

_ROUNDS = 2
"""The first finds where memory comes from, and leaves what it used as the second leaves it: so jobs
get the pages that the second got."""
_PATIENCE_S = 10.0
_LIMITS = [
    [resource.RLIMIT_AS, 1 << 30],
    [resource.RLIMIT_CPU, 10],
    [resource.RLIMIT_FSIZE, 1 << 20],
    [resource.RLIMIT_NOFILE, 64],
    [resource.RLIMIT_NPROC, 16],
]


class RehearsedServer(Protocol):
    """A fork server, as far as one job needs it."""

    control: Any
    jobs: Any
    current: RunningJob | None
    running: dict[int, RunningJob]
    start: job_start.JobStart

    def accept(self, poller: select.poll) -> list[Any] | None:
        """Start the job that waits."""
        ...

    def kill(self, running: RunningJob, why: int) -> None:
        """End it."""
        ...

    def reap(self, running: RunningJob) -> None:
        """Take note of its end."""
        ...


def pin_pages_of_a_job(server: RehearsedServer, order: bytes, proc: int) -> int:
    """Rehearse, and pin what was written; the number of pages pinned, 0 where that cannot be.

    `order` is that of a job with standard input, `proc` a descriptor of /proc.
    """
    kept = server.control, server.jobs
    pages: set[int] = set()
    try:
        for _ in range(_ROUNDS):
            pages = _rehearse(server, order, proc)
        return hot_pages.pin_pages(pages)
    except (OSError, ValueError):
        return 0
    finally:
        server.control, server.jobs = kept


class _Host:
    """The other end of a fork server's sockets: it hands in one job and holds it at its end."""

    def __init__(self) -> None:
        self.reports, self.control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.orders, self.jobs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel, self._theirs = socket.socketpair()
        self._held, self._hold = os.pipe()

    def send(self, order: bytes) -> None:
        """Hand in the job."""
        message = json.dumps({**runner.WARM_JOB, "rlimits": _LIMITS, "disk": 1 << 20}).encode()
        self.channel.send(runner.HEADER.pack(len(message)) + message)
        fds = struct.pack("2i", self._theirs.fileno(), self._held)
        self.orders.sendmsg([order], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])

    def let_go(self) -> None:
        """Let the job end."""
        os.write(self._hold, b".")

    def close(self) -> None:
        """Give everything back."""
        for end in (self.reports, self.control, self.orders, self.jobs, self.channel, self._theirs):
            end.close()
        os.close(self._held)
        os.close(self._hold)


def _rehearse(server: RehearsedServer, order: bytes, proc: int) -> set[int]:
    """Run one job; the pages that it and the server wrote. Raises OSError when that fails."""
    watch = hot_pages.PageWatch(proc)
    with contextlib.closing(_Host()) as host:
        server.control, server.jobs = host.control, host.jobs
        host.send(order)
        poller = select.poll()
        # While there is this other fork, what the server writes becomes its own.
        with hot_pages.held_fork(calls.Cloner(0), lambda: None):
            mine = server.accept(poller)
            if mine:
                server.start.rehearse(mine)
            running = server.current
            if running is None:
                raise OSError(errno.EAGAIN, "no job could be forked")
            try:
                if not receive(host.channel.recv, 1 << 16).startswith(b"[0,"):
                    raise OSError(errno.ECHILD, "the job broke")
                watch.look(running.pid)
            finally:
                host.let_go()
                if not poller.poll(_PATIENCE_S * 1000):
                    server.kill(running, 0)
                server.reap(server.running.pop(running.pidfd))
            watch.look("self")
    return watch.pages()
