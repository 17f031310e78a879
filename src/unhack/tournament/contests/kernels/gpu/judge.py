"""Triton, CUDA C++ and PyTorch beside eager PyTorch, on the judge's memory and clock.

Three sealed workers play each problem: the reference, the submission, and the reference's twin. The
judge allocates what they share in its own context and keeps its own copies. Before a call it draws
fresh inputs, fills the output with a pattern and writes more than the card's cache holds. Its clock
runs from one packet to the other; then it copies the output in its own context.

Work off the clock shows, wherever it hides. After the token: the copy holds the pattern, or has to
wait for the card, and the wait is charged. Then the worker falls asleep, and the processor time
that it takes all the same is charged; from there to its next packet it stands still, so that none
of its threads sees inputs before the clock runs, or disturbs the others. A kernel on the card goes
on: what the judge does without a pause before the packet takes longer beside a busy card, and the
median of that is charged too.

Covered: streams, threads, lazy and cached outputs, other shapes, addresses that come back with
fresh data, a watcher of the inputs, work between calls, the floor of the card, what its clocks did.
Not covered: what the workers may reach (see `sandbox.gpu`), and what a shared driver lets through.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from unhack.core.errors import SandboxError, SandboxUnavailableError
from unhack.sandbox.gpu.cards import Card, nvml
from unhack.sandbox.submission.kernel import KernelError
from unhack.tournament.contests.kernels.calls.session import CallRecord, KernelCall
from unhack.tournament.contests.kernels.calls.verdict import OutputKind, OutputVerdict
from unhack.tournament.contests.kernels.gpu import arena as arenas
from unhack.tournament.contests.kernels.gpu import oracle
from unhack.tournament.contests.kernels.gpu.kernelbench import ProblemFile
from unhack.tournament.contests.kernels.gpu.side import (
    SETS,
    SETTLE_S,
    GpuSide,
    SideError,
    unasked,
)

_WARM_UPS = 3
_WARM_UP_S = 240.0
"""The first call may compile, and try variants."""
_SLOWER, _MIN_S = 50, 5.0
"""A call that takes so many times the reference's time, and so long, is late."""
_LONG_ENOUGH_S = 1e-3
"""A call of the reference below this is asked for several sets under one token."""
_WAIT_SHARE = 0.2
"""Of the reference's time: so long may the judge's copy wait for the card in most calls."""
_KEPT = 3
_PERHAPS_OLD = (OutputKind.WRONG, OutputKind.NARROW, OutputKind.CONSTANT, OutputKind.COPIED)
"""Kinds of wrong outputs that may be right for an earlier call."""
_ALIKE = 3
"""In every so many calls of a shape, inputs share most values with those of the call before."""
_ROUND_TRIPS = 9


@dataclass(frozen=True, slots=True)
class GpuRoof:
    """Of the card."""

    bytes_per_s: float
    """The fastest of copying, reading and writing."""
    flops_per_s: float
    """Of products with 10-bit mantissas: float32 accuracy costs at least as much."""
    half_flops_per_s: float
    """Of products of bfloat16."""


@dataclass(frozen=True, slots=True)
class GpuRules:
    """How a problem is played."""

    pairs: int
    """Calls of each shape."""
    roof: GpuRoof
    thrash_bytes: int = 256 << 20
    given: Mapping[str, ProblemFile] = field(default_factory=dict[str, ProblemFile])
    """See `GpuOptions.given`."""


@dataclass(slots=True)
class GpuNotes:
    """Things worth knowing of a measurement beside the times."""

    round_trip_s: list[float] = field(default_factory=list[float])
    """Of a packet that asks for nothing."""
    sm_mhz: list[int] = field(default_factory=list[int])
    held_back_by: set[str] = field(default_factory=set[str])
    sets: int = 1
    peak_card_bytes: int = 0

    def look(self, card: Card) -> None:
        """Note the clocks of this moment."""
        try:
            now = nvml().clocks(card.index)
        except SandboxUnavailableError:
            return  # a driver that does not tell
        self.sm_mhz.append(now.sm_mhz)
        self.held_back_by.update(now.held_back_by)


