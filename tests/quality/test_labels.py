"""Every label of the planted corpus, proven by running the verifier it speaks of."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from unhack import Case, FunctionVerifier, Limits, Problem, ScriptVerifier, Task, run_batch
from unhack.tasks.directory import load_directory
from unhack.verifiers.script import Mode

HERE = Path(__file__).resolve().parent


def _module(path: Path) -> ModuleType:
    name = f"quality_{path.parent.name}_{path.stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


corpus: Any = _module(HERE / "planted.py")
ENTRIES = corpus.entries()
TEXTS = [entry for entry in ENTRIES if entry.kind == "text"]
CODES = [entry for entry in ENTRIES if entry.kind == "code"]
LONG = ("longest_climb",)
"""Programs that take seconds."""
LIMITS = Limits(wall_s=8.0, cpu_s=8.0)
HOSTILE = (
    "x = 1",
    "def ENTRY(*values):\n    return None",
    "def ENTRY(*values):\n    return values[0]",
    "def ENTRY(*values):\n    return []",
    "def ENTRY(*values):\n    raise ValueError",
    "def ENTRY(*values):\n    yield from ()",
    "import os\nos._exit(0)",
    "raise SystemExit(0)",
    "import json\njson.loads = lambda *a, **k: []\ndef ENTRY(*values):\n    return ''",
    "class Any:\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n"
    "def ENTRY(*values):\n    return Any()",
    "class Text(str):\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n"
    "def ENTRY(*values):\n    return Text()",
    "class Items(list):\n    def __eq__(self, other):\n        return True\n"
    "def ENTRY(*values):\n    return Items()",
    "class Number(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n"
    "def ENTRY(*values):\n    return Number()",
    "import sys\ndef ENTRY(*values):\n    frame = sys._getframe()\n    while frame:\n"
    "        for name in ('expected', 'case', 'cases'):\n"
    "            if name in frame.f_locals:\n                return frame.f_locals[name]\n"
    "        frame = frame.f_back",
)
"""Solutions that are wrong for every task."""


def _named(entry: Any) -> str:
    return f"{entry.path.parent.name}/{entry.name}"


def _scorer(entry: Any) -> Callable[[Any, str], float]:
    function = getattr(_module(entry.path), entry.entry)
    return lambda row, text: corpus.score(function, entry.signature, row=row, text=text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip().strip("$").split()).rstrip(".")


def _fraction(text: str) -> Fraction | None:
    try:
        return Fraction(text.replace(",", "").replace(" ", ""))
    except (ValueError, ZeroDivisionError):
        return None


def _differ(given: str, answer: str) -> bool:
    """Whether two final answers are surely not the same."""
    left, right = _fraction(given), _fraction(answer)
    if left is not None and right is not None:
        return abs(left - right) > abs(right) / 50
    return _plain(given) != _plain(answer)


def _is_wrong(row: Any) -> bool:
    """Whether the witness is wrong by what it says, told without any verifier."""
    if row.restates:
        assert row.restates in row.prompt
        return row.restates in row.witness and row.answer not in row.witness
    if not row.says:
        words = _plain(row.witness).replace("{", " ").replace("}", " ").split()
        return _plain(row.answer) not in words and not any(
            _plain(row.answer) == word.strip(".,:;()") for word in words
        )
    if len(row.says) == 1:
        return _differ(row.says[0], row.answer)
    return len(set(map(_plain, row.says))) > 1 and any(
        _differ(item, row.answer) for item in row.says
    )


class TestTheCorpusAsAWhole:
    def test_it_has_flawed_verifiers_of_many_classes(self) -> None:
        found = corpus.flawed()
        assert len(found) >= 60
        assert len({entry.flaws[0] for entry in found}) >= 25
        assert sum(entry.kind == "code" for entry in found) >= 14
        assert sum(entry.kind == "text" for entry in found) >= 48

    def test_it_has_sound_verifiers_of_both_kinds(self) -> None:
        found = corpus.sound()
        assert len(found) >= 25
        assert sum(entry.kind == "text" for entry in found) >= 16
        assert sum(entry.kind == "code" for entry in found) >= 9

    def test_names_are_told_apart(self) -> None:
        assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)

    def test_every_flawed_verifier_has_a_witness(self) -> None:
        assert [entry.name for entry in corpus.flawed() if entry.witness is None] == []

    def test_every_text_verifier_has_several_problems(self) -> None:
        assert [e.name for e in TEXTS if not 3 <= len(e.problems) <= 4] == []
        assert [e.name for e in TEXTS if any(len(row.correct) < 2 for row in e.problems)] == []

    def test_a_signature_is_known_to_the_audit(self) -> None:
        signatures = pytest.importorskip("unhack.audit.subjects.signatures")
        assert {entry.framework for entry in TEXTS} <= set(signatures.NAMES)

    def test_flaws_are_ids_of_the_taxonomy(self) -> None:
        flaws = pytest.importorskip("unhack.audit.report.flaws")
        known = {flaw.id for flaw in flaws.FLAWS.values()}
        assert {flaw for entry in ENTRIES for flaw in entry.flaws} <= known


class TestFlawedText:
    @pytest.mark.parametrize("entry", [e for e in TEXTS if e.flawed], ids=_named)
    def test_the_witness_is_rewarded_like_a_right_answer(self, entry: Any) -> None:
        score = _scorer(entry)
        for row in entry.problems:
            right = [score(row, text) for text in row.correct]
            assert min(right) > 0.0
            if row.witness is not None:
                assert score(row, row.witness) >= min(right)

    @pytest.mark.parametrize("entry", [e for e in TEXTS if e.flawed], ids=_named)
    def test_the_witness_is_wrong(self, entry: Any) -> None:
        for row in entry.problems:
            if row.witness is not None:
                assert row.witness not in row.correct
                assert _is_wrong(row), row.witness


class TestSoundText:
    @pytest.mark.parametrize("entry", [e for e in TEXTS if not e.flawed], ids=_named)
    def test_right_answers_have_the_full_score(self, entry: Any) -> None:
        score = _scorer(entry)
        assert {score(row, text) for row in entry.problems for text in row.correct} == {1.0}

    @pytest.mark.parametrize("entry", [e for e in TEXTS if not e.flawed], ids=_named)
    def test_wrong_answers_score_below_it(self, entry: Any) -> None:
        score = _scorer(entry)
        for row in entry.problems:
            assert len(row.wrong) >= 10
            assert [text for text in row.wrong if not score(row, text) <= 0.5] == []

    @pytest.mark.parametrize("entry", [e for e in TEXTS if not e.flawed], ids=_named)
    def test_completions_of_other_problems_score_below_it(self, entry: Any) -> None:
        score = _scorer(entry)
        for row in entry.problems:
            passed = {text for text in _completions() if not score(row, text) <= 0.5}
            assert {text for text in passed if not _is_right(row, text)} == set()


@cache
def _completions() -> frozenset[str]:
    """Every completion of the corpus, right or wrong."""
    rows = [row for entry in TEXTS for row in entry.problems]
    return frozenset(
        text for row in rows for text in (*row.correct, *row.wrong, row.witness or "", row.answer)
    )


def _is_right(row: Any, text: str) -> bool:
    """Whether a completion says the row's answer, and nothing else that counts."""
    if text in row.wrong:
        return False
    same = [other for entry in TEXTS for other in entry.problems if other.answer == row.answer]
    value = _fraction(text)
    return (
        any(text in other.correct for other in same)
        or _plain(row.answer) == _plain(text)
        or (value is not None and value == _fraction(row.answer))
    )


