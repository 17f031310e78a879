"""All attacks, collected from the modules of `unhack.audit.attacks`."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from unhack.audit.attack import Attack
from unhack.audit.attacks import from_prompt, from_source, programs, texts


@functools.cache
def all_attacks() -> tuple[Attack, ...]:
    """Every attack, in the order of folder, module and definition; names are unique."""
    found: list[Attack] = []
    for folder in (programs, from_source, texts, from_prompt):
        for module in sorted(pkgutil.iter_modules(folder.__path__), key=lambda item: item.name):
            loaded = importlib.import_module(f"{folder.__name__}.{module.name}")
            found += getattr(loaded, "ATTACKS", ())
    names = [attack.name for attack in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two attacks are called {sorted(twice)[0]}")
    return tuple(found)


def attacks_of(tier: int) -> tuple[Attack, ...]:
    """The attacks of one tier."""
    return tuple(attack for attack in all_attacks() if attack.tier == tier)
