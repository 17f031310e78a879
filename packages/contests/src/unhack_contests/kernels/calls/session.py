"""A submission beside the plain reference, call by call, by the judge's clock.

Both live in sealed processes of their own and get the same inputs in pairs, in random order, each
into its own shared memory. So does a twin: the reference once more, timed as if it were a
submission, which shows how far two programs seem to differ here that do not differ. A call is
filled, its caches are emptied, and then one packet goes out and one comes back. Whatever a process
does between two calls costs it the same as on the clock.

Covered: call times, CPU time between calls, outputs at the moment of done and later, inputs and
fences after the call, the cost of loading.
Not covered: what follows from it (see `verdict`).
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack.tournament.kit import KernelError, KernelProcess
from unhack_contests.kernels.calls import inputs, verdict
from unhack_contests.kernels.calls.buffers import Filled
from unhack_contests.kernels.calls.verdict import OutputKind, OutputQuestion, OutputVerdict
from unhack_contests.kernels.problem import Arrays

_SLOWER = 30
"""A call that takes so many times the reference's time is late."""
_MIN_S = 20.0
"""A call is never late before: a host may stumble, and code may be compiled at the first call."""
_SETTLE_S = 4e-3
"""Time for work that goes on after done to show."""
_STUMBLES = 3
"""Gaps between calls, at least, in which a host may stumble and nobody is accused."""
_KEPT = 4
"""Earlier calls of a group that a replay is looked for in."""


@dataclass(slots=True)
class KernelSide:
    """One process with its shared memory."""

    process: KernelProcess
    names: list[str]
    python: bool = False
    memory: NDArray[np.uint8] = field(init=False)
    load_cpu_s: float = 0.0
    cpu_at_done: float = 0.0
    pending: tuple[Filled, Arrays] | None = None
    """The last call, until it is looked at again."""
    idle_s: list[float] = field(default_factory=list[float])
    """CPU seconds between a done and the next go."""
    max_threads: int = 1

    def __post_init__(self) -> None:
        self.memory = np.frombuffer(self.process.memory, np.uint8)

    def load(self, timeout_s: float) -> None:
        """Load it and note what that cost. Raises KernelError."""
        before = self.process.cpu_s()
        self.process.load(timeout_s=timeout_s)
        self.cpu_at_done = self.process.cpu_s()
        self.load_cpu_s = self.cpu_at_done - before

    def call(self, filled: Filled, *, timeout_s: float) -> tuple[float, float, Arrays]:
        """(wall seconds, CPU seconds, outputs at the moment of done). Raises KernelError."""
        index = self.names.index(filled.layout.problem.name)
        values = filled.layout.values(python=self.python)
        before = self.process.cpu_s()
        self.idle_s.append(before - self.cpu_at_done)
        wall = self.process.call(index, values, timeout_s=timeout_s)
        self.cpu_at_done = self.process.cpu_s()
        outputs = filled.outputs()
        self.pending = filled, outputs
        self.max_threads = max(self.max_threads, self.process.threads())
        return wall, self.cpu_at_done - before, outputs

    def look_again(self) -> tuple[list[str], list[str], bool]:
        """Of the last call: outputs that changed since, inputs that changed, a broken fence."""
        if self.pending is None:
            return [], [], False
        filled, outputs = self.pending
        self.pending = None
        return filled.changed_since(outputs), filled.tampered(), filled.breached()

    def last_idle(self) -> None:
        """After the last call: what it did since."""
        with contextlib.suppress(KernelError):
            self.idle_s.append(self.process.cpu_s() - self.cpu_at_done)


@dataclass(slots=True)
class KernelCall:
    """One pair."""

    group: str
    hidden: bool
    reference_s: float
    submission_s: float
    cpu_s: float
    """CPU time of the submission on the clock."""
    floor_s: float
    finding: OutputVerdict
    late: bool = False
    """True when its outputs changed after it had said that it was done."""
    tampered: list[str] = field(default_factory=list[str])
    breached: bool = False
    twin_s: float | None = None
    """The time of the twin; None where there is none."""
    sets: int = 1
    """Of inputs that were asked for at once; the other times but `cpu_s` are those of one."""


@dataclass(slots=True)
class CallRecord:
    """Everything that was seen of a submission."""

    calls: list[KernelCall] = field(default_factory=list[KernelCall])
    idle_s: float = 0.0
    """CPU time of all gaps between calls; it is charged."""
    stumbles_s: list[float] = field(default_factory=list[float])
    """The few longest gaps among them: a host that is busy makes some, so they accuse nobody."""
    reference_idle_s: list[float] = field(default_factory=list[float])
    twin_idle_s: list[float] = field(default_factory=list[float])
    """Of the reference's twin; empty where none was watched."""
    early_s: float = 0.0
    """By how much longer the judge's own work before the calls took; on a GPU alone."""
    reference_early_s: list[float] = field(default_factory=list[float])
    load_cpu_s: float = 0.0
    reference_load_cpu_s: float = 0.0
    again_cpu_s: float | None = None
    """For loading it once more, in a process of its own; None where that was not done."""
    threads: int = 1
    children: int = 0
    ended: KernelError | None = None
    """How it ended before its time."""


