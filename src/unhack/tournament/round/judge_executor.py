"""Judges of frozen submissions, in this process or on nodes of a cluster.

    judges = RemoteJudges(RemoteCalls(), archive.settings, contest)

Covered: another machine loads the contest by its name and options, and refuses to judge unless its
rules, sources and data are those of the tournament; it gets the files, checks that they are the
frozen ones, and gives back what `judge` says. What is judged again because a machine was lost has
the same seeds, so it comes to the same, but for time. A contest that needs a card is judged where
Ray gives one, which has to be of the tournament's kind, while the agents on that machine stand
still if it measures time.
Not covered: contests that measure the processors' time, which are refused: times of different
machines say nothing about each other. Files that an option names, such as a model, must lie at that
path everywhere.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol, Unpack

from unhack.core.errors import SandboxError, UsageError
from unhack.tasks.execution.ray.remote_calls import NodeClaim, RemoteCalls
from unhack.tournament.contest import (
    Contest,
    DataPool,
    Files,
    Measurement,
    NeedsCard,
    Terms,
    agents_card,
    in_round,
)
from unhack.tournament.contests.registry import load_contest
from unhack.tournament.judging.judge import (
    JudgingInputs,
    Known,
    Seeds,
    SubmissionJudgement,
    confirm,
    judge,
)
from unhack.tournament.judging.submission import contents, inspect, write_files
from unhack.tournament.record.records import TournamentSettings
from unhack.tournament.record.settings import check_same


class JudgeExecutor(Protocol):
    """Judges frozen submissions; several threads may ask at once."""

    def judge(
        self, contest: Contest, folder: Path, **given: Unpack[JudgingInputs]
    ) -> SubmissionJudgement:
        """See `judging.judge.judge`."""
        ...

    def confirm(self, contest: Contest, folder: Path, *, seed: int, terms: Terms) -> Measurement:
        """See `judging.judge.confirm`."""
        ...

    @property
    def is_local(self) -> bool:
        """True where it judges on this machine, which a contest that measures time has to have for
        itself."""
        ...

    def agents_card(self, contest: Contest) -> str:
        """The card of this machine that agents are given; empty for none."""
        ...


class LocalJudges:
    """Judges in this process."""

    is_local = True
    judge = staticmethod(judge)
    confirm = staticmethod(confirm)
    agents_card = staticmethod(agents_card)


LOCAL_JUDGES = LocalJudges()


def check_here(contest: Contest, folder: Path, *, seed: int) -> Measurement:
    """An agent's measurement on development data, in this process; `contest` is that of the round.
    Raises what `Contest.measure` does."""
    return contest.measure(folder, pool=DataPool.DEV, seed=seed)


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A submission on its way to another machine."""

    settings: TournamentSettings
    digest: str
    files: Files
    seeds: Seeds
    terms: Terms
    parents: tuple[Files, ...]
    tainted: tuple[Files, ...]


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """A champion on its way there, or what an agent wants to know of its work."""

    settings: TournamentSettings
    digest: str
    files: Files
    seed: int
    terms: Terms


def measure_request(
    settings: TournamentSettings, contest: Contest, folder: Path, *, seed: int, terms: Terms
) -> MeasureRequest:
    """The request to measure a frozen folder."""
    return MeasureRequest(settings, inspect(folder, contest).digest, contents(folder), seed, terms)


def check_movable(contest: Contest) -> None:
    """Raise UsageError for a contest that only one machine can judge."""
    if contest.exclusive and not isinstance(contest, NeedsCard):
        raise UsageError(
            f"{contest.name} measures time, and times of different machines cannot be compared; "
            "judge it here, without --executor, on a machine with nothing else on it"
        )


def measuring_claim(contest: Contest) -> NodeClaim:
    """The part of a node that a measurement of this contest has."""
    if not isinstance(contest, NeedsCard):
        return NodeClaim.CORE
    return NodeClaim.QUIET_CARD if contest.exclusive else NodeClaim.CARD


