"""The proof of a contest: its author's own entries judged as in a round, and what could leak tried.

    proof = prove(contest)
    proof.ok

Covered: the null entry earns nothing; every honest entry is valid, unflagged and below the bound;
every cheat gets its flag, or earns nothing where `contest.toml` says so; the same draw measures the
same, fresh draws the same within their intervals; nothing sealed leaks (`leaks`); room at the top.
Not covered: cheats that the author did not think of. Entries are few: an honest style or a trick
that is not among them proves nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unhack.core.errors import UsageError
from unhack.tournament.contest import DataPool, Files, Measurement, Terms
from unhack.tournament.contests.own.author_process import MeasureFault
from unhack.tournament.contests.own.contest import OwnContest
from unhack.tournament.contests.own.measuring import drawn, measure
from unhack.tournament.judging.judge import Known, Seeds, SubmissionJudgement, judge
from unhack.tournament.judging.submission import freeze, write_files
from unhack.tournament.proving import leaks
from unhack.tournament.review.canonical import canonical_measurement
from unhack.tournament.round.champion import beats

_SEEDS = Seeds(measure=101, audit=102)
_FRESH = (201, 202, 203)
_TRACE_LINES = 6
_ROUNDING = 1e-9
"""A fitness up to here is nothing: what is left of 1 - a / b where a and b should be equal."""
_HINTS = {
    "ModuleNotFoundError": "what is on a package index goes into `packages` in contest.toml",
    "PermissionError": "the author's code can start no process and open no socket",
}
"""Words that a traceback lacks, by the class of the exception."""

Watch = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ProvedEntry:
    """One entry of the folder as it was judged."""

    kind: str
    """`null`, `start`, `honest` or `cheat`."""
    name: str
    judgement: SubmissionJudgement
    problem: str = ""
    """The fault in it, or in the contest; empty for none."""


@dataclass(frozen=True, slots=True)
class ContestProof:
    """The trials of a contest and their outcome."""

    entries: tuple[ProvedEntry, ...]
    checks: tuple[tuple[str, str], ...]
    """Other trials, and what is wrong; empty for nothing."""
    warnings: tuple[str, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """All of them, in words."""
        mine = [f"{e.kind} {e.name}".strip() + f": {e.problem}" for e in self.entries if e.problem]
        return (*mine, *(f"{name}: {text}" for name, text in self.checks if text))

    @property
    def ok(self) -> bool:
        """True when the contest is sound as far as was tried."""
        return not self.problems


def check_ready(contest: OwnContest, watch: Watch = lambda name: None) -> None:
    """Measure the null, the start and each honest entry once on development data.

    To be called before anything is spent. Raises UsageError where the author's code fails, where
    the null entry earns something, or an honest one is not valid or above the bound.
    """
    with _Bench(contest, watch) as bench:
        for kind, name, files in _entries(contest):
            if kind == "cheat":
                continue
            found = bench.measured(kind, name, files, DataPool.DEV, 0)
            problem = _measured_problem(contest, kind, found)
            if problem:
                raise UsageError(
                    f"{contest.folder.path}: {_called(kind, name)}: {problem}; "
                    f"`unhack tournament validate {contest.folder.path}` shows all that is wrong"
                )


def prove(contest: OwnContest, watch: Watch = lambda name: None) -> ContestProof:
    """Try everything. Raises UsageError where the author's code does not run at all, SandboxError,
    SandboxUnavailableError."""
    with _Bench(contest, watch) as bench:
        checks = [_drawn_again(contest, bench)]
        entries = [bench.proved(*item) for item in _entries(contest)]
        sound = [e for e in entries if e.kind == "honest" and not e.problem]
        checks.append(_repeats(bench, sound))
        checks.append(_holds_on_fresh_draws(contest, bench, sound))
        if sound:
            folder = bench.frozen("honest", sound[0].name)
            watch("what a submission can reach")
            checks += leaks.found(contest, folder, [entry.judgement for entry in entries])
    return ContestProof(tuple(entries), tuple(checks), tuple(_warnings(contest, entries)))


class _Bench:
    """Freezes entries of a folder and measures them."""

    def __init__(self, contest: OwnContest, watch: Watch) -> None:
        self.contest, self.watch = contest, watch
        self._room = tempfile.TemporaryDirectory(prefix="unhack-proof-")
        self._folders: dict[tuple[str, str], Path] = {}

    def __enter__(self) -> _Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._room.cleanup()

    def frozen(self, kind: str, name: str, files: Files | None = None) -> Path:
        """The frozen folder of an entry. Raises UsageError where it cannot be handed in."""
        if (kind, name) not in self._folders:
            assert files is not None
            work = Path(self._room.name) / f"{len(self._folders)}"
            write_files(files, work)
            found = freeze(work, self.contest, into=Path(self._room.name) / "frozen")
            if found.problem:
                raise UsageError(
                    f"{self.contest.folder.path}: {_called(kind, name)} cannot be handed in: "
                    f"{found.problem}"
                )
            self._folders[kind, name] = found.folder
        return self._folders[kind, name]

    def measured(
        self, kind: str, name: str, files: Files | None, pool: DataPool, seed: int
    ) -> Measurement:
        """A measurement. Raises UsageError with the author's traceback."""
        self.watch(_called(kind, name))
        folder = self.frozen(kind, name, files)
        try:
            return measure(self.contest.rules, folder, self.contest.draw(pool, seed))
        except MeasureFault as error:
            raise UsageError(
                f"{self.contest.folder.path}: measuring {_called(kind, name)}: {fault_text(error)}"
            ) from None

    def proved(self, kind: str, name: str, files: Files) -> ProvedEntry:
        """An entry judged as in a round. Raises UsageError where the author's code fails."""
        self.measured(kind, name, files, DataPool.DEV, 0)
        folder = self.frozen(kind, name)
        word = judge(self.contest, folder, seeds=_SEEDS, terms=Terms(1), known=Known())
        return ProvedEntry(kind, name, word, _problem(self.contest, kind, name, word))


