"""A judge that calls a candidate does not start before that candidate has."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Generator
from contextlib import closing

import pytest

from unhack import Case, FunctionVerifier, Pool, Problem, ScriptVerifier, Task, run_batch
from unhack.sandbox.job import Ending, Job, Outcome, Profile, Role
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.attempt import Attempt
from unhack.sandbox.pool.reactor import Reactor
from unhack.sandbox.pool.worker import HeldJudges
from unhack.verifiers import jobs, sealed

_HANG_S = 60.0
_LIMITS = Limits(wall_s=30)
_SQUARE = "```python\ndef solve(n):\n    return n * n\n```"
_SCRIPT = """
import solution
def verify(prompt, completion):
    return 1.0 if solution.solve(7) == 49 else 0.0
"""


def _attempt(peer: int | None, role: Role = Role.JUDGE) -> Attempt:
    return Attempt(1, Job(b"{}", _LIMITS, Profile(role=role), peer=peer), lambda _: None, peer)


class TestHeldJudges:
    @pytest.fixture
    def admitted(self) -> queue.SimpleQueue[Attempt]:
        return queue.SimpleQueue()

    @pytest.fixture
    def reactor(self) -> Generator[Reactor]:
        made = Reactor(name="held", at_end=lambda: None)
        yield made
        made.stop()

    @pytest.mark.parametrize("speaks", [True, False])
    def test_the_first_word_or_the_end_of_a_candidate_admits_its_judge_once(
        self, reactor: Reactor, admitted: queue.SimpleQueue[Attempt], speaks: bool
    ) -> None:
        ours, theirs = socket.socketpair()
        held = HeldJudges(reactor, admitted.put)
        attempt = _attempt(theirs.fileno())
        reactor.call_soon(lambda: held.hold(attempt))
        if speaks:
            ours.send(b"{}\n")
        else:
            ours.close()
        assert admitted.get(timeout=_HANG_S) is attempt
        ours.close()
        assert not held.let_go(attempt)
        assert admitted.empty()
        theirs.close()

    def test_one_that_was_let_go_is_admitted_no_more(
        self, reactor: Reactor, admitted: queue.SimpleQueue[Attempt]
    ) -> None:
        ours, theirs = socket.socketpair()
        held = HeldJudges(reactor, admitted.put)
        attempt, done = _attempt(theirs.fileno()), threading.Event()

        def act() -> None:
            held.hold(attempt)
            assert held.let_go(attempt)
            ours.send(b"{}\n")
            reactor.call_soon(done.set)

        reactor.call_soon(act)
        assert done.wait(_HANG_S)
        assert admitted.empty()
        ours.close()
        theirs.close()

    def test_only_a_judge_with_a_peer_waits(self) -> None:
        assert _attempt(7).calls_candidate
        assert not _attempt(None).calls_candidate
        assert not _attempt(7, Role.CANDIDATE).calls_candidate


def test_a_judge_that_waits_for_its_candidate_can_be_cancelled() -> None:
    ours, theirs = socket.socketpair()
    found: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
    with closing(Pool(slots=1)) as pool:
        job = jobs.judge("script", {}, limits=_LIMITS, peer=theirs.detach())
        pool.submit(job, found.put).cancel()
        outcome = found.get(timeout=_HANG_S)
        assert (outcome.ending, outcome.error) == (Ending.STOPPED, "cancelled")
        assert ours.recv(10) == b""  # the judge's end is closed
    ours.close()


@pytest.mark.slow
def test_a_right_solution_behind_a_long_queue_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its judge may run for a shorter time than it waits for a slot."""

    def short(limits: Limits) -> Limits:
        return limits.with_(wall_s=6.0, memory_bytes=1 << 30)

    monkeypatch.setattr(sealed, "judge_limits", short)
    cases = (Case((7,), expected=49),)
    sleepers = FunctionVerifier("solve", cases, limits=Limits(wall_s=60))
    sleeper = _SQUARE.replace("    return", "    __import__('time').sleep(10)\n    return")
    texts = [f"{sleeper}\n{number}" for number in range(12)]
    tasks = [Task(Problem("sleeper", ""), sleepers) for _ in texts]
    script = Task(Problem("script", ""), ScriptVerifier(_SCRIPT, limits=Limits(wall_s=5)))
    pool = Pool(slots=1)
    batch = run_batch([*tasks, script], [*texts, _SQUARE], backend=pool)
    pool.close()
    assert [verdict.reason for verdict in batch.verdicts if verdict.score != 1.0] == []
