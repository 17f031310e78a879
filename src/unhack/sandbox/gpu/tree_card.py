"""The card of a long-lived process tree: its nodes in the tree, and its memory watched.

    plan = with_card(plan, TreeCard("cuda", 16 << 30))
    with ProcessTree(command, plan=plan) as tree, watched(tree, TreeCard("cuda", 16 << 30)):
        tree.wait(timeout_s=60)

Covered: the tree compiles and runs on the card that the judge measures on, within its share of the
card's memory; without a control group, of the host's.
Not covered: whose turn it is: trees share the card, and stand still while somebody measures.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Protocol

from unhack.sandbox.gpu.cards import choose_card
from unhack.sandbox.gpu.driver_files import driver_files
from unhack.sandbox.gpu.memory_watch import MemoryWatch, use_of
from unhack.sandbox.workspace.process_tree import ProcessTreePlan


@dataclass(frozen=True, slots=True)
class TreeCard:
    """The card that a tree is given on the machine where it runs."""

    device: str
    """`cuda` or `cuda:N`."""
    memory_bytes: int
    """Of the card, by all processes of the tree."""


class CardTree(Protocol):
    """A tree of this machine that has begun."""

    @property
    def pid(self) -> int:
        """Of process 1."""
        ...

    @property
    def plan(self) -> ProcessTreePlan:
        """As it was started."""
        ...

    def kill(self) -> None:
        """End every process of it."""
        ...


def with_card(plan: ProcessTreePlan, card: TreeCard | None) -> ProcessTreePlan:
    """The plan with a card's nodes and libraries; unchanged for no card.

    Raises UsageError, SandboxUnavailableError.
    """
    if card is None:
        return plan
    files = driver_files(choose_card(card.device).node)
    environ = {**files.environ, **plan.environ}
    path = files.environ.get("CUDA_HOME", "")
    if path:
        environ["PATH"] = f"{environ.get('PATH', '/usr/bin:/bin')}:{path}/bin"
    binds = tuple(dict.fromkeys((*plan.binds, *files.binds)))
    return replace(plan, environ=environ, binds=binds, devices=files.devices)


@contextlib.contextmanager
def watched(tree: CardTree, card: TreeCard | None) -> Generator[None]:
    """Watch the memory of a tree that has begun, for a block of code; nothing for no card."""
    if card is None:
        yield
        return
    use = use_of(choose_card(card.device))
    watch = MemoryWatch(tree.pid, tree.plan.memory_bytes, card.memory_bytes, use, tree.kill)
    watch.start()
    try:
        yield
    finally:
        watch.stop()
