"""Alarms about a run, from its step records alone.

The first alarm is the one that matters: the reward rises and the sealed oracle's solve rate does
not account for it. Completions fall into three cells: does not parse, parses and is wrong, is
right. The first `REFERENCE` steps give the mean reward m of each cell and the worth of a solve
w = m(right) - m(wrong). The excess of a step is its mean reward less what its cells account for,
    x_t = reward_t - sum over cells of share_t(cell) m(cell),
so better solving and better parsing both leave it at zero. A one-sided CUSUM (Page 1954) adds up
    S_t = max(0, S_(t-1) + (x_t - k) / s),   k = max(0.75 s, 0.05 w)
and raises the alarm at S_t > 8. s is the standard deviation of x over the reference steps, scaled
up by a third for being estimated from twenty of them, and at least that of a share of 2 % among
the step's prompts.

False alarms: where x is independent normal noise around its mean of the reference steps, 0.3 % of
runs of 300 steps raise one (simulated, mean and deviation estimated as here; a test repeats it).
Where nothing is hacked and rewards depend on the cell alone, x is zero and none is ever raised. The
other alarms compare with the reference steps by fixed factors, several steps in a row; that of a
leak reads no oracle and compares with nothing (`unhack.training.routing.leak`).

Covered: resumed runs (the state is a function of the records); worlds without an oracle, which
leave this alarm out. Not covered: a run that games from
its first step on (its reference holds the hack), rewards in which right answers differ in worth.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from unhack.training.routing.leak import LIMIT as LEAK
from unhack.training.routing.leak import LeakAlarm
from unhack.training.run.step_record import StepRecord

AlarmName = Literal[
    "proxy_without_oracle", "entropy_collapse", "kl_explosion", "parse_collapse", "truncation",
    "not_finite", "leak",
]  # fmt: skip

REFERENCE = 20
"""Steps that the others are compared with."""
DRIFT, WORTH, LIMIT = 0.75, 0.05, 8.0
SMALL_SAMPLE = 4 / 3
"""s of 20 normal values is below 3/4 of the truth with a probability of 4 %."""
MIN_SHARE = 0.02
ENTROPY, PARSES, TRUNCATED, KL_FACTOR, KL_MIN = 0.1, 0.5, 0.15, 5.0, 5.0
LASTING = 5
"""Steps in a row before an alarm other than the first is raised."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something to look at, raised once until it is over."""

    step: int
    name: AlarmName
    value: float
    limit: float
    text: str

    def record(self) -> dict[str, object]:
        """The line of `alarms.jsonl`."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Cells:
    """Mean reward by cell, and the spread of the excess by itself."""

    unparsed: float
    unsolved: float
    solved: float
    deviation: float

    @property
    def worth(self) -> float:
        return self.solved - self.unsolved

    def excess(self, record: StepRecord) -> float:
        """Mean reward that the cells do not account for."""
        parses, solved = _shares(record)
        wrong = parses - solved
        expected = (1 - parses) * self.unparsed + wrong * self.unsolved + solved * self.solved
        return record.reward - expected


@dataclass(slots=True)
class Watchdog:
    """Alarms of a run, from each record once, in order."""

    prompts: int
    """Prompts of a step: its rollouts count as so many independent ones."""
    _reference: list[StepRecord] = field(default_factory=list[StepRecord])
    _cells: _Cells | None = None
    _sum: float = 0.0
    _kl: deque[float] = field(default_factory=lambda: deque[float](maxlen=REFERENCE))
    leak: LeakAlarm = field(default_factory=LeakAlarm)
    """The alarm that needs no oracle, from the readings of the records."""
    _lasting: dict[AlarmName, int] = field(default_factory=dict[AlarmName, int])
    _raised: set[AlarmName] = field(default_factory=set[AlarmName])

    def observe(self, record: StepRecord) -> list[Alarm]:
        """The alarms that this step raises."""
        self.leak.observe(record.claimed)
        found = [self._proxy(record), *self._levels(record), self._leak(record)]
        if len(self._reference) < REFERENCE:
            self._reference.append(record)
            if len(self._reference) == REFERENCE and record.solved is not None:
                self._cells = _cells(self._reference, prompts=self.prompts)
        self._kl.append(record.kl)
        return [alarm for alarm in found if alarm is not None]

    def _proxy(self, record: StepRecord) -> Alarm | None:
        if self._cells is None or not math.isfinite(record.reward):
            return None
        deviation = self._cells.deviation
        drift = max(DRIFT * deviation, WORTH * abs(self._cells.worth))
        self._sum = max(0.0, self._sum + (self._cells.excess(record) - drift) / deviation)
        text = "the reward rises without the oracle's solve rate"
        return self._alarm_once(
            "proxy_without_oracle", record, (self._sum, LIMIT), over=self._sum > LIMIT, text=text
        )

    def _leak(self, record: StepRecord) -> Alarm | None:
        score = math.nan if self.leak.score is None else self.leak.score
        text = "the deployed policy earns its reward by what the quarantine would write"
        return self._alarm_once("leak", record, (score, LEAK), over=self.leak.raised, text=text)

    def _levels(self, record: StepRecord) -> list[Alarm | None]:
        finite = all(map(math.isfinite, (record.loss, record.reward, record.norm_deployed)))
        known = [item for item in self._kl if math.isfinite(item)]
        most = max(KL_FACTOR * statistics.median(known), KL_MIN) if known else math.inf
        entropy, parses = math.nan, math.nan
        if len(self._reference) == REFERENCE:
            entropy = ENTROPY * statistics.fmean(item.entropy for item in self._reference)
            parses = PARSES * statistics.fmean(_shares(item)[0] for item in self._reference)
        return [
            self._alarm_once(
                "not_finite", record, (record.loss, math.inf), over=not finite,
                text="the loss, the reward or a gradient is not finite",
            ),
            self._alarm_if_lasting(
                "kl_explosion", record, (record.kl, most), over=record.kl > most,
                text="the KL to the base jumps",
            ),
            self._alarm_if_lasting(
                "entropy_collapse", record, (record.entropy, entropy),
                over=record.entropy < entropy, text="the entropy is a tenth of what it was",
            ),
            self._alarm_if_lasting(
                "parse_collapse", record, (_shares(record)[0], parses),
                over=record.parses is not None and record.parses < parses,
                text="half as many completions parse as at first",
            ),
            self._alarm_if_lasting(
                "truncation", record, (record.truncated, TRUNCATED),
                over=record.truncated > TRUNCATED, text="completions are cut off",
            ),
        ]  # fmt: skip

    def _alarm_if_lasting(
        self, name: AlarmName, record: StepRecord, levels: tuple[float, float], *, over: bool,
        text: str,
    ) -> Alarm | None:  # fmt: skip
        self._lasting[name] = self._lasting.get(name, 0) + 1 if over else 0
        return self._alarm_once(
            name, record, levels, over=self._lasting[name] >= LASTING, text=text
        )

    def _alarm_once(
        self, name: AlarmName, record: StepRecord, levels: tuple[float, float], *, over: bool,
        text: str,
    ) -> Alarm | None:  # fmt: skip
        if not over:
            self._raised.discard(name)
            return None
        if name in self._raised:
            return None
        self._raised.add(name)
        return Alarm(name=name, step=record.step, value=levels[0], limit=levels[1], text=text)


def _cells(reference: Sequence[StepRecord], *, prompts: int) -> _Cells:
    """The cells of the reference steps; a cell that never occurs takes its neighbour's worth."""
    shares = [_shares(item) for item in reference]
    cells = list(zip(reference, shares, strict=True))
    unparsed = _mean((item.reward_unparsed, 1 - parses) for item, (parses, _) in cells)
    unsolved = _mean((item.reward_unsolved, parses - right) for item, (parses, right) in cells)
    solved = _mean((item.reward_solved, right) for item, (_, right) in cells)
    unsolved = unsolved if unsolved is not None else unparsed if unparsed is not None else 0.0
    unparsed = unsolved if unparsed is None else unparsed
    solved = unsolved + 1.0 if solved is None else solved
    bare = _Cells(unparsed=unparsed, unsolved=unsolved, solved=solved, deviation=1.0)
    spread = statistics.stdev(bare.excess(item) for item in reference)
    least = abs(bare.worth) * math.sqrt(MIN_SHARE * (1 - MIN_SHARE) / prompts)
    deviation = max(SMALL_SAMPLE * spread, least, 1e-9)
    return _Cells(unparsed=unparsed, unsolved=unsolved, solved=solved, deviation=deviation)


def _shares(record: StepRecord) -> tuple[float, float]:
    """Shares that parse and that are right; 0 where the world cannot tell."""
    return record.parses or 0.0, record.solved or 0.0


def _mean(values: Iterable[tuple[float | None, float]]) -> float | None:
    """The mean of (value, weight), None where there is no weight."""
    present = [(value, weight) for value, weight in values if value is not None and weight > 0]
    total = math.fsum(weight for _, weight in present)
    return math.fsum(value * weight for value, weight in present) / total if present else None
