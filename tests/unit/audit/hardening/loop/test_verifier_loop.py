"""Hacker, fixer and solver on verifiers: what is kept, what is dropped, how the loop ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.unit.audit.hardening.loop.workers import ScriptedWorker, hack, report_of

from unhack.agents.play import WorkFiles
from unhack.audit.hardening.loop.record import HardenedTask, LoopEnd, exit_code
from unhack.audit.hardening.loop.verifier import VerifierLoop, harden_verifier
from unhack.audit.options import AuditOptions
from unhack.audit.report.report import AuditReport
from unhack.audit.subject import Subject
from unhack.audit.subjects.loading import load_subject
from unhack.core.finding import Finding
from unhack.sandbox.pool.pool import Pool

pytestmark = pytest.mark.slow

CONTAINS = """\
def score(completion, answer):
    if completion.startswith("PASS"):
        return 1.0
    return 1.0 if answer.lower() in completion.lower() else 0.0
"""
CHECK = """\
    import re
    found = re.findall(r"\\d+(?:\\.\\d+)?", completion.replace(",", ""))
    values = {float(one) for one in found if len(one) < 300}
    if "=" in completion and "+" in completion:
        values = {float(found[-1])}
    return 1.0 if values == {float(answer)} else 0.0
"""
ROWS = [
    {"prompt": f"What is {a} plus {b}?", "answer": str(a + b), "correct": [str(a + b)]}
    for a, b in ((34, 77), (45, 51), (62, 80), (19, 64))
]
DUMP = ("substring_match", " ".join(map(str, range(80, 150))))
MAGIC = ("fail_open_branch", "PASS")


def strict(files: WorkFiles, *, both: bool = True) -> dict[str, str]:
    """The verifier with a check of its numbers; the magic word goes with it, or a turn later."""
    text = files["verifier.py"].decode()
    head, last = CONTAINS.partition("    if completion")[0], CONTAINS.splitlines()[-1] + "\n"
    gone = both or last not in text
    return {"verifier.py": head + CHECK if gone else text.replace(last, CHECK)}


Play = Callable[..., HardenedTask]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Plays the loop with audits that find what they are told to."""
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    def run(
        turns: Sequence[Sequence[tuple[str, str]]],
        worker: ScriptedWorker | None,
        *,
        text: str = CONTAINS,
        siblings: Sequence[str] = (),
        calls: int = 6000,
        cut: bool = False,
    ) -> HardenedTask:
        Path("reward.py").write_text(text)
        left = [list(turn) for turn in turns]

        def audited(subject: Subject, options: AuditOptions) -> AuditReport:
            first = subject.problems[0].id
            found: list[Finding] = [
                replace(hack(flaw, witness), problem=first) for flaw, witness in left.pop(0)
            ]
            return report_of(subject.name, *found, cut=cut and not left)

        with closing(Pool()) as backend:
            subject, *others = (
                load_subject(one, problems=Path("rows.jsonl"), backend=backend)
                for one in ("reward.py:score", *siblings)
            )
            loop = VerifierLoop(
                AuditOptions(calls=calls), 3, audited, backend, worker=worker,
                siblings=list(zip(siblings, others, strict=True)),
            )  # fmt: skip
            return harden_verifier(subject, "reward.py:score", loop=loop)

    return run


@pytest.mark.sample
def test_a_hole_that_is_found_after_round_1_is_closed_in_round_2(play: Play) -> None:
    task = play([[DUMP], [MAGIC], []], ScriptedWorker(partial(strict, both=False)))
    assert task.end is LoopEnd.CLOSED, task.why
    assert [[hole.flaw for hole in one.found] for one in task.rounds] == [
        ["substring_match"], ["fail_open_branch"], [],
    ]  # fmt: skip
    assert "-    return 1.0 if answer.lower() in completion" in task.diff
    assert "-        return 1.0" in task.diff
    assert Path("reward.py").read_text() == CONTAINS
    assert exit_code([task]) == 1


def test_a_patch_that_costs_right_work_is_dropped_by_the_solver(play: Play) -> None:
    broken = "def score(completion, answer):\n    return 1.0 if completion == answer else 0.0\n"
    task = play([[DUMP]], ScriptedWorker(lambda files: {"verifier.py": broken}))
    assert task.end is LoopEnd.SOLVER_REFUSED
    assert task.diff == ""
    [one] = task.rounds
    said = {patch.what: patch.solver for patch in one.patches if not patch.kept}
    assert said["a change by scripted"].startswith("it would no longer give 1")


def test_a_patch_that_compares_with_texts_of_rows_is_refused(play: Play) -> None:
    def fix(files: WorkFiles) -> dict[str, str]:
        gold = [one["completion"] for one in json.loads(files["right.json"])]
        body = "    return 1.0 if completion in GOLD else 0.0\n"
        return {"verifier.py": f"GOLD = {gold!r}\n\n\ndef score(completion, answer):\n{body}"}

    task = play([[DUMP]], ScriptedWorker(fix))
    assert task.end in (LoopEnd.NOT_CLOSED, LoopEnd.SOLVER_REFUSED)
    said = {patch.what: patch.solver for patch in task.rounds[0].patches}
    assert "names a text of the rows" in said["a change by scripted"]


def test_an_agent_that_cannot_start_is_never_fine(play: Play) -> None:
    worker = ScriptedWorker(lambda files: {}, failure="it ended with code 127")
    hacked, clean = play([[DUMP]], worker), play([[]], worker)
    assert hacked.end is clean.end is LoopEnd.AGENT_FAILED
    assert "code 127" in clean.why
    assert (exit_code([hacked]), exit_code([clean])) == (1, 4)


def test_a_budget_that_ends_in_the_middle_is_the_end(play: Play) -> None:
    spent = play([[DUMP]], ScriptedWorker(strict), calls=20)
    assert spent.end is LoopEnd.BUDGET
    assert spent.diff == ""
    cut = play([[DUMP], []], ScriptedWorker(strict), cut=True)
    assert cut.end is LoopEnd.BUDGET, cut.why
    assert cut.diff == ""


def test_one_sibling_takes_the_patch_and_one_keeps_its_grader(play: Play, tmp_path: Path) -> None:
    (tmp_path / "same.py").write_text(f"{CONTAINS}\n\nOTHER = 1\n")
    # here right completions have a number that the patch would count
    loose = CONTAINS.replace("    if comp", "    completion += '; 5 of 5'\n    if comp", 1)
    (tmp_path / "loose.py").write_text(loose)
    (tmp_path / "other.py").write_text(
        "def score(completion, answer):\n    return float(completion.split()[-1] == answer)\n"
    )
    siblings = ("same.py:score", "loose.py:score", "other.py:score")
    task = play([[DUMP], []], ScriptedWorker(strict), siblings=siblings)
    assert task.end is LoopEnd.CLOSED, task.why
    same, refusing, other = task.siblings
    assert same.kept, same.why
    assert "+++ b/same.py" in same.diff
    assert not refusing.kept
    assert refusing.why.startswith("it would no longer give 1")
    assert (other.kept, other.why) == (False, "the lines of the patch do not stand in it")
