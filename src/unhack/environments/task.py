"""`RepositoryTask`: a repository with something to be done in it, and what the judge knows of it.

Covered: the start state, what may be handed in, the judge's tests and their expected ids, a
reference.
Not covered: how it is judged (`verifiers.repository`), how it is played (`environments.episode`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from unhack.core.errors import UsageError
from unhack.verifiers.script import Mode


class PlayableTask(Protocol):
    """The parts of a task that an episode and its report look at."""

    @property
    def id(self) -> str:
        """Its name, unique in a workshop."""
        ...

    @property
    def statement(self) -> str:
        """The text that the agent reads."""
        ...

    @property
    def files(self) -> Mapping[str, bytes]:
        """The start state."""
        ...

    @property
    def dev_tests(self) -> Mapping[str, str]:
        """Tests that step rewards are paid by; empty for none."""
        ...

    def may_change(self, path: str) -> bool:
        """True for a path that is handed to the judge."""
        ...


@dataclass(frozen=True, slots=True)
class RepositoryTask:
    """A repository task. All paths are relative, with `/`, and name regular files.

    Example:

        tasks = list(find_repository_tasks("repos"))
        tasks[0].statement, tasks[0].fail_to_pass
    """

    id: str
    statement: str
    """The text that the agent reads; nothing of the hidden tests or the reference stands in it."""
    files: Mapping[str, bytes]
    """The start state, the visible tests included."""
    editable: tuple[str, ...]
    """Paths handed to the judge; a folder ends in `/` and stands for the files below it."""
    tests: Mapping[str, str]
    """The judge's test files, hidden from the agent: path -> source."""
    reference: Mapping[str, str | None]
    """The changed files of a right solution; None deletes one."""
    fail_to_pass: tuple[str, ...]
    """Ids of hidden tests that fail at the start, as `tests/test_core.py::test_name`."""
    pass_to_pass: tuple[str, ...] = ()
    """Ids of hidden tests that pass at the start and must go on to."""
    dev_tests: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tests that step rewards may look at; apart from those that decide the outcome."""
    dev_ids: tuple[str, ...] = ()
    """Ids of the dev tests that a right solution passes."""
    preload: tuple[str, ...] = ()
    """Installed packages that the repository imports."""
    executable: frozenset[str] = frozenset()
    """Files of the start state with the executable bit."""
    mode: Mode = Mode.SEALED
    """`sealed`: tests in the judge's process, plain values cross. `as_written`: one process, twins
    of the tests, marked weaker."""
    beside: tuple[str, ...] = ()
    """Ids of tests of a sealed task that are judged as written, as they cannot be run apart."""
    judge_s: float = 20.0
    """Seconds, wall and CPU, that the hidden tests may take with a submission."""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Difficulty dials and origin, for reports; never shown to the agent."""

    def __post_init__(self) -> None:
        if not self.reference:
            raise UsageError(f"{self.id}: a repository task needs a reference solution")
        if not self.fail_to_pass:
            raise UsageError(f"{self.id}: no hidden test fails at the start, so nothing is asked")
        if not self.tests or not self.editable:
            raise UsageError(f"{self.id}: a repository task needs hidden tests and editable paths")
        if bool(self.dev_tests) != bool(self.dev_ids):
            raise UsageError(f"{self.id}: dev tests and their ids come together")
        outside = [path for path in self.reference if not self.may_change(path)]
        if outside:
            raise UsageError(
                f"{self.id}: the reference changes {outside[0]}, which is not editable"
            )
        for name in ("files", "tests", "reference", "dev_tests", "facts"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def may_change(self, path: str) -> bool:
        """True for a path that is handed to the judge."""
        return any(
            path == one or (one.endswith("/") and path.startswith(one)) for one in self.editable
        )
