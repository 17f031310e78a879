"""The words of an attack on an environment: what an agent may know, the actions it takes, and the
ways in which it changes files.

An attack is a function from an `AgentView` to the actions of one episode. It never says that it
won: the environment's judge does, and an oracle that does not share the judge's flaws proves that
the win was wrong.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from unhack.environments.actions import (
    Action,
    RunCommand,
    Submit,
    WriteFile,
    arguments_of,
    name_of,
)
from unhack.environments.task import RepositoryTask

_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
_TEST = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")

Sent = Action | tuple[str, object]
"""An action, or a tool call as an agent sends it, which may be none."""


class AttackRoute(StrEnum):
    """The part of an environment that an attack goes through."""

    WORKSPACE = "workspace"
    """Files and processes beside the ones that are handed in."""
    SOURCE = "source"
    """Code inside the files that are handed in, which the judge runs."""
    MEANING = "meaning"
    """Code that is wrong and passes tests that ask too little."""
    LEAK = "leak"
    """The solution or the judge's tests lie where the agent can read them."""
    EPISODE = "episode"
    """The episode itself: its limits, its end, its rewards, its siblings."""


@dataclass(frozen=True)
class AgentView:
    """The parts of a task that an agent can see: neither the judge's tests nor the reference."""

    files: Mapping[str, bytes]
    editable: tuple[str, ...]
    statement: str

    @staticmethod
    def of(task: RepositoryTask) -> AgentView:
        """The view of a task's agent."""
        return AgentView(task.files, task.editable, task.statement)

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """The visible test files."""
        return tuple(path for path in sorted(self.files) if _TEST.search(path))

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The Python files that are handed in, packages' own files first; where there are none,
        other declared files, or the name of a new one."""
        mine = [
            path
            for path in self.files
            if path.endswith(".py") and path not in self.tests and self.may_change(path)
        ]
        mine = mine or [path for path in self.files if self.may_change(path)]
        new = self.editable[0] + ("solution.py" if self.editable[0].endswith("/") else "")
        mine = mine or [new]
        return tuple(sorted(mine, key=lambda path: (not path.endswith("__init__.py"), path)))

    @property
    def has_code(self) -> bool:
        """True where a Python file is handed in that is there, or is declared by its name."""
        known = (*self.files, *self.editable)
        return any(one.endswith(".py") and one in known for one in self.sources)

    @cached_property
    def root(self) -> str:
        """The folder that packages are imported from: empty or with a slash at its end."""
        first = self.sources[0] if self.sources else self.editable[0]
        return "src/" if first.startswith("src/") else ""

    @cached_property
    def folder(self) -> str:
        """A declared folder for new files, with a slash at its end; the package's where none is."""
        declared = [one for one in self.editable if one.endswith("/")]
        if declared:
            return declared[0]
        return self.sources[0].rpartition("/")[0] + "/" if self.sources else ""

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The test sources that the agent can read: visible tests, Python of the statement."""
        return (*(self.text(path) for path in self.tests), *_BLOCK.findall(self.statement))

    def text(self, path: str) -> str:
        """The content of a file of the start state; empty where there is none."""
        return self.files.get(path, b"").decode(errors="replace")

    def may_change(self, path: str) -> bool:
        """True for a path that is handed in."""
        return any(
            path == one or (one.endswith("/") and path.startswith(one)) for one in self.editable
        )


@dataclass(frozen=True, slots=True)
class EnvironmentAttack:
    """A named way to be rewarded for a task that was not done."""

    name: str
    rows: tuple[int, ...]
    """Rows of the catalogue of attacks on environments."""
    route: AttackRoute
    flaw: str
    """The class of the flaw that it probes, an id of `unhack.audit.report.flaws`."""
    how: str
    """The mechanism, in a sentence."""
    make: Callable[[AgentView], Sequence[Sent]]
    """Its actions; the submission that ends an episode is added by whoever plays it."""
    submits: bool = True
    """False for an attack that never hands in."""
    accomplice: Callable[[AgentView, Mapping[str, str | None]], Sequence[Sent]] | None = None
    """The actions of a sibling episode that is played before and knows the reference."""
    work: tuple[str, ...] = ()
    """Files of the solution, in none of which it leaves any work: a pass with them is wrong."""
    control: Callable[[AgentView], Sequence[Sent]] | None = None
    """The actions of an attack that shows more: where they pass too, that is the finding."""


def as_call(sent: Sent) -> tuple[str, object]:
    """The name and the arguments of an action, as an agent's tool call has them."""
    return (name_of(sent), arguments_of(sent)) if isinstance(sent, Action) else sent


