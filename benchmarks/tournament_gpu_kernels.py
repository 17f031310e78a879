"""Judge three real GPU kernels and five cheats on one device.

    PYTHONPATH=src python3 benchmarks/tournament_gpu_kernels.py [--pairs N] [--seed N]

Two kernels are Triton, one is CUDA C++ compiled here by nvcc; each plays against eager PyTorch on
its own problem in KernelBench's form. The cheats are a side stream with synchronisation switched
off, a lazy tensor, a replay by address, a 16-bit product, and a kernel that does nothing. The exit
code is 0 when every kernel is valid and unflagged and every cheat scores 0 with the expected flag.

Prints a table, and writes JSON to $OUT/tournament_gpu_kernels.json where OUT is set.
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
from collections.abc import Generator
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[1] / "src"
sys.path.insert(0, str(SOURCE))

from measure import host  # noqa: E402
from unhack.tournament.contest import Measurement  # noqa: E402
from unhack.tournament.contests.kernels import score  # noqa: E402
from unhack.tournament.contests.kernels.gpu import judge, memory, oracle  # noqa: E402

WORKER = "unhack.tournament.contests.kernels.gpu.worker"
ENTRIES = (
    ("rmsnorm_triton", "rmsnorm", "honest.rmsnorm", ""),
    ("softmax_triton", "softmax", "honest.softmax", ""),
    ("bias_gelu_cuda", "bias_gelu", "honest.bias_gelu", ""),
    ("stream_injection", "matmul", "cheat.stream_injection", "work_after_done"),
    ("lazy_output", "softmax", "cheat.lazy_output", "forged_value"),
    ("replay", "rmsnorm", "cheat.replay", "replayed_output"),
    ("narrow_matmul", "matmul", "cheat.narrow_matmul", "low_precision"),
    ("nothing", "bias_gelu", "cheat.nothing", "nothing"),
)
"""Name, problem, source, and the flag it has to get (`nothing`: invalid, and no accusation)."""


def nvcc() -> str:
    """The compiler's path."""
    found = shutil.which("nvcc")
    for path in (Path("/usr/local/cuda/bin/nvcc"), *Path("/usr/local").glob("cuda-*/bin/nvcc")):
        if found is None and path.exists():
            found = str(path)
    if found is None:
        raise SystemExit("nvcc is not here: install the CUDA toolkit")
    return found


def prepare(folder: Path, entry: tuple[str, str, str, str], arch: str) -> tuple[str, str]:
    """Write reference and solution; their paths."""
    _, problem, source, _ = entry
    kind, _, name = source.partition(".")
    (folder / "reference.py").write_text(oracle.source("problem", problem))
    (folder / "solution.py").write_text(oracle.source(kind, name))
    with contextlib.suppress(FileNotFoundError):
        (folder / "solution.cu").write_text(oracle.source(kind, f"{name}.cu"))
        command = [
            nvcc(), "-O3", f"-arch={arch}", "-shared", "-Xcompiler", "-fPIC",
            "-o", "kernel.so", "solution.cu",
        ]  # fmt: skip
        subprocess.run(command, cwd=folder, check=True, timeout=300)
    return str(folder / "reference.py"), str(folder / "solution.py")


class Workers:
    """The processes of one judgement."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, side: str) -> socket.socket:
        """Start a worker; the judge's end of its socket."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        environ = {**os.environ, "PYTHONPATH": str(SOURCE)}
        environ["TRITON_CACHE_DIR"] = str(self.folder / f"triton-{side}")
        with theirs, (self.folder / f"{side}.log").open("wb") as log:
            self.processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", WORKER, str(theirs.fileno())],
                    env=environ, pass_fds=[theirs.fileno()], stdout=log, stderr=log,
                    stdin=subprocess.DEVNULL, cwd=self.folder,
                )
            )  # fmt: skip
        return ours

    def stop(self) -> str:
        """End all of them; the last of what they printed."""
        for process in self.processes:
            process.kill()
            process.wait()
        logs = sorted(self.folder.glob("*.log"))
        return "\n".join(path.read_text(errors="replace")[-1500:] for path in logs).strip()


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
    """A measurement for JSON."""
    return {
        "fitness": measured.fitness, "low": measured.low, "high": measured.high,
        "reason": measured.reason, "metrics": dict(measured.metrics),
        "flags": [{"kind": flag.kind, "evidence": flag.evidence} for flag in measured.flags],
    }  # fmt: skip


