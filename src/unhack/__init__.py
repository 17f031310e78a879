"""unhack: verifiable rewards that hold up under optimisation pressure.

    from unhack import find_tasks, run_batch

    [task] = find_tasks("strings/knit-rows")
    batch = run_batch(task, completions, group_size=8)
    batch.rewards, batch.advantages("grpo")

Names are imported on first use: `import unhack` itself costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unhack.core.problem import Problem
    from unhack.core.verdict import Status, Verdict
    from unhack.sandbox.limits import Limits
    from unhack.sandbox.pool.pool import Pool
    from unhack.tasks.batch import Batch, arun_batch, astream_batch, run_batch, stream_batch
    from unhack.tasks.suite import find_tasks
    from unhack.tasks.task import Task
    from unhack.verifiers.function import Case, FunctionVerifier
    from unhack.verifiers.pytest import PytestVerifier
    from unhack.verifiers.python import PythonVerifier
    from unhack.verifiers.rubric import RubricVerifier
    from unhack.verifiers.script import ScriptVerifier
    from unhack.verifiers.stdio import StdioVerifier
    from unhack.verifiers.text import TextVerifier

__all__ = [
    "Batch",
    "Case",
    "FunctionVerifier",
    "Limits",
    "Pool",
    "Problem",
    "PytestVerifier",
    "PythonVerifier",
    "RubricVerifier",
    "ScriptVerifier",
    "Status",
    "StdioVerifier",
    "Task",
    "TextVerifier",
    "Verdict",
    "arun_batch",
    "astream_batch",
    "find_tasks",
    "run_batch",
    "stream_batch",
]

_HOMES = {
    "Batch": "tasks.batch",
    "Case": "verifiers.function",
    "FunctionVerifier": "verifiers.function",
    "Limits": "sandbox.limits",
    "Pool": "sandbox.pool.pool",
    "Problem": "core.problem",
    "PytestVerifier": "verifiers.pytest",
    "PythonVerifier": "verifiers.python",
    "RubricVerifier": "verifiers.rubric",
    "ScriptVerifier": "verifiers.script",
    "Status": "core.verdict",
    "StdioVerifier": "verifiers.stdio",
    "Task": "tasks.task",
    "TextVerifier": "verifiers.text",
    "Verdict": "core.verdict",
    "arun_batch": "tasks.batch",
    "astream_batch": "tasks.batch",
    "find_tasks": "tasks.suite",
    "run_batch": "tasks.batch",
    "stream_batch": "tasks.batch",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'unhack' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"unhack.{home}"), name)
    globals()[name] = value
    return value
