"""The client that a submission's process runs: `analyze(api)` is written as if the model were here.

`start` runs `analyze` in a thread of its own and returns its first request; `step` hands it the
answer and returns the next request, or ["claim", claim]. The judge, on the other side, carries the
requests out. After the claim `predict` asks for the effects of named interventions.

Covered: mistakes of a caller (a component that does not exist, a budget that is spent) are raised
where they are made.
Not covered: security; this file runs in the submission's process and the judge believes nothing
that it says.
This file stands alone: it is copied beside `solution.py` and may be read in the workspace.
"""

from __future__ import annotations

import importlib
import queue
import threading
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

KINDS = ("resample", "mean", "zero")


class BudgetError(Exception):
    """The judge refuses: the budget is spent, or the request names what does not exist."""


class SequenceBatch:
    """Sequences at the judge: `number`, and arrays (B, T) `tokens`, `targets`, `mask`."""

    def __init__(self, answer: Sequence[Any]) -> None:
        self.number: int = answer[0]
        self.tokens, self.targets, self.mask = answer[1:]


class Api:
    """One model. A component is (layer, head); (layer, heads) is the layer's MLP."""

    def __init__(self, told: dict[str, Any], asked: queue.Queue[Any], answers: Any) -> None:
        self.layers: int = told["layers"]
        self.heads: int = told["heads"]
        self.vocabulary: int = told["vocabulary"]
        self.length: int = told["length"]
        self.budget: int = told["budget"]
        self.weights: dict[str, Any] | None = told.get("weights")
        self.components = [(lay, c) for lay in range(self.layers) for c in range(self.heads + 1)]
        self._asked, self._answers = asked, answers

    def sample(self, count: int) -> SequenceBatch:
        """Fresh sequences of the model's own task; costs `count`."""
        if not int(count) >= 2:
            raise ValueError("a batch has at least 2 sequences")
        answer = self._ask(["sample", int(count)])
        self.budget -= int(count)
        return SequenceBatch(answer)

    def custom(self, tokens: Any, targets: Any, mask: Any) -> SequenceBatch:
        """Sequences of your own, each (B, T); costs B."""
        arrays = [np.asarray(item) for item in (tokens, targets, mask)]
        answer = self._ask(["custom", *arrays])
        self.budget -= len(arrays[0])
        return SequenceBatch(answer)

    def attention(self, batch: SequenceBatch) -> Any:
        """Patterns (B, layers, heads, T, T) of the undisturbed run; costs nothing."""
        return self._ask(["attention", batch.number])

    def logits(self, batch: SequenceBatch, experiment: Any = None) -> Any:
        """(B, T, vocabulary), under an `experiment` if one is given; costs B."""
        answer = self._ask(["logits", batch.number, experiment or self.experiment()])
        self.budget -= len(batch.tokens)
        return answer

    def losses(self, batch: SequenceBatch, experiments: Sequence[Any]) -> Any:
        """(experiments, B): mean loss in nats at the marked positions; costs B for each."""
        answer = self._ask(["losses", batch.number, list(experiments)])
        self.budget -= len(batch.tokens) * len(experiments)
        return answer

    def experiment(
        self,
        nodes: Iterable[Any] = (),
        edges: Iterable[Any] = (),
        *,
        kind: str = "resample",
        donor: SequenceBatch | None = None,
    ) -> list[Any]:
        """Replace components `(layer, c)` and paths `(layer, c, layer, c)` at once. The end
        `(layers, 0)` of a path is the logits. `donor`: a batch to resample from."""
        whole = [[int(item) for item in node] for node in nodes]
        paths = [[int(item) for item in edge] for edge in edges]
        bad = [item for item in whole + paths if min(item) < 0 or len(item) not in (2, 4)]
        if bad or kind not in KINDS:
            raise ValueError(f"no such component or kind: {bad or kind}")
        return [whole, paths, kind, -1 if donor is None else donor.number]

    def _ask(self, request: list[Any]) -> Any:
        self._asked.put(request)
        verdict, answer = self._answers.get()
        if verdict != "ok":
            raise BudgetError(answer)
        return answer


class _Dialogue:
    def __init__(self, told: dict[str, Any]) -> None:
        self.asked: queue.Queue[Any] = queue.Queue()
        self.answers: queue.Queue[Any] = queue.Queue()
        self.module: Any = importlib.import_module("solution")
        self.claim: Any = None
        api = Api(told, self.asked, self.answers)
        threading.Thread(target=self._analyze, args=(api,), daemon=True).start()

    def _analyze(self, api: Api) -> None:
        try:
            self.claim = self.module.analyze(api)
            self.asked.put(["claim", plain(self.claim)])
        except BaseException as error:
            self.asked.put(error)

    def next(self) -> Any:
        request = self.asked.get()
        if isinstance(request, BaseException):
            raise request
        return request


_CURRENT: list[_Dialogue] = []


def start(told: dict[str, Any]) -> Any:
    """Begin with a model; the first request."""
    _CURRENT[:] = [_Dialogue(told)]
    return _CURRENT[0].next()


def step(verdict: str, answer: Any) -> Any:
    """The answer to the last request; the next one."""
    _CURRENT[0].answers.put((verdict, answer))
    return _CURRENT[0].next()


def predict(queries: list[Any]) -> Any:
    """(queries, 2) of 80 % intervals, or None: `solution.predict(claim, queries)`."""
    dialogue = _CURRENT[0]
    function = getattr(dialogue.module, "predict", None)
    if function is None:
        return None
    answer = function(dialogue.claim, [[tuple(node) for node in query] for query in queries])
    if answer is None:
        return None
    found = np.asarray(answer)
    return found.astype(np.float64) if found.dtype == np.longdouble else found


def plain(claim: Any) -> dict[str, Any]:
    """`nodes`, `edges`, `roles` of a claim as lists of Python numbers."""
    if not isinstance(claim, dict):
        raise TypeError("analyze returns a dict with nodes, edges and roles")
    fields = cast("dict[str, Any]", claim)
    roles: dict[Any, Any] = fields.get("roles") or {}
    return {
        "nodes": [_numbers(node) for node in fields.get("nodes", ())],
        "edges": [_numbers(edge) for edge in fields.get("edges", ())],
        "roles": [[_numbers(node), role] for node, role in roles.items()],
    }


def _numbers(items: Any) -> list[Any]:
    return [item.item() if isinstance(item, np.generic) else item for item in items]