def as_expected(measured: Measurement, flag: str) -> bool:
    """Whether an entry came out as it has to."""
    kinds = {one.kind for one in (*measured.flags, *score.bounds(measured))}
    if not flag:
        return measured.valid and not kinds
    if flag == "nothing":
        return not measured.valid and measured.fitness == 0
    return measured.fitness == 0 and flag in kinds


def run(entry: tuple[str, str, str, str], roof: judge.GpuRoof, arguments: Any) -> dict[str, Any]:
    """Judge one entry."""
    name, problem, _, flag = entry
    started = time.perf_counter()
    with workplace() as (folder, workers):
        try:
            torch = memory.load_torch()
            major, minor = torch.cuda.get_device_capability()
            reference, solution = prepare(folder, entry, f"sm_{major}{minor}")
            made = judge.KernelJudge(problem, seed=arguments.seed, pairs=arguments.pairs, roof=roof)
            measured = made.measure(
                workers.start, reference=reference, solution=solution, seed=arguments.seed
            )
            outcome = as_data(measured) | {"ok": as_expected(measured, flag)}
        except Exception as error:
            outcome = {"ok": False, "error": f"{type(error).__name__}: {error}"}
            outcome["traceback"] = traceback.format_exc()[-2000:]
        outcome["worker_log"] = workers.stop()[-2000:]
    seconds = round(time.perf_counter() - started, 1)
    return {"name": name, "problem": problem, "expected": flag, "seconds": seconds} | outcome


def show(row: dict[str, Any]) -> None:
    """One line, and more where something went wrong."""
    kinds = ",".join(flag["kind"] for flag in row.get("flags", [])) or "-"
    words = row.get("error") or row.get("reason") or ""
    speed = {k: v for k, v in row.get("metrics", {}).items() if k.startswith(("speedup", "roof"))}
    print(
        f"{'ok ' if row['ok'] else 'BAD'} {row['name']:18s} fitness {row.get('fitness', 0):.3f} "
        f"[{row.get('low', 0):.3f}, {row.get('high', 0):.3f}] {kinds} {words[:200]} {speed}",
        flush=True,
    )
    if not row["ok"]:
        print(row.get("traceback", ""), row["worker_log"], sep="\n", flush=True)


def main() -> int:
    """Judge all entries; 0 when all came out as they have to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=20261121)
    arguments = parser.parse_args()
    torch = memory.load_torch()
    roof = judge.measure_roof()
    device = {
        "name": torch.cuda.get_device_name(), "torch": torch.__version__,
        "cuda": torch.version.cuda, "bytes_per_s": roof.bytes_per_s,
        "flops_per_s": roof.flops_per_s,
    }  # fmt: skip
    print(device, flush=True)
    rows: list[dict[str, Any]] = []
    for entry in ENTRIES:
        rows.append(run(entry, roof, arguments))
        show(rows[-1])
        if os.environ.get("OUT"):
            path = Path(os.environ["OUT"], "tournament_gpu_kernels.json")
            report = {
                "command": "python benchmarks/tournament_gpu_kernels.py",
                "machine": f"1 {device['name']}; {host()}",
                "device": device, "seed": arguments.seed, "rows": rows,
            }  # fmt: skip
            path.write_text(json.dumps(report, indent=1, allow_nan=False, default=str) + "\n")
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
