from __future__ import annotations

import contextlib
import math
import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.sandbox.guest.candidate import runner
from unhack.sandbox.guest.server import deadlines
from unhack.sandbox.job import Ending, Isolation, Job, Outcome
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.attempt import Attempt
from unhack.sandbox.pool.reactor import Stream, memory_file


def _stream(limit: int) -> tuple[Stream, int]:
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    return Stream(read_end, limit), write_end


def _ignore(outcome: Outcome) -> None:
    pass


def _attempt(**fields: Any) -> Attempt:
    job = Job(b"{}", Limits(cpu_s=2.0), capture=True)
    made = Attempt(1, job, _ignore)
    made.streams = [Stream(-1, 100) for _ in range(3)]
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _signalled(number: int) -> int:
    return int(number)


def _exited(code: int) -> int:
    return code << 8


class TestStream:
    @pytest.mark.slow
    @given(st.lists(st.binary(max_size=50), max_size=10), st.integers(1, 200))
    def test_no_more_than_the_limit_is_kept_and_what_is_kept_is_the_beginning(
        self, parts: list[bytes], limit: int
    ) -> None:
        stream, write_end = _stream(limit)
        for part in parts:
            os.write(write_end, part)
            stream.drain()
        os.close(write_end)
        while stream.drain():
            pass
        everything = b"".join(parts)
        assert bytes(stream.data) == everything[:limit]
        assert stream.overflowed is (len(everything) > limit)
        stream.close()

    def test_a_stream_that_is_open_and_one_that_ended_differ(self) -> None:
        stream, write_end = _stream(10)
        os.write(write_end, b"x")
        assert stream.drain() is True
        assert not stream.ended
        os.close(write_end)
        assert stream.drain() is False
        assert stream.ended
        assert bytes(stream.data) == b"x"
        stream.close()

    def test_exactly_the_limit_is_no_overflow(self) -> None:
        stream, write_end = _stream(5)
        os.write(write_end, b"12345")
        stream.drain()
        assert not stream.overflowed
        os.write(write_end, b"6")
        stream.drain()
        assert stream.overflowed
        assert bytes(stream.data) == b"12345"
        os.close(write_end)
        stream.close()

    def test_closing_twice_closes_nothing_else(self) -> None:
        stream, write_end = _stream(5)
        stream.close()
        reused = os.dup(write_end)
        stream.close()
        assert os.path.sameopenfile(reused, write_end)  # still open, and still the same pipe
        for fd in (reused, write_end):
            os.close(fd)

    @pytest.mark.slow
    @given(st.lists(st.text("ab\n", max_size=8).map(str.encode), max_size=12))
    def test_new_lines_gives_every_complete_line_once_and_in_order(
        self, parts: list[bytes]
    ) -> None:
        stream, write_end = _stream(1 << 16)
        given: list[bytes] = []
        for part in parts:
            os.write(write_end, part)
            stream.drain()
            given.append(stream.new_lines())
        everything = b"".join(parts)
        assert b"".join(given) == everything[: everything.rfind(b"\n") + 1]
        assert all(not lines or lines.endswith(b"\n") for lines in given)
        os.close(write_end)
        stream.close()


