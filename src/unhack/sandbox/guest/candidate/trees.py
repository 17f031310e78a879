"""A candidate that is a tree of files: packages in its private directory, imported as packages.

Covered: relative and circular imports, submodules, namespace packages, data files beside modules,
modules that are imported when they are first used; all by the interpreter's own import system.
Not covered: compiled extensions (nothing in the directory can be executed).
"""

from __future__ import annotations

import base64
import os
import sys
import types
from collections.abc import Iterable
from typing import Any

from unhack.sandbox.guest.candidate import interpreter_setup
from unhack.sandbox.guest.candidate.program import SCRATCH


def write(files: dict[str, str], roots: Iterable[str], *, adapted: bool = True) -> None:
    """Write files (relative path -> base64) and put `roots`, folders among them, in front of the
    import path. `adapted`: put in place what the modules name and the sandbox lacks.

    Raises OSError.
    """
    made: set[str] = set()
    for name, data in files.items():
        path = os.path.join(SCRATCH, name)
        folder = os.path.dirname(path)
        if folder not in made:
            os.makedirs(folder, exist_ok=True)
            made.add(folder)
        content = base64.b64decode(data)
        with open(path, "wb") as file:
            file.write(content)
        if adapted and name.endswith(".py"):
            interpreter_setup.adapt(content.decode("utf-8", "replace"))
    sys.path[:0] = [os.path.normpath(os.path.join(SCRATCH, root)) for root in roots]
    sys.dont_write_bytecode = True
    sys.path_importer_cache.clear()


def load(name: str) -> Any:
    """The module of a dotted name, imported where it is not yet; None where there is none.

    Raises what the module raises.
    """
    from importlib import import_module  # only a tree of files is imported like this
    from importlib.util import find_spec

    if name not in sys.modules and find_spec(name) is None:
        return None
    return import_module(name)


def is_module(value: Any, tops: Iterable[str]) -> bool:
    """True for a module below one of the names `tops`, that its name leads to."""
    if not isinstance(value, types.ModuleType):
        return False
    name = vars(types.ModuleType)["__dict__"].__get__(value).get("__name__")
    if type(name) is not str or name.partition(".")[0] not in tops:
        return False
    return sys.modules.get(name) is value


def described(module: Any) -> list[Any]:
    """Name of a module, and True for a package."""
    return [module.__name__, hasattr(module, "__path__")]
