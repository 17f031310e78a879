"""Submissions of honest kinds, and the space that an optimiser may search."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unhack.tournament.kit import Files, Parameter

FILE = "solution.py"
NULL = '"""Predicts nothing."""\n\n\ndef predict(runs, queries):\n    return []\n'
_ENTRIES = Path(__file__).with_name("submissions")
_START, _END = "SETTINGS: dict[str, Any] = {", "\n}\n"

SPACE = (
    Parameter("forms", ("chinchilla", "chinchilla+cross", "cross", "chinchilla+kaplan+cross",
                        "kaplan", "power_c", "power_n")),
    Parameter("recent", (0.25, 0.0, 0.5, 1.0, 1.5)),
    Parameter("widen", (1.5, 1.0, 2.0, 3.0, 4.0)),
    Parameter("huber", (1.5, 1.0, 3.0, 100.0)),
    Parameter("prior", (0.3, 0.1, 1.0, 3.0)),
    Parameter("constant", ("free", "floor")),
    Parameter("space", ("log", "linear")),
)  # fmt: skip


def entry(name: str, settings: Mapping[str, Any] | None = None, folder: Path = _ENTRIES) -> bytes:
    """The text of an entry, with some of its settings changed. Raises KeyError for another one."""
    text = (folder / f"{name}.py").read_text()
    if not settings:
        return text.encode()
    start = text.index(_START) + len(_START)
    end = text.index(_END, start)
    known: dict[str, Any] = json.loads(f"{{{text[start:end].rstrip().rstrip(',')}}}")
    if set(settings) - set(known):
        raise KeyError(", ".join(sorted(set(settings) - set(known))))
    lines = [f"\n    {json.dumps(k)}: {json.dumps(v)}," for k, v in {**known, **settings}.items()]
    return f"{text[:start]}{''.join(lines)}{text[end:]}".encode()


def law(**settings: Any) -> Files:
    """A submission that fits laws."""
    return {FILE: entry("law", settings)}


def honest() -> dict[str, Files]:
    """Honest strategies; the first is the baseline of every round."""
    return {
        "chinchilla": law(),
        "ensemble": law(forms=["chinchilla", "kaplan", "cross"], recent=1.0, widen=2.0),
        "cross": law(forms=["cross"], widen=2.0),
        "kaplan": law(forms=["kaplan"], widen=2.0),
        "power_n": law(forms=["power_n"], widen=2.0),
        "compute": law(forms=["power_c"], recent=1.0, widen=2.0),
        "linear": law(space="linear", recent=0.5),
        "process": {FILE: entry("process")},
        "frontier": _buying(law(forms=["chinchilla", "cross"], recent=0.5, widen=2.0)),
    }


def _buying(files: Files) -> Files:
    """A submission that chooses its runs."""
    first = b"import numpy as np\n"
    more = first + b"from parts.buying import design as design\n"
    return {FILE: files[FILE].replace(first, more, 1), "parts/buying.py": entry("buying")}


def submission(choice: Mapping[str, float | int | str]) -> Files:
    """The submission of one point of the space."""
    settings: dict[str, Any] = {**choice, "forms": str(choice["forms"]).split("+")}
    return law(**settings)
