"""Triton, CUDA C++ and PyTorch beside eager PyTorch, on the judge's memory and clock.

Three sealed workers play each problem: the reference, the submission, and the reference's twin. The
judge allocates what they share in its own context and keeps its own copies. Before a call it draws
fresh inputs, fills the output with a pattern and writes more than the card's cache holds. Its clock
runs from one packet to the other; then it copies the output in its own context.

A process that has slept is slow at first. So each side is asked for one set of old inputs, off the
clock, and stands still again before the inputs that count are written; a call asks for as many sets
as fill the clock; and nothing else runs in the judge meanwhile. Calls go on until reference and
twin hardly differ (see `calls.stopping`), for a bounded time.

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

import contextlib
import itertools
import math
import random
import statistics
import time
from dataclasses import dataclass, replace
from typing import Any

from unhack.sandbox.gpu.cards import Card
from unhack.tournament.kit import KernelError, SandboxError
from unhack_contests.kernels import score
from unhack_contests.kernels.calls.gains import TrimmedGains
from unhack_contests.kernels.calls.session import CallRecord, KernelCall, right
from unhack_contests.kernels.calls.stopping import Looks, close_enough
from unhack_contests.kernels.calls.verdict import OutputKind, OutputVerdict
from unhack_contests.kernels.gpu import oracle, shared_memory
from unhack_contests.kernels.gpu.probe import CardProbe, GpuNotes
from unhack_contests.kernels.gpu.settings import GpuRules
from unhack_contests.kernels.gpu.side import SETTLE_S, GpuSide, SideError, unasked

_WARM_UPS = 3
_WARM_UPS_S = 240.0
"""For all calls that do not count: the first of a shape may compile, and try variants."""
_SLOWER, _MIN_S = 50, 5.0
"""A call that takes so many times the reference's time, and so long, is late."""
_LONG_ENOUGH_S = 20e-3
"""A call of the reference below this is asked for several sets under one token: what the start of a
call takes now more, now less, is some hundreds of microseconds."""
_MOST_S = 8.0
"""So long, and for the least number of pairs in any case, calls go on."""
_QUIET_S = 15.0
"""So long may a side that has compiled take to become quiet before the calls that count."""
_WAIT_SHARE = 0.2
"""Of the reference's time: so long may the judge's copy wait for the card in most calls."""
_PERHAPS_OLD = (OutputKind.WRONG, OutputKind.NARROW, OutputKind.CONSTANT, OutputKind.COPIED)
"""Kinds of wrong outputs that may be right for an earlier call."""
_ALIKE = 3
"""In every so many calls of a shape, inputs share most values with those of the call before."""
_ROUND_TRIPS = 9


@dataclass(slots=True)
class _Turn:
    """One call of all sides."""

    hidden: bool
    numbers: list[int]
    inputs: list[list[Any]]
    """Of each set."""
    poisons: list[int]
    """Number of the pattern in the output of each set."""
    old: list[Any] | None
    """Inputs of the turn before with this shape; None where there is none."""


