"""The audit finds what is planted and accuses nothing that is sound."""

import json
from pathlib import Path

import pytest
from planted import Entry, Kind, entries, flawed, sound

from unhack.audit.report import AuditReport, Conclusion
from unhack.audit.runner import AuditOptions, audit
from unhack.audit.subjects.loading import load_subject

WANTED_RECALL = 0.95
QUICK = (
    "contains_final",
    "clamped_error",
)
"""Entries of the default run; the whole corpus is slow."""


def report_of(entry: Entry, folder: Path, *, stop_at_first: bool) -> AuditReport:
    rows = folder / f"{entry.name}.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in entry.rows()))
    if entry.kind is Kind.TEXT:
        subject = load_subject(f"{entry.path}:{entry.entry}", problems=rows)
    else:
        subject = load_subject(str(entry.path))
    return audit(subject, options=AuditOptions(seconds=60.0, stop_at_first=stop_at_first))


@pytest.mark.parametrize("name", QUICK)
def test_some_verifiers_are_told_apart(name: str, tmp_path: Path) -> None:
    [entry] = [entry for entry in entries() if entry.name == name]
    report = report_of(entry, tmp_path, stop_at_first=True)
    assert (report.conclusion is Conclusion.EXPLOITABLE) == entry.flawed, report.to_json()


@pytest.mark.slow
def test_at_least_95_percent_of_the_planted_flaws_are_proven(tmp_path: Path) -> None:
    missed = [
        entry.name
        for entry in flawed()
        if report_of(entry, tmp_path, stop_at_first=True).conclusion is not Conclusion.EXPLOITABLE
    ]
    assert len(missed) <= (1 - WANTED_RECALL) * len(flawed()), missed


@pytest.mark.slow
@pytest.mark.parametrize("entry", sound(), ids=lambda entry: entry.name)
def test_no_sound_verifier_is_accused(entry: Entry, tmp_path: Path) -> None:
    report = report_of(entry, tmp_path, stop_at_first=False)
    assert report.findings == (), [finding.to_json() for finding in report.findings]
    assert report.conclusion is Conclusion.SOUND
    assert sum(record.payloads for record in report.tried) > 100
