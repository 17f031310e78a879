"""Judge every honest GPU kernel and every cheat that ships, on one device.

    PYTHONPATH=src python3 benchmarks/tournament_gpu_kernels.py [--only WORD] [--pairs N] [--seed N]
        [--seconds S] [--done FILE]

Each entry of the corpus (`gpu/submissions`) plays against eager PyTorch on its own problem, and the
reference of each problem plays against itself (`control`). The exit code is 0 when every honest
entry is valid and unflagged, and every cheat scores 0 with the flag that its entry names (none: it
is invalid). Rows are written as they end, to $OUT/rows.jsonl where OUT is set; `--done` leaves out
those of an earlier file, `--seconds` starts no entry after that time.

Needs PyTorch with CUDA, Triton and nvcc; no network. Workers are processes of their own, but not
sealed (see `unhack.tournament.contests.kernels.gpu.judge`): all code judged here is in this repo.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[1] / "src"
sys.path.insert(0, str(SOURCE))

from measure import host  # noqa: E402
from unhack.tournament.contest import Measurement  # noqa: E402
from unhack.tournament.contests.kernels import score  # noqa: E402
from unhack.tournament.contests.kernels.gpu import corpus, judge, memory  # noqa: E402
from unhack.tournament.contests.kernels.gpu.problems import registry  # noqa: E402

WORKER = "unhack.tournament.contests.kernels.gpu.worker"
WARM = 5
"""Workers that are started ahead: they have imported PyTorch and hold nothing."""


@dataclass(frozen=True, slots=True)
class Row:
    """One submission to judge."""

    kind: str
    """`control`, `honest` or `cheats`."""
    name: str
    problem: str
    flag: str
    entry: corpus.Entry | None = None
    """None for a control: the reference itself."""


def rows() -> list[Row]:
    """Everything that is judged, problem by problem."""
    found = [Row("control", f"reference.{name}", name, "") for name in registry.NAMES]
    for kind in ("honest", "cheats"):
        for entry in corpus.entries(kind).values():
            found.append(Row(kind, entry.name, entry.problem, entry.flag, entry))
    return sorted(found, key=lambda row: registry.NAMES.index(row.problem))


def nvcc() -> str:
    """The compiler's path."""
    found = shutil.which("nvcc")
    for path in (Path("/usr/local/cuda/bin/nvcc"), *Path("/usr/local").glob("cuda-*/bin/nvcc")):
        if found is None and path.exists():
            found = str(path)
    if found is None:
        raise SystemExit("nvcc is not here: install the CUDA toolkit")
    return found


def prepare(folder: Path, entry: corpus.Entry, arch: str) -> Path:
    """Write a submission and build its CUDA part; the path of its Python file."""
    folder.mkdir()
    for name, text in entry.files.items():
        (folder / name).write_bytes(text)
    if entry.cuda:
        command = [
            nvcc(), "-O3", f"-arch={arch}", "-shared", "-Xcompiler", "-fPIC",
            "-o", f"{entry.problem}.so", f"{entry.problem}.cu",
        ]  # fmt: skip
        subprocess.run(command, cwd=folder, check=True, timeout=300, capture_output=True)
    return folder / f"{entry.problem}.py"


class Workers:
    """Processes that are started ahead and handed out one by one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started = 0
        self.waiting: deque[tuple[subprocess.Popen[bytes], socket.socket, Path]] = deque()
        self.running: list[tuple[subprocess.Popen[bytes], Path]] = []
        for _ in range(WARM):
            self._spawn()

    def _spawn(self) -> None:
        self.started += 1
        log = self.folder / f"worker-{self.started}.log"
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        environ = {**os.environ, "PYTHONPATH": str(SOURCE)}
        environ["TRITON_CACHE_DIR"] = str(self.folder / f"triton-{self.started}")
        environ["TORCHINDUCTOR_CACHE_DIR"] = str(self.folder / f"inductor-{self.started}")
        with theirs, log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", WORKER, str(theirs.fileno())],
                env=environ, pass_fds=[theirs.fileno()], stdout=output, stderr=output,
                stdin=subprocess.DEVNULL, cwd=self.folder,
            )  # fmt: skip
        self.waiting.append((process, ours, log))

    def start(self, side: str) -> socket.socket:
        """The judge's end of the socket of a worker."""
        del side
        self._spawn()
        process, ours, log = self.waiting.popleft()
        self.running.append((process, log))
        return ours

    def stop_last(self) -> str:
        """End the worker that was handed out last; the end of what it printed."""
        process, log = self.running.pop()
        process.kill()
        process.wait()
        return log.read_text(errors="replace")[-1500:].strip()

    def stop(self) -> None:
        """End all of them."""
        for process, ours, _ in self.waiting:
            ours.close()
            process.kill()
            process.wait()
        while self.running:
            self.stop_last()


