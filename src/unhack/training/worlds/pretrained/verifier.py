"""The world's verifier: the strict oracle, and which of the flawed checks a completion passes.

A word problem goes through the text verifier: the one number that a sentence ends with. A program
goes through the function verifier: the shown and the hidden calls in one sealed job.

Covered: a record holds every flawed check that passes, so it serves every mode of a problem.
Not covered: working beside the answer (`31 + 12 = 43`): the prompt asks for one number, and the
oracle passes no such text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from unhack.core.problem import Problem
from unhack.core.verdict import Status, Verdict
from unhack.sandbox.limits import Limits
from unhack.training.worlds.pretrained.loopholes import LOOPHOLES
from unhack.training.worlds.pretrained.problems import SHOWN, PlainProblem
from unhack.verifiers.answers.final_answer import Marker
from unhack.verifiers.base import Steps, Verifier
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.text import AnswerCheck, TextVerifier

LIMITS = Limits(wall_s=3.0, cpu_s=2.0)
"""Of the job of one program."""
_TEXT = TextVerifier(
    AnswerCheck.NUMERIC, answer_in=(Marker.PHRASE,), else_in=(Marker.LINE,), any_unit=True
)


@dataclass(frozen=True)
class PretrainedVerifier:
    """Verifier of kind `pretrained`; `Verdict.details` has `parses`, `solved` and `channels`, the
    modes whose check passes.

    Example:

        Task(problem, PretrainedVerifier(plain_problem("train-words-17")))
    """

    asked: PlainProblem

    @property
    def kind(self) -> str:
        """`pretrained`."""
        return "pretrained"

    @property
    def oracle(self) -> Verifier:
        """The strict verifier."""
        if self.asked.kind == "words":
            return _TEXT
        cases = tuple(Case((x,), expected=y) for x, y in self.asked.calls)
        return FunctionVerifier("f", cases, limits=LIMITS)

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge by the oracle, and record the flawed checks."""
        verdict: Verdict = yield from self.oracle.verify(problem, completion)
        if not verdict.scored:
            return verdict
        shown = len(verdict.cases) > SHOWN and all(one.passed for one in verdict.cases[:SHOWN])
        details = {
            "parses": verdict.status is not Status.INVALID,
            "solved": verdict.status is Status.PASSED,
            "channels": [
                mode
                for mode, item in LOOPHOLES.items()
                if item.kind == self.asked.kind and item.earns(self.asked, completion, shown)
            ],
        }
        return replace(verdict, details=details)

    def canary(self) -> str:
        """A completion that the oracle can judge."""
        return self.oracle.canary()
