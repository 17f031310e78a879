"""What a sealed test hands over is no way into the judge."""

from collections.abc import Iterator

import handed_attacks as attacks
import pytest
from tests.sampling import quick_ones

from unhack import Pool, Problem, Task, run_batch
from unhack.core.verdict import Seal, Verdict
from unhack.sandbox.limits import Limits
from unhack.verifiers.repository import RepositoryVerifier, pack_files

RIGHT = pack_files({"lib/core.py": attacks.RIGHT_BODY})
LIMITS = Limits(wall_s=6, cpu_s=6, memory_bytes=1 << 30, open_files=256)
QUICK = [name for name in attacks.IN_SOURCE if name not in attacks.SLOW]


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(slots=2)
    yield made
    made.close()


def judge(pool: Pool, text: str) -> Verdict:
    verifier = RepositoryVerifier(
        attacks.TESTS, attacks.BASE, ("lib/",), attacks.EXPECTED, limits=LIMITS
    )
    task = Task(Problem("lib", "", reference=RIGHT), verifier)
    return run_batch(task, [pack_files({"lib/core.py": text})], backend=pool).verdicts[0]


@pytest.mark.parametrize(
    "name",
    [
        *quick_ones(QUICK, QUICK[:4]),
        *(
            pytest.param(name, marks=[pytest.mark.slow, pytest.mark.sample])
            for name in attacks.SLOW
        ),
    ],
)
def test_what_a_solution_is_handed_passes_no_test_for_it(pool: Pool, name: str):
    verdict = judge(pool, attacks.WRONG_BODY + attacks.IN_SOURCE[name])
    assert verdict.score == 0.0, verdict.reason
    assert not any(case.passed for case in verdict.cases), verdict.cases


@pytest.mark.parametrize("name", attacks.HONEST)
def test_a_solution_that_uses_what_it_is_handed_passes(pool: Pool, name: str):
    verdict = judge(pool, attacks.HONEST[name])
    assert verdict.passed, verdict.reason
    assert verdict.seal is Seal.SEALED
