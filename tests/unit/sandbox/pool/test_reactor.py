from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from unhack.sandbox.pool.reactor import Reactor

_HANG_S = 60.0


class Recorded:
    """A reactor that notes what it does."""

    def __init__(self) -> None:
        self.ticks = 0
        self.ended = threading.Event()
        self.reactor = Reactor(
            name="test-reactor", timeout_s=lambda: 30.0, tick=self._tick, at_end=self.ended.set
        )

    def _tick(self) -> None:
        self.ticks += 1

    def do(self, function: Callable[[], Any]) -> Any:
        """The value of `function`, run on the reactor's thread."""
        done = threading.Event()
        box: list[Any] = []
        self.reactor.call_soon(lambda: (box.append(function()), done.set())[1])
        assert done.wait(_HANG_S)
        return box[0]


@pytest.fixture
def recorded() -> Generator[Recorded]:
    made = Recorded()
    yield made
    made.reactor.stop()


class TestCallSoon:
    def test_a_call_wakes_a_reactor_that_would_sleep_for_long(self, recorded: Recorded) -> None:
        assert recorded.do(lambda: "ran") == "ran"

    def test_every_call_runs_on_one_thread_that_is_not_the_callers(
        self, recorded: Recorded
    ) -> None:
        threads = {recorded.do(threading.get_ident) for _ in range(5)}
        assert len(threads) == 1
        assert threading.get_ident() not in threads

    def test_calls_of_one_thread_run_in_order(self, recorded: Recorded) -> None:
        seen: list[int] = []
        for number in range(1000):
            recorded.reactor.call_soon(lambda number=number: seen.append(number))
        recorded.do(lambda: None)
        assert seen == list(range(1000))

    def test_calls_from_many_threads_all_run_exactly_once(self, recorded: Recorded) -> None:
        seen: list[tuple[int, int]] = []

        def hand_in(name: int) -> None:
            for number in range(500):
                recorded.reactor.call_soon(lambda number=number: seen.append((name, number)))

        threads = [threading.Thread(target=hand_in, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        recorded.do(lambda: None)
        assert sorted(seen) == [(name, number) for name in range(4) for number in range(500)]

    def test_a_call_from_the_thread_itself_runs_later(self, recorded: Recorded) -> None:
        seen: list[str] = []
        done = threading.Event()

        def first() -> None:
            recorded.reactor.call_soon(lambda: (seen.append("second"), done.set())[1])
            seen.append("first")

        recorded.reactor.call_soon(first)
        assert done.wait(_HANG_S)
        assert seen == ["first", "second"]


class TestTimers:
    @pytest.mark.slow
    def test_later_calls_run_in_the_order_of_their_times_on_the_thread(
        self, recorded: Recorded
    ) -> None:
        found: list[str] = []
        done = threading.Event()

        def start() -> None:
            recorded.reactor.call_later(2.0, lambda: (found.append("late"), done.set())[0])
            recorded.reactor.call_later(0.02, lambda: found.append("early"))
            found.append(str(recorded.reactor.is_current()))

        recorded.do(start)
        assert done.wait(_HANG_S)
        assert found == ["True", "early", "late"]


class TestDescriptors:
    def test_a_handler_runs_when_its_descriptor_is_readable(self, recorded: Recorded) -> None:
        read_end, write_end = os.pipe()
        heard = threading.Event()
        seen: list[bytes] = []

        def handler(event: int) -> None:
            assert event & select.EPOLLIN
            seen.append(os.read(read_end, 10))
            heard.set()

        recorded.do(lambda: recorded.reactor.watch(read_end, handler))
        os.write(write_end, b"x")
        assert heard.wait(_HANG_S)
        recorded.do(lambda: recorded.reactor.unwatch(read_end))
        assert seen == [b"x"]
        os.close(read_end)
        os.close(write_end)

    def test_a_forgotten_descriptor_stays_silent(self, recorded: Recorded) -> None:
        read_end, write_end = os.pipe()
        seen: list[int] = []
        recorded.do(lambda: recorded.reactor.watch(read_end, seen.append))
        recorded.do(lambda: recorded.reactor.unwatch(read_end))
        recorded.do(lambda: recorded.reactor.unwatch(read_end))
        os.write(write_end, b"x")
        for _ in range(3):
            recorded.do(lambda: None)
        assert seen == []
        os.close(read_end)
        os.close(write_end)

    def test_a_handler_may_forget_another_that_is_ready_too(self, recorded: Recorded) -> None:
        pipes = [os.pipe() for _ in range(2)]
        seen: list[int] = []
        done = threading.Event()

        def handler(which: int) -> None:
            seen.append(which)
            for read_end, _ in pipes:
                recorded.reactor.unwatch(read_end)
            done.set()

        def watch_both() -> None:
            for which, (read_end, write_end) in enumerate(pipes):
                recorded.reactor.watch(read_end, lambda _, which=which: handler(which))
                os.write(write_end, b"x")

        recorded.do(watch_both)
        assert done.wait(_HANG_S)
        recorded.do(lambda: None)
        assert len(seen) == 1
        for pair in pipes:
            for fd in pair:
                os.close(fd)


class TestEnd:
    def test_what_was_queued_before_the_end_still_runs(self) -> None:
        recorded = Recorded()
        seen: list[int] = []
        recorded.do(lambda: None)
        recorded.reactor.call_soon(lambda: seen.append(1))
        recorded.reactor.stop()
        recorded.reactor.run_inbox()
        assert seen == [1]
        assert recorded.ended.is_set()

    def test_the_end_runs_once_and_the_thread_is_gone(self) -> None:
        recorded = Recorded()
        recorded.reactor.stop()
        assert recorded.ended.is_set()
        assert "test-reactor" not in {thread.name for thread in threading.enumerate()}

    @pytest.mark.slow
    def test_the_end_gives_its_descriptors_back(
        self, no_descriptor_left: Callable[[], AbstractContextManager[None]]
    ) -> None:
        with no_descriptor_left():
            made = [Recorded() for _ in range(10)]
            for recorded in made:
                recorded.reactor.stop()
            assert all(recorded.ended.is_set() for recorded in made)
            del made, recorded

    def test_it_ticks_after_each_wait(self, recorded: Recorded) -> None:
        before = recorded.do(lambda: recorded.ticks)
        for _ in range(3):
            recorded.do(lambda: None)
        assert recorded.ticks > before
