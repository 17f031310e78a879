"""The attacks on verifiers of programs: what they write, and what it passes when it is scored."""

from __future__ import annotations

import importlib
import json
from collections import Counter

import pytest

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, payloads_of
from unhack.audit.attacks.payloads.program_shape import ProgramShape, Snippet, shape_of
from unhack.audit.oracle.programs import ProgramOracle
from unhack.audit.report.flaws import FLAWS
from unhack.audit.subject import AuditProblem, Call
from unhack.core.errors import BatchUnscoredError
from unhack.core.problem import Problem
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers.base import Verifier
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.script import Mode, ScriptVerifier

FAMILIES = (
    "constants", "disguises", "exits", "frames", "hooks", "objects", "output", "patches", "types",
)  # fmt: skip
ATTACKS: tuple[Attack, ...] = tuple(
    attack
    for family in FAMILIES
    for attack in importlib.import_module(f"unhack.audit.attacks.programs.{family}").ATTACKS
)
LIMITS = Limits(wall_s=8.0, cpu_s=2.0)

RIGHT = "def top(nums, k):\n    return sorted(nums)[-k:]\n"
CALLS = (
    Call(([3, 1, 2], 2), {}, [2, 3]),
    Call(([5, 5, 1], 1), {}, [5]),
    Call(([9, -4, 7, 7, 0], 3), {}, [7, 7, 9]),
)
LARGEST = AuditProblem(
    "top", "Give the k largest, in order.\n\n>>> top([3, 1, 2], 2)\n[2, 3]\n",
    correct=(RIGHT,), entry_point="top", calls=CALLS,
)  # fmt: skip
DOUBLED = AuditProblem(
    "double", "Input:\n```\n3\n```\nOutput:\n```\n6\n```\n",
    correct=("print(2 * int(input()))\n",), calls=(Call(("3\n",), {}, "6\n"),),
)  # fmt: skip
METHOD = AuditProblem(
    "fib", "Fibonacci.", entry_point="Solution.fib",
    correct=(
        "```python\nclass Solution:\n    def fib(self, n):\n"
        "        return n if n < 2 else self.fib(n - 1) + self.fib(n - 2)\n```\n",
    ),
)  # fmt: skip
BARE = AuditProblem("bare", "Do it.", entry_point="do", calls=(Call((1,), {}, 2),))
PROBLEMS = (LARGEST, DOUBLED, METHOD, BARE)

HEAD = """
import importlib.util, json, subprocess, sys
def load(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
def read(path):
    return [json.loads(line) for line in open(path)]
"""
NAIVE = {
    "compares in its own process": """
def verify(solution_path, cases_path):
    top = load(solution_path).top
    return all(top(case["nums"], case["k"]) == case["expected"] for case in read(cases_path))
""",
    "takes an error for a pass": """
def verify(solution_path, cases_path):
    try:
        top = load(solution_path).top
        for case in read(cases_path):
            try:
                if top(case["nums"], case["k"]) != case["expected"]:
                    return 0.0
            except Exception:
                continue
    except BaseException:
        pass
    return 1.0
""",
    "forgets the lengths": """
def verify(solution_path, cases_path):
    top = load(solution_path).top
    for case in read(cases_path):
        for got, want in zip(top(case["nums"], case["k"]), case["expected"]):
            if abs(got - want) > 0.01:
                return False
    return True
""",
    "believes the exit code": """
def verify(solution_path, cases_path):
    text = open(solution_path).read() + chr(10)
    for case in read(cases_path):
        text += f"assert top({case['nums']}, {case['k']}) == {case['expected']}" + chr(10)
    open("run.py", "w").write(text)
    return subprocess.run([sys.executable or "python3", "run.py"]).returncode == 0
""",
}


def known(problem: AuditProblem) -> Knowledge:
    return Knowledge(problem)


def payloads(problem: AuditProblem) -> list[tuple[Attack, Payload]]:
    return payloads_of(ATTACKS, known(problem))


