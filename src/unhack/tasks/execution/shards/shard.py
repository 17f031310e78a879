"""A shard: a host process with a pool of its own, which judges what its parent hands it.

One thread does everything: the pool's. It reads orders, runs verifiers and hands verdicts back,
many in a message: while others are under way, a verdict waits a few milliseconds for them.

Orders: ("task", number, bytes), ("forget", [number]), ("items", flight, [(index, number, text)]),
("again", flight, index, number, text, control), ("end", flight), ("ping",), ("close",).
Answers: ("ready",), ("verdicts", flight, [(index, row)]), ("unreadable", number),
("failed", flight, kind, words), ("pong",).
"""

from __future__ import annotations

import gc
import os
import socket
import sys
import threading
from collections.abc import Iterable
from typing import Any

from unhack.core.errors import PoolClosedError, SandboxUnavailableError
from unhack.core.verdict import Verdict
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.execution.driver import Run
from unhack.tasks.execution.shards.channel import ShardChannel, unpack_task
from unhack.tasks.execution.shards.rows import Row, to_row
from unhack.tasks.task import Task

FAILURES = {error.__name__: error for error in (SandboxUnavailableError, PoolClosedError)}
"""The errors that end a batch as a whole, by name."""
_HOLD_S = 0.003
"""Longest time that a verdict waits for others."""
_BULK = 16
"""Verdicts that wait no longer."""
_YOUNG = 10_000
"""Objects made since the last collection at which the next begins: verdicts hold no cycles."""


class _JudgedHere:
    """One flight, as far as it is judged by this shard; the outlet of its runs."""

    def __init__(self, shard: _ShardProcess, number: int) -> None:
        self.number = number
        self.run = Run(shard.pool, self)
        self.others: list[Run] = []
        """Runs of single items that are tried again with a control from elsewhere."""
        self.open = 0
        self.rows: list[tuple[int, Row]] = []
        self.ended = False
        self._shard = shard

    def put(self, pairs: Iterable[tuple[int, Verdict]]) -> None:
        """Keep verdicts until the next message."""
        if not self.ended:
            fresh = [(index, to_row(verdict)) for index, verdict in pairs]
            self.rows += fresh
            self.open -= len(fresh)
            self._shard.hold(len(fresh))

    def fail(self, error: BaseException) -> None:
        """Tell the parent, by the name of the error."""
        if not self.ended:
            kind = type(error).__name__
            kind = kind if kind in FAILURES else PoolClosedError.__name__
            self._shard.channel.send(("failed", self.number, kind, str(error)))

    def end(self) -> None:
        """Cancel what is under way."""
        self.ended = True
        for run in (self.run, *self.others):
            run.cancel()


class _ShardProcess:
    """Everything that a shard knows. All but the start happens on the pool's thread."""

    def __init__(self, link: socket.socket, *, slots: int, memory_share: float) -> None:
        self.pool = Pool(slots=slots, memory_share=memory_share)
        self.ended = threading.Event()
        self.channel: ShardChannel
        self._tasks: dict[int, Task] = {}
        self._flights: dict[int, _JudgedHere] = {}
        self._open = 0
        self._held = 0
        self._will_flush = False
        self.pool.call_soon(lambda: self._connect(link))

    def _connect(self, link: socket.socket) -> None:
        self.channel = ShardChannel(
            link, self.pool.reactor, on_message=self._obey, on_end=self.ended.set
        )
        self.channel.send(("ready",))

    def _obey(self, order: tuple[Any, ...]) -> None:
        kind, *rest = order
        obey = {
            "task": self._keep_task,
            "forget": self._forget,
            "items": self._judge,
            "again": self._judge_again,
            "end": self._end_flight,
            "ping": lambda: self.channel.send(("pong",)),
            "close": self.ended.set,
        }[kind]
        obey(*rest)

    def _keep_task(self, number: int, data: bytes) -> None:
        try:
            self._tasks[number] = unpack_task(data)
        except Exception:  # whatever its classes raise: the parent judges it
            self.channel.send(("unreadable", number))

    def _forget(self, numbers: list[int]) -> None:
        for number in numbers:
            self._tasks.pop(number, None)

    def _flight(self, number: int) -> _JudgedHere:
        if number not in self._flights:
            self._flights[number] = _JudgedHere(self, number)
        return self._flights[number]

    def _judge(self, number: int, items: list[tuple[int, int, str]]) -> None:
        known = [(index, self._tasks[n], text) for index, n, text in items if n in self._tasks]
        if known:
            flight = self._flight(number)
            flight.open += len(known)
            self._open += len(known)
            flight.run.add(known)

    def _judge_again(
        self, number: int, index: int, task_number: int, text: str, control: str
    ) -> None:
        task = self._tasks.get(task_number)
        if task is not None:
            flight = self._flight(number)
            run = Run(self.pool, flight)
            flight.others.append(run)
            flight.open += 1
            self._open += 1
            run.note_judged(task, control)
            run.add([(index, task, text)])

    def _end_flight(self, number: int) -> None:
        flight = self._flights.pop(number, None)
        if flight is not None:
            self._open -= flight.open
            self._held -= len(flight.rows)
            flight.end()

    def hold(self, count: int) -> None:
        """Take note of verdicts that are to be sent: with others, where others are under way."""
        self._open -= count
        self._held += count
        if not self._open or self._held >= _BULK:
            self._flush()
        elif not self._will_flush:
            self._will_flush = True
            self.pool.reactor.call_later(_HOLD_S, self._flush_late)

    def _flush_late(self) -> None:
        self._will_flush = False
        self._flush()

    def _flush(self) -> None:
        self._held = 0
        for flight in self._flights.values():
            if flight.rows:
                self.channel.send(("verdicts", flight.number, flight.rows))
                flight.rows = []


def main(config: dict[str, Any]) -> None:
    """Judge until the parent says or closes; see `sandbox.host_start`."""
    sys.setrecursionlimit(config["recursion"])
    sys.set_int_max_str_digits(config["digits"])
    threading.excepthook = _end_at_once
    gc.collect()
    gc.freeze()  # what is loaded stays: no later collection looks at it
    gc.set_threshold(_YOUNG)
    shard = _ShardProcess(
        socket.socket(fileno=config["link"]),
        slots=config["slots"],
        memory_share=config["memory_share"],
    )
    shard.ended.wait()
    shard.pool.close()


def _end_at_once(broken: threading.ExceptHookArgs) -> None:
    """A shard whose thread broke serves nobody: its parent starts another."""
    sys.__excepthook__(broken.exc_type, broken.exc_value or SystemExit(), broken.exc_traceback)
    os._exit(1)
