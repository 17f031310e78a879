"""One measurement of a contest of one's own: the author's code asks, the submission answers.

    found = measure(rules, folder, draw, watch=...)

Two sealed processes stand on both sides of the judge, which carries plain values between them: the
author's, which knows the cases and what is expected, and the submission's, which knows what it was
asked. Neither can reach the other.

Covered: scores that are no numbers, metrics that could carry a table, flags of unknown kinds; a
measure that raises (its message stays with the author: it may hold expected values); a submission
that leaves its process instead of answering.
Not covered: a measure that tells the submission what it should not; `proof` looks for that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import UnknownNameError
from unhack.core.statistics import student_t
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.submission.compute import Computer, SubmissionError
from unhack.tournament.contest import Flag, Measurement, Metric, invalid
from unhack.tournament.contests.own.author_process import AuthorProcess, MeasureFault
from unhack.tournament.contests.own.settings import FolderSettings
from unhack.tournament.contests.own.staging import Staging
from unhack.tournament.judging.flags import FLAG_KINDS
from unhack.tournament.judging.submission import contents

ENTRY, PACKAGES = "/entry", "/packages"
MAX_METRICS = 32
MAX_LETTERS = 120
"""Of a metric that is a text."""
_MAX_NAME = 40
_MAX_FLAGS = 16
_OUTPUT_BYTES = 64 * MIB
_LEAVES = ("SystemExit", "KeyboardInterrupt", "GeneratorExit")
_PACKED = {"fitness", "low", "high", "scores", "metrics", "flags", "invalid"}

Watch = Callable[[str, Any], None]
"""Is told each call that crosses to a submission: the function's name and its arguments."""


@dataclass(frozen=True, slots=True)
class OwnRules:
    """The settings and places that measurements of one contest share."""

    settings: FolderSettings
    staging: Staging
    packages: Path | None
    """The folder of the contest's packages."""

    def author(self) -> AuthorProcess:
        """The author's process, not started yet."""
        return AuthorProcess(
            self.staging.author, self.staging.harness, limits=self.limits(), packages=self.packages
        )

    def submission(self, folder: Path) -> Computer:
        """A submission's process, not started yet."""
        binds = {ENTRY: self.staging.entry}
        if self.packages is not None:
            binds[PACKAGES] = self.packages
        return Computer(folder, entry=f"{ENTRY}/start.py", limits=self.limits(), binds=binds)

    def limits(self) -> Limits:
        """Of either process."""
        asked = self.settings.limits
        return Limits(
            wall_s=float(asked.total_s),
            cpu_s=float(asked.total_s),
            memory_bytes=int(asked.memory_mib * MIB),
            disk_bytes=int(asked.disk_mib * MIB),
            file_bytes=int(asked.disk_mib * MIB),
            output_bytes=_OUTPUT_BYTES,
            soft_slice_s=1e6,
        )


@dataclass(frozen=True, slots=True)
class CaseDraw:
    """The data of one measurement."""

    seed: str
    """Of the generator, as text; nothing of it can be told from what it draws."""
    settings: dict[str, Any]


def drawn(rules: OwnRules, draw: CaseDraw) -> list[dict[str, Any]]:
    """The cases of a draw. Raises MeasureFault, SandboxUnavailableError."""
    with rules.author() as author:
        return _draw(author, draw)


def measure(
    rules: OwnRules,
    folder: Path,
    draw: CaseDraw,
    *,
    turn: int = 0,
    watch: Watch = lambda name, args: None,
    after: Callable[[Computer], None] = lambda computer: None,
) -> Measurement:
    """Measure the files of `folder`. Raises MeasureFault, and the sandbox's own failures.

    `turn` moves what is sealed to other cases (see `inside.author`), for the proof that nothing of
    it crosses; `after` is called with the submission's process when all is done.
    """
    with rules.author() as author:
        cases = _draw(author, draw)
        with _Exchange(rules, folder) as exchange:
            step = author.step("begin", contents(folder), turn)
            while step[0] in ("call", "fresh"):
                if step[0] == "call":
                    watch(step[1], step[2:4])
                step = author.step("go_on", exchange.answer(step))
            if exchange.computer is not None:
                after(exchange.computer)
        if step[0] == "refused":
            return invalid(str(step[1])[:300], *exchange.flags)
        found = as_measurement(step[1], rules.settings, len(cases))
        flags = tuple(dict.fromkeys((*found.flags, *exchange.flags)))
        return Measurement(found.fitness, found.low, found.high, found.metrics, found.reason, flags)


class _Exchange:
    """The submission's side of one measurement."""

    def __init__(self, rules: OwnRules, folder: Path) -> None:
        self._rules, self._folder = rules, folder
        self.computer: Computer | None = None
        self.flags: list[Flag] = []
        self._until = time.monotonic() + rules.settings.limits.total_s

    def __enter__(self) -> _Exchange:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def answer(self, step: list[Any]) -> list[Any]:
        """The answer to a step of the author's code."""
        if step[0] == "fresh":
            self._end()
            return ["ok", None, 0.0]
        _, name, args, kwargs, timeout_s = step
        asked = float(timeout_s) or float(self._rules.settings.limits.call_s)
        left = self._until - time.monotonic()
        if left <= 0:
            total = self._rules.settings.limits.total_s
            return ["refused", f"the measurement took longer than {total:g} s"]
        try:
            computer = self._running()
            if name not in computer.names:
                return ["refused", f"it defines no {name}()"]
            started = time.perf_counter()
            value = computer.call(name, *args, timeout_s=min(asked, left), **kwargs)
            return ["ok", value, time.perf_counter() - started]
        except SubmissionError as error:
            self._note_leaving(name, str(error))
            return ["refused", f"{name}(): {error}"[:300]]

    def _running(self) -> Computer:
        if self.computer is None:
            self.computer = self._rules.submission(self._folder)
            self.computer.__enter__()
        return self.computer

    def _end(self) -> None:
        if self.computer is not None:
            self.computer.close()
            self.computer = None

    def _note_leaving(self, name: str, said: str) -> None:
        """Flag a process that ended by itself, without a fault, while it was asked."""
        computer, self.computer = self.computer, None
        if computer is None:
            return
        computer.close()
        by_name = said.split(":", maxsplit=1)[0] in _LEAVES
        if by_name or computer.left:
            text = f"{name}(): it left the process instead of answering ({said[:80]})"
            self.flags.append(Flag("forged_verdict", text, "judge"))


