"""Each layer of the sandbox in words: what it stops, what is lost without it, what brings it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from unhack.sandbox.linux.capabilities import Capabilities

_TABLE = Path(__file__).with_name("layers.toml")
_LANDLOCK_GAPS = {
    2: "moving files between directories",
    3: "truncating files",
    4: "TCP",
    5: "device ioctls",
    6: "signals and abstract sockets",
}
"""Landlock ABI -> what it is the first to cover; below it, the filter alone denies that."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One mechanism."""

    name: str
    trial: str
    """Its name in `trials`."""
    stops: str
    without: str
    remedy: str
    needs_namespaces: bool = False
    """True when the host's obstacles to user namespaces stand in its way."""
    optional: bool = False
    """True where its absence weakens nothing."""

    def version(self, facts: Capabilities) -> str:
        """The version that this host has of it; empty for a mechanism without versions."""
        if self.trial == "cgroups":
            return f"version {facts.cgroups.version}"
        if self.trial != "landlock":
            return ""
        gaps = [text for abi, text in _LANDLOCK_GAPS.items() if abi > facts.landlock_abi]
        rest = f"; left to the filter: {', '.join(gaps)}" if gaps else ""
        return f"ABI {facts.landlock_abi}{rest}"


LAYERS: tuple[Layer, ...] = tuple(
    Layer(**fields) for fields in tomllib.loads(_TABLE.read_text())["layers"]
)
