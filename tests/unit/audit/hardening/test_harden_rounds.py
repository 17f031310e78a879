"""`harden`: fixes that close a hole and keep every right answer; the original is never touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unhack.audit.hardening.copy import HardenedCopy, check_place
from unhack.audit.hardening.rounds import Mended, harden
from unhack.audit.hardening.trial import Hole, Trial
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.subject import Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.loading import load_subject
from unhack.core.errors import UsageError
from unhack.core.finding import Evidence, Finding, Severity
from unhack.sandbox.pool.shared import pool

CONTAINS = """\
def score(completion, answer):
    return 1.0 if answer in completion else 0.0
"""


def report_of(subject: Subject, *witnesses: tuple[str, str]) -> AuditReport:
    """A report with a finding for each (flaw, witness) on the first problem."""
    findings = tuple(
        Finding(
            flaw=flaw,
            severity=Severity.HIGH,
            attack="test/one",
            tier=1,
            problem=subject.problems[0].id,
            witness=text,
            score=1.0,
            threshold=1.0,
            evidence=Evidence("other_answer", "it is wrong"),
            fix="",
        )
        for flaw, text in witnesses
    )
    conclusion = Conclusion.EXPLOITABLE if findings else Conclusion.SOUND
    return AuditReport(subject.name, conclusion, "", findings, (), (), (), (1,), (), 1, 1, 1.0)


Mend = Callable[..., tuple[Mended, Path]]


@pytest.fixture
def mend(tmp_path: Path) -> Mend:
    """Hardens a reward whose audits find what they are told to."""

    def run(text: str, rows: list[Any], *rounds: list[tuple[str, str]]) -> tuple[Mended, Path]:
        path, place = tmp_path / "reward.py", tmp_path / "hardened.py"
        path.write_text(text)
        problems = tmp_path / "rows.jsonl"
        problems.write_text("".join(json.dumps(row) + "\n" for row in rows))
        later = list(rounds[1:])
        with pool() as backend:
            subject = load_subject(f"{path}:score", problems=problems, backend=backend)
            copy = HardenedCopy(subject, f"{path}:score", place, backend)
            mended = harden(
                copy,
                report_of(subject, *rounds[0]),
                audit_again=lambda again: report_of(again, *(later.pop(0) if later else [])),
            )
        assert path.read_text() == text
        return mended, place

    return run


def row(*correct: str) -> dict[str, Any]:
    return {"prompt": "What is 6 times 7?", "answer": "42", "correct": list(correct)}


class TestRounds:
    def test_a_fix_that_keeps_what_is_right_is_kept(self, mend: Mend) -> None:
        mended, place = mend(CONTAINS, [row("42")], [("substring_match", "1 42")])
        assert mended.closed == ("substring_match",)
        assert mended.left == ()
        assert "equality instead of containment" in mended.kept[0]
        assert "strip() ==" in place.read_text()

    @pytest.mark.slow
    def test_a_fix_that_loses_a_right_answer_is_taken_back_and_a_gate_tried(
        self, mend: Mend
    ) -> None:
        mended, place = mend(CONTAINS, [row("It is 42.")], [("substring_match", "41 or 42")])
        [refused] = mended.refused
        assert "equality" in refused.what
        assert "'It is 42.'" in refused.why
        assert "the only number" in mended.kept[0]
        assert "answer in completion" in place.read_text()
        assert "`correct`" in mended.remarks[0]

    def test_without_any_fix_nothing_is_written(self, mend: Mend) -> None:
        mended, place = mend(CONTAINS, [row("as 6 times 7 is 42")], [("substring_match", "42 a")])
        assert (mended.target, mended.kept, mended.closed) == ("", (), ())
        assert mended.left == ("substring_match",)
        assert len(mended.refused) == 2
        assert not place.exists()

    def test_without_a_finding_nothing_is_changed(self, mend: Mend) -> None:
        mended, place = mend(CONTAINS, [row("42")], [])
        assert (mended.target, mended.kept, mended.refused) == ("", (), ())
        assert not place.exists()

    @pytest.mark.slow
    def test_what_the_next_audit_finds_is_worked_on_too(self, mend: Mend) -> None:
        text = CONTAINS.replace(
            "    return", "    if len(completion) > 20:\n        return 1.0\n    return"
        )
        rounds = [("substring_match", "1 42")], [("length_padding", "x" * 30)]
        mended, place = mend(text, [row("42")], *rounds)
        assert len(mended.kept) == 2
        assert mended.closed == ("substring_match",)
        assert "a gate before `score`" in mended.kept[1]
        assert "_only_right_answers" in place.read_text()

    @pytest.mark.slow
    def test_a_fix_of_another_class_is_kept_only_where_it_closes_something(
        self, mend: Mend
    ) -> None:
        mended, place = mend(CONTAINS, [row("42")], [("hedging", "41 42")])
        assert "equality" in mended.kept[0]
        assert mended.closed == ("hedging",)
        mended, place = mend(
            CONTAINS.replace("answer in", "float('nan') != 1 or answer in"),
            [row("42")],
            [("hedging", "41 43")],
        )
        assert "gate" in mended.kept[0]
        assert place.exists()


class TestFolders:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        task = tmp_path / "double"
        task.mkdir()
        (task / "prompt.md").write_text("Write `double(x)`, which returns twice x.")
        (task / "reference.py").write_text("def double(x):\n    return 2 * x\n")
        (task / "cases.json").write_text(
            json.dumps([{"args": [n], "expected": 2 * n} for n in (1, 2, 3)])
        )
        (task / "verifier.py").write_text(
            "import json, runpy\n\n\n"
            "def verify(solution_path, test_cases_path):\n"
            "    solve = runpy.run_path(solution_path)['double']\n"
            "    cases = json.load(open(test_cases_path))\n"
            "    return float(all(solve(*one['args']) == one['expected'] for one in cases))\n"
        )
        return task

    @pytest.mark.parametrize(
        ("witness", "kept"),
        [
            (
                "class Same:\n    def __eq__(self, other):\n        return True\n\n"
                "def double(x):\n    return Same()\n",
                "sealed judge, the solution elsewhere",
            ),
            (
                "def double(x):\n    return 2 * x if x < 4 else 0\n",
                "more cases, answered by the reference",
            ),
        ],
    )
    def test_a_script_gets_a_sealed_judge(
        self, folder: Path, tmp_path: Path, witness: str, kept: str
    ) -> None:
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        with pool() as backend:
            subject = load_subject(str(folder), backend=backend)
            copy = HardenedCopy(subject, str(folder), tmp_path / "mended", backend)
            report = report_of(subject, ("always_equal_object", witness))
            mended = harden(copy, report, audit_again=report_of)
        assert mended.closed == ("always_equal_object",)
        assert kept in mended.kept[-1]
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
        assert (tmp_path / "mended" / "task.toml").is_file()


class TestTrial:
    def test_right_answers_are_kept_with_other_white_space_too(self, tmp_path: Path) -> None:
        path, rows = tmp_path / "reward.py", tmp_path / "rows.jsonl"
        path.write_text(CONTAINS)
        rows.write_text(json.dumps(row("42", "wrong")) + "\n")
        subject = load_subject(f"{path}:score", problems=rows)
        trial = Trial.of(subject)
        assert {one.text for one in trial.right} == {"42", "\n42\n", "  42  "}
        path.write_text(CONTAINS.replace("answer in completion", "answer == completion"))
        outcome = trial.run(load_subject(f"{path}:score", problems=rows), [Hole(0, "142", "x")])
        assert {one.text for one in outcome.lost} == {"\n42\n", "  42  "}
        assert outcome.open == frozenset()
        assert "would reject the correct completion" in outcome.complaint

    def test_a_copy_that_cannot_be_loaded_is_said_so(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "reward.py"
        path.write_text(CONTAINS)
        subject = load_subject(f"{path}:score")
        trial = Trial.of(subject)
        assert trial.right

        def refuses(self: FunctionSubject, queries: Any) -> Any:
            raise UsageError("reward.py cannot be loaded")

        monkeypatch.setattr(FunctionSubject, "score", refuses)
        outcome = trial.run(subject, [Hole(0, "x", "hedging")])
        assert not outcome.keeps
        assert outcome.open == {0}
        assert "cannot be loaded" in outcome.complaint


class TestPlaces:
    def test_an_existing_file_is_replaced_only_when_told_to(self, tmp_path: Path) -> None:
        path, place = tmp_path / "reward.py", tmp_path / "hardened.py"
        path.write_text(CONTAINS)
        place.write_text("mine")
        target = f"{path}:score"
        subject = load_subject(target)
        for where, word in ((place, "--force"), (path, "the original"), (tmp_path, "directory")):
            with pytest.raises(UsageError, match=word):
                check_place(target, subject, place=where)
        check_place(target, subject, place=place, force=True)
        copy = HardenedCopy(subject, target, place)
        copy.write(CONTAINS)
        copy.discard()
        assert place.read_text() == "mine"

    def test_relative_imports_become_absolute(self, tmp_path: Path) -> None:
        package = tmp_path / "rewards"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "words.py").write_text("def plain(text):\n    return text.strip()\n")
        (package / "sums.py").write_text("from .words import plain\n\n\n" + CONTAINS)
        target = f"{package / 'sums.py'}:score"
        copy = HardenedCopy(load_subject(target), target, tmp_path / "hardened.py")
        subject = copy.write(copy.source.text)
        assert "from rewards.words import plain" in copy.place.read_text()
        assert Trial.of(subject).right
