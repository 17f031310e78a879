"""Audits: those that ran as jobs, and the operator's run folders; one with its findings.

Covered: an audit under way shows what it has scored so far; a reward that came as a source stands
beside its findings. Not covered: the source of a verifier in a run folder, of which only the marked
line is kept.
"""

from __future__ import annotations

import json

from unhack.audit.report.page import contents, title_of
from unhack.audit.report.report import AuditReport
from unhack.audit.report.wording import kept_report, report_from
from unhack.audit.subject import Source
from unhack.core.errors import UsageError
from unhack.reporting.page import card, section, table, top
from unhack.reporting.text import safe
from unhack.server.pages.frame import ROOM, PageContent
from unhack.server.pages.jobs import count_jobs, job_head, listed_jobs, one_job, source_of
from unhack.server.pages.run_folders import found_run, found_runs
from unhack.server.pages.view import ROWS, View, empty, moment, page_route, pages_of
from unhack.store.files import read_whole_lines

_HERE = f"{ROOM}/audits"
_KIND = "audit"
NO_AUDITS = (
    "<p><b>No audits yet.</b> Order one with <code>POST /v1/audits</code>, or run "
    "<code>unhack audit rewards.py:score --problems rows.jsonl --run DIR/audit</code> and start "
    "the server with <code>--runs DIR</code>.</p>"
)


def all_audits(view: View) -> PageContent:
    """The list."""
    listed = listed_jobs(view, _KIND, most=ROWS, skipped=(view.number - 1) * ROWS)
    folders = _folders(view)
    parts = ["<h1>Audits</h1>"]
    if listed or not folders:
        parts += [
            section("Jobs", listed or empty(NO_AUDITS)),
            pages_of(view, count_jobs(view, _KIND)),
        ]
    if folders:
        parts.append(section("Run folders", folders))
    return PageContent("Audits", tuple(parts), _HERE)


def _folders(view: View) -> str:
    rows = [
        (
            view.link("audit-runs", *run.name.split("/"), text=f"<code>{safe(run.name)}</code>"),
            moment(run.changed_at),
        )
        for run in found_runs(view, _KIND)[:ROWS]
    ]
    return card(table(("folder", "changed (UTC)"), rows, words=(0, 1))) if rows else ""


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


ROUTES = (
    page_route("/audits", all_audits, "The tenant's audits.", name="audits"),
    page_route("/audits/{job}", one_audit, "One audit.", name="audit"),
    page_route("/audit-runs/{run:path}", one_folder, "An audit's run folder.", name="audit"),
)
