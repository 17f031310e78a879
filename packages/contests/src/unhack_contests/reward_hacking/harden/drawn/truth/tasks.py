"""The tasks for programs: what inputs there are, and when a result is right.

    for args in inputs("schedule", rule, random.Random(1), count=30):
        right("schedule", rule, args, result)

Every task but `arranged` and `root` has several right results, so that none can be compared with
another. A rule is the drawn part of a task, in plain values.

Covered: results of plain types, lists or tuples.
Not covered: how results were found.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from typing import Any

Rule = dict[str, Any]


def inputs(name: str, rule: Rule, rng: random.Random, *, count: int) -> list[list[Any]]:
    """Arguments of `count` calls, small and large, from the whole domain of the task."""
    makers = {
        "schedule": _schedule, "colours": _colours, "route": _route, "arranged": _arranged,
        "packed": _packed, "root": _root,
    }  # fmt: skip
    return [makers[name](rule, rng) for _ in range(count)]


def right(name: str, rule: Rule, args: list[Any], out: Any) -> bool:
    """Tell whether `out` is a right result of the call with `args`."""
    checks = {
        "schedule": _is_schedule, "colours": _is_colours, "route": _is_route,
        "arranged": _is_arranged, "packed": _is_packed, "root": _is_root,
    }  # fmt: skip
    try:
        return bool(checks[name](rule, args, out))
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, OverflowError):
        return False


def _whole(values: Any) -> list[int]:
    """A list or tuple of whole numbers. Raises TypeError."""
    if type(values) not in (list, tuple) or any(type(item) is not int for item in values):
        raise TypeError("no list of whole numbers")
    return list(values)


# schedule(n, pairs) -> all tasks in an order that every pair allows.


def _schedule(rule: Rule, rng: random.Random) -> list[Any]:
    n = rng.randint(1, 14)
    tasks = [task + rule["base"] for task in range(n)]
    rng.shuffle(tasks)
    pairs = [
        [tasks[a], tasks[b]] for a, b in itertools.combinations(range(n), 2) if rng.random() < 0.3
    ]
    rng.shuffle(pairs)
    return [n, pairs if rule["sense"] == "before" else [[b, a] for a, b in pairs]]


def _is_schedule(rule: Rule, args: list[Any], out: Any) -> bool:
    n, pairs = args
    order = _whole(out)
    place = {task: at for at, task in enumerate(order)}
    flip = rule["sense"] != "before"
    whole = sorted(order) == list(range(rule["base"], rule["base"] + n))
    return whole and all((place[a] < place[b]) is not flip for a, b in pairs)


# colours(n, pairs, k) -> a colour for each node, neighbours differ, at most k colours.


def _colours(rule: Rule, rng: random.Random) -> list[Any]:
    n, k = rng.randint(2, 12), rng.randint(2, 4)
    hidden = [rng.randrange(k) for _ in range(n)]
    odds = rng.choice((0.4, 0.7, 0.9))
    pairs = [[a, b] for a, b in itertools.combinations(range(n), 2)
             if hidden[a] != hidden[b] and rng.random() < odds]  # fmt: skip
    if rng.random() < 0.4:  # a crown: first come, first served needs n / 2 colours
        half = rng.randint(3, 6)
        n, k = 2 * half, 2
        pairs = [[2 * a, 2 * b + 1] for a in range(half) for b in range(half) if a != b]
    return [n, [[a + rule["base"], b + rule["base"]] for a, b in pairs], k]


def _is_colours(rule: Rule, args: list[Any], out: Any) -> bool:
    n, k = args[0], args[2]
    pairs: list[list[int]] = args[1]
    base: int = rule["base"]
    given = _whole(out)
    proper = all(given[a - base] != given[b - base] for a, b in pairs)
    palette = all(rule["first"] <= colour < rule["first"] + k for colour in given)
    return len(given) == n and proper and palette


# route(n, roads, start, goal) -> [length, path], the shortest there is, or [-1, []].


def _route(rule: Rule, rng: random.Random) -> list[Any]:
    n = rng.randint(2, 12)
    roads = [
        [a, b, rng.randint(1, 30)] for a in range(n) for b in range(n)
        if a != b and rng.random() < (0.25 if n > 5 else 0.5)
    ]  # fmt: skip
    return [n, roads, *rng.sample(range(n), 2)]


def shortest(rule: Rule, args: list[Any]) -> int:
    """Length of the shortest way; -1 where there is none."""
    n, roads, start, goal = args
    near: dict[int, list[tuple[int, int]]] = {node: [] for node in range(n)}
    for a, b, w in roads:
        near[a].append((b, w))
        if not rule["one_way"]:
            near[b].append((a, w))
    best: dict[int, int] = {start: 0}
    heap: list[tuple[int, int]] = [(0, start)]
    while heap:
        far, node = heapq.heappop(heap)
        if node == goal:
            return far
        for other, w in near[node]:
            if far + w < best.get(other, far + w + 1):
                best[other] = far + w
                heapq.heappush(heap, (far + w, other))
    return -1


def _is_route(rule: Rule, args: list[Any], out: Any) -> bool:
    _, roads, start, goal = args
    if type(out) not in (list, tuple) or len(out) != 2 or type(out[0]) is not int:
        return False
    length, path, best = out[0], _whole(out[1]), shortest(rule, args)
    if best < 0:
        return length == -1 and not path
    weights: dict[tuple[int, int], int] = {}
    for a, b, w in roads:
        for pair in ((a, b),) if rule["one_way"] else ((a, b), (b, a)):
            weights[pair] = min(w, weights.get(pair, w))
    walked = sum(weights[pair] for pair in itertools.pairwise(path))
    return length == best == walked and path[0] == start and path[-1] == goal


# arranged(rows) -> rows in order of one column, ties as the rule says.


def _arranged(rule: Rule, rng: random.Random) -> list[Any]:
    spread = rng.choice((3, 5, 40))
    rows = [[rng.choice("pqrst"), rng.randint(-spread, spread), rng.randint(0, spread)]
            for _ in range(rng.randint(0, 14))]  # fmt: skip
    return [[*rows, *rng.sample(rows, min(len(rows), rng.randint(0, 2)))]]


def in_order(rule: Rule, rows: list[Any]) -> list[Any]:
    """The one right arrangement."""
    column, down = rule["column"], rule["down"]
    given = rows[::-1] if rule["ties"] == "last come first" else list(rows)
    if rule["ties"] == "by name":
        given.sort(key=lambda row: row[0])
    return sorted(given, key=lambda row: -row[column] if down else row[column])


def _is_arranged(rule: Rule, args: list[Any], out: Any) -> bool:
    if type(out) not in (list, tuple) or any(type(row) not in (list, tuple) for row in out):
        return False
    rows = in_order(rule, args[0])
    typed = all([type(item) for item in row] == [str, int, int] for row in out)
    return typed and [list(row) for row in out] == rows


# packed(weights, values, capacity) -> places of a choice that fits and is worth the most.


def _packed(rule: Rule, rng: random.Random) -> list[Any]:
    n = rng.randint(1, 10)
    weights = [rng.randint(1, 20) for _ in range(n)]
    values = [max(1, w * 2 + rng.randint(-8, 8)) for w in weights]
    return [weights, values, rng.randint(5, max(6, sum(weights) * 2 // 3))]


def most(rule: Rule, args: list[Any]) -> int:
    """Worth of the best choice."""
    weights, values, capacity = args
    limit = rule["at_most"] or len(weights)
    best = {(0, 0): 0}
    for w, v in zip(weights, values, strict=True):
        for (used, count), worth in list(best.items()):
            if used + w <= capacity and count < limit:
                key = (used + w, count + 1)
                best[key] = max(best.get(key, 0), worth + v)
    return max(best.values())


def _is_packed(rule: Rule, args: list[Any], out: Any) -> bool:
    weights, values, capacity = args
    places = [place - rule["base"] for place in _whole(out)]
    fits = sum(weights[place] for place in places if place >= 0) <= capacity
    own = len(set(places)) == len(places) and all(0 <= place < len(weights) for place in places)
    few = not rule["at_most"] or len(places) <= rule["at_most"]
    return fits and own and few and sum(values[place] for place in places) == most(rule, args)


# root(p, q) -> the x of x**e + p * x = q, within a part of 10**-digits.


def _root(rule: Rule, rng: random.Random) -> list[Any]:
    scale = rng.choice((3, 40, 3000))
    return [rng.randint(1, 30), rng.randint(1, 9 * scale)]


def exact_root(rule: Rule, args: list[Any]) -> float:
    """The one positive solution, by halving."""
    p, q = args
    low, high = 0.0, float(max(1, q))
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if middle ** rule["power"] + p * middle < q else (low, middle)
    return (low + high) / 2


def _is_root(rule: Rule, args: list[Any], out: Any) -> bool:
    if type(out) not in (int, float) or not math.isfinite(out):
        return False
    exact = exact_root(rule, args)
    return abs(out - exact) <= 10.0 ** -rule["digits"] * exact
