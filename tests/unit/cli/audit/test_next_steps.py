"""The command that follows an audit can be run as it stands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.audit.report_sample import SUFFIX, report

from unhack.audit.options import AuditOptions
from unhack.audit.report.plan import PartEnd, PlanPart
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.subject import AuditProblem
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.loading import CUT_OFF
from unhack.audit.subjects.signatures import detect
from unhack.audit.subjects.target import find_target
from unhack.cli.audit.arguments import AuditArguments
from unhack.cli.audit.steps import next_steps

GIVEN = {
    "target": "my rewards.py:r", "problems": Path("rows.jsonl"), "bind": ["gold=a b", "prompt=q"],
    "seconds": 90.0, "strict": True, "html": Path("page.html"), "as_json": False,
}  # fmt: skip
EXACT = "def r(completion, answer):\n    return float(completion == answer)\n"


@pytest.fixture
def subject(tmp_path: Path) -> FunctionSubject:
    """A function that nobody calls."""
    return made(tmp_path, EXACT)


def made(folder: Path, text: str, *, drilled: bool = False) -> FunctionSubject:
    path = folder / "reward.py"
    path.write_text(text)
    found = find_target(f"{path}:r")
    row = AuditProblem("p", "q", "42", extra={})
    return FunctionSubject("r", found, detect(found), (row,), drilled=drilled)


def steps(
    of: AuditReport, subject: FunctionSubject, given: frozenset[str] = frozenset(GIVEN)
) -> list[str]:
    arguments = AuditArguments(**GIVEN)  # pyright: ignore[reportArgumentType]
    found = next_steps(arguments, given, report=of, subject=subject, options=AuditOptions())
    assert all(purpose for _, purpose in found)
    return [command for command, _ in found]


class TestNextSteps:
    def test_a_hack_is_followed_by_its_fix_with_the_same_options(
        self, subject: FunctionSubject
    ) -> None:
        assert steps(report(SUFFIX), subject) == [
            "unhack audit 'my rewards.py:r' --problems rows.jsonl --bind 'gold=a b' "
            "--bind prompt=q --seconds 90 --strict --fix"
        ]

    def test_what_was_cut_off_is_followed_by_a_larger_budget(
        self, subject: FunctionSubject
    ) -> None:
        plan = (PlanPart(1, "attacks", PartEnd.STOPPED, "the time", planned=90, ran=30),)
        for conclusion in (Conclusion.INCOMPLETE, Conclusion.UNPROVEN):
            cut = replace(report(conclusion=conclusion), plan=plan)
            [command] = steps(cut, subject)
            options = command.partition("prompt=q ")[2].split()
            assert options[0] == "--strict"
            assert int(options[options.index("--seconds") + 1]) > 2 * 90
            assert int(options[options.index("--calls") + 1]) > 2 * 6000

    def test_a_search_for_right_completions_that_was_cut_off_gets_more_seconds(
        self, subject: FunctionSubject
    ) -> None:
        cut = replace(report(conclusion=Conclusion.UNPROVEN), plan=(), assumed=(CUT_OFF,))
        assert [one.partition("--strict ")[2] for one in steps(cut, subject)] == ["--seconds 360"]

    def test_nothing_found_is_followed_by_the_worth_of_that(self, subject: FunctionSubject) -> None:
        assert [one.split()[-1] for one in steps(report(), subject)] == ["--power"]
        assert steps(report(), subject, frozenset({*GIVEN, "power"})) == []

    def test_a_function_without_rows_is_followed_by_a_row_with_its_columns(
        self, tmp_path: Path
    ) -> None:
        text = "def r(completion, answer, info):\n    return info['size']\n"
        drilled = made(tmp_path, text, drilled=True)
        arguments = AuditArguments(target="reward.py:r")
        unproven = replace(report(conclusion=Conclusion.UNPROVEN), plan=())
        [(command, purpose)] = next_steps(
            arguments, frozenset(), report=unproven, subject=drilled, options=AuditOptions()
        )
        assert command == "unhack audit reward.py:r --problems rows.jsonl"
        assert purpose.endswith(
            '{"prompt": "…", "answer": "…", "info": {"size": "…"}, "correct": ["…"]}'
        )

    def test_a_reward_of_form_is_followed_by_an_oracle(self, tmp_path: Path) -> None:
        form = made(tmp_path, "def r(response):\n    return float('<a>' in response)\n")
        [command] = steps(report(conclusion=Conclusion.UNPROVEN), form)
        assert command.endswith("--strict --oracle oracle.py")
