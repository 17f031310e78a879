"""Small verifiers written to a folder and examined without any attack, for tests of behaviour."""

from __future__ import annotations

import json
import time
from pathlib import Path

from unhack.audit.oracle.both_oracles import BothOracles
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.oracle.programs import ProgramOracle
from unhack.audit.proving import baseline
from unhack.audit.proving.checks import behaviour
from unhack.audit.proving.checks.isolation import IsolationResult
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.proving.prover import Budget, Prover
from unhack.audit.report.report import AuditCheck
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.loading import load_subject
from unhack.sandbox.pool.pool import Pool

ROWS: list[dict[str, object]] = [
    {"prompt": "What is 17 plus 25?", "answer": "42", "correct": ["The answer is 42"]},
    {"prompt": "What is 9 times 9?", "answer": "81", "correct": ["The answer is 81"]},
]
CASES = [{"input": number, "expected": number * number + 3} for number in (2, 5, 11, 40)]
REFERENCE = "def square(n):\n    total = n * n\n    return total + 3\n"


def text_subject(
    folder: Path, pool: Pool, source: str, *, entry: str = "reward", rows: list[dict[str, object]]
) -> FunctionSubject:
    """A function of a file, with problems."""
    (folder / "rewards.py").write_text(source)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    target = f"{folder / 'rewards.py'}:{entry}"
    made = load_subject(target, problems=folder / "rows.jsonl", backend=pool)
    assert isinstance(made, FunctionSubject)
    return made


def script_subject(folder: Path, pool: Pool, source: str) -> FunctionSubject:
    """A folder with a verifier script for `square`."""
    (folder / "verifier.py").write_text(source)
    (folder / "prompt.md").write_text("Write square(n) that gives n squared plus 3.")
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "cases.json").write_text(json.dumps(CASES))
    made = load_subject(str(folder), backend=pool)
    assert isinstance(made, FunctionSubject)
    return made


def examined(
    subject: FunctionSubject, pool: Pool, *, folder: Path | None = None
) -> IsolationResult:
    """All checks besides the attacks."""
    with ScoreJournal(subject, folder) as journal:
        marks = baseline.measure_baselines(journal, subject.problems)
        oracle = BothOracles(TextOracle(pool), ProgramOracle(pool))
        prover = Prover(journal, oracle, Budget(4000, time.monotonic() + 900), _quiet)
        return behaviour.examine(prover, marks, thorough=False)


def check_of(seen: IsolationResult, name: str) -> AuditCheck:
    """The check whose name ends so."""
    [found] = [check for check in seen.checks if check.name.endswith(name)]
    return found


def _quiet(stage: str, done: int, total: int, proofs: int) -> None:
    """Nobody watches."""
