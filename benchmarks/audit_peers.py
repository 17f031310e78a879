"""The planted corpus through our audit, DeepGym 0.6.2 and rewardprobe 0.1.0, by one definition.

    python benchmarks/audit_peers.py                    # all entries and tools; writes the results
    python benchmarks/audit_peers.py --resume           # go on where an interrupted run ended
    python benchmarks/audit_peers.py --resume --again unhack    # one tool anew
    python benchmarks/audit_peers.py --minutes 10       # as many entries as that allows
    python benchmarks/audit_peers.py --tools deepgym,rewardprobe --every 9 --only boxed   # a part
    python benchmarks/audit_peers.py --corpus FOLDER    # another corpus of that form

Each tool takes each entry in the form that it supports best (`peers/audit_forms.py`,
`peers/audit_deepgym.py`, `peers/audit_rewardprobe.py` say which); the tools take turns on an entry,
in an order that changes with every entry. Entries come in an order that a hash of their names
gives, so that a run that ends early has a sample; the denominators of the results say of how many.
A process of its own is started for each. The clock runs in that process, from the target's loading
to the report, without the imports; CPU is that of the process and of all that it started, imports
included. Language models are used by none.

`audit_scores.py` has the definition: what counts are the completions that a tool reports. Its own
word, *exploitable*, is counted beside it:

    unhack                     the conclusion; reported are its findings, hacks and false accepts
    deepgym audit              an attack scores at least 0.5; reported are those attacks
    deepgym qa --mutants       the gate fails; reported is whatever it ran and rewarded at least 0.5
    rewardprobe --ci           a critical finding, a crash on a missing column as well as a reward
    rewardprobe, listed        a critical finding or a warning: whatever its report lists
    rewardprobe, rewarded          one of these that says that a wrong completion scores above 0.5

`inconclusive`, an unproven conclusion, a failure and the time limit are no verdict. For peers it is
checked that the form keeps the label: a right completion must have the full score, the witness of a
flawed entry too, wrong completions of a sound entry must not, and a blank one must have what the
verifier as written gives it. Entries where it does not are counted (`label_lost`).
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peers"))

from audit_forms import compare, samples  # noqa: E402
from audit_quality import SECONDS, audit_entry  # noqa: E402
from audit_scores import COLUMNS, is_found, is_reported, show  # noqa: E402
from measure import save  # noqa: E402
from setup_peers import ROOT, build  # noqa: E402
from unhack import Problem, Task, run_batch  # noqa: E402
from unhack.sandbox.pool.pool import Pool  # noqa: E402
from unhack_verifier_bench import (  # noqa: E402
    PlantedEntry,
    PlantedKind,
    planted_entries,
    standings,
)
from unhack_verifier_bench.claims import verifier_of  # noqa: E402
from unhack_verifier_bench.entries import HOME  # noqa: E402

TIME_LIMIT_S = 120.0
"""Seconds a tool may take for an entry."""
GRACE_S = 5.0
SET_CHILD_SUBREAPER = 36
"""From `linux/prctl.h`: processes that lose their parent become ours."""
ERROR_TAIL = 400
MOST_CLAIMS = 60
"""Reported completions of an entry that are judged."""


@dataclass(frozen=True)
class Tool:
    """How to start one tool on an entry."""

    peer: str
    """Its environment under `.peers-venv`; empty for ours."""
    action: str

    def command(self, name: str, *, corpus: Path, action: str) -> list[str]:
        """The process for an entry."""
        if not self.peer:
            ours = [sys.executable, str(HERE / "audit_peers.py")]
            return [*ours, "--ours", name, "--corpus", str(corpus)]
        python = ROOT / self.peer / "bin" / "python"
        driver = HERE / "peers" / f"audit_{self.peer}.py"
        return [str(python), str(driver), name, action, "--corpus", str(corpus)]


TOOLS = {
    "unhack": Tool("", "audit"),
    "deepgym audit": Tool("deepgym", "audit"),
    "deepgym qa": Tool("deepgym", "qa"),
    "rewardprobe": Tool("rewardprobe", "probe"),
}


def run(command: list[str], *, limit: float) -> dict[str, Any]:
    """What a process printed, or `error`, with `seconds` and `cpu_s`."""
    started, spent = time.perf_counter(), _cpu_s()
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
            found = {"error": f"exit {process.returncode}: {err.strip()[-ERROR_TAIL:]}"}
        except subprocess.TimeoutExpired:
            end(process)
            out, found = "", {"error": f"time limit of {limit:g} s"}
    with suppress(IndexError, ValueError):
        found = json.loads(out.splitlines()[-1])
    adopt()
    spent = round(_cpu_s() - spent, 2)
    return {"seconds": round(time.perf_counter() - started, 2), **found, "cpu_s": spent}


def adopt() -> None:
    """Wait for what a process left behind, whose CPU time counts as its own."""
    with suppress(ChildProcessError):
        for _ in range(10):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(0.05)


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def end(process: subprocess.Popen[str]) -> None:
    """End the process and its session, kindly first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=GRACE_S)
            return


