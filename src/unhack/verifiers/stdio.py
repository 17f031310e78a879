"""A whole program: give it standard input, compare its standard output.

Covered: each case is a process of its own that holds its input and nothing else; Python runs in a
warm interpreter, other languages are built once and the binary is run; a non-zero exit code fails
the case.
Not covered: interactive protocols, and files as input.
"""

from __future__ import annotations

import base64
import math
import re
import signal
from collections.abc import Generator
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from unhack.core.completion import Extraction, extract_code, with_setup
from unhack.core.problem import Problem
from unhack.core.verdict import CaseResult, Seal, Status, Verdict
from unhack.sandbox.job import Ending, Job, Outcome, Profile, limit_behind_kill
from unhack.sandbox.limits import Limits
from unhack.sandbox.private_files import with_files
from unhack.verifiers import jobs
from unhack.verifiers.base import Steps, VerifierFault, no_code_verdict, unjudgeable_verdict
from unhack.verifiers.function import PASSED_CASE
from unhack.verifiers.jobs import (
    Check,
    ask_checker,
    bad_ending,
    blame_completion,
    printable,
    require_sandbox,
    usage_of,
    verdict_of,
)
from unhack.verifiers.values.compare import is_near
from unhack.verifiers.values.shown import output_text


class StdioCompare(StrEnum):
    """The comparison of output and expected text."""

    TOKEN = "token"
    """The same tokens between white space."""
    EXACT = "exact"
    """The same text, but for one newline at its end."""
    FLOAT = "float"
    """The same tokens; a finite number within tolerance, two integers only when they are equal."""
    LINES = "lines"
    """The same lines, each as with `float`; without blanks at the ends of lines and of the text."""


@dataclass(frozen=True, slots=True)
class StdioCase:
    r"""One run of the program.

    Example:

        StdioCase("2 3\n", "5\n")
    """

    stdin: str
    stdout: str


@dataclass(frozen=True, slots=True)
class Language:
    """The way from source to a process."""

    file: str
    """Name of the source file."""
    build: tuple[str, ...]
    """The command that makes `binary` from it."""
    binary: str


LANGUAGES = {
    "c": Language(
        file="main.c", build=("cc", "-O2", "-std=c17", "-o", "main", "main.c", "-lm"), binary="main"
    ),
    "cpp": Language(
        file="main.cpp", build=("c++", "-O2", "-std=c++17", "-o", "main", "main.cpp"), binary="main"
    ),
}
"""Languages other than Python, which needs no build and has a faster path."""


_SHOWN_STDERR_BYTES = 4000
"""The end of standard error in which the last line is looked for."""


_PRINTED = ("0", "1 1\n1 1", "YES", "[]")
"""Output of canaries for a checker that cannot judge its own expected output."""


_NUMERAL = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_ROOM, _ROOM_BYTES = 2, 4096
"""Output that must fit whatever the limit says: twice the expected one, so that other white space
and longer numerals fit too, and a little."""


