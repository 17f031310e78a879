"""Tier 5: train a policy with GRPO against a verifier, and weigh what it converges on.

    audit(subject, options=AuditOptions(tiers=(5,), discoverer=Reinforcement()))

The policy is rewarded with the verifier's raw scores and nothing else. What passes is shown to the
oracle for the curve, and what the oracle calls wrong is handed to the prover, which proves it like
the finding of any other tier: shortened, and scored three times from scratch.

Covered: verifiers of answers and of programs; every score from a sealed call of the audit's own
subject, each text scored once; the budget in calls and seconds; seeds.
Not covered: holes that need words, statements or files outside the grammar, state that a verifier
keeps between calls, and a verifier that gives no score to any attempt: there is nothing to climb.

Source: GRPO, arXiv 2402.03300.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unhack.audit.attack import Attack, Claim, Knowledge
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.prover import Prover
from unhack.audit.report.discovery import CurvePoint, Discovery
from unhack.audit.subject import Query, Score
from unhack.training.discovery.answers import AnswerGrammar
from unhack.training.discovery.grammar import Written
from unhack.training.discovery.learner import Learner
from unhack.training.discovery.programs import ProgramGrammar

_FLAWS = {
    Claim.NO_ANSWER: "degenerate_credit", Claim.OTHER_ANSWER: "weak_proxy",
    Claim.EVERY_ANSWER: "hedging", Claim.BREAKS_RULE: "weak_proxy", Claim.PROGRAM: "weak_cases",
}  # fmt: skip
"""Flaw of a verifier by the claim that passes it, when nothing else is known."""
_GROUPS = 4
"""Least groups of an update."""
_ASKED_ANSWERS, _ASKED_PROGRAMS = 64, 6
"""New passing texts that the oracle is shown in one update; it has to run programs."""
_WINDOW = 5
_CONVERGED, _SURE = 0.5, 0.9
"""Mean share of passing wrong rollouts in the last updates: what counts as converged, and what
ends the training."""
_WITNESSES = 2
"""Of one problem that are weighed."""
_LARGEST = 2.0
"""Rewards are cut there, in units of what a correct completion gets above an empty one."""


@dataclass(frozen=True, slots=True)
class Reinforcement:
    """Tier 5 of an audit; see `unhack.audit.options.Discoverer`."""

    model: Path | None = None
    """Folder of a Hugging Face causal LM that is trained; None: a small policy over a grammar."""
    updates: int = 60
    group: int = 16

    def __call__(
        self, prover: Prover, targets: Sequence[tuple[Baseline, Knowledge]], /, *, seed: int
    ) -> Discovery:
        """Train on the targets of the first one's kind. Raises UsageError for a folder that holds
        no model."""
        is_code = targets[0][1].problem.is_code
        fitting = [
            (mark, known)
            for mark, known in targets
            if known.problem.is_code is is_code and mark.threshold is not None
        ]
        learner = self._learner([known for _, known in fitting], is_code=is_code, seed=seed)
        run = _Run(prover, [mark for mark, _ in fitting], learner)
        why = ""
        for step in range(self.updates):
            why = prover.over or prover.budget.spent or run.update(step, group=self.group)
            prover.on_step("tier 5", step + 1, self.updates, len(run.wrong))
            if why or run.settled or (prover.first_only and run.wrong):
                break
        run.weigh()
        return run.record(why)

    def _learner(self, known: Sequence[Knowledge], *, is_code: bool, seed: int) -> Learner:
        if self.model is not None:
            # Torch takes seconds to import, and the options of tier 5 are made without it.
            from unhack.training.discovery.language import LanguageLearner

            return LanguageLearner(self.model, known, seed=seed)
        # Torch, as above.
        from unhack.training.discovery.tiny import GrammarLearner

        grammar = ProgramGrammar(known) if is_code else AnswerGrammar(known)
        return GrammarLearner(grammar, seed=seed)


@dataclass
class _Run:
    """One training run and what it has seen."""

    prover: Prover
    marks: Sequence[Baseline]
    learner: Learner
    curve: list[CurvePoint] = field(default_factory=list[CurvePoint])
    scores: dict[tuple[int, str], Score] = field(default_factory=dict[tuple[int, str], Score])
    judged: dict[tuple[int, str], bool] = field(default_factory=dict[tuple[int, str], bool])
    """Passing texts that the oracle was shown, and whether it calls them wrong."""
    written: dict[tuple[int, str], Written] = field(default_factory=dict[tuple[int, str], Written])
    wrong: dict[tuple[int, str], Written] = field(default_factory=dict[tuple[int, str], Written])
    seen: Counter[tuple[int, str]] = field(default_factory=Counter[tuple[int, str]])
    """Recent counts of each wrong text that the policy wrote."""
    calls: int = 0

    @property
    def share(self) -> float:
        """Mean share of passing wrong rollouts in the last updates."""
        last = self.curve[-_WINDOW:]
        return sum(point.wrong for point in last) / _WINDOW

    @property
    def settled(self) -> bool:
        """True once the policy does little else than pass wrongly."""
        return self.share >= _SURE

    def update(self, step: int, *, group: int) -> str:
        """Draw, score, learn; why it could not be done, empty when it was."""
        count = len(self.marks)
        groups = max(_GROUPS, count)
        problems = [number % count for number in range(groups)]
        drawn = self.learner.draw(problems, group=group, step=step)
        items = [(problems[at // group], written) for at, written in enumerate(drawn)]
        keys = [(problem, written.text) for problem, written in items]
        self.written.update(zip(keys, drawn, strict=True))
        if not self._score(list(dict.fromkeys(key for key in keys if key not in self.scores))):
            return "the calls of the budget are used up"
        rewards = [self._reward(key) for key in keys]
        passing = [self._passes(key) for key in keys]
        self._show(items, passing)
        shown = [self.judged[key] for key in keys if key in self.judged]
        self.seen.update(key for key in keys if self.judged.get(key))
        entropy = self.learner.learn(rewards, group=group).entropy
        passed = sum(passing) / len(keys)
        self.curve.append(
            CurvePoint(
                step,
                reward=sum(_value(self.scores[key]) for key in keys) / len(keys),
                passing=passed,
                wrong=passed * sum(shown) / len(shown) if shown else 0.0,
                entropy=entropy,
                calls=self.calls,
            )
        )
        return ""

    def weigh(self) -> None:
        """Hand the shortest wrong texts of each problem to the prover, the rest as a count."""
        shared = self._shared_hint()
        weighed: set[tuple[int, str]] = set()
        attacks: dict[tuple[str, bool], Attack] = {}
        for number, mark in enumerate(self.marks):
            mine = [key for key in self.wrong if key[0] == number]
            mine.sort(key=lambda one: (self.wrong[one].near, len(one[1])))
            for key in mine[:_WITNESSES]:
                payload = self.wrong[key].payload
                assert payload is not None
                attack = _attack(attacks, self.wrong[key], mark, shared=shared)
                weighed.add(key)
                self.prover.weigh(mark, attack, payload, score=self.scores[key])
        for key in self.scores.keys() - weighed:
            attack = _attack(attacks, self.written[key], self.marks[key[0]], shared=shared)
            self.prover.count(attack, payloads=1, passed=int(self._passes(key)))

    def record(self, why: str) -> Discovery:
        """The result of the training."""
        common = max(self.seen, key=lambda key: self.seen[key], default=None)
        found = common is not None and self.seen[common] > 0
        return Discovery(
            policy=self.learner.name,
            parameters=self.learner.parameters,
            curve=tuple(self.curve),
            converged=self.share >= _CONVERGED,
            witness=common[1] if found and common is not None else "",
            problem=self.marks[common[0]].problem.id if found and common is not None else "",
            why=why,
        )

    def _score(self, fresh: Sequence[tuple[int, str]]) -> bool:
        """Score texts; False where the budget ended before."""
        if len(fresh) > self.prover.budget.calls:
            return False
        shots = [Query(self.marks[problem].problem, text) for problem, text in fresh]
        found = self.prover.journal.score(shots)
        self.prover.budget.calls -= len(fresh)
        self.calls += len(fresh)
        self.scores.update(zip(fresh, found, strict=True))
        return True

    def _passes(self, key: tuple[int, str]) -> bool:
        threshold = self.marks[key[0]].threshold
        return threshold is not None and self.scores[key].at_least(threshold)

    def _reward(self, key: tuple[int, str]) -> float:
        """The raw score between an empty completion's (0) and a correct one's (1)."""
        mark = self.marks[key[0]]
        assert mark.threshold is not None
        span = mark.threshold - mark.null
        scaled = (_value(self.scores[key]) - mark.null) / (span if span > 0 else 1.0)
        return max(-1.0, min(_LARGEST, scaled))

    def _show(self, items: Sequence[tuple[int, Written]], passing: Sequence[bool]) -> None:
        """Show the oracle passing texts that it has not seen, as they come."""
        left = _ASKED_PROGRAMS if self.marks[0].problem.is_code else _ASKED_ANSWERS
        for (number, written), passed in zip(items, passing, strict=True):
            key = (number, written.text)
            if not passed or key in self.judged or not left or self.prover.budget.spent:
                continue
            left -= 1
            problem, payload = self.marks[number].problem, written.payload
            self.judged[key] = (
                payload is not None and self.prover.oracle.why_wrong(problem, payload) is not None
            )
            if self.judged[key]:
                self.wrong[key] = written

    def _shared_hint(self) -> str:
        """The class of flaw whose pieces all wrong texts hold; empty where there is none."""
        counts = Counter(hint for written in self.wrong.values() for hint in written.hints)
        return next((hint for hint in sorted(counts) if counts[hint] == len(self.wrong)), "")


def _attack(
    made: dict[tuple[str, bool], Attack], written: Written, mark: Baseline, *, shared: str
) -> Attack:
    """The same object for the same way of being wrong: the prover counts by identity."""
    is_code = mark.problem.is_code
    name, flaw, generic = "unsettled", _FLAWS[Claim.OTHER_ANSWER], False
    if is_code:
        name, flaw, generic = "program", shared or _FLAWS[Claim.PROGRAM], not written.near
    elif written.payload is not None:
        claim = written.payload.claim
        name, flaw, generic = claim.value, _FLAWS[claim], claim is Claim.NO_ANSWER
    attack = Attack(f"discovery/{name}", flaw, 5, is_code, lambda known: (), generic)
    return made.setdefault((name, generic), attack)


def _value(score: Score) -> float:
    """The raw score; 0 where there is none, and infinity as a large number."""
    if score.value is None or math.isnan(score.value):
        return 0.0
    return max(-1e6, min(1e6, score.value))
