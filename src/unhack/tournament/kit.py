"""The interface of contests: everything that a contest in a distribution of its own needs.

    from unhack.tournament.kit import Contest, DataPool, InstalledContest, Measurement

A distribution offers a contest by an entry point in the group `unhack.contests` that names an
`InstalledContest`. The contest itself says what is measured (`Contest`), runs what was handed in
(`Computer`, `KernelProcess`, `run_all`), and returns a `Measurement`; rounds, records, flags,
reports and the server are the engine's.

Covered: contests that measure on the CPU, in the sandbox.
Not covered: judges that measure on a GPU and contests about audits; they import further modules of
the engine, whose names may change.
"""

from __future__ import annotations

from unhack.core.errors import SandboxError, SandboxUnavailableError, UnknownNameError, UsageError
from unhack.core.hashing import content_hash
from unhack.core.optional_dependencies import require
from unhack.core.parsing import parse_python
from unhack.core.statistics import student_t
from unhack.sandbox.job import Ending, Job, Kind, Outcome, Profile, run_all, run_one
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.pool.pool import shared_pool
from unhack.sandbox.submission.compute import Computer, SubmissionError
from unhack.sandbox.submission.kernel import KernelError, KernelPlan, KernelProcess
from unhack.tournament.contest import (
    AGENTS_DEVICE,
    DECLINED,
    Cheat,
    Choice,
    Contest,
    DataPool,
    Declared,
    Equipped,
    Files,
    Flag,
    Measurement,
    Metric,
    NeedsCard,
    Parameter,
    Submissions,
    TakesTurns,
    Terms,
    discipline,
    invalid,
)
from unhack.tournament.contests.registry import InstalledContest, MetricChart

__all__ = [
    "AGENTS_DEVICE", "DECLINED", "MIB", "Cheat", "Choice", "Computer", "Contest", "DataPool",
    "Declared", "Ending", "Equipped", "Files", "Flag", "InstalledContest", "Job", "KernelError",
    "KernelPlan", "KernelProcess", "Kind", "Limits", "Measurement", "Metric", "MetricChart",
    "NeedsCard", "Outcome", "Parameter", "Profile", "SandboxError", "SandboxUnavailableError",
    "SubmissionError", "Submissions", "TakesTurns", "Terms", "UnknownNameError", "UsageError",
    "content_hash", "discipline", "invalid", "parse_python", "require", "run_all", "run_one",
    "shared_pool", "student_t",
]  # fmt: skip
