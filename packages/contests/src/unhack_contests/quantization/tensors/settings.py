"""The options of the contest with `runtime=torch`, from `key=value` words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhack.sandbox.gpu.process import GpuLimits
from unhack.tournament.kit import MIB, Limits, UsageError
from unhack_contests.quantization.settings import read_options
from unhack_contests.torch_card import check_device

_STAGE_ONE_MIB = 6144
_STAGE_TWO_MIB = 2048
_CARD_HOST_MIB = 10_240
"""The memory that a process with a card takes of the host besides."""
_CARD_MIB = 8192
_BYTES_A_PARAMETER = 24
"""Of a stage's memory: the model in float32, a copy, and what a method keeps beside it."""
_STAGE_TWO_S = 10.0
_STAGE_TWO_S_A_PARAMETER = 2e-6
"""CPU seconds: undoing a code is linear in the weights. Training them anew is far from it."""


@dataclass(frozen=True, slots=True)
class TensorSettings:
    """One configuration of the contest."""

    model: str = ""
    """A folder that transformers loads a causal language model from; empty: the package's own."""
    text: str = ""
    """A file or folder that windows are drawn from; empty: programs that are made afresh."""
    device: str = "cpu"
    """Of stage 1 and of the judge's own model: `cpu`, `cuda` or `cuda:N`."""
    card: str = ""
    """The name of the card that measures, where it is on another machine; empty for the one
    here."""
    windows: int = 192
    """Sealed windows that are scored."""
    length: int = 256
    """Tokens of a window."""
    calibration: int = 65_536
    """Tokens handed to `compress` and `decompress`, of the first half of the agents' text, which
    may be shorter; no fewer, for of fewer a decoder learns less than of text that the machine
    has."""
    compress_s: float = 150.0
    """Wall seconds for stage 1; with a start of 30 s, and three times as much on a busy machine."""

    @property
    def wall_s(self) -> float:
        """Seconds after which stage 1 is ended."""
        return 3.0 * self.compress_s + 30.0

    def stage_one(self, parameters: int) -> GpuLimits:
        """Limits of the first stage's tree for a model of that size."""
        room = _BYTES_A_PARAMETER * parameters
        host = 0 if self.device == "cpu" else _CARD_HOST_MIB
        return GpuLimits(
            memory_bytes=(_STAGE_ONE_MIB + host) * MIB + room,
            card_bytes=_CARD_MIB * MIB + room,
            disk_bytes=512 * MIB + 4 * parameters,
        )

    def stage_two(self, parameters: int) -> Limits:
        """Limits of the second stage: one thread, and time to undo a code, not to train."""
        cpu_s = stage_two_s(parameters)
        memory = _STAGE_TWO_MIB * MIB + _BYTES_A_PARAMETER * parameters
        return Limits(
            wall_s=3.0 * cpu_s + 30.0,
            cpu_s=cpu_s,
            memory_bytes=memory,
            processes=1,
            output_bytes=64 * MIB + 4 * parameters,
            soft_slice_s=3.0 * cpu_s + 30.0,
        )


def stage_two_s(parameters: int) -> float:
    """CPU seconds of stage 2 for a model of that many parameters."""
    return _STAGE_TWO_S + _STAGE_TWO_S_A_PARAMETER * parameters


SIZES: dict[str, dict[str, Any]] = {
    "demo": {"windows": 48, "length": 128, "compress_s": 60.0},
    "default": {},
    "large": {"windows": 64, "compress_s": 900.0},
}
"""Settings by the option `size`; `large` is the start for a model of one's own."""


def parse(options: Mapping[str, str]) -> TensorSettings:
    """Settings from `key=value` options. Raises UsageError, UnknownNameError."""
    usual = TensorSettings()
    least = {"windows": 16, "length": 32, "calibration": usual.calibration, "compress_s": 1}
    size = "large" if options.get("model") else "default"
    settings: TensorSettings = read_options(
        usual, {"size": size, **options}, sizes=SIZES, least=least,
        contest="quantization with runtime=torch",
    )  # fmt: skip
    check_device(settings.device, settings.card)
    if settings.text and not Path(settings.text).exists():
        raise UsageError(f"text={settings.text}: there is no such file or folder")
    return settings
