"""The card of a command-line agent: its nodes in the agent's tree, and its memory watched.

Covered: the agent compiles and runs on the card that the judge measures on, within its share of the
card's memory; without a control group, of the host's.
Not covered: whose turn it is: agents share the card, and stand still while somebody measures.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import replace

from unhack.agents.play import AgentTree
from unhack.sandbox.gpu.cards import choose_card
from unhack.sandbox.gpu.driver_files import driver_files
from unhack.sandbox.gpu.memory_watch import MemoryWatch, use_of
from unhack.sandbox.workspace.process_tree import ProcessTreePlan


def with_card(plan: ProcessTreePlan, device: str) -> ProcessTreePlan:
    """The plan with a card's nodes and libraries; unchanged for no device.

    Raises UsageError, SandboxUnavailableError.
    """
    if not device:
        return plan
    files = driver_files(choose_card(device).node)
    environ = {**files.environ, **plan.environ}
    path = files.environ.get("CUDA_HOME", "")
    if path:
        environ["PATH"] = f"{environ.get('PATH', '/usr/bin:/bin')}:{path}/bin"
    binds = tuple(dict.fromkeys((*plan.binds, *files.binds)))
    return replace(plan, environ=environ, binds=binds, devices=files.devices)


@contextlib.contextmanager
def watched(tree: AgentTree, device: str, *, card_bytes: int) -> Generator[None]:
    """Watch the memory of a tree that has begun, for a block of code; nothing for no device."""
    if not device:
        yield
        return
    use = use_of(choose_card(device))
    watch = MemoryWatch(tree.pid, tree.plan.memory_bytes, card_bytes, use, tree.kill)
    watch.start()
    try:
        yield
    finally:
        watch.stop()
