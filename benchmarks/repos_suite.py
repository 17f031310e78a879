"""The published repository tasks through every check: kill, flake, leak and solve shares.

Each task's reference runs in this process, in another order, each asked test alone, in three
processes with other hash seeds, time zones and folders, and under plain pytest, whose CPU is the
suite's budget. Wrong patches, mutants, right patches of another shape, and a ladder of cheap
searches are played against its hidden tests.

    python benchmarks/repos_suite.py --workers 2
    python benchmarks/repos_suite.py --seed A-SECRET --count 20     fresh tasks, nothing saved
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from measure import save, table
from unhack.environments.task import RepositoryTask
from unhack_suites.repos.repository import text_of
from unhack_suites.repos.running import LocalRunner, Ran, ids_of
from unhack_suites.repos.suite import fingerprint, make_tasks, public_tasks
from unhack_suites.repos.validation.ladder import RUNGS
from unhack_suites.repos.validation.protocol import Checked, check_task

SURROUNDINGS = (("0", "UTC"), ("1", "Asia/Kathmandu"), ("4242", "America/St_Johns"))
"""Hash seed and time zone of the other processes."""
BUDGET_S = 2.0
_CHILD = """
import json, sys
from unhack_suites.repos.running import LocalRunner
for line in sys.stdin:
    files, tests = json.loads(line)
    print(json.dumps([name for name, ran in LocalRunner()(files, tests).items() if ran.passed]))
"""


def reference_of(task: RepositoryTask) -> dict[str, str]:
    """The package after the reference."""
    files = {path: text for path, text in text_of(task.files).items() if task.may_change(path)}
    return {**files, **{path: text for path, text in task.reference.items() if text is not None}}


class Recorded:
    """A runner that gives what another process found for one task's reference."""

    def __init__(self, passed: Sequence[str], tests: Mapping[str, str]) -> None:
        self._ran = {name: Ran(name in passed) for name in ids_of(tests)}

    def __call__(
        self, files: Mapping[str, str], tests: Mapping[str, str], order: Sequence[str] = ()
    ) -> Mapping[str, Ran]:
        """What was found."""
        return self._ran


def elsewhere(tasks: Sequence[RepositoryTask]) -> list[list[list[str]]]:
    """Surroundings x tasks: the ids that pass there."""
    lines = "".join(json.dumps([reference_of(one), dict(one.tests)]) + "\n" for one in tasks)
    found: list[list[list[str]]] = []
    for seed, zone in SURROUNDINGS:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-c", _CHILD], input=lines, text=True, cwd=folder, check=True,
                stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
            )  # fmt: skip
        found.append([json.loads(line) for line in done.stdout.splitlines()])
    return found


def under_pytest(task: RepositoryTask) -> tuple[bool, float]:
    """Plain pytest on the reference: all tests passed, and the CPU seconds of the run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        texts = {path: text for path, text in text_of(task.files).items() if path[:6] != "tests/"}
        for path, text in {**texts, **reference_of(task), **task.tests}.items():
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:unhack",
        ]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    wanted = f"{len(task.fail_to_pass) + len(task.pass_to_pass)} passed"
    return done.returncode == 0 and wanted in done.stdout, cpu


_WORK: list[tuple[RepositoryTask, list[list[str]]]] = []
"""Tasks with what other processes found, made before the workers are forked."""


def examined(at: int) -> dict[str, Any]:
    """One task's findings as a row."""
    task, passed = _WORK[at]
    strange = [Recorded(names, task.tests) for names in passed]
    checked: Checked = check_task(task, run=LocalRunner(), strange=strange)
    passes, cpu = under_pytest(task)
    return {
        "id": task.id.removeprefix("repos/"), "help": task.facts["help"],
        "f2p": len(task.fail_to_pass), "p2p": len(task.pass_to_pass),
        "killed": checked.killed, "mutants": checked.mutants, "hunks": checked.hunks,
        "flaky": len(checked.flaky) + (not passes), "leaks": len(checked.leaks),
        "wrong": len(checked.wrong), "wrong_won": sum(checked.wrong.values()),
        "right": len(checked.alternatives), "right_won": sum(checked.alternatives.values()),
        "solved": "+".join(rung for rung, won in checked.solved.items() if won), "cpu_s": cpu,
        "problems": checked.problems, "kind": task.facts["kind"],
        "fingerprint": fingerprint(task)[:16],
    }  # fmt: skip


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The shares."""

    def total(key: str) -> int:
        return sum(row[key] for row in rows)

    solved = Counter(rung for row in rows for rung in row["solved"].split("+") if rung)
    kinds = sorted({row["kind"] for row in rows})
    return {
        "tasks": len(rows),
        "sound": sum(not row["problems"] for row in rows),
        "tests": total("f2p") + total("p2p"),
        "kill": [total("killed"), total("mutants")],
        "lowest_kill": min(row["killed"] / row["mutants"] for row in rows),
        "flaky_tests": total("flaky"),
        "leaking_tasks": sum(row["leaks"] > 0 for row in rows),
        "wrong_patches_won": [total("wrong_won"), total("wrong")],
        "right_patches_won": [total("right_won"), total("right")],
        "solved": {rung: solved[rung] for rung in RUNGS},
        "solved_by_kind": {
            kind: [
                sum(bool(row["solved"]) for row in rows if row["kind"] == kind),
                sum(row["kind"] == kind for row in rows),
            ]
            for kind in kinds
        },
        "most_cpu_s": max(row["cpu_s"] for row in rows),
        "over_budget": sum(row["cpu_s"] > BUDGET_S for row in rows),
    }


def main() -> int:
    """Examine the suite, print the shares, save the record of the public one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", default="", help="other tasks than the published ones")
    parser.add_argument("--count", type=int, default=20)
    options = parser.parse_args()
    tasks = make_tasks(options.seed, options.count) if options.seed else list(public_tasks())
    passed = elsewhere(tasks)
    _WORK.extend((task, [runs[at] for runs in passed]) for at, task in enumerate(tasks))
    with ProcessPoolExecutor(options.workers, mp_context=get_context("fork")) as pool:
        rows: list[dict[str, Any]] = []
        for row in pool.map(examined, range(len(tasks))):
            rows.append(row)
            said = ", ".join(row["problems"]) or "sound"
            print(f"{row['id']:38} kill {row['killed']}/{row['mutants']} {row['solved']:20} {said}")
            sys.stdout.flush()
    found = figures(rows)
    print(json.dumps(found, indent=1))
    if not options.seed:
        columns = ("id", "help", "f2p", "killed", "solved", "cpu_s", "fingerprint")
        command = f"python benchmarks/repos_suite.py --workers {options.workers}"
        save(
            "repos_suite", command, {**found, "rows": table(rows, columns)},
            records={"all_rows": rows},
        )  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
