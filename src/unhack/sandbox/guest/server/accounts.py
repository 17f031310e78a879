"""A user namespace for each job that runs at a time, so that the kernel counts each by itself.

RLIMIT_NPROC, queued signals and much else count by uid *within a user namespace*: jobs that share
one share the count, and one with many threads would fail every neighbour. So a fork server keeps a
few namespaces, made before its first job; each job enters one that no other is in, and its uid,
which nothing maps there, is still nobody's.

Covered: threads, processes, queued signals, timers of each job and its children.
Not covered: kernels before 5.14, which count by the uid of the host alone (`count_apart` tells);
memory, which address space and groups bound.
Sources: user_namespaces(7), getrlimit(2), setns(2), the kernel's `kernel/ucount.c`.
"""

from __future__ import annotations

import os
import resource

from unhack.sandbox.linux import calls


def make(proc: int, count: int) -> list[int]:
    """Descriptors of `count` user namespaces below this one; `proc` is a descriptor of /proc.

    Raises OSError where the kernel allows none.
    """
    cloner = calls.Cloner(calls.CLONE_NEWUSER)
    return [_make_one(cloner, proc) for _ in range(count)]


def _make_one(cloner: calls.Cloner, proc: int) -> int:
    reader, writer = os.pipe()
    pid, pidfd = cloner.clone()
    if pid == 0:
        try:
            os.close(writer)
            os.read(reader, 1)
        finally:
            os._exit(0)
    os.close(reader)
    try:
        return os.open(f"{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    finally:
        os.close(writer)
        os.waitpid(pid, 0)
        os.close(pidfd)


def count_apart(namespace: int) -> bool:
    """True when processes in `namespace` do not count with those outside: tried, with a process
    that may start exactly one more."""
    cloner = calls.Cloner(0)
    pid, pidfd = cloner.clone()
    if pid == 0:
        code = 1
        try:
            calls.join_user_namespace(namespace)
            resource.setrlimit(resource.RLIMIT_NPROC, (2, 2))
            below, _ = cloner.clone()
            if below:
                os.waitpid(below, 0)
            code = 0
        finally:
            os._exit(code)
    _, status, _ = os.wait4(pid, 0)  # as after each job: what the first use keeps is kept by now
    os.close(pidfd)
    return status == 0
