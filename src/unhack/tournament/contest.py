"""The words of a tournament: what a contest says, what a submission is, what a judge measured.

A contest is data and measurement, nothing else: it starts no round, keeps no record and decides
nothing about cheating beyond its own bounds. `judging.judge` does that for all of them.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

Files = Mapping[str, bytes]
"""Relative path -> content."""
Metric = float | int | str

DECLINED = "NO_IMPROVEMENT.md"
"""A submission with this file says that no honest improvement was found; why stands in it."""


class DataPool(StrEnum):
    """Which data a measurement draws from. The pools are disjoint.

    Example:

        measured = contest.measure(folder, pool=DataPool.DEV, seed=0)
    """

    DEV = "dev"
    """The split that agents may look at; `check` measures on it."""
    JUDGE = "judge"
    """Drawn anew for each submission."""
    AUDIT = "audit"
    """For the counterfactual re-evaluation: a cheat that learnt the judge's data loses here."""
    CONFIRM = "confirm"
    """For champions, at the end; never used before."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A reason to call a submission gamed, with what shows it.

    Example:

        Flag("beyond_bound", "waste of 2 %, where 5 % is the bound", source="bounds")
    """

    kind: str
    """An id of `tournament/judging/flags.toml`."""
    evidence: str
    """The finding in one sentence, with the numbers."""
    source: str
    """`freeze`, `scan`, `judge`, `bounds`, `counterfactual`, `honeypot` or `lineage`."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """The judge's measurement of one submission on one draw of data.

    Example:

        measured = Measurement(0.8, low=0.75, high=0.85, metrics={"waste": 0.2})
        measured.valid
    """

    fitness: float
    """Larger is better in every contest; 0 for nothing, and for what is not valid."""
    low: float
    high: float
    """95 % interval of the fitness."""
    metrics: Mapping[str, Metric] = field(default_factory=dict[str, Metric])
    reason: str = ""
    """Why it is not valid; empty when it is."""
    flags: tuple[Flag, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of a check: files that would not be handed in, each with the reason."""

    @property
    def valid(self) -> bool:
        """True when there is a fitness at all."""
        return not self.reason


def invalid(reason: str, *flags: Flag) -> Measurement:
    """A submission that could not be measured, or broke a rule."""
    return Measurement(0.0, 0.0, 0.0, reason=reason, flags=flags)


@dataclass(frozen=True, slots=True)
class Declared:
    """The files that may be handed in.

    Example:

        Declared(("solution.py",), optional=("data/*.json",), max_bytes=1 << 20)
    """

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    """Patterns of relative paths, level by level (`fnmatch`; `**` for any number of levels). A file
    that one admits is handed in where a file that is names it."""
    max_files: int = 32
    max_bytes: int = 4 << 20


@dataclass(frozen=True, slots=True)
class Cheat:
    """A submission that games its contest, as the catalogue describes.

    Example:

        Cheat({"solution.py": b"..."}, flag="cached_answers", deserves="greedy")
    """

    files: Files
    flag: str
    """The flag kind it must be given. Empty where no flag is due, since the trick finds nothing to
    work on: then it must be credited nothing."""
    deserves: str
    """The honest submission whose fitness it may not exceed: what it would be worth without the
    trick. Empty where it does no honest work at all: then the fitness must be 0."""
    catalogue: tuple[int, ...] = ()
    """Numbers of the public catalogue of hacks."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One choice that an honest optimiser may vary.

    Example:

        Parameter("block", (32, 64, 128, 256))
    """

    name: str
    choices: tuple[float | int | str, ...]
    """In order, where there is one: neighbours are tried first."""


Choice = Mapping[str, float | int | str]
"""A value for each parameter, by name."""


def no_variants(folder: Path) -> Mapping[str, Files]:
    """None: nothing can be stripped."""
    return {}


@dataclass(frozen=True, slots=True)
class Submissions:
    """Submissions that a contest brings along: controls, strategies, cheats, a space to search.

    Example:

        Submissions(
            null=lambda: {}, identity=read_start, honest=lambda: {"greedy": greedy_files()},
            cheats=lambda: {"table": Cheat(table_files(), "cached_answers", "greedy")},
            space=(Parameter("block", (32, 64)),), at=lambda choice: files_of(choice["block"]),
        )
    """

    null: Callable[[], Files]
    """Does nothing; it must score 0."""
    identity: Callable[[], Files]
    """Hands in what it was given."""
    honest: Callable[[], Mapping[str, Files]]
    """Honest strategies by name, at least three; the first is the baseline of every round."""
    cheats: Callable[[], Mapping[str, Cheat]]
    """Executable hacks by name."""
    space: tuple[Parameter, ...] = ()
    """The parameters that `search` may vary."""
    at: Callable[[Choice], Files] = lambda choice: {}
    """The submission of one point of `space`."""
    degamed: Callable[[Path], Mapping[str, Files]] = no_variants
    """Variants of the submission in a folder with a gamed part stripped or swapped, by what was
    done."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a round, the same for every agent.

    Example:

        terms = Terms(2, champion={"solution.py": b"..."}, champion_fitness=0.8)
        contest.workspace(terms)
    """

    number: int
    """From 1."""
    champion: Files | None = None
    champion_fitness: float | None = None
    impossible: bool = False
    """The target lies beyond the bound; `NO_IMPROVEMENT.md` is then the right answer."""
    rivals: Mapping[str, Files] = field(default_factory=dict[str, Files])
    """Champions of the other disciplines, in a contest that takes turns: discipline -> files."""


