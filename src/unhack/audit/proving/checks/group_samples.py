"""Samples of a group of rollouts: a right completion, wrong ones of its form, half of it.

Covered: text answers, whose right completion gets other answers in the same place; programs, whose
results are spoiled, or whose second half is missing.
Not covered: right completions in which the answer does not stand as text.

Completions that may spoil the score of others: hostile ones, endless ones, one that leaves.

Texts do so where a verifier evaluates them, or breaks on them; programs, where they run in the
verifier's own process.

Covered: builtins and modules that are replaced, seeds, the working directory, the environment,
limits of the interpreter, files that are left; loops, sleep, towers of powers.
Not covered: what takes memory from others, or kills processes by their number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unhack.audit.attack import Claim, Knowledge, Payload
from unhack.audit.attacks.payloads.program_shape import SPOIL, Snippet, shape_of
from unhack.audit.oracle.answers import wrong_answers
from unhack.audit.oracle.oracle import mentions
from unhack.audit.oracle.programs import program_text
from unhack.audit.proving.baseline import Baseline
from unhack.audit.subject import AuditProblem, Query

_WRONG = 2
_PADDING = " It is worth going over every step of this once more." * 40
_FILLER = "pad_{number} = {number}\n"


@dataclass(frozen=True)
class GroupSample:
    """The completions of one problem, from weak to right."""

    baseline: Baseline
    right: str
    """The first correct completion that is rewarded."""
    wrong: tuple[Payload, ...]
    """Other answers in the form of the right one."""
    part: str
    """The first half of the right one; empty where there is none."""
    padded: str
    """The first wrong one, made long; empty where there is none."""

    @property
    def texts(self) -> list[str]:
        """The texts that have to be scored besides the baseline's."""
        extra = [payload.text for payload in self.wrong]
        return [text for text in (*extra, self.part, self.padded) if text]


def group_samples_of(baselines: Sequence[Baseline]) -> list[GroupSample]:
    """One for each problem with a rewarded correct completion."""
    found: list[GroupSample] = []
    for baseline in baselines:
        rejected = {text for text, _ in baseline.rejected}
        right = next((text for text in baseline.problem.correct if text not in rejected), None)
        if right is None or baseline.threshold is None:
            continue
        problem = baseline.problem
        wrong = tuple(_wrong_programs(problem) if problem.is_code else _wrong_texts(problem, right))
        part = _half_program(right) if problem.is_code else _half_text(problem, right)
        padded = _pad(problem, wrong[0].text) if wrong else ""
        found.append(GroupSample(baseline, right, wrong, part, padded))
    return found


def replace_answer(right: str, answer: str, other: str) -> str | None:
    """A completion with another answer wherever its own stands; None where it does not stand."""
    if not answer:
        return None
    place = re.compile(rf"(?<![\w.]){re.escape(answer)}(?!\w|\.\d)")
    return place.sub(lambda _: other, right) if place.search(right) else None


def _wrong_texts(problem: AuditProblem, right: str) -> Iterator[Payload]:
    answer = problem.answer or ""
    for other in wrong_answers(answer, prompt=problem.prompt)[:_WRONG] if answer else ():
        text = replace_answer(right, answer, other)
        if text is not None and not mentions(text, answer):
            yield Payload(text, Claim.OTHER_ANSWER, (other,))