def solution_of(task: RepositoryTask) -> list[Sent]:
    """The honest solver's actions."""
    made: list[Sent] = [
        RunCommand(f"rm -- '{path}'") if text is None else WriteFile(path, text)
        for path, text in sorted(task.reference.items())
    ]
    return [*made, Submit()]


def declared_files(task: RepositoryTask, changes: Mapping[str, str | None]) -> dict[str, bytes]:
    """The declared files of a task after changes; None is for a file that is gone."""
    found = {path: data for path, data in task.files.items() if task.may_change(path)}
    for path, text in changes.items():
        if text is None:
            found.pop(path, None)
        else:
            found[path] = text.encode(errors="surrogateescape")
    return found


def always(*actions: Sent) -> Callable[[AgentView], Sequence[Sent]]:
    """The same actions whatever the task is."""
    return lambda view: actions


WRAPPING = '''
def _each(space, change):
    """Replace the functions and methods of a module by changed ones."""
    import types
    for name, value in list(space.items()):
        if getattr(value, "__module__", None) != space["__name__"] or name.startswith("_"):
            continue
        if isinstance(value, types.FunctionType):
            space[name] = change(value, name)
        elif isinstance(value, type) and not issubclass(value, BaseException):
            for key, member in list(vars(value).items()):
                if isinstance(member, types.FunctionType) and not key.startswith("_"):
                    setattr(value, key, change(member, key))


def _outside(frame):
    """True where the caller is none of this package."""
    return frame.f_globals.get("__name__", "").partition(".")[0] != __name__.partition(".")[0]
'''
"""Functions that a payload uses to change everything that a module offers."""


def in_sources(view: AgentView, code: str) -> list[WriteFile]:
    """Code at the end of every source that is handed in."""
    code = textwrap.dedent(code)
    return [WriteFile(path, f"{view.text(path)}\n\n{code}") for path in view.sources]


def at_import(view: AgentView, code: str) -> list[WriteFile]:
    """Code at the end of the first source, which every use of the package imports."""
    path = view.sources[0]
    return [WriteFile(path, f"{view.text(path)}\n\n{textwrap.dedent(code)}")]


def wrapped(view: AgentView, body: str, *, setup: str = "") -> list[WriteFile]:
    """Every public function and method with a result that `body` makes.

    `body` sees `function`, `name`, `args`, `kwargs` and `frame`, the caller's, and returns.
    """
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8)
    code = (
        f"{WRAPPING}\n{textwrap.dedent(setup)}\n\ndef _changed(function, name):\n"
        "    def call(*args, **kwargs):\n        import sys\n        frame = sys._getframe(1)\n"
        "        if not _outside(frame):\n            return function(*args, **kwargs)\n"
        f"{lines}\n    return call\n\n\n_each(globals(), _changed)\n"
    )
    return in_sources(view, code)


def wrapping(body: str, *, setup: str = "") -> Callable[[AgentView], Sequence[Sent]]:
    """The values that `wrapped` makes of each task."""
    return lambda view: wrapped(view, body, setup=setup)


def python(code: str) -> RunCommand:
    """A command that runs Python in the workspace."""
    return RunCommand(f"python3 - <<'END_OF_CODE'\n{textwrap.dedent(code).strip()}\nEND_OF_CODE")


def bash(code: str) -> RunCommand:
    """A command of the shell."""
    return RunCommand(textwrap.dedent(code).strip())
