"""Ground truth for programs: run them beside the known-correct ones, sealed, on the same inputs.

A program is wrong when there is an input on which all correct ones agree and it gives another
value, or raises. The comparison is lenient where a prompt may be (`results`), so that a matter of
taste is never called an error. A task with a checker has several right results: then its checker
judges; where only the prompt allows several, what raises or gives another kind of value is wrong.

Covered: functions and methods by entry point; Python programs on standard input.
Not covered: the values of several right answers without a checker; what differs only in type, time
or side effects.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from unhack.audit.attack import Payload
from unhack.audit.oracle.entry_points import as_function, definition_of, program_text
from unhack.audit.oracle.inputs import (
    REPLAY,
    as_data,
    draw_sequences,
    has_raised,
    inputs_of,
    step_text,
    with_replay,
    without_unasked,
)
from unhack.audit.oracle.results import alike, has_several, judge_of, may_be_free, same_kind
from unhack.audit.oracle.whole_programs import DRAWN, WholePrograms, verdict_on
from unhack.audit.subject import AuditProblem, Call, Step
from unhack.core import plain
from unhack.core.completion import Extraction, with_setup
from unhack.core.finding import Evidence
from unhack.core.plain import to_builtins
from unhack.core.problem import Problem
from unhack.core.verdict import CaseResult, Status, Verdict
from unhack.sandbox.job import Backend, Profile, Role
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.pool.pool import shared_pool
from unhack.tasks.fresh import call_all
from unhack.tasks.task import Task
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.jobs import Answer, printable
from unhack.verifiers.values.case_values import CaseValueError

INPUTS = 80
_SEQUENCES = 40
_LIMITS = Limits(wall_s=4.0, cpu_s=4.0, memory_bytes=512 * MIB)
_MIN_S, _PATIENCE = 1.0, 10.0
"""A program may take this many times what the slowest correct one took; at least a second."""


@dataclass
class ProgramOracle:
    """Differential testing; what correct programs give is worked out once a problem."""

    backend: Backend | None = None
    seed: int = 0
    _cases: dict[str, list[Case]] = field(default_factory=dict[str, list[Case]])
    _sequences: dict[str, list[Case]] = field(default_factory=dict[str, list[Case]])
    _own: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """By problem and entry point, how many of the first cases the verifier itself uses."""
    _limits: dict[str, Limits] = field(default_factory=dict[str, Limits])
    """By problem: an endless program must not take as long as a correct one might."""

    def __post_init__(self) -> None:
        self._programs = WholePrograms(_LIMITS, self.backend, self.seed)

    def why_wrong(self, problem: AuditProblem, payload: Payload) -> Evidence | None:
        """See `unhack.audit.oracle.oracle.Oracle`."""
        if problem.entry_point is None:
            drawn = self._generated_runs(problem)
            return self._programs.why_wrong(problem, program_text(payload.text), drawn)
        for cases, entry in self._all_cases(problem):
            evidence = self._wrong_on(problem, payload, cases, entry=entry)
            if evidence is not None:
                return evidence
        return None

    def _all_cases(self, problem: AuditProblem) -> Iterator[tuple[list[Case], str]]:
        """(cases, the function that takes them)."""
        yield self.reference_cases(problem), problem.entry_point or ""
        yield self._sequence_cases(problem), REPLAY

    def _wrong_on(
        self, problem: AuditProblem, payload: Payload, cases: list[Case], *, entry: str
    ) -> Evidence | None:
        if not cases:
            return None
        verdict = self._verdict(problem, program_text(payload.text), cases, entry=entry)
        if verdict.status is Status.PASSED or not verdict.scored:
            return None
        if not verdict.cases:
            text = f"it does not even run: {verdict.reason}"
            return Evidence("differs", text, obtained=verdict.reason)
        places = [place for place, one in enumerate(verdict.cases) if not one.passed]
        wrong, result, case = len(places), verdict.cases[places[0]], cases[places[0]]
        own = self._own.get((problem.id, entry), 0)
        slight = is_slight(places, own=own, of=len(cases))
        if entry == REPLAY:
            gave = result.output or result.reason
            found = _sequence_evidence(case, gave, wrong, of=len(cases))
            return replace(found, slight=slight)
        named = [f"{key}={value!r}" for key, value in case.kwargs.items()]
        shown = printable(", ".join([*map(repr, case.args), *named]))
        gave = result.output or result.reason or verdict.reason
        text = f"it is wrong on {wrong} of {len(cases)} inputs on which correct solutions agree"
        if problem.checker:
            text = f"the task's checker rejects it on {wrong} of {len(cases)} inputs"
        expected = printable(repr(case.expected))
        return Evidence(
            "differs", text, f"{problem.entry_point}({shown})", expected, printable(gave), slight
        )

    def is_blind(self, problem: AuditProblem) -> bool:
        """Tell whether no input is known on which a program could be shown to be wrong."""
        if problem.entry_point is not None:
            return not any(cases for cases, _ in self._all_cases(problem))
        return not self._programs.reference_runs(problem, self._generated_runs(problem))

    def _verdict(
        self, problem: AuditProblem, source: str, cases: Sequence[Case], *, entry: str
    ) -> Verdict:
        source, name = _callable_in(source, entry)
        verifier = FunctionVerifier(
            name, tuple(cases), partial_credit=True,
            checker=(problem.checker or None) if entry != REPLAY else None,
            setup=problem.setup, limits=self._limits.get(problem.id, _LIMITS),
            extraction=Extraction.RAW,
        )  # fmt: skip
        return verdict_on(source, Task(Problem(problem.id, problem.prompt), verifier), self.backend)

    def reference_cases(self, problem: AuditProblem) -> list[Case]:
        """The inputs on which every known-correct solution gives the same, with what it gives; for
        a task with a checker, those on which it accepts every known-correct one."""
        if problem.id not in self._cases:
            self._cases[problem.id] = self._find_cases(problem)
        return self._cases[problem.id]

    def _find_cases(self, problem: AuditProblem) -> list[Case]:
        found = self._agreed_cases(problem, free=False)
        if may_be_free(problem.prompt, [case.expected for case in found]):
            found = self._agreed_cases(problem, free=True)
        return found

    def _agreed_cases(self, problem: AuditProblem, *, free: bool) -> list[Case]:
        calls = [_as_given(call) for call in self._inputs(problem, INPUTS, free=free)]
        started = time.monotonic()
        entry = problem.entry_point or ""
        answers = [self._run_correct(problem, text, calls, entry=entry) for text in problem.correct]
        if answers:
            took = _PATIENCE * (time.monotonic() - started)
            seconds = min(_LIMITS.wall_s, max(_MIN_S, took))
            self._limits[problem.id] = replace(_LIMITS, wall_s=seconds, cpu_s=seconds)
        one_right = not (problem.checker or has_several(problem.prompt))
        found: list[tuple[Case, bool]] = []
        for index, call in enumerate(calls):
            given = [answer[index] for answer in answers]
            values = [to_builtins(a.value) for a in given if isinstance(a, Answer)]
            if any(isinstance(a, str) or a.raised is not None for a in given):
                continue
            if not given:
                values = [call.expected] if index < len(problem.calls) else []
            if not values or (
                one_right and any(not alike(value, values[0], loose=False) for value in values[1:])
            ):
                continue
            accepts = judge_of(values[0], problem.prompt) if not problem.checker else None
            case = _case_of(call, values[0], accepts)
            found += [(case, index < len(problem.calls))] if case is not None else []
        found = _of_known_kinds(found)
        kept = self._accepted_cases(problem, found) if problem.checker else found
        self._own[problem.id, entry] = sum(own for _, own in kept)
        return [case for case, _ in kept]

    def _sequence_cases(self, problem: AuditProblem) -> list[Case]:
        """The sequences of steps in which every known-correct program gives the same."""
        if problem.id not in self._sequences:
            self._sequences[problem.id] = self._find_sequences(problem) if problem.sequences else []
        return self._sequences[problem.id]

    def _find_sequences(self, problem: AuditProblem) -> list[Case]:
        drawn = draw_sequences(problem.sequences, count=_SEQUENCES, seed=self.seed)
        every = [*problem.sequences, *drawn]
        calls = [_as_given(Call((as_data(steps),))) for steps in every]
        answers = [
            self._run_correct(problem, text, calls, entry=REPLAY) for text in problem.correct
        ]
        found: list[Case] = []
        for index, call in enumerate(calls):
            given = [one[index] for one in answers]
            values = [
                to_builtins(one.value)
                for one in given
                if isinstance(one, Answer) and one.raised is None
            ]
            if not values or len(values) < len(answers):
                continue
            if any(not alike(value, values[0], loose=False) for value in values[1:]):
                continue
            if index >= len(problem.sequences) and has_raised(values[0]):
                continue  # what the author would call invalid
            case = _case_of(call, values[0], _judge_of_steps(values[0], problem.prompt))
            found += [case] if case is not None else []
            if index < len(problem.sequences):
                self._own[problem.id, REPLAY] = len(found)
        return found

    def _accepted_cases(
        self, problem: AuditProblem, cases: list[tuple[Case, bool]]
    ) -> list[tuple[Case, bool]]:
        """The cases on which the task's checker accepts all known-correct solutions."""
        for text in problem.correct:
            if not cases:
                break
            entry, asked = problem.entry_point or "", [case for case, _ in cases]
            verdict = self._verdict(problem, program_text(text), asked, entry=entry)
            results = verdict.cases or (CaseResult(False),) * len(cases)
            cases = [case for case, one in zip(cases, results, strict=True) if one.passed]
        return cases

    def _inputs(self, problem: AuditProblem, count: int, *, free: bool = False) -> list[Call]:
        return inputs_of(
            problem,
            count=count,
            seed=self.seed,
            limits=_LIMITS,
            backend=self.backend or shared_pool(),
            free=free,
        )

    def _run_correct(
        self, problem: AuditProblem, text: str, calls: Sequence[Call], *, entry: str
    ) -> list[Answer | str]:
        source = with_setup(problem.setup, program_text(text))
        source, name = _callable_in(source, entry)
        return call_all(
            source,
            name,
            calls=[(call.args, dict(call.kwargs)) for call in calls],
            limits=_LIMITS,
            profile=Profile(role=Role.JUDGE),
            backend=self.backend or shared_pool(),
        )

    def _generated_runs(self, problem: AuditProblem) -> Sequence[Call]:
        """Runs of the user's generator."""
        if not problem.generator or not problem.correct:
            return ()
        return self._inputs(problem, DRAWN)[len(problem.calls) :]


