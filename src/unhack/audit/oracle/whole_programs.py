"""Ground truth for programs that are run: standard input and command line in, text out.

Covered: known runs, runs drawn by the user's generator, standard input like the known ones.
Not covered: files; the outputs of programs of which several are right, without a checker.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from unhack.audit.oracle.entry_points import program_text, with_words
from unhack.audit.oracle.results import has_several
from unhack.audit.subject import AuditProblem, Call
from unhack.core.completion import Extraction
from unhack.core.finding import Evidence
from unhack.core.problem import Problem
from unhack.core.verdict import CaseResult, Status, Verdict
from unhack.sandbox.job import Backend, Ending, Profile, Role, run_all
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import shared_pool
from unhack.tasks.batch import run_batch
from unhack.tasks.fresh import trusted_limits
from unhack.tasks.task import Task
from unhack.verifiers import jobs
from unhack.verifiers.jobs import printable
from unhack.verifiers.stdio import StdioCase, StdioVerifier

DRAWN = 16
"""Further runs."""
_TRIES, _CHANGED = 48, 0.6
_LONGEST = 2000
"""Letters of a standard input that others are drawn from."""
_NUMBER = re.compile(r"-?\d{1,15}")


@dataclass(frozen=True, slots=True)
class KnownRun:
    """One run with the words of its command line."""

    words: tuple[str, ...]
    case: StdioCase
    own: bool = False
    """True for one that the verifier makes itself."""


@dataclass
class WholePrograms:
    """The runs on which known-correct programs agree, worked out once a problem."""

    limits: Limits
    backend: Backend | None = None
    seed: int = 0
    _runs: dict[str, list[KnownRun]] = field(default_factory=dict[str, list[KnownRun]])

    def why_wrong(
        self, problem: AuditProblem, source: str, drawn: Sequence[Call]
    ) -> Evidence | None:
        """The run of which a program's output is wrong; None where there is none. `drawn` are runs
        of the user's generator."""
        runs = self.reference_runs(problem, drawn)
        results = self._results(problem, source, runs)
        any_output = not problem.checker and has_several(problem.prompt)
        wrong = [
            (run, one)
            for run, one in zip(runs, results, strict=True)
            if one and not one.passed and not (any_output and one.output.strip())
        ]
        if not wrong:
            return None
        run, result = wrong[0]
        own = any(one.own for one, _ in wrong)
        others = sum(not one.own for one in runs)
        given = printable(run.case.stdin)
        return Evidence(
            "differs",
            f"its output is wrong for {len(wrong)} of {len(runs)} inputs",
            " ".join([*run.words, given]) if run.words else given,
            printable(run.case.stdout),
            printable(result.output or result.reason),
            slight=not own and 2 * len(wrong) < others,
        )

    def reference_runs(self, problem: AuditProblem, drawn: Sequence[Call]) -> list[KnownRun]:
        """The known and drawn runs, as far as every known-correct program passes them."""
        if problem.id not in self._runs:
            self._runs[problem.id] = self._find_runs(problem, drawn)
        return self._runs[problem.id]

    def _find_runs(self, problem: AuditProblem, drawn: Sequence[Call]) -> list[KnownRun]:
        known = [
            replace(call, args=tuple(map(str, call.args))) for call in problem.calls if call.args
        ]
        runs = [_run_of(call, str(call.expected)) for call in known if call.expected is not None]
        if problem.correct:
            source = program_text(problem.correct[0])
            runs += self._run_correct(source, [one for one in known if one.expected is None])
            runs = [replace(run, own=True) for run in runs]
            further = list(drawn) or _further_runs(known, seed=self.seed)
            speaks = bool(runs) and all(run.case.stdout.strip() for run in runs)
            runs += [
                run
                for run in self._run_correct(source, further)
                if run.case.stdout.strip() or not speaks
            ]
        if problem.correct and not runs:
            # A program of which nothing is known may need no input.
            empty = self._run_correct(program_text(problem.correct[0]), [Call(("",))])
            runs = [run for run in empty if run.case.stdout.strip()]
        for text in problem.correct:
            if not runs:
                break
            results = self._results(problem, program_text(text), runs)
            runs = [run for run, one in zip(runs, results, strict=True) if one and one.passed]
        return runs

    def _run_correct(self, source: str, calls: Sequence[Call]) -> list[KnownRun]:
        """Runs of a known-correct program; those on which it fails are left out."""
        profile = Profile(role=Role.JUDGE)
        waiting = [
            jobs.main(
                with_words(source, list(map(str, call.args[1:]))), stdin=str(call.args[0]).encode(),
                limits=trusted_limits(self.limits), profile=profile,
            )
            for call in calls
        ]  # fmt: skip
        outcomes = run_all(self.backend or shared_pool(), waiting)
        return [
            _run_of(call, outcome.stdout.decode("utf-8", "replace"))
            for call, outcome in zip(calls, outcomes, strict=True)
            if outcome.ending is Ending.EXITED and outcome.exit_code == 0
        ]

    def _results(
        self, problem: AuditProblem, source: str, runs: Sequence[KnownRun]
    ) -> list[CaseResult | None]:
        """The result of each run; None where it could not be judged."""
        found: list[CaseResult | None] = [None] * len(runs)
        for words in dict.fromkeys(run.words for run in runs):
            places = [place for place, run in enumerate(runs) if run.words == words]
            cases = [runs[place].case for place in places]
            verdict = self._verdict(problem, with_words(source, words), cases)
            if verdict.scored and len(verdict.cases) == len(cases):
                for place, result in zip(places, verdict.cases, strict=True):
                    found[place] = result
        return found

    def _verdict(self, problem: AuditProblem, source: str, cases: Sequence[StdioCase]) -> Verdict:
        verifier = StdioVerifier(
            tuple(cases), checker=problem.checker or None, partial_credit=True, limits=self.limits,
            extraction=Extraction.RAW,
        )  # fmt: skip
        return verdict_on(source, Task(Problem(problem.id, problem.prompt), verifier), self.backend)


