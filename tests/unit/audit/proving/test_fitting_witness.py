"""A finding's witness shows the flaw that it is named by, where one cause has several flaws."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.audit.company import text_subject

from unhack.audit.options import AuditOptions
from unhack.audit.runner import audit
from unhack.sandbox.pool.pool import Pool

ROWS: list[dict[str, object]] = [
    {"prompt": "What is 6 times 7? End with ####", "answer": "42", "correct": ["so\n#### 42"]},
    {"prompt": "What is 30 over 4? End with ####", "answer": "7.5", "correct": ["so\n#### 7.5"]},
    {"prompt": "What is 14 less 9? End with ####", "answer": "5", "correct": ["so\n#### 5"]},
]
LAST = r'found = re.findall(r"\d+(?:\.\d+)?", completion.rpartition("####")[2])[-1:]'
STRIPPED = 'found = [completion.rpartition("####")[2].strip().lstrip("-+.")]'


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(LAST, id="pattern", marks=pytest.mark.slow),
        pytest.param(STRIPPED, id="stripped", marks=pytest.mark.slow),
    ],
)
def test_a_lost_sign_is_shown_by_a_sign(tmp_path: Path, pool: Pool, line: str) -> None:
    body = f"    {line}\n    return float(found == [answer])\n"
    source = f"import re\n\ndef reward(completion, answer):\n{body}"
    subject = text_subject(tmp_path, pool, source, rows=ROWS)
    report = audit(subject, options=AuditOptions(tiers=(1, 2), seconds=600.0), backend=pool)
    [found] = [one for one in report.findings if one.flaw == "sign_lost"]
    assert found.attack.endswith(("sign_flipped", "sign_lost"))
    assert found.witness.lstrip("# ").startswith("-")
    assert (found.evidence.obtained or "").startswith("-")
