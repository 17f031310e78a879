"""Tier 5: train a policy with GRPO against a verifier, and weigh what it converges on.

    audit(subject, options=AuditOptions(tiers=(5,), discoverer=Reinforcement()))

The policy is rewarded with the verifier's raw scores; nothing but the right answer is worth nothing
to it. What passes is shown to the oracle for the curve, and what the oracle calls wrong is proven
like the finding of any other tier: ways of writing as strategies on problems that they were not
learnt on, texts as they are, each shortened, and scored three times from scratch.

Covered: verifiers of answers and of programs; the budget in calls, seconds and CPU seconds; seeds;
an interrupt, which ends the training and keeps what it found.
Not covered: holes that need words, statements or files outside the grammar, state that a verifier
keeps between calls, and a verifier that gives no score to any attempt: there is nothing to climb.
Environments have a policy of their own, in `episodes`.

Source: GRPO, arXiv 2402.03300.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unhack.audit.attack import Knowledge
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.prover import Prover
from unhack.audit.report.discovery import Discovery
from unhack.audit.search.strategies.search import HackSearch
from unhack.audit.subject import Subject
from unhack.training.discovery.answers import AnswerGrammar
from unhack.training.discovery.grammar import Grammar
from unhack.training.discovery.interrupts import INTERRUPTED, interrupts
from unhack.training.discovery.learner import Learner
from unhack.training.discovery.programs import ProgramGrammar
from unhack.training.discovery.rollouts import DiscoveryRollouts
from unhack.training.discovery.weighing import weigh

_FOR_TRAINING = 0.75
"""Of the calls and seconds; the rest is for measuring what was learnt."""


@dataclass(frozen=True, slots=True)
class Reinforcement:
    """Tier 5 of an audit; see `unhack.audit.options.Discoverer`."""

    model: Path | None = None
    """Folder of a Hugging Face causal LM that is trained; None: a small policy over a grammar."""
    updates: int = 60
    group: int = 16
    learns: bool = True
    """False for the control: as many rollouts, all of them drawn from the first policy."""

    def refusal(self, subject: Subject, *, judged: bool) -> str:
        """The reason why tier 5 cannot take a subject; empty where it can. `judged` is true where
        the user's own oracle decides what is wrong. Nothing of the subject is run."""
        problems = subject.problems
        if not subject.sees_answer:
            return "the verifier is not given the answer, so a text of the right form is rewarded"
        if not any(one.correct for one in problems):
            return "no right completion is known, so nothing says what a full reward is"
        if not judged and not any(one.is_code or one.answer for one in problems):
            return (
                "its right completions are neither programs nor final answers, so nothing proves "
                "another one wrong; give an --oracle"
            )
        return ""

    def __call__(
        self,
        prover: Prover,
        targets: Sequence[tuple[Baseline, Knowledge]],
        hacks: HackSearch,
        /,
        *,
        seed: int,
    ) -> Discovery:
        """Train on the targets of the first one's kind. Raises UsageError for a folder that holds
        no model."""
        is_code = targets[0][1].problem.is_code
        fitting = [
            (mark, known)
            for mark, known in targets
            if known.problem.is_code is is_code and mark.threshold is not None
        ]
        known = [one for _, one in fitting]
        grammar: Grammar = ProgramGrammar(known) if is_code else AnswerGrammar(known)
        learner = self._learner(grammar, known, seed=seed)
        rollouts = DiscoveryRollouts(prover, [mark for mark, _ in fitting], learner, self.learns)
        why = self._train(rollouts, prover)
        weigh(rollouts, hacks, grammar if self.model is None else None)
        others = len(targets) - len(fitting)
        left_out = f"{others} problems of another kind were left out" if others else ""
        return rollouts.record("; ".join(filter(None, [why, left_out])))

    def _train(self, rollouts: DiscoveryRollouts, prover: Prover) -> str:
        """Update until the policy does little else than pass wrongly, or the reason to stop that is
        returned; empty where there is none."""
        now = time.monotonic()
        until = now + _FOR_TRAINING * (prover.budget.until - now)
        kept = prover.budget.calls - int(_FOR_TRAINING * prover.budget.calls)
        with interrupts() as interrupted:
            for step in range(self.updates):
                why = INTERRUPTED if interrupted() else prover.over or prover.budget.spent
                if not why and (prover.budget.calls <= kept or time.monotonic() > until):
                    why = "the part of the budget that training may use is used up"
                why = why or rollouts.update(step, group=self.group, until=until)
                prover.on_step("tier 5", step + 1, self.updates, len(rollouts.wrong))
                if why:
                    return why
                if rollouts.settled or (prover.first_only and rollouts.wrong):
                    return ""
        return ""

    def _learner(self, grammar: Grammar, known: Sequence[Knowledge], *, seed: int) -> Learner:
        if self.model is not None:
            # Torch takes seconds to import, and the options of tier 5 are made without it.
            from unhack.training.discovery.language import LanguageLearner

            return LanguageLearner(self.model, known, seed=seed)
        # Torch, as above.
        from unhack.training.discovery.tiny import GrammarLearner

        return GrammarLearner(grammar, seed=seed)