@contextlib.contextmanager
def workplace() -> Generator[tuple[Path, Workers]]:
    """A folder and its processes."""
    with tempfile.TemporaryDirectory(prefix="unhack-gpu-") as folder:
        workers = Workers(Path(folder))
        try:
            yield Path(folder), workers
        finally:
            workers.stop()


def as_data(measured: Measurement) -> dict[str, Any]:
    """A measurement for JSON; what is beyond the roof counts as the tournament counts it."""
    flags = (*measured.flags, *score.bounds(measured))
    return {
        "fitness": 0.0 if flags else measured.fitness, "low": measured.low, "high": measured.high,
        "reason": measured.reason, "metrics": dict(measured.metrics),
        "flags": [{"kind": flag.kind, "evidence": flag.evidence} for flag in flags],
    }  # fmt: skip


def outcome(row: Row, found: dict[str, Any]) -> str:
    """`as it must`, `caught otherwise` (a cheat with fitness 0 and another flag), or `WRONG`."""
    kinds = {flag["kind"] for flag in found["flags"]}
    if row.kind != "cheats":
        return "as it must" if not found["reason"] and not kinds else "WRONG"
    if row.flag in kinds or (not row.flag and found["reason"]):
        return "as it must"
    return "caught otherwise" if kinds or found["reason"] else "WRONG"


class Bench:
    """One device, its judge and its workers."""

    def __init__(self, folder: Path, workers: Workers, arguments: Any) -> None:
        self.folder, self.workers, self.arguments = folder, workers, arguments
        self.torch = memory.load_torch()
        major, minor = self.torch.cuda.get_device_capability()
        self.arch = f"sm_{major}{minor}"
        self.roof = judge.measure_roof()
        self.builds: dict[str, Future[Path]] = {}

    def build(self, wanted: list[Row], pool: ThreadPoolExecutor) -> None:
        """Write and compile all submissions."""
        for row in wanted:
            if row.entry is not None:
                place = self.folder / f"{row.kind}-{row.name}"
                self.builds[row.name] = pool.submit(prepare, place, row.entry, self.arch)

    def problem(self, name: str, those: list[Row]) -> Generator[dict[str, Any]]:
        """Judge all rows of a problem beside one process of the reference."""
        arguments = self.arguments
        place = Path(tempfile.mkdtemp(dir=self.folder)) / f"{name}.py"
        try:
            made = judge.KernelJudge(
                name, seed=arguments.seed, pairs=arguments.pairs, roof=self.roof
            )
            place.write_text(made.case.reference)
            plain = made.reference(self.workers.start, str(place), seed=arguments.seed)
        except Exception as error:
            for row in those:
                yield described(row, 0.0) | failed(error)
            return
        try:
            for row in those:
                yield self._row(made, plain, row, place)
        finally:
            plain.close(made.driver)
            self.workers.stop_last()
            self.torch.cuda.empty_cache()

    def _row(self, made: Any, plain: Any, row: Row, reference: Path) -> dict[str, Any]:
        started = time.perf_counter()
        before = len(self.workers.running)
        log = ""
        try:
            path = self.builds[row.name].result() if row.entry else reference
            seed = self.arguments.seed + 1
            measured = made.measure(self.workers.start, plain, solution=str(path), seed=seed)
            found = as_data(measured)
            found["outcome"] = outcome(row, found)
        except Exception as error:
            found = failed(error)
            if isinstance(error, subprocess.CalledProcessError):
                log = str(error.stderr)[-1500:]
        while len(self.workers.running) > before:
            log = self.workers.stop_last()
        self.torch.cuda.empty_cache()
        if found["outcome"] == "WRONG":
            found["worker_log"] = log
        return described(row, time.perf_counter() - started) | found


def described(row: Row, seconds: float) -> dict[str, Any]:
    """The first columns of a row."""
    return {
        "kind": row.kind, "name": row.name, "problem": row.problem, "expected": row.flag,
        "blind": row.entry is not None and row.entry.group == "unseen",
        "seconds": round(seconds, 1),
    }  # fmt: skip


