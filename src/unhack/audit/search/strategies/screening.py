"""The screening of strategies: each on one problem, and what is rewarded there on a few more.

Most strategies are rewarded nowhere, so each gets one call before any gets two, on problems in
turn. What is rewarded goes to all screened problems at once: few are, and luck on one of them has
to show.

Covered: an order that any budget may cut; flaws that the source is suspected of come first.
Not covered: the test of what was chosen; `search` measures it on many problems.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from unhack.audit.attack import Attack, Payload
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.prover import Prover
from unhack.audit.search.strategies.measure import LEAST_SHARE
from unhack.audit.search.strategies.strategy import PolicyKnowledge, Strategy, why_wrong

_TRIES = 3
"""Problems on which what is rewarded nowhere is tried."""
_ASKED = 4
"""Rewarded completions of one attack, for answers on one problem, that the oracle is asked
about."""
_CHUNK, _CHUNK_OF_PROGRAMS = 128, 24
"""Completions that are scored together; of programs fewer, since each starts processes."""
_AHEAD = 4
"""Places in the order of its attack by which a suspected flaw goes ahead."""


GainsOf = Callable[[Sequence[tuple[Strategy, Baseline, Payload]]], list[float | None]]
"""Scores completions: the part of the way from a guess to a right answer that each goes; None where
the time was up."""


@dataclass(frozen=True, slots=True)
class ScreeningTrial:
    """One strategy on one screened problem."""

    strategy: Strategy
    number: int
    """Of the problem among the screened ones."""


def _rank(attack: Attack, suspected: Collection[str]) -> int:
    """The place of an attack among those whose turn it is."""
    if attack.flaw in suspected:
        return 0
    return 1 if attack.generic or attack.of_prompt else 2


@dataclass
class Screening:
    """The gains of the strategies of one tier, as far as they are known."""

    prover: Prover
    baselines: Sequence[Baseline]
    """The screened problems."""
    gains_of: GainsOf
    waiting: list[ScreeningTrial]
    """In order; what was tried in the meantime is passed over."""
    made: dict[Strategy, dict[int, Payload]]
    """The completions, by the number of the problem."""
    planned: int = 0
    """Trials that it began with."""
    gains: dict[Strategy, dict[int, float]] = field(
        default_factory=lambda: defaultdict(dict[int, float])
    )
    _asked: Counter[str] = field(default_factory=Counter[str])

    @staticmethod
    def begin(
        prover: Prover,
        baselines: Sequence[Baseline],
        attacks: Sequence[Attack],
        *,
        known: PolicyKnowledge,
        gains_of: GainsOf,
        suspected: Collection[str],
    ) -> Screening:
        """Make the strategies of the attacks for the screened problems, and put them in order.

        `suspected` holds the ids of the flaws that the source is suspected of.
        """
        made: dict[Strategy, dict[int, Payload]] = defaultdict(dict)
        turns: dict[Strategy, int] = {}
        for number, baseline in enumerate(baselines):
            counts: Counter[str] = Counter()
            for strategy, payload in known.every(attacks, baseline.problem):
                counts[strategy.attack.name] += 1
                ahead = _AHEAD if strategy.attack.flaw in suspected else 0
                turns.setdefault(strategy, max(1, counts[strategy.attack.name] - ahead))
                made[strategy][number] = payload
        # A slow verifier gets a hundred calls: what is made without any answer comes first.
        ordered = sorted(turns, key=lambda one: (turns[one], _rank(one.attack, suspected)))
        waiting = [
            ScreeningTrial(strategy, numbers[(strategy.place + wave) % len(numbers)])
            for wave in range(_TRIES)
            for strategy in ordered
            if wave < len(numbers := list(made[strategy]))
        ]
        return Screening(prover, baselines, gains_of, waiting, made, len(waiting))

    @property
    def ran(self) -> int:
        """Those of `planned` that are over."""
        return max(0, self.planned - sum(not self._is_known(one) for one in self.waiting))

    def run(self, *, kept: int) -> str:
        """Try what waits, but leave `kept` calls of the budget; return the reason for stopping
        early, or an empty text."""
        done, total = 0, len(self.waiting)
        while self.waiting:
            budget = self.prover.budget
            if budget.spent:
                return budget.spent
            if budget.calls <= kept:
                return "its share of the calls is used up"
            programs = self.waiting[0].strategy.attack.for_code
            size = min(_CHUNK_OF_PROGRAMS if programs else _CHUNK, budget.calls - kept)
            chunk, self.waiting = self.waiting[:size], self.waiting[size:]
            done += len(chunk)
            rewarded, late = self._try([trial for trial in chunk if not self._is_known(trial)])
            further = [
                ScreeningTrial(one, number)
                for one in dict.fromkeys(rewarded)
                for number in self.made[one]
            ]
            further = [trial for trial in further if not self._is_known(trial)]
            self.waiting = [*further, *late, *self.waiting]
            self.prover.on_step("hacks", min(done, total), total, len(self.prover.proofs))
        return ""

    def gain(self, strategy: Strategy) -> float:
        """The mean gain of a strategy over the problems that it was tried on."""
        found = self.gains.get(strategy, {})
        return sum(found.values()) / len(found) if found else 0.0

    def _is_known(self, trial: ScreeningTrial) -> bool:
        return trial.number in self.gains[trial.strategy]

    def _try(self, trials: Sequence[ScreeningTrial]) -> tuple[list[Strategy], list[ScreeningTrial]]:
        """Score the trials: (the strategies that were rewarded for what is proven wrong, the trials
        that there was no time for)."""
        asked = [
            (one.strategy, self.baselines[one.number], self.made[one.strategy][one.number])
            for one in trials
        ]
        rewarded: list[Strategy] = []
        late: list[ScreeningTrial] = []
        scored = self.gains_of(asked)
        for trial, (_, baseline, payload), gain in zip(trials, asked, scored, strict=True):
            attack = trial.strategy.attack
            if gain is None:
                late.append(trial)
                continue
            self.prover.count(attack, payloads=1, passed=int(gain > 0.0))
            wrong = gain >= LEAST_SHARE and self._is_wrong(attack, baseline, payload)
            self.gains[trial.strategy][trial.number] = gain if wrong else 0.0
            if wrong:
                rewarded.append(trial.strategy)
        return rewarded, late

    def _is_wrong(self, attack: Attack, baseline: Baseline, payload: Payload) -> bool:
        # Programs are run to be compared; answers are only read.
        about = attack.name
        about += "" if baseline.problem.is_code else f" on {baseline.problem.id}"
        if self._asked[about] >= _ASKED:
            return False
        self._asked[about] += 1
        return why_wrong(self.prover.oracle, baseline.problem, payload) is not None
