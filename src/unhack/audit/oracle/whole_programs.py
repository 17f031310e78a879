"""Ground truth for programs that are run: standard input and command line in, text out.

Covered: known runs, runs drawn by the user's generator, standard input like the known ones.
Not covered: files; the outputs of programs of which several are right, without a checker.

The comparison of two results of programs: what may mean the same is never called an error.

Covered: list or tuple, 1 or 1.0 or True, floats within 1e-6, a value or its text, the order of
items unless the prompt speaks of order; prompts that allow several results.
Not covered: results of other types, which are the same where they are equal.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from unhack.audit.oracle.entry_points import program_text, with_words
from unhack.audit.subject import AuditProblem, Call
from unhack.core.completion import Extraction
from unhack.core.finding import Evidence
from unhack.core.plain import to_builtins
from unhack.core.problem import Problem
from unhack.core.verdict import CaseResult, Status, Verdict
from unhack.sandbox.job import Backend, Ending, Profile, Role, run_all
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.shared import shared_pool
from unhack.tasks.batch import run_batch
from unhack.tasks.fresh import trusted_limits
from unhack.tasks.task import Task
from unhack.verifiers import jobs
from unhack.verifiers.jobs import printable
from unhack.verifiers.stdio import StdioCase, StdioVerifier

_ORDER = re.compile(r"\b(order|sorted|sort|ascending|descending|sequence|first|index|indices)\b")
_ANY_ORDER = re.compile(r"\b(any|whatever|no particular) order\b")
_SEVERAL = re.compile(
    r"\bany (?:valid|possible|correct|suitable|such|one of|of (?:them|these|those|the))\b"
    r"|\bany (?:\w+ )?(?:will do|is (?:fine|accepted|allowed|enough))\b|\bnot (?:be )?unique\b"
    r"|\b(?:multiple|several|more than one|many) (?:valid |possible |correct )*"
    r"(?:answer|solution|result|output)s?\b",
    re.IGNORECASE,
)
SEVERAL_RIGHT = (
    "the prompt allows several results, so a program cannot be compared with a correct one; name a "
    "file with --oracle that defines is_wrong(prompt, completion, answer)"
)
"""Advice for a problem with several right results and no checker."""
_STRUCTURE = re.compile(
    r"\b(?:sorted|ascending|descending|increasing|decreasing|ordered|distinct|unique|different"
    r"|duplicates?|repeat\w*|permutation|sets?)\b",
    re.IGNORECASE,
)
"""Words of prompts that say how the items of a list are to each other."""
_NUMBERS = (bool, int, float)
_ROWS = (list, tuple)


def has_several(prompt: str) -> bool:
    """Tell whether a prompt says that several results are right."""
    return _SEVERAL.search(prompt) is not None


def cares_for_order(prompt: str) -> bool:
    """Tell whether a prompt speaks of the order of things."""
    text = prompt.lower()
    return bool(_ORDER.search(text)) and not _ANY_ORDER.search(text)


def may_be_free(prompt: str, results: Sequence[Any]) -> bool:
    """Tell whether inputs that keep all that the known ones have in common are too narrow: on all
    of them the right result is the same, and a prompt that is silent about the structure of lists,
    or asks to tell it, allows others."""
    if not results or len(set(map(repr, results))) > 1:
        return False
    return isinstance(results[0], bool) or _STRUCTURE.search(prompt) is None


def judge_of(wanted: Any, prompt: str) -> Callable[[Any], bool]:
    """The test that a result passes which may mean the same as the wanted one; where several are
    right, one of the same kind."""
    if has_several(prompt):
        return lambda value: same_kind(to_builtins(value), wanted)
    loose = not cares_for_order(prompt)
    return lambda value: may_mean(to_builtins(value), wanted, loose=loose)


def may_mean(value: Any, wanted: Any, *, loose: bool) -> bool:
    """As `alike`, or one is the text of the other: who prints a result sees no difference."""
    if alike(value, wanted, loose=loose):
        return True
    if isinstance(value, str) and not isinstance(wanted, str):
        return value.strip() in (str(wanted), repr(wanted))
    return isinstance(wanted, str) and not isinstance(value, str) and wanted.strip() == str(value)


def same_kind(left: Any, right: Any) -> bool:
    """Tell whether two results are of one kind: both numbers, both rows, or of one type."""
    for kinds in (_NUMBERS, _ROWS):
        if isinstance(left, kinds) and isinstance(right, kinds):
            return True
    return isinstance(left, type(cast("object", right)))


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
