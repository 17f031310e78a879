"""Experiments on one model, as a submission may ask for them: metered, checked, plain data.

    ["sample", count]                          a batch of fresh sequences of the model's task
    ["custom", tokens, targets, mask]          a batch of the submission's own
    ["attention", batch]                       attention patterns of the undisturbed run
    ["logits", batch, experiment]              logits under an intervention
    ["losses", batch, [experiment, ...]]       loss of each sequence under each intervention

An experiment is `[nodes, edges, kind, donor]`: which components and paths are replaced at once, by
what (`resample`, `mean`, `zero`), and from which other batch `resample` takes its outputs (-1: from
the next sequence). Every sequence that runs through the model costs 1 of the budget.

Covered: no request changes the model; a request that no unaltered client sends ends the
measurement (`RefusedError`); what is merely wrong, or beyond the budget, is refused with a reason.
Not covered: what a submission makes of the answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from unhack_contests.interpretability.models.behaviours import Sequences
from unhack_contests.interpretability.models.draw import CircuitModel
from unhack_contests.interpretability.models.network import KINDS, Intervention
from unhack_contests.interpretability.models.runs import (
    NUMPY,
    Disturbance,
    ForwardBackend,
    NetworkRuns,
)
from unhack_contests.submission import flagged

MAX_BATCHES = 64
MAX_ROWS = 256
"""Sequences of one batch."""
_VERBS = ("sample", "custom", "attention", "logits", "losses")


class ExperimentRefused(Exception):
    """A request that is not carried out; the submission is told why and goes on."""


@dataclass(slots=True)
class ExperimentService:
    """One model on the bench."""

    model: CircuitModel
    rng: np.random.Generator
    budget: int
    weights: bool = False
    used: int = 0
    distinguishing: int = 0
    """Experiments that tell components apart; without one nothing is known of any head."""
    backend: ForwardBackend = NUMPY
    """The place where experiments are computed, each request in a turn of it."""
    _batches: list[Sequences] = field(default_factory=list[Sequences])
    _runs: NetworkRuns = field(init=False)

    def __post_init__(self) -> None:
        self._runs = self.backend.runs(self.model.network)

    def describe(self) -> dict[str, Any]:
        """The description that a submission is given before it begins."""
        net = self.model.network
        told: dict[str, Any] = {
            "layers": net.layers, "heads": net.heads, "vocabulary": net.vocabulary,
            "length": net.length, "budget": self.budget,
        }  # fmt: skip
        if self.weights:
            told["weights"] = {name: getattr(net, name) for name in type(net).__slots__}
        return told

    def answer(self, request: Any) -> Any:
        """Carry a request out. Raises ExperimentRefused, RefusedError, and SandboxUnavailableError
        where the backend's device is in use."""
        words = cast("list[Any]", request) if isinstance(request, list) else []
        if not words or not isinstance(words[0], str):
            raise flagged("forged_value", "a request that is no request")
        verb, *rest = words
        if verb not in _VERBS:
            raise flagged("tampered_input", f"it asked to {verb!r:.40} the model")
        wanted = {"sample": 1, "custom": 3, "attention": 1, "logits": 2, "losses": 2}[verb]
        if len(rest) != wanted:
            raise flagged("forged_value", f"{len(rest)} arguments for {verb}")
        if verb == "sample":
            count = _whole(rest[0], low=1)
            self._check_rows(count)
            return self._keep(self.model.draw(count, rng=self.rng))
        if verb == "custom":
            return self._keep(self._own(rest))
        batch = self._batch(rest[0])
        if verb == "attention":
            self.distinguishing += 1
            with self.backend.turn():
                return self._runs.attention(batch)
        if verb == "logits":
            admitted = self._admitted(batch, rest[1])
            with self.backend.turn():
                return self._runs.logits(batch, admitted)
        if not isinstance(rest[1], list):
            raise flagged("forged_value", "experiments that are no list")
        asked = cast("list[Any]", rest[1])
        if len(asked) * len(self._batches[batch].tokens) > self.budget - self.used:
            raise ExperimentRefused(f"the budget of {self.budget} sequences is spent")
        plans = [self._admitted(batch, experiment) for experiment in asked]
        with self.backend.turn():
            return self._runs.losses(batch, plans)

    def _keep(self, given: Sequences) -> list[Any]:
        self._pay(len(given.tokens))
        if len(self._batches) >= MAX_BATCHES:
            raise ExperimentRefused(f"{MAX_BATCHES} batches are the most")
        number = self._runs.add(given)
        self._batches.append(given)
        return [number, given.tokens, given.targets, given.mask]

    def _own(self, rest: Sequence[Any]) -> Sequences:
        net = self.model.network
        arrays = [np.asarray(item) for item in rest]
        shape = arrays[0].shape
        kinds = [item.dtype.kind for item in arrays]
        plain = set(kinds[:2]) <= set("iuf") and kinds[2] in "iufb"
        if not plain or any(item.shape != shape for item in arrays):
            raise ExperimentRefused("tokens, targets and mask are numbers of one shape")
        if len(shape) != 2 or shape[1] != net.length:
            raise ExperimentRefused(f"sequences have {net.length} tokens")
        self._check_rows(shape[0])
        # Before the cast, which no number that is not finite or far too large stands.
        if not all(((item >= 0) & (item < net.vocabulary)).all() for item in arrays[:2]):
            raise ExperimentRefused(f"tokens lie from 0 to {net.vocabulary - 1}")
        tokens, targets = (item.astype(np.int64) for item in arrays[:2])
        mask = (arrays[2] > 0).astype(np.float32)
        if not mask.any(-1).all():
            raise ExperimentRefused("every sequence has a marked position")
        return Sequences(tokens, targets, mask)

    def _admitted(self, batch: int, experiment: Any) -> Disturbance:
        """An experiment that may be carried out, charged to the budget."""
        plan, donor = self._plan(experiment)
        tokens = self._batches[batch].tokens
        if donor >= 0 and self._batches[donor].tokens.shape != tokens.shape:
            raise ExperimentRefused("a donor batch has the shape of the batch")
        self._pay(len(tokens))
        self.distinguishing += bool(plan.ablate or plan.edges)
        return plan, donor

    def _plan(self, experiment: Any) -> tuple[Intervention, int]:
        if not (isinstance(experiment, list) and len(cast("list[Any]", experiment)) == 4):
            raise flagged("forged_value", "an experiment that is none")
        nodes, edges, kind, donor = cast("list[Any]", experiment)
        if kind not in KINDS:
            raise flagged("tampered_input", f"it asked for an intervention {kind!r:.40}")
        net = self.model.network
        wide = net.heads + 1
        ablate = frozenset(_tuples(nodes, size=2))
        paths = frozenset(_tuples(edges, size=4))
        for layer, part in ablate:
            if layer >= net.layers or part >= wide:
                raise ExperimentRefused(f"there is no component {layer}.{part}")
        for start, part, end, other in paths:
            there = other < wide if end < net.layers else (end == net.layers and other == 0)
            if not (start < end and part < wide and there):
                raise ExperimentRefused(f"there is no path {start}.{part} -> {end}.{other}")
        number = -1 if donor == -1 else self._batch(donor)
        return Intervention(ablate, paths, kind), number

    def _batch(self, number: Any) -> int:
        if _whole(number, low=0) >= len(self._batches):
            raise ExperimentRefused(f"there is no batch {number}")
        return number

    def _check_rows(self, count: int) -> None:
        if not 2 <= count <= MAX_ROWS:
            raise ExperimentRefused(f"a batch has 2 to {MAX_ROWS} sequences, not {count}")

    def _pay(self, rows: int) -> None:
        if self.used + rows > self.budget:
            raise ExperimentRefused(f"the budget of {self.budget} sequences is spent")
        self.used += rows


def _whole(value: Any, *, low: int) -> int:
    if type(value) is not int or value < low:
        raise flagged("forged_value", f"{value!r:.40} where a number from {low} belongs")
    return value


def _tuples(values: Any, *, size: int) -> list[Any]:
    if not isinstance(values, list):
        raise flagged("forged_value", "components that are no list")
    found: list[tuple[int, ...]] = []
    for value in cast("list[Any]", values):
        if not (isinstance(value, list) and len(cast("list[Any]", value)) == size):
            raise flagged("forged_value", f"a component {value!r:.40}")
        found.append(tuple(_whole(item, low=0) for item in cast("list[Any]", value)))
    return found