@dataclass(frozen=True)
class StdioVerifier:
    r"""Verifier of kind `stdio`.

    Example:

        cases = (StdioCase("2 3\n", "5\n"), StdioCase("0 0\n", "0\n"))
        StdioVerifier(cases, compare=StdioCompare.FLOAT)
    """

    kind = "stdio"
    cases: tuple[StdioCase, ...]
    compare: StdioCompare = StdioCompare.TOKEN
    rel_tol: float = 1e-9
    abs_tol: float = 1e-9
    checker: str | None = None
    """Source of `check(stdin, output, expected) -> bool | float`, run in a judge's worker."""
    checker_limits: Limits | None = None
    """Of the checker on all cases together; by default those of the program on one."""
    language: str = "python"
    """`python`, or a key of `LANGUAGES`."""
    ignore_case: bool = False
    """Compare without regard to upper and lower case of ASCII letters; not with `exact`."""
    partial_credit: bool = False
    """Run every case and score the share passed; otherwise stop at the first failure."""
    setup: str = ""
    """`python`: source put before every program, such as imports."""
    preload: tuple[str, ...] = ()
    limits: Limits = Limits()
    extraction: Extraction = Extraction.AUTO

    def __post_init__(self) -> None:
        if not self.cases:
            raise ValueError("a stdio verifier without cases would pass everything")
        if self.language != "python" and self.language not in LANGUAGES:
            raise ValueError(f"language must be python or one of {sorted(LANGUAGES)}")
        if self.ignore_case and self.compare is StdioCompare.EXACT:
            raise ValueError("ignore_case has no meaning with the comparison exact")

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge one completion."""
        source = extract_code(completion, language=self.language, how=self.extraction)
        if source is None:
            return no_code_verdict(completion)
        binary: bytes | None = None
        if self.language != "python":
            [built] = yield [self._build_job(source)]
            require_sandbox(built)
            binary = _artifact(built)
            if binary is None:
                return _build_failure(built)
        else:
            source = with_setup(self.setup, source)
        results: list[CaseResult] = []
        outcomes: list[Outcome] = []
        while len(results) < len(self.cases):
            # One case, then all the others: most wrong programs fail the first.
            wave = self.cases[len(results) :] if results or self.partial_credit else self.cases[:1]
            ran: list[Outcome] = yield [self._job(source, binary, case) for case in wave]
            for outcome in ran:
                require_sandbox(outcome)
            if binary is not None:
                ran = [_of_command(outcome, self.limits) for outcome in ran]
            outcomes += ran
            try:
                results += yield from self._judge(wave, ran)
            except VerifierFault as fault:
                yield from blame_completion(fault, problem, self._control(wave))
                level = ran[0].isolation.value
                return unjudgeable_verdict(str(fault), seal=Seal.SEALED, isolation=level)
            if not self.partial_credit and not all(result.passed for result in results):
                break
        return self._conclude(results, outcomes)

    def canary(self) -> str:
        """A program that does nothing."""
        return "int main(void) { return 0; }\n" if self.language != "python" else "pass\n"

    def canaries(self, problem: Problem) -> tuple[str, ...]:
        """Programs that print nothing, a number, their input: what a checker can make something
        of."""
        del problem
        if self.checker is None or self.language != "python":
            return (self.canary(),)
        printed = (*map(repr, _PRINTED), "__import__('sys').stdin.read()")
        return (self.canary(), *(f"print({text})\n" for text in printed))

    def _build_job(self, source: str) -> Job:
        language = LANGUAGES[self.language]
        files = {language.file: (source.encode("utf-8", "replace"), 0o644)}
        return jobs.program(
            language.build, files=files, collect=(language.binary,), limits=self.limits
        )

    def _job(self, source: str, binary: bytes | None, case: StdioCase) -> Job:
        stdin = case.stdin.encode("utf-8", "surrogateescape")
        room = len(case.stdout.encode("utf-8", "surrogateescape")) * _ROOM + _ROOM_BYTES
        limits = self.limits
        if room > limits.output_bytes:
            limits = limits.with_(output_bytes=room)
        if binary is None:
            profile = Profile(preload=self.preload)
            return with_files(
                jobs.main(source, stdin=stdin, limits=limits, profile=profile), source
            )
        language = LANGUAGES[self.language]
        files = {language.binary: (binary, 0o755)}
        command = [f"./{language.binary}"]
        return jobs.program(command, files=files, stdin=stdin, limits=limits)

    def _judge(
        self, wave: tuple[StdioCase, ...], ran: list[Outcome]
    ) -> Generator[list[Job], Any, list[CaseResult]]:
        results: dict[int, CaseResult] = {}
        items: list[Any] = []
        for index, (case, outcome) in enumerate(zip(wave, ran, strict=True)):
            failure = self._failure(outcome)
            if failure:
                results[index] = CaseResult(False, failure, output=_show_output(outcome))
            elif self.checker is not None:
                output = outcome.stdout.decode("utf-8", "replace")
                items.append([index, [case.stdin, output, case.stdout]])
            elif self._accepts(outcome.stdout, case.stdout):
                results[index] = PASSED_CASE
            else:
                results[index] = CaseResult(False, "wrong answer", output=_show_output(outcome))
        if items:
            limits = self.checker_limits or self.limits
            checks = yield from ask_checker(self.checker, items, limits=limits)
            for index, passed, score, reason in checks:
                shown = "" if passed else _show_output(ran[index])
                results[index] = CaseResult(passed, reason, score=score, output=shown)
        return [results[index] for index in range(len(wave))]

    def _control(self, wave: tuple[StdioCase, ...]) -> Generator[list[Job], Any, list[Check]]:
        """The checker on the expected outputs."""
        items = [[index, [case.stdin, case.stdout, case.stdout]] for index, case in enumerate(wave)]
        return ask_checker(self.checker, items, limits=self.checker_limits or self.limits)

    def _failure(self, outcome: Outcome) -> str:
        """The reason why the run itself failed; empty when its output is to be compared."""
        bad = bad_ending(outcome)
        if bad is not None:
            return bad[1]
        if outcome.exit_code != 0:
            end = outcome.stderr.rstrip()[-_SHOWN_STDERR_BYTES:]
            last = end.decode("utf-8", "replace").strip().splitlines()[-1:]
            text = f"exited with code {outcome.exit_code}{': ' if last else ''}{''.join(last)}"
            return printable(text)
        return ""

    def _accepts(self, output: bytes, expected: str) -> bool:
        wanted = expected.encode("utf-8", "surrogateescape")
        if self.compare is StdioCompare.EXACT:
            return output.removesuffix(b"\n") == wanted.removesuffix(b"\n")
        if self.ignore_case:
            output, wanted = output.lower(), wanted.lower()
        if self.compare is not StdioCompare.LINES:
            return self._same_tokens(output, wanted)
        left, right = output.strip().split(b"\n"), wanted.strip().split(b"\n")
        return len(left) == len(right) and all(map(self._same_tokens, left, right))

    def _same_tokens(self, output: bytes, wanted: bytes) -> bool:
        left, right = output.split(), wanted.split()
        if self.compare is StdioCompare.TOKEN or left == right:
            return left == right
        return len(left) == len(right) and all(map(self._same_token, left, right))

    def _same_token(self, left: bytes, right: bytes) -> bool:
        if left == right:
            return True
        if _has_zeros_in_front(right):  # a code such as 007
            return False
        try:
            wanted, got = float(right), float(left)
        except ValueError:
            return False
        if not (math.isfinite(wanted) and math.isfinite(got)) or b"_" in left:
            return False
        if _is_integer(right):
            if _is_integer(left):
                return int(left) == int(right)
            exact = _as_fraction(left)
            if exact is not None:
                return is_near(exact, int(right), rel_tol=self.rel_tol, abs_tol=self.abs_tol)
        return math.isclose(got, wanted, rel_tol=self.rel_tol, abs_tol=self.abs_tol)

    def _conclude(self, results: list[CaseResult], outcomes: list[Outcome]) -> Verdict:
        passed = len(results) == len(self.cases) and all(result.passed for result in results)
        score = float(passed)
        if self.partial_credit:
            score = sum(result.credit for result in results) / len(results)
        status, reason = Status.PASSED, ""
        if not passed:
            number = next(i for i, result in enumerate(results) if not result.passed)
            reason = f"case {number + 1} of {len(self.cases)}: {results[number].reason}"
            bad = bad_ending(outcomes[number])
            crashed = self._failure(outcomes[number]) != ""
            status = bad[0] if bad else Status.ERROR if crashed else Status.FAILED
            self._show_first_failed(results, outcomes, number)
        results += [CaseResult(False, "not run")] * (len(self.cases) - len(results))
        isolation = outcomes[0].isolation.value
        usage = usage_of(*outcomes)
        return Verdict(status, score, reason, tuple(results), usage, isolation=isolation)

    def _show_first_failed(
        self, results: list[CaseResult], outcomes: list[Outcome], number: int
    ) -> None:
        """Keep more of the output of the first case that failed; the others have a short text."""
        output = outcomes[number].stdout.decode("utf-8", "replace")
        expected = None if self.checker is not None else self.cases[number].stdout
        shown, skipped = output_text(output, expected)
        results[number] = replace(results[number], output=shown, skipped=skipped)


def _is_integer(token: bytes) -> bool:
    return len(token) < 4000 and token.lstrip(b"+-").isdigit()


def _has_zeros_in_front(token: bytes) -> bool:
    digits = token.lstrip(b"+-")
    return len(digits) > 1 and digits.startswith(b"0") and digits.isdigit()


def _as_fraction(token: bytes) -> Fraction | None:
    """The exact value of a decimal numeral of ordinary size."""
    if len(token) > 100 or not _NUMERAL.fullmatch(token):
        return None
    return Fraction(token.decode("ascii"))


def _show_output(outcome: Outcome) -> str:
    return printable(outcome.stdout[:400].decode("utf-8", "replace"))


def _program_end(outcome: Outcome) -> tuple[int | None, int]:
    """(exit code, signal) of the command of a program job, as the job's first process saw them."""
    for line in jobs.result_lines(outcome.result, most=jobs.SPARE_LINES):
        if line[0] is None and line[1] == "exit":
            return int(line[2]), int(line[3])
    return None, 0


