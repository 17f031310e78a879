"""Turns a hostile program into a task of the public API.

The token is the secret expected value. Every program has a reference, so that a judge which it
breaks is tried again on a right answer (rule 2); a verdict `unscored` is never its doing.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import control_comparisons
from corpus import Program

from unhack import (
    Case,
    FunctionVerifier,
    Limits,
    Problem,
    ScriptVerifier,
    StdioVerifier,
    Task,
    TextVerifier,
)
from unhack.core.completion import Extraction
from unhack.core.verdict import CaseResult, Status, Verdict
from unhack.sandbox.job import Outcome
from unhack.sandbox.rootfs import inside, interpreter
from unhack.verifiers import jobs
from unhack.verifiers.answers.final_answer import Marker, write_answer
from unhack.verifiers.base import Steps, Verifier
from unhack.verifiers.jobs import bad_ending, require_sandbox, usage_of
from unhack.verifiers.stdio import StdioCase
from unhack.verifiers.text import AnswerCheck

LIMITS = Limits(wall_s=0.6, cpu_s=1.0, memory_bytes=256 << 20, disk_bytes=32 << 20)
PATIENT_LIMITS = LIMITS.with_(wall_s=3.0, cpu_s=3.0)
"""For attacks that search or fill something, so that it is not the clock that stops them."""
PATIENT_FAMILIES = ("files", "memory", "neighbours", "read_secrets", "scratch")
HONEST_LIMITS = LIMITS.with_(wall_s=20.0, cpu_s=10.0)
"""Roomy, so that a busy machine fails no honest job."""
BUILD_LIMITS = LIMITS.with_(wall_s=3.0, cpu_s=3.0, memory_bytes=512 << 20)
TEXT_LIMITS = LIMITS.with_(wall_s=2.0, cpu_s=2.0, memory_bytes=512 << 20)
RAW = Extraction.RAW
CHECKER_IMPORTS = "import difflib, json, math, operator, random, re\nfrom typing import Any\n\n"
ACCEPTED_BY_WALKED = [[[]]]
"""The answer that the checker `walked` takes for 3, the depth it expects."""


@dataclass(frozen=True)
class CommandVerifier:
    """A program in an interpreter of its own, as its only file; the output is the token or not."""

    expected: str
    stdin: bytes
    limits: Limits

    @property
    def kind(self) -> str:
        """For messages."""
        return "command"

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge one completion."""
        files = {"program.py": (completion.encode("utf-8", "surrogatepass"), 0o644)}
        argv = [inside(interpreter()), "-I", "program.py"]
        [outcome] = yield [jobs.program(argv, files=files, stdin=self.stdin, limits=self.limits)]
        require_sandbox(outcome)
        passed = outcome.stdout.strip() == self.expected.encode()
        bad = bad_ending(outcome)
        status = bad[0] if bad else Status.PASSED if passed else Status.FAILED
        shown = outcome.stdout[:400].decode("utf-8", "replace")
        return Verdict(
            status,
            float(status is Status.PASSED),
            bad[1] if bad else "",
            (CaseResult(status is Status.PASSED, output=shown),),
            usage_of(outcome),
            isolation=outcome.isolation.value,
        )

    def canary(self) -> str:
        """A program that does nothing."""
        return "pass\n"


@dataclass
class Watched:
    """A verifier that notes what the sandbox observed of one completion; it changes nothing."""

    inner: Verifier
    completion: str
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    controls: int = 0
    """How often the control was asked for: how often the judge broke."""

    @property
    def kind(self) -> str:
        """The inner one's."""
        return self.inner.kind

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Pass everything through."""
        mine = completion == self.completion
        self.controls += not mine
        steps = self.inner.verify(problem, completion)
        value: Any = None
        while True:
            try:
                request = steps.send(value)
            except StopIteration as stop:
                return stop.value
            value = yield request
            if mine and isinstance(request, list):
                self.outcomes += value

    def canary(self) -> str:
        """The inner one's."""
        return self.inner.canary()


@dataclass(frozen=True)
class Attempt:
    """One completion of one task, with its watcher."""

    name: str
    task: Task
    completion: str
    watched: Watched


def attempt(name: str, verifier: Verifier, completion: str, reference: str | None) -> Attempt:
    """Bind a completion to a verifier of its own."""
    watched = Watched(verifier, completion)
    answer = getattr(verifier, "answer", None)
    problem = Problem(name, "", reference=reference, answer=answer)
    return Attempt(name, Task(problem, watched), completion, watched)


def checker_source(name: str, *, of_programs: bool = False) -> str:
    """A careless comparison of `control_comparisons` as a custom checker."""
    source = inspect.getsource(control_comparisons.COMPARISONS[name])
    head = "def check(args, kwargs, output, expected):\n"
    if of_programs:
        head = "def check(stdin, output, expected):\n    expected = json.loads(expected)\n"
    constants = f"TOLERANCE = {control_comparisons.TOLERANCE!r}\n\n\n"
    return f"{CHECKER_IMPORTS}{constants}{source}\n\n{head}    return {name}(output, expected)\n"


