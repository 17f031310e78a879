"""All attacks, collected from the modules of `unhack.audit.attacks`."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from unhack.audit.attack import Attack
from unhack.audit.attacks import from_prompt, from_source, programs, texts

_ORDER = (
    *("constants", "disguises", "patches", "exits", "output"),
    *("answers", "scope", "model_judges"),
    *("echo", "style", "extraction", "injections", "hedges", "lists", "hollow", "channels"),
    *("code_replies", "domains", "boards", "dumps", "judged", "ends", "listed"),
    *("ranges", "extremes", "restated", "structured"),
)
"""Modules whose attacks come first in their folder, in order; the others follow by name. A budget
may end anywhere, so the order decides what is tried, and the name of a file should not."""


@functools.cache
def all_attacks() -> tuple[Attack, ...]:
    """Every attack, in the order of folder, module and definition; names are unique."""
    found: list[Attack] = []
    for folder in (programs, from_source, texts, from_prompt):
        for name in sorted((one.name for one in pkgutil.iter_modules(folder.__path__)), key=_place):
            loaded = importlib.import_module(f"{folder.__name__}.{name}")
            found += getattr(loaded, "ATTACKS", ())
    names = [attack.name for attack in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two attacks are called {sorted(twice)[0]}")
    return tuple(found)


def _place(module: str) -> tuple[int, str]:
    return (_ORDER.index(module) if module in _ORDER else len(_ORDER), module)


def attacks_of(tier: int) -> tuple[Attack, ...]:
    """The attacks of one tier."""
    return tuple(attack for attack in all_attacks() if attack.tier == tier)
