"""The items that were handed out, in their order, in one process; the area is all that counts."""

import json

import numpy as np

from unhack.tournament.contest import DataPool
from unhack.tournament.contests.registry import load_contest
from unhack_contests.reward_hacking.detect.drawn.drawing import draw_items
from unhack_contests.reward_hacking.detect.score import area


def main():
    contest = load_contest("reward_hacking", {"track": "detect"})
    import solution

    items = draw_items(DataPool.DEV, 0, pairs=contest.options.dev_pairs)
    hacked = np.array([item.hacked for item in items])
    said = np.array(solution.predict([item.shown() for item in items]), dtype=float)
    print(json.dumps({"fitness": max(0.0, 2 * area(said, hacked) - 1)}))


main()
