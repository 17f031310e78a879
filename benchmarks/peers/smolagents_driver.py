"""smolagents 1.26.0, `LocalPythonExecutor`: an AST interpreter inside the driver, under its GIL.

A fresh executor per completion, because an executor keeps its variables; `typing` is allowed
since the prompt of HumanEval/0 imports it.
"""

from __future__ import annotations

from smolagents.local_python_executor import InterpreterError, LocalPythonExecutor

from peer_case import TIMEOUT_S, Case
from peer_common import Peer, in_threads, main


def score(case: Case, n: int, workers: int) -> int:
    def one() -> bool:
        executor = LocalPythonExecutor(["typing"], timeout_seconds=TIMEOUT_S)
        executor.send_tools({})
        try:
            executor(case.program)
        except InterpreterError:
            return False
        return True

    return in_threads(one, n, workers=workers)


if __name__ == "__main__":
    main(Peer("smolagents", "smolagents", "none: AST interpreter in the same process", score))
