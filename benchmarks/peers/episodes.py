"""Episodes of repository tasks in a peer's local environment: files in, tests, a mend, tests.

Reads {"tasks": [{"files", "reference", "tests"}], "n", "workers", "python"} from standard input and
prints {"rate", "passed"}. Runs in the peer's own environment; neither peer seals anything here, and
both judge in the workspace that the agent has written to.

    PEER_PYTHON peers/episodes.py inspect_ai < plan.json
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

TIMEOUT_S = 300
Write = Callable[[str, bytes], Awaitable[None]]
Run = Callable[[list[str]], Awaitable[int]]


async def steps(task: dict[str, Any], python: str, write: Write, run: Run) -> bool:
    """One episode: the start state, the visible tests, the reference, the hidden tests."""
    pytest = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    for path, text in task["files"].items():
        await write(path, text.encode())
    for path, text in task["reference"].items():
        await write(path, (text or "").encode())
    await run(pytest)
    for path, text in task["tests"].items():
        await write(path, text.encode())
    return await run([*pytest, *task["tests"]]) == 0


async def in_inspect(task: dict[str, Any], python: str) -> bool:
    """An episode in inspect-ai's local sandbox."""
    from inspect_ai.util._sandbox.local import LocalSandboxEnvironment

    environments = await LocalSandboxEnvironment.sample_init("peer", None, {})
    one = environments["default"]

    async def run(argv: list[str]) -> int:
        return (await one.exec(argv, timeout=TIMEOUT_S)).returncode

    try:
        return await steps(task, python, one.write_file, run)
    finally:
        await LocalSandboxEnvironment.sample_cleanup("peer", None, environments, False)


async def in_verifiers(task: dict[str, Any], python: str) -> bool:
    """An episode in verifiers' subprocess runtime."""
    from verifiers.v1.runtimes import SubprocessConfig, provision_runtime

    async with provision_runtime(SubprocessConfig()) as runtime:

        async def run(argv: list[str]) -> int:
            return (await asyncio.wait_for(runtime.run(argv, {}), TIMEOUT_S)).exit_code

        return await steps(task, python, runtime.write, run)


async def every(peer: str, plan: dict[str, Any]) -> dict[str, Any]:
    """All episodes, as many at once as there are workers."""
    if peer == "inspect_ai":
        from inspect_ai.util._subprocess import init_max_subprocesses

        init_max_subprocesses(plan["workers"])
    play = {"inspect_ai": in_inspect, "verifiers": in_verifiers}[peer]
    room = asyncio.Semaphore(plan["workers"])

    async def one(number: int) -> bool:
        async with room:
            return await play(plan["tasks"][number % len(plan["tasks"])], plan["python"])

    started = time.perf_counter()
    passed = await asyncio.gather(*map(one, range(plan["n"])))
    return {"rate": plan["n"] / (time.perf_counter() - started), "passed": sum(passed)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(every(sys.argv[1], json.loads(sys.stdin.read())))))
