"""Messages that the sandbox's runner understands (see `guest.candidate.runner`), and what comes
back: outcomes, and claims about a completion's calls, read as data; none is believed by its form.

Covered: malformed, repeated and missing answers of a completion; a checker that breaks.
Not covered: what the claimed values mean; the verifiers compare them.
"""

from __future__ import annotations

import base64
import json
import reprlib
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from unhack.core import plain
from unhack.core.problem import Problem
from unhack.core.verdict import CaseResult, Seal, Status, Usage, Verdict
from unhack.sandbox.job import (
    TIME_LIMITS,
    Backend,
    Ending,
    Job,
    JobHandle,
    Kind,
    Outcome,
    Profile,
    Role,
)
from unhack.sandbox.limits import Limits
from unhack.sandbox.linux import rlimits
from unhack.sandbox.pool.worker_start import ENVIRON
from unhack.verifiers.base import VerifierFault

_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxlist, _SHORT.maxtuple, _SHORT.maxdict = 4, 12, 12, 8
_SHORT.maxset, _SHORT.maxstring, _SHORT.maxlong, _SHORT.maxother = 8, 120, 60, 120
_encode = json.JSONEncoder(separators=(",", ":")).encode

_GRACE_S = 1.0
"""Time for a candidate to end by itself when the judge that called it has ended."""


def _message(mode: str, limits: Limits, fields: Mapping[str, Any]) -> bytes:
    common = {"mode": mode, "rlimits": rlimits.encode(limits), "disk": limits.disk_bytes}
    return _encode({**common, **fields}).encode()


class CallsTemplate:
    """Jobs that call one function of many completions on the same inputs.

    The part that every completion shares is encoded once.
    """

    def __init__(self, entry: str, calls: Sequence[Any], *, limits: Limits, profile: Profile,
                 each: bool = False) -> None:  # fmt: skip
        """`calls` are [args, kwargs] pairs of encoded plain data."""
        self._limits = limits
        self._profile = profile
        fields = {"entry": entry, "calls": list(calls), "each": each}
        self._head = _message("calls", limits, fields)[:-1] + b',"source":'

    def job(self, source: str) -> Job:
        """The job of one completion."""
        return Job(self._head + _encode(source).encode() + b"}", self._limits, self._profile)


def main(source: str, *, stdin: bytes, limits: Limits, profile: Profile) -> Job:
    """Run `source` as a Python program in a warm interpreter."""
    message = _message("main", limits, {"source": source})
    return Job(message, limits, profile, stdin=stdin, capture=True)


def program(
    argv: Sequence[str],
    *,
    limits: Limits,
    files: Mapping[str, tuple[bytes, int]] | None = None,
    stdin: bytes = b"",
    collect: Sequence[str] = (),
    binds: tuple[tuple[str, str], ...] = (),
) -> Job:
    """Run a command in an empty private directory that holds `files` (name -> content, mode).

    `binds` are (host path, path inside) pairs, mounted read-only. The result lines are `[null,
    "exit", code, signal, seconds]` and `[null, "file", name, base64]` for each of `collect`.
    """
    packed = {
        name: {"data": base64.b64encode(data).decode("ascii"), "mode": mode}
        for name, (data, mode) in (files or {}).items()
    }
    fields = {
        "argv": list(argv),
        "env": ENVIRON,
        "files": packed,
        "collect": list(collect),
        "collect_bytes": limits.file_bytes,
    }
    if collect:
        limits = replace(limits, output_bytes=max(limits.output_bytes, 2 * limits.file_bytes))
    profile = Profile(kind=Kind.PROGRAM, binds=binds)
    return Job(_message("program", limits, fields), limits, profile, stdin=stdin, capture=True)


def encode_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """Files as a message carries them: path -> base64."""
    return {name: base64.b64encode(data).decode("ascii") for name, data in files.items()}


def serve(
    modules: Mapping[str, str],
    *,
    peer: int,
    limits: Limits,
    profile: Profile,
    tree: Mapping[str, Any] | None = None,
) -> Job:
    """The candidate's half of a sealed pair: module name -> source, and a tree of files besides
    (see `candidate.serve`).

    `peer` is one end of a socket pair.
    """
    message = _message("serve", limits, {"modules": dict(modules), **(tree or {})})
    return Job(message, limits, profile, peer=peer)


def judge(
    mode: str,
    fields: Mapping[str, Any],
    *,
    limits: Limits,
    profile: Profile | None = None,
    peer: int | None = None,
) -> Job:
    """A job of trusted code in a judge's worker (for modes see `sandbox.guest.judge.modes`)."""
    chosen = profile or Profile(role=Role.JUDGE)
    return Job(_message(mode, limits, fields), limits, chosen, peer=peer)


