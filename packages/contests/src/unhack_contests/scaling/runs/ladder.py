"""A ladder on disk: families of measured runs, checked when read.

Covered: a file that is not whole, was edited, or has runs that no training gives (not finite,
below the entropy floor) is refused.
Not covered: whether the runs were really trained; the builder is what makes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unhack.tournament.kit import DataPool, UsageError, content_hash

FORMAT = 1
POOLS = (DataPool.DEV, DataPool.JUDGE, DataPool.AUDIT, DataPool.CONFIRM)
SHIPPED = Path(__file__).with_name("ladder.json")
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Family:
    """The runs of one kind of text and model. Configurations in order of their FLOPs."""

    name: str
    parameters: Array
    """(c,) of each configuration"""
    tokens: Array
    """(c,)"""
    losses: Array
    """(c, seeds): nats per byte on held-out text"""
    curves: Array
    """(c, seeds, points, 2): tokens seen, training loss"""
    floor: float
    """Entropy of the text, nats per byte: no model is better."""
    floor_error: float

    @property
    def flops(self) -> Array:
        """(c,): six for each parameter and token (Kaplan et al. 2020)."""
        return 6.0 * self.parameters * self.tokens

    @property
    def noise(self) -> float:
        """Standard deviation of the loss between seeds of one configuration."""
        variance: Array = np.var(self.losses, axis=1, ddof=1)
        return float(np.sqrt(variance.mean()))


@dataclass(frozen=True, slots=True)
class Ladder:
    """The runs that the judge owns."""

    families: Mapping[DataPool, Family]
    sha256: str
    text: str
    """The file."""


def digest(document: Mapping[str, Any]) -> str:
    """The hash of a ladder without its own."""
    return content_hash(json.dumps(document, sort_keys=True))


def read_ladder(path: Path) -> Ladder:
    """The ladder of a file. Raises UsageError where it is missing, edited or impossible."""
    try:
        text = path.read_text()
        document: dict[str, Any] = json.loads(text)
        claimed = document.pop("sha256")
        if claimed != digest(document) or document["format"] != FORMAT:
            raise UsageError(f"{path} is not a ladder of format {FORMAT}, or was edited")
        listed = {DataPool(item["pool"]): _family(item) for item in document["families"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is not a ladder: {error}") from None
    if set(listed) != set(POOLS):
        raise UsageError(f"{path} has no family for {', '.join(sorted(set(POOLS) - set(listed)))}")
    for family in listed.values():
        _check(family, path)
    return Ladder(listed, claimed, text)


def _family(item: Mapping[str, Any]) -> Family:
    groups: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for run in item["runs"]:
        groups.setdefault((run["parameters"], run["tokens"]), []).append(run)
    order = sorted(groups, key=lambda key: (key[0] * key[1], key))
    return Family(
        item["name"],
        np.array([key[0] for key in order], float),
        np.array([key[1] for key in order], float),
        np.array([[run["loss"] for run in groups[key]] for key in order], float),
        np.array([[run["curve"] for run in groups[key]] for key in order], float),
        float(item["floor"]),
        float(item["floor_error"]),
    )


def _check(family: Family, path: Path) -> None:
    losses = family.losses
    if losses.ndim != 2 or losses.shape[1] < 2:
        raise UsageError(f"{path}: {family.name} needs two seeds of every configuration")
    if not np.isfinite(losses).all() or losses.min() < family.floor - 5 * family.floor_error:
        raise UsageError(f"{path}: {family.name} has losses that no training gives")
