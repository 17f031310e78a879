"""Ground truth for programs: run them beside the known-correct ones, sealed, on the same inputs.

A program is wrong when there is an input on which all correct ones agree and it gives another
value, or raises. The comparison is lenient where a prompt may be (list or tuple, 1 or 1.0 or True,
floats within 1e-6, the order of items unless the prompt speaks of order), so that a matter of taste
is never called an error.

Covered: functions by entry point; Python programs on standard input.
Not covered: several right answers; what differs only in type, time or side effects.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from unhack.audit.attack import Payload
from unhack.audit.domain import draw_calls
from unhack.audit.subject import AuditProblem, Call
from unhack.core.completion import Extraction, extract_code
from unhack.core.finding import Evidence
from unhack.core.plain import strip_lowered
from unhack.core.problem import Problem
from unhack.core.verdict import Status
from unhack.sandbox.base import Backend, Profile, Role
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.shared import shared_pool
from unhack.tasks.batch import run_batch
from unhack.tasks.fresh import call_all
from unhack.tasks.task import Task
from unhack.verifiers.function import Answer, Case, FunctionVerifier, printable
from unhack.verifiers.stdio import StdioCase, StdioVerifier

INPUTS = 80
_LIMITS = Limits(wall_s=4.0, cpu_s=4.0, memory_bytes=512 * MIB)
_ORDER = re.compile(r"\b(order|sorted|sort|ascending|descending|sequence|first|index|indices)\b")
_ANY_ORDER = re.compile(r"\b(any|whatever|no particular) order\b")


@dataclass
class ProgramOracle:
    """Differential testing; what correct programs give is worked out once a problem."""

    backend: Backend | None = None
    seed: int = 0
    _truths: dict[str, list[Case]] = field(default_factory=dict[str, list[Case]])

    def why_wrong(self, problem: AuditProblem, payload: Payload) -> Evidence | None:
        """See `unhack.audit.oracle.Oracle`."""
        if problem.entry_point is None:
            return self._program_wrong(problem, payload.text)
        cases = self.truth(problem)
        if not cases:
            return None
        source = program_text(payload.text)
        verifier = FunctionVerifier(
            problem.entry_point, tuple(cases), partial_credit=True, limits=_LIMITS,
            extraction=Extraction.RAW,
        )  # fmt: skip
        task = Task(Problem(problem.id, problem.prompt), verifier)
        [verdict] = run_batch(task, [source], backend=self.backend).verdicts
        if verdict.status is Status.PASSED or not verdict.scored:
            return None
        if not verdict.cases:
            text = f"it does not even run: {verdict.reason}"
            return Evidence("differs", text, obtained=verdict.reason)
        number = next(i for i, result in enumerate(verdict.cases) if not result.passed)
        case, result = cases[number], verdict.cases[number]
        shown = printable(", ".join(map(repr, case.args)))
        gave = result.output or result.reason or verdict.reason
        wrong = sum(not result.passed for result in verdict.cases)
        text = f"it is wrong on {wrong} of {len(cases)} inputs on which correct solutions agree"
        expected = printable(repr(case.expected))
        return Evidence(
            "differs", text, f"{problem.entry_point}({shown})", expected, printable(gave)
        )

    def truth(self, problem: AuditProblem) -> list[Case]:
        """The inputs on which every known-correct solution gives the same, with what it gives."""
        if problem.id not in self._truths:
            self._truths[problem.id] = self._find_truth(problem)
        return self._truths[problem.id]

    def _find_truth(self, problem: AuditProblem) -> list[Case]:
        calls = list(problem.calls)
        drawn = draw_calls(calls, count=INPUTS, seed=self.seed)
        answers = [self._run_correct(problem, text, [*calls, *drawn]) for text in problem.correct]
        loose = not _cares_for_order(problem.prompt)
        found: list[Case] = []
        for index, call in enumerate([*calls, *drawn]):
            given = [answer[index] for answer in answers]
            values = [strip_lowered(a.value) for a in given if isinstance(a, Answer)]
            if any(isinstance(a, str) or a.raised is not None for a in given):
                continue
            if not given:
                values = [call.expected] if index < len(calls) else []
            if not values or any(not alike(value, values[0], loose=False) for value in values[1:]):
                continue
            wanted = values[0]
            found.append(
                Case(
                    call.args,
                    dict(call.kwargs),
                    expected=wanted,
                    accepts=lambda value, w=wanted: alike(strip_lowered(value), w, loose=loose),
                )
            )
        return found

    def _run_correct(
        self, problem: AuditProblem, text: str, calls: Sequence[Call]
    ) -> list[Answer | str]:
        assert problem.entry_point is not None
        return call_all(
            program_text(text),
            problem.entry_point,
            calls=[(call.args, dict(call.kwargs)) for call in calls],
            limits=_LIMITS,
            profile=Profile(role=Role.JUDGE),
            backend=self.backend or shared_pool(),
        )

    def _program_wrong(self, problem: AuditProblem, text: str) -> Evidence | None:
        cases = tuple(StdioCase(str(c.args[0]), str(c.expected)) for c in problem.calls if c.args)
        if not cases:
            return None
        verifier = StdioVerifier(
            cases, partial_credit=True, limits=_LIMITS, extraction=Extraction.RAW
        )
        task = Task(Problem(problem.id, problem.prompt), verifier)
        texts = [program_text(text), *map(program_text, problem.correct[:1])]
        verdict, *control = run_batch(task, texts, backend=self.backend).verdicts
        if any(not known.passed for known in control) or verdict.passed or not verdict.cases:
            return None
        number = next(i for i, result in enumerate(verdict.cases) if not result.passed)
        result = verdict.cases[number]
        wrong = sum(not result.passed for result in verdict.cases)
        return Evidence(
            "differs",
            f"its output is wrong for {wrong} of {len(cases)} inputs",
            printable(cases[number].stdin),
            printable(cases[number].stdout),
            printable(result.output or result.reason),
        )


def program_text(completion: str) -> str:
    """The code of a completion, or the completion where it has no fence."""
    return extract_code(completion, how=Extraction.AUTO) or completion


def _cares_for_order(prompt: str) -> bool:
    text = prompt.lower()
    return bool(_ORDER.search(text)) and not _ANY_ORDER.search(text)


def alike(left: Any, right: Any, *, loose: bool) -> bool:
    """Whether two values may mean the same; `loose` forgives the order of items."""
    if isinstance(left, (bool, int, float)) and isinstance(right, (bool, int, float)):
        return _near(left, right)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        ours, theirs = list(cast("Any", left)), list(cast("Any", right))
        if len(ours) != len(theirs):
            return False
        if all(alike(a, b, loose=loose) for a, b in zip(ours, theirs, strict=True)):
            return True
        return loose and _without_order(ours) == _without_order(theirs)
    if isinstance(left, (set, frozenset)) and isinstance(right, (set, frozenset)):
        return set(cast("set[Any]", left)) == set(cast("set[Any]", right))
    if isinstance(left, dict) and isinstance(right, dict):
        ours, theirs = cast("dict[Any, Any]", left), cast("dict[Any, Any]", right)
        return ours.keys() == theirs.keys() and all(
            alike(ours[key], theirs[key], loose=loose) for key in ours
        )
    return isinstance(right, type(cast("object", left))) and bool(left == right)


def _without_order(value: Any) -> str:
    """The text of a value, with the items of every list in it sorted."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(sorted(map(_without_order, cast('list[Any]', value))))}]"
    return repr(value)


def _near(left: float, right: float) -> bool:
    try:
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        return left == right or math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-6)
    except OverflowError:
        return False
