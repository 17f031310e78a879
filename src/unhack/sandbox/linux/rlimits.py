"""Per-process limits that every kernel has.

Covered: address space, CPU seconds, file size, open files, processes and threads of the
job's uid in its user namespace, stack,
core dumps, locked memory, queued signals, message queues.
Not covered: memory outside the address space (page tables, pipe buffers, tmpfs pages); cgroups
bound those where they are delegated. The exact CPU limit: the kernel counts ticks, which on a busy
host run ahead of the time used, so its limit lies above the job's own, and the fork server holds
that one (`deadlines`). Source: setrlimit(2).
"""

from __future__ import annotations

import math
import resource
from typing import Any

_ALWAYS = (
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_MEMLOCK, 0),
    (resource.RLIMIT_SIGPENDING, 256),
    (resource.RLIMIT_MSGQUEUE, 0),
    (resource.RLIMIT_NICE, 0),
    (resource.RLIMIT_RTPRIO, 0),
)
STACK_BYTES = 8 << 20
_TICKS_AHEAD = 1.5
"""Times that the kernel's ticks may run ahead of the CPU time that a job has used."""


def apply_fixed() -> None:
    """The limits that no job changes; inherited by every job of a fork server."""
    for kind, value in _ALWAYS:
        resource.setrlimit(kind, (value, value))
    # Programs that recurse raise their own; the address space bounds what comes of it.
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    soft = STACK_BYTES if hard == resource.RLIM_INFINITY else min(STACK_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


def encode(limits: Any) -> list[list[int]]:
    """`limits` (a `Limits`) as [resource, value] pairs that `apply` takes.

    The address space is relative to what the process maps when `apply` runs.
    """
    return [
        [resource.RLIMIT_AS, limits.memory_bytes],
        [resource.RLIMIT_CPU, math.ceil(_TICKS_AHEAD * limits.cpu_s) + 1],
        [resource.RLIMIT_FSIZE, limits.file_bytes],
        [resource.RLIMIT_NOFILE, limits.open_files],
        [resource.RLIMIT_NPROC, limits.processes],
    ]


def apply(pairs: list[list[int]], *, mapped_bytes: int, others: int | None) -> None:
    """Set the limits of the calling process, soft and hard.

    The kernel counts the processes and threads of the uid in the user namespace; `others` of them
    do not belong to the job. None where nobody knows how many do, as without a namespace or a uid
    of its own: then only the address space bounds the threads, and the filter denies processes.
    """
    for kind, value in pairs:
        limit = value
        if kind == resource.RLIMIT_NPROC:
            if others is None:
                continue
            limit += others
        elif kind == resource.RLIMIT_AS:
            limit += mapped_bytes
        resource.setrlimit(kind, (limit, limit))
