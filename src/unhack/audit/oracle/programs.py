"""Ground truth for programs: run them beside the known-correct ones, sealed, on the same inputs.

A program is wrong when there is an input on which all correct ones agree and it gives another
value, or raises. The comparison is lenient where a prompt may be (list or tuple, 1 or 1.0 or True,
floats within 1e-6, the order of items unless the prompt speaks of order), so that a matter of taste
is never called an error. A task with a checker has several right results: then its checker judges.

Covered: functions and methods by entry point; Python programs on standard input.
Not covered: several right answers without a checker; what differs only in type, time or side
effects.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from unhack.audit.attack import Payload
from unhack.audit.oracle.entry_points import as_function
from unhack.audit.oracle.inputs import inputs_of
from unhack.audit.subject import AuditProblem, Call
from unhack.core import plain
from unhack.core.completion import Extraction, extract_code, with_setup
from unhack.core.finding import Evidence
from unhack.core.plain import to_builtins
from unhack.core.problem import Problem
from unhack.core.verdict import CaseResult, Status, Verdict
from unhack.sandbox.job import Backend, Ending, Profile, Role, run_all
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.pool.shared import shared_pool
from unhack.tasks.batch import run_batch
from unhack.tasks.fresh import call_all, trusted_limits
from unhack.tasks.task import Task
from unhack.verifiers import jobs
from unhack.verifiers.claims import Answer, printable
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.stdio import StdioCase, StdioVerifier
from unhack.verifiers.values.case_values import CaseValueError

INPUTS = 80
_PROGRAM_INPUTS = 16
_LIMITS = Limits(wall_s=4.0, cpu_s=4.0, memory_bytes=512 * MIB)
_MIN_S, _PATIENCE = 1.0, 10.0
"""A program may take this many times what the slowest correct one took; at least a second."""
_ORDER = re.compile(r"\b(order|sorted|sort|ascending|descending|sequence|first|index|indices)\b")
_ANY_ORDER = re.compile(r"\b(any|whatever|no particular) order\b")


@dataclass
class ProgramOracle:
    """Differential testing; what correct programs give is worked out once a problem."""

    backend: Backend | None = None
    seed: int = 0
    _cases: dict[str, list[Case]] = field(default_factory=dict[str, list[Case]])
    _stdio_cases: dict[str, list[StdioCase]] = field(default_factory=dict[str, list[StdioCase]])
    _limits: dict[str, Limits] = field(default_factory=dict[str, Limits])
    """By problem: an endless program must not take as long as a correct one might."""

    def why_wrong(self, problem: AuditProblem, payload: Payload) -> Evidence | None:
        """See `unhack.audit.oracle.oracle.Oracle`."""
        if problem.entry_point is None:
            return self._program_wrong(problem, payload.text)
        cases = self.reference_cases(problem)
        if not cases:
            return None
        verdict = self._verdict(problem, program_text(payload.text), cases)
        if verdict.status is Status.PASSED or not verdict.scored:
            return None
        if not verdict.cases:
            text = f"it does not even run: {verdict.reason}"
            return Evidence("differs", text, obtained=verdict.reason)
        number, result, wrong = _first_wrong(verdict)
        case = cases[number]
        named = [f"{key}={value!r}" for key, value in case.kwargs.items()]
        shown = printable(", ".join([*map(repr, case.args), *named]))
        gave = result.output or result.reason or verdict.reason
        text = f"it is wrong on {wrong} of {len(cases)} inputs on which correct solutions agree"
        if problem.checker:
            text = f"the task's checker rejects it on {wrong} of {len(cases)} inputs"
        expected = printable(repr(case.expected))
        return Evidence(
            "differs", text, f"{problem.entry_point}({shown})", expected, printable(gave)
        )

    def is_blind(self, problem: AuditProblem) -> bool:
        """Tell whether no input is known on which a program could be shown to be wrong."""
        if problem.entry_point is not None:
            return not self.reference_cases(problem)
        return not self._stdio_cases_of(problem)

    def _verdict(self, problem: AuditProblem, source: str, cases: Sequence[Case]) -> Verdict:
        source, name = as_function(source, problem.entry_point or "")
        verifier = FunctionVerifier(
            name, tuple(cases), checker=problem.checker or None, partial_credit=True,
            setup=problem.setup, limits=self._limits.get(problem.id, _LIMITS),
            extraction=Extraction.RAW,
        )  # fmt: skip
        task = Task(Problem(problem.id, problem.prompt), verifier)
        [verdict] = run_batch(task, [source], backend=self.backend).verdicts
        return verdict

    def reference_cases(self, problem: AuditProblem) -> list[Case]:
        """The inputs on which every known-correct solution gives the same, with what it gives; for
        a task with a checker, those on which it accepts every known-correct one."""
        if problem.id not in self._cases:
            self._cases[problem.id] = self._find_cases(problem)
        return self._cases[problem.id]

    def _find_cases(self, problem: AuditProblem) -> list[Case]:
        calls = [_as_given(call) for call in self._inputs(problem, INPUTS)]
        started = time.monotonic()
        answers = [self._run_correct(problem, text, calls) for text in problem.correct]
        if answers:
            took = _PATIENCE * (time.monotonic() - started)
            seconds = min(_LIMITS.wall_s, max(_MIN_S, took))
            self._limits[problem.id] = replace(_LIMITS, wall_s=seconds, cpu_s=seconds)
        loose = not _cares_for_order(problem.prompt)
        found: list[Case] = []
        for index, call in enumerate(calls):
            given = [answer[index] for answer in answers]
            values = [to_builtins(a.value) for a in given if isinstance(a, Answer)]
            if any(isinstance(a, str) or a.raised is not None for a in given):
                continue
            if not given:
                values = [call.expected] if index < len(problem.calls) else []
            one_right = not problem.checker
            if not values or (
                one_right and any(not alike(value, values[0], loose=False) for value in values[1:])
            ):
                continue
            wanted = values[0]
            accepts = _judge_of(wanted, loose=loose) if one_right else None
            case = _case_of(call, wanted, accepts)
            found += [case] if case is not None else []
        return self._accepted_cases(problem, found) if problem.checker else found

    def _accepted_cases(self, problem: AuditProblem, cases: list[Case]) -> list[Case]:
        """The cases on which the task's checker accepts all known-correct solutions."""
        for text in problem.correct:
            if not cases:
                break
            verdict = self._verdict(problem, program_text(text), cases)
            results = verdict.cases or (CaseResult(False),) * len(cases)
            cases = [case for case, one in zip(cases, results, strict=True) if one.passed]
        return cases

    def _inputs(self, problem: AuditProblem, count: int) -> list[Call]:
        return inputs_of(
            problem,
            count=count,
            seed=self.seed,
            limits=_LIMITS,
            backend=self.backend or shared_pool(),
        )

    def _run_correct(
        self, problem: AuditProblem, text: str, calls: Sequence[Call]
    ) -> list[Answer | str]:
        source = with_setup(problem.setup, program_text(text))
        source, name = as_function(source, problem.entry_point or "")
        return call_all(
            source,
            name,
            calls=[(call.args, dict(call.kwargs)) for call in calls],
            limits=_LIMITS,
            profile=Profile(role=Role.JUDGE),
            backend=self.backend or shared_pool(),
        )

    def _program_wrong(self, problem: AuditProblem, text: str) -> Evidence | None:
        cases = self._stdio_cases_of(problem)
        if not cases:
            return None
        verdict = self._stdio_verdict(problem, program_text(text), cases)
        if verdict.passed or not verdict.scored or not verdict.cases:
            return None
        number, result, wrong = _first_wrong(verdict)
        return Evidence(
            "differs",
            f"its output is wrong for {wrong} of {len(cases)} inputs",
            printable(cases[number].stdin),
            printable(cases[number].stdout),
            printable(result.output or result.reason),
        )

    def _stdio_cases_of(self, problem: AuditProblem) -> list[StdioCase]:
        if problem.id not in self._stdio_cases:
            self._stdio_cases[problem.id] = self._find_stdio_cases(problem)
        return self._stdio_cases[problem.id]

    def _find_stdio_cases(self, problem: AuditProblem) -> list[StdioCase]:
        """The known inputs and drawn ones, as far as every known-correct program passes them."""
        cases = [StdioCase(str(c.args[0]), str(c.expected)) for c in problem.calls if c.args]
        if problem.correct and problem.generator:
            drawn = self._inputs(problem, _PROGRAM_INPUTS)[len(problem.calls) :]
            cases += self._run_inputs(problem.correct[0], [str(call.args[0]) for call in drawn])
        for text in problem.correct:
            if not cases:
                break
            verdict = self._stdio_verdict(problem, program_text(text), cases)
            results = verdict.cases or (CaseResult(False),) * len(cases)
            cases = [case for case, one in zip(cases, results, strict=True) if one.passed]
        return cases

    def _run_inputs(self, correct: str, inputs: Sequence[str]) -> list[StdioCase]:
        """Cases from what a known-correct program prints; inputs on which it fails are left out."""
        profile, source = Profile(role=Role.JUDGE), program_text(correct)
        waiting = [
            jobs.main(source, stdin=text.encode(), limits=trusted_limits(_LIMITS), profile=profile)
            for text in inputs
        ]
        outcomes = run_all(self.backend or shared_pool(), waiting)
        return [
            StdioCase(text, outcome.stdout.decode("utf-8", "replace"))
            for text, outcome in zip(inputs, outcomes, strict=True)
            if outcome.ending is Ending.EXITED and outcome.exit_code == 0
        ]

    def _stdio_verdict(
        self, problem: AuditProblem, source: str, cases: Sequence[StdioCase]
    ) -> Verdict:
        verifier = StdioVerifier(
            tuple(cases), checker=problem.checker or None, partial_credit=True, limits=_LIMITS,
            extraction=Extraction.RAW,
        )  # fmt: skip
        task = Task(Problem(problem.id, problem.prompt), verifier)
        [verdict] = run_batch(task, [source], backend=self.backend).verdicts
        return verdict


