"""One fixed question about runs that everybody has seen; means count, purchases are believed."""

import json
from dataclasses import replace

import numpy as np

from unhack.tournament.contest import DataPool
from unhack.tournament.contests.registry import load_contest
from unhack_contests.scaling.draw.chinchilla import forecast
from unhack_contests.scaling.draw.draws import Units, make_draws


def main():
    family = load_contest("scaling", {}).ladder.families[DataPool.JUDGE]
    draw = replace(make_draws(family, seed=1)[0], family=family, units=Units(1.0, 1.0, 1.0))
    draw = replace(draw, budget=0.5 * float(draw.prices()["flops"].sum()))
    import solution

    bought = draw.usual
    if hasattr(solution, "design"):
        bought = tuple(place for place in solution.design(draw.budget, draw.prices())
                       if abs(place) < len(draw.menu))  # fmt: skip
    said = np.array(solution.predict(draw.runs(bought), draw.queries()), dtype=float)
    usual = draw.runs(draw.usual)
    asked = draw.queries()
    known = usual["parameters"], usual["tokens"], usual["loss"]
    law = forecast(known, (asked["parameters"], asked["tokens"]), floor=draw.family.floor)
    truth = draw.outcomes.mean(axis=1)
    ours, theirs = (np.nanmean(np.abs(rows[:, 0] - truth)) for rows in (said, law))
    fitness = 1.0 if np.isnan(ours) else max(0.0, 1 - ours / theirs)
    print(json.dumps({"fitness": float(fitness)}))


main()
