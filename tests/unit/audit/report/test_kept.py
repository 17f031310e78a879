"""A report that is kept is the same report again."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.audit.report_sample import FALSE_ACCEPT, HOSTILE, SUFFIX, report

from unhack.audit.report.kept import REPORT, keep_report, kept_report, report_from
from unhack.audit.report.page import contents
from unhack.store.errors import StoreError


def test_a_kept_report_shows_the_same_page(tmp_path: Path) -> None:
    made = report(SUFFIX, FALSE_ACCEPT, HOSTILE)
    assert kept_report(tmp_path) is None
    keep_report(made, tmp_path)
    again = kept_report(tmp_path)
    assert again is not None
    assert contents(again) == contents(made)


def test_what_is_no_report_is_refused(tmp_path: Path) -> None:
    for values in ({}, {"subject": 1}, {**report(SUFFIX).to_json(), "conclusion": "nice"}):
        with pytest.raises(ValueError, match="no report"):
            report_from(values)
    (tmp_path / REPORT).write_text("{")
    with pytest.raises(StoreError, match="damaged"):
        kept_report(tmp_path)
