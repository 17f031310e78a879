"""inspect-ai 0.3.285, local sandbox: an environment and one `exec` per completion.

Each completion gets its own environment, as each sample does in an eval; concurrency is asyncio
plus its own limit on subprocesses. The exit status is the verdict.
"""

from __future__ import annotations

import asyncio

from inspect_ai.util._sandbox.local import LocalSandboxEnvironment
from inspect_ai.util._subprocess import init_max_subprocesses

from peer_case import ISOLATED_PYTHON, TIMEOUT_S, Case
from peer_common import Peer, in_tasks, main


def score(case: Case, n: int, workers: int) -> int:
    command = [*ISOLATED_PYTHON, case.program]

    async def one() -> bool:
        environments = await LocalSandboxEnvironment.sample_init("peer", None, {})
        result = await environments["default"].exec(command, timeout=TIMEOUT_S)
        await LocalSandboxEnvironment.sample_cleanup("peer", None, environments, False)
        return result.success

    async def every() -> int:
        init_max_subprocesses(workers)
        return await in_tasks(one, n, workers=workers)

    return asyncio.run(every())


if __name__ == "__main__":
    main(Peer("inspect_ai", "inspect-ai", "none: local subprocess in a temporary folder", score))