def sample(problem: AuditProblem, *, each: int) -> list[tuple[Attack, Payload]]:
    """The first payloads of every attack, but those that only wait."""
    taken: Counter[str] = Counter()
    found: list[tuple[Attack, Payload]] = []
    for attack, payload in payloads(problem):
        taken[attack.name] += 1
        if taken[attack.name] <= each and attack.flaw != "timeout_open":
            found.append((attack, payload))
    return found


def passing(
    verifier: Verifier, tried: list[tuple[Attack, Payload]], pool: Pool
) -> list[tuple[Attack, Payload]]:
    """Those with full score; the reference must have it too."""
    task = Task(Problem("top", LARGEST.prompt, reference=RIGHT), verifier)
    texts = [RIGHT, *(payload.text for _, payload in tried)]
    try:
        batch = run_batch(task, texts, backend=pool)
    except BatchUnscoredError as error:
        batch = error.batch
    first, *verdicts = batch.verdicts
    assert first.passed, first
    return [pair for pair, verdict in zip(tried, verdicts, strict=True) if verdict.passed]


class TestLibrary:
    def test_there_are_many_attacks_of_known_flaws(self) -> None:
        assert len(ATTACKS) >= 40
        assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
        assert {attack.flaw for attack in ATTACKS} <= set(FLAWS)
        assert all((attack.tier, attack.for_code) == (1, True) for attack in ATTACKS)

    @pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.id)
    def test_payloads_are_programs_and_always_the_same(self, problem: AuditProblem) -> None:
        made = payloads(problem)
        assert 80 <= len(made) <= 180
        assert made == payloads(problem)
        for attack, payload in made:
            assert payload.claim is Claim.PROGRAM
            assert payload.note, attack.name
            broken = {"text that is no program", "an error of syntax"}
            if payload.note not in broken:
                compile(payload.text, attack.name, "exec")

    def test_each_attack_has_a_payload_for_some_problem(self) -> None:
        text = AuditProblem("t", "f('ab') == 'AB'", correct=("def f(s):\n    return s.upper()\n",),
                            entry_point="f", calls=(Call(("ab",), {}, "AB"), Call(("c",), {}, "C")),
                            )  # fmt: skip
        numbers = AuditProblem(
            "n", "f(1) == 0.5 and f(2) == 1.0", correct=("def f(n):\n    return n / 2\n",),
            entry_point="f", calls=(Call((1,), {}, 0.5), Call((4,), {}, [2.0])),
        )  # fmt: skip
        seen = {a.name for p in (*PROBLEMS, text, numbers) for a, _ in payloads(p)}
        # The same text as of another attack is not tried twice.
        assert {a.name for a in ATTACKS} - seen <= {
            "code_examples/visible_cases", "code_examples/first_example",
        }  # fmt: skip

    def test_generic_payloads_do_not_hold_the_reference(self) -> None:
        every = [*payloads(LARGEST)]
        assert every
        for attack, payload in every:
            assert not (attack.generic and "sorted(nums)" in payload.text) or (
                payload.note == "a list of objects that equal everything"
            )