def what_to_add(problem: AuditProblem) -> str:
    """Advice for a problem on which no input is known."""
    row, drawn = '"stdin": "5\\n"', '"stdin": f"{rng.randint(0, 9)}\\n"'
    if problem.entry_point is not None:
        correct = problem.correct[0] if problem.correct else ""
        node = definition_of(correct, problem.entry_point)
        names = [item.arg for item in node.args.args if item.arg != "self"] if node else ["n"]
        row = f'"args": {[5] * len(names)}'
        drawn = f'"args": [{", ".join(["rng.randint(0, 9)"] * len(names))}]'
    return (
        "no test input is known, so no program can be shown to be wrong. Beside a verifier "
        "script, add generator.py, which draws valid inputs, for example:\n"
        f"def generate(rng):\n    return {{{drawn}}}\n"
        f'In a row of problems, add valid inputs, for example:\n"calls": [{{{row}}}]'
    )


def _callable_in(source: str, entry: str) -> tuple[str, str]:
    """(source, name of the function in it that takes the cases of an entry point)."""
    return (with_replay(source), REPLAY) if entry == REPLAY else as_function(source, entry)


def _sequence_evidence(case: Case, gave: str, wrong: int, *, of: int) -> Evidence:
    steps = [Step(kind, name, tuple(args), kwargs) for kind, name, args, kwargs in case.args[0]]
    text = f"it is wrong in {wrong} of {of} sequences of steps on which correct programs agree"
    shown = printable("; ".join(map(step_text, steps)))
    return Evidence("differs", text, shown, printable(repr(case.expected)), printable(gave))


