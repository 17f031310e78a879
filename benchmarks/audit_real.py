"""The audit against reward functions of released packages, as they are installed from an index.

    python benchmarks/audit_real.py                      # all targets of audit_real*.toml
    python benchmarks/audit_real.py --only verl          # those whose name holds this
    python benchmarks/audit_real.py --minutes 10         # as many as that allows
    python benchmarks/audit_real.py --resume             # those that the results do not have yet
    python benchmarks/audit_real.py --power              # weaken those without a finding
    python benchmarks/audit_real.py --rebuild            # summary and pages of the rows

Makes `benchmarks/.audit-venv`. Every target has at least eight problems; its row is kept in
`results/full/audit_real.rows.jsonl` at once, so that an interrupted run goes on with `--resume`.
Nothing here decides whether a finding is right: read the witnesses, and `audit_real_judged.toml`.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
import json
import os
import signal
import statistics
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import audit_real_judged
import audited_page
from audit_real_cases import HERE, Case, cases, prepare
from audit_real_one import CALLS
from measure import FULL, host, machine, save, spread, summary

ROWS = FULL / "audit_real.rows.jsonl"
NONE_FOUND = "none found"
ACCOUNTS = Path("/sys/fs/cgroup/cpuacct")
"""Counts the CPU time of the sandbox's processes too, which `getrusage` does not see."""
_WRITING = threading.Lock()
_PER_WORKER = 4
"""Targets after which a new process is started."""
Run = Callable[[], Iterator[dict[str, Any]]]


class Worker:
    """A process that audits one target after the other; what they import is loaded once."""

    def __init__(self, python: Path, *, seconds: float, power_s: float) -> None:
        self.account = _account()
        self.limit = 240.0 + 3 * seconds + 2 * power_s
        command = [str(python), str(HERE / "audit_real_one.py"), str(seconds), str(power_s)]
        enter = f"echo $$ > {self.account}/cgroup.procs; " if self.account else ""
        self.process = subprocess.Popen(
            ["sh", "-c", enter + 'exec "$@"', "sh", *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            start_new_session=True,
        )  # fmt: skip
        self.audited = 0

    @property
    def ended(self) -> bool:
        """True when no further target can be sent."""
        return self.process.poll() is not None

    def run(self, case: Case) -> dict[str, Any]:
        """The row of one target."""
        self.audited += 1
        started, before = time.perf_counter(), self._used()
        row: dict[str, Any] = {"package": case.package, "target": case.target, "kind": case.kind}
        timer = threading.Timer(self.limit, self.kill)
        timer.start()
        try:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self.process.stdin.write(case.name + "\n")
            self.process.stdin.flush()
            line = next(line for line in self.process.stdout if line.startswith("{"))
            row = json.loads(line)
        except StopIteration:
            took = time.perf_counter() - started
            why = f"not done in {took:.0f} s" if took >= self.limit else "its process ended"
            row |= {"conclusion": "undecided", "why": why}
        finally:
            timer.cancel()
        after = self._used()
        cpu = {} if after is None or before is None else {"cpu_s": round(after - before, 1)}
        return row | cpu | {"seconds": round(time.perf_counter() - started, 1)}

    def kill(self) -> None:
        """End the process and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End it and forget its account."""
        self.kill()
        self.process.communicate()
        for _ in range(_TRIES if self.account else 0):
            try:
                self.account.rmdir()
                return
            except OSError:  # what it held has not ended yet
                time.sleep(0.1)

    def _used(self) -> float | None:
        """CPU seconds so far; None where they are not counted."""
        if self.account is None:
            return None
        return int((self.account / "cpuacct.usage").read_text()) / 1e9


_NUMBERS = itertools.count()
_TRIES = 50


def _account() -> Path | None:
    """An account of its own, where the host lets us open one."""
    account = ACCOUNTS / f"audit-real-{os.getpid()}-{next(_NUMBERS)}"
    try:
        account.mkdir()
    except OSError:
        return None
    return account


def run_in_turn(
    python: Path, some: Sequence[Case], *, seconds: float, power_s: float
) -> Iterator[dict[str, Any]]:
    """The rows of targets, in as few processes as possible."""
    worker: Worker | None = None
    try:
        for case in some:
            if worker is None or worker.ended or worker.audited == _PER_WORKER:
                if worker is not None:
                    worker.close()
                worker = Worker(python, seconds=seconds, power_s=power_s)
            yield worker.run(case) | {
                "commit": commit(),
                "budget_s": seconds,
                "power_s": power_s,
                "load": round(os.getloadavg()[0], 1),
                "host": host(machine()),
            }
    finally:
        if worker is not None:
            worker.close()


def commit() -> str:
    """The last commit of the audit's source, with a plus where the files differ from it."""
    git = ["git", "-C", str(HERE.parent)]
    at = subprocess.run(
        [*git, "log", "-1", "--format=%h", "--abbrev=8", "--", "src/unhack"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "src/unhack"], check=False)
    return at.stdout.strip() + "+" * bool(changed.returncode)


def line_of(row: dict[str, Any]) -> str:
    """One line of the table."""
    finding = audited_page.finding_of(row)
    said = finding["flaw"] if finding else row["why"]
    if finding and finding["expected_reward"]:
        said += " {rewarded}/{problems}".format(**finding["expected_reward"])
    if power := row.get("power"):
        said = f"{power['text']} [{power['why']}]"
    name = f"{row['package']} {row.get('version', '?')}"
    took = f"{row['seconds']:5.1f} s {row.get('cpu_s', 0.0):5.1f} CPU s"
    return f"{row['conclusion']:14} {took}  {name:24} {row['target']}: {said}"


def key_of(row: dict[str, Any]) -> tuple[str, str, str]:
    """The target of a row."""
    return row["package"], row["target"], row["kind"]


def results() -> dict[tuple[str, str, str], dict[str, Any]]:
    """The last row of each target on this machine; the power of an earlier one stays with it."""
    if not ROWS.exists():
        return {}
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for line in ROWS.read_text().splitlines():
        row = json.loads(line)
        if row.get("power_s") and key_of(row) in found:
            # The first audit stays the target's; this run adds the power alone.
            found[key_of(row)] |= {"power": row.get("power"), "power_run_s": row["seconds"]}
        else:
            found[key_of(row)] = row
    return found


def keep(row: dict[str, Any]) -> None:
    """Append a row to those of this machine."""
    FULL.mkdir(parents=True, exist_ok=True)
    with _WRITING, ROWS.open("a") as file:
        file.write(json.dumps(row) + "\n")


def rebuild(missing: dict[str, str]) -> None:
    """Write summary, full record and page of the rows that are there."""
    known = {(case.package, case.target, case.kind) for case in cases()}
    rows = sorted((row for row in results().values() if key_of(row) in known), key=key_of)
    best = [audited_page.finding_of(row) for row in rows]
    proven = [one for one in best if one and one["kind"] == "hack"]
    counts = Counter(row["conclusion"] for row in rows)
    problems = [row["problems"] for row in rows if "problems" in row]
    figures = {
        "targets": len(known),
        "run": len(rows),
        "packages": len({row["package"] for row in rows}),
        "commits": dict(Counter(row["commit"] for row in rows)),
        "seconds": max(row["budget_s"] for row in rows),
        "calls": CALLS,
        "problems": f"{min(problems)} to {max(problems)}",
        "load": f"{statistics.median(row['load'] for row in rows):.0f} (median)",
        "hosts": dict(Counter(row["host"] for row in rows).most_common()),
        "counts": dict(counts.most_common()),
        "flaws": dict(Counter(one["flaw"] for one in proven).most_common()),
        "hacks_by_many_attempts": sum(one.get("by_attempts", False) for one in proven),
        "hacks_holding_the_gold": sum(
            one["holds_gold"] and not one.get("by_attempts", False) for one in proven
        ),
        "wall_s": spread([row["seconds"] for row in rows]),
        "cpu_s": spread([row["cpu_s"] for row in rows if "cpu_s" in row] or [0.0]),
        "power": _strength([row["power"] for row in rows if row.get("power")], counts[NONE_FOUND]),
        "judged": audit_real_judged.figures(rows),
        "not_installed": missing,
    }
    with contextlib.redirect_stdout(None):
        save("audit_real", "python benchmarks/audit_real.py", figures, records={"rows": rows})
    found = summary("audit_real")
    assert found is not None
    audited_page.write(found, rows)


def _strength(found: Sequence[dict[str, Any]], wanted: int) -> dict[str, int]:
    """The sums over the targets whose power was measured."""
    sums = {key: sum(one[key] for one in found) for key in ("weakened", "broken", "hacked")}
    return {"wanted": wanted, "run": len(found), **sums}


def run_all(groups: Sequence[Run], *, jobs: int, until: float) -> None:
    """Run groups of targets side by side; keep and print their rows."""

    def start(run: Run) -> None:
        for row in run():
            keep(row)
            print(line_of(row), flush=True)
            if time.monotonic() > until:
                return

    with ThreadPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(start, run) for run in groups]):
            future.result()


