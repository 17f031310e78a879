"""The settings before round one, and the hash by which a resumed tournament is known.

Covered: the contest's settings and options, who plays, for how long and for how much, unhack's
version, all files of the contest's folder or package, its data among them, and the judge's sources.
Not covered: installed libraries, compilers and the machine.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import types
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

from unhack.core.errors import UsageError
from unhack.core.hashing import content_hash
from unhack.sandbox.distributions import PackageOrigin, origin
from unhack.sandbox.workspace import safe_files
from unhack.tournament.contest import Contest
from unhack.tournament.record.records import TournamentSettings
from unhack.tournament.record.seeds import chosen_rounds

SEEDINGS = ("champion", "own_best", "none")
_JUDGE = ("contest.py", "judging", "scan")
_SOURCES = {".py", ".c", ".cu", ".toml"}


@dataclass(frozen=True, slots=True)
class TournamentPlan:
    """A tournament as it is asked for.

    Example:

        plan = TournamentPlan("packing", ("baseline", "search"), rounds=3, options={"boxes": "8"})
        archive = begin(Path("out/packing"), plan, load_contest("packing", plan.options))
    """

    contest: str
    agents: tuple[str, ...]
    rounds: int
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    agent_options: Mapping[str, str] = field(default_factory=dict[str, str])
    impossible: int = 0
    """How many of the rounds; which ones is drawn."""
    seeding: str = "champion"
    time_limit_s: float = 600.0
    cost_limit_usd: float = 5.0


def settle(plan: TournamentPlan, contest: Contest, *, secret: bytes) -> TournamentSettings:
    """The settings of a new tournament. Raises UsageError for a plan that makes no sense."""
    if not plan.agents:
        raise UsageError("a tournament needs at least one agent; `unhack tournament agents` lists")
    if plan.rounds < 1 or not 0 <= plan.impossible <= plan.rounds:
        raise UsageError(
            f"{plan.rounds} rounds of which {plan.impossible} are impossible: at least one round, "
            "and not more impossible ones than there are"
        )
    if plan.seeding not in SEEDINGS:
        raise UsageError(f"seeding {plan.seeding!r}: there are {', '.join(SEEDINGS)}")
    if not plan.time_limit_s > 0 or not plan.cost_limit_usd >= 0:
        raise UsageError("the time limit must be above 0, and the cost limit not below")
    settings = TournamentSettings(
        contest=contest.name,
        title=contest.title,
        options=dict(plan.options),
        contest_settings=dict(contest.settings),
        exclusive=contest.exclusive,
        agents=unique(plan.agents),
        rounds=plan.rounds,
        impossible=chosen_rounds(secret, rounds=plan.rounds, count=plan.impossible),
        seeding=plan.seeding,
        time_limit_s=plan.time_limit_s,
        cost_limit_usd=plan.cost_limit_usd,
        agent_options=dict(plan.agent_options),
        version=f"{version('unhack')}+{_sources(contest)}",
        hash="",
    )
    return replace(settings, hash=_hash(settings))


def check_same(settings: TournamentSettings, contest: Contest) -> None:
    """Raises UsageError when `contest`, or the judge, is not the one of `settings`."""
    fresh = replace(
        settings,
        title=contest.title,
        contest_settings=dict(contest.settings),
        exclusive=contest.exclusive,
        version=f"{version('unhack')}+{_sources(contest)}",
    )
    if _hash(fresh) == settings.hash:
        return
    before, after = asdict(settings), asdict(fresh)
    names = [name for name in before if before[name] != after[name]]
    words = {"version": "unhack's version, or the sources of the contest or the judge"}
    changed = ", ".join(words.get(name, name) for name in names)
    raise UsageError(
        f"this tournament was begun under other rules ({changed or 'its settings were edited'}): "
        "its rounds would not be comparable; go on with the version that began it, or start anew"
    )


def unique(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names, a repeated one followed by `#2`, `#3` …"""
    seen: Counter[str] = Counter()
    found: list[str] = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return tuple(found)


def plain_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names that `unique` was given."""
    found: list[str] = []
    for name in names:
        head, _, number = name.rpartition("#")
        found.append(head if head and number == str(found.count(head) + 1) else name)
    return tuple(found)


def _hash(settings: TournamentSettings) -> str:
    return content_hash(json.dumps(asdict(replace(settings, hash="")), sort_keys=True))


def _sources(contest: Contest) -> str:
    """A short hash over the files that decide what is measured."""
    module = inspect.getmodule(type(contest)) or importlib.import_module(__name__)
    return _hashed(_measuring(module))


def _measuring(module: types.ModuleType) -> tuple[Path, ...]:
    """The sources that measure: the contest's folder in the engine, the whole package where a
    distribution brings it, and what stands beside a module that belongs to no package."""
    own = Path(str(module.__file__))
    if origin(module.__name__) is PackageOrigin.ENGINE:
        return (own.parent,)
    if module.__name__ == "__main__" or not module.__package__:
        return tuple(path for path in sorted(own.parent.iterdir()) if path.is_file())
    return (own.parents[len(module.__package__.split(".")) - 1],)


@cache
def _hashed(measuring: tuple[Path, ...]) -> str:
    """Once for each process: what it has loaded stays loaded when a file changes."""
    here = Path(__file__).parent.parent
    roots = [*(here / name for name in _JUDGE), Path(safe_files.__file__), *measuring]
    digest = hashlib.sha256()
    for root in roots:
        paths = sorted(root.rglob("*")) if root.is_dir() else [root]
        for path in paths:
            whole = root in measuring and root.is_dir() and "__pycache__" not in path.parts
            if (whole or path.suffix in _SOURCES) and path.is_file():
                name = path.relative_to(root.parent).as_posix()
                digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
