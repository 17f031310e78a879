"""The options of the contest on a card, from `key=value` words, and how a problem is played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from unhack.tournament.kit import UnknownNameError
from unhack_contests.kernels.gpu import kernelbench
from unhack_contests.kernels.gpu.kernelbench import ProblemFile
from unhack_contests.kernels.gpu.problems.registry import DEFAULT, NAMES
from unhack_contests.kernels.settings import chosen_problems, count_option

OPTIONS = ("device", "problem", "problems", "pairs", "card", "kernelbench")
_FEWEST_PAIRS = 3
"""Two pairs have no middle without their ends."""


@dataclass(frozen=True, slots=True)
class GpuOptions:
    """The options of the contest."""

    device: str = "cuda"
    """`cuda` or `cuda:N`."""
    problems: tuple[str, ...] = DEFAULT
    pairs: int = 9
    """The least number of calls of each problem at each of its two shapes."""
    card: str = ""
    """The name of the card that measures; empty for the one of this machine."""
    given: Mapping[str, ProblemFile] = field(default_factory=dict[str, ProblemFile])
    """The problems by name where they are files of the user's; empty for our own."""


@dataclass(frozen=True, slots=True)
class GpuRoofline:
    """Of the card."""

    bytes_per_s: float
    """The fastest of copying, reading and writing."""
    flops_per_s: float
    """Of products with 10-bit mantissas: float32 accuracy costs at least as much."""
    half_flops_per_s: float
    """Of products of bfloat16."""


@dataclass(frozen=True, slots=True)
class GpuRules:
    """How a problem is played."""

    pairs: int
    """Calls of each shape, at least."""
    roofline: GpuRoofline
    thrash_bytes: int = 256 << 20
    given: Mapping[str, ProblemFile] = field(default_factory=dict[str, ProblemFile])
    """See `GpuOptions.given`."""


def parse(options: Mapping[str, str]) -> GpuOptions:
    """Options from words: `device`, `problems` (names joined by commas, or `all`; `problem` for
    one), `pairs` (the least number of calls of each shape), `card` (its name), `kernelbench` (a
    folder of problem files, all of which are played unless `problems` names some). Raises
    UsageError, UnknownNameError."""
    for name in sorted(set(options) - set(OPTIONS)):
        raise UnknownNameError("option of kernels on a GPU", name, valid=OPTIONS)
    files = kernelbench.load(Path(options["kernelbench"])) if "kernelbench" in options else {}
    usual = "all" if files else ",".join(DEFAULT)
    names = chosen_problems(options, tuple(files) or NAMES, usual=usual)
    pairs = count_option(options, "pairs", GpuOptions().pairs, least=_FEWEST_PAIRS)
    given = {name: files[name] for name in names} if files else {}
    return GpuOptions(options["device"], names, pairs, options.get("card", ""), given)
