"""Runs of hidden tests on files, in the sandbox, and the outcome of each test by its id.

Covered: fresh files for every run; no configuration and no plugins of the repository but its
conftest files; another hash seed, time zone and order where asked for.
Not covered: test files that need installed packages beyond those that are handed in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unhack.environments.sources.mining import report_plugin
from unhack.environments.sources.mining.paths import import_roots
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command, CommandResult

LIMITS = Limits(
    wall_s=120, cpu_s=60, memory_bytes=1024 * MIB, processes=64, open_files=256,
    file_bytes=16 * MIB, output_bytes=16 * 1024, disk_bytes=64 * MIB,
)  # fmt: skip
_PLUGIN = "_unhack_report"
_REPORT = "_unhack_report.jsonl"
_SOURCE = Path(report_plugin.__file__).read_bytes()
_MOST_REPORT = 8 << 20


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a test did not pass."""

    error: str = ""
    """The name of the exception."""
    message: str = ""
    when: str = ""
    """`setup`, `call` or `teardown`."""
    place: str = ""
    """`path:line in function` of the last frame in the code."""
    skipped: bool = False
    """True for a skip or an expected failure."""


@dataclass(frozen=True, slots=True)
class RunConditions:
    """Conditions of a run that change nothing for a sound test."""

    hash_seed: int = 0
    zone: str = "UTC"
    order: int | None = None
    """Seed of another order; None for the order of the files."""

    @property
    def plain(self) -> bool:
        """True for those of a warm interpreter."""
        return self.hash_seed == 0 and self.order is None


@dataclass(frozen=True, slots=True)
class TestRun:
    """The outcomes of one run."""

    __test__ = False

    passed: frozenset[str]
    failed: Mapping[str, Failure]
    """Tests that ran and did not pass, skipped ones included."""
    uncollected: Mapping[str, str]
    """Test file -> why it could not be collected."""
    twice: frozenset[str] = frozenset()
    """Ids that were reported more than once; they stand nowhere else."""
    calls: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict[str, Any])
    """Traced calls of tests, see `report_plugin`."""
    ended: str = ""
    """Why the run broke off; empty when it came to its end."""
    cpu_s: float = 0.0
    """CPU seconds of the run, the start of pytest included."""


async def run_tests(
    pool: CommandPool,
    files: Mapping[str, bytes],
    tests: Sequence[str],
    *,
    conditions: RunConditions = RunConditions(),
    trace: Sequence[str] = (),
) -> TestRun:
    """Run test files of a tree; the calls of the tests in `trace` are recorded."""
    laid = {**files, f"{_PLUGIN}.py": _SOURCE}
    state = pool.states.load(laid)
    plan = {
        "report": _REPORT,
        "roots": import_roots(files),
        "tests": list(tests),
        "shuffle": conditions.order,
        "trace": list(trace),
    }
    environ = {
        "UNHACK_REPORT": json.dumps(plan),
        "PYTHONHASHSEED": str(conditions.hash_seed),
        "TZ": conditions.zone,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "",
    }
    options = ["-q", "--color=no", "--tb=short", "-p", "no:cacheprovider", "-p", _PLUGIN]
    options += ["-c", "/dev/null", "--rootdir", ".", "--continue-on-collection-errors"]
    words = ("pytest", *options, *tests)
    warm = conditions.plain
    command = Command(words if warm else ("python3", "-m", *words), module=warm, environ=environ)
    result, after = await pool.run(state, command, limits=LIMITS)
    report = after.read(_REPORT, max_bytes=_MOST_REPORT) or b""
    return _read(report, result)


def _read(report: bytes, result: CommandResult) -> TestRun:
    """The outcomes of a report; a line that is none is passed over."""
    passed: set[str] = set()
    failed: dict[str, Failure] = {}
    uncollected: dict[str, str] = {}
    twice: set[str] = set()
    calls: dict[str, list[dict[str, Any]]] = {}
    for line in report.decode(errors="replace").splitlines():
        try:
            record: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        if "file" in record:
            uncollected[str(record["file"])] = str(record.get("error", ""))
        elif "calls" in record:
            calls[str(record["calls"])] = list(record.get("seen", []))
        elif "test" in record:
            name = str(record["test"])
            if name in passed or name in failed:
                twice.add(name)
            elif record.get("outcome") == "passed":
                passed.add(name)
            else:
                failed[name] = _failure(record)
    ended = result.limit or ("" if result.exit_code in (0, 1, 2, 5) else _last_line(result))
    return TestRun(
        frozenset(passed - twice),
        {name: one for name, one in failed.items() if name not in twice},
        uncollected,
        frozenset(twice),
        calls,
        ended,
        result.cpu_s,
    )


def _failure(record: Mapping[str, Any]) -> Failure:
    fields = {name: str(record.get(name, "")) for name in ("error", "message", "when", "place")}
    return Failure(**fields, skipped=record.get("outcome") == "skipped")


def _last_line(result: CommandResult) -> str:
    lines = (result.stderr or result.stdout).strip().splitlines() or ["no word"]
    code = f"signal {result.signal}" if result.signal else f"exit code {result.exit_code}"
    return f"{code}: {lines[-1][:200]}"
