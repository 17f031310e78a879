"""The case that a completion failed, for the author of the task: input, expected, obtained.

    explain(task, verdict)
    explain_case(task, verdict, 2)

`obtained` is the output of the run that the verdict is of; nothing runs again. Input and expected
come from the task, so an explanation holds secret reference data: it belongs on the author's screen
or page, never in a verdict, a reward or a prompt.

Covered: `function`, `stdio` and `text` tasks with all three; `script`, `pytest`, rubrics and
callables with the reason, which is the assertion or what the script said. Sizes are bounded,
control characters escaped.
Not covered: cases that belong to a script.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from unhack.core.verdict import CaseResult, Verdict
from unhack.reporting.text import visible
from unhack.tasks.task import Task
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.stdio import StdioCase, StdioVerifier
from unhack.verifiers.values.shown import MOST_CHARS, call_text, value_text

_DIFF_LINES = 40
_CONTEXT_LINES = 2


@dataclass(frozen=True, slots=True)
class Explanation:
    """A failed case; texts are empty where there is nothing to show."""

    case: int | None
    """Its number, from 0; None where the task has no cases of its own."""
    cases: int
    reason: str
    input: str = ""
    """The call, or standard input."""
    expected: str = ""
    obtained: str = ""
    """The output or value of this run, or what was raised."""
    note: str = ""
    """Remarks, such as how much was left out before `expected` and `obtained`."""
    lines: bool = False
    """True where both are text of several lines, to be shown as a diff."""

    def to_json(self) -> dict[str, object]:
        """The explanation as plain JSON values."""
        names = ("case", "reason", "input", "expected", "obtained", "note")
        return {name: getattr(self, name) for name in names}

    def diff(self) -> list[tuple[str, str]]:
        """(mark, line) pairs: `-` expected, `+` obtained, a blank for both, `…` for remarks."""
        wanted, got = self.expected.splitlines(), self.obtained.splitlines()
        found: list[tuple[str, str]] = []
        for group in difflib.SequenceMatcher(a=wanted, b=got, autojunk=False).get_grouped_opcodes(
            _CONTEXT_LINES
        ):
            if found or group[0][1]:
                found.append(("…", ""))
            for tag, a0, a1, b0, b1 in group:
                if tag == "equal":
                    found += [(" ", line) for line in wanted[a0:a1]]
                else:
                    found += [("-", line) for line in wanted[a0:a1]]
                    found += [("+", line) for line in got[b0:b1]]
        if not found:
            return [("…", "the output is as expected; the reason is another one")]
        left_out = len(found) - _DIFF_LINES
        return [*found[:_DIFF_LINES], *([("…", f"{left_out} more lines")] if left_out > 0 else [])]


def explain(task: Task, verdict: Verdict) -> Explanation | None:
    """The first case that failed; None where the completion passed."""
    if verdict.passed:
        return None
    failed = [number for number, case in enumerate(verdict.cases) if not case.passed]
    if not failed:
        return Explanation(None, len(verdict.cases), _reason(verdict))
    return explain_case(task, verdict, failed[0])


def explain_case(task: Task, verdict: Verdict, number: int) -> Explanation:
    """The case of that number, from 0, passed or not."""
    count, result, verifier = len(verdict.cases), verdict.cases[number], task.verifier
    reason = _reason(verdict)
    if isinstance(verifier, FunctionVerifier) and count == len(verifier.cases):
        case = verifier.cases[number]
        called = visible(call_text(verifier.entry_point, case.args, case.kwargs))
        expected, note = _expected_value(verifier, case, result)
        return Explanation(number, count, reason, called, expected, _obtained(result), note)
    if isinstance(verifier, StdioVerifier) and count == len(verifier.cases):
        expected, note = _expected_output(verifier.cases[number], result)
        if verifier.checker is not None:
            note = "\n".join(filter(None, [note, _BY_CHECKER]))
        shown = visible(verifier.cases[number].stdin, most=MOST_CHARS)
        return Explanation(number, count, reason, shown, expected, _obtained(result), note, True)
    if task.problem.answer is not None:
        answer = visible(task.problem.answer, most=MOST_CHARS)
        return Explanation(None, count, reason, "", answer, _obtained(result))
    return Explanation(number, count, reason)


def _reason(verdict: Verdict) -> str:
    return visible(verdict.reason, most=MOST_CHARS)


_BY_CHECKER = "the task's checker decides; what is shown as expected is one right answer"


def _obtained(result: CaseResult) -> str:
    return visible(result.output, most=2 * MOST_CHARS)


def _expected_value(verifier: FunctionVerifier, case: Case, result: CaseResult) -> tuple[str, str]:
    """(expected, note)."""
    if case.raises is not None:
        return f"raises {case.raises}", ""
    if case.accepts is not None:
        return "", "a predicate of the task decides"
    expected, note = case.expected, ""
    if result.skipped:
        expected = expected[result.skipped :]
        note = f"the first {result.skipped} items are as expected and left out"
    if verifier.checker is not None:
        note = _BY_CHECKER
    return visible(value_text(expected)), note


def _expected_output(case: StdioCase, result: CaseResult) -> tuple[str, str]:
    """(expected, note)."""
    skipped = result.skipped
    text = case.stdout[skipped : skipped + MOST_CHARS]
    expected = visible(text) + ("…" if len(case.stdout) > skipped + MOST_CHARS else "")
    note = f"the first {skipped} characters are as expected and left out" if skipped else ""
    return expected, note