SPARE_LINES = 64
"""Lines beyond those asked for that a candidate's channel may hold before the rest is ignored."""


def result_lines(data: bytes, *, most: int | None = None) -> list[Any]:
    """The lines of a result channel that are JSON lists; anything else is dropped.

    `most` bounds the lines that are parsed. Give it for every channel that a candidate writes: a
    line costs a microsecond to parse and the candidate two bytes to write. What is no list, blank
    lines above all, is passed over without looking at each line.
    """
    lines: list[Any] = []
    start = 0 if data.startswith(b"[") else _next_list(data, 0)
    parsed = 0
    while start >= 0 and (most is None or parsed < most):
        end = data.find(b"\n", start)
        item = _parse_line(data[start:end] if end >= 0 else data[start:])
        parsed += 1
        if isinstance(item, list) and item:
            lines.append(item)
        start = _next_list(data, end) if end >= 0 else -1
    return lines


def _next_list(data: bytes, position: int) -> int:
    """Start of the next line that can be a list, or -1."""
    found = data.find(b"\n[", position)
    return found + 1 if found >= 0 else -1


_read_value = json.JSONDecoder().raw_decode


def _parse_line(line: bytes) -> Any:
    try:
        text = line.decode("ascii")
        value, end = _read_value(text)  # what an honest channel holds, at half of the cost
        if end == len(text):
            return value
    except (ValueError, RecursionError):
        pass  # whatever it is, the whole parser says so
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def require_sandbox(outcome: Outcome) -> None:
    """Raise VerifierFault when the sandbox itself failed."""
    if outcome.ending is Ending.BROKEN:
        raise VerifierFault(f"the sandbox failed: {outcome.error}")


def usage_of(*outcomes: Outcome) -> Usage:
    """The candidate's use over several jobs: times add up, memory is the largest."""
    return Usage(
        wall_s=sum(outcome.wall_s for outcome in outcomes),
        cpu_s=sum(outcome.cpu_s for outcome in outcomes),
        max_rss_bytes=max((outcome.max_rss_bytes for outcome in outcomes), default=0),
    )


def verdict_of(
    outcome: Outcome,
    judged: tuple[Status, str],
    *,
    score: float = 0.0,
    cases: Sequence[CaseResult] = (),
    seal: Seal = Seal.SEALED,
) -> Verdict:
    """The verdict on a completion that one job ran; `judged` is its status and reason."""
    status, reason = judged
    return Verdict(
        status, score, reason, tuple(cases), usage_of(outcome), seal, outcome.isolation.value
    )


def bad_ending(outcome: Outcome) -> tuple[Status, str] | None:
    """The status and reason of a job that a limit or a signal ended; None when it ended by
    itself."""
    if outcome.ending is Ending.LIMIT:
        if outcome.limit in TIME_LIMITS:
            why = f": {outcome.error}" if outcome.error else ""
            return Status.TIMEOUT, f"{outcome.limit} time limit reached{why}"
        return Status.LIMIT, f"{outcome.limit} limit reached"
    if outcome.ending is Ending.SIGNALED:
        return Status.ERROR, f"ended by signal {outcome.signal}"
    return None


def printable(text: str) -> str:
    """At most 200 characters, on one line, without control or bidirectional characters."""
    shown = "".join(char if char.isprintable() else _escape(char) for char in text[:201])
    return shown if len(shown) <= 200 else shown[:197] + "..."


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


@dataclass(slots=True)
class Answer:
    """The claimed result of one call."""

    value: Any = None
    raised: list[str] | None = None
    """Class names from the raised class to its bases, or None when it returned."""
    message: str = ""

    def to_text(self) -> str:
        """The result for people: short, on one line, printable."""
        if self.raised:
            return printable(f"{self.raised[0]}: {self.message}")
        try:
            return printable(_SHORT.repr(self.value))
        except (ValueError, RecursionError):  # an integer too long to print, or deep nesting
            return f"<{type(self.value).__name__}>"


@dataclass(slots=True)
class Claims:
    """The content of a result channel, as data."""

    answers: list[Answer | None]
    failure: tuple[str, str] | None = None
    """(kind, text) when the completion could not be loaded."""


