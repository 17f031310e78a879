"""Measurements of a contest of one's own: what may come back, and what leaks nowhere."""

from __future__ import annotations

import random
import time
import types
from pathlib import Path

import pytest
from tests.unit.tournament.contests.own.small import (
    COUNTED,
    FILES,
    MEASURE,
    NULL,
    RIGHT,
    SETTINGS,
    judged,
    loaded,
    written,
)

from unhack.sandbox.submission import compute
from unhack.tournament.contest import DataPool, Measurement
from unhack.tournament.contests.own import author_process
from unhack.tournament.contests.own.author_process import AuthorProcess, MeasureFault
from unhack.tournament.contests.own.measuring import as_measurement, drawn, measure
from unhack.tournament.judging.submission import freeze

pytestmark = pytest.mark.slow


@pytest.mark.sample
def test_the_fitness_is_the_mean_of_the_scores_with_an_interval(tmp_path: Path) -> None:
    contest = loaded(written(tmp_path / "c"))
    half = "def length(text):\n    return len(text) if len(text) % 2 else 0\n"
    right = judged(contest, RIGHT, tmp_path / "right")
    some = judged(contest, half, tmp_path / "half")
    assert (right.fitness, right.low, right.high) == (1.0, 1.0, 1.0)
    assert some.low < some.fitness < some.high
    assert judged(contest, NULL, tmp_path / "null").fitness == 0


def test_the_same_draw_measures_the_same_and_pools_draw_apart(tmp_path: Path) -> None:
    contest = loaded(written(tmp_path))
    draws = {
        (pool, seed): repr(drawn(contest.rules, contest.draw(pool, seed)))
        for pool in (DataPool.DEV, DataPool.JUDGE)
        for seed in (1, 2)
    }
    assert len(set(draws.values())) == 4
    again = drawn(contest.rules, contest.draw(DataPool.JUDGE, 1))
    assert repr(again) == draws[DataPool.JUDGE, 1]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return float('nan')", "what measure"),
        ("return [1.0, float('inf')]", "what measure"),
        ("return '1.0'", "what measure"),
        ("return True", "what measure"),
        ("return None", "what measure"),
        ("return []", "what measure"),
        ("return [1.0, 'x']", "what measure"),
        ("return {'fitness': 1.0, 'low': 2.0, 'high': 3.0}", "what measure"),
        ("return {'fitnes': 1.0}", "what measure"),
        ("return {'scores': [1.0], 'fitness': 1.0}", "what measure"),
        ("return {'fitness': 1.0, 'metrics': {'x': 'y' * 500}}", "what measure"),
        ("return {'fitness': 1.0, 'metrics': {str(i): i for i in range(99)}}", "what measure"),
        ("return {'fitness': 1.0, 'metrics': {'x': float('nan')}}", "what measure"),
        ("return {'fitness': 1.0, 'flags': [('no_such_kind', 'x')]}", "what measure"),
        ("return {'fitness': 1.0, 'flags': 'bad'}", "what measure"),
        ("return 10 ** 400", "what measure"),
        ("return object()", "measure() in measure.py"),
        ("return [1.0]", "what measure"),
        ("1 / 0", "ZeroDivisionError in measure.py:2"),
        ("raise SystemExit(0)", "SystemExit in measure.py:2"),
        ("import os; os._exit(0)", "measure() in measure.py"),
        ("import nowhere", "ModuleNotFoundError in measure.py:2"),
    ],
)
def test_a_measure_that_answers_no_number_is_a_fault_and_credits_nothing(
    body: str, told: str, tmp_path: Path
) -> None:
    text = f"def measure(submission, cases):\n    {body}\n"
    contest = loaded(written(tmp_path / "c", {"measure.py": text}))
    found = judged(contest, RIGHT, tmp_path / "w")
    assert not found.valid
    assert told in found.reason
    assert found.fitness == 0


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return 3", "no list of cases"),
        ("return []", "no list of cases"),
        ("return [1, 2]", "draw in generator.py"),
        ("return [{'shown': 1}]", "draw in generator.py"),
        ("raise ValueError('x')", "ValueError in generator.py:2"),
    ],
)
def test_a_generator_that_draws_no_cases_is_a_fault(body: str, told: str, tmp_path: Path) -> None:
    text = f"def draw(rng, settings):\n    {body}\n"
    contest = loaded(written(tmp_path, {"generator.py": text}))
    with pytest.raises(MeasureFault) as fault:
        drawn(contest.rules, contest.draw(DataPool.DEV, 1))
    assert told in f"{fault.value.place}: {fault.value.told}"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"measure.py": "def measur(submission, cases):\n    return 1.0\n"},
         "measure.py defines no measure(submission, cases)"),
        ({"generator.py": "def drew(rng, settings):\n    return []\n"},
         "generator.py defines no draw(rng, settings)"),
        ({"generator.py": "def draw(rng, settings):\n    yield 1\n"},
         "draw() in generator.py: what it returned, a generator: "),
        ({"generator.py": "def draw(rng, settings):\n    while True:\n        pass\n"},
         "draw() in generator.py: it took longer than the 1 s of `total_s`"),
        ({"measure.py": "def measure(submission, cases):\n    return {1.0}\n"},
         "measure() in measure.py: what it returned, a set: "),
        ({"measure.py": "def measure(submission, cases):\n"
          "    return submission.call('length', {'a'})\n"},
         "an argument of submission.call('length'): "),
        ({"measure.py": "def measure(submission, cases):\n    return [1.0] * (len(cases) - 1)\n"},
         "4 scores for 5 cases"),
    ],
)  # fmt: skip
def test_the_author_is_told_what_failed_and_where(
    changes: dict[str, str | None], told: str, tmp_path: Path
) -> None:
    settings = SETTINGS.replace("total_s = 60.0", "total_s = 1")
    settings = settings if "total_s" in told else SETTINGS
    contest = loaded(written(tmp_path / "c", {**changes, "contest.toml": settings}))
    with pytest.raises(MeasureFault) as fault:
        measure(contest.rules, tmp_path / "c/honest/one", contest.draw(DataPool.DEV, 1))
    assert told in f"{fault.value.place}: {fault.value.told}"
    assert "/harness/" not in fault.value.told


