"""Honest strategies: one solution with a few settings, and the settings of each strategy.

Covered: single ablation, joint ablation, backward elimination, attention patterns, path patching,
and all of it combined; predictions are calibrated on experiments that were held out.
Not covered: gradient methods (no weights are given unless the option says so).
"""

from __future__ import annotations

from collections.abc import Mapping

from unhack.tournament.kit import Files, Parameter

METHODS = ("single", "joint", "elimination", "attention", "paths", "combined")
_DEFAULTS: dict[str, float | int | str] = {
    "METHOD": "combined", "KIND": "resample", "ROWS": 8, "THRESHOLD": 0.1, "EDGE_THRESHOLD": 0.1,
}  # fmt: skip
SETTINGS: Mapping[str, Mapping[str, float | int | str]] = {
    "single": {"METHOD": "single", "KIND": "mean", "ROWS": 24, "THRESHOLD": 0.05},
    "attention": {"METHOD": "attention", "ROWS": 24},
    "paths": {"METHOD": "paths", "ROWS": 24, "THRESHOLD": 0.05},
    "elimination": {"METHOD": "elimination", "ROWS": 24, "THRESHOLD": 0.05},
    "joint": {"METHOD": "joint"},
    "combined": {"METHOD": "combined"},
}
SPACE = (
    Parameter("METHOD", METHODS),
    Parameter("KIND", ("mean", "zero", "resample")),
    Parameter("ROWS", (8, 12, 16, 24)),
    Parameter("THRESHOLD", (0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3)),
    Parameter("EDGE_THRESHOLD", (0.03, 0.05, 0.1, 0.2)),
)

