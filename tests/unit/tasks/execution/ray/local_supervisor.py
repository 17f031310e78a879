"""A tree's supervisor in this process, whose calls cross as bytes, as between machines."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from unhack.tasks.execution.ray.tree_supervisor import TreeSupervisor


def crossed(value: Any) -> Any:
    """What arrives of a value."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301  (bytes of this very process)


class LocalSupervisor:
    """In the place of a `RayActor`. Once it is `lost`, nothing is answered and the tree is gone."""

    def __init__(self, sent: Callable[[Any], None] = lambda value: None) -> None:
        self.supervisor = TreeSupervisor()
        self.lost = False
        self.ended = False
        self._sent = sent
        self._threads = ThreadPoolExecutor(16)

    def call(self, method: Callable[..., Any], *values: Any, **named: Any) -> Future[Any]:
        """See `RayActor.call`."""

        def answer() -> Any:
            self._sent((values, named))
            there, also = crossed((values, named))
            found = crossed(method(self.supervisor, *there, **also))
            if self.lost:
                raise RuntimeError("the actor died with its node")
            return found

        if not self.lost:
            return self._threads.submit(answer)
        failed: Future[Any] = Future()
        failed.set_exception(RuntimeError("the actor died with its node"))
        return failed

    def lose(self) -> None:
        """Lose the machine."""
        self.lost = True
        self.supervisor.close()

    def end(self) -> None:
        """See `RayActor.end`."""
        self.ended = True
        self.supervisor.close()
        self._threads.shutdown(wait=False)