def failed(error: Exception) -> dict[str, Any]:
    """A row that could not be judged."""
    text = "".join(traceback.format_exception(error))[-2000:]
    return {"outcome": "WRONG", "error": f"{type(error).__name__}: {error}", "traceback": text}


def show(row: dict[str, Any]) -> None:
    """One line, and more where something went wrong."""
    kinds = ",".join(flag["kind"] for flag in row.get("flags", [])) or "-"
    words = row.get("error") or row.get("reason") or ""
    speed = {k: v for k, v in row.get("metrics", {}).items() if k.startswith(("speedup", "roof"))}
    print(
        f"{row['outcome']:16s} {row['kind']:8s} {row['name']:28s} {row['problem']:18s} "
        f"expected {row['expected'] or '-':16s} got {kinds:28s} "
        f"fitness {row.get('fitness', 0):.3f} {row['seconds']} s {words[:160]} {speed}",
        flush=True,
    )
    if row["outcome"] == "WRONG":
        print(row.get("traceback", ""), row.get("worker_log", ""), sep="\n", flush=True)


def wanted_rows(arguments: Any) -> list[Row]:
    """The rows of this run."""
    done: set[str] = set()
    if arguments.done:
        lines = Path(arguments.done).read_text().splitlines()
        done = {json.loads(line)["name"] for line in lines if line.strip()}
    words = arguments.only.split(",") if arguments.only else [""]
    return [
        row for row in rows()
        if row.name not in done
        and any(word in f"{row.kind} {row.name} {row.problem}" for word in words)
    ]  # fmt: skip


def parsed() -> Any:
    """The words of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--only", default="", help="words, joined by commas, that rows contain")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--done", default="", help="rows.jsonl of an earlier run")
    return parser.parse_args()


def main() -> int:
    """Judge all entries; 0 when all came out as they have to."""
    begun = time.perf_counter()
    arguments = parsed()
    chosen = wanted_rows(arguments)
    found: list[dict[str, Any]] = []
    out = Path(os.environ["OUT"]) if os.environ.get("OUT") else None
    with workplace() as (folder, workers), ThreadPoolExecutor(8) as pool:
        bench = Bench(folder, workers, arguments)
        device = {
            "name": bench.torch.cuda.get_device_name(), "torch": bench.torch.__version__,
            "cuda": bench.torch.version.cuda, "bytes_per_s": bench.roof.bytes_per_s,
            "flops_per_s": bench.roof.flops_per_s, "half_flops_per_s": bench.roof.half_flops_per_s,
        }  # fmt: skip
        print(device, f"{len(chosen)} rows", flush=True)
        bench.build(chosen, pool)
        for problem, those in groupby(chosen, key=lambda row: row.problem):
            if time.perf_counter() - begun > arguments.seconds:
                print(f"no time for {problem} and what follows", flush=True)
                break
            for row in bench.problem(problem, list(those)):
                found.append(row)
                show(row)
                if out:
                    with (out / "rows.jsonl").open("a") as file:
                        file.write(json.dumps(row, default=str) + "\n")
    print(sentence(found), flush=True)
    if out:
        report = {
            "command": "python benchmarks/tournament_gpu_kernels.py",
            "machine": f"1 {device['name']}; {host()}",
            "device": device, "seed": arguments.seed, "pairs": arguments.pairs,
            "summary": sentence(found),
            "rows": [short(row) for row in found if row["kind"] != "control"],
        }  # fmt: skip
        path = out / "tournament_gpu_kernels.json"
        path.write_text(json.dumps(report, indent=None, allow_nan=False, default=str) + "\n")
    return (
        0 if len(found) == len(chosen) and all(r["outcome"] == "as it must" for r in found) else 1
    )


def short(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the summary; a cheat that is accused of nothing has to be `invalid`."""
    expected = row["expected"] or ("invalid" if row["kind"] == "cheats" else "")
    got = ",".join(flag["kind"] for flag in row.get("flags", []))
    ok = row["outcome"] == "as it must"
    return {"name": row["name"], "expected": expected, "got": got, "ok": ok}


def sentence(found: list[dict[str, Any]]) -> str:
    """How many came out as they have to."""
    parts: list[str] = []
    for kind in ("control", "honest", "cheats"):
        those = [row for row in found if row["kind"] == kind]
        good = sum(row["outcome"] == "as it must" for row in those)
        zero = sum(row["outcome"] == "caught otherwise" for row in those)
        parts.append(f"{kind}: {good} of {len(those)} as they must, {zero} caught otherwise")
    return "; ".join(parts)


if __name__ == "__main__":
    raise SystemExit(main())