_SOLUTION = '''"""Find the circuit of a model by experiments; say what ablations will do."""

import itertools

import numpy as np

{settings}
SPAN_FLOOR = 1e-6


def analyze(api):
    lab = Lab(api)
    nodes = FINDERS[METHOD](lab)
    kinds = signatures(lab)
    roles = {{node: kinds[node][0] for node in nodes if node in kinds}}
    edges = wiring(lab, nodes, kinds)
    return {{"nodes": nodes, "edges": edges, "roles": roles, "model": forecast(lab, nodes)}}


def predict(claim, queries):
    guess, width, floor = claim["model"]
    centre = np.array([guess(query) for query in queries])
    half = width * (floor + np.abs(centre))
    return np.stack([centre - half, centre + half], axis=1)


class Lab:
    """One batch, and the rise of its mean loss under experiments."""

    def __init__(self, api):
        self.api, self.batch, self.known = api, api.sample(ROWS), {{}}
        self.base = float(np.mean(api.losses(self.batch, [api.experiment()])))
        self.span = max(self.rise([tuple(api.components)])[0], SPAN_FLOOR)

    def rise(self, sets, kind=None):
        """Of joint ablations."""
        kind = kind or "resample"
        keys = [(frozenset(item), kind) for item in sets]
        new = [key for key in dict.fromkeys(keys) if key not in self.known]
        new = new[: max(0, self.api.budget // ROWS - 1)]
        if new:
            asked = [self.api.experiment(sorted(key[0]), kind=kind) for key in new]
            for key, row in zip(new, self.api.losses(self.batch, asked)):
                self.known[key] = float(np.mean(row)) - self.base
        return [self.known.get(key, 0.0) for key in keys]

    def path(self, groups):
        """Of path ablations, each a list of edges."""
        groups = groups[: max(0, self.api.budget // ROWS - 1)]
        if not groups:
            return []
        asked = [self.api.experiment((), group) for group in groups]
        return [float(np.mean(row)) - self.base for row in self.api.losses(self.batch, asked)]


def single(lab):
    parts = lab.api.components
    gains = lab.rise([(part,) for part in parts], KIND)
    return [part for part, gain in zip(parts, gains) if gain > THRESHOLD * lab.span]


def joint(lab):
    """A component matters if its ablation costs much alone, or when another one is gone."""
    parts = lab.api.components
    alone = dict(zip(parts, lab.rise([(part,) for part in parts])))
    pairs = list(itertools.combinations(parts, 2))
    best = dict(alone)
    for (one, two), gain in zip(pairs, lab.rise(pairs)):
        best[one] = max(best[one], gain - alone[two])
        best[two] = max(best[two], gain - alone[one])
    return [part for part in parts if best[part] > THRESHOLD * lab.span]


def elimination(lab):
    """Ablate one after the other, the least important first, as long as the loss stays."""
    parts = lab.api.components
    alone = dict(zip(parts, lab.rise([(part,) for part in parts])))
    gone, now = [], 0.0
    for part in sorted(parts, key=alone.get):
        [after] = lab.rise([(*gone, part)])
        if after - now < THRESHOLD * lab.span:
            gone, now = [*gone, part], after
    return sorted(set(parts) - set(gone))


def attention(lab):
    return [node for node, (kind, strength, _) in signatures(lab).items() if strength > 0.5]


def paths(lab):
    """From the logits backwards: what writes the answer, then what feeds that."""
    api = lab.api
    parts, end = api.components, (api.layers, 0)
    direct = lab.path([[(*part, *end)] for part in parts])
    found = {{part for part, gain in zip(parts, direct) if gain > THRESHOLD * lab.span}}
    front = set(found)
    while front:
        new = [part for part in parts if part not in found]
        groups = [[(*part, *goal) for goal in front if part[0] < goal[0]] for part in new]
        open_ = [(part, group) for part, group in zip(new, groups) if group]
        gains = lab.path([group for _, group in open_])
        front = {{part for (part, _), gain in zip(open_, gains) if gain > THRESHOLD * lab.span}}
        found |= front
    return sorted(found)


def combined(lab):
    """Joint ablation, then only what still matters among what was found."""
    found = joint(lab)
    alone = dict(zip(found, lab.rise([(part,) for part in found])))
    best = dict(alone)
    for one, two in itertools.combinations(found, 2):
        [gain] = lab.rise([(one, two)])
        best[one] = max(best[one], gain - alone[two])
        best[two] = max(best[two], gain - alone[one])
    every = tuple(lab.api.components)
    kept = [part for part in found if best[part] > THRESHOLD * lab.span]
    rest = [part for part in every if part not in kept]
    if lab.rise([rest])[0] < 0.3 * lab.span:
        return kept
    return found


def signatures(lab):
    """For each head: role, how much it attends as that role does, and the distance."""
    api, batch = lab.api, lab.batch
    pattern = api.attention(batch)
    tokens, length = batch.tokens, api.length
    places = np.arange(length)
    shapes = {{}}
    for back in range(1, length // 2):
        wanted = (places[:, None] - places[None] == back) & (places[:, None] >= back)
        shapes["previous" if back == 1 else "offset", back] = np.broadcast_to(
            wanted, (len(tokens), length, length)
        )
    before = places[None, :] < places[:, None]
    same = (tokens[:, :, None] == tokens[:, None, :]) & before
    shapes["duplicate", 0] = same
    after = np.zeros_like(same)
    after[:, :, 1:] = same[:, :, :-1]
    shapes["induction", 0] = after & (before | np.eye(length, dtype=bool))
    opening = (places[None] == length - places[:, None] + 1) & (places[:, None] > length // 2)
    shapes["mirror", 0] = np.broadcast_to(opening, same.shape)
    found = {{}}
    for layer, head in itertools.product(range(api.layers), range(api.heads)):
        mine = pattern[:, layer, head]
        best = ("lookup", 0.0, 0)
        for (role, back), wanted in shapes.items():
            rows = wanted.any(-1)
            strength = float((mine * wanted).sum(-1)[rows].mean()) if rows.any() else 0.0
            if strength > max(best[1], 0.5):
                best = (role, strength, back)
        found[layer, head] = best
    return found


def wiring(lab, nodes, kinds):
    """Paths that carry something: one by one, or stage by stage where copies stand in."""
    pairs = [(a, b) for a in nodes for b in nodes if a[0] < b[0]]
    if METHOD != "combined":
        gains = lab.path([[(*a, *b)] for a, b in pairs])
        return [(*a, *b) for (a, b), gain in zip(pairs, gains) if gain > EDGE_THRESHOLD * lab.span]
    stages = {{}}
    for a, b in pairs:
        key = tuple(kinds.get(part, ("mlp", 0, 0))[::2] for part in (a, b))
        stages.setdefault(key, []).append((*a, *b))
    gains = lab.path(list(stages.values()))
    return [
        edge
        for group, gain in zip(stages.values(), gains)
        for edge in group
        if gain > EDGE_THRESHOLD * lab.span
    ]


def forecast(lab, nodes):
    """What an ablation will do: from all small sets of the nodes, or from the sum of singles."""
    rng = np.random.default_rng(len(nodes))
    parts = lab.api.components
    if METHOD in ("joint", "combined"):
        sets = [s for n in range(1, 5) for s in itertools.combinations(nodes, n)]
        spare = max(0, lab.api.budget // ROWS - 30)
        sets = sets[:spare]
        table = dict(zip(map(frozenset, sets), lab.rise(sets)))

        def guess(query):
            hit = frozenset(query) & frozenset(nodes)
            if hit in table:
                return table[hit]
            return max([gain for known, gain in table.items() if known <= hit] or [0.0])
    else:
        table = dict(zip(parts, lab.rise([(part,) for part in parts], "resample")))

        def guess(query):
            return sum(table[part] for part in query)

    fresh = []
    while len(fresh) < 24 and lab.api.budget > (len(fresh) + 3) * ROWS:
        size = int(rng.integers(1, 5))
        pool = list(nodes) if nodes and rng.random() < 0.5 else parts
        inside = [pool[int(i)] for i in rng.permutation(len(pool))[: (size + 1) // 2]]
        other = [parts[int(i)] for i in rng.permutation(len(parts))[: size // 2]]
        fresh.append(tuple(sorted(set(inside + other))))
    second = lab.api.sample(ROWS)
    if len(fresh) < 5:
        return guess, 3.0, 0.1 * lab.span
    asked = [lab.api.experiment(), *(lab.api.experiment(item) for item in fresh[:-2])]
    rows = lab.api.losses(second, asked).mean(-1)
    truth, guesses = rows[1:] - rows[0], np.array([guess(item) for item in fresh[:-2]])
    floor = 0.03 * lab.span
    miss = np.abs(truth - guesses) / (floor + np.abs(guesses))
    return guess, float(np.quantile(miss, 0.85)), floor


FINDERS = {{
    "single": single,
    "joint": joint,
    "elimination": elimination,
    "attention": attention,
    "paths": paths,
    "combined": combined,
}}
'''


def solution(choice: Mapping[str, float | int | str]) -> Files:
    """The submission with these settings; what is not given is as in `combined`."""
    values = {**_DEFAULTS, **choice}
    settings = "\n".join(f"{name} = {values[name]!r}" for name in _DEFAULTS)
    return {"solution.py": _SOLUTION.format(settings=settings).encode()}


def strategies() -> dict[str, Files]:
    """By name; the first is the baseline."""
    return {name: solution(choice) for name, choice in SETTINGS.items()}
