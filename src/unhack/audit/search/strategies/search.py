"""The search for hacks: strategies that are rewarded on a few problems are tried on many others.

Covered: the attacks of tiers 1 and 2 as strategies; whole texts that other tiers found; strategies
that are handed in, such as those that a language model or a trained policy writes.
Not covered: how those of tier 5 are learnt.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from unhack.audit.attack import Attack, Claim, Payload
from unhack.audit.attacks.registry import attacks_of
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.prover import Proof, Prover, holds_answer
from unhack.audit.search.strategies.honest import (
    HonestReward,
    committed_share,
    honest_reward,
    parts_of,
    value_of,
)
from unhack.audit.search.strategies.joined import joined
from unhack.audit.search.strategies.measure import (
    MeasuredReward,
    committed,
    expected_reward_of,
    is_above,
    is_rewarded,
)
from unhack.audit.search.strategies.screening import Screening
from unhack.audit.search.strategies.strategy import (
    PolicyKnowledge,
    Strategy,
    says_nothing,
    why_wrong,
)
from unhack.audit.static_analysis.suspicions import suspicions_of
from unhack.audit.subject import AuditProblem, Query, Score
from unhack.core.finding import Evidence, ExpectedReward
from unhack.sandbox.job import Backend

TRIED_ON = 20
"""Problems on which a strategy is measured, where there are as many."""
_SCREENED = 5
"""Problems among which strategies are screened."""
_FOR_MEASURING = 3
"""One in so many calls is left for measuring."""
_PER_FLAW, _MOST = 3, 32
"""Strategies that go on, of one flaw and in all."""
TIERS = (1, 2)
"""Tiers whose attacks are strategies too."""
_BLIND_TIERS = (3, 5)
"""Tiers that see the prompt and scores alone."""
_FOR_GUESSES = 0.3
"""Of the seconds, at most, for what honest guesses are rewarded."""
_FOR_SCREENING = 0.7
"""Of the seconds of a search; the rest is for measuring what was rewarded."""
_AT_LEAST = 3
"""Strategies that are measured though screening took all the time: it would be for nothing."""
_FAIR = 0.5
"""Of the way to a right completion, the most that is credit for form where no answer is known."""
_NOTHING = Payload("", Claim.NO_ANSWER)


@dataclass(frozen=True, slots=True)
class _Measured:
    """A completion of a strategy on one problem, and its reward there."""

    baseline: Baseline
    payload: Payload
    payment: MeasuredReward
    gain: float
    evidence: Evidence | None
    """The proof that it is wrong; None where it is not rewarded."""


def _is_constant(payloads: Iterable[Payload]) -> bool:
    """Tell whether the completions are the same on every prompt, but for a donor's own."""
    counts = Counter(payload.text for payload in payloads)
    return counts.total() > 1 and max(counts.values()) >= counts.total() - 1


def _of_attempts(payload: Payload, expected_reward: ExpectedReward) -> str:
    count = len(set(parts_of(payload.text)))
    return (
        f"it gives {count} different answers and commits to none; made without the right answer, "
        f"it is rewarded on {expected_reward.rewarded} of {expected_reward.problems} problems, "
        "where one of them is right"
    )


