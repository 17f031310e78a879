"""The shards of one process and the queue before them; one thread owns both.

An item waits here, not in a shard, until a shard has room for it: so a straggler holds up nobody
and a quick shard takes more. A shard that dies is replaced, and what it had is tried again; what
was there at two deaths runs alone on its shard, so that blame is exact, and at the third is given
up.

Covered: shards that die, fall silent or cannot be started (then this process judges), tasks that
cannot cross, flights that end early.
Not covered: memory and workers of this process's own pool, which come on top of its shards'; a
completion that three shards die of and whose task has a reference, which is not asked: unscored.
"""

from __future__ import annotations

import time
import weakref
from collections import deque
from typing import Any

from unhack.core.errors import PoolClosedError, UnhackError
from unhack.core.verdict import Verdict, unscored_verdict
from unhack.sandbox.pool.reactor import Reactor
from unhack.tasks.execution.shards.batch import ShardsFlight
from unhack.tasks.execution.shards.items import MAX_DEATHS, ItemOwner, ShardItem
from unhack.tasks.execution.shards.rows import of_row
from unhack.tasks.execution.shards.shard import FAILURES
from unhack.tasks.execution.shards.shard_process import Member, start_member
from unhack.tasks.execution.shards.task_cache import Passports
from unhack.tasks.task import Task

_MAX_STARTS = 3
_WATCH_S = 1.0
"""Time between two looks for shards that are silent."""