def groups_of(chosen: Sequence[Case]) -> list[list[Case]]:
    """A few targets of each package, then a few more of each: a short run sees all packages."""
    by_package: dict[str, list[Case]] = {}
    for case in chosen:
        by_package.setdefault(case.package, []).append(case)
    parts = [
        [some[at : at + _PER_WORKER] for at in range(0, len(some), _PER_WORKER)]
        for some in by_package.values()
    ]
    return [part for turn in itertools.zip_longest(*parts) for part in turn if part]


def main() -> int:
    """Audit what was asked for; print and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="targets whose name holds this")
    parser.add_argument("--seconds", type=float, default=30.0, help="for each audit")
    parser.add_argument("--minutes", type=float, default=240.0, help="start no target after that")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--resume", action="store_true", help="keep the results that are there")
    parser.add_argument("--power", action="store_true", help="weaken those without a finding")
    parser.add_argument("--power-seconds", type=float, default=0.0, help="120 with --power")
    parser.add_argument("--rebuild", action="store_true", help="run nothing")
    options = parser.parse_args()
    until = time.monotonic() + 60 * options.minutes
    python, missing = prepare()
    if not options.rebuild:
        chosen = [case for case in cases() if options.only in case.name]
        power_s = (options.power_seconds or 120.0) if options.power else 0.0
        if not (options.resume or options.power or options.only):
            ROWS.unlink(missing_ok=True)
        there = results()
        if options.power:
            chosen = [case for case in chosen if _wants_power(there.get(_key(case)))]
        elif options.resume:
            chosen = [case for case in chosen if _key(case) not in there]

        run = functools.partial(run_in_turn, python, seconds=options.seconds, power_s=power_s)
        runs = [functools.partial(run, some) for some in groups_of(chosen)]
        run_all(runs, jobs=options.jobs, until=until)
    rebuild(missing)
    found = results()
    print(f"{len(found)} targets:", dict(Counter(row["conclusion"] for row in found.values())))
    return 0


def _key(case: Case) -> tuple[str, str, str]:
    return case.package, case.target, case.kind


def _wants_power(row: dict[str, Any] | None) -> bool:
    return row is not None and row["conclusion"] == NONE_FOUND and not row.get("power")


if __name__ == "__main__":
    raise SystemExit(main())
