"""Judges that call a candidate, kept out of the queue until that candidate has started.

The two halves of a seal wait in different queues. A judge that ran first would spend its own time
waiting for a slot of the candidate's, and a right completion behind a long queue would be lost.

Covered: candidates that wait however long, that end unheard, that are cancelled.
Not covered: the wait of a started candidate for its judge, which its own wall limit has room for.
"""

from __future__ import annotations

from collections.abc import Callable

from unhack.sandbox.job import Role
from unhack.sandbox.pool.attempt import Attempt
from unhack.sandbox.pool.reactor import Reactor


def calls_candidate(attempt: Attempt) -> bool:
    """True for a judge with a peer: the candidate has the first word (`candidate.serve`)."""
    return attempt.peer is not None and attempt.job.profile.role is Role.JUDGE


class HeldJudges:
    """The judges that are kept back; used on the pool's thread alone."""

    def __init__(self, reactor: Reactor, admit: Callable[[Attempt], None]) -> None:
        """`admit` queues a judge whose candidate has said its first word, or has ended."""
        self._reactor = reactor
        self._admit = admit
        self._sockets: dict[int, int] = {}

    def hold(self, attempt: Attempt) -> None:
        """Keep a judge until its candidate is heard."""
        assert attempt.peer is not None
        self._sockets[attempt.id] = attempt.peer
        self._reactor.watch(attempt.peer, lambda _: self._on_word(attempt))

    def _on_word(self, attempt: Attempt) -> None:
        self.let_go(attempt)
        self._admit(attempt)

    def let_go(self, attempt: Attempt) -> bool:
        """Hold a judge no longer; False when it was not held."""
        fd = self._sockets.pop(attempt.id, None)
        if fd is not None:
            self._reactor.unwatch(fd)
        return fd is not None
