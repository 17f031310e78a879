"""Single jobs as items of a batch: what many share is the task, what differs the completion.

So a job goes wherever an executor judges, with all that holds for items: a node that is lost gives
it to another one, and it has one outcome.

Covered: files that a job mounts must lie where it runs, byte for byte: a place without them refuses
it, and says which.
Not covered: a job with a peer or a `stop_when`, which are tied to the process that made them.
"""

from __future__ import annotations

import json
import socket
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from unhack.core.problem import Problem
from unhack.core.verdict import Status, Verdict
from unhack.sandbox.job import Ending, Job, Outcome, Profile
from unhack.sandbox.limits import Limits
from unhack.tasks.execution.bound_files import Fingerprints, State, first_difference, state_of
from unhack.tasks.task import Task
from unhack.verifiers.base import Steps

_OUTCOME = "outcome"


@dataclass(frozen=True, slots=True)
class SentJobs:
    """Runs one job for each completion, which is the job as text; the verdict holds its outcome and
    says nothing else."""

    profile: Profile
    fallback: Profile | None
    files: Fingerprints
    """The files that the profiles mount, as they are where the jobs come from."""

    @property
    def kind(self) -> str:
        """See `Verifier`."""
        return "job"

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Run the job of `pack`."""
        difference = _difference(self.files, state_of(path for path, _ in self.files))
        if difference:
            error = f"on {socket.gethostname()}, {difference}"
            return _verdict(Outcome(Ending.REFUSED, error=error))
        [outcome] = yield [self._unpack(completion)]
        return _verdict(outcome)

    def canary(self) -> str:
        """See `Verifier`: nothing is judged here, so there is no control."""
        return ""

    def _unpack(self, text: str) -> Job:
        fields: dict[str, Any] = json.loads(text)
        stdin = fields["stdin"]
        return Job(
            fields["message"].encode("latin-1"),
            Limits(**fields["limits"]),
            self.profile,
            self.fallback,
            stdin=None if stdin is None else stdin.encode("latin-1"),
            capture=fields["capture"],
        )


def crosses(job: Job) -> bool:
    """True for a job that another process can run."""
    return job.peer is None and job.stop_when is None


def task_for(profile: Profile, fallback: Profile | None, *, files: Fingerprints) -> Task:
    """The task of all jobs with these profiles."""
    return Task(Problem("job", "a job of the sandbox"), SentJobs(profile, fallback, files))


def pack(job: Job) -> str:
    """A job without its profiles, as text."""
    stdin = None if job.stdin is None else job.stdin.decode("latin-1")
    return json.dumps(
        {
            "message": job.message.decode("latin-1"),
            "limits": asdict(job.limits),
            "stdin": stdin,
            "capture": job.capture,
        }
    )


def outcome_of(verdict: Verdict) -> Outcome:
    """The outcome in a verdict of `SentJobs`. One that was left unscored, because every place that
    ran it was lost, is `stopped`: nothing is known of it."""
    found = verdict.details.get(_OUTCOME)
    if isinstance(found, Outcome):
        return found
    return Outcome(Ending.STOPPED, error=verdict.reason or "it could not be run")


def _verdict(outcome: Outcome) -> Verdict:
    return Verdict(
        Status.FAILED,
        0.0,
        "a job, not a completion",
        isolation=outcome.isolation.value,
        details={_OUTCOME: outcome},
    )


@lru_cache(maxsize=256)
def _difference(files: Fingerprints, state: State) -> str:
    """Looked for once for each state of the files here."""
    return first_difference(files)
