"""What holds between a judge and a sealed worker on one card: sharing, filters, time, noise.

    PYTHONPATH=src python3 benchmarks/tournament_gpu_sealing.py [--device cuda:N] [PART ...]

Parts (all of them without a name; each is tried even where one before it failed):

    host_files  nodes, libraries, interpreter and packages that a worker would be given
    worker        a sealed process imports PyTorch, computes, tells its maps, descriptors, memory
    sharing       a block by descriptor, and an old IPC handle: open and sealed
    compilers     Triton and nvcc, sealed
    timing        round trips of a packet, equal work timed again and again
    claims        `sandbox.gpu.claims`

Prints JSON, one object a part, and writes $OUT/gpu_sealing.json where OUT is set. Needs a CUDA
build of PyTorch; no network.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import json
import os
import resource
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "packages/contests/src"))

from measure import host
from unhack.agents.command_line.host_files import PACKAGES, package_binds
from unhack.sandbox.gpu.cards import choose_card, nvml
from unhack.sandbox.gpu.claims.suite import check_claims
from unhack.sandbox.gpu.driver_files import driver_files, find_library, find_nvcc
from unhack.sandbox.gpu.memory_watch import resident_bytes
from unhack.sandbox.gpu.process import GpuProcess
from unhack.sandbox.linux.processes import tree_of
from unhack.sandbox.rootfs import interpreter
from unhack_contests.kernels.gpu import side
from unhack_contests.kernels.gpu.guest import device_memory

WORD = 0x1234567
START = f"""
import sys; sys.path.insert(0, "/harness")
import ctypes, json, os, socket, subprocess, time
peer = socket.socket(fileno=3)
sys.path.insert(0, {PACKAGES!r})
"""
TORCH = (
    "started = time.time(); import torch; torch.zeros(1, device='cuda'); torch.cuda.synchronize()\n"
)
WORKER = """
x = torch.randn(2048, 2048, device="cuda")
ok = bool(torch.allclose((x @ x).sum(), (x @ x).sum()))
status = {line.split(":")[0]: line.split()[1] for line in open("/proc/self/status")
          if line.startswith(("VmPeak", "VmRSS", "VmData", "Rss", "Threads"))}
maps = sorted({line.split()[-1] for line in open("/proc/self/maps") if "/" in line.split()[-1]})
fds = []
for n in os.listdir("/proc/self/fd"):
    try: fds.append(os.readlink("/proc/self/fd/" + n))
    except OSError: pass
peer.send(json.dumps({"ok": ok, "start_s": round(time.time() - started, 2), "status": status,
    "devices": torch.cuda.device_count(), "name": torch.cuda.get_device_name(),
    "maps": [m for m in maps if "nvidia" in m or "cuda" in m or "/dev" in m or "memfd" in m][:60],
    "fds": sorted(set(fds)), "uid": os.getuid()}).encode())
"""
SHARED = """
from unhack_contests.kernels.gpu.guest import device_memory
data, fds, _, _ = socket.recv_fds(peer, 1 << 16, 1)
asked = json.loads(data)
said = {}
try:
    driver = device_memory.Driver()
    block = driver.open(fds[0], asked["bytes"])
    view = device_memory.bytes_of(torch, block, "cuda:0").view(torch.int32)
    said["descriptor_read"] = bool((view == asked["word"]).all())
    view.add_(1); torch.cuda.synchronize()
    said["descriptor"] = "opened"
except Exception as error:
    said["descriptor"] = f"{type(error).__name__}: {error}"
class Handle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_char * 64)]
try:
    library = ctypes.CDLL("libcuda.so.1")
    address = ctypes.c_uint64()
    given = Handle.from_buffer_copy(bytes.fromhex(asked["handle"]))
    open_handle = library.cuIpcOpenMemHandle_v2
    open_handle.argtypes = [ctypes.POINTER(ctypes.c_uint64), Handle, ctypes.c_uint]
    code = open_handle(ctypes.byref(address), given, 1)
    said["ipc_handle"] = f"code {code}"
    if code == 0:
        there = (ctypes.c_uint * 4)()
        library.cuMemcpyDtoH_v2(there, address, ctypes.c_size_t(16))
        said["ipc_handle_read"] = there[0] == asked["word"]
except Exception as error:
    said["ipc_handle"] = f"{type(error).__name__}: {error}"
