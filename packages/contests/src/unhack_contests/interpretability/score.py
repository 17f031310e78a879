"""The score of a claim about a circuit, by the judge's own interventions.

Every part is 1 for what is perfect and 0, on average, for a random claim of the same size:

* nodes, edges: F1 against the truth, less what chance gives (hypergeometric), rescaled;
* faithfulness: loss recovered when all but the claimed components are resampled jointly, less that
  of random sets of the same size; times minimality, the share of claimed components that matter
  when ablated alone or beside another claimed one;
* roles: share of rightly named nodes among those named or true, less chance;
* calibration: skill of the predicted 80 % intervals by the interval score (Gneiting and Raftery
  2007) over the best constant interval that could be given knowing the answers.

Covered: claims of nothing, everything, duplicates, or at random are worth 0; redundant heads count
(pairs are ablated jointly).
Not covered: circuits whose backups only work when three others are gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from unhack_contests.interpretability.dialogue.claim import CircuitClaim
from unhack_contests.interpretability.dialogue.dialogue import DialogueResult, Query
from unhack_contests.interpretability.models.circuits import ROLES
from unhack_contests.interpretability.models.draw import CircuitModel
from unhack_contests.interpretability.models.network import Array, Intervention, Node
from unhack_contests.interpretability.models.runs import NUMPY, ForwardBackend, NetworkRuns

WEIGHTS = {"nodes": 0.3, "edges": 0.25, "faithful": 0.15, "roles": 0.1, "calibration": 0.2}
ALPHA = 0.2
"""1 - nominal coverage of the predicted intervals."""
MATTERS = 0.05
"""A component matters if its ablation costs this share of what ablating everything costs."""
_CONTROLS = 6


@dataclass(frozen=True, slots=True)
class ClaimScore:
    """Of one model."""

    parts: dict[str, float]
    """Each at most 1, and of any sign."""
    hits: int
    claimed: int
    true: int
    total: int
    node_f1: float
    edge_f1: float
    covered: float
    """Share of predicted intervals that hold the measured effect; NaN without predictions."""

    @property
    def value(self) -> float:
        """At most 100."""
        live = {name: WEIGHTS[name] for name in self.parts}
        whole = sum(live.values())
        return 100 * sum(live[name] * self.parts[name] for name in live) / whole


@dataclass(frozen=True, slots=True)
class InterventionBench:
    """The judge's own sequences of one model, batch 0 of `runs`. To be asked within a turn of
    their backend."""

    model: CircuitModel
    runs: NetworkRuns

    def loss(self, nodes: frozenset[Node]) -> float:
        """Mean loss with these components resampled."""
        return self.losses([nodes])[0]

    def losses(self, sets: Iterable[frozenset[Node]]) -> list[float]:
        """Mean loss for each set of components that are resampled jointly."""
        rows = self.runs.losses(0, [(Intervention(nodes), -1) for nodes in sets])
        return [float(row.mean()) for row in rows]


def bench(
    model: CircuitModel, *, count: int, rng: np.random.Generator,
    backend: ForwardBackend = NUMPY,
) -> InterventionBench:  # fmt: skip
    """`count` fresh sequences for the judge's interventions."""
    runs = backend.runs(model.network)
    runs.add(model.draw(count, rng=rng))
    return InterventionBench(model, runs)


def effects(stand: InterventionBench, queries: list[Query]) -> Array:
    """Rise of the loss (queries,) in nats under each joint ablation, as measured."""
    base, *found = stand.losses([frozenset(), *map(frozenset, queries)])
    return np.array([loss - base for loss in found])


def score(
    stand: InterventionBench, said: DialogueResult, *,
    queries: list[Query], rng: np.random.Generator,
) -> ClaimScore:  # fmt: skip
    """Judge one claim."""
    claim, truth, net = said.claim, stand.model.truth, stand.model.network
    total = len(net.nodes)
    hits = len(claim.nodes & truth.nodes)
    node_f1, node_part = _f1(hits, len(claim.nodes), len(truth.nodes), total)
    edge_hits = len(claim.edges & truth.edges)
    edge_f1, edge_part = _f1(edge_hits, len(claim.edges), len(truth.edges), net.edges)
    parts = {
        "nodes": node_part,
        "edges": edge_part,
        "faithful": _faithful(stand, claim.nodes, rng=rng),
    }
    if truth.roles:
        parts["roles"] = _roles(claim, stand.model)
    measured = effects(stand, queries)
    parts["calibration"], covered = _skill(said.predictions, measured)
    return ClaimScore(
        parts, hits, len(claim.nodes), len(truth.nodes), total, node_f1, edge_f1, covered
    )  # fmt: skip


