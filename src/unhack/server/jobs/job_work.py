"""A job that runs, and its result: a folder, a way to tell, a way to be stopped."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unhack.server.http.job_models import JobProgress

PAGE = "page.html"
"""The HTML report in a job's folder."""


class JobStopped(BaseException):
    """The job was cancelled, or its server ends."""


@dataclass(slots=True)
class JobWork:
    """A job that runs."""

    id: str
    tenant_id: int
    folder: Path
    """The job's own folder; another tenant's is never below it."""
    progress: JobProgress | None = None
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when it is to end."""

    def tell(self, progress: JobProgress) -> None:
        """Note the progress. Raises JobStopped when the job is to end."""
        self.progress = progress
        self.check()

    def check(self) -> None:
        """Raise JobStopped when the job is to end."""
        if self.stopping.is_set():
            raise JobStopped


@dataclass(frozen=True, slots=True)
class JobResult:
    """The end of a job."""

    report: dict[str, Any]
    page: str
    """HTML."""
