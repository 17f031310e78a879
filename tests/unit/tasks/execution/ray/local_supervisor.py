"""A keeper in this process whose words cross as bytes, as between machines."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from unhack.tasks.execution.ray.tree_supervisor import TreeKeeper


def crossed(value: Any) -> Any:
    """What arrives of a value."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301  (bytes of this very process)


class KeeperBeside:
    """See `RemoteKeeper`. Once `lost` is set nothing is answered, and the tree is gone."""

    def __init__(self, sent: Callable[[Any], None] = lambda value: None) -> None:
        self.keeper = TreeKeeper()
        self.lost = False
        self.ended = False
        self._sent = sent
        self._threads = ThreadPoolExecutor(16)

    def __getattr__(self, name: str) -> Callable[..., Future[Any]]:
        """Any method of the keeper, as a call to come."""
        method = getattr(self.keeper, name)

        def call(*values: Any) -> Any:
            self._sent(values)
            far = crossed(values)
            found = crossed(method(*far))
            if self.lost:
                raise RuntimeError("the actor died with its node")
            return found

        def ask(*values: Any) -> Future[Any]:
            if not self.lost:
                return self._threads.submit(call, *values)
            failed: Future[Any] = Future()
            failed.set_exception(RuntimeError("the actor died with its node"))
            return failed

        return ask

    def lose(self) -> None:
        """Lose the machine."""
        self.lost = True
        self.keeper.close()

    def end(self) -> None:
        """See `RemoteKeeper`."""
        self.ended = True
        self.keeper.close()
        self._threads.shutdown(wait=False)
