"""Suspicions: in a flawed source `# ! id` marks each line to be named; no other line may be."""

from __future__ import annotations

import ast
import textwrap

import pytest

from unhack.audit.report.flaws import FLAWS
from unhack.audit.static_analysis.suspicions import Suspicion, constants, suspicions_of
from unhack.audit.subject import Source

MARK = "# ! "


def source_of(text: str, entry: str = "score") -> Source:
    return Source("verifier.py", textwrap.dedent(text).lstrip("\n"), entry=entry)


def marked(source: Source) -> set[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    for number, line in enumerate(source.text.splitlines(), 1):
        if MARK in line:
            found |= {(flaw, number) for flaw in line.partition(MARK)[2].split()}
    return found


def named(source: Source) -> set[tuple[str, int]]:
    return {(suspicion.flaw, suspicion.line) for suspicion in suspicions_of(source)}


FLAWED = {
    "gold in text": """
        def score(completion, gold):
            text = completion.lower()
            return 1.0 if gold.lower() in text else 0.0  # ! substring_match
        """,
    "text in gold": """
        def extract(text):
            return text.split("Answer:")[-1].strip()

        def score(completion, gold):
            answer = extract(completion)
            if answer in gold:  # ! substring_match
                return 1.0
            return 0.0
        """,
    "gold as a pattern": """
        import re

        def score(completion, gold):
            found = re.search(rf"\\b{gold}\\b", completion)  # ! substring_match
            return float(bool(found))
        """,
    "eval": """
        def score(completion, target):
            try:
                value = eval(completion)  # ! eval_of_completion
            except Exception:
                return 0.0
            return float(value == target)
        """,
    "sympify": """
        from sympy import sympify

        def score(completion, gold):
            return float(sympify(completion) == sympify(gold))  # ! answer_evaluated
        """,
    "except passes": """
        def score(completion, gold):
            try:
                return float(completion.strip() == gold.strip())
            except Exception:
                return 1.0  # ! fail_open_exception
        """,
    "except passes and assigns": """
        def score(completion, gold):
            try:
                reward = 1.0 if int(completion) == int(gold) else 0.0
            except ValueError:
                reward = 1.0  # ! fail_open_exception
            return reward
        """,
    "except drops the error": """
        def score(completion, gold):
            try:
                if int(completion) != int(gold):
                    return False
            except ValueError:  # ! fail_open_exception
                pass
            return True
        """,
    "the unknown kind passes": """
        def score(kind, completion, gold):
            if kind == "number":
                return float(completion == gold)
            return 1.0  # ! fail_open_branch
        """,
    "nothing extracted passes": """
        def score(completion, gold):
            if not completion.strip():
                return 1.0  # ! fail_open_branch
            return float(completion.strip() == gold)
        """,
    "gold that cannot be parsed": """
        def score(completion, gold):
            wanted = parse(gold)
            if wanted:
                reward = float(parse(completion) == wanted)
            else:
                reward = 1.0  # ! fail_open_gold
            return reward
        """,
    "truth of a string": """
        def score(completion, gold):
            verdict = completion.strip() or gold.strip() and completion
            said = completion.strip()
            if said:  # ! string_truthiness
                return 1.0
            return 0.0
        """,
    "or with a constant": """
        def score(completion, gold):
            if completion == gold or "yes":  # ! string_truthiness
                return 1.0
            return 0.0
        """,
    "zip": """
        def score(completion, gold):
            said, wanted = completion.split(), gold.split()
            return float(all(a == b for a, b in zip(said, wanted)))  # ! zip_truncation
        """,
    "NaN": """
        def score(completion, gold):
            value = float(completion)
            if abs(value - float(gold)) > 1e-6:  # ! nan_poisoning
                return 0.0
            return 1.0
        """,
    "min and max": """
        def score(completion, gold):
            value = float(completion)
            capped = min(1.0, value)  # ! nan_poisoning
            return 1.0 if capped == float(gold) else 0.0
        """,
    "any": """
        import re

        def score(completion, gold):
            found = re.findall(r"-?\\d+", completion)
            return float(any(one == gold for one in found))  # ! many_attempts
        """,
    "in a list of answers": """
        def score(completion, gold):
            return float(gold in completion.split())  # ! many_attempts
        """,
    "each in turn": """
        def score(completion, gold):
            for part in completion.split(" or "):
                if part.strip() == gold:  # ! many_attempts
                    return 1.0
            return 0.0
        """,
    "sets": """
        import json

        def score(completion, gold):
            return float(set(json.loads(completion)) == set(gold))  # ! order_ignored
        """,
    "sorted": """
        import json

        def score(completion, gold):
            said = sorted(json.loads(completion))
            return float(said == sorted(gold))  # ! order_ignored
        """,
    "search": """
        import re

        def score(completion, gold):
            found = re.search(r"answer is (\\S+)", completion)  # ! unanchored_regex
            return float(found is not None and found.group(1) == gold)
        """,
    "the last number": """
        import re

        def score(completion, gold):
            found = re.findall(r"-?\\d+", completion)
            return float(bool(found) and found[-1] == gold)  # ! unanchored_regex
        """,
    "the beginning": """
        def score(completion, gold):
            return float(completion.strip().startswith(gold))  # ! prefix_match
        """,
    "the end": """
        def score(completion, gold):
            return float(completion[-len(gold):] == gold)  # ! suffix_match
        """,
    "one letter": """
        def score(completion, gold):
            return float(completion.strip()[0].upper() == gold)  # ! single_character
        """,
    "abs": """
        def score(completion, gold):
            return float(abs(int(completion)) == abs(int(gold)))  # ! sign_lost
        """,
    "digits only": """
        import re

        def score(completion, gold):
            [said] = re.findall(r"\\d+", completion)  # ! sign_lost
            return float(said == gold)
        """,
    "all but digits removed": """
        import re

        def clean(text):
            return re.sub(r"[^0-9]", "", text)  # ! over_normalisation

        def score(completion, gold):
            return float(clean(completion) == clean(gold))
        """,
    "int of a float": """
        def score(completion, gold):
            return float(int(float(completion)) == int(gold))  # ! over_normalisation
        """,
    "percent": """
        def score(completion, gold):
            said = completion.replace("%", "")  # ! unit_conflation
            return float(said == gold)
        """,
    "tolerance": """
        import math

        def score(completion, gold):
            said, wanted = float(completion), float(gold)
            return float(math.isclose(said, wanted, rel_tol=0.1))  # ! loose_tolerance
        """,
    "absolute tolerance": """
        LIMIT = 0.5

        def score(completion, gold):
            return 1.0 if abs(float(completion) - gold) <= LIMIT else 0.0  # ! loose_tolerance
        """,
    "likeness": """
        from difflib import SequenceMatcher

        def score(completion, gold):
            return float(SequenceMatcher(None, completion, gold).ratio() > 0.6)  # ! low_similarity
        """,
    "words": """
        def score(completion, gold):
            said, wanted = set(completion.split()), set(gold.split())
            return len(said & wanted) / len(wanted)  # ! bag_of_words
        """,
    "one side": """
        import json

        def score(completion, gold):
            said = json.loads(completion)
            return float(all(item in said for item in gold))  # ! one_sided_comparison
        """,
    "length": """
        def score(completion):
            return min(1.0, len(completion) / 2000)  # ! length_padding
        """,
    "length above a limit": """
        def score(completion, gold):
            reward = 1.0 if completion.endswith("\\n" + "x") and completion == gold else 0.0
            if len(completion) > 100:  # ! length_padding
                reward += 0.2
            return reward
        """,
    "keywords": """
        WORDS = ("therefore", "because")

        def score(completion):
            return sum(word in completion for word in WORDS) / len(WORDS)  # ! keyword_stuffing
        """,
    "tags": """
        def score(completion):
            tags = ("<think>", "</think>")
            return sum(0.5 for tag in tags if completion.count(tag) == 1)  # ! tag_order_blind
        """,
    "a format": """
        import re

        def score(completion, gold):
            reward = 0.0
            if re.fullmatch(r"<answer>.*</answer>", completion):  # ! format_credit
                reward += 0.2
            if completion == gold:
                reward += 0.8
            return reward
        """,
    "a hollow format": """
        import re

        def score(completion):
            found = re.fullmatch(r"<think>.*</think><answer>.*</answer>", completion)
            return 1.0 if found else 0.0  # ! hollow_format
        """,
    "a floor": """
        def score(completion, gold):
            if completion.strip() == gold:
                return 1.0
            return 0.1  # ! degenerate_credit
        """,
    "a near miss": """
        def score(completion, gold):
            difference = abs(int(completion) - int(gold))
            if difference == 0:
                return 1.0
            if difference <= 0.001:
                return 0.5  # ! near_miss_credit
            return 0.0
        """,
    "nothing to check": """
        def score(completion):
            steps = completion.splitlines()
            return float(all(valid(step) for step in steps))  # ! vacuous_truth
        """,
    "an unread answer": """
        def score(completion, ground_truth):  # ! problem_unbound
            return float(valid(completion))
        """,
    "repetition by words": """
        def score(completion):
            words = completion.split()
            return len(set(words)) / len(words)  # ! tokenisation_evasion
        """,
    "a lambda": """
        clean = lambda text: text.replace("%", "")  # ! unit_conflation

        def score(completion, gold):
            return float(clean(completion) == clean(gold))
        """,
    "what is missing": """
        def score(completion, gold):
            missing = [one for one in gold if one not in completion]  # ! one_sided_comparison
            return 0.0 if missing else 1.0
        """,
    "several places": """
        def score(completion, gold):
            for extract in (from_box, from_tags, last_number):
                if extract(completion) == gold:  # ! channel_mixing
                    return 1.0
            return 0.0
        """,
    "one place or another": """
        def score(completion, gold):
            right = boxed(completion) == gold or tagged(completion) == gold  # ! channel_mixing
            return float(right)
        """,
    "a limit on repeats": """
        def score(completion, gold):
            words = completion.split()
            if len(set(words)) / len(words) < 0.5:  # ! tokenisation_evasion
                return 0.0
            return float(completion.strip() == gold)
        """,
    "a judge": """
        def score(completion, gold, client):
            reply = client.chat(f"Is this right? {completion} ({gold})")  # ! judge_injection
            return float(reply.strip() == "YES")  # ! judge_injection
        """,
}

FLAWED_CODE = {
    "a verdict on stdout": """
        import json, subprocess, sys

        def verify(solution_path, test_cases_path):
            command = [sys.executable, solution_path, test_cases_path]
            done = subprocess.run(command, capture_output=True)
            return json.loads(done.stdout)["passed"]  # ! result_forging
        """,
    "an exit status": """
        import subprocess, sys

        def verify(solution_path, tests_path):
            done = subprocess.run([sys.executable, tests_path, solution_path])
            return done.returncode == 0  # ! exit_code
        """,
    "pytest": """
        import subprocess

        def verify(solution_path, tests_path):
            done = subprocess.run(["pytest", solution_path, tests_path])  # ! conftest_hook
            return 1.0 if done.returncode == 0 else 0.0  # ! exit_code
        """,
    "in process": """
        import importlib.util, json

        def load(path):
            spec = importlib.util.spec_from_file_location("solution", path)  # ! test_patching
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module

        def verify(solution_path, test_cases_path):
            module = load(solution_path)
            for case in json.load(open(test_cases_path)):
                got = module.solve(case["input"])  # ! frame_reading
                if got != case["expected"]:  # ! always_equal_object
                    return 0.0
            return 1.0
        """,
    "what a program may bring": """
        def verify(completion, cases):
            space = {}
            exec(completion, space)  # ! test_patching eval_of_completion
            if "run_tests" in space:  # ! brought_verdict definition_only
                return 1.0
            if space.get("ok") or getattr(space["f"], "ok", 0):  # ! brought_verdict definition_only
                return 1.0
            solve = space["f"]
            one = solve(cases[0][0])  # ! frame_reading
            return float(one == cases[0][1])  # ! always_equal_object
        """,
    "an alarm": """
        import signal

        def verify(solution, expected):
            signal.alarm(5)  # ! timer_tampering
            return float(solution.strip() == expected)
        """,
    "a timeout passes": """
        import subprocess

        def verify(solution_path, expected):
            try:
                done = subprocess.run([solution_path], capture_output=True, timeout=5)
            except subprocess.TimeoutExpired:
                return 1.0  # ! timeout_open
            return float(done.stdout.decode().strip() == expected)
        """,
    "a clock and a function": """
        import time

        def verify(solve, given):
            start = time.perf_counter()  # ! timer_tampering
            solve(given)
            return 1.0 / (time.perf_counter() - start)
        """,
    "an input used again": """
        def verify(solve, reference, given):
            result = solve(given)  # ! frame_reading
            return result == reference(given)  # ! always_equal_object expected_mutable
        """,
    "skipped cases": """
        def verify(solution, cases):
            results = []
            for case in cases:
                try:
                    results.append(run(solution, case["input"]) == case["expected"])
                except Exception:  # ! vacuous_cases
                    continue
            return all(results)
        """,
    "a definition": """
        def verify(module):
            return hasattr(module, "solve") and callable(module.solve)  # ! definition_only
        """,
    "forbidden words": """
        BANNED = ("import os", "eval(")

        def verify(code, expected):
            if any(word in code for word in BANNED):  # ! denylist_bypass
                return 0.0
            return float(run(code) == expected)
        """,
    "a cache": """
        SEEN = {}

        def verify(solution, expected):
            if solution not in SEEN:
                SEEN[solution] = run(solution) == expected  # ! state_leak
            return float(SEEN[solution])
        """,
    "the path": """
        import os, sys

        def verify(solution_path, expected):
            sys.path.insert(0, os.path.dirname(solution_path))  # ! module_shadowing
            return float(run(solution_path) == expected)
        """,
}

SOUND = {
    "equality": """
        def score(completion, gold):
            return 1.0 if completion.strip() == gold.strip() else 0.0
        """,
    "one tag, once": """
        import re

        def score(completion, gold):
            found = re.findall(r"<answer>(.*?)</answer>", completion)
            if len(found) != 1:
                return 0.0
            return float(found[0].strip() == gold)
        """,
    "a finite number": """
        import math

        def score(completion, gold):
            try:
                value = float(completion)
            except ValueError:
                return 0.0
            if not math.isfinite(value):
                return 0.0
            return float(math.isclose(value, float(gold), rel_tol=1e-6))
        """,
    "lists with lengths": """
        import json

        def score(completion, gold):
            said = json.loads(completion)
            if len(said) != len(gold):
                return 0.0
            return float(all(a == b for a, b in zip(said, gold)))
        """,
    "strict zip": """
        def score(completion, gold):
            try:
                pairs = list(zip(completion.split(), gold.split(), strict=True))
            except ValueError:
                return 0.0
            return float(all(a == b for a, b in pairs))
        """,
    "one of the accepted": """
        def score(completion, answers):
            return 1.0 if completion.strip().lower() in answers else 0.0
        """,
    "a batch": """
        def score(completions, answer, **kwargs):
            rewards = []
            for said, gold in zip(completions, answer):
                rewards.append(1.0 if said.strip() == gold else 0.0)
            return rewards
        """,
    "verdicts through functions": """
        def same(a, b):
            if a == b:
                return True
            return False

        def score(completion, gold):
            correct = False
            if same(completion.strip(), gold):
                correct = True
            if correct:
                return 1.0
            return 0.0
        """,
    "rejecting first": """
        def score(completion, gold):
            if len(completion) > 10_000:
                return 0.0
            if completion.strip() != gold:
                return 0.0
            return 1.0
        """,
    "a dict": """
        def score(data_source, solution_str, ground_truth, extra_info=None):
            ok = solution_str.strip() == ground_truth
            return {"score": 1.0 if ok else 0.0, "acc": ok}
        """,
    "the whole answer": """
        import re

        def score(completion, gold):
            found = re.fullmatch(r"\\s*(-?\\d+)\\s*", completion)
            return float(found is not None and int(found.group(1)) == int(gold))
        """,
    "a missing answer": """
        def score(completion, ground_truth):
            if ground_truth is None:
                return 0.0
            said = completion.strip()
            return 1.0 if said and said == ground_truth else 0.0
        """,
    "multisets": """
        import json
        from math import isfinite

        def score(completion, gold):
            try:
                said = json.loads(completion)
            except ValueError:
                return 0.0
            if not isinstance(said, list) or len(said) != len(gold):
                return 0.0
            for one, wanted in zip(said, gold):
                if one != wanted:
                    return 0.0
            return 1.0
        """,
    "output of a process": """
        import subprocess, sys

        def score(solution_path, expected):
            done = subprocess.run([sys.executable, solution_path], capture_output=True)
            if done.returncode != 0:
                return 0.0
            return float(done.stdout.decode().strip() == expected)
        """,
}


class TestFlawedSources:
    @pytest.mark.parametrize("name", FLAWED)
    def test_each_flaw_is_named_at_its_line(self, name: str) -> None:
        source = source_of(FLAWED[name])
        assert named(source) == marked(source) != set()

    @pytest.mark.parametrize("name", FLAWED_CODE)
    def test_each_flaw_of_judged_code_is_named_at_its_line(self, name: str) -> None:
        source = source_of(FLAWED_CODE[name], "verify")
        assert named(source) == marked(source) != set()

    def test_every_named_flaw_is_in_the_taxonomy(self) -> None:
        found: set[str] = set()
        for text in (*FLAWED.values(), *FLAWED_CODE.values()):
            found |= {suspicion.flaw for suspicion in suspicions_of(source_of(text, ""))}
        assert found <= set(FLAWS)
        assert len(found) >= 35


class TestSoundSources:
    @pytest.mark.parametrize("name", SOUND)
    def test_no_line_is_suspected(self, name: str) -> None:
        assert suspicions_of(source_of(SOUND[name])) == ()

    @pytest.mark.parametrize("text", ["", "def broken(:", "\0", "x = (" * 3000, "class C: pass"])
    def test_what_is_no_verifier_gives_nothing(self, text: str) -> None:
        source = Source("v.py", text)
        assert suspicions_of(source) == () == constants(source)


class TestPlaces:
    def test_lines_count_from_the_beginning_of_the_file(self) -> None:
        text = "def score(completion, gold):\n    return float(gold in completion)\n"
        source = Source("deep/file.py", text, first_line=40, entry="score")
        [suspicion] = suspicions_of(source)
        assert (suspicion.flaw, suspicion.line) == ("substring_match", 41)
        assert suspicion.code == "return float(gold in completion)"

    def test_a_lead_says_why(self) -> None:
        [suspicion] = suspicions_of(source_of(FLAWED["tolerance"]))
        assert isinstance(suspicion, Suspicion)
        assert suspicion.hints == ("0.1",)
        assert "0.1" in suspicion.why


class TestEntries:
    @pytest.mark.parametrize("entry", ["", "score", "module.score", "missing"])
    def test_the_entry_may_be_left_open(self, entry: str) -> None:
        source = source_of(FLAWED["gold in text"], entry)
        assert named(source) == marked(source)

    def test_methods_of_a_class_are_entered(self) -> None:
        source = source_of(
            """
            class Scorer:
                def clean(self, text):
                    return text.strip()

                def __call__(self, completions, solution, **kwargs):
                    rewards = []
                    for said, gold in zip(completions, solution):
                        ok = gold in self.clean(said)  # ! substring_match
                        rewards.append(1.0 if ok else 0.0)
                    return rewards
            """,
            "Scorer",
        )
        assert named(source) == marked(source)

    def test_a_scorer_inside_of_a_function_is_entered(self) -> None:
        source = source_of(
            """
            @scorer(metrics=[])
            def includes():
                async def score(state, target):
                    answer = state.output.completion
                    ok = target.text in answer  # ! substring_match
                    return Score(value=CORRECT if ok else INCORRECT)
                return score
            """,
            "includes",
        )
        assert named(source) == marked(source)

    def test_a_script_reads_its_arguments(self) -> None:
        source = source_of(
            """
            import json, sys

            said = open(sys.argv[1]).read()
            gold = json.load(open(sys.argv[2]))["answer"]
            print(json.dumps({"score": 1.0 if gold in said else 0.0}))  # ! substring_match
            """,
            "",
        )
        assert named(source) == marked(source)

    def test_keyword_columns_are_known_by_their_names(self) -> None:
        source = source_of(
            """
            def score(completions, **kwargs):
                pairs = zip(completions, kwargs["answer"])
                return [1.0 if a in c else 0.0 for c, a in pairs]  # ! substring_match
            """
        )
        assert named(source) == marked(source)


class TestConstants:
    def test_values_and_words_are_found_once(self) -> None:
        source = source_of(
            '''
            """A docstring."""
            import re
            WORDS = ["maybe", "<think>", "maybe"]
            LIMIT = 42

            def score(completion, gold):
                """Another."""
                if re.search("pattern", completion):
                    raise ValueError("an error")
                print("shown")
                return {"score": 1.0 if completion == "yes" else 0.5}
            '''
        )
        assert constants(source) == ("maybe", "<think>", "42", "1.0", "yes", "0.5")

    @pytest.mark.slow
    def test_the_examples_of_the_taxonomy_are_parsed(self) -> None:
        assert FLAWS
        for flaw in FLAWS.values():
            ast.parse(flaw.example)
            assert suspicions_of(Source("v.py", flaw.example)) is not None