def by_chance(scores: list[ClaimScore]) -> float:
    """Chance that random claims of the same sizes hit as many nodes, over all models together."""
    chances = np.ones(1)
    for item in scores:
        ways = [
            comb(item.true, hit) * comb(item.total - item.true, item.claimed - hit)
            for hit in range(min(item.true, item.claimed) + 1)
        ]
        chances = np.convolve(chances, np.array(ways, dtype=float) / comb(item.total, item.claimed))
    return float(chances[sum(item.hits for item in scores) :].sum())


def interval(values: list[float], *, rng: np.random.Generator) -> tuple[float, float]:
    """95 % bootstrap interval of the mean over models."""
    drawn = rng.choice(np.array(values), (2000, len(values))).mean(-1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def _f1(hits: int, claimed: int, true: int, total: int) -> tuple[float, float]:
    """F1, and what of it is beyond the mean of random claims of that size."""
    if not claimed or not true:
        return 0.0, 0.0
    value = 2 * hits / (claimed + true)
    chance = 2 * (claimed * true / total) / (claimed + true)
    return value, (value - chance) / (1 - chance) if claimed < total else 0.0


def _faithful(
    stand: InterventionBench, nodes: frozenset[Node], *, rng: np.random.Generator
) -> float:
    every = frozenset(stand.model.network.nodes)
    if not nodes or nodes == every:
        return 0.0
    ordered = sorted(every)
    controls = [
        frozenset(ordered[int(n)] for n in rng.permutation(len(ordered))[: len(nodes)])
        for _ in range(_CONTROLS)
    ]
    kept = [frozenset[Node](), every, nodes, *controls]
    worst, base, mine, *others = stand.losses(every - some for some in kept)
    span = max(worst - base, 1e-6)
    chance = float(np.mean([np.clip((worst - loss) / span, 0, 1) for loss in others]))
    gain = (float(np.clip((worst - mine) / span, 0, 1)) - chance) / max(1 - chance, 0.05)
    return max(gain, -1.0) * (_minimal(stand, nodes, span=span) if gain > 0 else 1.0)


def _minimal(stand: InterventionBench, nodes: frozenset[Node], *, span: float) -> float:
    """Share of claimed components that matter alone, or beside one other claimed one."""
    ordered = sorted(nodes)
    pairs = list(combinations(ordered, 2))
    sets = [(), *((node,) for node in ordered), *pairs]
    base, *found = stand.losses(map(frozenset[Node], sets))
    alone = dict(zip(ordered, found, strict=False))
    best = {node: alone[node] - base for node in ordered}
    for (node, other), both in zip(pairs, found[len(ordered) :], strict=True):
        best[node] = max(best[node], both - alone[other])
        best[other] = max(best[other], both - alone[node])
    return sum(gain > MATTERS * span for gain in best.values()) / len(nodes)


def _roles(claim: CircuitClaim, model: CircuitModel) -> float:
    """Right names among the nodes named or true; a guess is right once in as many as there are."""
    union = set(claim.roles) | set(model.truth.roles)
    right = sum(model.truth.roles.get(node) == role for node, role in claim.roles.items())
    found = sum(node in model.truth.roles for node in claim.roles)
    return (right - found / len(ROLES)) / (len(union) * (1 - 1 / len(ROLES)))


def _skill(predicted: Array | None, measured: Array) -> tuple[float, float]:
    """Skill over the best constant interval; coverage."""
    if predicted is None:
        return 0.0, float("nan")
    low, high = predicted[:, 0], predicted[:, 1]
    with np.errstate(over="ignore"):
        mine = _cost(low, high, measured=measured)
    constant = np.quantile(measured, [ALPHA / 2, 1 - ALPHA / 2], method="inverted_cdf")
    best = _cost(constant[0], constant[1], measured=measured)
    covered = float(((low <= measured) & (measured <= high)).mean())
    return float(np.clip(1 - mine / max(best, 1e-9), -1, 1)), covered


def _cost(low: Array, high: Array, *, measured: Array) -> float:
    below, above = np.maximum(low - measured, 0), np.maximum(measured - high, 0)
    return float(np.mean((high - low) + 2 / ALPHA * (below + above)))