def test_a_case_that_a_measure_passes_by_cannot_raise_the_mean(tmp_path: Path) -> None:
    """A submission that refuses what is hard for it must not be measured on the rest."""
    text = (
        "from unhack_contest import CallRefused\n\n\n"
        "def measure(submission, cases):\n    scores = []\n    for case in cases:\n"
        "        try:\n            found = submission.call('length', case['shown'])\n"
        "        except CallRefused:\n            continue\n"
        "        scores.append(float(found == case['sealed']['length']))\n    return scores\n"
    )
    contest = loaded(written(tmp_path / "c", {"measure.py": text}))
    picky = "def length(text):\n    return len(text) if len(text) % 2 else 1 / 0\n"
    assert not judged(contest, picky, tmp_path / "w").valid
    assert judged(contest, RIGHT, tmp_path / "v").fitness == 1.0


@pytest.mark.parametrize("cases", [3, 4, 6])
def test_an_honest_entry_is_not_accused_for_the_noise_of_few_cases(
    cases: int, tmp_path: Path
) -> None:
    contest = loaded(written(tmp_path))
    rng = random.Random(cases)

    def drawn_by_chance() -> Measurement:
        return as_measurement(
            [rng.gauss(0.5, 0.1) for _ in range(cases)], contest.folder.settings, cases
        )

    pairs = [(drawn_by_chance(), drawn_by_chance()) for _ in range(2000)]
    inside = sum(one.low <= 0.5 <= one.high for one, _ in pairs)
    assert inside / len(pairs) == pytest.approx(0.95, abs=0.02)
    accused = sum(contest.gap(one, other) is not None for one, other in pairs)
    assert accused / len(pairs) <= 0.002


def test_a_bound_that_cuts_an_interval_short_makes_no_standard_error_small(tmp_path: Path) -> None:
    contest = loaded(written(tmp_path))
    judged_near_bound = Measurement(1.99, 1.79, 2.0)
    assert contest.gap(judged_near_bound, Measurement(1.75, 1.745, 1.755)) is None
    assert contest.gap(Measurement(1.99, 1.985, 2.0), Measurement(1.75, 1.745, 1.755)) is not None


def test_an_endless_measure_ends_at_its_limit(tmp_path: Path) -> None:
    changes = {
        "contest.toml": SETTINGS.replace("total_s = 60.0", "total_s = 4.0"),
        "measure.py": "def measure(submission, cases):\n    while True:\n        pass\n",
    }
    found = judged(loaded(written(tmp_path / "c", changes)), RIGHT, tmp_path / "w")
    assert not found.valid
    assert "measure() in measure.py" in found.reason


def test_a_process_that_starts_slowly_takes_none_of_the_seconds_of_the_authors_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = SETTINGS.replace("total_s = 60.0", "total_s = 40.0")
    contest = loaded(written(tmp_path, {"contest.toml": made}))
    answer = AuthorProcess._answer  # pyright: ignore[reportPrivateUsage]
    passed_s = 0.0
    clock = types.SimpleNamespace(monotonic=lambda: time.monotonic() + passed_s)
    monkeypatch.setattr(author_process, "_START_S", 600.0)
    monkeypatch.setattr(author_process, "time", clock)
    monkeypatch.setattr(compute, "time", clock)

    def slow_start(self: AuthorProcess, deadline: float, timeout_s: float = 0.0) -> object:
        nonlocal passed_s
        if not timeout_s:  # not asked for anything yet, and there are two such answers
            passed_s += 25.0
        return answer(self, deadline, timeout_s)

    monkeypatch.setattr(AuthorProcess, "_answer", slow_start)
    assert len(drawn(contest.rules, contest.draw(DataPool.DEV, 1))) == 5


