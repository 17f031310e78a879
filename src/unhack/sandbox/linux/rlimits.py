"""Per-process limits that every kernel has.

Covered: address space, CPU seconds, file size, open files, processes of the sandbox's uid, stack,
core dumps, locked memory, queued signals, message queues.
Not covered: memory outside the address space (page tables, pipe buffers, tmpfs pages); cgroups
bound those where they are delegated. Source: setrlimit(2).
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
SHARED_PROCESSES = 16
"""Places for the fork server and for jobs that were demoted, which count under the same uid."""


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
    cpu = math.ceil(limits.cpu_s)
    return [
        [resource.RLIMIT_AS, limits.memory_bytes],
        [resource.RLIMIT_CPU, cpu],
        [resource.RLIMIT_FSIZE, limits.file_bytes],
        [resource.RLIMIT_NOFILE, limits.open_files],
        # The kernel counts all processes of the uid in this user namespace: the fork server and
        # the demoted jobs beside this one take places too.
        [resource.RLIMIT_NPROC, limits.processes + SHARED_PROCESSES],
    ]


def apply(pairs: list[list[int]], *, mapped_bytes: int, count_processes: bool) -> None:
    """Set the limits of the calling process, soft and hard.

    Without a user namespace the kernel would count every process of the uid, so then the number of
    processes is left alone; the filter denies new ones there.
    """
    for kind, value in pairs:
        if kind == resource.RLIMIT_NPROC and not count_processes:
            continue
        limit = value + mapped_bytes if kind == resource.RLIMIT_AS else value
        resource.setrlimit(kind, (limit, limit))