class Crew:
    """Several shards behind one queue. `few` is the number of items of a process that are too few
    to start shards for; it judges them itself."""

    def __init__(self, *, sizes: list[int], few: int) -> None:
        """`sizes` are the workers of each shard."""
        self.members: list[Member] = []
        self._sizes = sizes
        self._few = few
        self._taken_in = 0
        self._failed_starts = 0
        self._next_flight = 0
        self._flights: weakref.WeakValueDictionary[int, ShardsFlight] = (
            weakref.WeakValueDictionary()
        )
        self._passports = Passports()
        self._waiting: deque[ShardItem] = deque()
        self._suspects: deque[ShardItem] = deque()
        """Items that run alone on their shard."""
        self._closed = False
        self._looked_at = time.monotonic()
        self.reactor = Reactor(
            name="unhack-shards",
            timeout_s=lambda: _WATCH_S,
            tick=self._look,
            at_end=self._shut_down,
        )

    def begin(self) -> ShardsFlight:
        """A new batch; called with the executor's lock. Raises PoolClosedError."""
        self.check_open()
        self._next_flight += 1
        flight = self._flights[self._next_flight] = ShardsFlight(self, self._next_flight)
        return flight

    def check_open(self) -> None:
        """Raise PoolClosedError when the shards are closed."""
        if self._closed:
            raise PoolClosedError("the shards are closed")

    def end_soon(self, number: int) -> None:
        """End a flight, from any thread."""
        if not self._closed:
            self.reactor.call_soon(lambda: self._end_number(number))

    def close(self) -> None:
        """End every shard; what is under way fails with PoolClosedError. Waits for it."""
        if not self._closed:
            self._closed = True
            self.reactor.stop()

    # The crew's thread, from here on.

    def take_in(self, flight: ShardsFlight, items: list[tuple[int, Task, str]]) -> None:
        """Take items of a flight."""
        if flight.ended:
            return
        self._taken_in += len(items)
        flight.count(len(items))
        for index, task, completion in items:
            passport = self._passports.of(task)
            passport.open += 1
            self.route(ShardItem(flight, index, passport, completion))
        dropped = self._passports.forget()
        for member in self.members if dropped else ():
            member.forget(dropped)
        self._pump()

    def route(self, item: ShardItem) -> None:
        """Let an item wait for a shard, or have it judged here."""
        if item.flight.ended:
            item.passport.open -= 1
            return
        too_few = self._taken_in <= self._few and not self.members
        if item.passport.crosses and not too_few and not self._is_broken():
            (self._suspects if item.deaths > 1 else self._waiting).append(item)
            return
        try:
            item.flight.judge_here(item)
        except UnhackError as error:
            item.flight.fail(error)

    def _is_broken(self) -> bool:
        """True when no shard can be started here."""
        return self._failed_starts >= _MAX_STARTS and not any(m.ready for m in self.members)

    def _pump(self) -> None:
        """Give shards what they have room for."""
        if not self._waiting and not self._suspects:
            return
        self._start_members()
        if self._is_broken():
            self._judge_all_here()
            return
        reserved = self._place_suspects()
        rooms = [(member.room, member) for member in self.members if member is not reserved]
        rooms = [(room, member) for room, member in rooms if room > 0]
        rooms.sort(key=lambda pair: -pair[0])
        total = sum(room for room, _ in rooms)
        count = len(self._waiting)
        for room, member in rooms:
            share = min(room, -(-count * room // total))
            items = self._next_items(share)
            if items:
                member.give(items)

    def _next_items(self, count: int) -> list[ShardItem]:
        items: list[ShardItem] = []
        while self._waiting and len(items) < count:
            item = self._waiting.popleft()
            if not item.flight.ended:
                items.append(item)
        return items

    def _place_suspects(self) -> Member | None:
        """Give each idle shard one of the items that run alone; the shard that is kept free for the
        next of them."""
        for member in self.members:
            if self._suspects and member.ready and not member.open:
                member.give([self._suspects.popleft()])
        ready = [member for member in self.members if member.ready]
        return min(ready, key=lambda m: len(m.open)) if self._suspects and ready else None

    def _judge_all_here(self) -> None:
        left = [*self._waiting, *self._suspects]
        self._waiting.clear()
        self._suspects.clear()
        for item in left:
            self.route(item)

    def _start_members(self) -> None:
        while len(self.members) < len(self._sizes) and self._failed_starts < _MAX_STARTS:
            sizes = list(self._sizes)
            for member in self.members:
                sizes.remove(member.slots)
            try:
                member = start_member(
                    self.reactor,
                    slots=sizes[0],
                    memory_share=1 / len(self._sizes),
                    on_message=self._hear,
                    on_end=self._lose,
                )
            except OSError:
                self._failed_starts += 1
                continue
            self.members.append(member)

    def _hear(self, member: Member, message: tuple[Any, ...]) -> None:
        kind, *rest = message
        member.heard(len(rest[1]) if kind == "verdicts" else 0)
        if kind == "verdicts":
            self._conclude(member, *rest)
        elif kind == "ready":
            member.ready = True
            self._failed_starts = 0
        elif kind == "unreadable":
            self._bring_home(member, rest[0])
        elif kind == "failed":
            number, name, words = rest
            flight = self._flights.get(number)
            if flight is not None:
                flight.fail(FAILURES[name](words))
        self._pump()

    def _conclude(self, member: Member, number: int, rows: list[tuple[int, Any]]) -> None:
        flight = self._flights.get(number)
        if flight is None or flight.ended:
            return
        judged: list[tuple[ShardItem, Verdict]] = []
        for index, row in rows:
            item = member.open.pop((number, index), None)
            if item is not None:
                judged.append((item, of_row(row)))
        flight.conclude(judged)

    def _bring_home(self, member: Member, number: int) -> None:
        """A shard cannot read a task: it is judged here from now on."""
        left: list[ShardItem] = []
        for key, item in list(member.open.items()):
            if item.passport.number == number:
                item.passport.unreadable = True
                left.append(member.open.pop(key))
        for queue in (self._waiting, self._suspects):
            for item in [item for item in queue if not item.passport.crosses]:
                queue.remove(item)
                left.append(item)
        for item in left:
            self.route(item)

    def _lose(self, member: Member) -> None:
        """A shard died: what it had is tried again."""
        self.members.remove(member)
        member.kill()
        if not member.ready:
            self._failed_starts += 1
        for item in reversed(member.open.values()):
            item.deaths += 1
            if item.deaths >= MAX_DEATHS:
                words = f"the shard that judged it died, {MAX_DEATHS} times"
                item.flight.conclude([(item, unscored_verdict(words))])
            elif item.deaths > 1:
                self._suspects.append(item)
            else:
                self._waiting.appendleft(item)
        self._pump()

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looked_at < _WATCH_S:
            return
        self._looked_at = now
        for member in list(self.members):
            if member.is_silent(now):
                self._lose(member)

    def _end_number(self, number: int) -> None:
        flight = self._flights.get(number)
        if flight is not None:
            self.end_flight(flight)
        else:
            self._tell_end(number)

    def end_flight(self, flight: ItemOwner) -> None:
        """Nothing more of a flight is wanted."""
        if flight.ended:
            return
        flight.end()
        for queue in (self._waiting, self._suspects):
            for item in [item for item in queue if item.flight is flight]:
                item.passport.open -= 1
                queue.remove(item)
        self._tell_end(flight.number)
        self._pump()

    def _tell_end(self, number: int) -> None:
        for member in self.members:
            for key in [key for key in member.open if key[0] == number]:
                member.open.pop(key).passport.open -= 1
            member.channel.send(("end", number))

    def _shut_down(self) -> None:
        self._closed = True
        for member in self.members:
            member.channel.send(("close",))  # to all, so that they end together
        for member in self.members:
            member.close()
        self.members = []
        self.reactor.run_inbox()
        for flight in list(self._flights.values()):
            flight.fail(PoolClosedError("a job was ended before its time: the shards were closed"))