class TestEndings:
    @pytest.mark.parametrize(
        ("status", "why", "stopping", "cpu", "ending", "limit"),
        [
            (_exited(0), deadlines.BY_ITSELF, "", 0.1, Ending.EXITED, ""),
            (_exited(3), deadlines.BY_ITSELF, "", 0.1, Ending.EXITED, ""),
            (_signalled(signal.SIGSEGV), deadlines.BY_ITSELF, "", 0.1, Ending.SIGNALED, ""),
            (_signalled(signal.SIGXCPU), deadlines.BY_ITSELF, "", 2.0, Ending.SIGNALED, ""),
            (_signalled(signal.SIGKILL), deadlines.BY_ITSELF, "", 1.99, Ending.LIMIT, "cpu"),
            (_signalled(signal.SIGXFSZ), deadlines.BY_ITSELF, "", 0.1, Ending.LIMIT, "file"),
            (_signalled(signal.SIGKILL), deadlines.BY_ITSELF, "", 2.9, Ending.LIMIT, "cpu"),
            (_signalled(signal.SIGKILL), deadlines.BY_ITSELF, "", 0.1, Ending.LIMIT, "memory"),
            (_signalled(signal.SIGKILL), deadlines.BY_WALL, "", 0.1, Ending.LIMIT, "wall"),
            (_signalled(signal.SIGKILL), deadlines.BY_CPU, "", 2.0, Ending.LIMIT, "cpu"),
            (_exited(0), deadlines.BY_CPU, "", 2.1, Ending.LIMIT, "cpu"),
            (_signalled(signal.SIGKILL), deadlines.BY_HARD_WALL, "", 0, Ending.LIMIT, "wall_hard"),
            (_signalled(signal.SIGKILL), deadlines.BY_HOST, "cancel", 0.1, Ending.STOPPED, ""),
            (_signalled(signal.SIGKILL), deadlines.BY_HOST, "stop", 0.1, Ending.STOPPED, ""),
            (
                _signalled(signal.SIGKILL),
                deadlines.BY_HOST,
                "output",
                0.1,
                Ending.LIMIT,
                "output",
            ),
            (_exited(0), deadlines.BY_ITSELF, "output", 0.1, Ending.LIMIT, "output"),
            (_exited(0), deadlines.BY_ITSELF, "cancel", 0.1, Ending.STOPPED, ""),
        ],
    )
    def test_an_end_is_what_the_kernel_and_the_host_saw(
        self, status: int, why: int, stopping: str, cpu: float, ending: Ending, limit: str
    ) -> None:
        outcome = _attempt(stopping=stopping).outcome(status, why, (0.5, cpu, 1024))
        assert (outcome.ending, outcome.limit) == (ending, limit)
        assert (outcome.wall_s, outcome.cpu_s, outcome.max_rss_bytes) == (0.5, cpu, 1024)

    def test_the_exit_code_and_the_signal_are_told_apart(self) -> None:
        exited = _attempt().outcome(_exited(9), 0, (0.0, 0.0, 0))
        killed = _attempt().outcome(_signalled(9), 0, (0.0, 0.0, 0))
        assert (exited.exit_code, exited.signal) == (9, None)
        assert (killed.exit_code, killed.signal) == (None, 9)

    def test_output_beyond_the_limit_ends_a_job_that_exited_too(self) -> None:
        attempt = _attempt()
        attempt.streams[1].overflowed = True
        outcome = attempt.outcome(_exited(0), 0, (0.0, 0.0, 0))
        assert (outcome.ending, outcome.limit, outcome.truncated) == (Ending.LIMIT, "output", True)

    def test_captured_streams_come_apart(self) -> None:
        attempt = _attempt()
        for stream, text in zip(attempt.streams, (b"result", b"out", b"err"), strict=True):
            stream.data += text
        outcome = attempt.outcome(_exited(0), 0, (0.0, 0.0, 0))
        assert (outcome.result, outcome.stdout, outcome.stderr) == (b"result", b"out", b"err")

    def test_only_the_exit_code_without_other_answers_says_that_the_layers_failed(self) -> None:
        line = b'[null,"broken",["OSError"],"no"]\n'
        for code, data, ending in (
            (runner.BROKEN_EXIT, line, Ending.BROKEN),
            (runner.BROKEN_EXIT, b"", Ending.BROKEN),
            (runner.BROKEN_EXIT, b'[0,"ok",1]\n', Ending.EXITED),
            (0, line, Ending.EXITED),
        ):
            attempt = _attempt()
            attempt.streams[0].data += data
            assert attempt.outcome(_exited(code), 0, (0.0, 0.0, 0)).ending is ending


