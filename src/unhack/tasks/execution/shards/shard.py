"""A shard: a host process with a pool of its own, which judges what its parent hands it.

One thread does everything: the pool's. It reads messages, runs verifiers and hands verdicts back,
many in a message: while others are under way, a verdict waits a few milliseconds for them.

Messages to it: ("task", number, bytes), ("forget", [number]),
("items", batch, [(index, number, text)]), ("again", batch, index, number, text, control),
("end", batch), ("ping",), ("close",).
Messages from it: ("ready",), ("verdicts", batch, [(index, row)]), ("unreadable", number),
("failed", batch, kind, words), ("pong",).
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
from unhack.tasks.execution.shards.channel import Row, ShardChannel, to_row, unpack_task
from unhack.tasks.task import Task

FAILURES = {error.__name__: error for error in (SandboxUnavailableError, PoolClosedError)}
"""The errors that end a batch as a whole, by name."""
_HOLD_S = 0.003
"""Longest time that a verdict waits for others."""
_BULK = 16
"""Verdicts that wait no longer."""
_YOUNG = 10_000
"""Objects made since the last collection at which the next begins: verdicts hold no cycles."""


class _ShardBatch:
    """One batch, as far as it is judged by this shard; the sink of its runs."""

    def __init__(self, shard: _Shard, number: int) -> None:
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


class _Shard:
    """Everything that a shard knows. All but the start happens on the pool's thread."""

    def __init__(self, link: socket.socket, *, slots: int, memory_share: float) -> None:
        self.pool = Pool(slots=slots, memory_share=memory_share)
        self.ended = threading.Event()
        self.channel: ShardChannel
        self._tasks: dict[int, Task] = {}
        self._batches: dict[int, _ShardBatch] = {}
        self._open = 0
        self._held = 0
        self._will_flush = False
        self.pool.call_soon(lambda: self._connect(link))

    def _connect(self, link: socket.socket) -> None:
        self.channel = ShardChannel(
            link, self.pool.reactor, on_message=self._obey, on_end=self.ended.set
        )
        self.channel.send(("ready",))

    def _obey(self, message: tuple[Any, ...]) -> None:
        kind, *rest = message
        obey = {
            "task": self._keep_task,
            "forget": self._forget,
            "items": self._judge,
            "again": self._judge_again,
            "end": self._end_batch,
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

    def _batch(self, number: int) -> _ShardBatch:
        if number not in self._batches:
            self._batches[number] = _ShardBatch(self, number)
        return self._batches[number]

    def _judge(self, number: int, items: list[tuple[int, int, str]]) -> None:
        known = [(index, self._tasks[n], text) for index, n, text in items if n in self._tasks]
        if known:
            batch = self._batch(number)
            batch.open += len(known)
            self._open += len(known)
            batch.run.add(known)

    def _judge_again(
        self, number: int, index: int, task_number: int, text: str, control: str
    ) -> None:
        task = self._tasks.get(task_number)
        if task is not None:
            batch = self._batch(number)
            run = Run(self.pool, batch)
            batch.others.append(run)
            batch.open += 1
            self._open += 1
            run.note_judged(task, control)
            run.add([(index, task, text)])

    def _end_batch(self, number: int) -> None:
        batch = self._batches.pop(number, None)
        if batch is not None:
            self._open -= batch.open
            self._held -= len(batch.rows)
            batch.end()

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
        for batch in self._batches.values():
            if batch.rows:
                self.channel.send(("verdicts", batch.number, batch.rows))
                batch.rows = []


def main(config: dict[str, Any]) -> None:
    """Judge until the parent says or closes; see `sandbox.host_start`."""
    sys.setrecursionlimit(config["recursion"])
    sys.set_int_max_str_digits(config["digits"])
    threading.excepthook = _end_at_once
    gc.collect()
    gc.freeze()  # what is loaded stays: no later collection looks at it
    gc.set_threshold(_YOUNG)
    shard = _Shard(
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