class RemoteJudges:
    """Judges on nodes of a cluster. Raises UsageError for a contest that measures the
    processors' time."""

    def __init__(self, calls: RemoteCalls, settings: TournamentSettings, contest: Contest) -> None:
        check_movable(contest)
        self._calls = calls
        self._settings = settings
        self._claim = measuring_claim(contest)

    is_local = False

    def agents_card(self, contest: Contest) -> str:
        """See `JudgeExecutor`: agents have a card where they play."""
        del contest
        return ""

    def judge(
        self, contest: Contest, folder: Path, **given: Unpack[JudgingInputs]
    ) -> SubmissionJudgement:
        """See `JudgeExecutor`. Raises SandboxError with the name of a node that cannot judge it."""
        frozen = inspect(folder, contest)
        if frozen.problem or frozen.declined or given.get("measured_before") is not None:
            return judge(contest, folder, **given)  # it measures nothing
        known = given["known"]
        parents, tainted = (tuple(map(contents, paths)) for paths in (known.parents, known.tainted))
        files, seeds, terms = contents(folder), given["seeds"], given["terms"]
        request = JudgeRequest(self._settings, frozen.digest, files, seeds, terms, parents, tainted)
        return self._calls.run(judge_request, request, claim=self._claim)

    def confirm(self, contest: Contest, folder: Path, *, seed: int, terms: Terms) -> Measurement:
        """See `JudgeExecutor`. Raises SandboxError with the name of a node that cannot judge it."""
        request = measure_request(self._settings, contest, folder, seed=seed, terms=terms)
        return self._calls.run(confirm_request, request, claim=self._claim)


def judge_request(request: JudgeRequest) -> SubmissionJudgement:
    """Judge a submission that another machine froze. Raises SandboxError, UsageError."""
    contest = contest_of(request.settings)
    with tempfile.TemporaryDirectory(prefix="unhack-judge-") as room:
        folder = _frozen(contest, request.files, Path(room) / "submission", digest=request.digest)
        known = Known(
            _laid(request.parents, Path(room) / "parents"),
            _laid(request.tainted, Path(room) / "tainted"),
        )
        return judge(contest, folder, seeds=request.seeds, terms=request.terms, known=known)


def confirm_request(request: MeasureRequest) -> Measurement:
    """Measure a champion that another machine froze. Raises SandboxError, UsageError."""
    with _laid_out(request) as (contest, folder):
        return confirm(contest, folder, seed=request.seed, terms=request.terms)


def check_request(request: MeasureRequest) -> Measurement:
    """Measure on development data. Raises SandboxError, UsageError."""
    with _laid_out(request) as (contest, folder):
        played = in_round(contest, request.terms)
        return check_here(played, folder, seed=request.seed)


def check_card_request(contest: tuple[str, Mapping[str, str]]) -> None:
    """Load a contest by name and options, and see that this machine's card can measure it. Raises
    UsageError, SandboxUnavailableError."""
    name, options = contest
    found = load_contest(name, options)
    assert isinstance(found, NeedsCard)
    found.check_card()


@contextlib.contextmanager
def _laid_out(request: MeasureRequest) -> Generator[tuple[Contest, Path]]:
    contest = contest_of(request.settings)
    with tempfile.TemporaryDirectory(prefix="unhack-judge-") as room:
        yield (
            contest,
            _frozen(contest, request.files, Path(room) / "submission", digest=request.digest),
        )


def contest_of(settings: TournamentSettings) -> Contest:
    """The contest of these settings, loaded once. Raises UsageError where its rules differ here."""
    contest = _loaded(settings.contest, tuple(sorted(settings.options.items())))
    check_same(settings, contest)
    return contest


@lru_cache(maxsize=2)
def _loaded(name: str, options: Sequence[tuple[str, str]]) -> Contest:
    return load_contest(name, dict(options))


def _frozen(contest: Contest, files: Files, folder: Path, *, digest: str) -> Path:
    """The folder of a submission whose files are those that were frozen. Raises SandboxError."""
    write_files(files, folder)
    found = inspect(folder, contest)
    if found.digest != digest:
        raise SandboxError(f"the submission {digest[:12]} arrived as {found.digest[:12]}")
    return folder


def _laid(every: Sequence[Files], room: Path) -> tuple[Path, ...]:
    folders = tuple(room / str(number) for number in range(len(every)))
    for files, folder in zip(every, folders, strict=True):
        write_files(files, folder)
    return folders
