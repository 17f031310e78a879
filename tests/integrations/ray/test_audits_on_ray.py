"""Audits whose runs go to the nodes of a Ray: the same findings, though a node is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from unhack.audit.options import AuditOptions
from unhack.audit.report.report import AuditReport
from unhack.audit.runner import Progress, audit
from unhack.sandbox.job import Backend
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.execution.executor_backend import ExecutorBackend
from unhack.tasks.execution.ray.executor import RayExecutor
from unhack_verifier_bench.claims import subject_of
from unhack_verifier_bench.entries import flawed

from .lost_nodes import START_S, Victim

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
OPTIONS = AuditOptions(tiers=(1, 2), calls=1200, seconds=900.0, seed=3)


def _audit(name: str, backend: Backend, *, lose: Any = None) -> AuditReport:
    """An audit of a planted verifier; `lose` is called once, in its middle."""
    [entry] = [one for one in flawed() if one.name == name]
    waiting = [lose] if lose is not None else []

    def watch(progress: Progress) -> None:
        if progress.stage.startswith("tier") and waiting:
            waiting.pop()()

    report = audit(
        subject_of(entry, backend=backend), options=OPTIONS, backend=backend, on_progress=watch
    )
    assert not waiting, "nothing was lost"
    return report


@pytest.mark.parametrize("name", ["leading_number", "digit_sum"])
def test_a_killed_node_changes_no_finding(cluster: Any, executor: RayExecutor, name: str) -> None:
    with closing(Pool()) as backend:
        here = _audit(name, backend)
    victim = Victim(cluster, executor)
    away = ExecutorBackend(executor)
    there = _audit(name, away, lose=victim.kill)
    away.close()
    assert victim.is_gone_from(executor)
    assert here.findings
    assert there.findings == here.findings
    assert there.conclusion is here.conclusion
    assert there.tried == here.tried
    assert [(one.name, one.ok) for one in there.checks] == [
        (one.name, one.ok) for one in here.checks
    ]


def test_the_command_audits_and_scores_on_the_ray_at_hand(cluster: Any, tmp_path: Path) -> None:
    reward = tmp_path / "reward.py"
    reward.write_text("def score(completion, answer):\n    return float(answer in completion)\n")
    rows = tmp_path / "rows.jsonl"
    row = {"prompt": "What is 17 + 25?", "answer": "42", "correct": ["42"]}
    rows.write_text(json.dumps(row) + "\n")
    unhack = [Path(sys.executable).parent / "unhack"]
    limits = ["--problems", rows, "--tiers", "1", "--calls", "400", "--seconds", "300", "--json"]
    command = [*unhack, "audit", f"{reward}:score", *limits, "--executor", "ray"]
    found = _run(command, cluster.address)
    assert found.returncode == 1
    assert json.loads(found.stdout)["findings"]
    solution = tmp_path / "solution.py"
    solution.write_text("def expand_seats(spec): return []")
    command = [*unhack, "score", "parsing/seat-ranges", solution, "--json", "--executor", "ray"]
    scored = _run(command, cluster.address)
    assert scored.returncode == 0
    assert json.loads(scored.stdout)["status"] == "failed"


def _run(command: list[Any], address: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the cluster's address in its environment."""
    environ = {**os.environ, "RAY_ADDRESS": address}
    return subprocess.run(
        command, env=environ, stdout=subprocess.PIPE, text=True, timeout=START_S, check=False
    )
