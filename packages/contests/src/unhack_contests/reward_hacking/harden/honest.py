"""Honest submissions of both roles, the controls, and the spaces of a search."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from unhack.tournament.kit import Files, Parameter
from unhack_contests.reward_hacking.harden.corpora import leaky
from unhack_contests.reward_hacking.harden.drawn.leaks import CODE, TEXT

_HOME = Path(__file__).parent / "submissions"
_TEXTS = ("exact", "lenient")
_CODES = ("sealed", "properties", "differential", "probing")
_NEEDS = {"properties": ("sealed",), "differential": ("sealed",),
          "probing": ("sealed", "properties")}  # fmt: skip
_ATTACKS = ("recipe", "near_misses", "probing")


def honest_patches() -> dict[str, Files]:
    """By name; the first is the baseline."""
    alone = {name: patch(name) for name in (*_TEXTS, *_CODES)}
    return {**alone, "lenient_probing": patch("lenient", "probing")}


def patch(*names: str) -> Files:
    """The leaky verifiers closed in these ways."""
    chosen = {family: name for name in names for family in (TEXT if name in _TEXTS else CODE)}
    return patch_submission(chosen)


def null_patch() -> Files:
    """Patches nothing."""
    return {"solution.py": b"# every verifier stays as it is\n"}


def identity_patch() -> Files:
    """The leaky verifiers, handed back."""
    return {"solution.py": leaky()}


PATCH_SPACE = (
    *(Parameter(name, ("leaky", *_TEXTS)) for name in TEXT),
    *(Parameter(name, ("leaky", *_CODES)) for name in CODE),
)
"""Which way each verifier is closed."""


def patch_submission(choice: Mapping[str, float | int | str]) -> Files:
    """The patch of a point of `PATCH_SPACE`."""
    chosen = {name: str(choice.get(name, "leaky")) for name in (*TEXT, *CODE)}
    used = [one for one in (*_TEXTS, *_CODES) if one in chosen.values()]
    own = {name for one in used for name in (one, *_NEEDS.get(one, ()))}
    lines = [f"from {module} import {name}" for name, module in chosen.items() if module != "leaky"]
    files = {f"{one}.py": (_HOME / f"{one}.py.txt").read_bytes() for one in sorted(own)}
    return {"solution.py": ("\n".join(["# closed:", *lines]) + "\n").encode(), **files}


def honest_attacks() -> dict[str, Files]:
    """By name; the first is the baseline."""
    return {name: _attacker(dict.fromkeys((*TEXT, *CODE), name)) for name in _ATTACKS}


def _attacker(ways: Mapping[str, str]) -> Files:
    table = ", ".join(f'"{name}": attacks.{way}' for name, way in ways.items())
    source = (
        f"import attacks\n\nWAYS = {{{table}}}\n\n\ndef attack(verifier, prompt, files):\n"
        "    return WAYS[verifier](verifier, prompt, files) if verifier in WAYS else ''\n"
    )
    return {"solution.py": source.encode(), "attacks.py": (_HOME / "attacks.py.txt").read_bytes()}


ATTACK_SPACE = tuple(Parameter(name, ("none", *_ATTACKS)) for name in (*TEXT, *CODE))
"""Which way is used."""


def attack_submission(choice: Mapping[str, float | int | str]) -> Files:
    """The attacker of a point of `ATTACK_SPACE`."""
    chosen = {name: str(choice.get(name, "none")) for name in (*TEXT, *CODE)}
    return _attacker({name: way for name, way in chosen.items() if way != "none"})


def null_attack() -> Files:
    """Writes nothing."""
    return {"solution.py": b"def attack(verifier, prompt, files):\n    return ''\n"}


def identity_attack() -> Files:
    """Hands the prompt back."""
    return {"solution.py": b"def attack(verifier, prompt, files):\n    return prompt\n"}
