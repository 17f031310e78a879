"""No completion passes a suite by what it says about its objects, and honest classes do pass.

Each attack is judged by several bodies of a test at once (`attacks.SUITES`, one test each, so that
one verdict tells all of them): every test must fail, under both ways to import. The honest half is
`honest_classes`: a right solution passes, its wrong twin does not.
"""

from collections.abc import Iterator

import pytest
from objects import attacks, honest_classes

from unhack import Limits, Pool, Problem, PytestVerifier, Task, Verdict, run_batch

pytestmark = pytest.mark.slow

LIMITS = Limits(wall_s=20.0, cpu_s=20.0)
SAMPLED = 9
"""The default tests run one attack and one honest suite in so many."""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(slots=1)
    yield made
    made.close()


_SLOW = (pytest.mark.slow, pytest.mark.sample)


def sampled(names: list[str]) -> list[object]:
    """All of them; those beside the sample are slow."""
    return [
        pytest.param(name, marks=_SLOW[: min(place % SAMPLED, 1) + (place == 1)])
        for place, name in enumerate(names)
    ]


def judge(pool: Pool, verifier: PytestVerifier, completion: str, reference: str) -> Verdict:
    """The verdict on one completion."""
    task = Task(Problem("objects", "", reference=reference), verifier)
    return run_batch(task, [completion], backend=pool).verdicts[0]


def suite(head: str) -> PytestVerifier:
    """Every body as a test of its own; credit for each."""
    tests = "".join(f"def test_{n}():\n    {body}\n" for n, body in attacks.SUITES.items())
    return PytestVerifier({"test_a.py": head + tests}, partial_credit=True, limits=LIMITS)


@pytest.mark.parametrize("head", attacks.HEADS, ids=["named", "starred"])
def test_the_right_solution_passes_every_body(pool: Pool, head: str) -> None:
    assert judge(pool, suite(head), attacks.RIGHT, attacks.RIGHT).passed


@pytest.mark.parametrize("name", sampled([*attacks.WIRE, *attacks.OBJECTS]))
def test_no_lie_in_the_protocol_passes_a_test(pool: Pool, name: str) -> None:
    source = {**attacks.WIRE, **attacks.OBJECTS}[name]
    assert attacks.HEADS
    for head in attacks.HEADS:
        verdict = judge(pool, suite(head), source, attacks.RIGHT)
        assert verdict.score == 0.0, (head, verdict)


@pytest.mark.parametrize("name", sampled(list(honest_classes.SUITES)))
def test_an_honest_class_passes_and_its_wrong_twin_does_not(pool: Pool, name: str) -> None:
    case = honest_classes.SUITES[name]
    verifier = PytestVerifier({"test_it.py": case.tests}, objects=case.objects, limits=LIMITS)
    right = judge(pool, verifier, case.right, case.right)
    assert right.passed, right
    wrong = judge(pool, verifier, case.wrong, case.right)
    assert wrong.score == 0.0, wrong
