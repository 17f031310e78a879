"""A completion's score in company: each fault is planted, and told from a verifier without it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.unit.audit.company import (
    CASES,
    REFERENCE,
    ROWS,
    check_of,
    examined,
    script_subject,
    text_subject,
)

from unhack.audit.proving.checks import isolation
from unhack.audit.subject import Score
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.sessions import Session, run_sessions
from unhack.sandbox.pool.pool import Pool

pytestmark = pytest.mark.slow

HEAD = "import builtins, json, math, os, re, signal, threading\n"
EXACT = 'completion.strip() == f"The answer is {answer}"'


def _text(body: str, before: str = "", name: str = "reward(completion, answer)") -> str:
    lines = "\n".join(f"    {line}" for line in body.strip().split("\n"))
    return f"{HEAD}{before}\ndef {name}:\n{lines}\n"


CLEAN = _text(f"return float({EXACT})")
ALARM = _text(f"""
try:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return float({EXACT})
except ValueError:
    return 0.0
""")
CACHED = _text(
    f"if answer not in SEEN:\n    SEEN[answer] = float({EXACT})\nreturn SEEN[answer]", "SEEN = {}\n"
)
COUNTING = _text(f"CALLS.append(1)\nreturn float({EXACT}) / (1 + (len(CALLS) > 9))", "CALLS = []\n")
ON_DISK = _text(f"""
path = os.path.join(os.environ["TMPDIR"], "verdict")
if not os.path.exists(path):
    with open(path, "w") as file:
        file.write(str(float({EXACT})))
with open(path) as file:
    return float(file.read())
""")
EVALUATING = _text("""
found = re.search(r"The answer is (.+)", completion)
try:
    value = eval(found.group(1))
    return float(abs(value - float(answer)) < 1e-6)
except Exception:
    return 0.0
""")
POWERS = _text(
    r"""
found = re.search(r"(\d+)\*\*(\d+)\*\*(\d+)\*\*(\d+)", completion)
if found:
    with LOCK:
        while True:
            pass
with LOCK:
    return float(completion.strip() == f"The answer is {answer}")
