"""Verdicts a second by workers: shards, one host process, and forks of a plain interpreter.

    python benchmarks/many_cores.py --out many_cores.json            # both parts, under 8 minutes
    python benchmarks/many_cores.py --part kernel --out kernel.json  # one of them

Rounds alternate the cells, each a process of its own; in `pinned`, each fork server of the shards
is bound to a core of its own from outside, and its jobs with it. The figure is the scaling of
sealed verdicts over that of bare forks (`of_bare`), from 1 worker to nearly as many as there are
cores. On an idle machine the kernel starts the children of a bare fork on other cores, with cold
caches; on a full one there are none. Sealed jobs begin on their fork server's core; so forks that
do as well (`placed`) stand beside the bare ones, and `of_placed` is the scaling over theirs.

A verdict takes CPU of the whole machine, a part of it beside its job (the host, the fork server):
`bound` says how far that lets the rate go if no core were ever idle, `causes` what grows in a
verdict from the fewest workers to the most: CPU by kind (time that the hypervisor took among it),
interrupts, faults, and places in the kernel (`kernel_time.py`). The part `kernel` adds to bare
forks, one at a time, what a sealed job needs (`many_cores_forks.py`). Every cell is written to
OUT.cells as it ends; the same command goes on from there.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
try:
    import unhack  # noqa: F401
except ModuleNotFoundError:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from kernel_time import Counters, Profile, growth
from many_cores_forks import INGREDIENTS, count_forks, run_ingredient
from measure import machine, spread

SEALED = ("shards", "pinned", "local")
FORKS = {"bare": "work", "placed": "work, begun on its parent's core"}
"""Forks of a plain interpreter, by the ingredient that they are measured with."""
MODES = (*SEALED, *FORKS)
CELL_LIMIT_S = 90
CASES = 7
BUSY = ("user", "nice", "system", "irq", "softirq")
"""Kinds of CPU time that are this machine's own: what the hypervisor took (`steal`) is none."""


