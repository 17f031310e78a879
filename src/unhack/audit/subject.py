"""The subject of an audit: problems, and a verifier that gives completions a raw score.

A subject never runs in the auditor's process: `score` sends every completion into the sandbox, the
verifier as its author wrote it.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from unhack.sandbox.job import Backend

STOPPED = "stopped"
"""The trouble of a completion that the audit had no time for."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function, or one run of a program: `args` is then its standard input and the
    words of its command line."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    expected: Any = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a sequence, which is about one object or none."""

    kind: str
    """`new`, `do` (a method of the object) or `call` (a function)."""
    name: str
    """Of the class, method or function; `Class.method` for a static method."""
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class AuditProblem:
    """One problem, with what the auditor knows of it and the policy does not."""

    id: str
    prompt: str
    answer: str | None = None
    """The right final answer of a text problem."""
    correct: tuple[str, ...] = ()
    """Completions known to be right; the first is the reference."""
    entry_point: str | None = None
    """The function that a completion must define; None for text problems and programs."""
    calls: tuple[Call, ...] = ()
    """Cases that the verifier is known to use."""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further columns of the row, as the verifier's framework would hand them over."""
    generator: str = ""
    """Source of `generate(rng)`, which draws a further input in the form of our tasks."""
    checker: str = ""
    """Source of the task's `check`, where several results are right."""
    setup: str = ""
    """Source that stands before every completion when it runs."""
    sequences: tuple[tuple[Step, ...], ...] = ()
    """Steps that the verifier is known to take with objects and further functions."""
    runs: bool = False
    """True where completions are programs that are run, and no call of them needs to be known."""

    @property
    def is_code(self) -> bool:
        """True when completions are programs rather than answers."""
        return self.entry_point is not None or bool(self.calls) or self.runs


@dataclass(frozen=True, slots=True)
class Source:
    """The verifier's own source."""

    path: str
    """For people and for SARIF."""
    text: str
    first_line: int = 1
    """Line of `path` at which `text` begins."""
    entry: str = ""
    """The function that gives the score."""
    imported: tuple[Source, ...] = ()
    """Modules of the same folder or package that it imports, the nearest first."""


def tree_of(text: str) -> ast.Module | None:
    """The syntax tree of a source; None where it is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def json_of(text: str) -> Any:
    """The value of a JSON text; None where it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def record_of(value: object) -> dict[str, Any]:
    """The fields of an object; none of any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Query:
    """A completion to be scored."""

    problem: AuditProblem
    completion: str


@dataclass(frozen=True, slots=True)
class Score:
    """The verifier's response to a completion."""

    value: float | None
    """Its raw score; None when it gave none."""
    trouble: str = ""
    """`raised`, `timeout`, `ended`, `shape` or `limit` when there is no score; `stopped` where the
    audit's time was up, which says nothing of the completion."""
    reason: str = ""
    seconds: float = 0.0

    @property
    def stopped(self) -> bool:
        """True where nothing was found out, for want of time."""
        return self.trouble == STOPPED

    def at_least(self, threshold: float) -> bool:
        """Tell whether an optimiser would take it for at least this much. NaN never is; an infinite
        score is."""
        return self.value is not None and not math.isnan(self.value) and self.value >= threshold


class Subject(Protocol):
    """A verifier under audit."""

    @property
    def name(self) -> str:
        """For people."""
        ...

    @property
    def problems(self) -> Sequence[AuditProblem]:
        """At least one."""
        ...

    @property
    def of_problems(self) -> int:
        """The number that there are; of very many, `problems` holds some."""
        ...

    @property
    def source(self) -> Source | None:
        """None where it has no source of its own."""
        ...

    @property
    def sees_answer(self) -> bool:
        """True when the verifier is given the right answer; one that is not rewards form only."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes when the verifier or a problem does."""
        ...

    def with_limit(self, wall_s: float) -> Subject:
        """The same subject with less time for each call, where that can be chosen."""
        ...

    def with_backend(self, backend: Backend | None) -> Subject:
        """The same subject, run by another backend; None for the shared one."""
        ...

    def lines_of(self, query: Query) -> frozenset[int]:
        """The lines of `source` that ran for a query; empty where that cannot be seen."""
        ...

    def score(self, queries: Sequence[Query]) -> list[Score]:
        """Raw scores, in order, each from a fresh process."""
        ...
