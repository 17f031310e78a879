"""The options of the contest on a card, from `key=value` words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unhack.core.errors import UnknownNameError, UsageError
from unhack.tournament.contests.kernels.gpu.problems.registry import DEFAULT, NAMES, find

OPTIONS = ("device", "problem", "problems", "pairs", "card")
_MOST_PAIRS = 1000


@dataclass(frozen=True, slots=True)
class GpuOptions:
    """The options of the contest."""

    device: str = "cuda"
    """`cuda` or `cuda:N`."""
    problems: tuple[str, ...] = DEFAULT
    pairs: int = 9
    """Calls of each problem at each of its two shapes."""
    card: str = ""
    """The name of the card that measures; empty for the one of this machine."""


def parse(options: Mapping[str, str]) -> GpuOptions:
    """Options from words: `device`, `problems` (names joined by commas, or `all`; `problem` for
    one), `pairs` (calls of each shape), `card` (its name). Raises UsageError, UnknownNameError."""
    for name in sorted(set(options) - set(OPTIONS)):
        raise UnknownNameError("option of kernels on a GPU", name, valid=OPTIONS)
    if "problem" in options and "problems" in options:
        raise UsageError("give problem or problems, not both")
    wanted = options.get("problems", options.get("problem", ",".join(DEFAULT)))
    names = NAMES if wanted == "all" else tuple(dict.fromkeys(wanted.split(",")))
    for name in names:
        find(name)
    text = options.get("pairs", str(GpuOptions().pairs))
    if not text.isdigit() or not 1 <= int(text) <= _MOST_PAIRS:
        raise UsageError(f"pairs is a number from 1 to {_MOST_PAIRS}, not {text!r}")
    return GpuOptions(options["device"], tuple(names), int(text), options.get("card", ""))
