"""The process of a contest's author: sealed like a judge's, and apart from every submission.

    with AuthorProcess(staged.author, limits=limits, packages=packages) as author:
        step = author.step("draw", seed, settings)

It holds the author's files and the contest's packages, read-only, and a directory of its own that
ends with it; no network, no file of the host, and a user id that no submission has. It is trusted
with expected values, and with nothing else.

Covered: a step that is late, ends the process or is no frame is a `MeasureFault`.
Not covered: what the steps mean (`measuring`).
"""

from __future__ import annotations

import contextlib
import json
import socket
import time
from pathlib import Path
from typing import Any, Self, cast

from unhack.sandbox.guest.candidate import frames
from unhack.sandbox.job import Job, Kind, Profile, Role
from unhack.sandbox.limits import Limits
from unhack.sandbox.linux import rlimits
from unhack.sandbox.pool.pool import Pool
from unhack.sandbox.submission.compute import Computer, SubmissionError

CONTEST, HARNESS, PACKAGES = "/contest", "/harness", "/packages"
_START_S = 60.0
_MEASURE = "measure() in measure.py"
_PLACES = {"draw": "draw() in generator.py"}


class MeasureFault(Exception):
    """The author's code did not measure: it raised, did not end, or answered what it may not.

    `place` is public; `told` has the whole of it, for the author's eyes.
    """

    def __init__(self, place: str, told: str) -> None:
        super().__init__(place)
        self.place, self.told = place, told


class AuthorProcess(Computer):
    """One sealed process that runs the author's code for one measurement."""

    def __init__(
        self, contest: Path, harness: Path, *, limits: Limits, packages: Path | None
    ) -> None:
        binds = {CONTEST: contest} | ({} if packages is None else {PACKAGES: packages})
        super().__init__(harness, entry="author.py", limits=limits, binds=binds)
        self._until = 0.0
        """By `time.monotonic`: the seconds of the author's code count from when it can be asked."""

    def __enter__(self) -> Self:
        """Start it. Raises MeasureFault, SandboxUnavailableError."""
        binds = tuple((str(source), target) for target, source in self._sources.items())
        binds = tuple(
            (source, HARNESS if target == "/submission" else target) for source, target in binds
        )
        profile = Profile(kind=Kind.SCRATCH, role=Role.JUDGE, binds=binds)
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._pool = Pool(slots=1)
        fields = {
            "mode": "compute", "folder": HARNESS, "entry": self._entry,
            "rlimits": rlimits.encode(self._limits), "disk": self._limits.disk_bytes,
        }  # fmt: skip
        limits = self._limits.with_(wall_s=self._limits.wall_s + _START_S)
        job = Job(json.dumps(fields).encode(), limits, profile, peer=theirs.detach())
        self._pool.submit(job, self._outcome.put)
        try:
            # a judge's process is kept back until somebody speaks to it
            for part in frames.encode(["call", "hello", [], {}]):
                ours.sendall(part)
            deadline = time.monotonic() + _START_S
            self._answer(deadline)
            self._answer(deadline)
            self._until = time.monotonic() + self._limits.wall_s
        except SubmissionError as error:
            self.close()
            raise MeasureFault("the process of the author's code", str(error)) from None
        except BaseException:
            self.close()
            raise
        return self

    def step(self, name: str, *args: Any) -> list[Any]:
        """The next step of the author's code. Raises MeasureFault."""
        left = self._until - time.monotonic()
        try:
            found = self.call(name, *args, timeout_s=max(0.01, left))
        except SubmissionError as error:
            raise MeasureFault(_PLACES.get(name, _MEASURE), self._told(str(error))) from None
        match found:
            case ["failed", str() as kind, str() as place, str() as text, str() as trace]:
                raise MeasureFault(f"{kind} in {place}", trace or text)
            case [str(), *_]:
                return cast("list[Any]", found)
            case _:
                raise MeasureFault(_MEASURE, "it answered what is no step")

    def _told(self, said: str) -> str:
        """The fate of a step, in the words of `contest.toml`."""
        if "cannot cross" in said or "nested" in said:
            left = max(0.01, self._until - time.monotonic())
            with contextlib.suppress(SubmissionError):
                said = f"{self.call('last_step', timeout_s=left)}: {said}"
            return said
        if any(part in said for part in ("did not answer", "the wall limit", "the cpu limit")):
            return f"it took longer than the {self._limits.wall_s:g} s of `total_s` in [limits]"
        if said.startswith("MemoryError"):
            mib = self._limits.memory_bytes >> 20
            return f"it took more than the {mib} MiB of `memory_mib` in [limits]"
        return said