peer.send(json.dumps(said).encode())
"""
COMPILERS = """
said = {}
source = '''
import torch, triton, triton.language as tl
@triton.jit
def twice(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
'''
try:
    began = time.time()
    open("kernel.py", "w").write(source)
    sys.path.insert(0, os.getcwd())
    import kernel
    x = torch.randn(1000, device="cuda"); y = torch.empty_like(x)
    kernel.twice[(4,)](x, y, 1000, BLOCK=256)
    said["triton"] = bool(torch.equal(y, 2 * x)); said["triton_s"] = round(time.time() - began, 1)
except Exception as error:
    said["triton"] = f"{type(error).__name__}: {error}"[:1500]
try:
    began = time.time()
    open("k.cu", "w").write('extern "C" __global__ void k(float *x) { x[threadIdx.x] *= 2; }')
    words = [os.environ.get("NVCC", "nvcc"), "-O3", "-arch=ARCH", "-shared"]
    words += ["-Xcompiler", "-fPIC", "-o", "k.so", "k.cu"]
    done = subprocess.run(words, capture_output=True, timeout=120)
    said["nvcc"] = done.returncode or os.path.getsize("k.so")
    said["nvcc_said"] = done.stderr.decode()[-500:]; said["nvcc_s"] = round(time.time() - began, 1)
except Exception as error:
    said["nvcc"] = f"{type(error).__name__}: {error}"
peer.send(json.dumps(said).encode())
"""
ECHO = """
a = torch.randn(4096, 4096, device="cuda"); out = torch.empty_like(a)
def work():
    torch.matmul(a, a, out=out); torch.cuda.synchronize()
work(); peer.send(b"up")
while data := peer.recv(100):
    if data[:1] == b"w": work()
    peer.send(data)