""",
    "LOCK = threading.Lock()\n",
)


class TestTexts:
    def test_a_verifier_without_a_fault_passes_every_check(
        self, tmp_path: Path, pool: Pool
    ) -> None:
        seen = examined(text_subject(tmp_path, pool, CLEAN, rows=ROWS), pool)
        assert [check for check in seen.checks if check.ok is False] == []
        assert len([check for check in seen.checks if check.area == "isolation"]) == 2
        assert len([check for check in seen.checks if check.area == "determinism"]) == 2
        assert seen.findings == ()

    @pytest.mark.parametrize(
        ("source", "name"),
        [
            (ALARM, "outside the main thread"),
            (CACHED, "one after another"),
            (COUNTING, "one after another"),
            (ON_DISK, "one after another"),
            (EVALUATING, "after a hostile completion"),
            (POWERS, "beside a straggler"),
        ],
        ids=["alarm", "cached", "counting", "on_disk", "evaluating", "powers"],
    )
    @pytest.mark.slow
    def test_a_fault_fails_its_check(
        self, tmp_path: Path, pool: Pool, source: str, name: str
    ) -> None:
        check = check_of(examined(text_subject(tmp_path, pool, source, rows=ROWS), pool), name)
        assert check.ok is False
        assert check.witness
        assert "instead of" in check.text

    @pytest.mark.parametrize(("late", "ok"), [(1, True), (2, None)])
    def test_a_host_that_stumbles_leaves_only_what_is_late_again_undecided(
        self, tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch, late: int, ok: bool
    ) -> None:
        tries: dict[str, int] = {}

        def stumbling(subject: FunctionSubject, asked: Sequence[Session]) -> list[list[Score]]:
            found = run_sessions(subject, asked)
            for at, session in enumerate(asked):
                key = repr((session.queries, session.way))
                tries[key] = tries.get(key, 0) + 1
                if tries[key] <= late:
                    found[at] = [Score(None, "timeout", "no score within 2.0 s")] * len(found[at])
            return found

        monkeypatch.setattr(isolation, "run_sessions", stumbling)
        seen = examined(text_subject(tmp_path, pool, CLEAN, rows=ROWS), pool)
        assert check_of(seen, "one after another").ok is ok
        assert check_of(seen, "outside the main thread").ok is ok
        assert seen.findings == ()

    @pytest.mark.slow
    def test_a_thread_is_the_only_fault_of_an_alarm(self, tmp_path: Path, pool: Pool) -> None:
        seen = examined(text_subject(tmp_path, pool, ALARM, rows=ROWS), pool)
        failed = [check.name for check in seen.checks if check.ok is False]
        assert failed == [
            "the same score outside the main thread", "the same score beside a straggler",
        ]  # fmt: skip

    def test_a_wrong_answer_that_passes_after_a_right_one_is_a_finding(
        self, tmp_path: Path, pool: Pool
    ) -> None:
        [finding] = examined(text_subject(tmp_path, pool, CACHED, rows=ROWS), pool).findings
        assert (finding.flaw, finding.attack) == ("state_leak", "state/after_another")
        assert finding.witness not in ("The answer is 42", "The answer is 81")
        assert "in the same process after 'The answer is" in finding.evidence.text
        assert finding.score == finding.threshold == 1.0

    @pytest.mark.slow
    def test_scores_that_fall_for_everybody_are_no_finding(
        self, tmp_path: Path, pool: Pool
    ) -> None:
        assert examined(text_subject(tmp_path, pool, COUNTING, rows=ROWS), pool).findings == ()

    @pytest.mark.slow
    def test_random_scores_are_not_blamed_on_neighbours(self, tmp_path: Path, pool: Pool) -> None:
        source = _text(f"import os\nreturn float({EXACT}) + int.from_bytes(os.urandom(4)) / 2**40")
        seen = examined(text_subject(tmp_path, pool, source, rows=ROWS), pool)
        assert check_of(seen, "beside other completions").ok is None
        assert seen.findings == ()

    @pytest.mark.slow
    def test_what_was_seen_is_not_run_again(self, tmp_path: Path, pool: Pool) -> None:
        subject = text_subject(tmp_path, pool, CACHED, rows=ROWS)
        first = examined(subject, pool, folder=tmp_path / "run")
        lines = (tmp_path / "run" / "calls.jsonl").read_text().count("\n")
        again = examined(subject, pool, folder=tmp_path / "run")
        assert again == first
        assert (tmp_path / "run" / "calls.jsonl").read_text().count("\n") == lines


BATCH = "batch(completions, answer, **kwargs)"
EACH = 'f"The answer is {want}" == text.strip() for text, want in zip(completions, answer)'


class TestBatches:
    @pytest.mark.parametrize(
        ("body", "ok"),
        [
            (f"return [float(x) for x in ({EACH})]", True),
            (f"found = [float(x) for x in ({EACH})]\nbest = max(found) or 1.0\n"
             "mean = sum(found) / len(found)\nreturn [x - (len(found) > 1) * mean for x in found]",
             False),
            ("kept = [text for text in completions if text]\n"
             "return [float(f'The answer is {a}' == t) for t, a in zip(kept, answer)] "
             "+ [0.0] * (len(completions) - len(kept))", False),
            ("return [float(f'The answer is {a}' == t) / (1 if t else int('x'))"
             " for t, a in zip(completions, answer)]", False),
        ],
        ids=["clean", "relative", "shifted", "raising"],
    )  # fmt: skip
    def test_each_gets_what_it_gets_alone(
        self, tmp_path: Path, pool: Pool, body: str, ok: bool
    ) -> None:
        source = _text(body, name=BATCH)
        subject = text_subject(tmp_path, pool, source, entry="batch", rows=ROWS)
        check = check_of(examined(subject, pool), "in a batch")
        assert check.ok is ok, check.text

    @pytest.mark.slow
    def test_a_function_of_one_completion_takes_no_batch(self, tmp_path: Path, pool: Pool) -> None:
        seen = examined(text_subject(tmp_path, pool, CLEAN, rows=ROWS), pool)
        assert not any("batch" in check.name for check in seen.checks)


EXECUTING = """
import json