@pytest.mark.parametrize("limit", ["wall", "cpu"])
def test_a_limit_that_ends_the_authors_code_is_told_in_words_of_its_settings(
    limit: str, tmp_path: Path
) -> None:
    contest = loaded(written(tmp_path))
    with contest.rules.author() as author:
        told = author._told(f"its process ended: the {limit} limit")  # pyright: ignore[reportPrivateUsage]
    assert told == "it took longer than the 60 s of `total_s` in [limits]"


def test_the_text_of_an_exception_stays_with_the_author(tmp_path: Path) -> None:
    text = (
        "def measure(submission, cases):\n"
        '    raise ValueError(f\'expected {cases[0]["sealed"]["key"]}\')\n'
    )
    contest = loaded(written(tmp_path / "c", {"measure.py": text}))
    found = judged(contest, RIGHT, tmp_path / "w")
    assert found.reason == "the contest's own code failed: ValueError in measure.py:2"


def test_a_refusal_that_the_measure_lets_pass_is_the_reason(tmp_path: Path) -> None:
    contest = loaded(written(tmp_path / "c"))
    raising = judged(contest, "def length(text):\n    raise KeyError('mine')\n", tmp_path / "a")
    lacking = judged(contest, "def size(text):\n    return 1\n", tmp_path / "b")
    assert "KeyError" in raising.reason
    assert "no length()" in lacking.reason
    late = "def length(text):\n    while True:\n        pass\n"
    slow = loaded(
        written(tmp_path / "s", {"contest.toml": SETTINGS.replace("call_s = 30.0", "call_s = 0.5")})
    )
    assert "did not answer" in judged(slow, late, tmp_path / "d").reason


def test_a_measure_may_catch_a_refusal(tmp_path: Path) -> None:
    text = (
        "from unhack_contest import CallRefused\n\n\n"
        "def measure(submission, cases):\n"
        "    try:\n        submission.call('length', 'abc')\n"
        "    except CallRefused as error:\n        return {'invalid': f'mine: {error}'}\n"
        "    return 1.0\n"
    )
    contest = loaded(written(tmp_path / "c", {"measure.py": text}))
    found = judged(contest, "def length(text):\n    raise KeyError('x')\n", tmp_path / "w")
    assert found.reason.startswith("mine: length(): KeyError")


def test_leaving_the_process_instead_of_answering_is_flagged(tmp_path: Path) -> None:
    contest = loaded(written(tmp_path / "c"))
    leaving = "import os\n\n\ndef length(text):\n    os._exit(0)\n"
    found = judged(contest, leaving, tmp_path / "w")
    assert [flag.kind for flag in found.flags] == ["forged_verdict"]


def test_a_fresh_process_remembers_nothing(tmp_path: Path) -> None:
    text = (
        "def measure(submission, cases):\n"
        "    first = submission.call('count'), submission.call('count')\n"
        "    submission.fresh()\n"
        "    seen = str(first + (submission.call('count'),))\n"
        "    return {'fitness': 1.0, 'metrics': {'seen': seen}}\n"
    )
    counting = (
        "import os\nSEEN = []\n\n\ndef count():\n    SEEN.append(1)\n"
        "    with open('/scratch/work/seen', 'a') as file:\n        file.write('x')\n"
        "    with open('/scratch/work/seen') as file:\n"
        "        return len(SEEN), len(file.read())\n"
    )
    contest = loaded(written(tmp_path / "c", {"measure.py": text}))
    found = judged(contest, counting, tmp_path / "w")
    assert found.metrics["seen"] == "((1, 1), (2, 2), (1, 1))"


def test_what_crosses_keeps_its_type_and_no_object_of_a_submission_arrives(tmp_path: Path) -> None:
    text = (
        "def measure(submission, cases):\n"
        "    sent = [1, 2.5, 'x', b'y', None, True, [1], {'k': (1, 2)}]\n"
        "    back = submission.call('echo', sent)\n"
        "    return float(back == sent and type(back[7]['k']) is tuple)\n"
    )
    contest = loaded(written(tmp_path / "c", {"measure.py": text}))
    echo = "def echo(value):\n    return value\n"
    always = (
        "class Any:\n    def __eq__(self, other):\n        return True\n\n\n"
        "def echo(value):\n    return Any()\n"
    )
    assert judged(contest, echo, tmp_path / "a").fitness == 1
    assert not judged(contest, always, tmp_path / "b").valid


