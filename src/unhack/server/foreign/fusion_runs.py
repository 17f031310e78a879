"""One run in SandboxFusion's words: a sealed job of ours, told as its clients read it.

Python without files runs in a warm interpreter; with files, or where it starts processes, as a
program of its own; other languages always so.

Covered: files in and out, standard input, a build before the run, time and memory limits. An end by
a signal has a negative code, as there. What our sandbox fails at is `SandboxError`.
Not covered: packages beyond the standard library, but numpy in Python without files.
"""

from __future__ import annotations

import base64
import importlib.util
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache

from unhack.core.lines import BoundedPattern
from unhack.sandbox.job import TIME_LIMITS, Ending, Job, Outcome, Profile
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.private_files import with_files
from unhack.server.foreign.fusion_models import FusionCommand, FusionReply, FusionRun
from unhack.server.http.problems import RequestRefused
from unhack.verifiers import jobs

RunJob = Callable[[Job], Awaitable[Outcome]]
"""Runs a job in the sandbox when it is its turn."""
_OUTPUT_BYTES = 8 * MIB
_FILES_BYTES = 48 * MIB
_SIGXFSZ = 25
_PROCESSES = BoundedPattern(
    r"subprocess|multiprocessing|ProcessPool|\bfork\b|os\.(?:system|popen|exec)"
)
_NUMPY = BoundedPattern(r"^[ \t]*(?:import|from)[ \t]+numpy\b")


@dataclass(frozen=True, slots=True)
class _Tongue:
    """The way from a source to its run."""

    file: str
    run: tuple[str, ...]
    build: tuple[str, ...] = ()
    built: str = ""


_TONGUES: Mapping[str, _Tongue] = {
    "python": _Tongue("solution.py", ("python3", "solution.py")),
    "bash": _Tongue("script.sh", ("bash", "script.sh")),
    "perl": _Tongue("script.pl", ("perl", "script.pl")),
    "cpp": _Tongue(
        "main.cpp", ("./main",), ("c++", "-O2", "-std=c++17", "-o", "main", "main.cpp"), "main"
    ),
}
LANGUAGES = tuple(_TONGUES)
"""The languages that are run here."""


async def run_code(asked: FusionRun, run: RunJob) -> FusionReply:
    """Run a program; `run` carries out a job. Raises RequestRefused (400) for a file that cannot
    lie in a workspace."""
    tongue = _TONGUES.get(asked.language)
    if tongue is None:
        return _failed(f"language {asked.language!r} is not run here; {', '.join(LANGUAGES)} are")
    files = _read_files(asked)
    for path in asked.fetch_files:
        _check_path(path, "fetch_files")
    limits = _limits(asked)
    source = asked.code.encode("utf-8", "replace")
    compiled: FusionCommand | None = None
    if tongue.build:
        built = await run(_build(tongue, source, files, asked))
        if built.ending in (Ending.BROKEN, Ending.REFUSED):
            return _failed(built.error)
        compiled = _command(built, program=True)
        binary = _collected(built).get(tongue.built)
        if compiled.return_code != 0 or binary is None:
            return FusionReply(status="Failed", compile_result=compiled)
        files[tongue.built] = (base64.b64decode(binary), 0o755)
    else:
        files[tongue.file] = (source, 0o644)
    alone = asked.language == "python" and not asked.files and not asked.fetch_files
    program = not (alone and not _PROCESSES.is_in(asked.code))
    stdin = (asked.stdin or "").encode("utf-8", "replace")
    if program:
        wanted = tuple(asked.fetch_files)
        job = jobs.program(tongue.run, files=files, stdin=stdin, collect=wanted, limits=limits)
    else:
        job = jobs.main(asked.code, stdin=stdin, limits=limits, profile=_profile(asked.code))
        job = with_files(job, asked.code)
    outcome = await run(job)
    if outcome.ending in (Ending.BROKEN, Ending.REFUSED):
        return _failed(outcome.error)
    ran = _command(outcome, program=program)
    done = ran.status == "Finished" and ran.return_code == 0
    return FusionReply(
        status="Success" if done else "Failed",
        compile_result=compiled,
        run_result=ran,
        files=_collected(outcome) if program else {},
    )