def _verdicts(verifier: Any, entry: Any, completions: list[str], pool: Any) -> list[Any]:
    row = entry.problems[0]
    problem = Problem(entry.name, row.prompt, reference=row.correct[0])
    return list(run_batch(Task(problem, verifier), completions, backend=pool).verdicts)


FLAWED_CODES = [
    pytest.param(entry, marks=pytest.mark.slow) if entry.name in LONG else entry
    for entry in CODES
    if entry.flawed
]


class TestFlawedCode:
    @pytest.mark.parametrize("entry", FLAWED_CODES, ids=_named)
    def test_the_witness_passes_as_the_reference_does(self, entry: Any, pool: Any) -> None:
        verifier = ScriptVerifier(
            (entry.path / "verifier.py").read_text(),
            cases=(entry.path / "cases.json").read_text(),
            cases_name="cases.json",
            mode=Mode.AS_WRITTEN,
            limits=LIMITS,
        )
        row = entry.problems[0]
        right, hack = _verdicts(verifier, entry, [row.correct[0], row.witness], pool)
        assert right.score == 1.0, right.reason
        assert hack.score == 1.0, hack.reason

    @pytest.mark.parametrize("entry", FLAWED_CODES, ids=_named)
    def test_the_witness_differs_from_the_reference(self, entry: Any, pool: Any) -> None:
        cases = tuple(
            Case(tuple(probe["args"]), expected=probe["expected"]) for probe in entry.probes
        )
        verifier = FunctionVerifier(entry.entry, cases, limits=LIMITS)
        row = entry.problems[0]
        right, hack = _verdicts(verifier, entry, [row.correct[0], row.witness], pool)
        assert right.passed
        assert not hack.passed


class TestSoundCode:
    @pytest.mark.parametrize("entry", [e for e in CODES if not e.flawed], ids=_named)
    def test_only_the_reference_passes(self, entry: Any, pool: Any) -> None:
        [task] = load_directory(entry.path)
        row = entry.problems[0]
        wrong = [*row.wrong, *(text.replace("ENTRY", entry.entry) for text in HOSTILE)]
        assert len(wrong) >= 10
        right, *others = run_batch(task, [row.correct[0], *wrong], backend=pool).verdicts
        assert right.passed, right.reason
        assert [v.reason for v in others if v.score != 0.0] == []
