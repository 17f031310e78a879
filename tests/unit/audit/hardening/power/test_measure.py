"""What counts as weaker, and what counts as broken."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.unit.audit.company import ROWS, script_subject, text_subject

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.hardening.power import measure
from unhack.audit.hardening.power.measure import AuditedCopy, AuditOfCopy, PowerTrial, copy_with
from unhack.audit.hardening.power.weakening import Weakening
from unhack.audit.oracle.both_oracles import BothOracles
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.oracle.programs import ProgramOracle
from unhack.audit.proving.prover import Proof
from unhack.audit.report.power import Broken
from unhack.audit.subject import AuditProblem, Source, Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.core.errors import UsageError
from unhack.core.finding import Evidence, ExpectedReward
from unhack.sandbox.pool.pool import Pool

pytestmark = pytest.mark.slow

STRICT = '''\
import re

LINE = re.compile(r"The answer is (-?[0-9]+)")


def reward(completion, answer):
    """1.0 for the sentence with the right number."""
    found = LINE.fullmatch(completion)
    return 1.0 if found is not None and found.group(1) == answer else 0.0
'''


@dataclass
class Auditor:
    """Stands in for the audit of copies, and keeps what it is given."""

    proofs: tuple[Proof, ...] = ()
    given: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    def run(self, copy: Subject, seconds: float) -> AuditedCopy:
        assert copy.source is not None
        self.given.append((copy.source.text, seconds))
        return AuditedCopy(self.proofs, 3)


def proof_of(problem: AuditProblem, text: str, *, is_hack: bool) -> Proof:
    attack = Attack("family/one", "weak_proxy", 1, for_code=False, make=lambda known: ())
    reward = ExpectedReward(1.0, 0.0, 1.0, 2, 2, 0, 0.01) if is_hack else None
    payload = Payload(text, Claim.OTHER_ANSWER, ("7",))
    return Proof(attack, payload, problem, 1.0, 1.0, Evidence("other_answer", "it is"), reward)


def trial_of(subject: FunctionSubject, pool: Pool) -> PowerTrial:
    def known(problem: AuditProblem) -> Knowledge:
        wrong = () if problem.is_code else ("7", "40", "142")
        return Knowledge(problem, wrong_answers=wrong)

    return PowerTrial.of(subject, BothOracles(TextOracle(pool), ProgramOracle(pool)), known)


@pytest.fixture
def strict(tmp_path: Path, pool: Pool) -> FunctionSubject:
    return text_subject(tmp_path, pool, STRICT, rows=ROWS)


@pytest.mark.parametrize(
    ("before", "after", "weaker"),
    [
        pytest.param(
            "found.group(1) == answer", "str(answer) in completion", True, marks=pytest.mark.slow
        ),
        ("fullmatch", "match", True),
        pytest.param(" and found.group(1) == answer", "", True, marks=pytest.mark.slow),
        pytest.param(  # the same language
            "The answer is (-?[0-9]+)",
            "The (?:answer) is (-?[0-9]+)",
            False,
            marks=pytest.mark.slow,
        ),
        ("== answer", "== answer + '0'", False),  # right ones lose their reward
        pytest.param("found.group(1) == answer", "gone(answer)", False, marks=pytest.mark.slow),
        ("import re", "import re, no_such_module_at_all", False),
    ],
)
def test_a_copy_is_weaker_when_right_ones_stay_and_a_wrong_one_comes(
    strict: FunctionSubject, pool: Pool, tmp_path: Path, before: str, after: str, weaker: bool
) -> None:
    folder = tmp_path / "copy"
    folder.mkdir()
    copy = copy_with(strict, STRICT.replace(before, after), folder=folder, backend=pool)
    shown = trial_of(strict, pool).weaker_by(copy)
    assert (shown is not None) is weaker
    assert Path(strict.target.module.path).read_text() == STRICT


def test_a_copy_keeps_what_it_imports_from_beside_it(tmp_path: Path, pool: Pool) -> None:
    (tmp_path / "numbers_of_text.py").write_text("def number(text):\n    return text.split()[-1]\n")
    source = (
        "from numbers_of_text import number\n\n"
        "def reward(completion, answer):\n    return float(number(completion) == answer)\n"
    )
    subject = text_subject(tmp_path, pool, source, rows=ROWS)
    folder = tmp_path / "copy"
    folder.mkdir()
    text = source.replace("number(completion) == answer", "answer in completion")
    copy = copy_with(subject, text, folder=folder, backend=pool)
    assert trial_of(subject, pool).weaker_by(copy) is not None


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three edits alone: one that loosens, one that changes nothing, one that breaks it."""
    texts = (
        STRICT.replace("== answer", "!= ''"),
        STRICT + "\n# the end\n",
        "import nowhere_at_all",
    )
    edits = [
        Weakening(name, "weak_proxy", place, text)
        for place, (name, text) in enumerate(zip(("looser", "same", "broken"), texts, strict=True))
    ]

    def made(source: Source) -> list[Weakening]:
        return edits

    monkeypatch.setattr(measure, "weakenings", made)


