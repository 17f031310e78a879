"""The options of the contest, from `key=value` words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unhack.tournament.kit import UnknownNameError, UsageError
from unhack_contests.kernels import honest
from unhack_contests.kernels.problems.registry import NAMES, find

DEFAULT = ("rmsnorm", "gemv_int8", "histogram", "attention")
OPTIONS = ("size", "problem", "problems", "pairs", "hidden_pairs", "threads", "sizes")
SIZES: Mapping[str, Mapping[str, str]] = {
    "demo": {"problems": "rmsnorm,histogram", "pairs": "5", "hidden_pairs": "3"},
    "default": {},
}
"""Options by the option `size`; what else is given changes them."""


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """The options of the contest."""

    problems: tuple[str, ...] = DEFAULT
    pairs: int = 9
    """Calls of each problem at the sizes of the statement."""
    hidden_pairs: int = 5
    threads: int = honest.CORES
    small: bool = False
    """Sizes for testing the judge; its times mean nothing."""


def parse(options: Mapping[str, str]) -> KernelOptions:
    """Options from words: `size` (of `SIZES`), `problems` (names joined by commas, or `all`;
    `problem` for one), `pairs` and `hidden_pairs` (calls of each problem), `threads`, `sizes`
    (`full` or `small`).

    Raises UsageError, UnknownNameError.
    """
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise UsageError(
            f"kernels has no option {unknown[0]!r}; it has {', '.join(OPTIONS)}, and device=cuda, "
            "which has options of its own"
        )
    if "problem" in options and "problems" in options:
        raise UsageError("give problem or problems, not both")
    size = options.get("size", "default")
    if size not in SIZES:
        raise UnknownNameError("size of kernels", size, valid=tuple(SIZES))
    options = {**SIZES[size], **options}
    wanted = options.get("problem", options.get("problems", ",".join(DEFAULT)))
    names = NAMES if wanted == "all" else tuple(dict.fromkeys(wanted.split(",")))
    sizes = options.get("sizes", "full")
    if sizes not in ("full", "small"):
        raise UsageError(f"sizes is full or small, not {sizes!r}")
    plain = KernelOptions()
    return KernelOptions(
        problems=tuple(find(name).name for name in names),
        pairs=_count(options, "pairs", plain.pairs),
        hidden_pairs=_count(options, "hidden_pairs", plain.hidden_pairs),
        threads=_count(options, "threads", plain.threads),
        small=sizes == "small",
    )


def _count(options: Mapping[str, str], name: str, default: int) -> int:
    text = options.get(name, str(default))
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise UsageError(f"{name} is a number from 1 to 1000, not {text!r}")
    return int(text)