"""


def start(
    code: str, setting: side.GpuSetting, binds: tuple[tuple[str, str], ...] = ()
) -> GpuProcess:
    """A sealed process with what a worker of the judge is given, and `binds`."""
    room = side.room({})
    room = dataclasses.replace(room, binds=(*room.binds, *binds))
    command = [interpreter(), "-B", "-P", "-s", "-c", START + code]
    return GpuProcess(command, card=setting.card, room=room, limits=setting.limits, name="trial")


def answer(
    code: str, setting: side.GpuSetting, *, packet: bytes = b"", fds: Any = (), binds: Any = ()
) -> Any:
    """What it says, and the end of what it printed where it says nothing."""
    with start(code, setting, binds) as made:
        try:
            if packet:
                made.send(packet, fds=fds)
            return json.loads(made.receive(timeout_s=120))
        except Exception as error:
            return {"failed": f"{error}", "printed": made.said[-3000:]}
        finally:
            if made.watch.peak_host_bytes:
                print("peak", made.watch.peak_host_bytes >> 20, "MiB of the host,",
                      made.watch.peak_card_bytes >> 20, "of the card", flush=True)  # fmt: skip


def host_files(setting: side.GpuSetting) -> dict[str, Any]:
    """What would be given."""
    files = driver_files(setting.card.node)
    binds = package_binds()
    unreadable = [source for source, _ in binds if os.stat(source).st_mode & 0o004 == 0]
    return {
        "card": str(setting.card), "host": host(), "device": setting.device, "arch": setting.arch,
        "nodes": {path: oct(os.stat(path).st_mode) for path in files.devices},
        "all_nodes": sorted(str(path) for path in Path("/dev").glob("nvidia*")),
        "binds": files.binds, "environ": dict(files.environ), "nvcc": find_nvcc(),
        "libraries": {name: find_library(name) for name in (
            "libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-ptxjitcompiler.so.1")},
        "interpreter": interpreter(), "packages": len(binds), "unreadable": unreadable[:20],
        "memory": nvml().memory(setting.card.index),
        "processes": nvml().processes(setting.card.index),
        "clocks": str(nvml().clocks(setting.card.index)), "load": nvml().load(setting.card.index),
        "cgroup": Path("/proc/self/cgroup").read_text().splitlines()[:3],
        "memlock": resource.getrlimit(resource.RLIMIT_MEMLOCK), "own_pid": os.getpid(),
    }  # fmt: skip


def worker(setting: side.GpuSetting) -> dict[str, Any]:
    """PyTorch, sealed; where that fails, with more of the host, to tell what is missing."""
    said = answer(TORCH + WORKER, setting)
    if "failed" in said:
        for more in ("/sys", "/run"):
            if os.path.exists(more):
                tried = answer(TORCH + WORKER, setting, binds=((more, more),))
                said[f"with {more}"] = tried.get("failed", "works")
    return said


def sharing(setting: side.GpuSetting) -> dict[str, Any]:
    """A block by descriptor and by handle, to a sealed process."""
    import torch

    torch.cuda.set_device(setting.device)
    torch.zeros(1, device=setting.device)
    driver = device_memory.Driver(torch.device(setting.device).index or 0)
    block = driver.create(8 << 20)
    view = device_memory.bytes_of(torch, block, setting.device).view(torch.int32)
    view.fill_(WORD)
    library = ctypes.CDLL("libcuda.so.1")
    old, handle = ctypes.c_uint64(), (ctypes.c_char * 64)()
    library.cuMemAlloc_v2(ctypes.byref(old), ctypes.c_size_t(8 << 20))
    library.cuMemsetD32_v2(old, ctypes.c_uint(WORD), ctypes.c_size_t(2 << 20))
    code = library.cuIpcGetMemHandle(ctypes.byref(handle), old)
    torch.cuda.synchronize()
    fd = driver.export(block)
    asked = {"bytes": block.size, "word": WORD, "handle": bytes(handle.raw).hex()}
    said = answer(TORCH + SHARED, setting, packet=json.dumps(asked).encode(), fds=[fd])
    os.close(fd)
    torch.cuda.synchronize()
    said["written_back"] = bool((view == WORD + 1).all())
    said["handle_made"] = code
    driver.free(block)
    return said


def compilers(setting: side.GpuSetting) -> dict[str, Any]:
    """Triton and nvcc, sealed."""
    return answer(TORCH + COMPILERS.replace("ARCH", setting.arch), setting)


def timing(setting: side.GpuSetting) -> dict[str, Any]:
    """Round trips, and one product again and again, by two sealed processes in turn."""
    found: dict[str, Any] = {}
    with start(TORCH + ECHO, setting) as one, start(TORCH + ECHO, setting) as two:
        for made in (one, two):
            made.receive(timeout_s=120)

        def trip(made: GpuProcess, word: bytes) -> float:
            began = time.perf_counter()
            made.send(word)
            made.receive(timeout_s=60)
            return time.perf_counter() - began

        trips = sorted(trip(one, b"e") for _ in range(300))
        found["round_trip_us"] = [round(1e6 * trips[at], 1) for at in (15, 150, 285)]
        ratios: list[float] = []
        for number in range(60):
            order = (one, two) if number % 2 else (two, one)
            took = {id(made): trip(made, b"w") for made in order}
            ratios.append(took[id(one)] / took[id(two)])
        found["product_ms"] = round(1e3 * statistics.median(trip(one, b"w") for _ in range(20)), 4)
        found["equal_work_ratio"] = round(statistics.median(ratios), 4)
        found["equal_work_spread"] = round(statistics.pstdev(ratios), 4)
        pids = tree_of(one.watch.pid)
        found["host_mib"] = resident_bytes(pids) >> 20
        found["driver_counts_by_pid"] = bool(pids & set(nvml().processes(setting.card.index)))
        found["clocks"] = str(nvml().clocks(setting.card.index))
    return found


def claims(setting: side.GpuSetting) -> dict[str, Any]:
    """Every claim."""
    return {one.claim: f"{one.state} {one.reason}".strip() for one in check_claims(setting.card)}


PARTS: dict[str, Callable[[side.GpuSetting], dict[str, Any]]] = {
    "host_files": host_files, "worker": worker, "sharing": sharing, "compilers": compilers,
    "timing": timing, "claims": claims,
}  # fmt: skip


def setting_here(device: str) -> side.GpuSetting:
    """The card by the project's own way, or as far as one gets without it."""
    from unhack_contests.kernels.gpu.measure import setting_of

    try:
        return setting_of(device)
    except Exception as error:
        print(f"setting_of refused: {type(error).__name__}: {error}", flush=True)
        return side.GpuSetting(choose_card(device), "cuda:0", "sm_90")


def main() -> int:
    """Try every part; 0 when none failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    arguments = parser.parse_args()
    setting = setting_here(arguments.device)
    report: dict[str, Any] = {}
    for name in arguments.parts:
        began = time.perf_counter()
        try:
            report[name] = PARTS[name](setting)
        except Exception as error:
            report[name] = {"failed": f"{type(error).__name__}: {error}"}
            report[name]["traceback"] = traceback.format_exc()[-2000:]
        report[name]["seconds"] = round(time.perf_counter() - began, 1)
        print(name, json.dumps(report[name], indent=1, default=str), flush=True)
        if os.environ.get("OUT"):
            path = Path(os.environ["OUT"], "gpu_sealing.json")
            path.write_text(json.dumps(report, indent=1, default=str) + "\n")
    return 1 if any("failed" in part for part in report.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