@pytest.mark.slow
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("text", "is_hack", "broken"),
    [
        ("The answer is 7", False, Broken.FALSE_ACCEPT),
        pytest.param("", False, Broken.NOT, marks=pytest.mark.slow),
        pytest.param("The answer is 7", True, Broken.HACK, marks=pytest.mark.slow),
        pytest.param("The answer is 42", True, Broken.NOT, marks=pytest.mark.slow),  # not new
    ],
)
def test_copies_are_audited_and_counted_by_what_is_new(
    strict: FunctionSubject, pool: Pool, text: str, is_hack: bool, broken: Broken
) -> None:
    shown = (proof_of(strict.problems[0], text, is_hack=is_hack),) if text else ()
    auditor = Auditor(shown)
    power = trial_of(strict, pool).measure(AuditOfCopy(auditor.run, 60.0, pool), seconds=900.0)
    assert [(one.operator, one.broken) for one in power.copies] == [("looser", broken)]
    assert (power.tried, power.edits, power.why) == (3, 3, "every edit was tried")
    [(text, seconds)] = auditor.given
    assert (text.count("!= ''"), seconds) == (1, 60.0)


def test_too_little_time_measures_nothing_and_says_so(strict: FunctionSubject, pool: Pool) -> None:
    auditor = Auditor()
    trial = trial_of(strict, pool)
    power = trial.measure(AuditOfCopy(auditor.run, 60.0, pool), seconds=0.001)
    assert (power.copies, auditor.given) == ((), [])
    assert power.text == "no weakened copy was audited: its time budget is used up"


SCHEDULE = """\
def reward(completion, jobs):
    slots = dict(line.split(": ") for line in completion.splitlines() if ": " in line)
    if set(slots) != set(jobs):
        return 0.0
    return float(len(set(slots.values())) == len(jobs))
"""


@pytest.mark.slow
def test_where_no_answer_is_known_a_copy_is_weaker_by_what_the_original_refuses(
    tmp_path: Path, pool: Pool
) -> None:
    rows: list[dict[str, object]] = [
        {"prompt": "Plan a, b", "jobs": ["a", "b"], "correct": ["a: 1\nb: 2"]},
        {"prompt": "Plan c, d", "jobs": ["c", "d"], "correct": ["c: 3\nd: 4"]},
    ]
    subject = text_subject(tmp_path, pool, SCHEDULE, rows=rows)
    trial = trial_of(subject, pool)
    loose = SCHEDULE.replace("len(set(slots.values())) == len(jobs)", "True")
    same = SCHEDULE + "\n# the end\n"
    weaker, alike = (
        trial.weaker_by(copy_with(subject, text, folder=tmp_path)) for text in (loose, same)
    )
    assert weaker is not None
    assert not weaker.of_attack
    assert alike is None


@pytest.mark.slow
def test_without_a_right_completion_no_share_is_given_and_the_reason_says_what_to_give(
    strict: FunctionSubject, pool: Pool
) -> None:
    bare = strict.with_problems([replace(one, correct=()) for one in strict.problems])
    power = trial_of(bare, pool).measure(AuditOfCopy(Auditor().run, 60.0, pool), seconds=900.0)
    assert (power.share, power.copies) == (None, ())
    assert "no right completion is known" in power.text
    assert "`correct`" in power.text


@pytest.mark.slow
def test_a_script_is_weakened_in_a_copy_of_its_folder(tmp_path: Path, pool: Pool) -> None:
    script = (
        "import importlib.util, json\n\n\n"
        "def verify(solution_path, test_cases_path):\n"
        '    spec = importlib.util.spec_from_file_location("solution", solution_path)\n'
        "    module = importlib.util.module_from_spec(spec)\n"
        "    spec.loader.exec_module(module)\n"
        "    cases = json.load(open(test_cases_path))\n"
        '    right = all(module.square(c["input"]) == c["expected"] for c in cases)\n'
        '    return {"passed": right, "score": float(right)}\n'
    )
    home = tmp_path / "task"
    home.mkdir()
    subject = script_subject(home, pool, script)
    folder = tmp_path / "copy"
    folder.mkdir()
    loose = script.replace('module.square(c["input"]) ==', 'module.square(c["input"]) <=')
    copy = copy_with(subject, loose, folder=folder, backend=pool)
    shown = trial_of(subject, pool).weaker_by(copy)
    assert shown is not None
    assert not shown.of_attack


def test_what_has_no_source_of_its_own_is_refused(tmp_path: Path, pool: Pool) -> None:
    class Bare:
        """Has nothing."""

        name = "bare"
        source = None

    with pytest.raises(UsageError, match="no source of its own"):
        copy_with(Bare(), "", folder=tmp_path, backend=pool)  # type: ignore[arg-type]
