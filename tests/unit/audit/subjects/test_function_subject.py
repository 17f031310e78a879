"""Whatever a reward function does, the auditor learns what it did, and stays unharmed."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from unhack.audit.subject import AuditProblem, Query, Score
from unhack.audit.subjects.function_subject import LIMITS, FunctionSubject
from unhack.audit.subjects.signatures import detect
from unhack.audit.subjects.target import find_target
from unhack.core.errors import UsageError
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool

PROBLEM = AuditProblem("p", "What is 6 * 7?", "42")
QUICK = LIMITS.with_(wall_s=1.0, cpu_s=5.0)
"""For what never ends; what ends has time on a busy host too."""


def _subject(
    folder: Path, pool: Pool, source: str, entry: str = "f", *, limits: Limits = LIMITS
) -> FunctionSubject:
    (folder / "m.py").write_text(source)
    target = find_target(f"{folder / 'm.py'}:{entry}")
    return FunctionSubject("m:f", target, detect(target), (PROBLEM,), limits=limits, backend=pool)


def _score(folder: Path, pool: Pool, body: str, completion: str = "42") -> Score:
    source = f"def f(completion, answer):\n    {body}\n"
    [score] = _subject(folder, pool, source).score([Query(PROBLEM, completion)])
    return score


@pytest.fixture(scope="module")
def evaluating(tmp_path_factory: pytest.TempPathFactory, pool: Pool) -> FunctionSubject:
    """A reward that returns the value of the expression that it is handed."""
    source = "def f(completion, answer):\n    return eval(completion)\n"
    return _subject(tmp_path_factory.mktemp("evaluating"), pool, source)


class TestWhatComesBack:
    @pytest.mark.parametrize(
        ("expression", "value"),
        [
            ("0.5", 0.5),
            ("7", 7.0),
            ("True", 1.0),
            ("-3.5", -3.5),
            ("float('inf')", math.inf),
            ("10 ** 400", math.inf),
            ("(0.25, 'why')", 0.25),
            ("{'score': 0.75, 'acc': 1}", 0.75),
            ("{'reward': 0.5}", 0.5),
            ("{'accuracy': True}", 1.0),
            ("{'my_metric': 0.125, 'note': 'x'}", 0.125),
            ("[0.5]", 0.5),
            ("'C'", 1.0),
            ("'I'", 0.0),
            ("'0.5'", 0.5),
            ("__import__('types').SimpleNamespace(score=0.5)", 0.5),
            ("__import__('types').SimpleNamespace(is_correct=True)", 1.0),
            ("__import__('types').SimpleNamespace(item=lambda: 0.5)", 0.5),
            ("__import__('types').SimpleNamespace(tolist=lambda: [0.5])", 0.5),
            ("__import__('fractions').Fraction(1, 4) * 1.0", 0.25),
        ],
    )
    def test_it_becomes_a_number(
        self, evaluating: FunctionSubject, expression: str, value: float
    ) -> None:
        [score] = evaluating.score([Query(PROBLEM, expression)])
        assert score.value == value

    @pytest.mark.slow
    def test_nan_stays_nan_and_is_never_enough(self, tmp_path: Path, pool: Pool) -> None:
        score = _score(tmp_path, pool, "return float('nan')")
        assert score.value is not None
        assert math.isnan(score.value)
        assert not score.at_least(0.0)

    @pytest.mark.parametrize(
        "expression", ["None", "[]", "[1.0, 1.0]", "{}", "{'a': 1, 'b': 2}", "'well done'"]
    )
    def test_what_is_no_score_is_of_the_wrong_shape(
        self, evaluating: FunctionSubject, expression: str
    ) -> None:
        [score] = evaluating.score([Query(PROBLEM, expression)])
        assert (score.value, score.trouble) == (None, "shape")
        assert score.reason.startswith("it returned")


@pytest.mark.slow
class TestTrouble:
    def test_an_exception_is_told_by_name(self, tmp_path: Path, pool: Pool) -> None:
        score = _score(tmp_path, pool, "raise LookupError('no such key')")
        assert (score.value, score.trouble) == (None, "raised")
        assert score.reason == "LookupError: no such key"

    def test_an_exit_is_an_exception(self, tmp_path: Path, pool: Pool) -> None:
        assert _score(tmp_path, pool, "raise SystemExit(0)").trouble == "raised"

    def test_a_loop_meets_its_limit(self, tmp_path: Path, pool: Pool) -> None:
        source = "def f(completion, answer):\n    while True: pass\n"
        [score] = _subject(tmp_path, pool, source, limits=QUICK).score([Query(PROBLEM, "42")])
        assert (score.value, score.trouble) == (None, "timeout"), score

    def test_an_end_of_the_process_is_told(self, tmp_path: Path, pool: Pool) -> None:
        score = _score(tmp_path, pool, "__import__('os')._exit(0)")
        assert (score.value, score.trouble) == (None, "ended")

    def test_a_signal_is_an_end_too(self, tmp_path: Path, pool: Pool) -> None:
        score = _score(tmp_path, pool, "import os; os.abort()")
        assert (score.value, score.trouble) == (None, "ended")

    def test_a_result_line_without_the_calls_secret_counts_for_nothing(
        self, tmp_path: Path, pool: Pool
    ) -> None:
        line = 'b\'[0,"score",1.0,"",""]\\n\''
        score = _score(tmp_path, pool, f"import os; os.write(3, {line}); os._exit(0)")
        assert (score.value, score.trouble) == (None, "ended")

    def test_printing_does_no_harm(self, tmp_path: Path, pool: Pool) -> None:
        assert _score(tmp_path, pool, "print('1.0' * 1000); return 0.5").value == 0.5

    def test_an_alarm_works_where_it_is_set(self, tmp_path: Path, pool: Pool) -> None:
        body = (
            "import signal\n    def late(*a): raise TimeoutError\n"
            "    signal.signal(signal.SIGALRM, late)\n"
            "    try:\n        signal.setitimer(signal.ITIMER_REAL, 0.05)\n"
            "        signal.pause()\n    except TimeoutError:\n        return 0.25"
        )
        assert _score(tmp_path, pool, body).value == 0.25

    def test_each_call_starts_afresh(self, tmp_path: Path, pool: Pool) -> None:
        source = "seen = []\ndef f(completion, answer):\n    seen.append(1)\n    return len(seen)\n"
        scores = _subject(tmp_path, pool, source).score([Query(PROBLEM, "a")] * 5)
        assert [score.value for score in scores] == [1.0] * 5

    def test_no_shots_need_no_sandbox(self, tmp_path: Path, pool: Pool) -> None:
        assert _subject(tmp_path, pool, "def f(completion): return 1\n").score([]) == []


@pytest.mark.slow
class TestWhatItSees:
    def test_the_auditors_environment_is_not_visible(
        self, tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("UNHACK_TEST_SECRET", "x")
        body = "import os; return float('UNHACK_TEST_SECRET' in os.environ)"
        assert _score(tmp_path, pool, body).value == 0.0

    def test_files_elsewhere_are_not_visible(self, tmp_path: Path, pool: Pool) -> None:
        folder = tmp_path / "target"
        folder.mkdir()
        (tmp_path / "secret.txt").write_text("x")
        body = f"import os; return float(os.path.exists({str(tmp_path / 'secret.txt')!r}))"
        assert _score(folder, pool, body).value == 0.0

    def test_siblings_are_but_for_dot_files_and_problems(self, tmp_path: Path, pool: Pool) -> None:
        (tmp_path / "words.txt").write_text("x")
        (tmp_path / ".env").write_text("x")
        (tmp_path / "problems.jsonl").write_text("{}")
        (tmp_path / "sibling.py").write_text("VALUE = 2.0\n")
        source = (
            "import os, sibling\ndef f(completion):\n"
            "    found = set(os.listdir(os.path.dirname(__file__)))\n"
            "    assert 'words.txt' in found, found\n"
            "    assert not any('env' in name or 'jsonl' in name for name in found), found\n"
            "    return sibling.VALUE\n"
        )
        [score] = _subject(tmp_path, pool, source).score([Query(PROBLEM, "")])
        assert score.value == 2.0, score

    def test_the_folder_cannot_be_changed(self, tmp_path: Path, pool: Pool) -> None:
        score = _score(tmp_path, pool, "open(__file__, 'a').write('x'); return 1.0")
        assert score.trouble == "raised"
        assert (tmp_path / "m.py").read_text().endswith("return 1.0\n")

    def test_the_auditor_imports_nothing_of_it(self, tmp_path: Path, pool: Pool) -> None:
        path = tmp_path / "ran"
        source = (
            f"try: open({str(path)!r}, 'w')\nexcept OSError: pass\ndef f(completion): return 1.0\n"
        )
        [score] = _subject(tmp_path, pool, source).score([Query(PROBLEM, "")])
        assert score.value == 1.0
        assert not path.exists()
        assert "m" not in sys.modules


@pytest.mark.slow
class TestLoading:
    def test_a_missing_heavy_package_is_replaced(self, tmp_path: Path, pool: Pool) -> None:
        source = (
            "import flax\nfrom vllm.engine import LLM\nimport flax.linen.module as M\n"
            "class Model(flax.linen.Module):\n    pass\n"
            "@flax.no_grad()\ndef helper(x: flax.Tensor) -> float:\n    return 0.5\n"
            "def f(completion):\n    assert not isinstance(completion, flax.Tensor)\n"
            "    return helper(completion)\n"
        )
        subject = _subject(tmp_path, pool, source)
        assert subject.loaded.how == "stubs:"
        assert subject.score([Query(PROBLEM, "")])[0].value == 0.5

    def test_a_score_that_hangs_on_what_is_missing_counts_for_nothing(
        self, tmp_path: Path, pool: Pool
    ) -> None:
        source = "import jax\ndef f(completion):\n    return 0.0 if jax.any(completion) else 1.0\n"
        [score] = _subject(tmp_path, pool, source).score([Query(PROBLEM, "")])
        assert (score.value, score.trouble) == (None, "raised")
        assert "jax.any() , which is missing".replace(" ,", ",") in score.reason

    def test_what_else_is_missing_is_named(self, tmp_path: Path, pool: Pool) -> None:
        source = (
            "import flax\ntry:\n    import not_there\nexcept ImportError:\n"
            "    raise ImportError('install the extras')\ndef f(completion): return 0.5\n"
        )
        subject = _subject(tmp_path, pool, source)
        assert subject.loaded.how == "stubs:not_there"
        assert subject.score([Query(PROBLEM, "")])[0].value == 0.5

    def test_a_broken_parent_package_is_passed_by(self, tmp_path: Path, pool: Pool) -> None:
        package = tmp_path / "pack"
        package.mkdir()
        (package / "__init__.py").write_text("raise RuntimeError('needs a cluster')\n")
        (package / "near.py").write_text("HALF = 0.5\n")
        (package / "m.py").write_text("from .near import HALF\ndef f(completion): return HALF\n")
        target = find_target(f"{package / 'm.py'}:f")
        subject = FunctionSubject("m", target, detect(target), (PROBLEM,), backend=pool)
        assert subject.loaded.how == "file:"
        assert subject.score([Query(PROBLEM, "")])[0].value == 0.5

    def test_a_module_that_does_more_than_define_is_sliced(
        self, tmp_path: Path, pool: Pool
    ) -> None:
        source = (
            "import nowhere_to_be_found\nHALF = 0.5\nprint(1 / 0)\n"
            "def f(completion):\n    return HALF\n"
        )
        subject = _subject(tmp_path, pool, source)
        assert subject.loaded.how == "slice:"
        assert subject.score([Query(PROBLEM, "")])[0].value == 0.5

    def test_what_cannot_be_loaded_says_why(self, tmp_path: Path, pool: Pool) -> None:
        source = "class f:\n    1 / 0\n    def score(self, completion): return 1.0\n"
        with pytest.raises(UsageError, match="m:f cannot be loaded: import: ZeroDivisionError"):
            assert _subject(tmp_path, pool, source).loaded

    def test_a_factory_is_called_first(self, tmp_path: Path, pool: Pool) -> None:
        source = (
            "def f(high: float = 2.0):\n    def reward(completions, **kwargs):\n"
            "        return [high for _ in completions]\n    return reward\n"
        )
        [score] = _subject(tmp_path, pool, source).score([Query(PROBLEM, "")])
        assert score.value == 2.0

    def test_the_fingerprint_follows_source_and_problems(self, tmp_path: Path, pool: Pool) -> None:
        one = _subject(tmp_path, pool, "def f(completion): return 1\n")
        first = one.fingerprint
        assert first == _subject(tmp_path, pool, "def f(completion): return 1\n").fingerprint
        assert first != _subject(tmp_path, pool, "def f(completion): return 2\n").fingerprint

    def test_the_source_is_the_modules(self, tmp_path: Path, pool: Pool) -> None:
        source = _subject(tmp_path, pool, "def f(completion): return 1\n").source
        assert source is not None
        assert os.path.basename(source.path) == "m.py"
        assert (source.entry, source.text) == ("f", "def f(completion): return 1\n")


class TestAnInstalledPackage:
    @pytest.mark.slow
    def test_a_real_score_answer_is_called(self, pool: Pool) -> None:
        pytest.importorskip("reasoning_gym")
        target = find_target(
            "reasoning_gym.arithmetic.leg_counting:LegCountingDataset.score_answer"
        )
        problem = AuditProblem("p", "How many legs?", "8", extra={"metadata": {}})
        subject = FunctionSubject("legs", target, detect(target), (problem,), backend=pool)
        assert subject.signature.name == "reasoning_gym"
        assert subject.loaded.how == "import:"
        right, wrong = subject.score([Query(problem, "8"), Query(problem, "9")])
        assert right.value == 1.0
        assert wrong.value is not None
        assert wrong.value < 0.5


@pytest.mark.slow
def test_the_fingerprint_is_the_same_in_every_process(tmp_path: Path) -> None:
    source = "def reward(completion, answer, unit, scale, **row): return row['a'] + row['b']\n"
    (tmp_path / "rewards.py").write_text(source)
    (tmp_path / "rows.jsonl").write_text('{"prompt": "p", "answer": "1", "unit": 2, "scale": 3}\n')
    code = (
        "import pathlib, sys; from unhack.audit.subjects.loading import load_subject; "
        "print(load_subject(sys.argv[1], problems=pathlib.Path(sys.argv[2])).fingerprint)"
    )
    target = f"{tmp_path / 'rewards.py'}:reward"
    found = {
        subprocess.run(
            [sys.executable, "-c", code, target, str(tmp_path / "rows.jsonl")],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in range(2)
    }  # fmt: skip
    assert len(found) == 1