def _of_command(outcome: Outcome, limits: Limits) -> Outcome:
    """The outcome of a program job, with the end of its command in place of its first process's."""
    if outcome.ending is not Ending.EXITED:
        return outcome
    code, number = _program_end(outcome)
    if number == 0:
        return replace(outcome, exit_code=code)
    if number == signal.SIGXFSZ:
        return replace(outcome, ending=Ending.LIMIT, limit="file")
    if number == signal.SIGKILL:
        limit = limit_behind_kill(limits, cpu_s=outcome.cpu_s, peak_bytes=outcome.max_rss_bytes)
        return replace(outcome, ending=Ending.LIMIT, limit=limit)
    return replace(outcome, ending=Ending.SIGNALED, exit_code=None, signal=number)


def _artifact(built: Outcome) -> bytes | None:
    if bad_ending(built) is not None or _program_end(built) != (0, 0):
        return None
    for line in jobs.result_lines(built.result, most=jobs.SPARE_LINES):
        if line[0] is None and line[1] == "file":
            return base64.b64decode(line[3])
    return None


def _build_failure(built: Outcome) -> Verdict:
    text = built.stderr.decode("utf-8", "replace").strip()
    failed = (Status.INVALID, printable(f"it does not build: {text}"))
    return verdict_of(built, bad_ending(built) or failed)
