"""Attacks made from the source: they reach its holes, and claim nothing that is untrue."""

from __future__ import annotations

import ast
import contextlib
import io
import textwrap
from typing import Any

import pytest

from unhack.audit.attack import Claim, Knowledge, Payload, payloads_of
from unhack.audit.attacks.from_source.answers import ATTACKS
from unhack.audit.oracle.oracle import TextOracle, mentions
from unhack.audit.report.flaws import FLAWS
from unhack.audit.static_analysis.suspicions import constants
from unhack.audit.subject import AuditProblem, Call, Source

NUMBER = AuditProblem("p", "What is 6 times 7?", answer="42", correct=("42",))
WRONG = ("43", "41", "17", "420", "-42", "0")


def known_of(
    text: str, problem: AuditProblem = NUMBER, wrong: tuple[str, ...] = WRONG
) -> Knowledge:
    source = Source("v.py", textwrap.dedent(text).lstrip("\n"), entry="score")
    return Knowledge(problem, source, wrong, constants=constants(source))


def payloads(known: Knowledge) -> list[Payload]:
    return [payload for _, payload in payloads_of(ATTACKS, known)]


def exploits(known: Knowledge) -> list[Payload]:
    """Payloads that the verifier of the knowledge rewards and the oracle calls wrong."""
    assert known.source is not None
    space: dict[str, Any] = {}
    exec(compile(known.source.text, "v.py", "exec"), space)
    found: list[Payload] = []
    for payload in payloads(known):
        if "\x00" in payload.text or "99999999" in payload.text:
            continue
        with contextlib.suppress(Exception):
            if space["score"](payload.text, known.answer) >= 1:
                found.append(payload)
    oracle = TextOracle()
    plain = [one for one in found if "\\" not in one.text]
    return [one for one in plain[:6] if oracle.why_wrong(known.problem, one) is not None]


FLAWED = {
    "substring_match": """
        def score(completion, gold):
            return 1.0 if gold in completion else 0.0
        """,
    "many_attempts": """
        import re
        def score(completion, gold):
            return float(gold in re.findall(r"-?[0-9]+", completion))
        """,
    "eval_of_completion": """
        def score(completion, gold):
            return float(eval(completion) == gold)
        """,
    "fail_open_exception": """
        def score(completion, gold):
            try:
                return float(int(completion) == int(gold))
            except Exception:
                return 1.0
        """,
    "fail_open_branch": """
        def score(completion, gold):
            if not completion.strip():
                return 1.0
            return float(completion == gold)
        """,
    "string_truthiness": """
        def score(completion, gold):
            said = completion.strip()
            if said:
                return 1.0
            return 0.0 if gold else 0.0
        """,
    "unanchored_regex": """
        import re
        def score(completion, gold):
            found = re.search(r"answer is (-?[0-9]+)", completion)
            return float(found is not None and found.group(1) == gold)
        """,
    "prefix_match": """
        def score(completion, gold):
            return float(completion.strip().startswith(gold))
        """,
    "suffix_match": """
        def score(completion, gold):
            return float(completion.strip().endswith(gold))
        """,
    "loose_tolerance": """
        def score(completion, gold):
            return 1.0 if abs(float(completion) - float(gold)) / float(gold) < 0.1 else 0.0
        """,
    "nan_poisoning": """
        def score(completion, gold):
            if abs(float(completion) - float(gold)) > 1e-6:
                return 0.0
            return 1.0
        """,
    "sign_lost": """
        def score(completion, gold):
            return float(abs(int(completion)) == int(gold))
        """,
    "over_normalisation": """
        import re
        def clean(text):
            return re.sub(r"[^0-9]", "", text)
        def score(completion, gold):
            return float(clean(completion) == clean(gold))
        """,
    "keyword_stuffing": """
        WORDS = ("therefore", "because", "step")
        def score(completion, gold):
            return sum(word in completion for word in WORDS) / len(WORDS)
        """,
    "hollow_format": """
        import re
        def score(completion, gold):
            found = re.search(r"<think>.*</think>\\s*<answer>.*</answer>", completion, re.DOTALL)
            return 1.0 if found else 0.0
        """,
    "length_padding": """
        def score(completion, gold):
            return min(1.0, len(completion) / 2000)
        """,
}


