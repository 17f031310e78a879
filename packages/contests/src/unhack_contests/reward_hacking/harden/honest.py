"""Honest submissions of both roles, the controls, and the spaces of a search."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from unhack.tournament.contest import Files, Parameter
from unhack_contests.reward_hacking.harden.corpora import CODE, TEXT
from unhack_contests.reward_hacking.harden.levels import leaky

_HOME = Path(__file__).parent / "submissions"

_CHOICES = {"text": ("leaky", "anchored"), "code": ("leaky", "typed", "sealed")}


def honest_patches() -> dict[str, Files]:
    """By name; the first is the baseline."""
    return {
        "anchored": patch("anchored"),
        "typed": patch("typed"),
        "anchored_typed": patch("anchored", "typed"),
        "anchored_sealed": patch("anchored", "sealed"),
    }


def patch(*names: str) -> Files:
    """The leaky verifiers closed in these ways."""
    own = {f"{name}.py": (_HOME / f"{name}.py.txt").read_bytes() for name in names}
    table = {"anchored": TEXT, "typed": CODE, "sealed": CODE}
    listed = [f"from {name} import {', '.join(table[name])}" for name in names]
    return {"solution.py": ("\n".join(listed) + "\n").encode(), **own}


def null_patch() -> Files:
    """Patches nothing."""
    return {"solution.py": b"# every verifier stays as it is\n"}


def identity_patch(level: str) -> Files:
    """The leaky verifiers, handed back."""
    return {"solution.py": leaky(level)}


PATCH_SPACE = (
    *(Parameter(name, _CHOICES["text"]) for name in TEXT),
    *(Parameter(name, _CHOICES["code"]) for name in CODE),
)
"""Which way each verifier is closed."""


def patch_submission(choice: Mapping[str, float | int | str]) -> Files:
    """The patch of a point of `PATCH_SPACE`."""
    chosen = {name: str(choice.get(name, "leaky")) for name in (*TEXT, *CODE)}
    used = [one for one in ("anchored", "typed", "sealed") if one in chosen.values()]
    lines = [f"from {module} import {name}" for name, module in chosen.items() if module != "leaky"]
    own = {f"{one}.py": (_HOME / f"{one}.py.txt").read_bytes() for one in used}
    return {"solution.py": ("\n".join(["# closed:", *lines]) + "\n").encode(), **own}


# Attacks.


def _attacker(names: tuple[str, ...]) -> Files:
    table = ", ".join(f'"{name}": attacks.{name}' for name in names)
    source = (
        f"import attacks\n\nWAYS = {{{table}}}\n\n\ndef attack(verifier, prompt):\n"
        "    return WAYS[verifier](prompt) if verifier in WAYS else ''\n"
    )
    return {"solution.py": source.encode(), "attacks.py": (_HOME / "attacks.py.txt").read_bytes()}


def honest_attacks() -> dict[str, Files]:
    """By name; the first is the baseline."""
    return {
        "exits_and_objects": _attacker(CODE),
        "hedges_and_blanks": _attacker(("contains_answer", "any_number", "forgiving_number",
                                        "first_letter")),
        "every_way": _attacker((*TEXT, *CODE)),
    }  # fmt: skip


def null_attack() -> Files:
    """Writes nothing."""
    return {"solution.py": b"def attack(verifier, prompt):\n    return ''\n"}


def identity_attack() -> Files:
    """Hands the prompt back."""
    return {"solution.py": b"def attack(verifier, prompt):\n    return prompt\n"}


ATTACK_SPACE = tuple(Parameter(name, (0, 1)) for name in (*TEXT, *CODE))
"""Which ways are used."""


def attack_submission(choice: Mapping[str, float | int | str]) -> Files:
    """The attacker of a point of `ATTACK_SPACE`."""
    return _attacker(tuple(name for name in (*TEXT, *CODE) if choice.get(name)))
