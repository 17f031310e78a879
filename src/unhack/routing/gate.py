"""The gate that experiments support, for pairs of one's own.

In each knob state the direction of the pairs is extracted anew every few updates; of the rewarded
rollouts of that state the share that points along it most is routed
(`unhack.training.routing.gates`, and the explanation of gradient routing).

Axes: B rollouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from unhack.core.errors import UsageError
from unhack.routing.pairs import TextPair, encode_pairs, read_pairs
from unhack.routing.quarantine import Quarantine
from unhack.routing.scorer import PairScorer
from unhack.training.config.settings import GateSettings
from unhack.training.routing.gate import Gate
from unhack.training.routing.gates.cosine import CosineGate
from unhack.training.routing.gates.knobs import KnobGate
from unhack.training.routing.gates.rewarded import RewardedGate


@dataclass(frozen=True, slots=True)
class HackGate:
    """A gate before it knows its model. `hack_gate` makes one."""

    pairs: tuple[TextPair, ...]
    share: float
    """Part of the rewarded rollouts of a knob state that is routed, rounded up."""
    refresh: int
    """Updates between extractions of the direction; 0: once."""
    off_share: float
    """Part of the prompts that are sampled and trained with the quarantine off."""
    action: Literal["route", "drop"]
    """`route`: what is picked goes to the quarantine. `drop`: it goes nowhere, and the quarantine
    never acts."""
    recentre: bool
    """Advantages are taken relative to what is kept of their group."""

    def made(self, quarantine: Quarantine, tokenizer: Any) -> Gate:
        """The gate of a model. Raises UsageError for pairs that cannot be encoded."""
        settings = GateSettings(
            kind="cosine", calibration="quantile", constant=self.share, refresh=self.refresh,
            rewarded=True, per_knob=self.action == "route", action=self.action,
        )  # fmt: skip
        scorer, pairs = PairScorer(quarantine), encode_pairs(self.pairs, tokenizer)

        def cosine(*, on: bool) -> CosineGate:
            return CosineGate(settings, policy=scorer, pairs=pairs, pad=0, seed=0, quarantine=on)

        if self.action == "drop":
            return RewardedGate(cosine(on=False))
        return RewardedGate(KnobGate(on=cosine(on=True), off=cosine(on=False)))


def hack_gate(
    pairs: Sequence[TextPair] | str | Path,
    *,
    share: float = 0.3,
    refresh: int = 5,
    off_share: float = 0.5,
    action: Literal["route", "drop"] = "route",
    recentre: bool = True,
) -> HackGate:
    """A gate of pairs, or of the file that `unhack audit --pairs` wrote; see `HackGate`.

    Raises UsageError without pairs and for shares outside of [0, 1].
    """
    found = read_pairs(pairs) if isinstance(pairs, (str, Path)) else list(pairs)
    if not found:
        raise UsageError("a gate needs at least one pair of a hack and an honest completion")
    for name, value in (("share", share), ("off_share", off_share)):
        if not 0.0 <= value <= 1.0:
            raise UsageError(f"{name}={value}: it lies in [0, 1]")
    return HackGate(tuple(found), share, refresh, off_share, action, recentre)