def read_claims(data: bytes, count: int) -> Claims:
    """Read a result channel of mode `calls`. Never raises; what is malformed is no answer.

    The first answer to a case counts; answers to cases that do not exist are dropped. Lines are
    read up to the number of cases and a few more: no honest channel holds others.
    """
    claims = Claims([None] * count)
    answered = False
    for line in result_lines(data, most=count + SPARE_LINES):
        try:
            if line[0] is None:
                if claims.failure is None and not answered:
                    claims.failure = _read_failure(line)
            elif type(line[0]) is int and 0 <= line[0] < count and claims.answers[line[0]] is None:
                claims.answers[line[0]] = answer = _read_answer(line)
                answered = answered or answer is not None
        except (IndexError, TypeError, ValueError, RecursionError):
            continue
    return claims


def _read_failure(line: list[Any]) -> tuple[str, str] | None:
    kind = line[1]
    if kind == "missing":
        return "missing", printable(f"the completion defines no {str(line[2])[:80]}")
    if kind == "syntax":
        return "syntax", printable(f"{_names(line[2])[0]}: {str(line[3])[:200]}")
    if kind == "load":
        return "load", printable(f"{_names(line[2])[0]} while loading: {str(line[3])[:200]}")
    return None


def _read_answer(line: list[Any]) -> Answer | None:
    if line[1] == "ok" and len(line) == 3:
        return Answer(value=plain.decode_tags(line[2]))
    if line[1] == "raise" and len(line) == 4:
        return Answer(raised=_names(line[2]), message=str(line[3])[:300])
    return None


def _names(value: Any) -> list[str]:
    if not (isinstance(value, list) and value):
        raise ValueError("no class names")
    return [str(name)[:80] for name in cast("list[Any]", value)[:40]]


Check = tuple[int, bool, float | None, str]
"""(case, passed, score, reason) of a checker's answer."""


def read_checks(outcome: Outcome, wanted: Sequence[int]) -> list[Check]:
    """The answers of a checker's worker. Raises VerifierFault when it broke."""
    require_sandbox(outcome)
    bad = bad_ending(outcome)
    if bad is not None:
        raise VerifierFault(f"the checker: {bad[1]}")
    found: dict[int, Check] = {}
    for line in result_lines(outcome.result):
        if line[0] is None:
            raise VerifierFault(f"the checker: {', '.join(map(str, line[1:]))[:300]}")
        index, passed, score, reason = line
        found[index] = (index, bool(passed), score, str(reason))
    if set(found) != set(wanted):
        raise VerifierFault("the checker gave no answer for some cases")
    return [found[index] for index in wanted]


def ask_checker(
    source: str | None, items: Sequence[list[Any]], *, limits: Limits
) -> Generator[list[Job], Any, list[Check]]:
    """Have a checker look at [case, values] items, in a worker of the judge. Raises VerifierFault
    when it broke."""
    [outcome] = yield [judge("check", {"source": source, "items": items}, limits=limits)]
    return read_checks(outcome, [item[0] for item in items])


def blame_completion(
    fault: VerifierFault,
    problem: Problem,
    control: Generator[list[Job], Any, list[Check]],
) -> Generator[list[Job], Any, None]:
    """Return when a checker that broke judges its `control`: the expected values of the cases on
    which it broke.

    Raises the fault when it breaks on them too, or when the problem has a reference, which is the
    better control.
    """
    if problem.reference is not None:
        raise fault
    try:
        yield from control
    except VerifierFault:
        raise fault from None


class JobStep:
    """Jobs that run together; a candidate whose judge has ended is ended soon after."""

    def __init__(self, jobs: list[Job], then: Callable[[list[Outcome]], object]) -> None:
        self.handles: list[JobHandle] = []
        self._jobs = jobs
        self._then = then
        self._outcomes: dict[int, Outcome] = {}
        self._grace_timer: threading.Timer | None = None

    def start(self, backend: Backend) -> None:
        """Hand in every job."""
        for position, job in enumerate(self._jobs):
            handle = backend.submit(job, lambda outcome, p=position: self._done(p, outcome))
            self.handles.append(handle)

    def _done(self, position: int, outcome: Outcome) -> None:
        if self._grace_timer is not None and outcome.ending is Ending.STOPPED:
            outcome = replace(outcome, error="")  # nobody cancelled the batch
        self._outcomes[position] = outcome
        if len(self._outcomes) == len(self._jobs):
            if self._grace_timer is not None:
                self._grace_timer.cancel()
            self._then([self._outcomes[index] for index in range(len(self._jobs))])
        elif self._is_calling_judge(self._jobs[position]):
            self._grace_timer = threading.Timer(_GRACE_S, self._cancel_all)
            self._grace_timer.daemon = True
            self._grace_timer.start()

    @staticmethod
    def _is_calling_judge(job: Job) -> bool:
        return job.peer is not None and job.profile.role is Role.JUDGE

    def _cancel_all(self) -> None:
        for handle in self.handles:
            handle.cancel()
