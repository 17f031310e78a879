"""The secrets of a contest that a submission or an agent can get: tried for real.

    checks = found(contest, frozen_honest_entry, judgements)

A spy is put into an honest entry and measured like one: it searches its process, every file that it
can open, its memory and its descriptors for marks that were planted in the author's files. The same
entry is measured with the sealed parts of the cases exchanged: what crosses to it must not change.

Covered: the author's files and sealed values, in a submission's process, in what it is asked, in
what agents are given, and in the words of a measurement.
Not covered: values that can be worked out from what is shown; what a metric tells bit by bit (it is
measured on development data, and at most 32 are shown).
"""

from __future__ import annotations

import contextlib
import secrets
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import UsageError
from unhack.sandbox.guest.candidate import frames
from unhack.sandbox.submission.compute import Computer, SubmissionError
from unhack.tournament.contest import DataPool, Measurement, Terms
from unhack.tournament.contests.own.author_process import MeasureFault
from unhack.tournament.contests.own.contest import OwnContest, as_json, renderings, values_in
from unhack.tournament.contests.own.measuring import drawn, measure
from unhack.tournament.contests.own.staging import Staging, lay
from unhack.tournament.judging.judge import SubmissionJudgement
from unhack.tournament.judging.submission import contents
from unhack.tournament.scan.reading.texts import texts
from unhack.tournament.scan.signs.spans import shared

_HEAD = "unhack-mark-"
_SEED = 301
_PROBE_S = 60.0
_LINE = 20
"""Letters of a line that tells whose it is."""
_LINES = 3
_SHARE = 0.3
_LONG = 6
"""Letters of a sealed text that chance does not write."""


def found(
    contest: OwnContest, entry: Path, judgements: Sequence[SubmissionJudgement]
) -> list[tuple[str, str]]:
    """Each thing that was tried, and what is wrong with it; empty for nothing.

    `entry` is a frozen honest entry. Raises the sandbox's own failures.
    """
    measured = [item for word in judgements for item in (word.measured, word.audited) if item]
    checks = [
        ("nothing sealed is in a submission's process", _spied(contest, entry)),
        ("nothing sealed crosses to a submission", _passed_on(contest, entry)),
        ("nothing sealed is given to agents", _given(contest)),
        ("nothing sealed is told by a measurement", _told(contest, measured)),
    ]
    return checks


def text_of(value: Any) -> str:
    """A value as text that is the same for equal values."""
    return repr(as_json(value))


def _spied(contest: OwnContest, entry: Path) -> str:
    """The finds of a spy in an honest entry's process."""
    mains = [name for name in contest.declared.required if name.endswith(".py")]
    if not mains:
        return ""
    mark = secrets.token_hex(16)
    spy = (resources.files("unhack.tournament.contests.own.inside") / "spy.py").read_bytes()
    files = contents(entry)
    files[mains[0]] += b"\n\nfrom unhack_spy import unhack_probe\n"
    files["unhack_spy.py"] = spy
    reports: list[Any] = []

    def ask(computer: Computer) -> None:
        reports.append(computer.call("unhack_probe", _HEAD, timeout_s=_PROBE_S))

    marked = Staging(_marked(contest, mark), main=mains[0])
    rules = replace(contest.rules, staging=marked)
    with tempfile.TemporaryDirectory(prefix="unhack-spy-") as room:
        Path(room).chmod(0o755)
        folder = lay(files, Path(room) / "entry")
        try:
            measure(rules, folder, contest.draw(DataPool.JUDGE, _SEED), after=ask)
        except (MeasureFault, SubmissionError) as error:
            return f"the spy could not be measured: {error}"
        finally:
            marked.close()
    if not reports:
        return "" if not _asks(contest, entry) else "the spy was never asked"
    return _report(reports[0], mark)


def _marked(contest: OwnContest, mark: str) -> dict[str, bytes]:
    """The author's files with a mark in each that may hold one, and one file that is nothing but a
    mark."""
    line = f"{_HEAD}{mark}".encode()
    marked = {
        name: data + b"\n# " + line + b"\n" if name.endswith((".py", ".toml")) else data
        for name, data in contest.folder.files.items()
    }
    return {**marked, "unhack-mark.txt": line}


def _asks(contest: OwnContest, entry: Path) -> bool:
    """True when the measure calls the submission at all."""
    return bool(_calls(contest, entry, turn=0))


