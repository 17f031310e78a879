"""Packages without what they import for their programs, which their graders do not need."""

from __future__ import annotations

import importlib.util
import sys
import types


def without_init(*packages: str) -> None:
    """Let modules of packages be imported without running the `__init__.py` of these."""
    for name in packages:
        if name in sys.modules:
            continue
        top, *inner = name.split(".")
        found = importlib.util.find_spec(top) if not inner else None
        base = found.submodule_search_locations[0] if found else sys.modules[top].__path__[0]
        module = types.ModuleType(name)
        module.__path__ = ["/".join([base, *inner])]
        sys.modules[name] = module
