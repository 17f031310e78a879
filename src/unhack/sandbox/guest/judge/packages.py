"""Imports of a candidate's packages by the judge's tests: modules that show the candidate's.

`import pkg.sub` asks the candidate to import `pkg.sub`; `pkg.sub` as an attribute is asked for
again, so that a package may have a function under the name of its submodule.

Covered: packages, submodules, modules made when they are first asked for, reloading; a module of
the judge's own folder goes before one of the candidate's (tests that lie inside a package).
Not covered, and refused: the files of the solution, `importlib.resources` of it by the tests.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import os
import sys
import types
from collections.abc import Collection, Sequence
from importlib.machinery import ModuleSpec
from typing import Any

from unhack.core import plain
from unhack.sandbox.guest.judge.connection import CandidateConnection
from unhack.sandbox.guest.judge.modules import Imports


def forget(tops: Collection[str]) -> None:
    """Let modules below these names be imported anew: pytest may have loaded its own of them."""
    for name in [name for name in sys.modules if name.partition(".")[0] in tops]:
        del sys.modules[name]


class PackageImports:
    """Finder and loader of the modules below some names."""

    def __init__(
        self, seal: CandidateConnection, imports: Imports, home: str, *,
        tops: Sequence[str], roots: Sequence[str],
    ) -> None:  # fmt: skip
        """`tops`: first parts of the names that are the candidate's; `roots`: folders of `home`
        that modules are looked for in."""
        self._seal = seal
        self._imports = imports
        self._tops = frozenset(tops)
        self._folders = [os.path.normpath(os.path.join(home, root)) for root in roots]
        self._numbers: dict[str, int] = {}

    def install(self) -> None:
        """Stand before the other finders."""
        forget(self._tops)
        sys.meta_path.insert(0, self)  # type: ignore[arg-type]
        self._seal.adopt_module = self._adopt

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The candidate's module of that name. Raises what it raises while it is loaded."""
        del path
        if name.partition(".")[0] not in self._tops or self._is_ours(name):
            return None
        if type(target) is not types.ModuleType and target is not None and name in self._numbers:
            self._seal.ask("load", self._numbers[name], args=(True,))  # a reload
            return self._spec(name, is_package=hasattr(target, "__path__"))
        found = self._seal.ask("import", 0, name)
        if found is None:
            return None
        number, _, is_package = found
        if type(number) is not int:
            raise self._seal.violate("a module without a number")
        self._numbers[name] = number
        return self._spec(name, is_package=is_package is True)

    def _spec(self, name: str, *, is_package: bool) -> ModuleSpec:
        spec = ModuleSpec(name, self, is_package=is_package)  # type: ignore[arg-type]
        if is_package:
            parts = name.split(".")
            spec.submodule_search_locations = [os.path.join(top, *parts) for top in self._folders]
        return spec

    def _is_ours(self, name: str) -> bool:
        """True for a module of the judge's folder: a test, or what stands beside it. An empty
        `__init__.py` there stands for the candidate's."""
        places = [os.path.join(top, *name.split(".")) for top in self._folders]
        files = [path for place in places for path in (f"{place}.py", f"{place}/__init__.py")]
        return any(os.path.isfile(path) and os.path.getsize(path) for path in files)

    def create_module(self, spec: ModuleSpec) -> None:
        """None, for the usual kind of module."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Let a module show the candidate's of its name."""
        if type(module) is types.ModuleType:
            self._imports.show(module, self._numbers[module.__name__])

    def _adopt(self, number: Any, name: Any, is_package: Any) -> Any:
        """The module that a value of the candidate is. Raises PlainDataError."""
        if type(number) is not int or type(name) is not str or not _is_dotted(name):
            raise plain.PlainDataError("a module that is none")
        if name.partition(".")[0] not in self._tops or self._is_ours(name):
            raise plain.PlainDataError("a module under a name that is not the solution's")
        known = sys.modules.get(name)
        if known is not None and self._numbers.get(name) == number:
            return known
        spec = self._spec(name, is_package=is_package is True)
        module = types.ModuleType(name)
        module.__spec__ = spec
        module.__loader__ = self  # type: ignore[assignment]
        module.__package__ = name if is_package is True else name.rpartition(".")[0]
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
        self._imports.show(module, number)
        if known is None:
            self._numbers[name] = number
            sys.modules[name] = module
        return module


def _is_dotted(name: str) -> bool:
    return len(name) < 400 and all(part.isidentifier() for part in name.split("."))
