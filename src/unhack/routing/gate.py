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
from typing import Any, Literal, cast

from unhack.core.errors import UsageError
from unhack.routing.pairs import TextPair, check_pairs, encode_pairs, read_pairs
from unhack.routing.quarantine import Quarantine
from unhack.routing.scorer import PairScorer
from unhack.training.config.settings import GateSettings
from unhack.training.routing.gate import Gate
from unhack.training.routing.gates.cosine import CosineGate
from unhack.training.routing.gates.knobs import KnobGate
from unhack.training.routing.gates.rewarded import RewardedGate


@dataclass(frozen=True, slots=True)
class HackGate:
    """A gate before it knows its model. `hack_gate` makes one.

    Example:

        gate = hack_gate("pairs.jsonl", share=0.3)
        gate.share, gate.refresh
        router = Router(quarantine, gate, tokenizer=tokenizer)
    """

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
        """The gate of a model. Raises UsageError for pairs that cannot be encoded,
        or that the model cannot read."""
        settings = GateSettings(
            kind="cosine", calibration="quantile", constant=self.share, refresh=self.refresh,
            rewarded=True, per_knob=self.action == "route", action=self.action,
        )  # fmt: skip
        scorer, pairs = PairScorer(quarantine), encode_pairs(self.pairs, tokenizer)
        check_pairs(pairs, quarantine.model)

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

    Raises UsageError without pairs, for what is no pair and for settings out of their range.
    """
    given: Any = [pairs] if isinstance(pairs, TextPair) else pairs
    found: list[Any] = read_pairs(given) if isinstance(given, (str, Path)) else list(given)
    if not found:
        raise UsageError("a gate needs at least one pair of a hack and an honest completion")
    for number, pair in enumerate(found):
        if not isinstance(pair, TextPair):
            kind = type(pair).__name__
            raise UsageError(f"pair {number} is a {kind}: write TextPair(prompt, hack, clean)")
    for name, value in (("share", share), ("off_share", off_share)):
        if not _is_number(value) or not 0.0 <= value <= 1.0:
            raise UsageError(f"{name}={value!r}: it is a number in [0, 1]")
    if not isinstance(cast(Any, refresh), int) or refresh < 0:
        raise UsageError(f"refresh={refresh!r}: it is a number of updates, or 0 for once")
    if action not in ("route", "drop"):
        raise UsageError(f"action={action!r}: it is 'route' or 'drop'")
    return HackGate(tuple(found), share, refresh, off_share, action, recentre)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
