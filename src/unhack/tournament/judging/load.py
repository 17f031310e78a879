"""The load of the host, for contests that measure time.

Covered: what runs beside, by the kernel's load average against the processors of this process.
Not covered: other tenants of a virtual machine; the contest's own control shows those.
"""

from __future__ import annotations

import os

_BUSY = 0.3
"""Processes that wait or run for each processor, on average over a minute."""


def busy_words() -> str:
    """A warning where other work disturbs measurements of time; empty on a quiet host."""
    processors = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    if load < _BUSY * processors:
        return ""
    return (
        f"warning: this host is busy (load {load:.1f} on {processors} processors), and this "
        "contest measures time. Small gains will not be credited; stop other work for sharper "
        "results."
    )