class TestText:
    @pytest.mark.parametrize("name", FLAWED)
    def test_the_hole_that_the_source_shows_is_reached(self, name: str) -> None:
        known = known_of(FLAWED[name])
        assert exploits(known)
        assert name in {attack.flaw for attack, _ in payloads_of(ATTACKS, known)}

    @pytest.mark.slow
    def test_short_lists_are_tried_where_zip_ends_early(self) -> None:
        text = """
            def score(completion, gold):
                pairs = zip(completion.split(", "), gold.split(", "))
                return float(all(a == b for a, b in pairs))
            """
        problem = AuditProblem("p", "List the first three primes.", answer="2, 3, 5")
        assert exploits(known_of(text, problem, ("2, 3, 7",)))

    def test_a_constant_of_the_source_is_tried_as_an_answer(self) -> None:
        known = known_of(
            """
            def score(completion, gold):
                return float(completion.strip() in (gold, "skip me"))
            """
        )
        assert "skip me" in {payload.text for payload in payloads(known)}

    @pytest.mark.parametrize(
        "answer", ["42", "-3.5", "Paris", "B", "[1, 2, 3]", "the cat sat down"]
    )
    def test_the_budget_holds_for_a_source_with_every_hole(self, answer: str) -> None:
        parts = [
            textwrap.dedent(text).replace("def score", f"def score_{number}")
            for number, text in enumerate(FLAWED.values())
        ]
        source = Source("v.py", "\n".join(parts))
        problem = AuditProblem("p", "Sort it.", answer=answer, correct=(f"So: {answer}",))
        known = Knowledge(problem, source, ("7", "8", "Rome"), constants=constants(source))
        found = payloads(known)
        assert 50 <= len(found) <= 120
        for one in found:
            if one.claim is Claim.OTHER_ANSWER:
                assert one.asserts[0].strip() != answer
            elif one.claim is Claim.EVERY_ANSWER:
                assert len(one.asserts) >= 2
                assert all(said in one.text for said in one.asserts)
            elif mentions(one.text, answer):
                assert TextOracle().why_wrong(problem, one) is None

    def test_a_sound_source_gives_only_its_constants(self) -> None:
        known = known_of("def score(completion, gold):\n    return float(completion == gold)\n")
        assert payloads(known) == []

    def test_without_a_source_there_is_nothing(self) -> None:
        assert payloads(Knowledge(NUMBER, None, WRONG)) == []


SCRIPT = """
import importlib.util, json, subprocess, sys

def compare(left, right):
    return left == right

def score(solution_path, test_cases_path):
    spec = importlib.util.spec_from_file_location("solution", solution_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    done = subprocess.run([sys.executable, solution_path], capture_output=True)
    if json.loads(done.stdout)["verdict"]:
        return 1.0
    try:
        for case in json.load(open(test_cases_path)):
            if not compare(module.solve(case["input"]), case["expected"]):
                return 0.0
    except Exception:
        return 1.0
    return 1.0
"""


class TestPrograms:
    def test_programs_are_made_from_the_words_of_the_source(self) -> None:
        problem = AuditProblem("p", "Add one.", entry_point="solve", calls=(Call((1,), {}, 2),))
        source = Source("v.py", SCRIPT, entry="score")
        known = Knowledge(problem, source, constants=constants(source))
        found = payloads_of(ATTACKS, known)
        texts = [payload.text for _, payload in found]
        assert {attack.flaw for attack, _ in found} >= {
            *("result_forging", "test_patching", "frame_reading", "fail_open_exception"),
        }
        assert any('"verdict": true' in text for text in texts)
        assert any("'compare'" in text for text in texts)
        assert any("f_locals['case']" in text for text in texts)
        assert len(texts) <= 120
        assert all(payload.claim is Claim.PROGRAM for _, payload in found)

    def test_all_but_the_broken_program_compile(self) -> None:
        problem = AuditProblem("p", "Add one.", entry_point="solve", calls=(Call((1,), {}, 2),))
        source = Source("v.py", SCRIPT, entry="score")
        broken = 0
        for payload in payloads(Knowledge(problem, source, constants=constants(source))):
            try:
                ast.parse(payload.text)
            except SyntaxError:
                broken += 1
        assert broken == 1

    def test_reading_a_frame_gives_what_the_judge_holds(self) -> None:
        problem = AuditProblem("p", "Add one.", entry_point="solve", calls=(Call((1,), {}, 2),))
        source = Source("v.py", SCRIPT, entry="score")
        known = Knowledge(problem, source, constants=constants(source))
        reading = next(one for one in payloads(known) if "f_locals['case']" in one.text)
        space: dict[str, Any] = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(reading.text, space)
        case = {"input": 1, "expected": 99}
        assert space["solve"](case["input"]) == 99


class TestTheList:
    def test_names_are_unique_and_flaws_are_known(self) -> None:
        names = [attack.name for attack in ATTACKS]
        assert len(set(names)) == len(names) >= 35
        assert all(attack.flaw in FLAWS and attack.tier == 2 for attack in ATTACKS)