@dataclass(slots=True)
class _Turn:
    """One call of all sides."""

    hidden: bool
    numbers: list[int]
    inputs: list[list[Any]]
    """Of each set."""
    poisons: list[Any]


@dataclass(slots=True)
class _Made:
    """One side's part of a turn."""

    wall_s: float
    wait_s: float
    prepare_s: float
    idle_s: float
    outputs: list[Any]


class AnswerHistory:
    """Truths of earlier calls of one shape: the first for each set of addresses, and the last ones.
    An answer that was kept by address, or by a sample of the values, is one of them."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._firsts: dict[int, Any] = {}
        self._recent: list[Any] = []

    def add(self, number: int, truth: Any, dtype: Any) -> None:
        """Keep the truth of a call with set `number`, in the format of the output."""
        floating = self._torch.is_floating_point(truth)
        kept = truth.to(dtype) if floating else truth
        self._firsts.setdefault(number, kept)
        self._recent = [*self._recent[1 - _KEPT :], kept]

    def truths(self) -> Iterator[Any]:
        """Each as the oracle gives it."""
        for kept in (*self._firsts.values(), *self._recent):
            yield kept.double() if self._torch.is_floating_point(kept) else kept


class ProblemPlay:
    """One problem, played by three sides that are loaded."""

    def __init__(
        self,
        torch: Any,
        case: Any,
        sides: tuple[GpuSide, GpuSide, GpuSide],
        *,
        rules: GpuRules,
        card: Card,
        seed: int,
    ) -> None:
        """`sides`: reference, submission, twin."""
        self.torch, self.case, self.sides, self.rules, self.card = torch, case, sides, rules, card
        self.rng = random.Random(seed)
        self.notes = GpuNotes()
        self.record = CallRecord()
        self.impostor = ""
        """Why its answer is no plain tensor, where it is none."""
        device = sides[0].arena.bytes.device
        self._thrash = torch.zeros(rules.thrash_bytes // 4, device=device)
        self._shares: list[float] = []
        self._warm: list[KernelCall] = []
        self._history = {False: AnswerHistory(torch), True: AnswerHistory(torch)}
        self._last: dict[bool, list[Any]] = {}

    def play(self) -> None:
        """Play it into `record`. Raises SandboxError where the reference fails."""
        plain, own, _ = self.sides
        try:
            usual = {hidden: self._warm_up(hidden=hidden) for hidden in (False, True)}
            self.notes.round_trip_s = [plain.call([]) for _ in range(_ROUND_TRIPS)]
            count = max(1, min(SETS, math.ceil(_LONG_ENOUGH_S / min(usual.values()))))
            self.notes.sets = count
            for number in range(2 * self.rules.pairs):
                self._take(self._draw(number, count), usual)
            if own.process.speaks():
                raise unasked()
        except _Ended as ended:
            self.record.ended = ended.why
        except SideError as error:
            self.impostor = str(error) if error.impostor else ""
            self.record.ended = KernelError(str(error), forged=error.forged)
        self._close_books()

    def _warm_up(self, *, hidden: bool) -> float:
        """Calls that do not count; the reference's best time of one set."""
        best = math.inf
        for number in range(_WARM_UPS):
            turn = self._draw(2 * number + int(hidden), 1)
            made = [self._call(side, turn, timeout_s=_WARM_UP_S) for side in self.sides]
            plain, own, _ = made
            best = min(best, plain.wall_s)
            finding = self._examine(turn, own, plain)
            group = self.case.name + (".hidden" if hidden else "")
            times = (plain.wall_s, own.wall_s, own.wall_s, 0.0)
            self._warm.append(KernelCall(group, hidden, *times, finding))
        return best

    def _draw(self, number: int, count: int) -> _Turn:
        """Fresh inputs of `count` sets, or inputs that look like the last ones."""
        hidden = number % 2 == 1
        inputs: list[list[Any]] = []
        for _ in range(count):
            seed = self.rng.getrandbits(62)
            known = self._last.get(hidden)
            if known is not None and number // 2 % _ALIKE == _ALIKE - 1:
                inputs.append(self.case.alike(known, hidden=hidden, seed=seed))
            else:
                inputs.append(self.case.inputs(hidden=hidden, seed=seed))
        self._last[hidden] = inputs[-1]
        first = self.sides[0].first[hidden]
        numbers = [first + (number // 2 + at) % SETS for at in range(count)]
        poisons = [self._poison(place, self.rng.randrange(60)) for place in self._outputs(numbers)]
        return _Turn(hidden, numbers, inputs, poisons)

    def _outputs(self, numbers: list[int]) -> list[arenas.Place]:
        return [one.output for one in self.sides[0].sets(numbers)]

    def _poison(self, place: arenas.Place, number: int) -> Any:
        torch = self.torch
        word = arenas.poison(torch, getattr(torch, place[1]), number, self._thrash.device)
        count = math.prod(place[2])
        return word.repeat(count)

    def _take(self, turn: _Turn, usual: dict[bool, float]) -> None:
        """Call every side in random order, and note what came of it."""
        plain, own, twin = self.sides
        count = len(turn.numbers)
        timeout = max(_MIN_S, _SLOWER * usual[turn.hidden] * count)
        order = list(self.sides)
        self.rng.shuffle(order)
        self.notes.look(self.card)
        made = {id(side): self._call(side, turn, timeout_s=timeout) for side in order}
        reference, mine = made[id(plain)], made[id(own)]
        plain.waits[turn.hidden].append(reference.wait_s)
        plain.prepare_s[turn.hidden].append(reference.prepare_s)
        calm = statistics.median(plain.waits[turn.hidden])
        beyond = max(0.0, mine.wait_s - calm)
        self._shares.append(beyond / reference.wall_s)
        own.process.thaw()  # what goes on after the answer shows meanwhile
        time.sleep(SETTLE_S)
        finding = self._examine(turn, mine, reference)
        self.record.calls.append(
            KernelCall(
                group=self.case.name + (".hidden" if turn.hidden else ""),
                hidden=turn.hidden,
                reference_s=reference.wall_s / count,
                submission_s=(mine.wall_s + beyond) / count,
                cpu_s=mine.wall_s / count,
                floor_s=max(self.case.floor_s(ins, self.rules.roof) for ins in turn.inputs),
                finding=finding,
                late=self._late(own, turn, mine.outputs),
                tampered=self._tampered(own, turn),
                breached=own.arena.breached(),
                twin_s=made[id(twin)].wall_s / count,
            )
        )
        own.freeze()
        own.prepare_s[turn.hidden].append(mine.prepare_s)
        for side, one in ((plain, reference), (own, mine)):
            side.idle_s[turn.hidden].append(one.idle_s)

    def _call(self, side: GpuSide, turn: _Turn, *, timeout_s: float) -> _Made:
        """One side's call. Raises _Ended for the submission, SandboxError for the others."""
        try:
            return self._timed(side, turn, timeout_s=timeout_s)
        except SideError as error:
            if side is self.sides[1]:
                raise
            raise SandboxError(f"the reference of {self.case.name} failed: {error}") from None
        except self.torch.OutOfMemoryError as error:
            own = self.sides[1].process.watch
            own.look()
            if own.exceeded:
                raise _Ended(KernelError(own.exceeded)) from None
            raise SandboxError(f"the card has no room for {self.case.name}: {error}") from None

    def _timed(self, side: GpuSide, turn: _Turn, *, timeout_s: float) -> _Made:
        torch, arena = self.torch, side.arena
        places = side.sets(turn.numbers)
        torch.cuda.synchronize()
        started = time.perf_counter()
        for place, inputs, poison in zip(places, turn.inputs, turn.poisons, strict=True):
            for one, data in zip(place.inputs, inputs, strict=True):
                arena.view(one).copy_(data)
            arena.raw(place.output).copy_(poison)
        copies = [torch.empty_like(arena.view(place.output)) for place in places]
        self._thrash.add_(1)
        torch.cuda.synchronize()
        prepare = time.perf_counter() - started
        wall = side.call(turn.numbers, timeout_s=timeout_s)
        started = time.perf_counter()
        for copy, place in zip(copies, places, strict=True):
            copy.copy_(arena.view(place.output))
        torch.cuda.synchronize()
        wait = time.perf_counter() - started
        return _Made(wall, wait, prepare, side.rest(), copies)

    def _examine(self, turn: _Turn, mine: _Made, reference: _Made) -> OutputVerdict:
        """The verdict on the worst output of a turn."""
        findings: list[OutputVerdict] = []
        history = self._history[turn.hidden]
        for at, inputs in enumerate(turn.inputs):
            truth, output = self.case.truth(inputs), mine.outputs[at]
            asked = oracle.Asked(
                self.case, inputs, truth, reference.outputs[at], turn.poisons[at], []
            )
            finding = oracle.examine(output, asked)
            for old in history.truths() if finding.kind in _PERHAPS_OLD else ():
                seen = oracle.examine(output, replace(asked, earlier=[old]))
                if seen.kind is OutputKind.REPLAYED:
                    finding = seen
                    break
            findings.append(finding)
            history.add(turn.numbers[at], truth, output.dtype)
        wrong = [one for one in findings if one.kind is not OutputKind.RIGHT]
        return (wrong or findings)[0]

    def _late(self, side: GpuSide, turn: _Turn, outputs: list[Any]) -> bool:
        """Tell whether an output is not what it was when the token came."""
        torch = self.torch
        pairs = zip(side.sets(turn.numbers), outputs, strict=True)
        return any(
            not bool(torch.equal(side.arena.raw(place.output), then.view(-1).view(torch.uint8)))
            for place, then in pairs
        )

    def _tampered(self, side: GpuSide, turn: _Turn) -> list[str]:
        torch = self.torch
        found: list[str] = []
        for place, inputs in zip(side.sets(turn.numbers), turn.inputs, strict=True):
            for at, (one, data) in enumerate(zip(place.inputs, inputs, strict=True)):
                if not bool(torch.equal(side.arena.raw(one), data.view(-1).view(torch.uint8))):
                    found.append(str(at))
        return found

    def _close_books(self) -> None:
        """Note in the record what only all calls together show."""
        own = self.sides[1]
        if self._shares and statistics.median(self._shares) > _WAIT_SHARE:
            for call in self.record.calls:  # one slow copy proves nothing
                call.late = True
        if any(call.finding.kind is OutputKind.UNTOUCHED for call in self.record.calls):
            self.record.calls[:0] = self._warm  # who worked in the first calls only is seen
        plain = self.sides[0]
        for hidden in (False, True):
            beyond, usual = _beyond(own.idle_s[hidden], plain.idle_s[hidden])
            self.record.idle_s += beyond
            self.record.reference_idle_s += usual
            beyond, usual = _beyond(own.prepare_s[hidden], plain.prepare_s[hidden])
            self.record.early_s += beyond
            self.record.reference_early_s += usual
        self.notes.look(self.card)
        self.notes.peak_card_bytes = own.process.watch.peak_card_bytes


def _beyond(mine: list[float], usual: list[float]) -> tuple[float, list[float]]:
    """(seconds of all calls beyond the reference, how far its own lie from their middle). Medians,
    as the fitness is one: a host that stumbles once accuses nobody."""
    if not mine or not usual:
        return 0.0, []
    middle = statistics.median(usual)
    beyond = max(0.0, statistics.median(mine) - middle) * len(mine)
    return beyond, [one - middle for one in usual]


class _Ended(Exception):
    """The submission's process will do no more."""

    def __init__(self, why: KernelError) -> None:
        super().__init__(str(why))
        self.why = why
