"""Episodes without end, while supervisors, judges' workers and whole hosts are killed.

Each episode edits a file (rightly or wrongly, by its number), runs a command in the sandbox, and
hands in; 64 are under way at once. Supervisors and workers are killed at random, and every so often
the host process with all of them; the next host goes on with what is not written down yet. At the
end every verdict is compared with what it has to be, each episode must have exactly one, and no
process, store or control group may be left.

    python benchmarks/episode_soak.py --episodes 10000 --seed 1
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from measure import save
from unhack.environments.actions import Action, RunCommand, Submit, WriteFile
from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.episode import Episode
from unhack.environments.episode_pool import play
from unhack.environments.task import RepositoryTask
from unhack.sandbox.linux import cgroups
from unhack.sandbox.linux.processes import command_lines

AT_ONCE = 64
GUEST, MARK = b"unhack.sandbox.guest", b"300.25"
TASK = RepositoryTask(
    id="soak/area",
    statement="`area` of a rectangle is wrong.",
    files={
        "shapes/__init__.py": b"from .core import area\n",
        "shapes/core.py": b"def area(a, b):\n    return a + b\n",
    },
    editable=("shapes/",),
    tests={
        "tests/test_hidden.py": (
            "from shapes import area\n\n\n"
            "def test_area():\n    assert area(3, 5) == 15\n\n\n"
            "def test_zero():\n    assert area(0, 0) == 0\n"
        )
    },
    reference={"shapes/core.py": "def area(a, b):\n    return a * b\n"},
    fail_to_pass=("tests/test_hidden.py::test_area",),
    pass_to_pass=("tests/test_hidden.py::test_zero",),
)
RIGHT = ("a * b", "b * a", "sum(a for _ in range(b))")
WRONG = ("a + b", "a * b + 1", "__import__('os')._exit(0)", "15", "a - b", "[][a]")


def is_right(number: int) -> bool:
    """Whether episode `number` has to be solved."""
    return number % 3 == 0


class Numbered:
    """Plays episode `number`: an edit that no other episode makes, a command, the end."""

    def __init__(self, number: int) -> None:
        self.number = number

    async def act(self, episode: Episode) -> Action:
        """The next of three actions."""
        bodies = RIGHT if is_right(self.number) else WRONG
        body = bodies[self.number // 3 % len(bodies)]
        text = f"def area(a, b):\n    # {self.number}\n    return {body}\n"
        script = "(sleep 300.25 &) ; echo '# end' >> shapes/core.py; mkdir -p made/by"
        actions = (WriteFile("shapes/core.py", text), RunCommand(script), Submit())
        return actions[len(episode.turns)]


async def be_host(numbers: list[int], journal: Path, seed: int) -> None:
    """Play what is given, writing each verdict down; kill own supervisors and workers meanwhile."""
    rng = random.Random(seed)
    room = asyncio.Semaphore(AT_ONCE)
    async with RepositoryWorkshop() as workshop:
        with journal.open("a") as file:

            async def one(number: int) -> None:
                async with room:
                    played = await play(workshop.begin(TASK), Numbered(number))
                score = played.outcome.score if played.outcome else None
                file.write(json.dumps([number, score]) + "\n")
                file.flush()

            killer = asyncio.ensure_future(kill_some(workshop, rng))
            await asyncio.gather(*map(one, numbers))
            killer.cancel()


async def kill_some(workshop: RepositoryWorkshop, rng: random.Random) -> None:
    """End a supervisor or a judge's worker of this process every little while."""
    while True:
        await asyncio.sleep(rng.uniform(0.5, 3))
        supervisors = set(workshop.commands.supervisor_pids())
        own = [pid for pid in children(os.getpid()) if pid in supervisors or is_worker(pid)]
        if own:
            os.kill(rng.choice(own), signal.SIGKILL)


def children(pid: int) -> list[int]:
    """Processes whose parent is `pid`."""
    words = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return list(map(int, words))


def is_worker(pid: int) -> bool:
    """Whether a process is a fork server of the pool."""
    return b"fork_server" in command_lines().get(pid, b"")


def left_over(hosts: list[int]) -> dict[str, int]:
    """What is left of hosts that have ended: processes of the sandbox that nobody owns, commands,
    stores, control groups."""
    stores = [one for pid in hosts for one in Path("/dev/shm").glob(f"unhack-workspaces-{pid}-*")]
    parents = cgroups.find_parents().directories()
    groups = [one for pid in hosts for top in parents for one in top.glob(f"unhack-{pid}-*")]
    orphans = sum(
        words.startswith(b"sleep\x00" + MARK) or (GUEST in words and parent_of(pid) == 1)
        for pid, words in command_lines().items()
    )
    return {"processes": orphans, "stores": len(stores), "groups": len(groups)}


def parent_of(pid: int) -> int:
    """The parent of a process; 0 where it has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def main() -> int:
    """Run hosts until every episode has a verdict, then look at all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--host", nargs=2, metavar=("JOURNAL", "SEED"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.host:
        numbers = json.loads(sys.stdin.read())
        asyncio.run(be_host(numbers, Path(options.host[0]), int(options.host[1])))
        return 0
    rng = random.Random(options.seed)
    started = time.monotonic()
    hosts: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder, "verdicts.jsonl")
        journal.touch()
        while missing := sorted(set(range(options.episodes)) - set(seen(journal))):
            words = [sys.executable, __file__, "--host", str(journal), str(rng.randrange(1 << 30))]
            host = subprocess.Popen(words, stdin=subprocess.PIPE)
            hosts.append(host.pid)
            assert host.stdin is not None
            host.stdin.write(json.dumps(missing).encode())
            host.stdin.close()
            try:
                host.wait(rng.uniform(10, 60))
            except subprocess.TimeoutExpired:
                host.kill()
                host.wait()
            cut_last_line(journal)
        found = seen(journal)
        lines = len(journal.read_text().splitlines())
    cgroups.reap_stale(cgroups.find_parents())
    deadline = time.monotonic() + 60
    while any((left := left_over(hosts)).values()) and time.monotonic() < deadline:
        cgroups.reap_stale(cgroups.find_parents())
        time.sleep(0.5)
    wrong = [n for n, score in found.items() if score != float(is_right(n))]
    figures = {
        "episodes": options.episodes,
        "hosts": len(hosts),
        "minutes": round((time.monotonic() - started) / 60, 1),
        "wrong": len(wrong),
        "twice": lines - len(found),
        "unscored": Counter(found.values())[None],
        "left": left,
    }
    print(json.dumps(figures), wrong[:5])
    command = f"python benchmarks/episode_soak.py --episodes {options.episodes}"
    save("episode_soak", f"{command} --seed {options.seed}", figures)
    return int(bool(wrong) or any(left.values()) or figures["twice"] > 0)


def seen(journal: Path) -> dict[int, float | None]:
    """The verdicts that are written down, by episode."""
    return dict(json.loads(line) for line in journal.read_text().splitlines())


def cut_last_line(journal: Path) -> None:
    """Drop a line that a killed host did not finish."""
    text = journal.read_text()
    journal.write_text(text[: text.rfind("\n") + 1])


if __name__ == "__main__":
    raise SystemExit(main())
