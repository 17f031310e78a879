"""One submission with one model: questions, answers, a claim, then predictions.

Covered: the code runs sealed in a fresh process for each model, so that nothing is carried from one
to the next; it has no clock to wait for but its own limits; after the claim no request is answered.
Not covered: whether the claim is true (`score`).
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhack.tournament.kit import MIB, Computer, Limits, SubmissionError
from unhack_contests.interpretability.dialogue import claim as claims
from unhack_contests.interpretability.dialogue import client
from unhack_contests.interpretability.dialogue.claim import CircuitClaim
from unhack_contests.interpretability.dialogue.experiment_service import (
    ExperimentRefused,
    ExperimentService,
)
from unhack_contests.interpretability.models.network import Array, Node
from unhack_contests.submission import RefusedError, left, staged

CLIENT_FILE = "unhack_door.py"
"""The client's name beside the submission's files."""
MAX_REQUESTS = 5000
Query = tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class DialogueResult:
    """The outcome of a dialogue."""

    claim: CircuitClaim
    predictions: Array | None
    """(queries, 2)."""
    used: int
    distinguishing: int
    """Experiments that tell components apart."""


def stage(folder: Path) -> contextlib.AbstractContextManager[Path]:
    """A copy of the submission with the client beside it, for as long as the block lasts."""
    return staged(folder, CLIENT_FILE, Path(client.__file__))


def converse(
    place: Path, service: ExperimentService, *, queries: list[Query], time_s: float
) -> DialogueResult:  # fmt: skip
    """Let the submission at `place` analyse a model. Raises RefusedError, and the sandbox's own
    failures. `time_s`: for all of its own thinking about this model."""
    wall_s = 20 * time_s + 60 + service.backend.waits_s
    limits = Limits(
        wall_s=wall_s, cpu_s=2 * time_s + 10, memory_bytes=1024 * MIB,
        output_bytes=64 * MIB, soft_slice_s=wall_s,
    )  # fmt: skip
    computer = Computer(place, entry=CLIENT_FILE, limits=limits, preload=("numpy",))
    try:
        with computer:
            return _talk(computer, service, queries=queries, time_s=time_s)
    except SubmissionError as error:
        text = "it ended its process with exit code 0 instead of answering"
        raise RefusedError(str(error), *left(computer, text)) from None


def _talk(
    computer: Computer, service: ExperimentService, *, queries: list[Query], time_s: float
) -> DialogueResult:
    left = time_s
    request, left = _call_timed(computer, ["start", service.describe()], left=left)
    for _ in range(MAX_REQUESTS):
        if isinstance(request, list) and request[:1] == ["claim"]:
            claim = claims.read(request[-1], net=service.model.network)
            wire = [[list(node) for node in query] for query in queries]
            answer, _ = _call_timed(computer, ["predict", wire], left=left)
            said = claims.intervals(answer, count=len(queries))
            return DialogueResult(claim, said, service.used, service.distinguishing)
        try:
            reply = ["ok", service.answer(request)]
        except ExperimentRefused as error:
            reply = ["refused", str(error)]
        request, left = _call_timed(computer, ["step", *reply], left=left)
    raise RefusedError(f"more than {MAX_REQUESTS} requests")


def _call_timed(computer: Computer, call: list[Any], *, left: float) -> tuple[Any, float]:
    begun = time.monotonic()
    answer = computer.call(*call, timeout_s=max(left, 0.001))
    return answer, left - (time.monotonic() - begun)


def questions(nodes: tuple[Node, ...], *, rng: Any) -> list[Query]:
    """24 joint ablations of 1 to 4 components, drawn without a look at the circuit.

    Every component is asked about as often as any other, give or take one: what is asked tells
    nothing of the answer.
    """
    found: list[Query] = []
    waiting: list[Node] = []
    for _ in range(24):
        parts: list[Node] = []
        for _ in range(int(rng.integers(1, 5))):
            if not set(waiting) - set(parts):
                waiting = [nodes[int(n)] for n in rng.permutation(len(nodes))]
            node = next(node for node in waiting if node not in parts)
            waiting.remove(node)
            parts.append(node)
        found.append(tuple(sorted(parts)))
    return found
