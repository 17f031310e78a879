"""The toy contest of `benchmarks/tournament_toy.py`, for tests."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unhack.tournament.contest import Flag, Measurement
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import Entry, PlayerRole, TournamentRecord
from unhack.tournament.record.settings import TournamentPlan
from unhack.tournament.round.rounds import begin, line_up, play, reopen

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


def _load() -> Any:
    name = "tournament_toy"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


toy = _load()
HILL = toy.Hill()


def plan(*agents: str, rounds: int = 2, **more: Any) -> TournamentPlan:
    """A plan for the hill."""
    return TournamentPlan("hill", agents or ("search", "cheater", "baseline:near"), rounds, **more)


def played(
    path: Path,
    wanted: TournamentPlan | None = None,
    *,
    seed: int = 3,
    jobs: int = 2,
    hill: Any = HILL,
) -> TournamentRecord:
    """A whole tournament; goes on with one that is there."""
    make = toy.maker(hill, path.with_suffix(".book"))
    archive = reopen(path) if path.exists() else begin(path, wanted or plan(), hill, seed=seed)
    with archive:
        return play(line_up(archive, hill, make=make), jobs=jobs)


def measured(fitness: float, half: float = 0.01, **more: Any) -> Measurement:
    """A measurement with its interval."""
    return Measurement(fitness, fitness - half, fitness + half, **more)


def entry(agent: str, fitness: float = 0.5, *, number: int = 1, **more: Any) -> Entry:
    """A committed entry; its digest is that of nobody else unless given."""
    kept = Entry(number, agent, PlayerRole.AGENT, EntryState.COMMITTED, digest=f"{agent}-{number}")
    found = replace(kept, measured=measured(fitness), fitness=fitness)
    return replace(found, **more)


def flagged(agent: str, **more: Any) -> Entry:
    """A committed entry that was gamed."""
    flags: Sequence[Flag] = (Flag("sealed_data", "shares 60 bytes", "scan"),)
    return replace(entry(agent, 0.9, **more), flags=flags, fitness=0.0)
