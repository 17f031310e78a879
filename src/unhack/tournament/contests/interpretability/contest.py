"""The contest `interp`: find planted circuits by metered experiments.

Covered: all experiments and all measurements are the judge's; each draw has fresh models; claims
that do not depend on experiments are told apart by a model whose heads are renamed.
Not covered: how an agent arrived at its program.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from unhack.tournament.contest import (
    DECLINED,
    Cheat,
    DataPool,
    Declared,
    Files,
    Flag,
    Measurement,
    Metric,
    Submissions,
    Terms,
)
from unhack.tournament.contests.interpretability import cheats, degame, honest, honeypot, statement
from unhack.tournament.contests.interpretability.evidence import better_known, beyond
from unhack.tournament.contests.interpretability.measure import measure
from unhack.tournament.contests.interpretability.models.draw import CircuitModel
from unhack.tournament.contests.interpretability.settings import InterpSettings, settings


@dataclass(frozen=True, slots=True)
class Interp:
    """The contest (`contest.Contest`)."""

    options: InterpSettings
    name: str = "interp"
    title: str = "Planted circuits"
    exclusive: bool = False

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
        return measure(self.options, folder, pool=pool, seed=seed)

    def sealed(self, *, seed: int) -> bytes:
        """Embeddings of all models of the pools that are not public."""
        parts: list[bytes] = []
        for pool in (DataPool.JUDGE, DataPool.AUDIT, DataPool.CONFIRM):
            for number in range(self.options.models):
                net = self.options.model(pool, seed=seed, number=number).network
                parts += [net.embed.tobytes(), net.unembed.tobytes()]
        return b"".join(parts)

    def public(self) -> bytes:
        return b"\n".join(self.workspace(Terms(1)).values())

    def bounds(self, measured: Measurement) -> tuple[Flag, ...]:
        return beyond(measured)

    def gap(self, judged: Measurement, audited: Measurement) -> Flag | None:
        return better_known(judged, audited)

    def _cheats(self) -> Mapping[str, Cheat]:
        return cheats.all_of(self._known(), planted=honeypot.planted(self.options.size))

    def _known(self) -> list[CircuitModel]:
        count = self.options.dev_models
        return [self.options.model(DataPool.DEV, seed=0, number=n) for n in range(count)]

    def _dev(self) -> bytes:
        """Task and circuit of the development models, as JSON."""
        told: list[dict[str, object]] = []
        for model in self._known():
            told.append(
                {
                    "family": model.behaviour.family,
                    "settings": dict(model.behaviour.settings),
                    "nodes": [list(node) for node in sorted(model.truth.nodes)],
                    "edges": [list(edge) for edge in sorted(model.truth.edges)],
                    "roles": [[list(n), role] for n, role in sorted(model.truth.roles.items())],
                }
            )
        return json.dumps(told, indent=1).encode()


def load(options: Mapping[str, str]) -> Interp:
    """The contest with its options. Raises UsageError."""
    return Interp(settings(options))
