"""The contests by name: `load_contest` finds and loads one.

    load_contest("packing", {"boxes": "8"})
    load_contest("routes", {"folder": "/home/me/routes"})

The first is of an installed distribution, ours or a third party's; the second is a folder.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType

from unhack.core.errors import UsageError
from unhack.sandbox.distributions import load_all, missing_error
from unhack.tournament.contest import Contest

GROUP = "unhack.contests"
"""Entry points: the name of a contest, and an `InstalledContest`."""
PACKAGES = ("contests",)
"""Folders of `packages/` with the contests that ship."""
_FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class MetricChart:
    """Two metrics whose trade-off a report shows.

    Example:

        MetricChart(across="boxes", up="waste", across_title="boxes used")
    """

    across: str
    up: str
    """Keys of `Measurement.metrics`."""
    across_title: str = ""
    up_title: str = ""
    """The titles of the axes; empty for the keys."""
    log: bool = False
    """True for two logarithmic axes."""


@dataclass(frozen=True, slots=True)
class InstalledContest:
    """A contest that a distribution brings.

    Example:

        PACKING = InstalledContest(
            load_packing,
            server_options={"boxes": 1000, "size": ("demo", "default")},
            charts={"": MetricChart("boxes", "waste")},
        )

    The distribution names it in the group `unhack.contests` of its entry points:

        [project.entry-points."unhack.contests"]
        packing = "acme_packing:PACKING"
    """

    load: Callable[[Mapping[str, str]], Contest]
    """The contest with `key=value` options of the command line. Raises UsageError for one that it
    does not have."""
    on_card: bool = False
    """True for an option `device`, and `card` for the name of a card that is elsewhere."""
    paths: tuple[str, ...] = ()
    """Options that are paths: kept absolute, so that a tournament can be resumed from anywhere."""
    tracks: tuple[str, ...] = ()
    """Values of its option `track`; people ask for them as if they were contests."""
    server_options: Mapping[str, int | tuple[str, ...]] = field(
        default_factory=dict[str, int | tuple[str, ...]]
    )
    """Options that clients of a server may set: those that name no file of the machine and no
    share of it. With the largest whole number, or the words that are allowed; `()` allows any."""
    charts: Mapping[str, MetricChart] = field(default_factory=dict[str, MetricChart])
    """Track (empty where there are none) -> the metrics that its report shows."""


@cache
def installed_contests() -> Mapping[str, InstalledContest]:
    """The installed contests by name, sorted. A broken one is left out with a warning."""
    return MappingProxyType(load_all(GROUP, kind=InstalledContest))


def installed_contest(name: str) -> InstalledContest:
    """The installed contest of that name. Raises UnknownNameError, which says what to install, and
    UsageError for one that is installed but broken."""
    installed = installed_contests()
    if name not in installed:
        raise missing_error("contest", name, group=GROUP, packages=PACKAGES)
    return installed[name]


def load_contest(name: str, options: Mapping[str, str] | None = None) -> Contest:
    """A contest with its settings; `options` are `key=value` pairs of the command line, `folder`
    among them for a contest of one's own.

    Raises UnknownNameError for another name, UsageError for an option that it does not have, or
    for a folder that holds another contest.
    """
    installed = installed_contests()
    if name in installed:
        return installed[name].load(dict(options or {}))
    if _FOLDER in (options or {}):
        return _load_folder(name, dict(options or {}))
    for contest, one in installed.items():
        if name in one.tracks:
            raise UsageError(f"{name} is a track: {contest} --option track={name}")
    raise missing_error("contest", name, group=GROUP, packages=PACKAGES)


def _load_folder(name: str, options: dict[str, str]) -> Contest:
    # late, as the other contests are
    kind = "own" if (Path(options[_FOLDER]) / "contest.toml").is_file() else "harbor"
    module = importlib.import_module(f"unhack.tournament.contests.{kind}.contest")
    if kind == "harbor" and not module.is_harbor(Path(options[_FOLDER])):
        module = importlib.import_module("unhack.tournament.contests.own.contest")
    found: Contest = module.load(options, taken=tuple(installed_contests()))
    if name and found.name != name:
        raise UsageError(f"{options[_FOLDER]} holds the contest {found.name!r}, not {name!r}")
    return found
