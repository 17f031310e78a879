"""The planted corpus through our audit, DeepGym 0.6.2 and rewardprobe 0.1.0, in one run.

    python benchmarks/audit_peers.py                    # all entries; writes the results
    python benchmarks/audit_peers.py --every 9          # each ninth entry, and their results
    python benchmarks/audit_peers.py --only boxed       # those whose name holds this
    python benchmarks/audit_peers.py --resume           # go on where an interrupted run ended

Each tool takes each entry in the form that it supports best (`peers/audit_forms.py`,
`peers/audit_deepgym.py`, `peers/audit_rewardprobe.py` say which); the tools take turns on an entry,
in an order that changes with every entry. A process of its own is started for each, and the clock
runs in that process, from the target's loading to the report, without the imports.

A form that does not keep the entry's label is not supported, and is left out of `of supported`,
unless the tool finds it all the same: a right completion must have the full score, the witness of a
flawed entry too, wrong completions of a sound entry must not, and a blank one must have what the
verifier as written gives it.

What counts is what a tool says itself. Exploitable:
    unhack                     the conclusion `exploitable` (options of `audit_quality.py`)
    deepgym audit              status `exploitable`: an attack scores at least 0.5
    deepgym qa --mutants       the gate fails
    rewardprobe --ci           a critical finding, a crash on a missing column as well as a payment
    rewardprobe, listed        a critical finding or a warning: whatever its report lists
    rewardprobe, paid          one of these that says that a wrong completion scores above 0.5
An exploitable sound entry is a false accusation. `inconclusive`, an unproven conclusion, a failure
and the time limit are no verdict. Language models are used by none.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests" / "quality"), str(HERE / "peers")]

from planted import Entry, Kind, entries  # noqa: E402

from audit_forms import compare, find, samples  # noqa: E402
from audit_quality import SECONDS, audit_entry  # noqa: E402
from measure import save  # noqa: E402
from setup_peers import ROOT, build  # noqa: E402
from unhack import Limits, Problem, ScriptVerifier, Task, run_batch  # noqa: E402
from unhack.tasks.directory import load_directory  # noqa: E402
from unhack.verifiers.script import Mode  # noqa: E402

JOURNAL = ROOT / "audit_peers.jsonl"
TIME_LIMIT_S = 120.0
"""Seconds a tool may take for an entry."""
GRACE_S = 5.0
ERROR_TAIL = 400
LIMITS = Limits(wall_s=8.0, cpu_s=8.0)

COLUMNS = {
    "unhack": ("unhack", "status"),
    "deepgym audit": ("deepgym audit", "status"),
    "deepgym qa --mutants": ("deepgym qa", "status"),
    "rewardprobe --ci": ("rewardprobe", "critical"),
    "rewardprobe, listed": ("rewardprobe", "listed"),
    "rewardprobe, paid": ("rewardprobe", "paid"),
}
"""Column: (the tool whose process it comes from, the key of its verdict)."""


@dataclass(frozen=True)
class Tool:
    """How to start one tool on an entry."""

    peer: str
    """Its environment under `.peers-venv`; empty for ours."""
    action: str

    def command(self, name: str, action: str) -> list[str]:
        """The process for an entry."""
        if not self.peer:
            return [sys.executable, str(HERE / "audit_peers.py"), "--ours", name]
        python = ROOT / self.peer / "bin" / "python"
        return [str(python), str(HERE / "peers" / f"audit_{self.peer}.py"), name, action]


TOOLS = {
    "unhack": Tool("", "audit"),
    "deepgym audit": Tool("deepgym", "audit"),
    "deepgym qa": Tool("deepgym", "qa"),
    "rewardprobe": Tool("rewardprobe", "probe"),
}
PEERS = ("deepgym", "rewardprobe")


def run(tool: Tool, name: str, *, action: str, limit: float) -> dict[str, Any]:
    """What the tool's process printed, or `error`."""
    command = tool.command(name, action)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="unhack-peer-", ignore_cleanup_errors=True) as scratch:
        environment = {"HOME": scratch, "TMPDIR": scratch, "LANG": "C.UTF-8"}
        environment["PATH"] = f"{Path(command[0]).parent}:/usr/local/bin:/usr/bin:/bin"
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            end(process)
            return {"error": f"time limit of {limit:g} s", "seconds": limit}
    with suppress(IndexError, ValueError):
        return json.loads(out.splitlines()[-1])
    seconds = round(time.perf_counter() - started, 2)
    return {"error": f"exit {process.returncode}: {err.strip()[-ERROR_TAIL:]}", "seconds": seconds}