def most_workers(cores: int) -> int:
    """15 of 16 cores, 30 of 32."""
    return max(2, cores - max(1, cores // 16))


def sources(count: int, start: int) -> list[str]:
    """Completions that all differ, every tenth of which is wrong."""
    return [
        f"def f(n):\n    return n * n + {int(k % 10 == 0)}\n# {k}\n"
        for k in range(start, start + count)
    ]


def cpu_s(pid: int) -> float:
    """CPU seconds of one process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bind_servers(shards: list[int]) -> None:
    """Bind each fork server of these processes to a core of its own, its forks with it."""
    servers: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent in shards and b"fork_server" in (folder / "cmdline").read_bytes():
                servers.append(int(folder.name))
        except OSError:
            continue
    if not servers:
        raise SystemExit("the shards have no fork server")
    for core, server in zip(sorted(os.sched_getaffinity(0)), servers, strict=False):
        os.sched_setaffinity(server, {core})


def sealed_cell(mode: str, workers: int, seconds: float) -> dict[str, Any]:
    """Sealed verdicts a second of `run_batch`, and the CPU of each verdict."""
    from unhack import Case, FunctionVerifier, Pool, Problem, Task, run_batch
    from unhack.tasks.execution.choosing import SLOTS_OF_A_SHARD
    from unhack.tasks.execution.shards.executor import ShardsExecutor

    cases = tuple(Case((n,), expected=n * n) for n in range(CASES))
    task = Task(Problem("squares", ""), FunctionVerifier("f", cases))
    executor = None
    shards = -(-workers // int(os.environ.get("SLOTS_OF_A_SHARD", SLOTS_OF_A_SHARD)))
    if mode == "local":
        place: dict[str, Any] = {"backend": Pool(slots=workers)}
    else:
        executor = ShardsExecutor(shards=shards, slots=workers)
        place = {"executor": executor}
    done = 0

    def judge(count: int) -> Any:
        nonlocal done
        batch = run_batch(task, sources(count, done), dedupe=False, **place)
        rewards = [float((done + k) % 10 != 0) for k in range(count)]
        if list(batch.rewards) != rewards:
            raise SystemExit(f"wrong verdicts among those from {done} to {done + count}")
        done += count
        return batch

    started = time.perf_counter()
    while time.perf_counter() - started < 1.0 or done < 40 * workers:
        judge(20 * workers)
    pids = executor.pids() if executor is not None else []
    if mode == "pinned":
        bind_servers(pids)
    started = time.perf_counter()
    judge(40 * workers)
    count = max(100, int(40 * workers / (time.perf_counter() - started) * seconds))
    before = [cpu_s(pid) for pid in pids]
    with Counters() as counters:
        own, started = time.process_time(), time.perf_counter()
        batch = judge(count)
        wall = time.perf_counter() - started
        own = time.process_time() - own
    below = sum(cpu_s(pid) for pid in pids) - sum(before)
    each = counters.each(count)
    with Profile() as profile:  # apart from what is timed: samples cost time
        judge(count // 2)
    return {
        "rate": round(count / wall, 1),
        "n": count,
        "parent_cpu_ms": round(own / count * 1e3, 4),
        "shards_cpu_ms": round(below / count * 1e3, 4),
        "machine_cpu_ms": round(sum(each.get(f"{kind}_ms", 0.0) for kind in BUSY), 3),
        "each": each,
        "places_us": profile.each(count // 2),
        "shards": len(pids),
        "isolation": batch.verdicts[0].isolation,
    }


def run_cell(name: str, workers: int, seconds: float) -> dict[str, Any]:
    """One cell, in this process."""
    if name in FORKS:
        return count_forks(FORKS[name], workers, seconds)
    if name in SEALED:
        return sealed_cell(name, workers, seconds)
    return run_ingredient(name, workers, seconds)


class Cells:
    """The cells that are measured, kept in a file as they come."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.found: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def measure(self, name: str, workers: int, round_number: int, seconds: float) -> None:
        """Measure a cell in a process of its own, unless it is there."""
        key = {"cell": name, "workers": workers, "round": round_number}
        if any(key.items() <= cell.items() for cell in self.found):
            return
        command = [sys.executable, __file__, "--cell", name, "--workers", str(workers)]
        command += ["--seconds", str(seconds)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=CELL_LIMIT_S, check=False
            )
            lines = done.stdout.strip().splitlines()
            values = json.loads(lines[-1]) if done.returncode == 0 and lines else {}
            values = values or {"error": (done.stderr or "no answer").strip()[-300:]}
        except subprocess.TimeoutExpired:
            values = {"error": f"no end within {CELL_LIMIT_S} s"}
        cell = {**key, **values}
        self.found.append(cell)
        with self.path.open("a") as file:
            file.write(json.dumps(cell) + "\n")
        short = {key: value for key, value in cell.items() if not isinstance(value, dict)}
        print(json.dumps(short), flush=True)

    def values(self, name: str, workers: int, field: str = "rate") -> list[Any]:
        """One field of a cell's rounds."""
        return [
            cell[field]
            for cell in self.found
            if cell["cell"] == name and cell["workers"] == workers and field in cell
        ]


def scaling(cells: Cells, counts: list[int], *, cores: int) -> dict[str, Any]:
    """Rates, CPU of each verdict, and the scaling of the largest count over that of bare forks."""
    rows: list[dict[str, Any]] = []
    for workers in counts:
        for mode in MODES:
            rates = cells.values(mode, workers)
            if not rates:
                continue
            row: dict[str, Any] = {"mode": mode, "workers": workers, "rate": spread(rates)}
            for field in ("parent_cpu_ms", "shards_cpu_ms", "machine_cpu_ms", "shards"):
                found = cells.values(mode, workers, field)
                if found:
                    row[field] = statistics.median(found)
            if "machine_cpu_ms" in row:
                row["busy_cores"] = round(row["rate"]["median"] * row["machine_cpu_ms"] / 1e3, 2)
            rows.append(row)
    low, high = counts[0], counts[-1]
    median = {
        (mode, workers): statistics.median(cells.values(mode, workers))
        for mode in MODES
        for workers in (low, high)
        if cells.values(mode, workers)
    }
    figures: dict[str, Any] = {"rows": rows}
    if len(median) == 2 * len(MODES):
        times = {mode: median[mode, high] / median[mode, low] for mode in MODES}
        bare = times["bare"]
        figures["scaling"] = {mode: round(times[mode], 3) for mode in MODES}
        for forks in FORKS:
            figures[f"of_{forks}"] = {mode: round(times[mode] / times[forks], 3) for mode in SEALED}
        figures["rate_of_bare"] = {
            mode: round(median[mode, high] / median["bare", high], 3) for mode in SEALED
        }
        figures["bound"] = {
            row["mode"]: bound(row, cores=cores, one=median[row["mode"], low], bare=bare)
            for row in rows
            if row["workers"] == high and "machine_cpu_ms" in row
        }
    return figures


def bound(row: dict[str, Any], *, cores: int, one: float, bare: float) -> dict[str, float]:
    """The rate of a row if all cores were busy at its CPU of a verdict, and what follows for the
    scaling; `one` is the rate of one worker, `bare` the scaling of bare forks."""
    rate = cores / row["machine_cpu_ms"] * 1e3
    return {
        "rate": round(rate, 1),
        "scaling": round(rate / one, 3),
        "of_bare": round(rate / one / bare, 3),
    }


def causes(cells: Cells, low: int, high: int) -> dict[str, Any]:
    """What each verdict takes with the fewest workers and with the most, and the places in the
    kernel whose time grows most, by mode; of the last round."""
    found: dict[str, Any] = {}
    for mode in SEALED:
        few, many = cells.values(mode, low, "each"), cells.values(mode, high, "each")
        if not few or not many:
            continue
        names = sorted({*few[-1], *many[-1]})
        places = [cells.values(mode, count, "places_us")[-1] for count in (low, high)]
        found[mode] = {
            "each": {name: [few[-1].get(name, 0), many[-1].get(name, 0)] for name in names},
            "places": growth(*places),
            **{key: places[1][key] for key in ("error",) if key in places[1]},
        }
    return found


def ingredients(cells: Cells, high: int) -> list[dict[str, Any]]:
    """The scaling of forks with each ingredient, from one process to `high`."""
    rows: list[dict[str, Any]] = []
    for name in INGREDIENTS:
        one, many = cells.values(name, 1), cells.values(name, high)
        if not one or not many:
            errors = [cell["error"] for cell in cells.found
                      if cell["cell"] == name and "error" in cell]  # fmt: skip
            rows.append({"ingredient": name, "error": errors[0][-120:] if errors else "not run"})
            continue
        ratio = statistics.median(many) / statistics.median(one)
        rows.append(
            {
                "ingredient": name,
                "one": round(statistics.median(one)),
                "many": round(statistics.median(many)),
                "scaling": round(ratio, 2),
                "cpu_ms_one": round(statistics.median(cells.values(name, 1, "cpu_ms")), 3),
                "cpu_ms_many": round(statistics.median(cells.values(name, high, "cpu_ms")), 3),
            }
        )
    return rows


def main() -> int:
    """Measure what is missing, then write and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("many_cores.json"))
    parser.add_argument("--part", choices=("scaling", "kernel", "both"), default="both")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each cell")
    parser.add_argument("--counts", type=int, nargs="+", help="workers, the fewest first")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        print(json.dumps(run_cell(options.cell, options.workers, options.seconds)))
        return 0
    here = machine()
    most = most_workers(here["cores"])
    counts: list[int] = options.counts or sorted({1, max(1, here["cores"] // 2), most})
    cells = Cells(Path(f"{options.out}.cells"))
    started = time.monotonic()
    if options.part != "kernel":
        for number in range(options.rounds):
            for workers in counts:
                for mode in MODES:
                    cells.measure(mode, workers, number, options.seconds)
    if options.part != "scaling":
        for number in range(2):
            for name in INGREDIENTS:
                for workers in (1, counts[-1]):
                    cells.measure(name, workers, number, options.seconds / 3)
    document: dict[str, Any] = {
        "command": "python benchmarks/" + " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "machine": here,
        "rounds": options.rounds,
        **scaling(cells, counts, cores=here["cores"]),
    }
    if options.part != "kernel":
        document["causes"] = causes(cells, counts[0], counts[-1])
    if options.part != "scaling":
        document["kernel"] = {"workers": counts[-1], "rows": ingredients(cells, counts[-1])}
    errors = [cell for cell in cells.found if "error" in cell]
    document["cells_without_a_figure"] = len(errors)
    options.out.write_text(json.dumps(document, indent=1) + "\n")
    print(json.dumps(document, indent=1))
    print(f"{time.monotonic() - started:.0f} s; written: {options.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
