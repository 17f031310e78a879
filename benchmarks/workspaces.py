"""Forks, steps and whole episodes of repository tasks, beside copies and bare subprocesses.

Fork: a state of 2,000 files in 40 folders, and one file written into the fork, against
`shutil.copytree` and the same file written, both in memory. Step: `true` in a workspace of 2,000
files against `subprocess.run(["true"])`; CPU of the host, the supervisor and the command together.
Episode: list, read, write, run the visible tests, submit, judged by hidden tests, against the same
work by `copytree` and two pytest subprocesses, and in the local environments of inspect-ai and
verifiers where `peers/setup_peers.py inspect_ai verifiers` has installed them; none of these seals
anything. Rounds alternate.

    python benchmarks/workspaces.py --rounds 5
    runuser -u somebody -- python benchmarks/workspaces.py --forks-only       # an ordinary user
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from unhack.sandbox.limits import Limits
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command
from unhack.sandbox.workspace.states import StateStore

if TYPE_CHECKING:
    from unhack.environments.actions import Action
    from unhack.environments.episode import Episode

MEMORY = Path("/dev/shm")
FILES = {f"d{n % 40:02}/f{n}.py": (b"x = %d\n" % n) * 600 for n in range(2000)}
"""10 MB."""
PEERS = ("inspect_ai", "verifiers")
PEERS_VENV = Path(__file__).resolve().parent / ".peers-venv"
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
LIMITS = Limits(wall_s=60, cpu_s=60)


def own_cpu_s() -> float:
    """CPU seconds of this process and of the children that it has waited for."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in found)


def supervisors_cpu_s(pool: CommandPool) -> float:
    """CPU seconds of the supervisors and of the commands that they have waited for."""
    total = 0.0
    for pid in pool.supervisor_pids():
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += sum(map(int, words[11:15])) * TICK_S
    return total


def forks(found: dict[str, list[float]], count: int) -> None:
    """One round of forks, ours and copies."""
    store = StateStore(MEMORY)
    try:
        start = store.load(FILES)
        before = time.process_time()
        kept = [store.edited(start, {"d00/f0.py": b"y = %d\n" % n}) for n in range(count)]
        found["fork"].append((time.process_time() - before) / count * 1e3)
        assert len({state.id for state in kept}) == count
    finally:
        store.close()
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        source = Path(place, "source")
        for path, content in FILES.items():
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            (source / path).write_bytes(content)
        before = time.process_time()
        for n in range(3):
            shutil.copytree(source, Path(place, str(n)))
            Path(place, str(n), "d00/f0.py").write_bytes(b"y = %d\n" % n)
        found["copytree"].append((time.process_time() - before) / 3 * 1e3)


async def steps(found: dict[str, list[float]], count: int) -> None:
    """One round of commands, ours and bare ones."""
    async with CommandPool(slots=1) as pool:
        start = pool.states.load(FILES)
        command = Command(("true",))
        await pool.run(start, command, limits=LIMITS)
        for _ in range(3):
            before = own_cpu_s() + supervisors_cpu_s(pool)
            for _ in range(count):
                result, _ = await pool.run(start, command, limits=LIMITS)
                assert result.exit_code == 0
            found["step"].append((own_cpu_s() + supervisors_cpu_s(pool) - before) / count * 1e3)
            before = own_cpu_s()
            for _ in range(count):
                subprocess.run(["true"], check=True)
            found["bare"].append((own_cpu_s() - before) / count * 1e3)


class Distinct:
    """Plays the reference with a comment of its own in each episode, so that no two hand in the
    same and every one is judged."""

    def __init__(self) -> None:
        from unhack.environments.players.scripted import ReferencePlayer

        self.reference = ReferencePlayer()
        self.count = 0

    async def act(self, episode: Episode) -> Action:
        """The reference's next action, a written file with a number at its end."""
        from unhack.environments.actions import WriteFile

        action = await self.reference.act(episode)
        if not isinstance(action, WriteFile):
            return action
        self.count += 1
        return WriteFile(action.path, f"{action.text}# {self.count}\n")


