"""Hacker, fixer and solver on Harbor folders: rules, scripted agents, siblings, ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.audit.hardening.loop.workers import ScriptedWorker, hack, report_of

from unhack.agents.play import WorkFiles
from unhack.audit.environments.episode_runner import actions_of
from unhack.audit.environments.loading import environment_of
from unhack.audit.environments.proving import witness_of
from unhack.audit.environments.runner import EnvironmentAuditOptions, EnvironmentSubject
from unhack.audit.hardening.loop.environment import EnvironmentLoop, harden_environment
from unhack.audit.hardening.loop.record import ASK_AGENT, HardenedTask, LoopEnd, exit_code
from unhack.audit.report.report import AuditReport

pytestmark = pytest.mark.slow

SCRIPT = """#!/bin/bash
if {test}
then echo 1 > /logs/verifier/reward.txt
else echo 0 > /logs/verifier/reward.txt
fi
"""
COMPARES = "cmp -s /app/sorted.txt /app/check/sorted.txt"
EXISTS = "[ -s /app/sorted.txt ]"
SORTS = "diff -q <(sort /app/words.txt) <(grep . /app/sorted.txt)"
WORDS = ("pear-of-the-garden", "apple-of-the-tree", "fig-of-the-south")


FIRST = f'[ "$(head -n 1 /app/sorted.txt)" = {min(WORDS)} ]'


def folder(
    place: Path, test: str, words: Sequence[str] = WORDS, *, more: str = "", given: str = ""
) -> str:
    """A task that asks for words in order; `more` are further commands of its solution."""
    files = {
        "task.toml": f'[task]\nname = "{place.name}"\n',
        "instruction.md": "Write the words of /app/words.txt, in order, to /app/sorted.txt.\n",
        "environment/Dockerfile": "FROM debian:12\nWORKDIR /app\nCOPY . /app\n",
        "environment/words.txt": "\n".join(words) + "\n",
        "environment/check/sorted.txt": given or "\n".join(sorted(words)) + "\n",
        "solution/solve.sh": f"sort words.txt > sorted.txt\n{more}",
        "tests/test.sh": SCRIPT.format(test=test),
    }
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    return str(place)


Play = Callable[..., HardenedTask]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Plays the loop with audits in which the named attacks win."""
    monkeypatch.chdir(tmp_path)

    def run(
        test: str,
        turns: Sequence[Sequence[str]],
        worker: ScriptedWorker | None = None,
        *,
        siblings: Sequence[str] = (),
        white_box: bool = False,
        cut: bool = False,
        seen: list[EnvironmentSubject] | None = None,
    ) -> HardenedTask:
        left = [list(turn) for turn in turns]

        def audited(subject: EnvironmentSubject, options: EnvironmentAuditOptions) -> AuditReport:
            if seen is not None:
                seen.append(subject)
            known = {one.name: one for one in subject.attacks}
            [task] = subject.tasks
            found = [
                replace(
                    hack(known[name].flaw, witness_of(actions_of(known[name], task))),
                    attack=f"{known[name].route}/{name}", problem=task.id,
                )
                for name in left.pop(0)
            ]  # fmt: skip
            return report_of(subject.name, *found, cut=cut and not left)

        subject = environment_of(folder(tmp_path / "words", test))
        loop = EnvironmentLoop(
            EnvironmentAuditOptions(), 2, audited, worker, white_box=white_box,
            siblings=[environment_of(one) for one in siblings],
        )  # fmt: skip
        [task] = harden_environment(subject, loop=loop)
        return task

    return run


@pytest.mark.sample
def test_given_files_that_the_grader_trusts_come_back_and_siblings_take_it(
    play: Play, tmp_path: Path
) -> None:
    same = folder(tmp_path / "same", COMPARES, ("walnut-of-the-hill", "cherry-of-the-year"))
    other = folder(tmp_path / "other", FIRST)
    own = folder(tmp_path / "own", COMPARES, more="cp sorted.txt check/sorted.txt\n", given="none")
    task = play(COMPARES, [["same_files"], []], siblings=(same, other, own))
    assert task.end is LoopEnd.CLOSED, task.why
    assert "+cp /tests/given/0 /app/check/sorted.txt" in task.diff
    assert "--- a/words/tests/test.sh" in task.diff
    kept = [patch.what for patch in task.rounds[0].patches if patch.kept]
    assert kept == ["given files are graded as they were given"]
    assert [one.kept for one in task.siblings] == [True, False, False]
    assert "walnut-of-the-hill" in task.siblings[0].diff
    assert task.siblings[1].why == "it does not have the hole"
    assert task.siblings[2].why.startswith("it does not fit there: given files")
    assert exit_code([task]) == 1


def test_where_no_rule_fits_the_end_asks_for_an_agent(play: Play) -> None:
    task = play(EXISTS, [["named_files"]])
    assert (task.end, task.why) == (LoopEnd.NOT_CLOSED, ASK_AGENT)
    assert task.diff == ""


def fixer(test: str) -> ScriptedWorker:
    """An agent that writes another test, and finds no hack itself."""

    def answer(files: WorkFiles) -> dict[str, str]:
        return {"tests/test.sh": SCRIPT.format(test=test)} if "holes.json" in files else {}

    return ScriptedWorker(answer)


def test_a_test_that_an_agent_wrote_closes_what_no_rule_does(play: Play) -> None:
    task = play(EXISTS, [["named_files"], []], fixer(SORTS))
    assert task.end is LoopEnd.CLOSED, task.why
    assert f"+if {SORTS}" in task.diff


def test_a_test_that_right_work_fails_is_dropped(play: Play) -> None:
    task = play(EXISTS, [["named_files"]], fixer("[ $(wc -l < /app/sorted.txt) = 99 ]"))
    assert task.end is LoopEnd.SOLVER_REFUSED
    assert "the reference is not paid" in task.why


def test_a_test_that_names_the_right_work_is_refused(play: Play) -> None:
    gold = f"grep -q {sorted(WORDS)[0]} /app/sorted.txt"
    task = play(EXISTS, [["named_files"]], fixer(gold))
    assert task.end is LoopEnd.NOT_CLOSED
    assert "it names a text of the right work" in task.rounds[0].patches[-1].solver


def test_a_hacking_agent_s_script_is_played_in_every_turn(play: Play) -> None:
    worker = ScriptedWorker(lambda files: {"attack.sh": "cp check/sorted.txt sorted.txt"})
    seen: list[EnvironmentSubject] = []
    task = play(EXISTS, [[]], worker, white_box=True, seen=seen)
    assert task.end is LoopEnd.NO_HOLE
    assert [one.name for one in seen[0].attacks][-1] == "scripted-1"
    [(order, files)] = worker.orders
    assert "in order, to /app/sorted.txt" in order
    assert b"sorted.txt" in files["grader/test.sh"]
    play(EXISTS, [[]], worker, seen=seen)
    assert not [path for path in worker.orders[-1][1] if path.startswith("grader/")]


def test_what_did_not_run_is_never_fine(play: Play) -> None:
    failing = ScriptedWorker(lambda files: {}, failure="it was killed")
    task = play(EXISTS, [[]], failing)
    assert (task.end, exit_code([task])) == (LoopEnd.AGENT_FAILED, 4)
    task = play(EXISTS, [[]], cut=True)
    assert (task.end, exit_code([task])) == (LoopEnd.BUDGET, 4)