def print_ours(entry: PlantedEntry) -> None:
    """Our audit of one entry, as a JSON line."""
    row = audit_entry(entry, seconds=SECONDS)
    words = {"exploitable": "exploitable", "sound": "robust"}
    reading = {"says": words.get(row["conclusion"], "none"), "claims": row["witnesses"]}
    keys = ("found", "kinds", "why", "calls", "seconds")
    print(json.dumps({"readings": {"all": reading}} | {key: row[key] for key in keys}))


def code_scores(entry: PlantedEntry) -> list[float]:
    """What a code entry's own verifier gives its samples, run by us as the corpus says."""
    row = entry.problems[0]
    task = Task(Problem(entry.name, row.prompt, reference=row.correct[0]), verifier_of(entry))
    return [verdict.score or 0.0 for verdict in run_batch(task, samples(entry, row)).verdicts]


def check_label(entry: PlantedEntry, tool: Tool, *, corpus: Path, limit: float) -> list[str]:
    """How the form of a peer departs from the label; empty when it does not."""
    result = run(tool.command(entry.name, corpus=corpus, action="label"), limit=limit)
    if "error" in result:
        return [result["error"]]
    wrong = list(result["wrong"])
    if entry.kind is PlantedKind.CODE:
        ours, [row] = code_scores(entry), entry.problems
        wrong += [f"as written, {text}" for text in compare(entry, row, theirs=ours, ours=None)]
        [empty], expected = result["empty"], ours[len(row.correct)]
        if empty != expected:
            wrong.append(f"blank completion: {empty:g}, not {expected:g}")
    return wrong


def examine(entry: PlantedEntry, name: str, *, corpus: Path, limit: float) -> dict[str, Any]:
    """What one tool does with one entry, with the standings of what it reports."""
    tool = TOOLS[name]
    result = run(tool.command(entry.name, corpus=corpus, action=tool.action), limit=limit)
    result["at"] = round(os.getloadavg()[0], 1)
    readings = result.get("readings", {}).values()
    claims = list(dict.fromkeys(text for one in readings for text in one["claims"]))[:MOST_CLAIMS]
    with closing(Pool()) as backend:
        worth = dict(zip(claims, map(str, standings(entry, claims, backend=backend)), strict=True))
    for one in readings:
        one["standings"] = [worth[text] for text in one["claims"] if text in worth]
        one["claims"] = [text[:ERROR_TAIL] for text in one["claims"]]
    if tool.peer and tool.action != "qa":
        result["label"] = check_label(entry, tool, corpus=corpus, limit=limit)
    return result