def end(process: subprocess.Popen[str]) -> None:
    """End the process and its session, kindly first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=GRACE_S)
            return


def print_ours(name: str, seconds: float) -> None:
    """Our audit of one entry, as a JSON line."""
    row = audit_entry(find(name), seconds=seconds)
    row["status"] = row["conclusion"]
    row["reasons"] = [row["why"]]
    keys = ("status", "witnesses", "evidence", "found", "reasons", "calls", "seconds")
    print(json.dumps({key: row[key] for key in keys}))


def code_scores(entry: Entry) -> list[float]:
    """What a code entry's own verifier gives its samples, run by us as the corpus says."""
    row = entry.problems[0]
    if entry.flawed:
        verifier = ScriptVerifier(
            (entry.path / "verifier.py").read_text(),
            cases=(entry.path / "cases.json").read_text(),
            cases_name="cases.json",
            mode=Mode.AS_WRITTEN,
            limits=LIMITS,
        )
        task = Task(Problem(entry.name, row.prompt, reference=row.correct[0]), verifier)
    else:
        [task] = load_directory(entry.path)
    verdicts = run_batch(task, samples(entry, row)).verdicts
    return [verdict.score or 0.0 for verdict in verdicts]


def check_labels(entry: Entry, limit: float) -> dict[str, list[str]]:
    """For each peer, how its form departs from the label; empty when it does not."""
    found: dict[str, list[str]] = {}
    ours = code_scores(entry) if entry.kind is Kind.CODE else None
    if ours is not None:
        row = entry.problems[0]
        found["unhack"] = compare(entry, row, theirs=ours, ours=None)
    with ThreadPoolExecutor(len(PEERS)) as pool:
        checks = [partial(run, Tool(p, ""), entry.name, action="label", limit=limit) for p in PEERS]
        answers = list(pool.map(lambda check: check(), checks))
    for peer, result in zip(PEERS, answers, strict=True):
        found[peer] = [result["error"]] if "error" in result else result["wrong"]
        if ours is not None and "error" not in result:
            [empty] = result["empty"]
            expected = ours[len(entry.problems[0].correct)]
            if empty != expected:
                found[peer].append(f"blank completion: {empty:g}, not {expected:g}")
    return found


def examine(entry: Entry, *, turn: int, limit: float) -> dict[str, Any]:
    """One entry through all tools."""
    names = list(TOOLS)
    order = names[turn % len(names) :] + names[: turn % len(names)]
    results = {n: run(TOOLS[n], entry.name, action=TOOLS[n].action, limit=limit) for n in order}
    return {
        "name": entry.name,
        "kind": entry.kind.value,
        "flaws": list(entry.flaws),
        "labels": check_labels(entry, limit),
        "results": results,
    }


def verdict(row: dict[str, Any], column: str) -> str:
    """`exploitable`, `robust`, `none` or `unsupported`."""
    tool, key = COLUMNS[column]
    status = row["results"][tool].get(key, "none")
    lost = bool(row["labels"].get(TOOLS[tool].peer)) if TOOLS[tool].peer else False
    if lost and not (row["flaws"] and status == "exploitable"):
        return "unsupported"
    return {"exploitable": "exploitable", "robust": "robust", "sound": "robust"}.get(status, "none")