async def episodes(found: dict[str, list[float]], count: int) -> None:
    """One round of episodes, ours and copies with subprocesses; per second."""
    from unhack.environments.environment import RepositoryWorkshop
    from unhack.environments.episode_pool import play_all
    from unhack_suites.repos.suite import public_tasks

    tasks = public_tasks()[:8]
    played = [tasks[n % len(tasks)] for n in range(count)]
    async with RepositoryWorkshop() as workshop:
        async for _ in play_all(workshop, tasks, Distinct()):
            pass  # starts supervisors and workers
        before = time.perf_counter()
        async for one in play_all(workshop, played, Distinct()):
            assert one.solved, one
        found["episodes"].append(count / (time.perf_counter() - before))
    workers = len(os.sched_getaffinity(0))
    few = max(workers * 2, count // 8)
    room = asyncio.Semaphore(workers)
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        for task in tasks:
            for path, content in task.files.items():
                target = Path(place, "start", task.id, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        before = time.perf_counter()
        await asyncio.gather(*(_plain(Path(place), played[n], n, room) for n in range(few)))
        found["plain"].append(few / (time.perf_counter() - before))
    texts = [
        {
            "files": {path: content.decode() for path, content in task.files.items()},
            "reference": dict(task.reference),
            "tests": dict(task.tests),
        }
        for task in tasks
    ]
    plan = {"tasks": texts, "n": few, "workers": workers, "python": sys.executable}
    for peer in PEERS:
        python = PEERS_VENV / peer / "bin" / "python"
        if python.exists():
            done = subprocess.run(
                [str(python), str(PEERS_VENV.parent / "peers" / "episodes.py"), peer],
                input=json.dumps(plan), capture_output=True, text=True, check=True,
            )  # fmt: skip
            told = json.loads(done.stdout.splitlines()[-1])
            assert told["passed"] == few, told
            found[peer].append(told["rate"])


async def _plain(place: Path, task: object, number: int, room: asyncio.Semaphore) -> None:
    """The same episode as people write it: a copy, a subprocess for each command."""
    from unhack.environments.task import RepositoryTask

    assert isinstance(task, RepositoryTask)
    async with room:
        top = place / str(number)
        await asyncio.to_thread(shutil.copytree, place / "start" / task.id, top)
        for path, text in task.reference.items():
            (top / path).write_text(text or "")
        await _pytest(top)
        for path, text in task.tests.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text)
        await _pytest(top, *task.tests)


async def _pytest(top: Path, *paths: str) -> None:
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths)
    done = await asyncio.create_subprocess_exec(
        *words, cwd=top, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    await done.wait()


def main() -> int:
    """Alternate the rounds and save the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--forks-only", action="store_true")
    options = parser.parse_args()
    found: dict[str, list[float]] = defaultdict(list)
    for _ in range(options.rounds):
        forks(found, options.n)
        if not options.forks_only:
            asyncio.run(steps(found, options.n))
            asyncio.run(episodes(found, options.n))
    ratios = [copy / fork for copy, fork in zip(found["copytree"], found["fork"], strict=True)]
    if options.forks_only:
        print(f"uid {os.geteuid()}: fork and one edit {min(found['fork']):.2f} ms CPU at best, "
              f"copytree {min(ratios):.0f} to {max(ratios):.0f} times that")  # fmt: skip
        return 0
    from measure import save, show, spread

    above = [step - bare for step, bare in zip(found["step"], found["bare"], strict=True)]
    faster = [ours / plain for ours, plain in zip(found["episodes"], found["plain"], strict=True)]
    print(show("fork and one edit", found["fork"], unit="ms CPU", digits=2))
    print(show("copytree and one edit", found["copytree"], unit="ms CPU"))
    print(show("copytree / fork", ratios, unit="times", digits=0))
    print(show("step of `true`", found["step"], unit="ms CPU", digits=2))
    print(show("bare `true`", found["bare"], unit="ms CPU", digits=2))
    print(show("a step above the bare command", above, unit="ms CPU", digits=2))
    print(show("episodes, sealed", found["episodes"], unit="/s"))
    print(show("episodes, copytree and subprocess", found["plain"], unit="/s", digits=2))
    print(show("sealed / plain", faster, unit="times"))
    against: dict[str, dict[str, float]] = {}
    for peer in PEERS:
        if found[peer]:
            times = [ours / its for ours, its in zip(found["episodes"], found[peer], strict=True)]
            print(show(f"sealed / {peer}", times, unit="times"))
            against[peer] = spread(times)
    save(
        "workspaces",
        f"python benchmarks/workspaces.py --rounds {options.rounds} --n {options.n}",
        {
            "fork_ms": spread(found["fork"]),
            "copytree_ms": spread(found["copytree"]),
            "copytree_over_fork": spread(ratios),
            "step_above_bare_ms": spread(above),
            "bare_ms": spread(found["bare"]),
            "episodes_s": spread(found["episodes"]),
            "plain_episodes_s": spread(found["plain"]),
            "sealed_over_plain": spread(faster),
            "sealed_over_peers": against,
        },
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
