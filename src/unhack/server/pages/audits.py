"""Audits: those that ran as jobs, and the operator's run folders; one with its findings.

Covered: an audit under way shows what it has scored so far; a reward that came as a source stands
beside its findings. Not covered: the source of a verifier in a run folder, of which only the marked
line is kept.
"""

from __future__ import annotations

import json

from unhack.audit.report.kept import kept_report, report_from
from unhack.audit.report.page import contents, title_of
from unhack.audit.report.report import AuditReport
from unhack.audit.subject import Source
from unhack.core.errors import UsageError
from unhack.reporting.page import top
from unhack.reporting.text import safe
from unhack.server.pages.frame import ROOM, PageContent
from unhack.server.pages.jobs import all_jobs, job_head, one_job, source_of
from unhack.server.pages.run_folders import found_run
from unhack.server.pages.view import View, page, page_router
from unhack.store.files import read_whole_lines

router = page_router()
_HERE = f"{ROOM}/audits"
_KIND = "audit"


@page(router, "/audits", name="audits")
def all_audits(view: View) -> PageContent:
    """The list."""
    return all_jobs(view, _KIND)


@page(router, "/audits/{job}", name="audit")
def one_audit(view: View) -> PageContent:
    """An audit that ran as a job."""
    job = one_job(view, _KIND)
    if job.result is None:
        return PageContent(f"Audit {job.id}", (job_head(view, job),), _HERE)
    try:
        report = report_from(json.loads(job.result))
    except ValueError as error:
        raise UsageError(f"the result of this job cannot be shown: {error}") from None
    source = source_of(job.request)
    path = report.subject.partition(":")[0]  # a job's reward is one file
    return _shown(report, Source(path, source) if source else None)


@page(router, "/audit-runs/{run:path}", name="audit")
def one_folder(view: View) -> PageContent:
    """An audit in a run folder."""
    run = found_run(view, _KIND)
    report = kept_report(run.path)
    if report is not None:
        return _shown(report)
    calls = len(read_whole_lines(run.path / "calls.jsonl"))
    head = top(
        f"Audit in <code>{safe(run.name)}</code>",
        why="It has no report yet: it is under way, or it was stopped. The same command goes on "
        "where it was.",
        figures={"scores so far": f"{calls:,}"},
        word="No report yet",
        tone="unsure",
    )
    return PageContent(f"Audit {run.name}", (head,), _HERE)


def _shown(report: AuditReport, source: Source | None = None) -> PageContent:
    return PageContent(title_of(report), contents(report, source=source), _HERE)
