"""The audit finds what is planted and accuses nothing that is sound."""

import json
from pathlib import Path

import pytest

from unhack.audit.options import AuditOptions
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.runner import audit
from unhack.audit.subjects.loading import load_subject
from unhack_verifier_bench.entries import (
    PlantedEntry,
    PlantedKind,
    PlantedLabel,
    flawed,
    planted_entries,
    sound,
)

pytestmark = pytest.mark.slow

WANTED_RECALL = 0.95
QUICK = ("clamped_error",)
"""Entries of the default run; a sample of the corpus is slow, the whole is long."""


def report_of(entry: PlantedEntry, folder: Path, *, stop_at_first: bool) -> AuditReport:
    rows = folder / f"{entry.name}.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in entry.rows()))
    if entry.kind is PlantedKind.TEXT:
        subject = load_subject(f"{entry.path}:{entry.entry}", problems=rows)
    else:
        subject = load_subject(str(entry.path))
    return audit(subject, options=AuditOptions(seconds=60.0, stop_at_first=stop_at_first))


def is_as_labelled(report: AuditReport, entry: PlantedEntry) -> bool:
    """A hack makes a verifier exploitable; a false accept is found, and does not."""
    kinds = {finding.kind.value for finding in report.findings}
    exploitable = report.conclusion is Conclusion.EXPLOITABLE
    if entry.label is PlantedLabel.HACK:
        return exploitable and "hack" in kinds
    return kinds == ({"false_accept"} if entry.flawed else set()) and not exploitable


@pytest.mark.parametrize("name", QUICK)
def test_some_verifiers_are_told_apart(name: str, tmp_path: Path) -> None:
    [entry] = [entry for entry in planted_entries() if entry.name == name]
    report = report_of(entry, tmp_path, stop_at_first=True)
    assert is_as_labelled(report, entry), report.to_json()


@pytest.mark.parametrize(
    "one_in",
    [pytest.param(6, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.long)],
)
def test_at_least_95_percent_of_the_planted_flaws_are_proven(one_in: int, tmp_path: Path) -> None:
    tried = flawed()[::one_in]
    missed = [
        entry.name
        for entry in tried
        if not is_as_labelled(report_of(entry, tmp_path, stop_at_first=True), entry)
    ]
    assert len(missed) <= (1 - WANTED_RECALL) * len(tried), missed


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, marks=pytest.mark.long if place % 2 else pytest.mark.slow)
        for place, entry in enumerate(sound())
    ],
    ids=lambda entry: entry.name,
)
def test_no_sound_verifier_is_accused(entry: PlantedEntry, tmp_path: Path) -> None:
    report = report_of(entry, tmp_path, stop_at_first=False)
    assert report.findings == (), [finding.to_json() for finding in report.findings]
    assert report.conclusion is Conclusion.SOUND
    assert sum(record.completions for record in report.tried) > 100
