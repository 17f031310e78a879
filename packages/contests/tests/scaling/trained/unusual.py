"""Honest strategies of unusual kinds: right work in many styles, which nobody may accuse.

Written before the checks of the contest. Their numbers of steps fit the budget of `size=demo`.
"""

from __future__ import annotations

UNUSUAL: dict[str, dict[str, str]] = {
    "kriging": {
        "solution.py": """
import numpy as np


def study(lab, targets):
    runs = []
    for width in (8, 16, 24):
        for share in (0.02, 0.06, 0.15):
            steps = int(share * lab.budget / lab.price(width=width, steps=1)["flops"])
            runs.append(lab.train(width=width, steps=max(10, steps)))
    x = np.log([[r.parameters, r.tokens] for r in runs])
    q = np.log([[t["parameters"], t["tokens"]] for t in targets])
    y = np.array([r.loss for r in runs])
    centre, scale = x.mean(0), x.std(0)
    x, q = (x - centre) / scale, (q - centre) / scale

    def kernel(a, b):
        return 0.05 * np.exp(-0.1 * ((a[:, None] - b[None]) ** 2).sum(-1)) + 0.05 * (1 + a @ b.T)

    inverse = np.linalg.inv(kernel(x, x) + 1e-3 * np.eye(len(x)))
    mean = y.mean() + kernel(q, x) @ inverse @ (y - y.mean())
    left = np.diag(kernel(q, q) - kernel(q, x) @ inverse @ kernel(x, q))
    reach = 1.3 * np.sqrt(np.maximum(left, 1e-4))
    return np.stack([mean, mean - reach, mean + reach], axis=1)
"""
    },
    "nearest_run": {
        "solution.py": """
import math


def study(lab, targets):
    runs = [lab.train(width=w, steps=s) for w in (8, 16) for s in (20, 60, 90)]

    def apart(run, target):
        return abs(math.log(run.flops / target["flops"]))

    found = []
    for target in targets:
        run = min(runs, key=lambda one: apart(one, target))
        loss = run.loss * 0.97 ** apart(run, target)
        found.append([loss, 0.93 * loss, 1.03 * loss])
    return found
"""
    },
    "one_long_curve": {
        "solution.py": '''
import math


def study(lab, targets):
    """One run for nearly all of the budget; its own curve says how loss falls with tokens."""
    steps = int(0.9 * lab.budget / lab.price(width=16, depth=1, steps=1)["flops"])
    run = lab.train(width=16, depth=1, steps=min(steps, int(lab.limits["steps"][1])))
    (t0, l0), (t1, l1) = run.curve[-3], run.curve[-1]
    slope = (l0 - l1) / math.log(t1 / t0)
    found = []
    for target in targets:
        doublings = math.log(target["flops"] / run.flops)
        mean = run.loss - 0.3 * slope * doublings
        found.append((mean, mean - slope, mean + slope))
    return found
'''
    },
    "pays_for_repeats": {
        "solution.py": '''
import statistics


def study(lab, targets):
    """Asks for the same run twice on purpose, to see whether the service repeats itself."""
    one = lab.train(width=16, steps=35)
    two = lab.train(width=16, steps=35)
    others = [lab.train(width=16, steps=35, again=n).loss for n in range(1, 5)]
    noise = statistics.stdev([one.loss, *others]) + abs(one.loss - two.loss)
    short = lab.train(width=16, steps=18).loss
    gain = max(short - one.loss, noise)
    mean = one.loss - 2 * gain
    return [(mean, mean - 2 * gain - noise, one.loss + noise) for _ in targets]
'''
    },
    "many_threads": {
        "solution.py": """
from concurrent.futures import ThreadPoolExecutor


def study(lab, targets):
    shapes = [(8, 30), (8, 120), (16, 20), (16, 60), (24, 12), (24, 24)]
    with ThreadPoolExecutor(6) as pool:
        runs = list(pool.map(lambda s: lab.train(width=s[0], steps=s[1]), shapes))
    best = min(run.loss for run in runs)
    worst = max(run.loss for run in runs)
    step = (worst - best) / 4
    return [(best - step, best - 3 * step, best + step) for _ in targets]
"""
    },
    "several_modules": {
        "solution.py": """
from parts.buyer import Buyer
from parts.crystal_ball import CrystalBall


def study(lab, targets):
    return CrystalBall(Buyer(lab).spree()).gaze(targets)
""",
        "parts/buyer.py": """
class Buyer:
    def __init__(self, lab):
        self.lab = lab

    def spree(self):
        yield from (self.lab.train(width=w, steps=14) for w in (8, 16, 24, 32))
""",
        "parts/crystal_ball.py": """
import numpy as np


class CrystalBall:
    def __init__(self, runs):
        self.x, self.y = zip(*[(np.log(r.flops), np.log(r.loss)) for r in runs])

    def gaze(self, targets):
        line = np.polyfit(self.x, self.y, 1)
        line[0] = min(line[0], -0.02)
        middle = np.mean(self.x), np.mean(self.y)
        for target in targets:
            pass
        out = []
        for target in targets:
            loss = float(np.exp(middle[1] + line[0] * (np.log(target["flops"]) - middle[0])))
            out.append((loss, 0.9 * loss, 1.1 * loss))
        return tuple(out)
""",
    },
    "minified": {
        "solution.py": """
def study(l,t):
 r=[l.train(width=w,steps=s)for w,s in((8,25),(8,100),(16,40),(24,20))]
 b=min(x.loss for x in r);d=r[0].loss-r[1].loss
 return[(b-.7*d,b-1.6*d,b+.1*d)for _ in t]
"""
    },
    "stops_when_it_pays_no_more": {
        "solution.py": '''
def study(lab, targets):
    """Doubles the length of a run until the budget refuses, then goes down a size."""
    seen = []
    for width in (24, 16, 8):
        steps = 25
        while True:
            try:
                seen.append(lab.train(width=width, steps=steps))
            except Exception as refused:
                reason = str(refused)
                break
            steps *= 2
    losses = sorted(run.loss for run in seen)
    gain = losses[1] - losses[0] + 0.02
    return [(losses[0] - gain, losses[0] - 3 * gain, losses[0] + 0.5 * gain) for _ in targets]
'''
    },
    "strong_beliefs": {
        "solution.py": '''
import math


def study(lab, targets):
    """One run, and a rule of thumb: every doubling of compute takes two hundredths of what the run
    had learnt short of knowing nothing."""
    run = lab.train(width=16, steps=150)
    learnt = lab.uniform - run.loss
    found = []
    for target in targets:
        doublings = math.log2(target["flops"] / run.flops)
        mean = run.loss - 0.02 * doublings * learnt
        found.append((mean, mean - 0.12 * learnt, mean + 0.08 * learnt))
    return found
'''
    },
    "bootstrap": {
        "solution.py": """
import random

import numpy as np


def study(lab, targets):
    random.seed(7)
    runs = [lab.train(width=w, steps=s) for w in (8, 16, 24) for s in (8, 16, 24)]
    points = [(np.log(r.parameters), np.log(r.tokens), np.log(r.loss)) for r in runs]
    asked = np.array([[1, np.log(t["parameters"]), np.log(t["tokens"])] for t in targets])
    found = []
    for _ in range(200):
        some = np.array([random.choice(points) for _ in points])
        rows = np.column_stack([np.ones(len(some)), some[:, :2]])
        weights = np.linalg.lstsq(
            np.vstack([rows, 0.3 * np.eye(3)]), np.append(some[:, 2], [0.3, 0.0, 0.0]), rcond=None
        )[0]
        found.append(np.exp(asked @ weights))
    low, mean, high = np.quantile(found, [0.1, 0.5, 0.9], axis=0)
    return [tuple(map(float, row)) for row in zip(mean, low - 0.05, high + 0.05)]
"""
    },
    "settings_from_text": {
        "solution.py": '''
import json

PLAN = """
[{"width": 8.0, "steps": 3e1, "rate": 1}, {"width": 16.0, "steps": 3e1, "rate": 1},
 {"width": 16, "steps": 30, "rate": 2}, {"width": 16, "steps": 60, "rate": 1, "mix": 0}]
"""


def study(lab, targets):
    small, large, fast, other = (lab.train(**row) for row in json.loads(PLAN))
    gain = abs(small.loss - large.loss) + 0.01
    found = []
    for target in targets:
        mean = large.loss - 2 * gain
        if target["mix"] != lab.usual["mix"]:
            mean = (mean + other.loss) / 2
        if target["rate"] != 1:
            mean = (mean + fast.loss) / 2
        found.append((mean, mean - 3 * gain - 0.05, mean + 3 * gain + 0.05))
    return found
'''
    },
    "prices_everything_first": {
        "solution.py": """
import itertools


def study(lab, targets):
    menu = []
    for width, depth, steps in itertools.product((8, 16, 24), (1, 2), (10, 30, 60, 120)):
        price = lab.price(width=width, depth=depth, steps=steps)["flops"]
        menu.append((price, dict(width=width, depth=depth, steps=steps)))
    menu.sort(key=lambda item: -item[0])
    chosen, left = [], lab.left
    for price, settings in menu:
        if price < left / 3:
            chosen.append(settings)
            left -= price
    runs = [lab.train(**settings) for settings in chosen[:8]]
    losses = sorted(r.loss for r in runs)
    best, gain = losses[0], losses[len(losses) // 2] - losses[0] + 0.01
    return [(best - gain / 2, best - 2 * gain, best + gain / 2) for _ in targets]
"""
    },
}
"""Name -> path -> text."""
