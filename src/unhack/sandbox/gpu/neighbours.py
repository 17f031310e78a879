"""The process trees beside this process that share its card: agents of the tournament it serves.

    with known((4711,)):
        check_free(card, ours=own_processes())

On one machine agents are children of the process that measures, and nobody has to be told of them.
On a node of a cluster another process keeps them; whoever sends the measurement there names them.

Covered: what they hold of the card is no stranger's; a kernel of theirs that goes on while they
stand still is ended.
Not covered: agents of other tournaments, which are strangers.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Sequence

from unhack.sandbox.gpu.memory_watch import tree_of

_PIDS: list[int] = []


@contextlib.contextmanager
def known(pids: Sequence[int]) -> Generator[None]:
    """Count the trees below these processes as ours, for a block of code."""
    _PIDS.extend(pids)
    try:
        yield
    finally:
        for pid in pids:
            _PIDS.remove(pid)


def own_processes() -> frozenset[int]:
    """This process with all below it, and its neighbours."""
    return tree_of(os.getpid()).union(*map(tree_of, _PIDS))


def agents_processes() -> frozenset[int]:
    """The same without this process: agents that play meanwhile. To be called before it has
    started workers of its own."""
    return own_processes() - {os.getpid()}
