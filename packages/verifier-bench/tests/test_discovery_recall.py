"""Tier 5 alone finds flaws of texts and programs within its budget and accuses nothing sound."""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from unhack.audit.options import AuditOptions
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.runner import audit
from unhack.audit.subjects.loading import load_subject
from unhack.training.discovery.explore import Reinforcement
from unhack_verifier_bench.entries import PlantedEntry, PlantedKind, planted_entries

CALLS = 1500
FOUND = ("short_forms", "numbers_subset", "slug", "second_largest")
SOUND = ("choice_line", "hash_line", "by_length", "rotate_list")


def report_of(entry: PlantedEntry, folder: Path) -> AuditReport:
    rows = folder / f"{entry.name}.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in entry.rows()))
    if entry.kind is PlantedKind.TEXT:
        subject = load_subject(f"{entry.path}:{entry.entry}", problems=rows)
    else:
        subject = load_subject(str(entry.path))
    options = AuditOptions(
        tiers=(5,), calls=CALLS, seconds=1200.0, discoverer=Reinforcement(updates=40)
    )
    return audit(subject, options=options)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long) if place >= 2 else name
        for names in (FOUND, SOUND)
        for place, name in enumerate(names)
    ],
)
def test_training_tells_verifiers_apart(name: str, tmp_path: Path) -> None:
    [entry] = [entry for entry in planted_entries() if entry.name == name]
    report = report_of(entry, tmp_path)
    assert (report.conclusion is Conclusion.EXPLOITABLE) == entry.flawed, report.to_json()
    assert {finding.tier for finding in report.findings} <= {5}
