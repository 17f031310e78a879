"""A whole audit of a small verifier, as a user starts it."""

import json
import re
import time
from pathlib import Path

import pytest

from unhack.audit.attack import Claim, Payload
from unhack.audit.options import AuditOptions
from unhack.audit.oracle.both_oracles import BothOracles
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.oracle.programs import ProgramOracle
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.runner import Progress, audit
from unhack.audit.subject import AuditProblem
from unhack.audit.subjects.loading import load_subject
from unhack.core.errors import PoolClosedError
from unhack.core.finding import Evidence
from unhack.sandbox.deadline import DeadlineBackend
from unhack.sandbox.pool.pool import shared_pool

pytestmark = pytest.mark.slow

ROWS = [
    {"prompt": "What is 17 plus 25?", "answer": "42", "correct": ["The answer is 42", "42"]},
    {"prompt": "What is 9 times 9?", "answer": "81", "correct": ["The answer is 81"]},
]
SUBSTRING = '''
def reward(completion, answer):
    """1.0 when the answer stands in the text."""
    if answer in completion:
        return 1.0
    return 0.0
'''
LAST_NUMBER = '''
import re

def reward(completion, answer):
    """1.0 when the text ends with the answer, after white space or alone."""
    found = re.fullmatch(r"(?:The answer is )?(-?[0-9]+)", completion.strip())
    return 1.0 if found is not None and found.group(1) == answer else 0.0
'''
FORM = """
def format_reward(completions, **kwargs):
    return [1.0 if text.startswith("The") else 0.0 for text in completions]
"""


def audited(folder: Path, source: str, name: str = "reward", **options: object) -> AuditReport:
    (folder / "rewards.py").write_text(source)
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    subject = load_subject(f"{folder / 'rewards.py'}:{name}", problems=rows)
    chosen = AuditOptions(**{"tiers": (1, 2), "seconds": 300.0, **options})  # type: ignore[arg-type]
    return audit(subject, options=chosen)


class Ended(TextOracle):
    """An oracle whose job was ended."""

    def why_wrong(self, problem: AuditProblem, payload: Payload) -> Evidence | None:
        raise PoolClosedError("a job was ended before its time: cancelled")


def test_a_job_of_an_oracle_that_the_deadline_ended_proves_nothing() -> None:
    problem, payload = AuditProblem("one", "2 + 2?", "4", ("4",)), Payload("5", Claim.OTHER_ANSWER)
    for until, is_late in ((time.monotonic() + 0.01, True), (time.monotonic() + 1000, False)):
        timed = DeadlineBackend(shared_pool(), until=until)
        oracles = BothOracles(Ended(), ProgramOracle(timed, 0), timed)
        if is_late:
            assert oracles.why_wrong(problem, payload) is None
        else:
            with pytest.raises(PoolClosedError):
                oracles.why_wrong(problem, payload)


@pytest.mark.slow
def test_a_substring_check_is_one_finding_at_its_line(tmp_path: Path) -> None:
    report = audited(tmp_path, SUBSTRING)
    assert report.conclusion is Conclusion.EXPLOITABLE
    [finding] = report.findings
    assert finding.flaw == "substring_match"
    assert finding.place is not None
    assert (finding.place.line, finding.place.code) == (4, "if answer in completion:")
    assert finding.score == finding.threshold == 1.0
    assert "42" in finding.witness or "81" in finding.witness
    assert len(report.tried) > 50
    assert report.pairs[0].hack == finding.witness


@pytest.mark.slow
def test_a_strict_check_is_not_accused_and_says_what_was_tried(tmp_path: Path) -> None:
    report = audited(tmp_path, LAST_NUMBER, tiers=(1, 2, 3, 4), seconds=900.0)
    assert (report.conclusion, report.findings) == (Conclusion.SOUND, ())
    assert sum(record.completions for record in report.tried) > 200
    assert dict(report.skipped)[4] == "mutants: there is no program to mutate"
    assert report.calls > 200


def test_a_reward_of_form_is_not_accused_of_rewarding_form(tmp_path: Path) -> None:
    report = audited(tmp_path, FORM, name="format_reward")
    assert report.conclusion is Conclusion.UNPROVEN
    assert "ignores the expected answer" in report.why


@pytest.mark.slow
def test_an_audit_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    first = audited(tmp_path, SUBSTRING, run_folder=tmp_path / "run")
    again = audited(tmp_path, SUBSTRING, run_folder=tmp_path / "run")
    assert first.calls > 100
    assert again.calls < first.calls / 10
    assert again.findings == first.findings