def _draw(author: AuthorProcess, draw: CaseDraw) -> list[dict[str, Any]]:
    step = author.step("draw", draw.seed, draw.settings)
    cases: Any = step[1] if step[0] == "drawn" else None
    if not isinstance(cases, list) or not cases:
        raise MeasureFault("draw in generator.py", "it returned no list of cases, or an empty one")
    for case in cast("list[Any]", cases):
        if not isinstance(case, dict) or set(cast("dict[str, Any]", case)) != {"shown", "sealed"}:
            raise MeasureFault(
                "draw in generator.py",
                'a case is {"shown": what a submission may know, "sealed": what it may not}; '
                f"it returned {case!r:.80}",
            )
    return cast("list[dict[str, Any]]", cases)


def as_measurement(found: Any, settings: FolderSettings, cases: int) -> Measurement:
    """The value that `measure` returned for so many cases, as a measurement.

    Raises MeasureFault where it is none.
    """
    fields: dict[str, Any] = cast("Any", found) if isinstance(found, dict) else {}
    unknown = set(fields) - _PACKED
    if unknown:
        raise _fault(f"unknown key {sorted(unknown)[0]!r}; there are {', '.join(sorted(_PACKED))}")
    flags = _flags(fields.get("flags", []))
    if fields.get("invalid"):
        return invalid(str(fields["invalid"])[:300], *flags)
    if not isinstance(found, dict):
        fields = {"scores" if isinstance(found, list | tuple) else "fitness": found}
    if ("scores" in fields) == ("fitness" in fields):
        raise _fault("return the scores of the cases, or a fitness with low and high")
    fitness, low, high = (
        _interval(fields["scores"], cases) if "scores" in fields
        else tuple(_number(fields.get(key, fields["fitness"]), key)
                   for key in ("fitness", "low", "high"))
    )  # fmt: skip
    if not low <= fitness <= high:
        raise _fault(f"low {low:g}, fitness {fitness:g}, high {high:g} are not in this order")
    metrics = _metrics(fields.get("metrics") or {})
    return Measurement(fitness, low, min(high, max(fitness, float(settings.bound))), metrics,
                       flags=flags)  # fmt: skip


def _interval(scores: Any, cases: int) -> tuple[float, float, float]:
    """The mean of scores with its 95 % interval: Student's, of normal scores of so few cases."""
    if not isinstance(scores, list | tuple) or not scores:
        raise _fault(f"scores: a list of numbers is needed, not {scores!r:.60}")
    values = [_number(item, "a score") for item in cast("list[Any]", scores)]
    if len(values) != cases:
        # a case that is passed by would be a case that a submission may refuse for nothing
        raise _fault(
            f"{len(values)} scores for {cases} cases: one for each is needed, also where the "
            "submission fails; or return fitness, low and high"
        )
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, mean, mean
    spread = math.sqrt(math.fsum((item - mean) ** 2 for item in values) / (len(values) - 1))
    half = student_t(len(values) - 1) * spread / math.sqrt(len(values))
    return mean, mean - half, mean + half


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _fault(f"{what} is {value!r:.60}, which is no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _fault(f"{what} is {value!r:.60}, which is no number")
    return number


def _metrics(found: Any) -> dict[str, Metric]:
    if not isinstance(found, dict):
        raise _fault(f"metrics: names with values are needed, not {found!r:.60}")
    pairs = cast("dict[Any, Any]", found)
    if len(pairs) > MAX_METRICS:
        raise _fault(f"{len(pairs)} metrics; agents see them, so there may be {MAX_METRICS}")
    metrics: dict[str, Metric] = {}
    for key, value in pairs.items():
        plain = isinstance(value, int | float | str) and len(str(value)) <= MAX_LETTERS
        finite = not isinstance(value, float) or math.isfinite(value)
        if not plain or not finite or not 0 < len(str(key)) <= _MAX_NAME:
            raise _fault(f"metric {key!r:.60}: a number or a text of at most {MAX_LETTERS} letters")
        metrics[str(key)] = value
    return metrics


def _flags(found: Any) -> tuple[Flag, ...]:
    flags: list[Flag] = []
    for item in cast("list[Any]", found) if isinstance(found, list | tuple) else [found]:
        match item:
            case [str() as kind, str() as evidence] | (str() as kind, str() as evidence):
                if kind not in FLAG_KINDS:
                    raise _fault(str(UnknownNameError("kind of flag", kind, valid=FLAG_KINDS)))
                flags.append(Flag(kind, evidence[:400], "judge"))
            case _:
                raise _fault(f"flags: (kind, evidence) pairs are needed, not {item!r:.60}")
    return tuple(dict.fromkeys(flags))[:_MAX_FLAGS]


def _fault(text: str) -> MeasureFault:
    return MeasureFault("what measure() returned", text)