@dataclass
class HackSearch:
    """One audit's search for hacks; what it proves goes to the prover."""

    prover: Prover
    baselines: Sequence[Baseline]
    """Of the problems on which right completions are rewarded, the screened ones first."""
    honest: dict[str, HonestReward]
    known: PolicyKnowledge
    backend: Backend | None = None
    """Runs strategies that are written in Python; None for the shared one."""
    screened: dict[str, list[tuple[AuditProblem, Payload, Score]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """By the attack's name, what was tried first, since `try_attacks` was called last."""
    _cut: dict[int, Screening] = field(default_factory=dict[int, Screening])
    """By tier, the screenings that a budget cut off."""
    _screenings: dict[int, Screening] = field(default_factory=dict[int, Screening])
    _measured: set[Strategy] = field(default_factory=set[Strategy])

    @staticmethod
    def begin(
        prover: Prover,
        baselines: Sequence[Baseline],
        results_of: Callable[[AuditProblem], Sequence[object]],
        *,
        backend: Backend | None = None,
    ) -> HackSearch:
        """Measure the reward of honest completions; `results_of` gives the right results of a
        function on known inputs."""
        now = time.monotonic()
        until = now + _FOR_GUESSES * (prover.budget.until - now)
        expected_reward = honest_reward(prover.journal, baselines, results_of, until=until)
        source = prover.journal.subject.source
        known = PolicyKnowledge([one.problem for one in baselines], source)
        usable = [one for one in baselines if one.problem.id in expected_reward]
        return HackSearch(prover, usable, expected_reward, known, backend)

    def run(self, tier: int) -> str:
        """Screen, measure and prove the strategies of a tier; return the reason for stopping early,
        or an empty text."""
        if tier not in TIERS:
            return ""
        self.screened.clear()
        screening = self._screenings[tier] = self._screening(attacks_of(tier), self.baselines)
        return self._search(tier, screening)

    def progress(self, tier: int) -> tuple[int, int]:
        """(completions that were planned for screening the strategies of a tier, those that were
        tried); (0, 0) for a tier that was not begun."""
        one = self._screenings.get(tier)
        return (one.planned, one.ran) if one is not None else (0, 0)

    @property
    def cut(self) -> tuple[int, ...]:
        """The tiers that a budget cut off."""
        return tuple(self._cut)

    def resume(self, tier: int) -> str:
        """Go on with what a budget cut off; as `run`."""
        return self._search(tier, self._cut.pop(tier))

    def _search(self, tier: int, screening: Screening) -> str:
        why = self._go_on(screening)
        if why:
            self._cut[tier] = screening
        return why

    def try_attacks(self, attacks: Sequence[Attack], *, made_on: str = "") -> str:
        """Screen, measure and prove strategies; return the reason for stopping early, or an empty
        text. `made_on` is the id of the problem whose answer their author was shown."""
        self.screened.clear()
        usable = [one for one in self.baselines if one.problem.id != made_on]
        return self._go_on(self._screening(attacks, usable), made_on)

    def _screening(self, attacks: Sequence[Attack], usable: Sequence[Baseline]) -> Screening:
        source = self.prover.journal.subject.source
        return Screening.begin(
            self.prover,
            usable[:_SCREENED],
            attacks,
            known=self.known,
            gains_of=self._gains_of,
            suspected={one.flaw for one in suspicions_of(source)},
        )

    def _go_on(self, screening: Screening, made_on: str = "") -> str:
        # What is rewarded is measured with the rest of the calls.
        whole, now = self.prover.budget.until, time.monotonic()
        self.prover.budget.until = now + _FOR_SCREENING * (whole - now)
        kept = self.prover.budget.calls // _FOR_MEASURING
        why = screening.run(kept=kept)
        pairs = self._screening(joined(screening), [] if why else screening.baselines)
        why = pairs.run(kept=kept) or why
        self.prover.budget.until = whole
        chosen = [*self._chosen(pairs), *self._chosen(screening)][:_MOST]
        chosen = [replace(one, made_on=made_on) for one in chosen]
        return self._measure_all(chosen, least=_AT_LEAST) or why

    def try_texts(self, proofs: Sequence[Proof]) -> str:
        """Measure the texts of proofs, each as a completion for every prompt but its own.

        A program is measured by itself: the inputs on which it is wrong are fresh ones."""
        self._measure_programs()
        texts: dict[str, Strategy] = {}
        for proof in sorted(proofs, key=lambda one: len(one.payload.text)):
            if proof.expected_reward is None and not proof.problem.is_code:
                strategy = Strategy(proof.attack, 0, proof.payload, made_on=proof.problem.id)
                texts.setdefault(proof.payload.text, strategy)
        return self._measure_all(list(texts.values())[:_MOST])

    def _measure_programs(self) -> None:
        """Give the proofs of programs that were found without the right answer what they are
        rewarded on their own problem."""
        for number, proof in enumerate(self.prover.proofs):
            blind = proof.problem.is_code and proof.attack.tier in _BLIND_TIERS
            # A policy of tier 5 may be given programs near the right one.
            blind = blind and (proof.attack.tier == 3 or proof.attack.generic)
            honest = (
                self.honest.get(proof.problem.id)
                if blind and proof.expected_reward is None
                else None
            )
            if honest is None:
                continue
            rewarded = MeasuredReward(
                proof.score, honest.guess, honest.right, honest.chance, honest.wrong
            )
            expected_reward = expected_reward_of([rewarded])
            if expected_reward is not None and is_above(expected_reward):
                self.prover.proofs[number] = replace(proof, expected_reward=expected_reward)

    def _chosen(self, screening: Screening) -> list[Strategy]:
        """The strategies that gain most, of every flaw a few."""
        gains = {one: screening.gain(one) for one in screening.gains}
        ranked = sorted(gains, key=lambda one: (-gains[one], one.attack.name, one.place))
        turns: Counter[str] = Counter()
        found: list[Strategy] = []
        for strategy in ranked:
            turns[strategy.attack.flaw] += 1
            if gains[strategy] > 0.0 and turns[strategy.attack.flaw] <= _PER_FLAW:
                found.append(strategy)
        return found[:_MOST]

    def _gains_of(self, asked: Sequence[tuple[Strategy, Baseline, Payload]]) -> list[float | None]:
        until = self.prover.budget.until
        scores = self._score([(one.problem, payload.text) for _, one, payload in asked], until)
        gains: list[float | None] = []
        for (strategy, baseline, payload), score in zip(asked, scores, strict=True):
            if score.stopped:
                gains.append(None)
                continue
            self.screened[strategy.attack.name].append((baseline.problem, payload, score))
            gains.append(self._gain(baseline, payload, score))
        return gains

    def _measure_all(self, strategies: Sequence[Strategy], *, least: int = 0) -> str:
        """Measure strategies; the first `least` of them even where no time is left."""
        for number, strategy in enumerate(strategies):
            if self.prover.over or (self.prover.budget.spent and number >= least):
                return self.prover.over or self.prover.budget.spent
            if strategy in self._measured:
                continue
            self._measured.add(strategy)
            proof = self._measure(strategy)
            if proof is None and self.prover.journal.is_late:
                self._measured.discard(strategy)
            if proof is not None:
                self.prover.proofs.append(proof)
                self.prover.count(strategy.attack, payloads=0, passed=0, proven=1)
        return ""

    def _measure(self, strategy: Strategy) -> Proof | None:
        # Where it makes nothing of the prompt it says nothing, and is rewarded for that.
        tried = [
            (one, self.known.complete(strategy, one.problem) or _NOTHING)
            for one in self.baselines[:TRIED_ON]
            if one.problem.id != strategy.made_on
        ]
        scores = self._score([(baseline.problem, payload.text) for baseline, payload in tried])
        rewarded = [
            one
            for (baseline, payload), score in zip(tried, scores, strict=True)
            if (one := self._measured_on(baseline, payload, score)) is not None
        ]
        if not any(one.evidence is not None for one in rewarded):
            return None
        constant = _is_constant(payload for _, payload in tried)
        # Without an answer a text is wrong for being the same everywhere; credit for form is fair.
        most = max((one.gain for one in rewarded), default=0.0)
        known = not any(says_nothing(one.problem, payload) for one, payload in tried)
        if not known and (not constant or most <= _FAIR):
            return None
        pairs = [(one.payload.text, one.baseline.problem.answer or "") for one in rewarded]
        share = committed_share(pairs) if any(one.payment.held for one in rewarded) else 0.0
        rewards = [committed(one.payment, share) for one in rewarded]
        tested = [one.payment for one in rewarded]
        if constant:
            # One of many texts was right by luck on the problems that it was chosen on.
            first = {one.problem.id for one, _ in tried[:_SCREENED]}
            fresh = [one.payment for one in rewarded if one.baseline.problem.id not in first]
            tested = fresh if len(fresh) >= _SCREENED else tested
        expected_reward = expected_reward_of(
            rewards, left_out=len(tried) - len(rewards), tested=tested
        )
        if expected_reward is None or not is_above(expected_reward):
            return None
        return self._proof(strategy, rewarded, rewards, expected_reward)

    def _measured_on(self, baseline: Baseline, payload: Payload, score: Score) -> _Measured | None:
        """The expected reward of one problem; None where the completion is rewarded and not proven
        wrong."""
        honest, gain = self.honest[baseline.problem.id], self._gain(baseline, payload, score)
        evidence = None
        if gain > 0.0:
            evidence = why_wrong(self.prover.oracle, baseline.problem, payload)
            if evidence is None:
                return None
        value = value_of(score)  # what there was no time for counts as unrewarded
        obtained = min(0.0, honest.guess) if value is None else value
        if payload.fair and gain <= 0.0:
            obtained = min(obtained, honest.guess)
        held = holds_answer(baseline.problem, payload.text)
        payment = MeasuredReward(
            obtained, honest.guess, honest.right, honest.chance, honest.wrong, held
        )
        return _Measured(baseline, payload, payment, gain, evidence)

    def _proof(
        self,
        strategy: Strategy,
        rewarded: Sequence[_Measured],
        rewards: Sequence[MeasuredReward],
        expected_reward: ExpectedReward,
    ) -> Proof | None:
        """The proof on the problem where it says most: one on which the completion does not happen
        to hold the right answer too, if it is rewarded on one."""
        shown = [
            one
            for one, reward in zip(rewarded, rewards, strict=True)
            if one.evidence is not None and is_rewarded(reward)
        ]
        if not shown:
            return None
        best = max(shown, key=lambda one: (not one.payment.held, one.gain))
        evidence = best.evidence
        assert evidence is not None
        if expected_reward.by_attempts:
            evidence = replace(
                evidence, kind="every_answer", text=_of_attempts(best.payload, expected_reward)
            )
        problem, value = best.baseline.problem, best.payment.obtained
        # The score as it was given: rounded, a threshold may be above what is confirmed later.
        least, attack = min(value, self.honest[problem.id].right), strategy.attack
        return Proof(attack, best.payload, problem, value, least, evidence, expected_reward)

    def _gain(self, baseline: Baseline, payload: Payload, score: Score) -> float:
        """The part of the way from a guess to a right answer that a score goes; none for what is
        fair credit for a part of the answer."""
        honest = self.honest[baseline.problem.id]
        span, value = honest.right - honest.guess, value_of(score)
        if value is None or span <= 0.0 or (payload.fair and value <= payload.fair * honest.right):
            return 0.0
        return (value - honest.guess) / span

    def _score(
        self, asked: Sequence[tuple[AuditProblem, str]], until: float = math.inf
    ) -> list[Score]:
        self.prover.budget.calls -= len(asked)
        queries = [Query(problem, text) for problem, text in asked]
        return self.prover.journal.screen(queries, until=until)