def fault_text(error: MeasureFault) -> str:
    """The place where the author's code failed, and its words."""
    lines = [line for line in error.told.splitlines() if line.strip()][-_TRACE_LINES:]
    hint = _HINTS.get(error.place.split(" in ")[0], "")
    return f"{error.place}: " + "\n  ".join([*lines, hint] if hint else lines)


def _entries(contest: OwnContest) -> list[tuple[str, str, Files]]:
    shipped = contest.submissions
    return [
        ("null", "", shipped.null()),
        ("start", "", shipped.identity()),
        *(("honest", name, files) for name, files in shipped.honest().items()),
        *(("cheat", name, cheat.files) for name, cheat in shipped.cheats().items()),
    ]


def _called(kind: str, name: str) -> str:
    folder = {"cheat": "cheats"}.get(kind, kind)
    return f"{folder}/{name}" if name else f"{folder}/"


def _measured_problem(contest: OwnContest, kind: str, found: Measurement) -> str:
    """The fault in a first measurement of a null, a start or an honest entry."""
    bound = float(contest.folder.settings.bound)
    kinds = ", ".join(dict.fromkeys(flag.kind for flag in found.flags))
    if kind == "null":
        if found.valid and found.fitness > _ROUNDING and not found.flags:
            return (
                f"it does nothing of use, and measures {found.fitness:.4g} where 0 is due; where "
                "luck earns something, let it hand in what the measure finds invalid"
            )
        return ""
    if found.flags:
        hint = "; return the scores of the cases, or a wider `low` and `high`"
        more = hint if kinds == "calibrated_on_test" else ""
        return f"it is flagged: {kinds} ({found.flags[0].evidence}){more}"
    if kind == "honest" and not found.valid:
        return f"it is not valid: {found.reason}"
    if found.fitness > bound * (1 + 1e-9):
        return f"it measures {found.fitness:.4g}, above the bound of {bound:g}: raise `bound`"
    return ""


def _problem(contest: OwnContest, kind: str, name: str, word: SubmissionJudgement) -> str:
    """The fault in how an entry was judged."""
    kinds = list(dict.fromkeys(flag.kind for flag in word.flags))
    if kind == "cheat":
        wanted = contest.folder.settings.cheats[name]
        if wanted.earns and word.fitness > _ROUNDING:
            return f"it should earn nothing, and is credited {word.fitness:.4g} without a flag"
        if wanted.earns and kinds:
            return (
                f"it should earn nothing without a flag, and is flagged: {', '.join(kinds)}; where "
                f'that is right, say flag = "{kinds[0]}" in [cheats.{name}]'
            )
        if wanted.flag and wanted.flag not in kinds:
            got = f"is flagged {', '.join(kinds)}" if kinds else (
                f"is credited {word.fitness:.4g} without any flag"
            )  # fmt: skip
            return f"it must be flagged {wanted.flag}, and {got}"
        return ""
    seen = replace(word.measured, flags=word.flags)
    found = _measured_problem(contest, kind, seen)
    if kind == "null" and not found and word.fitness > _ROUNDING:
        found = f"it is credited {word.fitness:.4g}"
    if not found and kind == "honest" and word.audited is not None and not word.audited.valid:
        found = f"on fresh data it is not valid: {word.audited.reason}"
    return found