def test_the_authors_process_can_leave_nothing_for_a_submission(tmp_path: Path) -> None:
    """A measure that tries to write what it knows wherever a submission could read it."""
    text = (
        "import os\n\n\ndef measure(submission, cases):\n"
        "    wrote = []\n"
        "    for place in ('/contest', '/harness', '/packages', '/submission', '/tmp', '/usr',\n"
        "                  '/lib', '/scratch/work', '/'):\n"
        "        try:\n"
        "            with open(place + '/timing.txt', 'w') as file:\n"
        "                file.write(str(cases[0]['sealed']))\n"
        "            wrote.append(place)\n"
        "        except OSError:\n            pass\n"
        "    found = submission.call('look')\n"
        "    return {'fitness': 1.0, 'metrics': {'wrote': ' '.join(wrote), 'found': str(found)}}\n"
    )
    looking = (
        "import os\n\n\ndef look():\n"
        "    return [os.path.join(top, name) for top, _, names in os.walk('/')\n"
        "            if not top.startswith('/proc') for name in names if name == 'timing.txt']\n"
    )
    contest = loaded(written(tmp_path / "c", {"measure.py": text}))
    found = judged(contest, looking, tmp_path / "w")
    assert set(str(found.metrics["wrote"]).split()) <= {"/tmp", "/scratch/work"}
    assert found.metrics["found"] == "[]"


def test_a_folder_that_is_changed_meanwhile_changes_no_measurement(tmp_path: Path) -> None:
    contest = loaded(written(tmp_path / "c"))
    before = judged(contest, COUNTED, tmp_path / "a")
    (tmp_path / "c" / "measure.py").write_text("def measure(submission, cases):\n    return 2.0\n")
    assert judged(contest, COUNTED, tmp_path / "b") == before


def test_a_link_in_a_submission_is_never_followed(tmp_path: Path) -> None:
    contest = loaded(written(tmp_path / "c"))
    work = tmp_path / "work"
    work.mkdir()
    (work / "solution.py").symlink_to(tmp_path / "c" / "measure.py")
    frozen = freeze(work, contest, into=tmp_path / "frozen")
    assert "is a link" in frozen.problem


def test_a_submission_cannot_read_the_contest_nor_the_seed(tmp_path: Path) -> None:
    """Every file that its process can open, its memory and its descriptors, against the source."""
    nosy = (
        "import os\n\n\ndef length(text):\n    found = []\n"
        "    for top, folders, names in os.walk('/'):\n"
        "        if top == '/':\n"
        "            folders[:] = set(folders) - {'proc', 'usr', 'lib', 'dev'}\n"
        "        for name in names:\n"
        "            try:\n"
        "                with open(os.path.join(top, name), 'rb') as file:\n"
        "                    if b'sealed' in file.read() and name.endswith(('.py', '.toml')):\n"
        "                        found.append(name)\n"
        "            except OSError:\n                pass\n"
        "    raise ValueError(str([n for n in found if n in ('measure.py', 'generator.py')]))\n"
    )
    found = judged(loaded(written(tmp_path / "c")), nosy, tmp_path / "w")
    assert found.reason == "length(): ValueError: []"


def test_a_static_contest_reads_what_was_handed_in(tmp_path: Path) -> None:
    changes = {
        "contest.toml": SETTINGS.replace("bound = 2.0", 'bound = 2.0\nrequired = ["text.txt"]'),
        "measure.py": (
            "def measure(submission, cases):\n"
            "    return {'fitness': 1 / (1 + submission.size_bytes)}\n"
        ),
        **{name: None for name in FILES if name.endswith("solution.py")},
        **{name.replace("solution.py", "text.txt"): "abc" for name in FILES
           if name.endswith("solution.py")},
    }  # fmt: skip
    contest = loaded(written(tmp_path / "c", changes))
    work = tmp_path / "work"
    work.mkdir()
    (work / "text.txt").write_text("abc")
    frozen = freeze(work, contest, into=tmp_path / "frozen")
    found: Measurement = measure(contest.rules, frozen.folder, contest.draw(DataPool.DEV, 1))
    assert found.fitness == 0.25


def test_the_seconds_of_a_call_are_the_judges(tmp_path: Path) -> None:
    text = MEASURE.replace("    return [", "    found = [").rstrip() + (
        "\n    return {'scores': found, 'metrics': {'s': submission.seconds}}\n"
    )
    forging = RIGHT + "import time\ntime.perf_counter = time.monotonic = lambda: 0.0\n"
    found = judged(loaded(written(tmp_path / "c", {"measure.py": text})), forging, tmp_path / "w")
    assert float(found.metrics["s"]) > 0
