"""The options of the contest, from `key=value` words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unhack.tournament.kit import UnknownNameError, UsageError
from unhack_contests.kernels import honest
from unhack_contests.kernels.problems.registry import NAMES

DEFAULT = ("rmsnorm", "gemv_int8", "histogram", "attention")
_MOST = 1000
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
    size = options.get("size", "default")
    if size not in SIZES:
        raise UnknownNameError("size of kernels", size, valid=tuple(SIZES))
    usual = SIZES[size].get("problems", ",".join(DEFAULT))
    problems = chosen_problems(options, NAMES, usual=usual)
    options = {**SIZES[size], **options}
    sizes = options.get("sizes", "full")
    if sizes not in ("full", "small"):
        raise UsageError(f"sizes is full or small, not {sizes!r}")
    plain = KernelOptions()
    return KernelOptions(
        problems=problems,
        pairs=count_option(options, "pairs", plain.pairs),
        hidden_pairs=count_option(options, "hidden_pairs", plain.hidden_pairs),
        threads=count_option(options, "threads", plain.threads),
        small=sizes == "small",
    )


def chosen_problems(
    options: Mapping[str, str], every: tuple[str, ...], *, usual: str
) -> tuple[str, ...]:
    """The names of `problems`, joined by commas, or `all`; or that of `problem`. Raises UsageError,
    UnknownNameError."""
    if "problem" in options and "problems" in options:
        raise UsageError("give problem or problems, not both")
    wanted = options.get("problems", options.get("problem", usual))
    names = every if wanted == "all" else tuple(dict.fromkeys(wanted.split(",")))
    for name in names:
        if name not in every:
            raise UnknownNameError("problem", name, valid=every)
    return names


def count_option(options: Mapping[str, str], name: str, usual: int, *, least: int = 1) -> int:
    """A number of calls or threads. Raises UsageError."""
    text = options.get(name, str(usual))
    if not text.isdigit() or not least <= int(text) <= _MOST:
        raise UsageError(f"{name} is a number from {least} to {_MOST}, not {text!r}")
    return int(text)
