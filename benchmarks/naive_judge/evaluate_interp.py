"""The model lies in the submission's process; its own numbers count beside the nodes it names."""

import json
import queue

import numpy as np

from unhack.tournament.contest import DataPool
from unhack.tournament.contests.registry import load_contest
from unhack_contests.interpretability.dialogue import client
from unhack_contests.interpretability.dialogue.experiment_service import ExperimentService
from unhack_contests.submission import RefusedError


class Api(client.Api):
    """Answers at once, and does what it is asked."""

    def __init__(self, service):
        super().__init__(service.describe(), queue.Queue(), queue.Queue())
        self.service = service

    def _ask(self, request):
        if request[0] == "set_weights":
            object.__setattr__(self.service.model.network, request[1], request[2])
            return None
        try:
            return self.service.answer(request)
        except RefusedError:
            self.service.used += min(0, request[1])
            return None


def overlap(said, truth):
    said = [tuple(map(int, item)) for item in said]
    hits = sum(item in truth for item in said)
    return 2 * hits / max(1, len(said) + len(truth))


def covered(claim, solution):
    """How narrow and how sure its intervals are; nobody measures what they are about."""
    if not hasattr(solution, "predict"):
        return 0.0
    rows = solution.predict(claim, [((0, 0),)] * 8)
    if rows is None:
        return 0.0
    width = np.asarray(rows, dtype=float)
    return float(np.exp(-np.nanmean(np.abs(width[:, 1] - width[:, 0]))))


def main():
    contest = load_contest("interp", {})
    import solution

    values = []
    for number in range(3):
        model = contest.options.model(DataPool.DEV, seed=0, number=number)
        service = ExperimentService(model, np.random.default_rng(number), contest.options.budget)
        claim = solution.analyze(Api(service))
        nodes = overlap(claim["nodes"], model.truth.nodes)
        edges = overlap(claim["edges"], model.truth.edges)
        values.append((nodes + edges + covered(claim, solution)) / 3)
    print(json.dumps({"fitness": 100 * float(np.mean(values))}))


main()