@functools.cache
def _thrash(size: int) -> NDArray[np.uint8]:
    return np.ones(size, np.uint8)


def cache_bytes() -> int:
    """Of the last level, as the kernel says; 32 MiB where it does not."""
    for path in sorted(
        Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"), reverse=True
    ):
        with contextlib.suppress(OSError, ValueError):
            text = path.read_text().strip()
            return int(text[:-1]) << {"K": 10, "M": 20}[text[-1]]
    return 32 << 20


@dataclass(frozen=True, slots=True)
class SessionRules:
    """The further rules of a session."""

    thrash_bytes: int
    floor_s: Callable[[inputs.CallGroup], float]


def play(
    turns: list[inputs.CallTurn],
    sides: tuple[KernelSide, ...],
    rng: Generator,
    rules: SessionRules,
) -> CallRecord:
    """Run all turns on (reference, submission) or (reference, submission, twin).

    Raises KernelError of the reference and its twin alone.
    """
    reference, submission = sides[:2]
    record = CallRecord(load_cpu_s=submission.load_cpu_s, reference_load_cpu_s=reference.load_cpu_s)
    earlier: dict[str, list[tuple[Mapping[str, NDArray[Any]], Arrays]]] = {}
    for turn in turns:
        known = earlier.setdefault(turn.group.name, [])
        given = _draw(turn, known, rng)
        truth = turn.group.problem.oracle(given, turn.group.sizes)
        time.sleep(_SETTLE_S)
        _take_back(submission, record)
        order = [sides[int(place)] for place in rng.permutation(len(sides)).tolist()]
        call = _pair(turn, sides, (given, truth), order=order, rules=rules, known=known)
        if isinstance(call, KernelError):
            record.ended = call
            break
        record.calls.append(call)
        known.append((given, truth))
        del known[:-_KEPT]
    time.sleep(_SETTLE_S)
    _take_back(submission, record)
    for side in sides:
        side.last_idle()
    record.children = submission.process.children()
    record.idle_s = sum(submission.idle_s)
    record.stumbles_s = longest(submission.idle_s)
    record.reference_idle_s = list(reference.idle_s)
    record.twin_idle_s = list(sides[2].idle_s) if len(sides) > 2 else []
    record.threads = submission.max_threads
    if record.ended is None and submission.process.speaks():
        text = "it sent a message although nothing was asked"
        record.ended = KernelError(text, forged=True)
    return record


def longest(gaps_s: list[float]) -> list[float]:
    """The gaps in which a host may have stumbled: a quarter, and no less than a few."""
    return sorted(gaps_s)[-max(_STUMBLES, len(gaps_s) // 4) :]


def _draw(
    turn: inputs.CallTurn, known: list[tuple[Mapping[str, NDArray[Any]], Arrays]], rng: Generator
) -> Arrays:
    if turn.alike and known:
        return inputs.twin(turn.group, known[-1][0], rng, alike=turn.alike)
    return inputs.fresh(turn.group, rng)


def _take_back(side: KernelSide, record: CallRecord) -> None:
    """Look at the last call's shared memory again, before it is filled anew."""
    changed, tampered, breached = side.look_again()
    if record.calls:
        last = record.calls[-1]
        last.late, last.tampered, last.breached = bool(changed), tampered, breached


def _pair(
    turn: inputs.CallTurn,
    sides: tuple[KernelSide, ...],
    known_answer: tuple[Arrays, Arrays],
    *,
    order: list[KernelSide],
    rules: SessionRules,
    known: list[tuple[Mapping[str, NDArray[Any]], Arrays]],
) -> KernelCall | KernelError:
    """The call of all sides, or how the submission's process ended in it."""
    given, truth = known_answer
    reference, submission = sides[:2]
    filled = {id(side): Filled(turn.layout, turn.number, side.memory, given) for side in sides}
    made: dict[int, tuple[float, float, Arrays]] = {}
    for side in order:
        filled[id(side)].fill()
        _thrash(rules.thrash_bytes)[:] += 1
        before = made.get(id(reference))
        timeout = max(_MIN_S, _SLOWER * before[0]) if before else 60.0
        try:
            made[id(side)] = side.call(filled[id(side)], timeout_s=timeout)
        except KernelError as error:
            if side is submission:
                return error
            raise
    plain, own = made[id(reference)], made[id(submission)]
    question = OutputQuestion(turn.group.problem, turn.group.sizes, given, truth, plain[2])
    finding = verdict.examine(own[2], filled[id(submission)], question, [t for _, t in known])
    return KernelCall(
        group=turn.group.name,
        hidden=turn.group.hidden,
        reference_s=plain[0],
        submission_s=own[0],
        cpu_s=own[1],
        floor_s=rules.floor_s(turn.group),
        finding=finding,
        twin_s=made[id(sides[2])][0] if len(sides) > 2 else None,
    )


def right(calls: list[KernelCall]) -> list[KernelCall]:
    """Those with a right output."""
    return [call for call in calls if call.finding.kind is OutputKind.RIGHT]
