"""Right programs of every shape, that are judged beside the hogs of `crowd_hogs.py`.

Each uses something that hogs compete for, well within its own limits.
"""

from __future__ import annotations

FUNCTIONS = {
    "plain": "def solve(n):\n    return n * n\n",
    "thread": """
import threading
def solve(n):
    found = []
    thread = threading.Thread(target=lambda: found.append(n * n))
    thread.start()
    thread.join()
    return found[0]
""",
    "many threads": """
import threading
def solve(n):
    threading.stack_size(1 << 18)
    gate = threading.Barrier(21)
    found = []
    def work():
        gate.wait()
        found.append(1)
    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    gate.wait()
    for thread in threads:
        thread.join()
    return n * n if len(found) == 20 else -1
""",
    "thread pool": """
from concurrent.futures import ThreadPoolExecutor
def solve(n):
    with ThreadPoolExecutor(8) as pool:
        return n * n if sum(pool.map(lambda x: x, range(40))) == 780 else -1
""",
    "large memory": """
def solve(n):
    block = bytearray(400 << 20)
    block[::4096] = b"x" * len(block[::4096])
    return n * n if block[4096] == 120 else -1
""",
    "many objects": """
def solve(n):
    kept = [[number] for number in range(10**6)]
    return n * n if kept[-1] == [999999] else -1
""",
    "deep recursion": """
import sys
sys.setrecursionlimit(10**5)
def down(n):
    return 0 if n == 0 else 1 + down(n - 1)
def solve(n):
    return n * n if down(9000) == 9000 else -1
""",
    "computing": """
def solve(n):
    total = 0
    for number in range(4_000_000):
        total += number & 1
    return n * n if total == 2_000_000 else -1
""",
    "descriptors": """
import os
def solve(n):
    kept = [os.dup(0) for _ in range(40)]
    for handle in kept:
        os.close(handle)
    return n * n if len(set(kept)) == 40 else -1
""",
    "pipes": """
import os
def solve(n):
    reader, writer = os.pipe()
    os.write(writer, bytes(60000))
    return n * n if len(os.read(reader, 60000)) == 60000 else -1
""",
    "library": """
import csv, decimal, fractions, io, statistics, textwrap
def solve(n):
    rows = list(csv.reader(io.StringIO("a,b\\n1,2\\n")))
    half = fractions.Fraction(1, 2) + statistics.mean([1, 2]) - 2
    return n * n if rows[1] == ["1", "2"] and half == 0 else -1
""",
    "timers": """
import signal, time
def solve(n):
    hits = []
    signal.signal(signal.SIGALRM, lambda *_: hits.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    while not hits:
        time.sleep(0.005)
    return n * n
""",
    "generators": """
import heapq, itertools
def solve(n):
    merged = heapq.merge(*[itertools.count(start, 7) for start in range(7)])
    return n * n if list(itertools.islice(merged, 500)) == list(range(500)) else -1
""",
}  # fmt: skip
"""`solve(n)` is `n * n`."""

SCRIPTS = {
    "plain": "print(int(input()) ** 2)\n",
    "main in a thread": """
import sys, threading
sys.setrecursionlimit(10**6)
threading.stack_size(1 << 26)
def down(n):
    return 0 if n == 0 else 1 + down(n - 1)
def main():
    down(20000)
    print(int(input()) ** 2)
thread = threading.Thread(target=main)
thread.start()
thread.join()
""",
    "thread pool": """
import concurrent.futures
n = int(input())
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    total = sum(pool.map(lambda x: x, range(40)))
print(n * n if total == 780 else -1)
""",
    "large memory": """
n = int(input())
block = bytearray(400 << 20)
block[::4096] = b"x" * len(block[::4096])
print(n * n)
""",
    "large memory, held": """
import time
n = int(input())
block = bytearray(300 << 20)
block[::4096] = b"x" * len(block[::4096])
time.sleep(0.5)
print(n * n)
""",
    "much output": """
import sys
n = int(input())
sys.stderr.write("x" * 200000)
print(" " * 300000, n * n)
""",
    "computing in a thread": """
import threading
def main():
    n = int(input())
    total = 0
    for number in range(4_000_000):
        total += number & 1
    print(n * n if total == 2_000_000 else -1)
thread = threading.Thread(target=main)
thread.start()
thread.join()
""",
}  # fmt: skip
"""Standard input holds `n`, standard output must be `n * n`."""

WRITING = {
    "temporary files": """
import os, tempfile
def solve(n):
    with tempfile.TemporaryDirectory() as folder:
        for number in range(40):
            with open(os.path.join(folder, str(number)), "w") as file:
                file.write("x" * 100000)
        return n * n if len(os.listdir(folder)) == 40 else -1
""",
    "locked file": """
import fcntl
def solve(n):
    with open("lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("x")
    return n * n
""",
    "large file": """
def solve(n):
    with open("large", "wb") as file:
        file.write(bytes(10 << 20))
    with open("large", "rb") as file:
        return n * n if len(file.read()) == 10 << 20 else -1
""",
}  # fmt: skip
"""`solve(n)` is `n * n`, in a private directory."""

PROGRAMS = {
    "plain": "print(int(input()) ** 2)\n",
    "processes": """
import os
n = int(input())
children = []
for _ in range(12):
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    children.append(pid)
codes = {os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children}
print(n * n if codes == {7} else -1)
""",
    "process and memory": """
import os
n = int(input())
reader, writer = os.pipe()
if os.fork() == 0:
    block = bytearray(200 << 20)
    block[::4096] = b"x" * len(block[::4096])
    os.write(writer, b"done")
    os._exit(0)
block = bytearray(200 << 20)
block[::4096] = b"x" * len(block[::4096])
print(n * n if os.read(reader, 4) == b"done" else -1)
""",
    "subprocess": """
import subprocess, sys
n = int(input())
words = [sys.executable, "-I", "-S", "-c", f"print({n} ** 2)"]
print(subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip())
""",
    "threads": """
import threading
n = int(input())
found = []
threads = [threading.Thread(target=lambda: found.append(1)) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(n * n if len(found) == 16 else -1)
""",
    "asyncio": """
import asyncio
async def main(n):
    found = await asyncio.gather(*[asyncio.sleep(0.01, number) for number in range(20)])
    print(n * n if sum(found) == 190 else -1)
asyncio.run(main(int(input())))
""",
    "files": """
import os
n = int(input())
for number in range(20):
    with open(f"file{number}", "wb") as file:
        file.write(bytes(1 << 20))
print(n * n if os.path.getsize("file3") == 1 << 20 else -1)
""",
}  # fmt: skip
"""Programs that may start processes: the same streams, in a private directory."""

MODULES = {
    "script": "def solve(n):\n    return n * n\n",
    "script with a thread": FUNCTIONS["thread"],
    "script with memory": FUNCTIONS["large memory"],
}
"""`solve(n)`, asked across the seal by a verifier's script."""