def _failed(words: str) -> FusionReply:
    return FusionReply(status="SandboxError", message=words)


def _limits(asked: FusionRun) -> Limits:
    seconds = asked.run_timeout
    limits = Limits(
        wall_s=seconds, cpu_s=seconds, output_bytes=_OUTPUT_BYTES, disk_bytes=2 * _FILES_BYTES
    )
    if asked.memory_limit_mb > 0:
        limits = limits.with_(memory_bytes=asked.memory_limit_mb * MIB)
    return limits


def _build(
    tongue: _Tongue, source: bytes, files: Mapping[str, tuple[bytes, int]], asked: FusionRun
) -> Job:
    limits = Limits(wall_s=asked.compile_timeout, cpu_s=asked.compile_timeout)
    whole = {**files, tongue.file: (source, 0o644)}
    return jobs.program(tongue.build, files=whole, collect=(tongue.built,), limits=limits)


def _profile(source: str) -> Profile:
    """Warm Python; with numpy where the source imports it."""
    return Profile(preload=("numpy",)) if _has_numpy() and _NUMPY.is_in(source) else Profile()


@cache
def _has_numpy() -> bool:
    return importlib.util.find_spec("numpy") is not None


def _command(outcome: Outcome, *, program: bool) -> FusionCommand:
    """The end of a command in their words."""
    stdout = outcome.stdout.decode("utf-8", "replace")
    stderr = outcome.stderr.decode("utf-8", "replace")
    code, seconds = outcome.exit_code, outcome.wall_s
    late = outcome.ending is Ending.LIMIT and outcome.limit in TIME_LIMITS
    if late:
        code = None
    elif outcome.ending is Ending.LIMIT:
        code = -9 if outcome.limit == "memory" else -_SIGXFSZ
        stderr += f"\n[ended by the {outcome.limit} limit of the sandbox]"
    elif outcome.ending is not Ending.EXITED:
        code = -(outcome.signal or 9)
    elif program:
        code, seconds = _program_end(outcome)
    return FusionCommand(
        status="TimeLimitExceeded" if late else "Finished",
        execution_time=round(seconds, 6),
        return_code=code,
        stdout=stdout,
        stderr=stderr,
    )


def _program_end(outcome: Outcome) -> tuple[int, float]:
    """Exit code and seconds of a command, as its first process saw them."""
    for line in jobs.result_lines(outcome.result, most=jobs.SPARE_LINES):
        if line[0] is None and line[1] == "exit":
            return (-int(line[3]) if line[3] else int(line[2])), float(line[4])
    return -9, outcome.wall_s


def _collected(outcome: Outcome) -> dict[str, str]:
    """Base64 of the files that were asked for and are there."""
    found: dict[str, str] = {}
    for line in jobs.result_lines(outcome.result):
        if line[0] is None and line[1] == "file":
            found[str(line[2])] = str(line[3])
    return found


def _read_files(asked: FusionRun) -> dict[str, tuple[bytes, int]]:
    """The files of a request. Raises RequestRefused (400)."""
    found: dict[str, tuple[bytes, int]] = {}
    total = 0
    for path, text in asked.files.items():
        _check_path(path, "files")
        if text is None:
            continue
        try:
            data = base64.b64decode(text, validate=True)
        except ValueError:
            raise _refused("files", f"files.{path}: this is not base64") from None
        total += len(data)
        found[path] = (data, 0o644)
    if total > _FILES_BYTES:
        raise _refused("files", f"files: {total} bytes; at most {_FILES_BYTES} are taken")
    own = {_TONGUES[asked.language].file, _TONGUES[asked.language].built} - {""}
    taken = own & set(found)
    if taken:
        raise _refused("files", f"files: {min(taken)} is the name of the program itself")
    for path in found:
        if any(other.startswith(f"{path}/") for other in found):
            raise _refused("files", f"files: {path} is a file and a folder")
    return found


def _check_path(path: str, field: str) -> None:
    parts = path.split("/")
    if "\0" in path or {"", ".", ".."} & set(parts) or len(parts) > 20:
        words = f"{field}: {path!r} is not a relative path of a file in the workspace"
        raise _refused(field, words)


def _refused(field: str, words: str) -> RequestRefused:
    return RequestRefused(400, "invalid", words, field=field)
