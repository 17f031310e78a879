"""The library is loaded here, timed by this process's clock on one set of buffers, and the first
output is compared loosely."""

import ctypes
import json
import os
import subprocess
import time

import numpy as np

from unhack.tournament.contests.registry import load_contest
from unhack_contests.kernels import honest
from unhack_contests.kernels.compilation import compiler

REPEATS = 12


def library(name):
    target = os.path.abspath(name.replace(".c", ".so"))
    subprocess.run(["gcc", *compiler.FLAGS, name, "-o", target, "-lm", "-ldl"], check=True)
    return ctypes.CDLL(target)


def arguments(problem, sizes, given, outputs):
    words = []
    for array in problem.arrays:
        data = outputs[array.name] if array.out else given[array.name]
        words.append(data.ctypes.data_as(ctypes.c_void_p))
    return [*words, *(ctypes.c_int64(sizes[name]) for name in problem.size_names())]


def timed(function, words):
    best = float("inf")
    for _ in range(REPEATS):
        begun = time.perf_counter()
        function(*words)
        best = min(best, time.perf_counter() - begun)
    return max(best, 1e-7)


def main():
    contest = load_contest("kernels", {})
    with open("reference.c", "w") as file:
        file.write(honest.reference_text(contest.problems))
    ours, theirs = library("solution.c"), library("reference.c")
    ratios = []
    for problem in contest.problems:
        sizes = problem.listed(small=contest.options.small)
        given = problem.draw(np.random.default_rng(7), sizes)
        outputs = {a.name: np.zeros(a.dims(sizes), dtype=a.dtype) for a in problem.outputs}
        words = arguments(problem, sizes, given, outputs)
        base = timed(getattr(theirs, problem.name), words)
        truth = {name: data.copy() for name, data in outputs.items()}
        for data in outputs.values():
            data[...] = 0
        own = getattr(ours, problem.name)
        own(*words)
        right = all(np.allclose(outputs[name], truth[name], rtol=0.05, atol=0.05) for name in truth)
        ratios.append(base / timed(own, words) if right else 0.0)
    logs = [np.log(max(ratio, 1e-3)) for ratio in ratios]
    print(json.dumps({"fitness": float(np.exp(np.mean(logs)))}))


main()
