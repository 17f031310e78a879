"""Verifiers without an answer: constraints that a row's columns state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unhack.audit.options import AuditOptions
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.runner import audit
from unhack.audit.subject import Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.loading import FunctionInputs, load_subject

pytestmark = pytest.mark.slow
MULTIPLES = [(7, "21"), (11, "33"), (13, "26"), (17, "85"), (19, "38")]
SOUND = (
    "def check(text, base):\n"
    "    return float(text.isdigit() and base < int(text) <= 5 * base and int(text) % base == 0)\n"
)
SIGN_FORGOTTEN = (
    "import re\n\n"
    "def check(text, base):\n"
    "    if not re.fullmatch(r'-?[0-9]+', text):\n"
    "        return 0.0\n"
    "    return float(int(text) <= 5 * base and int(text) % base == 0 and int(text) != 0)\n"
)
NOTHING_CHECKED = (
    "import json\n\n"
    "def check(text, base):\n"
    "    try:\n"
    "        return float(all(one % base == 0 for one in json.loads(text)))\n"
    "    except (ValueError, TypeError):\n"
    "        return 0.0\n"
)


def loaded(folder: Path, source: str, *, correct: bool = True, **inputs: Any) -> Subject:
    (folder / "reward.py").write_text(source)
    rows = [
        {"prompt": f"A multiple of {base}, from {base} to {5 * base}.", "base": base}
        | ({"correct": [right]} if correct else {})
        for base, right in MULTIPLES
    ]
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    given = FunctionInputs(**inputs)
    return load_subject(folder / "reward.py", problems=folder / "rows.jsonl", inputs=given)


def audited(folder: Path, source: str, *, correct: bool = True, **options: Any) -> AuditReport:
    subject = loaded(folder, source, correct=correct)
    return audit(subject, options=AuditOptions(tiers=(1, 2), **options))


@pytest.mark.sample
def test_a_sound_checker_is_attacked_and_clean(tmp_path: Path) -> None:
    report = audited(tmp_path, SOUND)
    assert (report.conclusion, report.findings) == (Conclusion.SOUND, ())
    assert sum(one.completions for one in report.tried if one.attack.startswith("broken/")) > 8
    assert any("no answer is known" in one for one in report.assumed)


def test_what_passes_everywhere_broken_is_never_called_fine(tmp_path: Path) -> None:
    report = audited(tmp_path, SIGN_FORGOTTEN)
    assert report.conclusion is Conclusion.UNPROVEN
    assert "broken/negated" in report.why
    assert "--oracle" in report.why


def test_an_oracle_decides_what_is_broken(tmp_path: Path) -> None:
    oracle = tmp_path / "oracle.py"
    oracle.write_text(
        "def is_wrong(prompt, completion, answer):\n"
        "    return not completion.strip().isdigit() or int(completion) == 0\n"
    )
    report = audited(tmp_path, SIGN_FORGOTTEN, oracle=oracle)
    assert report.findings
    assert all(one.evidence.kind == "oracle" for one in report.findings)


def test_a_text_without_content_is_a_hack_where_it_passes_on_rows_that_differ(
    tmp_path: Path,
) -> None:
    report = audited(tmp_path, NOTHING_CHECKED, correct=False)
    assert report.conclusion is Conclusion.EXPLOITABLE, report.why
    assert any("a reward of 1 is a full one" in one for one in report.assumed)


def test_without_right_completions_nothing_is_called_fine(tmp_path: Path) -> None:
    report = audited(tmp_path, SOUND, correct=False)
    assert report.conclusion is Conclusion.UNPROVEN
    assert "give some as `correct`" in report.why


def test_a_grader_that_cannot_start_is_named(tmp_path: Path) -> None:
    source = "import subprocess\n\ndef check(text, base):\n    subprocess.run(['/no/grader'])\n"
    report = audited(tmp_path, source, correct=False)
    assert report.conclusion is Conclusion.UNPROVEN
    assert "fails on every completion that was tried: FileNotFoundError" in report.why


def test_a_solver_stands_in_for_right_completions(tmp_path: Path) -> None:
    oracle = tmp_path / "oracle.py"
    oracle.write_text("def right(row):\n    return str(2 * row['base'])\n")
    subject = loaded(tmp_path, SOUND, correct=False, oracle=oracle)
    assert [one.correct for one in subject.problems[:2]] == [("14",), ("22",)]
    report = audit(subject, options=AuditOptions(tiers=(1,)))
    assert report.conclusion is Conclusion.SOUND, report.why


def test_the_runs_that_find_the_inputs_are_within_the_calls(tmp_path: Path) -> None:
    subject = loaded(tmp_path, SOUND, correct=False, calls=20)
    assert isinstance(subject, FunctionSubject)
    assert 0 < subject.runs.calls <= 10
    assert any("--calls" in one for one in subject.assumed)
    options = AuditOptions(calls=20, calls_made=subject.runs.calls)
    assert subject.runs.calls < audit(subject, options=options).calls <= 20


def test_a_search_for_right_completions_that_was_cut_off_is_told(tmp_path: Path) -> None:
    (tmp_path / "reward.py").write_text(
        "import time\n\ndef check(text, base):\n    time.sleep(1.0)\n    return 0.0\n"
    )
    (tmp_path / "rows.jsonl").write_text(
        '{"prompt": "a?", "base": 3}\n{"prompt": "b?", "base": 4}\n'
    )
    subject = load_subject(tmp_path / "reward.py", problems=tmp_path / "rows.jsonl", seconds=8.0)
    report = audit(subject, options=AuditOptions(tiers=(1,), seconds=8.0))
    assert report.conclusion is Conclusion.UNPROVEN
    assert any("cut off" in one for one in report.assumed)


def test_of_a_slow_verifier_some_problems_stand_for_all(tmp_path: Path) -> None:
    (tmp_path / "reward.py").write_text(
        "import time\n\ndef check(text, answer):\n    time.sleep(0.3)\n"
        "    return float(answer in text)\n"
    )
    rows = [
        {"prompt": f"{a} + 9?", "answer": str(a + 9), "correct": [str(a + 9)]} for a in range(9)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    subject = load_subject(tmp_path / "reward.py", problems=tmp_path / "rows.jsonl", seconds=12.0)
    report = audit(subject, options=AuditOptions(tiers=(1,), seconds=12.0))
    [told] = [one for one in report.assumed if one.endswith("the verifier is slow")]
    assert told.split(" of 9 problems")[0] in {"4", "5"}
    assert (str(report.problems), report.of_problems) == (told.split()[0], 9)