@dataclass(slots=True)
class _Made:
    """One side's part of a turn."""

    wall_s: float
    wait_s: float
    prepare_s: float
    idle_s: float
    outputs: list[Any]


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
        """`sides`: reference, submission, twin. Made before anything of the submission runs."""
        self.torch, self.case, self.sides, self.rules, self.card = torch, case, sides, rules, card
        self.rng = random.Random(seed)
        self.notes = GpuNotes()
        self.record = CallRecord()
        self.impostor = ""
        """Why its answer is no plain tensor, where it is none."""
        device = sides[0].memory.bytes.device
        self._thrash = torch.zeros(rules.thrash_bytes // 4, device=device)
        self._probe = CardProbe(torch, self._thrash)
        self._shares: list[float] = []
        self._warm: list[KernelCall] = []
        self._history = {False: oracle.AnswerHistory(torch), True: oracle.AnswerHistory(torch)}
        self._last: dict[bool, list[Any]] = {}

    def play(self) -> None:
        """Play it into `record`. Raises SandboxError where the reference fails."""
        plain, own, _ = self.sides
        try:
            warm = time.monotonic() + _WARM_UPS_S
            usual = {hidden: self._warm_up(warm, hidden=hidden) for hidden in (False, True)}
            self.notes.round_trip_s = [plain.call([]) for _ in range(_ROUND_TRIPS)]
            for side in self.sides:  # what begins with the first calls, as compilers do, ends
                side.wait_until_quiet(_QUIET_S)
            counts = {hidden: self._count(hidden, usual[hidden]) for hidden in usual}
            self.notes.sets = min(counts.values())
            looks, deadline = Looks(self.rules.pairs), time.monotonic() + _MOST_S
            for number in itertools.count():
                if number % 2 == 0 and self._is_over(looks, number // 2, deadline):
                    break
                self._take(self._draw(number, counts[number % 2 == 1]), usual)
            if own.process.speaks():
                raise unasked()
        except KernelError as ended:
            self.record.ended = ended
        except SideError as error:
            self.impostor = str(error) if error.impostor else ""
            self.record.ended = KernelError(str(error), forged=error.forged)
        self._close_books()

    def _count(self, hidden: bool, usual_s: float) -> int:
        """Sets that are asked for under one token."""
        most = len(self.sides[0].numbers[hidden])
        return max(1, min(most, math.ceil(_LONG_ENOUGH_S / usual_s)))

    def _is_over(self, looks: Looks, pairs: int, deadline: float) -> bool:
        """Tell whether enough pairs of each shape have been played. A program with a wrong output
        has no fitness: the least number is enough for it."""
        if pairs < self.rules.pairs:
            return False
        calls = self.record.calls
        if time.monotonic() > deadline or len(right(calls)) < len(calls):
            return True
        found = score.equal_programs(calls, TrimmedGains) if looks.due(pairs) else None
        return found is not None and close_enough(*found)

    def _warm_up(self, deadline: float, *, hidden: bool) -> float:
        """Calls that do not count; the reference's best time of one set."""
        best = math.inf
        for number in range(_WARM_UPS):
            turn = self._draw(2 * number + int(hidden), 1)
            left = max(_MIN_S, deadline - time.monotonic())
            made = [self._call(side, turn, timeout_s=left) for side in self.sides]
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
        known = self._last.get(hidden)
        similar = known is not None and number // 2 % _ALIKE == _ALIKE - 1
        inputs: list[list[Any]] = []
        for at in range(count):
            seed = self.rng.getrandbits(62)
            if similar and at % 2 == 0:
                inputs.append(self.case.alike(known, hidden=hidden, seed=seed))
            else:
                inputs.append(self.case.inputs(hidden=hidden, seed=seed))
        self._last[hidden] = inputs[-1]
        every = self.sides[0].numbers[hidden]
        numbers = [every[(number // 2 + at) % len(every)] for at in range(count)]
        poisons = [self.rng.randrange(60) for _ in numbers]
        return _Turn(hidden, numbers, inputs, poisons, known)

    def _poison(self, place: shared_memory.Place, number: int) -> Any:
        torch = self.torch
        word = shared_memory.poison(torch, getattr(torch, place[1]), number, self._thrash.device)
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
        made: dict[int, _Made] = {}
        for side in order:
            made[id(side)] = self._call(side, turn, timeout_s=timeout, awake=True)
        made[id(twin)].outputs.clear()  # nobody asks for them
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
                cpu_s=mine.wall_s,
                floor_s=max(self.case.floor_s(ins, self.rules.roofline) for ins in turn.inputs),
                finding=finding,
                late=self._late(own, turn, mine.outputs),
                tampered=self._tampered(own, turn),
                breached=own.memory.breached(),
                twin_s=made[id(twin)].wall_s / count,
                sets=count,
            )
        )
        own.freeze()
        own.prepare_s[turn.hidden].append(mine.prepare_s)
        for side, one in ((plain, reference), (own, mine)):
            side.idle_s[turn.hidden].append(one.idle_s)

    def _call(self, side: GpuSide, turn: _Turn, *, timeout_s: float, awake: bool = False) -> _Made:
        """One side's call, once it is `awake`. Raises KernelError for the submission, SandboxError
        for the others."""
        try:
            side.memory.use(int(turn.hidden))
            if awake:
                self._wake(side, turn, timeout_s=timeout_s)
            with contextlib.ExitStack() as stack:
                for one in self.sides:
                    stack.enter_context(one.process.watch.still())
                if awake:
                    self._probe.look()
                made = self._timed(side, turn, timeout_s=timeout_s)
            made.idle_s = side.rest()
            return made
        except SideError as error:
            if side is self.sides[1]:
                raise
            raise SandboxError(f"the reference of {self.case.name} failed: {error}") from None
        except self.torch.OutOfMemoryError as error:
            own = self.sides[1].process.watch
            own.look()
            if own.exceeded:
                raise KernelError(own.exceeded) from None
            raise SandboxError(f"the card has no room for {self.case.name}: {error}") from None

    def _wake(self, side: GpuSide, turn: _Turn, *, timeout_s: float) -> None:
        """Have it work on old inputs, off the clock, and stand still: what it does then finds no
        input that counts, and everybody is awake alike. The set is the first of its shape, whose
        first answer the history knows."""
        assert turn.old is not None
        number = side.numbers[turn.hidden][0]
        [place] = side.sets([number])
        for one, data in zip(place.inputs, turn.old, strict=True):
            side.memory.view(one).copy_(data)
        self.torch.cuda.synchronize()
        side.call([number], timeout_s=timeout_s)
        side.freeze()

    def _timed(self, side: GpuSide, turn: _Turn, *, timeout_s: float) -> _Made:
        torch, memory = self.torch, side.memory
        places = side.sets(turn.numbers)
        torch.cuda.synchronize()
        started = time.perf_counter()
        for place, inputs, poison in zip(places, turn.inputs, turn.poisons, strict=True):
            for one, data in zip(place.inputs, inputs, strict=True):
                memory.view(one).copy_(data)
            memory.raw(place.output).copy_(self._poison(place.output, poison))
        copies = [torch.empty_like(memory.view(place.output)) for place in places]
        self._thrash.add_(1)
        torch.cuda.synchronize()
        prepare = time.perf_counter() - started
        wall = side.call(turn.numbers, timeout_s=timeout_s)
        started = time.perf_counter()
        for copy, place in zip(copies, places, strict=True):
            copy.copy_(memory.view(place.output))
        torch.cuda.synchronize()
        wait = time.perf_counter() - started
        return _Made(wall, wait, prepare, 0.0, copies)

    def _examine(self, turn: _Turn, mine: _Made, reference: _Made) -> OutputVerdict:
        """The verdict on a turn: that on its first wrong output, or on its last one."""
        finding: OutputVerdict | None = None
        history = self._history[turn.hidden]
        places = self.sides[0].sets(turn.numbers)
        for at, inputs in enumerate(turn.inputs):
            truth, output = self.case.truth(inputs), mine.outputs[at]
            if finding is None or finding.kind is OutputKind.RIGHT:
                poison = self._poison(places[at].output, turn.poisons[at])
                asked = oracle.Asked(self.case, inputs, truth, reference.outputs[at], poison, [])
                finding = oracle.examine(output, asked)
                if finding.kind in _PERHAPS_OLD:
                    seen = oracle.examine(output, replace(asked, earlier=history.truths()))
                    finding = seen if seen.kind is OutputKind.REPLAYED else finding
            history.add(turn.numbers[at], truth, output.dtype)
        assert finding is not None
        return finding

    def _late(self, side: GpuSide, turn: _Turn, outputs: list[Any]) -> bool:
        """Tell whether an output is not what it was when the token came."""
        torch = self.torch
        pairs = zip(side.sets(turn.numbers), outputs, strict=True)
        return any(
            not bool(torch.equal(side.memory.raw(place.output), then.view(-1).view(torch.uint8)))
            for place, then in pairs
        )

    def _tampered(self, side: GpuSide, turn: _Turn) -> list[str]:
        torch = self.torch
        found: list[str] = []
        for place, inputs in zip(side.sets(turn.numbers), turn.inputs, strict=True):
            for at, (one, data) in enumerate(zip(place.inputs, inputs, strict=True)):
                if not bool(torch.equal(side.memory.raw(one), data.view(-1).view(torch.uint8))):
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
        work_s = sum(call.reference_s * call.sets for call in self.record.calls)
        self.record.early_s += self._probe.excess() * work_s
        self.notes.probe_ratio = self._probe.ratio()
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
