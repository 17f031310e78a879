"""Whole calls on other machines, for work that is no batch of completions.

Covered: a call that is lost with its node is made again elsewhere; it has one result.
Not covered: calls that measure the processors' time: others may run beside them.
"""

from __future__ import annotations

import importlib.metadata
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from unhack.core.errors import SandboxError, SandboxUnavailableError, UnhackError
from unhack.sandbox.gpu.cards import cotenants
from unhack.tasks.execution.cluster.nodes import NodeClaim

V = TypeVar("V")
R = TypeVar("R")


class Errands(Protocol):
    """Runs calls somewhere; `run` may be called from many threads at once."""

    def run(self, function: Callable[[V], R], value: V, *, claim: NodeClaim = NodeClaim.CORE) -> R:
        """The result of `function(value)`, made where what it claims is free: a core, or a card.

        `function` stands in a module of the package. Raises SandboxUnavailableError, SandboxError
        (which name the machine, also for another version of unhack there), PoolClosedError.
        """
        ...

    def check_cards(self) -> None:
        """Raise SandboxUnavailableError where no machine offers a GPU."""
        ...


@dataclass(frozen=True, slots=True)
class ErrandReply:
    """The end of a call: a value, or the words of an error."""

    value: Any = None
    error: str = ""
    unavailable: bool = False
    """True where the machine cannot isolate."""


def answer(
    function: Callable[[Any], Any], value: Any, version: str, agents: Sequence[int] = ()
) -> ErrandReply:
    """Make a call on the machine that this runs on. `agents` are pids of trees beside it there,
    which share its card."""
    here = socket.gethostname()
    found = importlib.metadata.version("unhack")
    if found != version:
        return ErrandReply(error=f"node {here} has unhack {found}, this process {version}")
    try:
        with cotenants(agents):
            return ErrandReply(function(value))
    except SandboxUnavailableError as error:
        words = f"node {here}: {error}; `unhack doctor` on that node says what is missing"
        return ErrandReply(error=words, unavailable=True)
    except UnhackError as error:
        return ErrandReply(error=f"node {here}: {error}")


def result_of(reply: ErrandReply) -> Any:
    """The value of a call. Raises SandboxUnavailableError, SandboxError."""
    if reply.error:
        raise (SandboxUnavailableError if reply.unavailable else SandboxError)(reply.error)
    return reply.value