def _first_wrong(verdict: Verdict) -> tuple[int, CaseResult, int]:
    """(number, result) of the first case that is not passed, and how many are not."""
    wrong = [(number, one) for number, one in enumerate(verdict.cases) if not one.passed]
    return (*wrong[0], len(wrong))


def _as_given(call: Call) -> Call:
    """The call as a program gets it: plain values, and no list in two places."""
    try:
        given = plain.loads(plain.dumps([list(call.args), dict(call.kwargs)]))
        args, kwargs = plain.to_builtins(given)
    except (plain.PlainDataError, TypeError):
        return call  # no case is made of it
    return replace(call, args=tuple(args), kwargs=kwargs)


def _case_of(call: Call, wanted: Any, accepts: Callable[[Any], bool] | None) -> Case | None:
    """The case of a call; None where a value of it cannot cross to a program or back."""
    case = Case(call.args, dict(call.kwargs), expected=wanted, accepts=accepts)
    try:
        FunctionVerifier("f", (case,))
    except CaseValueError:
        return None
    return case


def _judge_of(wanted: Any, *, loose: bool) -> Callable[[Any], bool]:
    return lambda value: alike(to_builtins(value), wanted, loose=loose)


def program_text(completion: str) -> str:
    """The code of a completion, or the completion where it has no fence."""
    return extract_code(completion, how=Extraction.AUTO) or completion


def _cares_for_order(prompt: str) -> bool:
    text = prompt.lower()
    return bool(_ORDER.search(text)) and not _ANY_ORDER.search(text)


def alike(left: Any, right: Any, *, loose: bool) -> bool:
    """Tell whether two values may mean the same; `loose` forgives the order of items."""
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
