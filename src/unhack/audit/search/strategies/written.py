"""Strategies that are written in Python: `complete(prompt, ...)`, run sealed on every problem.

The code comes from a language model and is hostile. It runs as a candidate does: sealed, with
limits of time and memory, and all that stands in its process is what a policy sees of the problems
that it is asked for. Problems with the same donor share a process, so that none holds the right
answer of a problem that is completed in it.

Covered: code that does not parse, has no such function, raises, hangs, exhausts memory, or returns
no text; a function that takes only some of what a policy sees.
Not covered: code that returns something else each time; each problem is asked for once.
"""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unhack.audit.attack import Knowledge
from unhack.audit.search.strategies.strategy import PolicyKnowledge
from unhack.audit.subject import AuditProblem
from unhack.core import plain
from unhack.sandbox.job import Backend, Profile
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.pool.pool import shared_pool
from unhack.tasks.fresh import call_all
from unhack.verifiers.jobs import Answer, printable

ENTRY = "complete"
SEEN: Mapping[str, str] = {
    "prompt": "the prompt",
    "entry_point": "the name of the function that a completion has to define, or an empty text",
    "other_answer": "the right answer to another problem of the set, or an empty text",
    "other_completion": "a right completion of that other problem, or an empty text",
}
"""The arguments of a written strategy, all texts: what a policy sees."""
_LONGEST_SOURCE = 20_000
_LONGEST_TEXT = 100_000
_LIMITS = Limits(wall_s=1.0, cpu_s=2.0, memory_bytes=256 * MIB, output_bytes=8 * MIB)


@dataclass(frozen=True, slots=True)
class Completions:
    """The completions that a written strategy makes, or the reason why it is dropped."""

    texts: Mapping[str, str]
    """By problem id; empty where it is dropped."""
    why: str = ""
    """Why it is dropped, for its author; empty where it is not."""


def run_written(
    source: str,
    problems: Sequence[AuditProblem],
    *,
    known: PolicyKnowledge,
    backend: Backend | None = None,
) -> Completions:
    """The completions of all problems. One that cannot be made drops the strategy.

    Raises SandboxError, SandboxUnavailableError.
    """
    names = _arguments(source)
    if isinstance(names, str):
        return Completions({}, names)
    groups: dict[str, list[AuditProblem]] = defaultdict(list)
    for problem in problems:
        groups[known.donor_of(problem)].append(problem)
    texts: dict[str, str] = {}
    for group in groups.values():
        answers = call_all(
            source,
            ENTRY,
            calls=[((), _seen(known.of(problem), names)) for problem in group],
            limits=_LIMITS,
            profile=Profile(),
            backend=backend or shared_pool(),
        )
        for problem, answer in zip(group, answers, strict=True):
            text, why = _text_of(answer)
            if why:
                return Completions({}, f"for the prompt {printable(problem.prompt)!r}: {why}")
            texts[problem.id] = text
    return Completions(texts)


def _arguments(source: str) -> Sequence[str] | str:
    """The names of `SEEN` that the function takes; a text says why it cannot be called.

    The source is only parsed.
    """
    if len(source) > _LONGEST_SOURCE:
        return f"it is longer than {_LONGEST_SOURCE} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"it does not parse: {type(error).__name__}: {printable(str(error))}"
    made = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == ENTRY]
    if not made:
        return f"it defines no function {ENTRY} at its top level"
    given = made[-1].args
    if given.kwarg is not None:
        return list(SEEN)
    wanted = [item.arg for item in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    if given.posonlyargs:
        return f"{ENTRY} must take its arguments by keyword"
    unknown = [name for name in wanted if name not in SEEN]
    optional = {item.arg for item in given.args[len(given.args) - len(given.defaults) :]}
    optional |= {
        item.arg
        for item, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if default is not None
    }
    missing = [name for name in unknown if name not in optional]
    if missing:
        return f"{ENTRY} takes {missing[0]!r}, which does not exist; available: {', '.join(SEEN)}"
    return [name for name in wanted if name in SEEN]


def _seen(view: Knowledge, names: Sequence[str]) -> dict[str, str]:
    """The things that a policy sees, by those names."""
    problem = view.problem
    seen = {
        "prompt": problem.prompt,
        "entry_point": problem.entry_point or "",
        "other_answer": problem.answer or "",
        "other_completion": problem.correct[0] if problem.correct else "",
    }
    return {name: seen[name] for name in names}


def _text_of(answer: Answer | str) -> tuple[str, str]:
    """(the text of a call, why there is none)."""
    if isinstance(answer, str):
        return "", f"it produced nothing: {printable(answer)}"
    if answer.raised is not None:
        return "", f"it raised {answer.to_text()}"
    value = plain.to_builtins(answer.value)
    if not isinstance(value, str):
        return "", f"it returned {answer.to_text()}, which is not text"
    if len(value) > _LONGEST_TEXT:
        return "", f"it returned more than {_LONGEST_TEXT} characters"
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return "", "it returned a text that cannot be encoded as UTF-8"
    return value, ""