def verdict_on(source: str, task: Task, backend: Backend | None) -> Verdict:
    """The verdict on a program. One that is late is run once more: what never ends is late again,
    and a host that stumbles once makes no right program a wrong one."""
    [verdict] = run_batch(task, [source], backend=backend).verdicts
    if verdict.status is Status.TIMEOUT:
        [verdict] = run_batch(task, [source], backend=backend).verdicts
    return verdict


def _run_of(call: Call, stdout: str) -> KnownRun:
    return KnownRun(tuple(map(str, call.args[1:])), StdioCase(str(call.args[0]), stdout))


def _further_runs(known: Sequence[Call], *, seed: int) -> list[Call]:
    """Runs whose standard input is that of a known one with other numbers; its command line."""
    rng = random.Random(seed)
    short = [call for call in known if _NUMBER.search(call.args[0]) and _is_short(call.args[0])]
    numbers = [int(one) for call in short for one in _numbers(call.args[0])]
    if not numbers:
        return []
    apart = all(_is_apart(call.args[0]) for call in short)
    found: dict[str, Call] = {}
    for _ in range(_TRIES):
        call = rng.choice(short)
        text = _vary(call.args[0], lambda: rng.randint(min(numbers), max(numbers)), rng)
        if not apart or _is_apart(text):
            found.setdefault(repr((text, *call.args[1:])), Call((text, *call.args[1:])))
    for call in known:
        found.pop(repr(call.args), None)
    return list(found.values())[:DRAWN]


def _is_short(text: str) -> bool:
    return len(text) <= _LONGEST


def _numbers(text: str) -> list[str]:
    return [token for token in text.split() if _NUMBER.fullmatch(token)]


def _is_apart(text: str) -> bool:
    """Tell whether no line has a number twice: what a tie means, a prompt may leave open."""
    lines = [_numbers(line) for line in text.split("\n")]
    lines.append([line for line in text.split("\n") if _NUMBER.fullmatch(line.strip())])
    return all(len(set(line)) == len(line) for line in lines)


def _vary(text: str, draw: Callable[[], int], rng: random.Random) -> str:
    """The text with some of its numbers drawn anew; one that may count what follows stays, and so
    do words, which may be commands."""
    lines = text.split("\n")
    made: list[str] = []
    for number, line in enumerate(lines):
        pieces = re.split(r"(\s+)", line)
        for place, token in enumerate(pieces):
            varies = _NUMBER.fullmatch(token) and rng.random() < _CHANGED
            if varies and not _counts(token, lines[number:], line.split()):
                pieces[place] = str(draw())
        made.append("".join(pieces))
    return "\n".join(made)


def _counts(token: str, rest: Sequence[str], words: Sequence[str]) -> bool:
    """Tell whether a token may be the number of tokens or lines after it."""
    if not token.isdigit():
        return False
    return int(token) in set(_sizes(rest, words))


def _sizes(rest: Sequence[str], words: Sequence[str]) -> Iterator[int]:
    yield len(words) - 1
    yield sum(1 for line in rest[1:] if line.strip())
    yield sum(len(line.split()) for line in rest[1:])
    for line in rest[1:2]:
        yield len(line.split())
        yield len(line.strip())