def collect(
    wanted: list[PlantedEntry], journal: Path, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """A row for each entry, out of the journal as far as it goes when resuming."""
    done: dict[tuple[str, str], dict[str, Any]] = {}
    if options.resume and journal.exists():
        for line in journal.read_text().splitlines():
            told = json.loads(line)
            done[told["name"], told["tool"]] = told["result"]
        done = {key: one for key, one in done.items() if key[1].split()[0] not in options.again}
    else:
        journal.write_text("")
    names = [name for name in TOOLS if name.split()[0] in options.tools]
    rows: list[dict[str, Any]] = []
    deadline = time.monotonic() + 60 * options.minutes
    for turn, entry in enumerate(sorted(wanted, key=lambda one: _digest(one.name))):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            if (entry.name, name) not in done and time.monotonic() < deadline:
                found = examine(entry, name, corpus=options.corpus, limit=options.limit)
                done[entry.name, name] = found
                with journal.open("a") as file:
                    told = {"name": entry.name, "tool": name, "result": found}
                    file.write(json.dumps(told) + "\n")
        results = {name: done[entry.name, name] for name in TOOLS if (entry.name, name) in done}
        if not results:
            continue
        rows.append({
            "name": entry.name,
            "kind": entry.kind.value,
            "label": entry.label.value if entry.label else "sound",
            "flaws": list(entry.flaws),
            "labels": {name.split()[0]: one["label"] for name, one in results.items()
                       if "label" in one},
            "results": results,
        })  # fmt: skip
        show_row(rows[-1])
    return rows


def show_row(row: dict[str, Any]) -> None:
    """One line for the entry, then whose form lost its label, then failures."""
    marks: list[str] = []
    for column in COLUMNS.values():
        if column.tool in row["results"]:
            found, reported = is_found(row, column), is_reported(row, column)
            marks.append("X" if found else "!" if reported else "-")
    seconds = " ".join(f"{one['seconds']:6.1f}" for one in row["results"].values())
    print(f"{'  '.join(marks)}  {seconds}  {row['name']:24} {row['label']}", flush=True)
    for peer, wrong in row["labels"].items():
        if wrong:
            print(f"      label not kept for {peer}: {wrong[:3]}")
    for name, result in row["results"].items():
        if "error" in result:
            print(f"      {name}: {result['error']}")


def main() -> int:
    """Run, print, save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    peers = sorted({tool.peer or "unhack" for tool in TOOLS.values()})
    parser.add_argument("--only", default="", help="entries whose name holds this")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--corpus", type=Path, default=HOME, help="a folder in the corpus's form")
    parser.add_argument("--tools", default=",".join(peers))
    parser.add_argument("--again", default="", help="with --resume: these tools anew")
    parser.add_argument("--limit", type=float, default=TIME_LIMIT_S, help="seconds a tool, entry")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--ours", metavar="NAME", help="our audit of one entry, as a JSON line")
    options = parser.parse_args()
    if options.ours:
        [entry] = [one for one in planted_entries(options.corpus) if one.name == options.ours]
        print_ours(entry)
        return 0
    options.corpus = options.corpus.resolve()
    options.tools, options.again = (
        set(filter(None, names.split(","))) for names in (options.tools, options.again)
    )
    if unknown := (options.tools | options.again) - {*peers}:
        parser.error(f"no tool {sorted(unknown)[0]!r}; one of {', '.join(peers)}")
    ROOT.mkdir(exist_ok=True)
    (ROOT / ".gitignore").write_text("*\n")
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for peer in options.tools - {"unhack"}:
        build(peer)
    wanted = [one for one in planted_entries(options.corpus) if options.only in one.name]
    wanted = wanted[:: options.every]
    if not wanted:
        parser.error(f"no entry has {options.only!r} in its name")
    own = "" if options.corpus == HOME else f"-{_digest(str(options.corpus))}"
    rows = collect(wanted, ROOT / f"audit_peers{own}.jsonl", options)
    if not rows:
        parser.error("no time for a single entry")
    summary = show(rows)
    if options.corpus == HOME and not options.only and options.every == 1:
        document = {"entries": len(wanted), "seen": len(rows), "summary": summary}
        command = "python benchmarks/audit_peers.py"
        save("audit_peers", command, document, records={"rows": rows})
    return 0


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


if __name__ == "__main__":
    raise SystemExit(main())