class TestBoarding:
    class _Gone:
        """A worker whose process has ended."""

        isolation = Isolation.NONE

        def hand_over(self, *_: object, **__: object) -> None:
            raise BrokenPipeError(32, "Broken pipe")

    class _Kept:
        """A worker that keeps the descriptors it is given."""

        isolation = Isolation.NONE

        def __init__(self) -> None:
            self.fds: list[int] = []

        def hand_over(self, job_id: int, job: Job, *, flags: int, fds: list[int]) -> None:
            self.fds = [os.dup(fd) for fd in fds]

    @pytest.mark.slow
    def test_a_worker_that_is_gone_leaves_no_descriptor_open(
        self, no_descriptor_left: Callable[[], AbstractContextManager[None]]
    ) -> None:
        with no_descriptor_left():
            ours, theirs = socket.socketpair()
            job = Job(b"{}", Limits(), stdin=b"text", capture=True, peer=theirs.detach())
            attempt = Attempt(1, job, _ignore, job.peer)
            with pytest.raises(BrokenPipeError):
                attempt.dispatch(self._Gone().hand_over, isolation=Isolation.NONE)
            attempt.release()
            attempt.close_peer()
            ours.close()

    def test_the_peer_is_given_away_exactly_once(self) -> None:
        ours, theirs = socket.socketpair()
        job = Job(b"{}", Limits(), peer=theirs.detach())
        attempt = Attempt(1, job, _ignore, job.peer)
        worker = self._Kept()
        attempt.dispatch(worker.hand_over, isolation=Isolation.NONE)
        assert attempt.peer is None
        for fd in worker.fds:
            os.close(fd)
        attempt.release()
        assert ours.recv(1) == b""
        ours.close()

    @pytest.mark.parametrize("size", [10, 5_000_000])
    def test_the_whole_message_arrives_behind_its_length(self, size: int) -> None:
        message = bytes(range(256)) * (size // 256 + 1)
        attempt = Attempt(1, Job(message, Limits()), _ignore)
        worker = self._Kept()
        attempt.dispatch(worker.hand_over, isolation=Isolation.NONE)
        [there] = worker.fds
        received = bytearray()

        def read() -> None:
            while len(received) < runner.HEADER.size + len(message):
                received.extend(os.read(there, 1 << 20))

        reader = threading.Thread(target=read)
        reader.start()
        while reader.is_alive():
            attempt.send_more()
            reader.join(0.001)
        assert runner.HEADER.unpack(received[: runner.HEADER.size]) == (len(message),)
        assert received[runner.HEADER.size :] == message
        assert attempt.send_more() is True
        os.close(there)
        attempt.release()

    def test_a_reader_that_is_gone_ends_the_sending(self) -> None:
        attempt = Attempt(1, Job(b"x" * 5_000_000, Limits()), _ignore)
        worker = self._Kept()
        attempt.dispatch(worker.hand_over, isolation=Isolation.NONE)
        os.close(worker.fds[0])
        assert attempt.send_more() is True
        assert attempt.unsent is None
        attempt.release()


class TestMemoryFile:
    def test_it_reads_what_was_put_in_and_cannot_be_changed(self) -> None:
        fd = memory_file(b"input")
        assert os.read(fd, 100) == b"input"
        changes: list[Callable[[], object]] = [
            lambda: os.pwrite(fd, b"x", 0),
            lambda: os.ftruncate(fd, 0),
            lambda: os.ftruncate(fd, 100),
        ]
        for change in changes:
            with pytest.raises(PermissionError):
                change()
        os.lseek(fd, 0, os.SEEK_SET)
        assert os.read(fd, 100) == b"input"
        os.close(fd)

    def test_an_empty_one_is_at_its_end(self) -> None:
        fd = memory_file(b"")
        assert os.read(fd, 1) == b""
        with contextlib.suppress(OSError):
            os.close(fd)


class TestTimeLeft:
    def handed_over(self, attempt: Attempt) -> Limits:
        given: list[Job] = []

        def take(job_id: int, job: Job, *, flags: int, fds: list[int]) -> None:
            given.append(job)

        attempt.release()
        attempt.dispatch(take, isolation=Isolation.NAMESPACES)
        return given[0].limits

    def test_all_tries_share_one_hard_wall(self) -> None:
        attempt = Attempt(1, Job(b"{}", Limits(wall_hard_s=5.0)), _ignore)
        assert self.handed_over(attempt).wall_hard_s == 5.0
        attempt.outcome(_exited(0), 0, (3.0, 0.1, 0))
        assert self.handed_over(attempt).wall_hard_s == 2.0
        attempt.outcome(_exited(0), 0, (3.0, 0.1, 0))
        assert 0 < self.handed_over(attempt).wall_hard_s < 0.1

    def test_a_job_that_runs_alone_keeps_its_priority(self) -> None:
        attempt = Attempt(1, Job(b"{}", Limits()), _ignore)
        assert self.handed_over(attempt) == Limits()
        attempt.alone = True
        assert self.handed_over(attempt).soft_slice_s == math.inf
