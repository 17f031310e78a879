"""Suspicions about a task that was read and not run.

    TaskSuspicion(SuspicionKind.NETWORK, "tests/test.sh", 3, "pip install pytest")

A suspicion is a place to look at, never a verdict: only a play that wins without the work proves a
hack, and a task without suspicions may well have one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

_QUOTED = 160


class SuspicionKind(StrEnum):
    """The kind of a suspicion; `KINDS` has its sentence."""

    OUTPUT_UNREAD = "output_unread"
    NUMBER_UNCHECKED = "number_unchecked"
    EXISTENCE_ONLY = "existence_only"
    FORM_ONLY = "form_only"
    TOLD = "told"
    CLAIM = "claim"
    INPUT_WRITABLE = "input_writable"
    RUNS_WORKSPACE = "runs_workspace"
    SKIPPABLE = "skippable"
    UNNAMED = "unnamed"
    NETWORK = "network"
    ANSWER_IN_IMAGE = "answer_in_image"
    GRADER_IN_IMAGE = "grader_in_image"
    SHARED_MACHINE = "shared_machine"


KINDS: Mapping[SuspicionKind, str] = MappingProxyType({
    SuspicionKind.OUTPUT_UNREAD: "a file is asked for and not found in the tests",
    SuspicionKind.NUMBER_UNCHECKED: "a number is asked for and not found in the tests",
    SuspicionKind.EXISTENCE_ONLY: "a file is only seen to exist, its content is not looked at",
    SuspicionKind.FORM_ONLY: "only names, types, counts and ranges are looked at; no value",
    SuspicionKind.TOLD: "all values that the tests want stand in the statement",
    SuspicionKind.CLAIM: "the tests want a word of success that the agent writes",
    SuspicionKind.INPUT_WRITABLE: "the expected value comes out of a file that the agent can alter",
    SuspicionKind.RUNS_WORKSPACE: "the tests run what lies in the workspace, and believe it",
    SuspicionKind.SKIPPABLE: "checks may be skipped: under a condition, after an error",
    SuspicionKind.UNNAMED: "the tests want a path or a field that the task does not name",
    SuspicionKind.NETWORK: "the tests need the network",
    SuspicionKind.ANSWER_IN_IMAGE: "tests, a solution or expected values lie in the agent's image",
    SuspicionKind.GRADER_IN_IMAGE: "the program that grades lies where the agent can alter it",
    SuspicionKind.SHARED_MACHINE: "the tests run in the agent's machine, with its interpreter",
})  # fmt: skip
"""Kind -> its meaning; in this order everywhere."""
LAYOUT = frozenset({SuspicionKind.SHARED_MACHINE})
"""Kinds that follow from the layout of a folder, and tell no task from another."""


@dataclass(frozen=True, slots=True)
class TaskSuspicion:
    """A suspicion, with its place.

    Example:

        one.file, one.line, one.quote    # ("tests/test_outputs.py", 12, "assert path.exists()")
    """

    kind: SuspicionKind
    file: str
    """Relative to the task's folder."""
    line: int
    """Counted from 1."""
    quote: str
    """That line, or the part of it that is meant."""
    about: str = ""
    """The path, number or field that is meant."""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "kind": self.kind.value, "file": self.file, "line": self.line,
            "quote": self.quote.strip()[:_QUOTED], "about": self.about[:_QUOTED],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class TaskReading:
    """A task that was read.

    Example:

        [str(one.kind) for one in reading.suspicions]
    """

    name: str
    suspicions: tuple[TaskSuspicion, ...] = ()
    """By kind, then by line."""
    unread: tuple[str, ...] = field(default=())
    """Parts that were not read, each with why; of a task that failed, why."""
    failed: bool = False
    """True where nothing could be said."""

    @property
    def kinds(self) -> frozenset[SuspicionKind]:
        """Kinds that tell this task from others of its layout."""
        return frozenset(one.kind for one in self.suspicions) - LAYOUT

    @property
    def said(self) -> str:
        """The state in words."""
        if self.failed:
            return "not read: " + "; ".join(self.unread)
        parts = f"; not read: {', '.join(self.unread)}" if self.unread else ""
        count = len(self.kinds)
        if not count:
            return f"read, nothing suspicious; not run{parts}"
        return f"read, {count} {'kind' if count == 1 else 'kinds'} of suspicion; not run{parts}"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "task": self.name, "read": not self.failed, "said": self.said,
            "unread": list(self.unread), "suspicions": [one.to_json() for one in self.suspicions],
        }  # fmt: skip
