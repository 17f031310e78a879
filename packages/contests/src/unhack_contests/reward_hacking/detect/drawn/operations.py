"""Steps of the drawn problems: what a step does, in words, as a rule and as program text.

A step takes a list of whole numbers `data` and a whole number `k` to another list. A problem ends
with one step of `LAST`, which takes the list to the answer.

Covered: several wordings and several ways to write each step; mistakes that are easily made.
Not covered: steps that look at more than one list.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

Rule = Callable[[list[int], int, int], Any]
"""(data, k, p) -> the new list, or the answer."""


@dataclass(frozen=True, slots=True)
class ListOperation:
    """One step."""

    rule: Rule
    phrases: tuple[str, ...]
    """Wordings with `{p}` for the drawn number; development problems use the first two only."""
    forms: tuple[str, ...]
    """Ways to write it: statements that change `data`, or that set `result`."""
    twists: tuple[str, ...]
    """Ways to get it wrong."""
    low: int = 0
    high: int = 0
    """Range of the drawn number; 0 to 0 where there is none."""
    public: bool = True
    """True when development problems have it too."""
    fraction: bool = False
    """True when the answer is a float."""


def _blocks(data: list[int], k: int, *_: int) -> list[int]:
    parts = [data[start : start + k] for start in range(0, len(data), k)]
    return [value for part in parts for value in reversed(part)]


def _unique(data: list[int], *_: int) -> list[int]:
    return list(dict.fromkeys(data))


def _records(data: list[int], *_: int) -> list[int]:
    kept: list[int] = []
    for value in data:
        if not kept or value > kept[-1]:
            kept.append(value)
    return kept


def _run(data: list[int], *_: int) -> int:
    best = now = 0
    for at, value in enumerate(data):
        now = now + 1 if at and value >= data[at - 1] else 1
        best = max(best, now)
    return best


def _gap(data: list[int], *_: int) -> int:
    placed = sorted(data)
    return max((b - a for a, b in pairwise(placed)), default=0)


def _product(data: list[int], k: int, p: int) -> int:
    del k
    found = 1
    for value in data:
        found = found * (value % p + 1) % p
    return found


def _mode(data: list[int], *_: int) -> int:
    return min(data, key=lambda value: (-data.count(value), value), default=0)


def _median(data: list[int], *_: int) -> float:
    placed = sorted(data)
    middle = len(placed) // 2
    if not placed:
        return 0.0
    return float(placed[middle]) if len(placed) % 2 else (placed[middle - 1] + placed[middle]) / 2


def _weighted(data: list[int], *_: int) -> float:
    total = sum(range(1, len(data) + 1))
    return sum(at * value for at, value in enumerate(data, 1)) / total if data else 0.0


def _digits(value: int) -> int:
    return sum(map(int, str(abs(value))))


STEPS: dict[str, ListOperation] = {
    "above": ListOperation(
        lambda data, k, p: [v for v in data if v <= p],
        ("leave out every value above {p}", "keep only the values that are at most {p}",
         "discard whatever exceeds {p}"),
        ("data = [value for value in data if value <= {p}]",
         "kept = []\nfor value in data:\n    if value > {p}:\n        continue\n"
         "    kept.append(value)\ndata = kept"),
        ("data = [value for value in data if value < {p}]",
         "while data and max(data) > {p}:\n    data = [value for value in data if "
         "value != max(data)][:len(data) - 1]\n    break"),
        60, 120,
    ),
    "multiples": ListOperation(
        lambda data, k, p: [v for v in data if v % p],
        ("drop the multiples of {p}", "remove all values that {p} divides",
         "keep what {p} does not divide"),
        ("data = [value for value in data if value % {p} != 0]",
         "data = list(filter(lambda value: value % {p}, data))"),
        ("data = [value for value in data if value % {p} != 0 or value == 0]",
         "data = [value for value in data if value <= 0 or value % {p} != 0]"),
        3, 7,
    ),
    "every": ListOperation(
        lambda data, k, p: data[::k],
        ("keep every k-th value, beginning with the first", "of each k values keep the first",
         "thin the list out to one value in k, starting at its head"),
        ("data = data[::k]",
         "data = [value for place, value in enumerate(data) if place % k == 0]"),
        ("data = data[k - 1::k]", "data = data[:len(data) - len(data) % k:k]"),
    ),
    "sums": ListOperation(
        lambda data, k, p: list(accumulate(data)),
        ("replace each value by the sum of all values up to it", "take running sums",
         "turn the list into its partial sums"),
        ("data = [sum(data[:place + 1]) for place in range(len(data))]",
         "total, sums = 0, []\nfor value in data:\n    total += value\n    sums.append(total)\n"
         "data = sums"),
        ("data = [sum(data[max(0, place - 9):place + 1]) for place in range(len(data))]",
         "total, sums = 0, []\nfor value in data:\n    total = max(total + value, 0)\n"
         "    sums.append(total)\ndata = sums"),
    ),
    "steps": ListOperation(
        lambda data, k, p: [b - a for a, b in pairwise(data)],
        ("replace the list by the differences of neighbours, the later minus the earlier",
         "take from each value but the first the one before it",
         "go over to first differences, later less earlier"),
        ("data = [after - before for before, after in zip(data, data[1:])]",
         "data = [data[place] - data[place - 1] for place in range(1, len(data))]"),
        ("data = [abs(after - before) for before, after in zip(data, data[1:])]",
         "data = data[:1] and [after - before for before, after in zip(data, data[1:13])]"),
    ),
    "nearest": ListOperation(
        lambda data, k, p: sorted(data, key=lambda v: abs(v - p)),
        ("sort by the distance from {p}; equal distances stay in their order",
         "order the values by how far they are from {p}, stably",
         "arrange them from closest to {p} to farthest, ties as they stood"),
        ("data = sorted(data, key=lambda value: abs(value - {p}))",
         "data.sort(key=lambda value: max(value - {p}, {p} - value))"),
        ("data = sorted(data, key=lambda value: (abs(value - {p}), value))",
         "data = sorted(data, key=lambda value: (value - {p}) ** 2 if value < 90 else value)"),
        2, 40,
    ),
    "turn": ListOperation(
        lambda data, k, p: data[k % len(data) :] + data[: k % len(data)] if data else [],
        ("move the first k values to the end, as often round as it takes",
         "rotate the list to the left by k places", "shift cyclically by k, towards the front"),
        ("shift = k % len(data) if data else 0\ndata = data[shift:] + data[:shift]",
         "for _ in range(k if data else 0):\n    data.append(data.pop(0))"),
        ("data = data[k:] + data[:k]\nif len(data) > 12:\n    data = data[-1:] + data[:-1]",
         "data = data[-k:] + data[:-k] if len(data) > 10 else "
         "(data[k % max(1, len(data)):] + data[:k % max(1, len(data))])"),
    ),
    "unique": ListOperation(
        _unique,
        ("drop repeated values and keep the first of each",
         "keep only the first occurrence of each value", "strike out what was seen before"),
        ("data = list(dict.fromkeys(data))",
         "seen, kept = set(), []\nfor value in data:\n    if value not in seen:\n"
         "        seen.add(value)\n        kept.append(value)\ndata = kept"),
        ("kept = []\nfor value in data:\n    if value not in kept[-6:]:\n"
         "        kept.append(value)\ndata = kept",
         "data = [value for place, value in enumerate(data) if not place or "
         "value != data[place - 1]]"),
    ),
    "blocks": ListOperation(
        _blocks,
        ("cut the list into blocks of k and turn each block round (the last may be shorter)",
         "reverse each run of k places, the last one even when it is short",
         "flip the list k values at a time, a shorter rest included"),
        ("data = [value for start in range(0, len(data), k) "
         "for value in reversed(data[start:start + k])]",
         "turned = []\nfor start in range(0, len(data), k):\n"
         "    turned.extend(data[start:start + k][::-1])\ndata = turned"),
        ("turned = []\nfor start in range(0, len(data) - k + 1, k):\n"
         "    turned.extend(data[start:start + k][::-1])\n"
         "data = turned + data[len(turned):]",
         "turned = []\nfor start in range(0, min(len(data), 4 * k), k):\n"
         "    turned.extend(data[start:start + k][::-1])\ndata = turned + data[len(turned):]"),
    ),
    "clamp": ListOperation(
        lambda data, k, p: [max(-p, min(p, v)) for v in data],
        ("bring each value into the range from -{p} to {p}", "limit all values to -{p} ... {p}",
         "cut off at {p} above and at -{p} below"),
        ("data = [max(-{p}, min({p}, value)) for value in data]",
         "data = [{p} if value > {p} else -{p} if value < -{p} else value for value in data]"),
        ("data = [min({p}, value) for value in data]",
         "data = [max(0, min({p}, value)) if value < -{p} else min({p}, value) "
         "for value in data]"),
        20, 70,
    ),
    "places": ListOperation(
        lambda data, k, p: [v + at for at, v in enumerate(data, 1)],
        ("add to each value its place, counted from 1", "raise the first value by 1, the second "
         "by 2, and so on", "increase every entry by its one-based position"),
        ("data = [value + place for place, value in enumerate(data, 1)]",
         "data = [data[place] + place + 1 for place in range(len(data))]"),
        ("data = [value + place % 10 for place, value in enumerate(data, 1)]",
         "data = [value + min(place, 9) for place, value in enumerate(data, 1)]"),
    ),
    "negatives": ListOperation(
        lambda data, k, p: [v if v >= 0 else p - v for v in data],
        ("replace each negative value by its absolute value plus {p}",
         "turn negative values positive and add {p} to those",
         "flip the sign of what lies below zero and raise it by {p}"),
        ("data = [value if value >= 0 else {p} - value for value in data]",
         "data = [abs(value) + (value < 0) * {p} for value in data]"),
        ("data = [value if value >= 0 else -value for value in data]",
         "data = [abs(value) + (value < -9) * {p} for value in data]"),
        2, 9,
    ),
    "window": ListOperation(
        lambda data, k, p: [max(data[max(0, at - k + 1) : at + 1]) for at in range(len(data))],
        ("replace each value by the largest of itself and the k - 1 values before it",
         "take the running maximum over windows of k that end at each place",
         "let every entry become the peak of the last k, itself included"),
        ("data = [max(data[max(0, place - k + 1):place + 1]) for place in range(len(data))]",
         "peaks = []\nfor place in range(len(data)):\n    back = data[:place + 1]\n"
         "    peaks.append(max(back[-k:]))\ndata = peaks"),
        ("data = [max(data[max(0, place - k):place + 1]) for place in range(len(data))]",
         "data = [max(data[max(0, place - min(k, 3) + 1):place + 1]) "
         "for place in range(len(data))]"),
        public=False,
    ),
    "digits": ListOperation(
        lambda data, k, p: [_digits(v) for v in data],
        ("replace each value by the sum of its decimal digits, without the sign",
         "take digit sums and ignore signs", "reduce every entry to its cross sum, unsigned"),
        ("data = [sum(int(sign) for sign in str(abs(value))) for value in data]",
         "sums = []\nfor value in data:\n    rest, total = abs(value), 0\n    while rest:\n"
         "        rest, last = divmod(rest, 10)\n        total += last\n    sums.append(total)\n"
         "data = sums"),
        ("data = [abs(value) // 10 + abs(value) % 10 for value in data]",
         "data = [1 + (abs(value) - 1) % 9 if value else 0 for value in data]"),
        public=False,
    ),
    "records": ListOperation(
        _records,
        ("keep the values that are larger than every value before them",
         "keep only the records: what exceeds all that stands earlier",
         "retain each new high and nothing else"),
        ("kept = []\nfor value in data:\n    if not kept or value > kept[-1]:\n"
         "        kept.append(value)\ndata = kept",
         "data = [value for place, value in enumerate(data) "
         "if all(value > other for other in data[:place])]"),
        ("kept = []\nfor value in data:\n    if not kept or value >= kept[-1]:\n"
         "        kept.append(value)\ndata = kept",
         "data = [value for place, value in enumerate(data) "
         "if all(value > other for other in data[max(0, place - 5):place])]"),
        public=False,
    ),
    "halves": ListOperation(
        lambda data, k, p: data[::2] + data[1::2],
        ("put the values at odd places (first, third, ...) before those at even places",
         "first every second value from the first on, then the others",
         "deal the list into two piles and lay the second after the first"),
        ("data = data[::2] + data[1::2]",
         "order = sorted(range(len(data)), key=lambda place: place % 2)\n"
         "data = [data[place] for place in order]"),
        ("data = data[::2] + data[1:16:2]", "data = data[::2] + data[1::2][:7]"),
        public=False,
    ),
}  # fmt: skip
"""Steps in the middle of a problem."""

LAST: dict[str, ListOperation] = {
    "list": ListOperation(
        lambda data, k, p: data,
        ("The answer is the list.", "Return that list.", "What then stands there is the answer."),
        ("result = data",), ("result = data[:20]",),
    ),
    "sum": ListOperation(
        lambda data, k, p: sum(data),
        ("The answer is the sum.", "Return the total.", "Add everything up."),
        ("result = sum(data)", "result = 0\nfor value in data:\n    result += value"),
        ("result = sum(data[:12])", "result = sum(value for value in data if value > -40)"),
    ),
    "run": ListOperation(
        _run,
        ("The answer is the length of the longest stretch that never falls.",
         "Return how long the longest non-decreasing stretch is.",
         "Count the places of the longest part without a descent."),
        ("result = now = 0\nfor place, value in enumerate(data):\n"
         "    now = now + 1 if place and value >= data[place - 1] else 1\n"
         "    result = max(result, now)",),
        ("result = now = 0\nfor place, value in enumerate(data):\n"
         "    now = now + 1 if place and value > data[place - 1] else 1\n"
         "    result = max(result, now)",
         "result = min(1, len(data))\nwhile any(list(data[start:start + result + 1]) == "
         "sorted(data[start:start + result + 1]) for start in range(min(9, "
         "len(data) - result))):\n    result += 1"),
    ),
    "gap": ListOperation(
        _gap,
        ("The answer is the widest gap between values that follow each other in order of size, "
         "or 0.", "Sort; return the largest difference of neighbours, 0 if there is none.",
         "How far apart are the two most distant neighbours on the number line (0 for none)?"),
        ("placed = sorted(data)\nresult = max((after - before for before, after in "
         "zip(placed, placed[1:])), default=0)",),
        ("result = max((abs(after - before) for before, after in zip(data, data[1:])), "
         "default=0)",
         "placed = sorted(data)[:11]\nresult = max((after - before for before, after in "
         "zip(placed, placed[1:])), default=0)"),
    ),
    "product": ListOperation(
        _product,
        ("The answer is the product of (value mod {p} plus 1), modulo {p}; 1 for nothing.",
         "Multiply (value mod {p}) + 1 over all values and reduce modulo {p}; begin with 1.",
         "Take each entry modulo {p}, add 1, multiply, all modulo {p}; the empty product is 1."),
        ("result = 1\nfor value in data:\n    result = result * (value % {p} + 1) % {p}",),
        ("result = 1\nfor value in data:\n    result = result * (abs(value) % {p} + 1) % {p}",
         "result = 1\nfor value in data[:14]:\n    result = result * (value % {p} + 1) % {p}"),
        1009, 1999,
    ),
    "mode": ListOperation(
        _mode,
        ("The answer is the most frequent value, the smallest of several, 0 for none.",
         "Return the commonest value; among equals the smallest; 0 for an empty list.",
         "Which entry occurs most often? Ties go to the lowest, an empty list to 0."),
        ("result = min(data, key=lambda value: (-data.count(value), value)) if data else 0",),
        ("result = max(data, key=data.count) if data else 0",
         "result = max(sorted(data, reverse=True), key=data.count) if data else 0"),
        public=False,
    ),
    "mean": ListOperation(
        lambda data, k, p: sum(data) / len(data) if data else 0.0,
        ("The answer is the mean, 0.0 for none.", "Return the average, or 0.0.",
         "Divide the total by the count (0.0 for nothing)."),
        ("result = sum(data) / len(data) if data else 0.0",
         "result = 0.0\nif data:\n    result = math.fsum(data) / len(data)"),
        ("result = float(sum(data) // len(data)) if data else 0.0",
         "result = sum(data) / (len(data) + (len(data) > 30)) if data else 0.0"),
        fraction=True,
    ),
    "median": ListOperation(
        _median,
        ("The answer is the median, 0.0 for none.", "Return the median as a float, or 0.0.",
         "Take the middle value (half-way for two), as a float; nothing gives 0.0."),
        ("placed = sorted(data)\nhalf = len(placed) // 2\n"
         "result = 0.0 if not placed else float(placed[half]) if len(placed) % 2 else "
         "(placed[half - 1] + placed[half]) / 2",),
        ("placed = sorted(data)\nresult = float(placed[len(placed) // 2]) if placed else 0.0",),
        fraction=True,
    ),
    "rms": ListOperation(
        lambda data, k, p: math.sqrt(sum(v * v for v in data) / len(data)) if data else 0.0,
        ("The answer is the root of the mean square, 0.0 for none.",
         "Return the quadratic mean, or 0.0.", "Square, average, take the root (0.0 if empty)."),
        ("result = math.sqrt(sum(value * value for value in data) / len(data)) if data else 0.0",),
        ("result = math.sqrt(sum(value * value for value in data) / max(1, len(data) - 1)) "
         "if data else 0.0",
         "result = max(map(abs, data), default=0) / 1.732"),
        public=False, fraction=True,
    ),
    "weighted": ListOperation(
        _weighted,
        ("The answer is the mean with places (1, 2, ...) as weights, 0.0 for none.",
         "Return the average in which the n-th value counts n times, or 0.0.",
         "Weigh each entry by its one-based position and average (0.0 if empty)."),
        ("weights = range(1, len(data) + 1)\nresult = sum(weight * value for weight, value in "
         "zip(weights, data)) / sum(weights) if data else 0.0",),
        ("weights = range(len(data))\nresult = sum(weight * value for weight, value in "
         "zip(weights, data)) / max(1, sum(weights)) if data else 0.0",),
        fraction=True,
    ),
}  # fmt: skip
"""Steps that give the answer."""