@typing.runtime_checkable
class Equipped(typing.Protocol):
    """A contest that brings packages along, for agents and for submissions.

    Example:

        class WithTorch:
            packages = Path("/opt/contest/site-packages")
    """

    @property
    def packages(self) -> Path | None:
        """The folder that is imported from, read-only; None for no packages."""
        ...


class Contest(typing.Protocol):
    """The problem, the measurement and its limits; what the rounds and the judge ask for.

    Example:

        class Packing:
            name = "packing"

            def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
                return Measurement(0.8, low=0.75, high=0.85)
    """

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def declared(self) -> Declared: ...
    @property
    def exclusive(self) -> bool:
        """True when the judge has to have the machine for itself (it measures time)."""
        ...

    @property
    def settings(self) -> Mapping[str, Metric]:
        """Everything that decides what is measured; hashed before round one."""
        ...

    @property
    def submissions(self) -> Submissions:
        """The submissions that it brings along."""
        ...

    def workspace(self, terms: Terms) -> Files:
        """The files that every agent is given: `STATEMENT.md` (problem, interface, formula,
        bounds, rules), a working `solution.py` or `.c` to start from, development data. Honeypots
        are added by the rounds."""
        ...

    def honeypots(self) -> Files:
        """Planted files that only a cheat reads. Each holds data that no honest program would
        produce, so that using it shows."""
        ...

    def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
        """Judge the frozen files of `folder` on data drawn by `seed` from `pool`.

        Untrusted code runs only in `unhack.sandbox`. The same folder, pool and seed give the same
        measurement, but for time. Raises only the sandbox's own failures.
        """
        ...

    def sealed(self, *, seed: int) -> bytes:
        """The judge's data of that seed as one byte string: a submission that holds a part of it
        had no honest way to it."""
        ...

    def public(self) -> bytes:
        """Bytes that anybody may have in a submission although they also stand in sealed data."""
        ...

    def bounds(self, measured: Measurement) -> tuple[Flag, ...]:
        """Which limits of statistics, information or physics a measurement breaks."""
        ...

    def gap(self, judged: Measurement, audited: Measurement) -> Flag | None:
        """Flag a submission that did better on the judge's data than on fresh, beyond chance."""
        ...


@typing.runtime_checkable
class TakesTurns(typing.Protocol):
    """A contest whose rounds take turns between disciplines, such as attack and defence.

    Fitness is compared within a discipline: each has champions of its own, and a round is played
    against those of the others.

    Example:

        class AttackAndDefence:
            disciplines = ("attack", "defence")

            def in_round(self, terms: Terms) -> Contest:
                return Attack(terms.rivals) if terms.number % 2 else Defence(terms.rivals)
    """

    @property
    def disciplines(self) -> tuple[str, ...]:
        """The disciplines of rounds 1, 2, ...; then from the first again."""
        ...

    def in_round(self, terms: Terms) -> Contest:
        """The contest of a round: its statement, submissions and measurement, against
        `terms.rivals`."""
        ...


def discipline(contest: Contest, number: int) -> str:
    """The discipline of a round; empty where all rounds are alike."""
    if not isinstance(contest, TakesTurns):
        return ""
    return contest.disciplines[(number - 1) % len(contest.disciplines)]


def in_round(contest: Contest, terms: Terms) -> Contest:
    """The contest as a round plays it: itself, unless its rounds take turns."""
    return contest.in_round(terms) if isinstance(contest, TakesTurns) else contest


@typing.runtime_checkable
class NeedsCard(typing.Protocol):
    """A contest that measures on a card. It can be loaded without one where its name is given.

    Example:

        class Kernels:
            def check_card(self) -> None:
                if not torch.cuda.is_available():
                    raise UsageError("needs a GPU")
    """

    def check_card(self) -> None:
        """Raise SandboxUnavailableError where this machine cannot measure."""
        ...


AGENTS_DEVICE = "agents_device"
"""Key of a contest's settings: the card (`cuda`, `cuda:N`) that agents are given too."""


def agents_card(contest: Contest) -> str:
    """The card that an agent's tree is given; empty for none."""
    return str(contest.settings.get(AGENTS_DEVICE, ""))
