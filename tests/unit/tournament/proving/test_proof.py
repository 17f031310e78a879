"""The proof of a contest: a sound one passes, and each way of being unsound is found."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.tournament.contests.own.small import (
    GENERATOR,
    MEASURE,
    NULL,
    RIGHT,
    SETTINGS,
    loaded,
    written,
)

from unhack.core.errors import UsageError
from unhack.sandbox.submission.compute import Computer
from unhack.tournament.contests.own.measuring import OwnRules
from unhack.tournament.contests.own.template import new_contest
from unhack.tournament.proving import leaks
from unhack.tournament.proving.proof import check_ready, prove

pytestmark = pytest.mark.slow

SHORT = SETTINGS.replace('honest = ["one", "two"]', 'honest = ["one"]').replace(
    '[cheats.reads]\nflag = "reaches_out"\n', ""
)
"""One honest entry and one cheat: the rest is proved by the starter."""
FEW: dict[str, str | None] = {
    "contest.toml": SHORT, "honest/two/solution.py": None, "cheats/reads/solution.py": None,
}  # fmt: skip


def test_the_starter_is_sound_as_it_is_written(tmp_path: Path) -> None:
    new_contest(tmp_path / "packing", taken=())
    contest = loaded(tmp_path / "packing", size="demo")
    check_ready(contest)
    proof = prove(contest)
    assert proof.problems == ()
    assert proof.warnings == ()
    assert proof.ok
    assert [entry.kind for entry in proof.entries].count("honest") == 3


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"honest/one/solution.py": "import sys\nF = sys._getframe(1).f_locals\n" + RIGHT},
            "it is flagged",
        ),
        ({"cheats/idle/solution.py": RIGHT}, "should earn nothing, and is credited 1"),
        (
            {"contest.toml": SHORT.replace('earns = "nothing"', 'flag = "hidden_state"')},
            "must be flagged hidden_state, and is credited 0 without any flag",
        ),
        (
            {"measure.py": MEASURE.replace(
                "return [float(", "import os\n    return [os.urandom(1)[0] / 255 * float(")},
            "the same draw measures the same: honest/one",
        ),
        (
            {"measure.py": "def measure(submission, cases):\n"
             "    right = [submission.call('length', case['shown']) > 0 for case in cases]\n"
             "    return all(right) * sum(c['sealed']['key'] for c in cases) / 2 ** 66\n"},
            "calibrated_on_test.*wider `low`|fresh draws measure the same.*honest/one",
        ),
        (
            {"honest/one/solution.py": "import time\n" + RIGHT.replace(
                "return len(text)", "return time.perf_counter_ns()"),
             "measure.py": "def measure(submission, cases):\n"
             "    return [submission.call('length', c['shown']) % 10 ** 6 / 10 ** 6\n"
             "            for c in cases]\n"},
            "the same draw measures the same: honest/one.*or the entry, draws at random by itself",
        ),
        (
            {"cheats/idle/solution.py": "import sys\nF = sys._getframe(1).f_locals\n" + NULL},
            r'cheat idle: .* is flagged: reaches_out; .*flag = "reaches_out" in \[cheats.idle\]',
        ),
        (
            {"null/solution.py": RIGHT},
            "(?m)^null: it does nothing of use, and measures 1 where 0 is due",
        ),
        (
            {"generator.py": "import os\n" + GENERATOR.replace(
                "rng.randint(60, 90)", "60 + os.urandom(1)[0] % 30")},
            "take every random number from `rng`",
        ),
        (
            {"generator.py": "import random\n" + GENERATOR.replace(
                "    cases = []", "    rng = random.Random(5)\n    cases = []")},
            "other seeds draw the same cases",
        ),
        (
            {"generator.py": GENERATOR.replace('"".join', 'str(rng.randint(1, 3)) or "".join')},
            "of the judge's cases also stand in development data",
        ),
        (
            {"measure.py": MEASURE.replace('case["shown"]', 'case["shown"], *[][:len(str(case))]')
             .replace("submission.call(", "ask(submission, case, ")
             + "\n\ndef ask(submission, case, name, text):\n"
             "    return submission.call(name, text + ' ' * (case['sealed']['key'] % 2))\n"},
            "nothing sealed crosses to a submission: call",
        ),
        (
            {"measure.py": MEASURE.replace("return [", "return {'metrics': {'first': "
             "str(cases[0]['sealed']['key'])}, 'scores': [").rstrip() + "}\n"},
            "the metric 'first' holds a sealed value",
        ),
        (
            {"measure.py": "def measure(submission, cases):\n"
             "    for case in cases:\n"
             "        if submission.call('length', case['shown']) != case['sealed']['length']:\n"
             "            return {'invalid': f'expected {case[\"sealed\"]}'}\n"
             "    return [1.0] * len(cases)\n"},
            "the reason of an entry that is not valid holds a sealed value",
        ),
        (
            {"start/solution.py": GENERATOR + NULL},
            r"solution.py holds \d of \d lines of generator.py",
        ),
    ],
)  # fmt: skip
def test_what_is_unsound_is_found(
    changes: dict[str, str | None], told: str, tmp_path: Path
) -> None:
    proof = prove(loaded(written(tmp_path, {**FEW, **changes})))
    assert not proof.ok
    assert re.search(told, "\n".join(proof.problems)), proof.problems


def test_a_small_sound_contest_has_no_problem_and_is_warned_of_its_short_ladder(
    tmp_path: Path,
) -> None:
    proof = prove(loaded(written(tmp_path, FEW)))
    assert proof.problems == ()
    assert any("ladder is short" in text for text in proof.warnings)


def test_little_room_at_the_top_is_a_warning(tmp_path: Path) -> None:
    settings = SHORT.replace("bound = 2.0", "bound = 1.0")
    proof = prove(loaded(written(tmp_path, {**FEW, "contest.toml": settings})))
    assert proof.ok
    assert any("reaches 100% of the bound" in text for text in proof.warnings)


def test_a_game_may_answer_by_what_is_sealed_where_it_says_so(tmp_path: Path) -> None:
    measure = (
        "def measure(submission, cases):\n"
        "    scores = []\n"
        "    for case in cases:\n"
        "        low = submission.call('guess', case['sealed']['length'] > 75)\n"
        "        scores.append(float((case['sealed']['length'] > 75) == low))\n"
        "    return scores\n"
    )
    guess = "def guess(high):\n    return high\n"
    wrong = "def guess(high):\n    return None\n"
    changes: dict[str, str | None] = {
        **FEW, "measure.py": measure, "honest/one/solution.py": guess,
        "null/solution.py": wrong, "start/solution.py": wrong, "cheats/idle/solution.py": wrong,
    }  # fmt: skip
    assert not prove(loaded(written(tmp_path / "a", changes))).ok
    settings = SHORT.replace("bound = 2.0", "bound = 2.0\ninteractive = true")
    assert prove(loaded(written(tmp_path / "b", {**changes, "contest.toml": settings}))).ok


def test_a_game_that_shows_nothing_at_first_draws_other_cases_each_time(tmp_path: Path) -> None:
    """All of a case is sealed; what a submission learns comes move by move."""
    generator = (
        "def draw(rng, settings):\n"
        "    return [{'shown': None, 'sealed': [rng.getrandbits(1) for _ in range(60)]}\n"
        "            for _ in range(settings['cases'])]\n"
    )
    measure = (
        "def measure(submission, cases):\n    scores = []\n    for case in cases:\n"
        "        told, right = [], 0\n        for bit in case['sealed']:\n"
        "            right += submission.call('length', told) == sum(told)\n"
        "            told.append(bit)\n"
        "        scores.append(right / len(told))\n    return scores\n"
    )
    wrong = "def length(told):\n    return -1\n"
    changes: dict[str, str | None] = {
        **FEW, "generator.py": generator, "measure.py": measure,
        "contest.toml": SHORT.replace("bound = 2.0", "bound = 2.0\ninteractive = true"),
        "honest/one/solution.py": "def length(told):\n    return sum(told)\n",
        "null/solution.py": wrong, "start/solution.py": wrong, "cheats/idle/solution.py": wrong,
    }  # fmt: skip
    assert prove(loaded(written(tmp_path / "a", changes))).problems == ()
    fixed = generator.replace("rng.getrandbits(1)", "rng.getrandbits(1) and 0")
    proof = prove(loaded(written(tmp_path / "b", {**changes, "generator.py": fixed})))
    assert any("other seeds draw the same cases" in text for text in proof.problems)


def test_what_rounding_leaves_of_nothing_is_nothing(tmp_path: Path) -> None:
    measure = MEASURE.replace("return [float(", "return [1e-16 + float(")
    contest = loaded(written(tmp_path, {**FEW, "measure.py": measure}))
    check_ready(contest)
    assert prove(contest).problems == ()


def test_a_baseline_that_is_the_best_entry_is_told_as_such(tmp_path: Path) -> None:
    worse = "def length(text):\n    return len(text) // 76 * len(text)\n"
    changes: dict[str, str | None] = {
        "contest.toml": SHORT.replace('honest = ["one"]', 'honest = ["one", "two"]'),
        "cheats/reads/solution.py": None, "honest/two/solution.py": worse,
    }  # fmt: skip
    proof = prove(loaded(written(tmp_path, changes)))
    assert any("no honest entry is better than honest/one" in text for text in proof.warnings)


def test_the_spy_finds_the_authors_files_where_a_process_has_them(tmp_path: Path) -> None:
    """The control: a judge that shows the submission one folder too many is seen."""

    class Careless(OwnRules):
        def submission(self, folder: Path) -> Computer:
            binds = {"/entry": self.staging.entry, "/somewhere": self.staging.author}
            return Computer(folder, entry="/entry/start.py", limits=self.limits(), binds=binds)

    contest = loaded(written(tmp_path))
    rules = contest.rules
    careless = replace(contest, rules=Careless(rules.settings, rules.staging, rules.packages))
    entry = tmp_path / "honest" / "one"
    name = "nothing sealed is in a submission's process"
    assert dict(leaks.found(contest, entry, []))[name] == ""
    assert "author's files can be read" in dict(leaks.found(careless, entry, []))[name]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"null/solution.py": RIGHT}, "null/: it does nothing of use"),
        ({"measure.py": "def measure(submission, cases):\n    return float('nan')\n"}, "no number"),
        ({"measure.py": "def measure(submission, cases):\n    return 1 / 0\n"}, "ZeroDivision"),
        ({"measure.py": "def measure(submission, cases):\n    return 'x'\n"}, "'x'"),
        ({"contest.toml": SHORT.replace("bound = 2.0", "bound = 0.5")}, "raise `bound`"),
        ({"honest/one/solution.py": "x = 1\n"}, "defines no length"),
    ],
)
def test_what_is_unsound_is_told_before_anything_is_spent(
    changes: dict[str, str | None], told: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=told):
        check_ready(loaded(written(tmp_path, {**FEW, **changes})))