def _of_known_kinds(cases: list[tuple[Case, bool]]) -> list[tuple[Case, bool]]:
    """The cases without those that the verifier does not use and whose result is of a kind that
    none of its own has: a search that finds nothing, where something is always to be found."""
    known = [case.expected for case, own in cases if own]
    return [
        (case, own)
        for case, own in cases
        if own or not known or any(same_kind(case.expected, one) for one in known)
    ]


def is_slight(wrong: Sequence[int], *, own: int, of: int) -> bool:
    """Tell whether results that are wrong at these places of `of` cases prove little: none is among
    the first `own`, which the verifier uses, and they are less than half of the others.

    Every set of tests lets some fault through; it is lenient where it sees a wrong result and takes
    it, or where it hardly tests."""
    return all(place >= own for place in wrong) and 2 * len(wrong) < of - own


def _as_given(call: Call) -> Call:
    """The call as a program gets it: plain values, and no list in two places."""
    try:
        given = plain.loads(plain.dumps([list(call.args), dict(call.kwargs)]))
        args, kwargs = plain.to_builtins(given)
    except (plain.PlainDataError, TypeError):
        return call  # no case is made of it
    return replace(call, args=tuple(args), kwargs=kwargs)


def _judge_of_steps(wanted: Any, prompt: str) -> Callable[[Any], bool]:
    accepts = judge_of(wanted, prompt)
    return lambda value: accepts(without_unasked(to_builtins(value), wanted))


def _case_of(call: Call, wanted: Any, accepts: Callable[[Any], bool] | None) -> Case | None:
    """The case of a call; None where a value of it cannot cross to a program or back."""
    case = Case(call.args, dict(call.kwargs), expected=wanted, accepts=accepts)
    try:
        FunctionVerifier("f", (case,))
    except CaseValueError:
        return None
    return case
