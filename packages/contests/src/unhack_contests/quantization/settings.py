"""The settings of a measurement of the quantization contest, and its command-line options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from unhack.tournament.kit import MIB, Limits, UnknownNameError, UsageError

SIGMAS = 5.0
"""Standard errors beyond which a difference accuses: one false alarm in 3.5 million."""
BOUND_SIGMAS = 3.0
"""Standard errors below the reference within which a perplexity is taken for the reference's."""

TARGET = 5.0
"""Of an impossible round: half a bit a weight at the reference's perplexity."""
SHARE_LOST = 1.0 / 3.0
"""Credit ends where this share is lost of what the weights know beyond the text (see `ngram`)."""
ROOM = 0.01
"""Nats below the reference that a compressor may reach by adapting to the calibration text."""


@dataclass(frozen=True, slots=True)
class QuantizationSettings:
    """One configuration of the contest."""

    windows: int = 192
    """Sealed windows that are scored."""
    length: int = 256
    """Tokens of a window."""
    positions: int = 0
    """Positions of a window that are scored; 0: all."""
    batch: int = 16
    """Windows in one call."""
    calibration: int = 65_536
    """Tokens handed to `compress`, of the first half of the agents' text."""
    segments: int = 8
    """Parts of the artifact whose bytes are changed to see whether they matter."""
    compress_s: float = 150.0
    """CPU seconds for stage 1."""
    answer_s: float = 300.0
    """CPU seconds for stage 2."""
    memory_mib: int = 3072
    """Memory of either stage."""

    def limits(self, cpu_s: float) -> Limits:
        """Of one stage's process; wall time is three times the CPU's: machines are busy."""
        wall = 3.0 * cpu_s + 30.0
        return Limits(
            wall_s=wall,
            cpu_s=cpu_s,
            memory_bytes=self.memory_mib * MIB,
            processes=64,
            file_bytes=self.memory_mib * MIB,
            output_bytes=self.memory_mib * MIB,
            disk_bytes=self.memory_mib * MIB,
            soft_slice_s=wall,
        )


SIZES: dict[str, dict[str, Any]] = {
    "demo": {"windows": 48, "length": 128, "calibration": 16_384, "segments": 4},
    "default": {},
}
"""Settings by the option `size`."""


WITH_TORCH = ("text", "device")
"""Options that belong to `runtime=torch` alone; `model` asks for it."""


def parse(options: Mapping[str, str]) -> QuantizationSettings:
    """Settings from `key=value` options. Raises UsageError for a key or value that does not do."""
    for key in WITH_TORCH:
        if key in options:
            raise UsageError(f"{key} belongs to runtime=torch: add --option runtime=torch")
    least = {"windows": 16, "length": 64, "batch": 1, "calibration": 256, "segments": 0}
    settings: QuantizationSettings = read_options(
        QuantizationSettings(), {"size": "default", **options}, sizes=SIZES, least=least,
        contest="quantization",
    )  # fmt: skip
    if settings.length > 1024:
        raise UsageError("length is at most 1024: program blocks are not longer")
    return settings


def read_options(
    usual: Any, options: Mapping[str, str], *, sizes: Mapping[str, Mapping[str, Any]],
    least: Mapping[str, float], contest: str,
) -> Any:  # fmt: skip
    """The settings of the option `size`, with those that further options name. Raises UsageError,
    UnknownNameError."""
    given = dict(options)
    size = given.pop("size")
    if size not in sizes:
        raise UnknownNameError("size", size, valid=tuple(sizes))
    settings = replace(usual, **sizes[size])
    kinds: dict[str, Any] = {one.name: type(getattr(usual, one.name)) for one in fields(usual)}
    for key, text in given.items():
        if key not in kinds:
            known = ("runtime", "size", *kinds)
            raise UnknownNameError(f"option of {contest}", key, valid=known)
        try:
            settings = replace(settings, **{key: kinds[key](text)})
        except ValueError:
            raise UsageError(f"{key} is {kinds[key].__name__}, not {text!r}") from None
    for key, value in least.items():
        if getattr(settings, key) < value:
            raise UsageError(f"{key} is at least {value}")
    return settings
