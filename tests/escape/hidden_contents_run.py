"""Looks for contents from every kind of job and agent, and prints what was found as JSON.

Run with the wheels of the engine and of all contents in a site-packages directory that comes first
on the path, as a user has them.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from unhack.agents.command_line import host_files
from unhack.sandbox.job import Kind, Profile, Role, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.sandbox.rootfs import inside, interpreter
from unhack.sandbox.submission.compute import Computer
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command
from unhack.sandbox.workspace.process_tree import ProcessTree, ProcessTreePlan
from unhack.verifiers import jobs

LOOK = '''
import os, sys

def f():
    """Files of contents that can be read, and packages of contents that can be imported."""
    found = []
    for folder, inner, names in os.walk("/"):
        inner[:] = [name for name in inner if os.path.join(folder, name) not in ("/proc", "/sys")]
        parts = folder.split("/")
        if {"unhack_contests", "unhack_suites", "unhack_verifier_bench", "acme_boxes"} & {*parts}:
            found += [os.path.join(folder, name) for name in names if readable(folder, name)]
        found += [os.path.join(folder, name) for name in names  # the source, and its bytecode
                  if name.split(".")[0] == "acme_module" and readable(folder, name)]
    for name in ("unhack_contests.kernels.cheats", "unhack_suites.folders", "acme_boxes.cheats",
                 "unhack_verifier_bench", "acme_module"):
        try:
            __import__(name)
        except ImportError:
            continue
        if getattr(sys.modules[name], "__file__", None):  # else the empty folder in its place
            found.append("import " + name)
    return sorted(found)[:20]

def readable(folder, name):
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return bool(file.read(1))
    except OSError:
        return False
'''
PRINTED = LOOK + "\nimport json\nprint(json.dumps(f()))\n"
LIMITS = Limits(
    wall_s=120, cpu_s=60, memory_bytes=512 << 20, disk_bytes=32 << 20, processes=60, open_files=256
)


def job(profile: Profile) -> list[str]:
    """What one job of a profile sees."""
    template = jobs.CallsTemplate("f", [[[], {}]], limits=LIMITS, profile=profile, each=False)
    with_pool = Pool(slots=1)
    try:
        outcome = run_one(with_pool, template.job(LOOK))
        lines = jobs.result_lines(outcome.result)
        assert lines, f"the job did not answer: {outcome}"
        assert lines[0][1] == "ok", f"the job did not answer: {lines}"
        return _plain(lines[0][2])
    finally:
        with_pool.close()


def _plain(value: object) -> list[str]:
    from unhack.core import plain

    found = plain.decode_tags(value)
    assert isinstance(found, list)
    return found


def submission() -> list[str]:
    """What the process of a handed-in solution sees."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        Path(folder, "solution.py").write_text(LOOK)
        process = Computer(Path(folder), entry="solution.py", limits=LIMITS, preload=("numpy",))
        with process as running:
            return running.call("f", timeout_s=100)


def command() -> list[str]:
    """What a command of an environment sees."""

    async def main() -> str:
        async with CommandPool(slots=1) as pool:
            state = pool.states.load({"look.py": PRINTED.encode()})
            result, _ = await pool.run(state, Command(("python3", "look.py")), limits=LIMITS)
            assert result.exit_code == 0, result.stderr
            return result.stdout

    return json.loads(asyncio.run(main()))


def agent() -> list[str]:
    """What an agent's process tree sees, with the packages that it is given."""
    plan = ProcessTreePlan(
        workspace={"look.py": PRINTED.encode()},
        binds=host_files.package_binds(),
        environ={"PYTHONPATH": host_files.PACKAGES},
        memory_bytes=512 << 20,
        disk_bytes=32 << 20,
        processes=60,
    )
    said = b""
    with ProcessTree([inside(interpreter()), "/workspace/look.py"], plan=plan) as tree:
        while data := os.read(tree.stdout, 1 << 16):
            said += data
        errors = os.read(tree.stderr, 1 << 16).decode()
        assert tree.wait(timeout_s=100), errors
        assert said, errors
    return json.loads(said)


def kinds() -> dict[str, Callable[[], list[str]]]:
    """Every kind of job and agent."""

    def profile(kind: Kind, role: Role, preload: tuple[str, ...], whole: bool) -> Profile:
        return Profile(kind=kind, role=role, preload=preload, site_packages=whole)

    found: dict[str, Callable[[], list[str]]] = {}
    for kind in Kind:
        for role in Role:
            for preload, whole in (((), False), (("numpy",), False), (("numpy",), True)):
                one = profile(kind, role, preload, whole)
                name = f"{kind} {role} {'+'.join(preload)} {'whole' if whole else ''}".strip()
                found[name] = lambda one=one: job(one)
    return {**found, "submission": submission, "command": command, "agent": agent}


def main() -> None:
    """Print name -> what it saw; the name `outside` is the control, a process without a seal."""
    print(json.dumps({name: look() for name, look in kinds().items()}))


if __name__ == "__main__":
    assert sys.path
    main()
