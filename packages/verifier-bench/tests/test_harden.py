"""Hardening closes what it says it closes, and never costs a right answer its reward."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from unhack.audit.hardening.copy import HardenedCopy
from unhack.audit.hardening.rounds import HardeningResult, harden
from unhack.audit.hardening.trial import Hole, Trial
from unhack.audit.options import AuditOptions
from unhack.audit.runner import audit
from unhack.audit.subject import Subject
from unhack.audit.subjects.loading import load_subject
from unhack.sandbox.job import Backend
from unhack.sandbox.pool.pool import Pool
from unhack_verifier_bench.entries import PlantedEntry, PlantedKind, flawed

CLOSED = ("binary_strings", "clamped_error", "dates_by_parts", "last_line_numbers")
"""Entries whose planted witness earns nothing in the hardened copy."""
COSTLY = ("dates_by_parts", "last_line_numbers")
_LONG = pytest.mark.long


def load(entry: PlantedEntry, target: str, folder: Path, *, backend: Backend) -> Subject:
    """The subject, with the problems of the corpus for a function."""
    if entry.kind is PlantedKind.CODE:
        return load_subject(target, backend=backend)
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in entry.rows()))
    return load_subject(target, problems=rows, backend=backend)


def hardened_of(
    entry: PlantedEntry, folder: Path, *, backend: Backend
) -> tuple[HardeningResult, Subject]:
    """The outcome, and the original."""
    options = AuditOptions(seconds=40.0)
    name = f":{entry.entry}" if entry.kind is PlantedKind.TEXT else ""
    target = f"{entry.path}{name}"
    subject = load(entry, target, folder, backend=backend)
    report = audit(subject, options=options, backend=backend)
    place = folder / ("hardened.py" if entry.kind is PlantedKind.TEXT else "hardened")
    hardened = harden(
        HardenedCopy(subject, target, place, backend),
        report,
        audit_again=lambda copy: audit(copy, options=options, backend=backend),
    )
    return hardened, subject


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=_LONG) if name in COSTLY else name for name in CLOSED]
)
def test_a_hardened_copy_keeps_every_right_answer_and_closes_what_it_says(
    name: str, tmp_path: Path
) -> None:
    [entry] = [entry for entry in flawed() if entry.name == name]
    before = sorted(path.read_bytes() for path in entry.path.rglob("*") if path.is_file())
    with closing(Pool()) as backend:
        hardened, subject = hardened_of(entry, tmp_path, backend=backend)
        assert hardened.target
        assert hardened.closed
        copy = load(entry, hardened.target, tmp_path, backend=backend)
        holes = [
            Hole(index, row.witness, entry.flaws[0], 0.5)
            for index, row in enumerate(entry.problems)
            if row.witness is not None
        ]
        outcome = Trial.of(subject).run(copy, holes)
        assert outcome.keeps, outcome.complaint
        assert not outcome.open, hardened.to_json()
    assert before == sorted(path.read_bytes() for path in entry.path.rglob("*") if path.is_file())