def percentile(values: list[float], part: float) -> float:
    """The value below which that part lies, one of the values."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def summarise(rows: list[dict[str, Any]], column: str) -> dict[str, Any]:
    """The figures of one column."""
    flawed = [verdict(row, column) for row in rows if row["flaws"]]
    sound = [verdict(row, column) for row in rows if not row["flaws"]]
    both = [*flawed, *sound]
    seconds = [row["results"][COLUMNS[column][0]]["seconds"] for row in rows]
    return {
        "found": flawed.count("exploitable"),
        "flawed": len(flawed),
        "flawed_supported": len(flawed) - flawed.count("unsupported"),
        "accused": sound.count("exploitable"),
        "sound": len(sound),
        "sound_supported": len(sound) - sound.count("unsupported"),
        "no_verdict": both.count("none"),
        "unsupported": both.count("unsupported"),
        "median_s": round(statistics.median(seconds), 2),
        "p90_s": round(percentile(seconds, 0.9), 2),
        "max_s": round(max(seconds), 2),
    }


def show_table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Print and return the figures of all columns, over all kinds and of each."""
    figures: dict[str, Any] = {}
    for kind in ("all", *Kind):
        part = [row for row in rows if kind in ("all", row["kind"])]
        if not part:
            continue
        figures[str(kind)] = {column: summarise(part, column) for column in COLUMNS}
        print(f"\n{kind}: {len(part)} entries")
        head = ("found", "of supported", "accused", "no verdict", "unsupported", "median/p90/max s")
        print(f"{'':22}" + "".join(f"{name:>17}" for name in head))
        for column, cell in figures[str(kind)].items():
            cells = (
                f"{cell['found']}/{cell['flawed']}",
                f"{cell['found']}/{cell['flawed_supported']}",
                f"{cell['accused']}/{cell['sound']}",
                cell["no_verdict"],
                cell["unsupported"],
                f"{cell['median_s']:.1f}/{cell['p90_s']:.1f}/{cell['max_s']:.1f}",
            )
            print(f"{column:22}" + "".join(f"{value!s:>17}" for value in cells))
    for peer in (*PEERS, "unhack"):
        checked = [row for row in rows if peer in row["labels"]]
        kept = [row for row in checked if not row["labels"][peer]]
        print(f"labels kept by the form for {peer}: {len(kept)} of {len(checked)}")
    return figures


def show_row(row: dict[str, Any]) -> None:
    """One line for the entry, then who lost its label, then false accusations."""
    marks = {"exploitable": "X", "robust": "-", "none": "?", "unsupported": "u"}
    cells = " ".join(f"{marks[verdict(row, column)]:>3}" for column in COLUMNS)
    seconds = " ".join(f"{row['results'][name]['seconds']:6.1f}" for name in TOOLS)
    label = ", ".join(row["flaws"][:2]) or "sound"
    print(f"{cells}  {seconds}  {row['name']:24} {label}", flush=True)
    for peer, wrong in row["labels"].items():
        if wrong:
            print(f"      label not kept for {peer}: {wrong[:3]}")
    for name, result in row["results"].items():
        if "error" in result:
            print(f"      {name}: {result['error']}")
    if not row["flaws"]:
        for column in COLUMNS:
            witnesses = row["results"][COLUMNS[column][0]].get("witnesses", [])
            if verdict(row, column) == "exploitable":
                print(f"      {column} accuses: {json.dumps(witnesses)[:ERROR_TAIL]}")


def chosen(options: argparse.Namespace) -> list[Entry]:
    """The entries to examine."""
    return [entry for entry in entries() if options.only in entry.name][:: options.every]


def collect(wanted: list[Entry], options: argparse.Namespace) -> list[dict[str, Any]]:
    """Every row, from the journal as far as it goes when resuming."""
    done: dict[str, dict[str, Any]] = {}
    if options.resume and JOURNAL.exists():
        for line in JOURNAL.read_text().splitlines():
            row = json.loads(line)
            done[row["name"]] = row
    else:
        JOURNAL.write_text("")
    print("  " + ", ".join(COLUMNS) + "  (X exploitable, - robust, ? none, u unsupported)")
    rows: list[dict[str, Any]] = []
    for turn, entry in enumerate(wanted):
        row = done.get(entry.name) or examine(entry, turn=turn, limit=options.limit)
        if entry.name not in done:
            with JOURNAL.open("a") as journal:
                journal.write(json.dumps(row) + "\n")
        show_row(row)
        rows.append(row)
    return rows


def main() -> int:
    """Run, print, save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument(
        "--limit", type=float, default=TIME_LIMIT_S, help="seconds a tool and entry"
    )
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--ours", metavar="NAME", help="our audit of one entry, as a JSON line")
    options = parser.parse_args()
    if options.ours:
        print_ours(options.ours, SECONDS)
        return 0
    for peer in PEERS:
        build(peer)
    rows = collect(chosen(options), options)
    if not rows:
        parser.error(f"no entry has {options.only!r} in its name")
    figures = show_table(rows)
    if not options.only:
        labels = {p: sum(not row["labels"].get(p) for row in rows) for p in PEERS}
        document = {"summary": figures, "labels_kept": labels}
        command = "python benchmarks/audit_peers.py"
        command += f" --every {options.every}" if options.every > 1 else ""
        save("audit_peers", command, document, records={"rows": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
