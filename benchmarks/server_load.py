"""A server under load: are 2,000 requests at a time all answered rightly and stored once, what does
HTTP add to a verdict, and does memory stay flat over the requests of an hour?

One server process, its SQLite database on the disk, and this client share the machine. Every
completion differs from all others, and its verdict is known. `--hour N` sends the requests of an
hour at N / 3600 a second, as fast as the server answers. Single verdicts are taken in pairs, here
and over HTTP in turn. What other work adds to both stays in their difference, so the record holds
the load of the machine and the CPU time of both sides too.

    python benchmarks/server_load.py [--in-flight 2000] [--pairs 1000] [--hour 36000] [--save]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

from measure import save, show
from unhack import Case, FunctionVerifier, Problem, Task, run_batch

CASES = [{"args": [n], "expected": n + 1} for n in range(4)]
TASK = {"kind": "function", "entry_point": "f", "cases": CASES}
SERVE = [sys.executable, "-c", "from unhack.cli.app import main; main()", "serve", "--port", "0"]
SAMPLES = 20


def completion(number: int) -> str:
    """A program that is right unless its number can be divided by three."""
    return f"# {number}\ndef f(x):\n    return x {'+' if number % 3 else '-'} 1\n"


def expected(number: int) -> float:
    """The reward of the completion."""
    return float(number % 3 > 0)


class Connection:
    """A connection to the server that is kept."""

    def __init__(self, port: int, key: str) -> None:
        self._port, self._key = port, key

    async def open(self) -> None:
        """Connect."""
        self._in, self._out = await asyncio.open_connection("127.0.0.1", self._port)

    async def score(self, number: int) -> float:
        """The reward of a completion. Raises RuntimeError for anything but a verdict."""
        body = json.dumps({"task": TASK, "completion": completion(number)}).encode()
        head = f"POST /v1/score HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self._key}\r\n"
        self._out.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = (await self._in.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(answer.partition("content-length:")[2].partition("\r\n")[0])
        text = await self._in.readexactly(length)
        if " 200 " not in answer[:16]:
            raise RuntimeError(text.decode())
        return json.loads(text)["reward"]

    def close(self) -> None:
        """Hang up."""
        self._out.close()


class Running:
    """A server process."""

    def __init__(self, folder: Path) -> None:
        self.database = folder / "unhack.sqlite"
        with (folder.with_suffix(".log")).open("wb") as log:
            self.process = subprocess.Popen(
                [*SERVE, "--data", str(folder), "--tenant-requests", "100000000"],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        self.key = self.process.stdout.readline().split()[-1]
        self.port = int(self.process.stdout.readline().rpartition(":")[2])

    def rss_mb(self) -> float:
        """Resident memory of the server process, without its workers."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def cpu_s(self) -> float:
        """CPU seconds of the server process so far, without its workers."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stored(self) -> dict[str, Any]:
        """Items, and distinct completions among them, as the database has them."""
        with sqlite3.connect(self.database) as found:
            items, distinct, judged = found.execute(
                "SELECT count(*), count(DISTINCT completion), count(verdict) FROM items"
            ).fetchone()
        return {"items": items, "distinct": distinct, "judged": judged}


async def all_at_once(server: Running, count: int) -> dict[str, Any]:
    """Send `count` requests, each on a connection of its own, before any reply is awaited."""
    connections = [Connection(server.port, server.key) for _ in range(count)]
    for start in range(0, count, 100):
        await asyncio.gather(*(each.open() for each in connections[start : start + 100]))
    before = server.stored()["items"]
    started = time.perf_counter()
    rewards = await asyncio.gather(*(each.score(number) for number, each in enumerate(connections)))
    seconds = time.perf_counter() - started
    for each in connections:
        each.close()
    found = server.stored()
    wrong = sum(reward != expected(number) for number, reward in enumerate(rewards))
    return {
        "requests": count,
        "seconds": seconds,
        "a_second": count / seconds,
        "wrong": wrong,
        "lost": count - len(rewards),
        "stored": found["items"] - before,
        "double": found["items"] - found["distinct"],
    }


def _task() -> Task:
    cases = tuple(Case(tuple(case["args"]), expected=case["expected"]) for case in CASES)
    return Task(Problem("plus-one", ""), FunctionVerifier("f", cases))


@dataclass
class Pairs:
    """Single verdicts, each judged by `run_batch` here and over HTTP in turn; milliseconds."""

    local: list[float]
    http: list[float]
    local_cpu: float
    """CPU of this process for a verdict of `run_batch`."""
    http_cpu: float
    """CPU of the server process for a request."""

    def figures(self) -> dict[str, Any]:
        """What the record holds."""
        local, http = (quantiles(each, n=100) for each in (self.local, self.http))
        added = {
            f"p{at}": {
                "run_batch_ms": local[at - 1],
                "http_ms": http[at - 1],
                "added_ms": http[at - 1] - local[at - 1],
                "times": http[at - 1] / local[at - 1],
            }
            for at in (50, 99)
        }
        cpu = {"run_batch_cpu_ms": self.local_cpu, "server_cpu_ms": self.http_cpu}
        return {"pairs": len(self.local), **added, **cpu}


async def pairs(server: Running, count: int, first: int) -> Pairs:
    """Judge `count` completions both ways, and ten before that, which start workers."""
    task, connection = _task(), Connection(server.port, server.key)
    await connection.open()
    found, served = Pairs([], [], 0.0, 0.0), 0.0
    for number in range(first, first + count + 10):
        if number == first + 10:
            found, served = Pairs([], [], 0.0, 0.0), server.cpu_s()
        started, cpu = time.perf_counter(), time.process_time()
        [reward] = run_batch(task, [completion(number)]).rewards
        found.local.append(1000 * (time.perf_counter() - started))
        found.local_cpu += 1000 * (time.process_time() - cpu) / count
        started = time.perf_counter()
        told = await connection.score(number)
        found.http.append(1000 * (time.perf_counter() - started))
        assert reward == told == expected(number)
    connection.close()
    found.http_cpu = 1000 * (server.cpu_s() - served) / count
    return found


async def hour(server: Running, count: int, first: int) -> tuple[list[float], float]:
    """The server's memory in MB at the start and after each twentieth of `count` requests, and
    seconds for all."""
    numbers = iter(range(first, first + count))
    samples, done = [server.rss_mb()], 0

    async def client() -> None:
        nonlocal done
        connection = Connection(server.port, server.key)
        await connection.open()
        for number in numbers:
            assert await connection.score(number) == expected(number)
            done += 1
            if done % (count // SAMPLES) == 0:
                samples.append(server.rss_mb())
        connection.close()

    started = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(32)))
    return samples, time.perf_counter() - started


async def measured(server: Running, options: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    load = [os.getloadavg()[0]]
    burst = await all_at_once(server, options.in_flight)
    print("at once:", burst)
    first = options.in_flight
    load.append(os.getloadavg()[0])
    single = await pairs(server, options.pairs, first)
    first += options.pairs + 10
    print(show("run_batch here", single.local, unit="ms"))
    print(show("over HTTP", single.http, unit="ms"), single.figures(), flush=True)
    load.append(os.getloadavg()[0])
    before = server.cpu_s()
    memory, seconds = await hour(server, options.hour, first)
    cpu = server.cpu_s() - before
    load.append(os.getloadavg()[0])
    print(f"memory in MB: {[round(each, 1) for each in memory]} in {seconds:.0f} s")
    found = server.stored()
    total = options.in_flight + options.pairs + 10 + options.hour
    return {
        "note": "all on one machine; its load before the burst, before the pairs,"
        " before the hour and at the end is in `load`",
        "load": [round(each, 1) for each in load],
        "at_once": burst,
        "single": single.figures(),
        "hour_requests": options.hour,
        "hour_seconds": seconds,
        "hour_server_cpu_ms": 1000 * cpu / options.hour,
        "memory_mb": [round(each, 1) for each in memory],
        "grown_mb": round(memory[-1] - memory[SAMPLES // 4], 1),
        "right": (found["items"], found["distinct"], found["judged"]) == (total,) * 3
        and not burst["wrong"],
    }


def main() -> int:
    """Start a server, load it, say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--in-flight", type=int, default=2000)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--hour", type=int, default=36_000)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        server = Running(Path(top) / "data")
        try:
            figures = asyncio.run(measured(server, options))
        finally:
            server.process.terminate()
            server.process.wait()
    print(json.dumps(figures))
    if options.save:
        asked = f"--in-flight {options.in_flight} --pairs {options.pairs} --hour {options.hour}"
        save("server_load", f"python benchmarks/server_load.py {asked} --save", figures)
    return int(not figures["right"])


if __name__ == "__main__":
    raise SystemExit(main())