def reward(completion, answer):
    scope = {}
    try:
        exec(completion, scope)
        given = [scope["square"](case["input"]) for case in json.loads(answer)]
        return float(all(got == case["expected"] for got, case in zip(given, json.loads(answer))))
    except Exception:
        return 0.0
"""
APART = """
import json, os, subprocess, sys

def reward(completion, answer):
    cases = json.loads(answer)
    program = completion + "\\nimport json, sys\\n"
    program += "print(json.dumps([square(item) for item in json.loads(sys.argv[1])]))\\n"
    inputs = json.dumps([case["input"] for case in cases])
    command = [sys.executable, "-I", "-c", program, inputs]
    done = subprocess.run(command, env={"PATH": "/usr/bin"}, cwd="/", capture_output=True)
    try:
        return float(json.loads(done.stdout) == [case["expected"] for case in cases])
    except ValueError:
        return 0.0
"""


class TestPrograms:
    @pytest.fixture
    def rows(self) -> list[dict[str, object]]:
        calls = [{"args": [case["input"]], "expected": case["expected"]} for case in CASES]
        return [
            {
                "prompt": "Write square(n) that gives n squared plus 3.",
                "answer": json.dumps(CASES),
                "correct": [REFERENCE],
                "entry_point": "square",
                "calls": calls,
            }
        ]

    @pytest.mark.sample
    @pytest.mark.slow
    def test_programs_that_share_the_verifiers_process_change_it(
        self, tmp_path: Path, pool: Pool, rows: list[dict[str, object]]
    ) -> None:
        seen = examined(text_subject(tmp_path, pool, EXECUTING, rows=rows), pool)
        assert check_of(seen, "one after another").ok is True
        assert check_of(seen, "after a hostile completion").ok is False
        assert check_of(seen, "after one that ends the process").ok is False

    @pytest.mark.slow
    def test_programs_in_a_process_of_their_own_do_not(
        self, tmp_path: Path, pool: Pool, rows: list[dict[str, object]]
    ) -> None:
        seen = examined(text_subject(tmp_path, pool, APART, rows=rows), pool)
        bad = [check for check in seen.checks if check.ok is False]
        assert [(check.name, check.text) for check in bad] == []
        assert check_of(seen, "after one that ends the process").ok is True
        for _ in range(3):  # a busy machine leaves it undecided
            if check_of(seen, "beside a straggler").ok is not None:
                break
            seen = examined(text_subject(tmp_path, pool, APART, rows=rows), pool)
        assert check_of(seen, "beside a straggler").ok is True


SCRIPT = """
import json, os, sys

def verify(solution_path, test_cases_path):
    sys.path.insert(0, os.path.dirname(solution_path))
    import solution
    cases = json.load(open(test_cases_path))
    LEFT = "/scratch/work/verdict"
    KEPT
    return float(all(solution.square(case["input"]) == case["expected"] for case in cases))
"""


class TestScripts:
    def test_each_run_has_a_process_of_its_own(self, tmp_path: Path, pool: Pool) -> None:
        subject = script_subject(tmp_path, pool, SCRIPT.replace("KEPT", "pass"))
        seen = examined(subject, pool)
        assert check_of(seen, "one after another").ok is True
        assert check_of(seen, "beside a straggler").ok is True
        assert check_of(seen, "after one that ends the process").ok is True

    @pytest.mark.slow
    def test_what_it_leaves_on_the_disk_is_seen(self, tmp_path: Path, pool: Pool) -> None:
        kept = "if os.path.exists(LEFT): return 1.0\n    open(LEFT, 'w').close()"
        subject = script_subject(tmp_path, pool, SCRIPT.replace("KEPT", kept))
        seen = examined(subject, pool)
        assert check_of(seen, "one after another").ok is False
        [finding] = seen.findings
        assert finding.flaw == "state_leak"
