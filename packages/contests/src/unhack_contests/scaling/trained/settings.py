"""Options of the trained contest, from `key=value` words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from unhack.tournament.kit import Metric, UnknownNameError, UsageError, require
from unhack_contests.scaling.trained.world.run_settings import RunLimits
from unhack_contests.scaling.trained.world.world import WorldSize
from unhack_contests.torch_card import CPU, check_device

OPTIONS = ("service", "size", "device", "card", "worlds", "record")
_MOST_WORLDS = 8

SIZES: Mapping[str, WorldSize] = {
    "demo": WorldSize(
        budget=2_000_000_000, reach=2.5, targets=4, seeds=2, window=32, batch=8,
        limits=RunLimits((8, 48), (1, 2), (1, 4000), (4, 64)),
        documents=2048, document=128, held=768,
    ),
    "default": WorldSize(
        budget=100_000_000_000, reach=3.0, targets=6, seeds=2, window=32, batch=16,
        limits=RunLimits((8, 128), (1, 4), (1, 20_000), (4, 64)),
        documents=16_384, document=256, held=2048,
    ),
    "large": WorldSize(
        budget=2_000_000_000_000, reach=2.5, targets=6, seeds=2, window=64, batch=64,
        limits=RunLimits((16, 256), (1, 4), (1, 20_000), (16, 512)),
        documents=32_768, document=256, held=2048,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TrainedOptions:
    """The options of the contest."""

    size: str = "default"
    device: str = "cpu"
    """`cpu`, `cuda` or `cuda:N`: where the judge trains."""
    card: str = ""
    """The name of the card that trains, where it is on another machine; empty for the one here."""
    worlds: int = 1
    """Worlds of one evaluation."""
    record: str = ""
    """The folder of finished runs and open meters; empty for the user's cache."""

    @property
    def world(self) -> WorldSize:
        """The size of a world."""
        return SIZES[self.size]

    def words(self) -> dict[str, Metric]:
        """Everything that decides what is measured."""
        return {
            "service": "trained", "size": self.size, "worlds": self.worlds,
            "device": self.device.partition(":")[0], "budget_flops": self.world.budget,
            "targets": self.world.targets, "torch": version("torch"),
        }  # fmt: skip


def parse(options: Mapping[str, str]) -> TrainedOptions:
    """Options from words. Raises UsageError, UnknownNameError; nothing is begun before."""
    for name in sorted(set(options) - set(OPTIONS)):
        raise UnknownNameError("option of scaling with service=trained", name, valid=OPTIONS)
    require("train", "torch", purpose="scaling with service=trained")
    device = options.get("device", CPU)
    size = options.get("size", "default" if device == CPU else "large")
    if size not in SIZES:
        raise UnknownNameError("size of scaling with service=trained", size, valid=tuple(SIZES))
    text = options.get("worlds", "1")
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_WORLDS:
        raise UsageError(f"worlds is a number from 1 to {_MOST_WORLDS}, not {text!r}")
    record = options.get("record", "")
    if record and Path(record).exists() and not Path(record).is_dir():
        raise UsageError(f"record names a folder, and {record} is none")
    card = options.get("card", "")
    check_device(device, card)
    return TrainedOptions(size, device, card, int(text), record)