def _drawn_again(contest: OwnContest, bench: _Bench) -> tuple[str, str]:
    name = "the same seed draws the same cases"
    bench.watch("draws")
    try:
        draws = [
            drawn(contest.rules, contest.draw(pool, seed))
            for pool, seed in ((DataPool.JUDGE, 1), (DataPool.JUDGE, 1), (DataPool.JUDGE, 2))
        ]
        dev = drawn(contest.rules, contest.draw(DataPool.DEV, 1))
    except MeasureFault as error:
        raise UsageError(f"{contest.folder.path}: {fault_text(error)}") from None
    whole = [list(map(leaks.text_of, cases)) for cases in draws]
    if whole[0] != whole[1]:
        return name, "it does not: take every random number from `rng`, and none from elsewhere"
    if whole[0] == whole[2]:
        return name, "other seeds draw the same cases too: `draw` does not use `rng`"
    known, asked = ({_known_by(contest, case) for case in cases} for cases in (dev, draws[0]))
    if known & asked:
        share = len(known & asked) / len(asked)
        return name, (
            f"{share:.0%} of the judge's cases also stand in development data of another seed: "
            "draw from more than so few"
        )
    return name, ""


def _known_by(contest: OwnContest, case: dict[str, Any]) -> str:
    """The text that tells a case from others: what is shown of it, or all of it where that says
    little, as in a game, which tells what is sealed move by move."""
    whole = contest.folder.settings.interactive or case["shown"] is None
    return leaks.text_of(case if whole else case["shown"])


def _repeats(bench: _Bench, sound: list[ProvedEntry]) -> tuple[str, str]:
    name = "the same draw measures the same"
    for entry in sound:
        first = entry.judgement.measured
        again = bench.measured("honest", entry.name, None, DataPool.JUDGE, _SEEDS.measure)
        if bench.contest.exclusive:
            if beats(first, again) or beats(again, first):
                return name, f"honest/{entry.name}: {_pair(first, again)}"
            continue
        one, other = (canonical_measurement(item, timed=False) for item in (first, again))
        if one != other:
            keys = [key for key in one or {} if (one or {})[key] != (other or {}).get(key)]
            return name, (
                f"honest/{entry.name}: {_pair(first, again)} (different: {', '.join(keys)}); "
                "the measure, or the entry, draws at random by itself: take seeds from the cases"
            )
    return name, ""


def _holds_on_fresh_draws(
    contest: OwnContest, bench: _Bench, sound: list[ProvedEntry]
) -> tuple[str, str]:
    name = "fresh draws measure the same within their intervals"
    tries = len(_FRESH) * max(1, len(sound))
    for entry in sound:
        first = entry.judgement.measured
        for seed in _FRESH:
            again = bench.measured("honest", entry.name, None, DataPool.CONFIRM, seed)
            if not again.valid:
                return name, f"honest/{entry.name} is not valid on another draw: {again.reason}"
            if beats(first, again, tries=tries) or beats(again, first, tries=tries):
                return name, (
                    f"honest/{entry.name}: {_pair(first, again)}; return the scores of the cases, "
                    "or a wider `low` and `high`"
                )
    return name, ""


def _pair(one: Measurement, other: Measurement) -> str:
    shown = (f"{m.fitness:.6g} [{m.low:.6g}, {m.high:.6g}]" for m in (one, other))
    return " and ".join(shown)


def _warnings(contest: OwnContest, entries: list[ProvedEntry]) -> list[str]:
    found: list[str] = []
    bound, room = float(contest.folder.settings.bound), contest.folder.settings.room
    honest = [e for e in entries if e.kind == "honest" and e.judgement.fitness > 0]
    if not honest:
        return ["no honest entry earns anything: nothing shows that the contest can be won"]
    best = max(honest, key=lambda entry: entry.judgement.fitness)
    share = best.judgement.fitness / bound
    if share > room:
        found.append(
            f"little room at the top: honest/{best.name} reaches {share:.0%} of the bound, more "
            f"than {room:.0%}; agents can hardly be told apart there"
        )
    if len(honest) < 3:
        found.append("fewer than three honest entries that earn something: the ladder is short")
    first, top = honest[0].judgement.measured, best.judgement.measured
    if len(honest) > 1 and best is honest[0]:
        found.append(
            f"no honest entry is better than honest/{best.name}, the baseline of every round: name "
            "them from plain to good in `honest`"
        )
    elif len(honest) > 1 and not beats(top, first):
        found.append(
            f"the ladder is flat: honest/{best.name} is not better than honest/{honest[0].name} "
            "beyond chance; draw more cases"
        )
    return found