def hostile(
    program: Program, *, token: str, target: dict[str, Any], limits: Limits | None = None
) -> list[Attempt]:
    """A program of the corpus as an attempt at a task; a text as one for each way to read it."""
    expected = token if program.uses_token else program.expected
    if program.profile == "text":
        return _texts(program)
    build: dict[str, Callable[..., Attempt]] = {
        "function": _function,
        "scratch": _function,
        "stdio": _stdio,
        "program": _command,
    }
    return [build[program.profile](program, expected, target, limits or _limits(program))]


def _limits(program: Program) -> Limits:
    if program.is_native:
        return BUILD_LIMITS
    if not {"timeout", "limit"} & set(program.allowed):  # no clock may stop it, however slow
        return HONEST_LIMITS
    return PATIENT_LIMITS if program.family in PATIENT_FAMILIES else LIMITS


def preloads(program: Program) -> tuple[str, ...]:
    """Third-party modules that a program imports, where they are installed."""
    source = "" if program.builds else program.completion()
    wanted = "import numpy" in source and importlib.util.find_spec("numpy") is not None
    return ("numpy",) if wanted else ()


def _function(program: Program, expected: Any, target: dict[str, Any], limits: Limits) -> Attempt:
    verifier = FunctionVerifier(
        "solve",
        (Case((target,), expected=expected),),
        checker=checker_source(program.checker) if program.checker else None,
        scratch=program.profile == "scratch",
        preload=preloads(program),
        limits=limits,
        extraction=RAW,
    )
    right = ACCEPTED_BY_WALKED if program.checker == "walked" else expected
    reference = f"def solve(target):\n    return {right!r}\n"
    return attempt(program.id, verifier, program.completion(), reference)


def _stdio(program: Program, expected: Any, target: dict[str, Any], limits: Limits) -> Attempt:
    wanted = expected if isinstance(expected, str) else json.dumps(expected)
    verifier = StdioVerifier(
        (StdioCase(json.dumps(target) + "\n", wanted),),
        checker=checker_source(program.checker, of_programs=True) if program.checker else None,
        limits=limits,
        extraction=RAW,
    )
    text = "12" if program.checker == "summed" else wanted
    reference = f"print({text!r}, end='')\n"
    return attempt(program.id, verifier, program.completion(), reference)


SCRIPT = """
import json
from solution import solve


def same(left, right):
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def verify(solution_path, cases_path):
    with open(cases_path) as file:
        row = json.load(file)
    output = solve(row["target"])
    return {"score": float(same(output, row["expected"])), "reason": str(output)[:300]}
"""


def scripted(program: Program, *, token: str, target: dict[str, Any]) -> Attempt:
    """A program of the corpus against a verifier script that imports and calls it."""
    expected = token if program.uses_token else program.expected
    reference = f"def solve(target):\n    return {expected!r}\n"
    return attempt(
        program.id,
        script_verifier({"target": target, "expected": expected}, _limits(program)),
        program.completion(),
        reference,
    )


def script_verifier(row: dict[str, Any], limits: Limits = LIMITS) -> ScriptVerifier:
    return ScriptVerifier(SCRIPT, cases=json.dumps(row), limits=limits, extraction=RAW)


def _command(program: Program, expected: Any, target: dict[str, Any], limits: Limits) -> Attempt:
    stdin = json.dumps(target) + "\n"
    if not program.is_native:
        reference = f"print({expected!r})\n"
        verifier = CommandVerifier(expected, stdin.encode(), limits)
        return attempt(program.id, verifier, program.completion(), reference)
    verifier = StdioVerifier(
        (StdioCase(stdin, expected),), language="c", limits=limits, extraction=RAW
    )
    reference = f'#include <stdio.h>\nint main(void) {{ return puts("{expected}") < 0; }}\n'
    return attempt(program.id, verifier, program.completion(), reference)


def _texts(program: Program) -> list[Attempt]:
    """As it is, as the marked answer of a text, and as an answer without any mark."""
    text, answer = program.completion(), str(program.expected)
    readings = [
        (text, Marker.BOXED),
        (f"So it is \\boxed{{{text}}}", Marker.BOXED),
        (f"Let me see.\n#### {text}", Marker.HASHES),
        (text, Marker.WHOLE),
    ]
    return [
        text_attempt(program.id, program.check, completion, answer, marker=marker)
        for completion, marker in readings
    ]


def text_attempt(
    name: str, check: str, completion: str, answer: str, *, marker: Marker = Marker.BOXED
) -> Attempt:
    """A text and the answer that it is held against."""
    verifier = TextVerifier(check=AnswerCheck(check), answer_in=(marker,), limits=TEXT_LIMITS)
    watched = Watched(verifier, completion)
    right = "aab" if answer == "(a+)+b" else answer
    reference = write_answer(right, marker)
    problem = Problem(name, "", answer=answer, reference=reference)
    return Attempt(name, Task(problem, watched), completion, watched)