def _report(report: Any, mark: str) -> str:
    if not isinstance(report, dict):
        return "the spy answered what is no report"
    fields = cast("dict[str, Any]", report)
    places = [place for place, digits in fields.get("marks", []) if digits == mark]
    if places:
        return f"the author's files can be read in a submission's process: {places[0]}"
    author = [path for path in fields.get("files", {}) if path.startswith("/contest/")]
    return f"{author[0]} can be opened in a submission's process" if author else ""


def _passed_on(contest: OwnContest, entry: Path) -> str:
    """Tell whether what an entry is asked changes with what is sealed."""
    if contest.folder.settings.interactive:
        return ""
    plain = _calls(contest, entry, turn=0)
    other = _calls(contest, entry, turn=1)
    for number, (one, two) in enumerate(zip(plain, other, strict=False), start=1):
        if one != two:
            if _calls(contest, entry, turn=0)[: len(plain)] != plain:
                return ""  # the entry itself draws at random; what it is asked next differs anyway
            return (
                f"call {number} of {one[0]}() is another when the sealed parts of the cases are "
                'exchanged: pass on case["shown"] only (or set interactive = true, where the '
                "contest is to answer by what is sealed)"
            )
    return ""


def _calls(contest: OwnContest, entry: Path, *, turn: int) -> list[tuple[str, bytes]]:
    """The calls that cross to an entry."""
    calls: list[tuple[str, bytes]] = []

    def watch(name: str, args: Any) -> None:
        calls.append((name, b"".join(frames.encode(args))))

    draw = contest.draw(DataPool.JUDGE, _SEED)
    with contextlib.suppress(MeasureFault):  # exchanged parts may contradict what a measure knows
        measure(contest.rules, entry, draw, turn=turn, watch=watch)
    return calls


def _given(contest: OwnContest) -> str:
    """Parts of the author's files or of the judge's cases in a fresh workspace."""
    files = {**contest.honeypots(), **contest.workspace(Terms(1))}
    for name, data in _secrets(contest).items():
        lines = {line.strip() for line in data.decode(errors="replace").splitlines()}
        telling = {line for line in lines if len(line) >= _LINE}
        for given, content in files.items():
            seen = {line.strip() for line in content.decode(errors="replace").splitlines()}
            both = telling & seen
            if len(both) >= _LINES and len(both) > _SHARE * len(telling):
                return f"{given} holds {len(both)} of {len(telling)} lines of {name}"
    cases = drawn(contest.rules, contest.draw(DataPool.JUDGE, _SEED))
    sealed = renderings([{"sealed": case["sealed"]} for case in cases])
    for hit in shared(texts(files, {}), sealed, contest.public()):
        text = hit.content[:60].decode(errors="replace")
        return f"{hit.text.path} holds {len(hit.content)} bytes of the judge's cases: {text!r}"
    return ""


def _secrets(contest: OwnContest) -> dict[str, bytes]:
    """The author's files that are no entries."""
    parts = ("honest", "cheats", "null", "contest.toml")
    return {name: data for name, data in contest.folder.hidden.items()
            if name.split("/")[0] not in parts}  # fmt: skip


def _told(contest: OwnContest, measured: Iterable[Measurement]) -> str:
    """Tell whether a metric, a reason or a flag holds what is sealed."""
    words: set[str] = set()
    for pool, seed in ((DataPool.JUDGE, 101), (DataPool.AUDIT, 102)):
        try:
            cases = drawn(contest.rules, contest.draw(pool, seed))
        except MeasureFault as error:
            raise UsageError(f"{contest.folder.path}: {error.place}") from None
        words |= {word for case in cases for word in _leaves(as_json(case["sealed"]))}
        words -= {word for case in cases for word in _leaves(as_json(case["shown"]))}
    for item in measured:
        told = {f"the metric {key!r}": str(value) for key, value in item.metrics.items()}
        told |= {"the reason of an entry that is not valid": item.reason}
        told |= {f"the evidence of {flag.kind}": flag.evidence for flag in item.flags}
        for place, text in told.items():
            hit = next((word for word in words if word in text), "")
            if hit:
                return f"{place} holds a sealed value: {hit[:40]!r}"
    return ""


def _leaves(value: Any) -> set[str]:
    """Texts and numbers in a value that are long enough to be told from chance."""
    if isinstance(value, dict | list | tuple):
        return {leaf for item in values_in(value) for leaf in _leaves(item)}
    if isinstance(value, bool) or value is None:
        return set()
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    return {text} if len(text.strip("0.-")) >= _LONG else set()
