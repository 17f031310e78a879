"""Jobs for hosts and fork servers that will be killed: they end only when somebody ends them."""

from __future__ import annotations

import sealed

from unhack import Case, FunctionVerifier, Limits, Problem, Task

LONG = Limits(wall_s=300.0, cpu_s=300.0, memory_bytes=256 << 20, soft_slice_s=0.05)

SPIN = "def solve(n):\n    while True:\n        n += 1\n"
SLEEP = "import time\n\ndef solve(n):\n    time.sleep(10**6)\n"
BUSY = """
import time

def solve(n):
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    return n * n
"""
FLOOD = """
import os, time

def solve(n):
    time.sleep(0.5)
    while True:
        os.write(3, b"x" * 4096)
"""
STUBBORN = """
import os, signal, threading, time

def solve(n):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    threading.Thread(target=time.sleep, args=(10**6,)).start()
    os.closerange(0, 4096)
    while True:
        time.sleep(0.01)
"""
FILLER = """
import os, time

def solve(n):
    os.mkdir("deep")
    with open("deep/file", "wb") as file:
        file.write(b"x" * (1 << 20))
    time.sleep(10**6)
"""
DAEMONS = """
import os, signal, time
for number in range(6):
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0 and number == 0:
            while True:
                pass
        time.sleep(10**6)
time.sleep(10**6)
"""


def function_task(limits: Limits, *, scratch: bool = False) -> Task:
    """`solve(n)` must give n * n."""
    verifier = FunctionVerifier(
        "solve", (Case((7,), expected=49),), scratch=scratch, limits=limits, extraction=sealed.RAW
    )
    return Task(Problem("square", ""), verifier)


def hostile_batch(level: str) -> tuple[list[Task], list[str]]:
    """Jobs that end only when somebody ends them."""
    pairs = [(function_task(LONG), source) for source in (SPIN, SLEEP, STUBBORN) * 2]
    if level == "namespaces":
        pairs += [(function_task(LONG, scratch=True), FILLER)] * 2
        command = sealed.CommandVerifier("never", b"", LONG)
        pairs += [(Task(Problem("daemons", ""), command), DAEMONS)] * 2
    return [task for task, _ in pairs], [source for _, source in pairs]