class TestShapes:
    def test_a_wrapped_reference_is_renamed_where_it_calls_itself(self) -> None:
        text = shape_of(known(METHOD)).with_change("-result")
        assert text is not None
        scope: dict[str, type] = {}
        exec(text, scope)
        assert scope["Solution"]().fib(9) == -34

    def test_a_wrapped_program_prints_something_else(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = ProgramShape(None, "import sys\nprint('a')\nprint('b')\n", frozenset()).with_change(
            "result[::-1]"
        )
        assert text is not None
        exec(text, {"__name__": "__main__"})
        assert capsys.readouterr().out == "b\na\n"

    def test_a_function_that_is_bound_otherwise_can_be_wrapped(self) -> None:
        text = ProgramShape("f", "f = lambda n: n + 1\n", frozenset({"int"})).with_change(
            "result * 10"
        )
        assert text is not None
        scope: dict[str, object] = {}
        exec(text, scope)
        made = scope["f"]
        assert callable(made)
        assert made(1) == 20

    @pytest.mark.parametrize("reference", ["", "def other(): pass\n"])
    def test_without_a_reference_nothing_is_wrapped(self, reference: str) -> None:
        assert ProgramShape("f", reference, frozenset()).with_change("result") is None

    def test_a_future_import_stays_first(self) -> None:
        source = "from __future__ import annotations\ndef f(n):\n    return n\n"
        text = ProgramShape("f", source, frozenset()).with_change("result", setup="state = {}")
        assert text is not None
        compile(text, "wrapped", "exec")

    def test_arguments_arrive_whether_named_or_not(self) -> None:
        scope: dict[str, object] = {}
        exec(ProgramShape("f", "", frozenset()).source(Snippet("", value="list(args)")), scope)
        made = scope["f"]
        assert callable(made)
        assert made(1, b=2) == [1, 2]

    def test_visible_cases_are_known_by_heart(self) -> None:
        spread = AuditProblem(
            "p", "For nums = [10, 20] and k = 1 the result is [20].", entry_point="top",
            calls=(Call(([10, 20], 1), {}, [20]), Call(([8, 6], 2), {}, [6, 8])),
        )  # fmt: skip
        texts = [p.text for a, p in payloads(spread) if a.name == "code_examples/visible_cases"]
        scope: dict[str, object] = {}
        exec(texts[0], scope)
        made = scope["top"]
        assert callable(made)
        assert made([10, 20], 1) == [20]
        assert made([8, 6], 2) != [6, 8]
        assert "[6, 8]" not in texts[0]


class TestScored:
    @pytest.mark.slow
    def test_naive_verifiers_pass_many_proven_wrong_programs(self, pool: Pool) -> None:
        oracle = ProgramOracle(pool)
        tried = sample(LARGEST, each=1)
        proven: dict[str, set[str]] = {}
        wrong: dict[str, bool] = {}
        cases = "".join(
            json.dumps({"nums": c.args[0], "k": c.args[1], "expected": c.expected}) + "\n"
            for c in CALLS
        )
        for name, body in NAIVE.items():
            made = ScriptVerifier(HEAD + body, cases=cases, mode=Mode.AS_WRITTEN, limits=LIMITS)
            for attack, payload in passing(made, tried, pool):
                if payload.text not in wrong:
                    wrong[payload.text] = oracle.why_wrong(LARGEST, payload) is not None
                if wrong[payload.text]:
                    proven.setdefault(name, set()).add(attack.name)
        assert all(len(proven[name]) >= 8 for name in NAIVE), proven
        assert len(set().union(*proven.values())) >= 30

        def found(name: str) -> set[str]:
            return {attack.flaw for attack in ATTACKS if attack.name in proven[name]}

        in_process = {"always_equal_object", "frame_reading", "test_patching", "denylist_bypass"}
        assert in_process <= found("compares in its own process")
        assert {"fail_open_exception", "fail_open_branch"} <= found("takes an error for a pass")
        assert {"zip_truncation", "nan_poisoning", "lazy_results"} <= found("forgets the lengths")
        assert {"exit_code", "result_forging"} <= found("believes the exit code")

    @pytest.mark.slow
    def test_a_sealed_verifier_passes_none_of_them(self, pool: Pool) -> None:
        verifier = FunctionVerifier(
            "top", tuple(Case(call.args, {}, call.expected) for call in CALLS), limits=LIMITS
        )
        oracle = ProgramOracle(pool)
        hits = passing(verifier, sample(LARGEST, each=2), pool)
        wrong = [(attack.name, payload.note) for attack, payload in hits
                 if oracle.why_wrong(LARGEST, payload) is not None]  # fmt: skip
        assert wrong == []
