"""Page faults and CPU of one job: os.fork, bare clone(2), and clone with pinned hot pages.

Each variant is a fresh interpreter, prepared like a fork server without its isolation layers, that
forks N children one after the other; each child runs the same small job. Rounds alternate.

    python benchmarks/fork_cost.py --rounds 5
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections import defaultdict
from pathlib import Path

from measure import save, show, spread
from unhack.sandbox.rootfs import interpreter

SOURCE = str(Path(__file__).resolve().parents[1] / "src")
VARIANTS = ("os.fork", "clone", "clone, pinned")
PROGRAM = """
import sys; sys.path.insert(0, {source!r})
import gc, importlib, json, os, resource
from unhack.sandbox.guest.candidate import runner
from unhack.sandbox.guest.server import clock, fork_server, hot_pages
from unhack.sandbox.linux import calls
for name in fork_server.LEAN:
    importlib.import_module(name)
clock.freeze(); runner.warm_up(); gc.collect(); gc.freeze()
cloner = calls.Cloner(0)
variant, count = {variant!r}, {count}
pages = 0
if variant == "clone, pinned":
    pages = hot_pages.pin(runner.warm_up, cloner, os.open("/proc", os.O_PATH | os.O_DIRECTORY))
faults = cpu = 0
before = resource.getrusage(resource.RUSAGE_SELF)
for _ in range(count):
    pid, pidfd = (os.fork(), -1) if variant == "os.fork" else cloner.clone()
    if pid == 0:
        runner.warm_up()
        os._exit(0)
    _, status, usage = os.wait4(pid, 0)
    if pidfd >= 0:
        os.close(pidfd)
    if status:
        raise SystemExit(f"the job ended with status {{status}}")
    faults += usage.ru_minflt
    cpu += usage.ru_utime + usage.ru_stime
after = resource.getrusage(resource.RUSAGE_SELF)
own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
own_faults = after.ru_minflt - before.ru_minflt
print(json.dumps([(cpu + own) / count * 1e3, faults / count, own_faults / count, pages]))
"""


def main() -> int:
    """Alternate the variants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--n", type=int, default=400)
    options = parser.parse_args()
    found: dict[str, list[list[float]]] = defaultdict(list)
    for _ in range(options.rounds):
        for variant in VARIANTS:
            program = PROGRAM.format(source=SOURCE, variant=variant, count=options.n)
            command = [interpreter(), "-S", "-s", "-P", "-c", program]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found[variant].append(json.loads(done.stdout))
    figures = {}
    for variant, runs in found.items():
        cpu = [run[0] for run in runs]
        print(show(variant, cpu, unit="ms CPU a job", digits=2), end="  ")
        print(f"{runs[0][1]:.0f} + {runs[0][2]:.0f} faults, {runs[0][3]} pages pinned")
        figures[variant] = {
            "cpu_ms": spread(cpu),
            "faults_job": runs[0][1],
            "faults_server": runs[0][2],
            "pages_pinned": runs[0][3],
        }
    command = f"python benchmarks/fork_cost.py --rounds {options.rounds} --n {options.n}"
    save("fork_cost", command, {"variants": figures})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
