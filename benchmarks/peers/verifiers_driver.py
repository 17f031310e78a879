"""verifiers 0.4.0, v1 subprocess runtime: a runtime and one `run` per completion.

A fresh runtime per completion, as each rollout has; concurrency is asyncio. The interpreter is
called directly: `run_uv_script` needs uv and its downloads. The exit status is the verdict.
"""

from __future__ import annotations

import asyncio

from verifiers.v1.runtimes import SubprocessConfig, provision_runtime

from peer_case import ISOLATED_PYTHON, TIMEOUT_S, Case
from peer_common import Peer, in_tasks, main


def score(case: Case, n: int, workers: int) -> int:
    command = [*ISOLATED_PYTHON, case.program]

    async def one() -> bool:
        async with provision_runtime(SubprocessConfig()) as runtime:
            result = await asyncio.wait_for(runtime.run(command, {}), TIMEOUT_S)
        return result.exit_code == 0

    return asyncio.run(in_tasks(one, n, workers=workers))


if __name__ == "__main__":
    main(Peer("verifiers", "verifiers", "none: subprocess, API_KEY names stripped", score))
