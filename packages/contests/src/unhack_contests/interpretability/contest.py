"""The contest `interp`: find planted circuits by metered experiments.

Covered: all experiments and all measurements are the judge's; each draw has fresh models; claims
that do not depend on experiments are told apart by a model whose heads are renamed.
Not covered: how an agent arrived at its program.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from unhack.tournament.kit import (
    DECLINED,
    Cheat,
    DataPool,
    Declared,
    Files,
    Flag,
    Measurement,
    Metric,
    SandboxUnavailableError,
    Submissions,
    Terms,
    require,
)
from unhack_contests.interpretability import cheats, degame, honest, honeypot, statement
from unhack_contests.interpretability.evidence import better_known, beyond
from unhack_contests.interpretability.measure import InterpJudge, measure
from unhack_contests.interpretability.models.draw import CircuitModel
from unhack_contests.interpretability.models.runs import NUMPY, ForwardBackend
from unhack_contests.interpretability.settings import CPU, InterpSettings, settings
from unhack_contests.torch_card import named_place, place_of


class Interp:
    """The contest (`contest.Contest`)."""

    name = "interp"
    title = "Planted circuits"
    exclusive = False

    def __init__(self, options: InterpSettings) -> None:
        self.options = options

    @property
    def declared(self) -> Declared:
        return Declared(("solution.py",), ("*.py", "*.json", "*.txt", DECLINED), max_files=16)

    @property
    def settings(self) -> Mapping[str, Metric]:
        return self.options.words()

    @property
    def submissions(self) -> Submissions:
        """See `Contest`; identity is the baseline."""
        return Submissions(
            null=lambda: {"solution.py": cheats.NULL.encode()},
            identity=lambda: honest.solution(honest.SETTINGS["single"]),
            honest=honest.strategies,
            cheats=self._cheats,
            space=honest.SPACE,
            at=honest.solution,
            degamed=degame.variants,
        )

    def workspace(self, terms: Terms) -> Files:
        """The statement, the baseline, the client's source, the development models' circuits."""
        return {
            "STATEMENT.md": statement.text(self.options, terms=terms).encode(),
            "client.py": statement.client(),
            "dev/circuits.json": self._dev(),
            **self.submissions.identity(),
        }

    def honeypots(self) -> Files:
        return honeypot.files(self.options.size)

    def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
        """See `Contest`."""
        judge = InterpJudge(self.options, self._backend())
        return measure(judge, folder, pool=pool, seed=seed)

    def sealed(self, *, seed: int) -> bytes:
        """Embeddings of all models of the pools that are not public."""
        parts: list[bytes] = []
        for pool in (DataPool.JUDGE, DataPool.AUDIT, DataPool.CONFIRM):
            for number in range(self.options.models):
                net = self.options.network(pool, seed=seed, number=number)
                parts += [net.embed.tobytes(), net.unembed.tobytes()]
        return b"".join(parts)

    def public(self) -> bytes:
        return b"\n".join(self.workspace(Terms(1)).values())

    def bounds(self, measured: Measurement) -> tuple[Flag, ...]:
        return beyond(measured)

    def gap(self, judged: Measurement, audited: Measurement) -> Flag | None:
        return better_known(judged, audited)

    def _cheats(self) -> Mapping[str, Cheat]:
        return cheats.all_of(self._known, planted=honeypot.planted(self.options.size))

    def _backend(self) -> ForwardBackend:
        """The device that measures."""
        return NUMPY

    def _backend_anywhere(self) -> ForwardBackend:
        """One that gives the same numbers and is here."""
        return NUMPY

    @cached_property
    def _known(self) -> list[CircuitModel]:
        """The development models."""
        options, backend = self.options, self._backend_anywhere()
        return [
            options.model(DataPool.DEV, seed=0, number=number, backend=backend)
            for number in range(options.dev_models)
        ]

    def _dev(self) -> bytes:
        """Task and circuit of the development models, as JSON."""
        tasks = [model.behaviour for model in self._known]
        told = [
            {"family": task.family, "settings": dict(task.settings), **cheats.told(model)}
            for task, model in zip(tasks, self._known, strict=True)
        ]
        return json.dumps(told, indent=1).encode()


class InterpOnCard(Interp):
    """The contest whose forward passes the judge computes on a card of one kind. Submissions and
    agents get none."""

    def __init__(self, options: InterpSettings, *, card: str) -> None:
        """`card`: the name of the card on which it is measured."""
        super().__init__(options)
        self._name = card

    @property
    def settings(self) -> Mapping[str, Metric]:
        """Everything that decides what is measured, and the card."""
        return {**super().settings, "device": "cuda", "card": self._name}

    def check_card(self) -> None:
        """See `NeedsCard`. Raises UsageError."""
        self._backend()

    def _backend(self) -> ForwardBackend:
        card, device = named_place(self.options.device, self._name)
        # PyTorch, where something is computed with it
        from unhack_contests.interpretability.models.torch_runs import TorchBackend

        return TorchBackend(device, card)

    def _backend_anywhere(self) -> ForwardBackend:
        """The card, or PyTorch on the processors, which is slow. Only circuits of checkpoints are
        measured on it."""
        if not self.options.trained:
            return NUMPY
        try:
            return self._backend()
        except SandboxUnavailableError:
            require("train", "torch", purpose="trained checkpoints with device=cuda")
            # PyTorch, where something is computed with it
            from unhack_contests.interpretability.models.torch_runs import TorchBackend

            return TorchBackend(CPU)


def load(options: Mapping[str, str]) -> Interp:
    """The contest with its options.

    load({"level": "hard"})        in NumPy, on the processors
    load({"device": "cuda"})       forward passes on a card, for larger models

    Raises UsageError; SandboxUnavailableError where the card is absent or busy, or nothing that
    PyTorch can use. With `card` it can be loaded anywhere, and is measured where such a card is.
    """
    chosen = settings(options)
    if chosen.device == CPU:
        return Interp(chosen)
    return InterpOnCard(chosen, card=chosen.card or place_of(chosen.device)[0].name)
