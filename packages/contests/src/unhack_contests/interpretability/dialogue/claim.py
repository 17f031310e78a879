"""The claim of a submission about one model, read strictly.

Covered: a claim is lists of integers, roles of a fixed vocabulary, finite intervals. What no
computation gives (booleans, fractions, non-finite numbers, more nodes than there are) is flagged.
Not covered: whether it is right (`score`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from unhack_contests.interpretability.models.circuits import ROLES
from unhack_contests.interpretability.models.network import Array, Edge, Network, Node
from unhack_contests.submission import RefusedError, flagged

_HUGE = 1 << 31
_SENTENCE = 4
"""A role of so many words is no role but a text."""


@dataclass(frozen=True, slots=True)
class CircuitClaim:
    """The circuit as the submission sees it."""

    nodes: frozenset[Node]
    edges: frozenset[Edge]
    roles: Mapping[Node, str]
    backward: frozenset[Edge]
    """Edges against the direction of time: no model has them, and they count for nothing."""


def read(value: Any, *, net: Network) -> CircuitClaim:
    """A claim from the wire. Raises RefusedError."""
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if set(fields) != {"nodes", "edges", "roles"}:
        raise flagged("forged_value", "a claim of other than nodes, edges and roles")
    nodes = _rows(fields["nodes"], size=2, limit=len(net.nodes))
    edges = _rows(fields["edges"], size=4, limit=len(net.nodes) ** 2)
    wide = net.heads + 1
    for layer, part, *rest in nodes + edges:
        ends = [(layer, part), *([tuple(rest)] if rest else [])]
        if any(row >= net.layers or c >= wide for row, c in ends):
            raise RefusedError(f"the claim names {ends[-1]}, which does not exist")
    forward = frozenset(edge for edge in edges if edge[0] < edge[2])
    return CircuitClaim(
        frozenset(nodes), forward, _roles(fields["roles"], known=frozenset(nodes)),
        frozenset(edges) - forward,
    )  # fmt: skip


def intervals(value: Any, *, count: int) -> Array | None:
    """Predictions (count, 2) as float64, None for none. Raises RefusedError."""
    if value is None:
        return None
    if not isinstance(value, np.ndarray):
        raise RefusedError(f"predictions are {count} intervals, not {type(value).__name__}")
    array = cast("Array", value)
    if array.dtype.kind not in "iuf":
        raise flagged("forged_value", f"predictions of type {array.dtype}")
    if array.shape != (count, 2):
        raise RefusedError(f"predictions have the shape {array.shape}, not {(count, 2)}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise flagged("forged_value", "predictions that are not finite")
    if (array[:, 0] > array[:, 1]).any():
        raise RefusedError("an interval ends before it begins")
    return array


def _rows(value: Any, *, size: int, limit: int) -> list[Any]:
    if not isinstance(value, list):
        raise flagged("forged_value", "components that are no list")
    items = cast("list[Any]", value)
    if len(items) > limit:
        raise flagged("forged_value", f"{len(items)} components named where {limit} exist")
    for item in items:
        parts = cast("list[Any]", item) if isinstance(item, list) else []
        if len(parts) != size or any(type(part) is not int for part in parts):
            raise flagged("forged_value", f"{item!r:.60} for a component")
        if any(abs(part) >= _HUGE for part in parts):
            raise flagged("forged_value", f"{item!r:.60} for a component")
        if min(parts) < 0:
            raise RefusedError(f"the claim names {item!r:.60}, which does not exist")
    return [tuple(item) for item in items]


def _roles(value: Any, *, known: frozenset[Node]) -> dict[Node, str]:
    if not isinstance(value, list):
        raise flagged("forged_value", "roles that are no list")
    found: dict[Node, str] = {}
    for pair in cast("list[Any]", value):
        parts = cast("list[Any]", pair) if isinstance(pair, list) else []
        if len(parts) != 2 or not isinstance(parts[1], str):
            raise flagged("forged_value", f"{pair!r:.60} for a role")
        if len(parts[1].split()) >= _SENTENCE:
            raise flagged("addresses_judge", f"the text {parts[1]!r:.80} for a role")
        if parts[1] not in ROLES:
            raise RefusedError(f"no role {parts[1]!r:.40}; there are {', '.join(ROLES)}")
        [node] = _rows([parts[0]], size=2, limit=1)
        if node in known:
            found[node] = parts[1]
    return found
