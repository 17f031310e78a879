"""Call a named function on secret cases, compare what it returned.

Covered: the candidate's process holds the inputs and nothing else; expected values and the
comparison are in the judge; outputs are plain data with exact types; exceptions can be the expected
result.
Not covered: inputs are visible to the candidate, so a completion that knows the cases can hard-code
them; draw fresh cases from a generator where that matters. All calls of one completion share a
process.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from unhack.core import plain
from unhack.core.completion import Extraction, extract_code, with_setup
from unhack.core.problem import Problem
from unhack.core.verdict import CaseResult, Seal, Status, Verdict
from unhack.sandbox.job import Ending, Job, Kind, Outcome, Profile
from unhack.sandbox.limits import Limits
from unhack.verifiers import canaries, jobs
from unhack.verifiers.base import Steps, VerifierFault, no_code_verdict, unjudgeable_verdict
from unhack.verifiers.jobs import (
    Answer,
    Check,
    Claims,
    ask_checker,
    bad_ending,
    blame_completion,
    read_claims,
    require_sandbox,
    verdict_of,
)
from unhack.verifiers.values.case_values import check_aliases, check_expected, encode_argument
from unhack.verifiers.values.compare import Compare, matches
from unhack.verifiers.values.shown import rest_of


@dataclass(frozen=True, slots=True)
class Case:
    """One call and its expected result.

    Example:

        Case(("abc",), expected="cba")
        Case((None,), raises="TypeError")
    """

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict[str, Any])
    expected: Any = None
    raises: str | None = None
    """Name of an exception class that must be raised, itself or as a base class."""
    accepts: Callable[[Any], bool] | None = None
    """A trusted predicate on the claimed value (plain data), in place of the comparison with
    `expected`; it runs in the judge and never raises."""


PASSED_CASE = CaseResult(True)
"""Shared by all cases that passed: a batch of a hundred thousand holds it once."""
_NO_ANSWER = CaseResult(False, "no answer")
_NOT_JUDGED = CaseResult(False, "not judged after an early stop")


@dataclass(frozen=True)
class FunctionVerifier:
    """Verifier of kind `function`.

    Example:

        cases = (Case(("abc",), expected="cba"), Case(("",), expected=""))
        FunctionVerifier("reverse", cases, partial_credit=True)
    """

    kind = "function"
    entry_point: str
    cases: tuple[Case, ...]
    compare: Compare = Compare.EXACT
    rel_tol: float = 1e-9
    abs_tol: float = 1e-9
    checker: str | None = None
    """Source of `check(args, kwargs, output, expected) -> bool | float`, run in a judge's
    worker."""
    partial_credit: bool = False
    """Score by the share of cases passed instead of all or nothing."""
    early_stop: bool = False
    """End the completion at its first wrong answer; cases after it count as not passed."""
    setup: str = ""
    """Source put before every completion (imports, helper classes of the prompt)."""
    scratch: bool = False
    """True gives the completion a private writable directory."""
    preload: tuple[str, ...] = ()
    """Third-party modules that completions may import, such as `numpy`."""
    limits: Limits = Limits()
    extraction: Extraction = Extraction.AUTO

    def __post_init__(self) -> None:
        if not self.cases:
            raise ValueError("a function verifier without cases would pass everything")
        _ = self._template  # refuses what cannot cross

    @cached_property
    def _template(self) -> jobs.CallsTemplate:
        calls: list[Any] = []
        room = 0
        for number, case in enumerate(self.cases, 1):
            calls.append(_encode_call(case, f"case {number}"))
            if case.accepts is None and case.raises is None:
                room += _ROOM_BYTES + _ROOM * check_expected(
                    case.expected, f"case {number}: expected", matches=self._matches
                )
        kind = Kind.SCRATCH if self.scratch else Kind.FUNCTION
        profile = Profile(kind=kind, preload=self.preload)
        each = self.partial_credit or self.early_stop
        limits = self.limits
        if room > limits.output_bytes:
            limits = limits.with_(output_bytes=room)
        return jobs.CallsTemplate(
            self.entry_point, calls, limits=limits, profile=profile, each=each
        )

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge one completion."""
        source = extract_code(completion, how=self.extraction)
        if source is None:
            return no_code_verdict(completion)
        job = self._template.job(with_setup(self.setup, source))
        if self.early_stop and self.checker is None:
            job = replace(job, stop_when=self._has_failed)
        [outcome] = yield [job]
        require_sandbox(outcome)
        claims = read_claims(outcome.result, len(self.cases))
        verdict = self._load_failure(claims, outcome)
        if verdict is not None:
            return verdict
        if self.checker is None:
            results = [
                self._judge(case, answer)
                for case, answer in zip(self.cases, claims.answers, strict=True)
            ]
        else:
            try:
                results = yield from self._ask_checker(claims)
            except VerifierFault as fault:
                yield from blame_completion(fault, problem, self._control(claims))
                level = outcome.isolation.value
                return unjudgeable_verdict(str(fault), seal=Seal.SEALED, isolation=level)
        if self.early_stop and not all(result.passed for result in results):
            # Answers that came before the kill do not count: how many is a matter of luck.
            first = next(index for index, result in enumerate(results) if not result.passed)
            results[first + 1 :] = [_NOT_JUDGED] * (len(results) - first - 1)
        return self._conclude(results, claims, outcome)

    def canary(self) -> str:
        """A function that returns None."""
        return f"def {self.entry_point}(*args, **kwargs):\n    return None\n"

    def canaries(self, problem: Problem) -> tuple[str, ...]:
        """Functions that return None, 0, a list …: what a checker can make something of."""
        del problem
        if self.checker is None:
            return (self.canary(),)
        wanted = f"from solution import {self.entry_point}"
        return canaries.modules(["solution"], [wanted, self.checker])

    def _has_failed(self, data: bytes) -> bool:
        """True when these result lines hold a wrong answer."""
        claims = read_claims(data, len(self.cases))
        return claims.failure is not None or any(
            answer is not None and not self._judge(case, answer).passed
            for case, answer in zip(self.cases, claims.answers, strict=True)
        )

    def _load_failure(self, claims: Claims, outcome: Outcome) -> Verdict | None:
        """The verdict when no function was ever called."""
        if claims.failure is None:
            return None
        kind, text = claims.failure
        status = Status.ERROR if kind == "load" else Status.INVALID
        if text.startswith("MemoryError"):
            status = Status.LIMIT
        return verdict_of(outcome, bad_ending(outcome) or (status, text))

    def _judge(self, case: Case, answer: Answer | None) -> CaseResult:
        if answer is None:
            return _NO_ANSWER
        if self._accepts(case, answer):
            return PASSED_CASE
        shown = answer.to_text()
        if case.raises is not None and answer.raised is None:
            return CaseResult(False, f"returned instead of raising {case.raises}", output=shown)
        if answer.raised is not None:
            return CaseResult(False, f"raised {shown}", output=shown)
        return CaseResult(False, "wrong answer", output=shown)

    def _accepts(self, case: Case, answer: Answer) -> bool:
        if case.raises is not None or answer.raised is not None:
            return answer.raised is not None and case.raises in answer.raised
        if case.accepts is not None:
            return case.accepts(answer.value)
        return self._matches(answer.value, case.expected)

    def _matches(self, value: Any, expected: Any) -> bool:
        return matches(
            value, expected, compare=self.compare, rel_tol=self.rel_tol, abs_tol=self.abs_tol
        )

    def _ask_checker(self, claims: Claims) -> Generator[list[Job], Any, list[CaseResult]]:
        """Have the checker look at the claimed outputs, in a worker of the judge."""
        items: list[Any] = []
        results: dict[int, CaseResult] = {}
        for index, (case, answer) in enumerate(zip(self.cases, claims.answers, strict=True)):
            if answer is None or answer.raised is not None or case.raises is not None:
                results[index] = self._judge(case, answer)
                continue
            items.append(self._item(index, plain.to_builtins(answer.value)))
        if items:
            checks = yield from ask_checker(self.checker, items, limits=self.limits)
            for index, passed, score, reason in checks:
                answer = claims.answers[index]
                shown = answer.to_text() if answer else ""
                results[index] = CaseResult(passed, reason, score=score, output=shown)
        return [results[index] for index in range(len(self.cases))]

    def _item(self, index: int, output: Any) -> list[Any]:
        """The question to the checker of what it makes of one output."""
        case = self.cases[index]
        values = [list(case.args), case.kwargs, output, case.expected]
        return [index, [plain.encode_tags(part) for part in values]]

    def _control(self, claims: Claims) -> Generator[list[Job], Any, list[Check]]:
        """The checker on the expected values of the cases that it was asked about."""
        items = [
            self._item(index, case.expected)
            for index, (case, answer) in enumerate(zip(self.cases, claims.answers, strict=True))
            if answer is not None and answer.raised is None and case.raises is None
        ]
        return ask_checker(self.checker, items, limits=self.limits)

    def _conclude(self, results: list[CaseResult], claims: Claims, outcome: Outcome) -> Verdict:
        passed = all(result.passed for result in results)
        score = float(passed)
        if self.partial_credit:
            score = sum(result.credit for result in results) / len(results)
        judged = (Status.PASSED, "")
        if not passed:
            judged = self._why(results, claims, outcome)
            self._show_first_failed(results, claims)
        return verdict_of(outcome, judged, score=score, cases=results)

    def _show_first_failed(self, results: list[CaseResult], claims: Claims) -> None:
        """Keep more of the value of the first case that failed; the others have a short text."""
        number = next(index for index, result in enumerate(results) if not result.passed)
        answer = claims.answers[number]
        if answer is not None and answer.raised is None:
            expected = None if self.checker else self.cases[number].expected
            shown, skipped = rest_of(answer.value, expected)
            results[number] = replace(results[number], output=shown, skipped=skipped)

    def _why(
        self, results: list[CaseResult], claims: Claims, outcome: Outcome
    ) -> tuple[Status, str]:
        """The status and reason of a completion that failed at least one case."""
        number = next(index for index, result in enumerate(results) if not result.passed)
        reason = f"case {number + 1} of {len(results)}: {results[number].reason}"
        answer = claims.answers[number]
        if answer is None:
            bad = bad_ending(outcome)
            if bad is not None:
                return bad[0], f"case {number + 1} of {len(results)}: {bad[1]}"
            if outcome.ending is Ending.STOPPED:
                return Status.FAILED, "stopped"
            code = outcome.exit_code
            return Status.ERROR, f"exited with code {code} before case {number + 1}"
        if answer.raised is not None and self.cases[number].raises is None:
            memory = "MemoryError" in answer.raised
            return Status.LIMIT if memory else Status.ERROR, reason
        return Status.FAILED, reason


_ROOM, _ROOM_BYTES = 2, 4096
"""Room for results whatever the limit says: twice what the expected values take, and a little for
each case."""


def _encode_call(case: Case, name: str) -> list[Any]:
    """[args, kwargs] as tagged JSON. Raises CaseValueError for what a completion would not get."""
    args = [(f"{name}: args[{index}]", item) for index, item in enumerate(case.args)]
    kwargs = [(f"{name}: kwargs[{key!r}]", item) for key, item in case.kwargs.items()]
    check_aliases(args + kwargs)
    encoded = {
        key: encode_argument(item, where)
        for key, (where, item) in zip(case.kwargs, kwargs, strict=True)
    }
    return [[encode_argument(item, where) for where, item in args], encoded]
