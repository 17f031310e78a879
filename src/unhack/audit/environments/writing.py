"""The ways in which attacks change files: code at the end of sources, new files, scripts."""

from __future__ import annotations

import textwrap

from unhack.audit.environments.attack import AgentView
from unhack.environments.actions import RunCommand, WriteFile

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


def python(code: str) -> RunCommand:
    """A command that runs Python in the workspace."""
    return RunCommand(f"python3 - <<'END_OF_CODE'\n{textwrap.dedent(code).strip()}\nEND_OF_CODE")


def bash(code: str) -> RunCommand:
    """A command of the shell."""
    return RunCommand(textwrap.dedent(code).strip())