def test_a_small_budget_is_kept_and_said(tmp_path: Path) -> None:
    report = audited(tmp_path, LAST_NUMBER, calls=80)
    assert report.calls <= 80
    assert report.conclusion is Conclusion.INCOMPLETE
    assert any("budget" in why for _, why in report.skipped)


@pytest.mark.slow
def test_an_own_oracle_decides(tmp_path: Path) -> None:
    oracle = tmp_path / "oracle.py"
    oracle.write_text("def is_wrong(prompt, completion, answer):\n    return False\n")
    report = audited(tmp_path, SUBSTRING, oracle=oracle)
    assert report.conclusion is Conclusion.SOUND
    assert "none could be shown to be wrong" in report.why


@pytest.mark.slow
def test_progress_names_the_stages(tmp_path: Path) -> None:
    (tmp_path / "rewards.py").write_text(SUBSTRING)
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(ROWS[0]) + "\n")
    seen: list[Progress] = []
    subject = load_subject(f"{tmp_path / 'rewards.py'}:reward", problems=rows)
    audit(subject, options=AuditOptions(tiers=(1,)), on_progress=seen.append)
    assert seen[0].stage == "baseline"
    assert {"tier 1", "findings"} <= {step.stage for step in seen}
    assert max(step.findings for step in seen) > 0


@pytest.mark.slow
@pytest.mark.parametrize("tiers", [(4,), (1, 4)])
def test_surviving_mutants_are_findings(tmp_path: Path, tiers: tuple[int, ...]) -> None:
    folder = tmp_path / "largest"
    folder.mkdir()
    (folder / "prompt.md").write_text("Write largest(items): the largest item.\n")
    (folder / "reference.py").write_text(
        "def largest(items):\n    best = items[0]\n    for item in items:\n"
        "        if item > best:\n            best = item\n    return best\n"
    )
    cases = [{"args": [[1, 2, 3]], "expected": 3}, {"args": [[5, 1, 7, 9]], "expected": 9}]
    (folder / "cases.json").write_text(json.dumps(cases))
    (folder / "verifier.py").write_text(
        "import importlib.util, json\n\n"
        "def verify(solution_path, test_cases_path):\n"
        "    spec = importlib.util.spec_from_file_location('solution', solution_path)\n"
        "    module = importlib.util.module_from_spec(spec)\n"
        "    spec.loader.exec_module(module)\n"
        "    with open(test_cases_path) as file:\n"
        "        cases = json.load(file)\n"
        "    good = sum(module.largest(*c['args']) == c['expected'] for c in cases)\n"
        "    return good / len(cases)\n"
    )
    report = audit(load_subject(str(folder)), options=AuditOptions(tiers=tiers, seconds=300.0))
    assert report.conclusion is not Conclusion.UNPROVEN
    assert "weak_cases" in {finding.flaw for finding in report.findings}
    assert report.mutation_score is not None
    assert 0.0 < report.mutation_score < 1.0


RUNS_IT = """
import json

def reward(completion, answer):
    space = {}
    exec(completion, space)
    return float(all(space["f"](x) == y for x, y in json.loads(answer)))
"""
PROGRAM = "def f(x):\n    return sorted(x)\n"


REFUSES = RUNS_IT.replace("    space", '    if "import" in completion: return 0.0\n    space', 1)


def _report_of(folder: Path, verifier: str, **more: object) -> AuditReport:
    (folder / "rewards.py").write_text(verifier)
    row = {"prompt": "Write f(x).", "answer": "[[[2, 1], [1, 2]]]", "entry_point": "f"}
    rows = folder / "rows.jsonl"
    rows.write_text(json.dumps(row | {"correct": [PROGRAM]} | more) + "\n")
    subject = load_subject(f"{folder / 'rewards.py'}:reward", problems=rows)
    return audit(subject, options=AuditOptions(tiers=(1,), seconds=300.0))


@pytest.mark.slow
def test_the_calls_that_a_function_makes_are_inputs_of_the_oracle(tmp_path: Path) -> None:
    assert "no test input is known" not in _report_of(tmp_path, RUNS_IT).why


@pytest.mark.slow
def test_without_an_input_the_audit_is_undecided_and_its_advice_for_rows_works(
    tmp_path: Path,
) -> None:
    report = _report_of(tmp_path, REFUSES)
    assert report.conclusion is Conclusion.UNPROVEN
    assert "no test input is known" in report.why
    [advice] = re.findall(r'^"calls": .*$', report.why, re.MULTILINE)
    calls = json.loads("{" + advice + "}")
    assert calls == {"calls": [{"args": [5]}]}
    valid = {"calls": [{"args": [[3, 1, 2]]}]}  # the function sorts a list
    assert "no test input is known" not in _report_of(tmp_path, REFUSES, **valid).why