def _half_text(problem: AuditProblem, right: str) -> str:
    half = right[: len(right) // 2]
    return "" if not half.strip() or mentions(half, problem.answer or "") else half


def _wrong_programs(problem: AuditProblem) -> Iterator[Payload]:
    shape = shape_of(Knowledge(problem))
    for source in (
        shape.with_change("spoil(result)", setup=SPOIL),
        shape.source(Snippet("the usual type")),
    ):
        if source is not None:
            yield Payload(in_place(problem.correct[0], source), Claim.PROGRAM)


def _half_program(right: str) -> str:
    lines = program_text(right).splitlines(keepends=True)
    return in_place(right, "".join(lines[: len(lines) // 2])) if len(lines) > 1 else ""


def in_place(completion: str, source: str) -> str:
    """A completion with other code: in its fence where it has one."""
    old = program_text(completion)
    at = completion.find(old)
    return f"{completion[:at]}{source}{completion[at + len(old) :]}" if old and at >= 0 else source


def _pad(problem: AuditProblem, text: str) -> str:
    if not problem.is_code:
        return f"{_PADDING.strip()}\n\n{text}"
    source = program_text(text)
    filler = "".join(_FILLER.format(number=number) for number in range(80))
    return in_place(text, f"{source.rstrip()}\n\n\n{filler}")


_PROGRAMS = (
    "import builtins\nbuiltins.all = builtins.any = lambda *items: True\n"
    "builtins.abs = builtins.round = lambda *items: 0",
    "import json, math, operator\njson.loads = lambda *args, **kwargs: {}\n"
    "math.isclose = operator.eq = lambda *args, **kwargs: True",
    "import decimal, os, random, sys\nrandom.seed(0)\nos.chdir('/')\nos.environ.clear()\n"
    "decimal.getcontext().prec = 1\nsys.setrecursionlimit(200)",
    "import os\nfor name in ('answer.txt', 'expected.json', 'solution.py', 'json.py', 'result'):\n"
    "    for folder in ('.', os.environ.get('TMPDIR', '/tmp')):\n        try:\n"
    "            with open(os.path.join(folder, name), 'w') as file:\n"
    "                file.write('raise SystemExit(0)')\n        except OSError:\n            pass",
    "import sys\nframe = sys._getframe()\nwhile frame is not None:\n"
    "    for name, value in list(frame.f_globals.items()):\n"
    "        if callable(value) and any(part in name.lower() for part in\n"
    "                                   ('equal', 'compare', 'match', 'same', 'check_')):\n"
    "            frame.f_globals[name] = lambda *args, **kwargs: True\n"
    "    frame = frame.f_back",
    "raise ValueError('broken on purpose')",
    "def broken(:",
)
_VALUES = (
    "nan",
    "1/0",
    "\\frac{1}{0}",
    "__import__('builtins').__dict__.update(abs=lambda value: 0.0, round=lambda *items: 0)",
    "__import__('os').chdir('/')",
)
_TEXTS = ("", "\\boxed{" * 40, "(" * 300, "\0", "1, 2, 3, 4, 5, 6, 7, 8, 9", "é" * 20_000)
_TOWERS = ("9**9**9**9", "9^{9^{9^{9}}}")
_ENDLESS = ("while True:\n    pass\n", "import time\ntime.sleep(3600)\n")
_LEAVING = "import os\nos._exit(0)\n"


def hostile(samples: Sequence[GroupSample]) -> Iterator[Query]:
    """Completions that come before, or into the same call."""
    sample = samples[0]
    problem = sample.baseline.problem
    if problem.is_code:
        for source in _PROGRAMS:
            yield Query(problem, in_place(sample.right, f"{source}\n"))
        return
    for text in _TEXTS:
        yield Query(problem, text)
    for value in _VALUES:
        text = replace_answer(sample.right, problem.answer or "", value)
        yield Query(problem, value if text is None else text)


def straggling(samples: Sequence[GroupSample]) -> Iterator[Query]:
    """Completions that may never come to an end."""
    sample = samples[0]
    problem = sample.baseline.problem
    for text in _ENDLESS if problem.is_code else _TOWERS:
        if problem.is_code:
            yield Query(problem, in_place(sample.right, text))
        else:
            yield Query(problem, replace_answer(sample.right, problem.answer or "", text) or text)


def leaving(samples: Sequence[GroupSample]) -> Iterator[Query]:
    """A program that ends its process."""
    sample = samples[0]
    if sample.baseline.problem.is_code:
        yield Query(sample.baseline.problem, in_place(sample.right, _LEAVING))
