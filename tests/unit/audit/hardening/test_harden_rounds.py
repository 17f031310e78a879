"""`harden`: fixes that close a hole and keep every right answer; the original is never touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from unhack.audit.hardening.allowance import Allowance
from unhack.audit.hardening.copy import HardenedCopy, check_place
from unhack.audit.hardening.rounds import HardeningResult, harden
from unhack.audit.hardening.trial import Hole, Trial
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.subject import Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.loading import load_subject
from unhack.core.errors import UsageError
from unhack.core.finding import Evidence, Finding, FindingKind, Severity
from unhack.sandbox.pool.pool import Pool

pytestmark = pytest.mark.slow

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
            kind=FindingKind.HACK,
        )
        for flaw, text in witnesses
    )
    conclusion = Conclusion.EXPLOITABLE if findings else Conclusion.SOUND
    return AuditReport(subject.name, conclusion, "", findings, (), (), (), (1,), (), 1, 1, 1.0)


Hardening = Callable[..., tuple[HardeningResult, Path]]


@pytest.fixture
def fix(tmp_path: Path) -> Hardening:
    """Hardens a reward whose audits find what they are told to."""

    def run(
        text: str, rows: list[Any], *rounds: list[tuple[str, str]]
    ) -> tuple[HardeningResult, Path]:
        path, place = tmp_path / "reward.py", tmp_path / "hardened.py"
        path.write_text(text)
        problems = tmp_path / "rows.jsonl"
        problems.write_text("".join(json.dumps(row) + "\n" for row in rows))
        later = list(rounds[1:])
        with closing(Pool()) as backend:
            subject = load_subject(f"{path}:score", problems=problems, backend=backend)
            copy = HardenedCopy(subject, f"{path}:score", place, backend)
            hardened = harden(
                copy,
                report_of(subject, *rounds[0]),
                audit_again=lambda again: report_of(again, *(later.pop(0) if later else [])),
            )
        assert path.read_text() == text
        return hardened, place

    return run


def row(*correct: str) -> dict[str, Any]:
    return {"prompt": "What is 6 times 7?", "answer": "42", "correct": list(correct)}


class TestRounds:
    @pytest.mark.slow
    def test_a_fix_that_keeps_what_is_right_is_kept(self, fix: Hardening) -> None:
        hardened, place = fix(CONTAINS, [row("42")], [("substring_match", "42 or 1")])
        assert hardened.closed == ("substring_match",)
        assert hardened.left == ()
        [kept] = hardened.kept
        assert "answer in completion" in kept
        text = place.read_text()
        assert CONTAINS.splitlines()[0] in text
        assert max(map(len, text.splitlines())) <= 100

    @pytest.mark.slow
    def test_prose_around_the_answer_keeps_its_score(self, fix: Hardening) -> None:
        hardened, place = fix(CONTAINS, [row("It is 42.")], [("substring_match", "42, 41 or 43")])
        assert hardened.closed == ("substring_match",)
        assert any("equality" in one.what for one in hardened.refused)
        space: dict[str, Any] = {}
        exec(compile(place.read_text(), "hardened.py", "exec"), space)
        for text in ("It is 42.", "It is 42", "What is 6 times 7?\nIt is 42."):
            assert space["score"](text, "42") == 1.0
        assert space["score"]("42, 41 or 43", "42") == 0.0

    @pytest.mark.slow
    def test_the_diff_is_that_of_the_copy(self, fix: Hardening) -> None:
        hardened, place = fix(CONTAINS, [row("42")], [("substring_match", "42 or 1")])
        removed = [line[1:] for line in hardened.patch.splitlines()[2:] if line.startswith("-")]
        added = [line[1:] for line in hardened.patch.splitlines()[2:] if line.startswith("+")]
        assert removed == [CONTAINS.splitlines()[1]]
        assert added[-1] == place.read_text().splitlines()[-1]

    def test_without_any_fix_nothing_is_written_and_the_author_is_told_why(
        self, fix: Hardening
    ) -> None:
        text = "def score(completion, answer):\n    return float(len(completion) > 1)\n"
        hardened, place = fix(text, [row("42")], [("length_padding", "xxxxx")])
        assert (hardened.target, hardened.kept, hardened.closed) == ("", (), ())
        assert hardened.left == ("length_padding",)
        assert "length_padding is left to you" in hardened.remarks[0]
        assert not place.exists()

    def test_without_a_finding_nothing_is_changed(self, fix: Hardening) -> None:
        hardened, place = fix(CONTAINS, [row("42")], [])
        assert (hardened.target, hardened.kept, hardened.refused) == ("", (), ())
        assert not place.exists()

    @pytest.mark.slow
    def test_what_the_next_audit_finds_is_worked_on_too(self, fix: Hardening) -> None:
        text = CONTAINS.replace(
            "    return", "    if len(completion) > 20:\n        return 1.0\n    return"
        )
        rounds = [("substring_match", "42 or 1")], [("fail_open_branch", "x" * 30)]
        hardened, _ = fix(text, [row("42")], *rounds)
        assert len(hardened.kept) == 2
        assert hardened.closed == ("substring_match",)

    def test_the_text_of_a_right_answer_never_enters_the_copy(self, fix: Hardening) -> None:
        _, place = fix(CONTAINS, [row("42")], [("substring_match", "42 or 1")])
        assert "42" not in place.read_text()

    def test_a_hack_that_the_copy_still_has_leaves_no_diff(self, fix: Hardening) -> None:
        rounds = [("substring_match", "42 or 1")], [("prefix_match", "42")]
        hardened, place = fix(CONTAINS, [row("42")], *rounds)
        assert (hardened.target, hardened.patch, hardened.closed) == ("", "", ())
        assert "the hack is not closed: the audit of the copy proves prefix_match" in (
            hardened.refused[0].why
        )
        assert not place.exists()

    @pytest.mark.slow
    def test_the_rule_that_is_enforced_is_told_with_its_line(self, fix: Hardening) -> None:
        hardened, _ = fix(CONTAINS, [row("42")], [("substring_match", "42 or 1")])
        [rule] = hardened.rules
        assert rule.line == 2
        assert rule.text.endswith(".")

    @pytest.mark.slow
    def test_partial_credit_stays_as_it_was(self, fix: Hardening) -> None:
        text = (
            "def score(completion, answer):\n"
            '    said, gold = completion.split(", "), answer.split(", ")\n'
            "    hits = sum(a == b for a, b in zip(said, gold))\n"
            "    return hits / len(said)\n"
        )
        rows = [{"prompt": "List them.", "answer": "3, 5, 8", "correct": ["3, 5, 8"]}]
        hardened, place = fix(text, rows, [("zip_truncation", "3")])
        assert hardened.closed == ("zip_truncation",)
        space: dict[str, Any] = {}
        exec(compile(place.read_text(), "hardened.py", "exec"), space)
        assert space["score"]("3, 5, 9", "3, 5, 8") == 2 / 3
        assert space["score"]("3", "3, 5, 8") < 1.0


class TestBounds:
    @pytest.mark.parametrize(
        ("allowance", "conclusion", "why"),
        [
            (Allowance(calls=0), Conclusion.SOUND, "the calls are used up"),
            (Allowance(until=0.0), Conclusion.SOUND, "the seconds are used up"),
            (Allowance(), Conclusion.INCOMPLETE, "the audit of the copy is incomplete"),
        ],
    )
    def test_what_was_not_searched_to_the_end_is_not_closed(
        self, tmp_path: Path, allowance: Allowance, conclusion: Conclusion, why: str
    ) -> None:
        path, place = tmp_path / "reward.py", tmp_path / "hardened.py"
        path.write_text(CONTAINS)
        rows = tmp_path / "rows.jsonl"
        rows.write_text(json.dumps(row("42")))
        with closing(Pool()) as backend:
            subject = load_subject(f"{path}:score", problems=rows, backend=backend)
            hardened = harden(
                HardenedCopy(subject, f"{path}:score", place, backend),
                report_of(subject, ("substring_match", "42 or 1")),
                audit_again=lambda again: replace(report_of(again), conclusion=conclusion),
                allowance=allowance,
            )
        assert (hardened.patch, hardened.closed) == ("", ())
        assert any(why in one.why for one in hardened.refused)
        assert not place.exists()


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

    def test_a_script_gets_a_sealed_judge(self, folder: Path, tmp_path: Path) -> None:
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        witness = (
            "import json\n\n\ndef double(x):\n    json.load = lambda file: []\n    return 2 * x\n"
            "json.load = lambda file: []\n"
        )
        with closing(Pool()) as backend:
            subject = load_subject(str(folder), backend=backend)
            copy = HardenedCopy(subject, str(folder), tmp_path / "fixed", backend)
            report = report_of(subject, ("test_patching", witness))
            hardened = harden(copy, report, audit_again=report_of)
        assert hardened.closed == ("test_patching",), hardened
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
        if (tmp_path / "fixed" / "task.toml").is_file():
            assert "sealed judge" in hardened.kept[-1]
            assert "+++ b/" in hardened.patch

    @pytest.mark.slow
    def test_a_program_that_is_wrong_on_other_inputs_is_left_to_the_author(
        self, folder: Path, tmp_path: Path
    ) -> None:
        witness = "def double(x):\n    return 2 * x if x < 4 else 0\n"
        with closing(Pool()) as backend:
            subject = load_subject(str(folder), backend=backend)
            copy = HardenedCopy(subject, str(folder), tmp_path / "fixed", backend)
            hardened = harden(
                copy, report_of(subject, ("weak_tests", witness)), audit_again=report_of
            )
        assert (hardened.target, hardened.patch) == ("", "")
        assert not (tmp_path / "fixed").exists()


class TestTrial:
    @pytest.mark.slow
    def test_right_answers_are_kept_in_other_forms_too(self, tmp_path: Path) -> None:
        path, rows = tmp_path / "reward.py", tmp_path / "rows.jsonl"
        path.write_text(CONTAINS)
        rows.write_text(json.dumps(row("42", "wrong")) + "\n")
        subject = load_subject(f"{path}:score", problems=rows)
        trial = Trial.of(subject)
        assert {one.text for one in trial.right} >= {"42", "\n42\n", "  42  ", "42.0"}
        path.write_text(CONTAINS.replace("answer in completion", "answer == completion"))
        hole = Hole(0, "142", "x", 1.0)
        outcome = trial.run(load_subject(f"{path}:score", problems=rows), [hole])
        assert {one.text for one in outcome.lost} >= {"\n42\n", "  42  "}
        assert outcome.open == frozenset()
        assert "it would no longer give 1 for" in outcome.complaint

    @pytest.mark.slow
    def test_a_form_that_is_rewarded_through_the_hole_alone_binds_nobody(
        self, tmp_path: Path
    ) -> None:
        path, rows = tmp_path / "reward.py", tmp_path / "rows.jsonl"
        path.write_text(
            "def score(completion, answer):\n"
            "    try:\n        return float(int(completion) == int(answer))\n"
            "    except ValueError:\n        return 1.0\n"
        )
        rows.write_text(json.dumps(row("42")) + "\n")
        trial = Trial.of(load_subject(f"{path}:score", problems=rows))
        texts = {one.text for one in trial.right}
        assert "+42" in texts
        assert not texts & {"42.0", "$42$", "42."}

    @pytest.mark.slow
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
        outcome = trial.run(subject, [Hole(0, "x", "hedging", 1.0)])
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

    @pytest.mark.slow
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
