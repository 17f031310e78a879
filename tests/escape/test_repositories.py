"""Changed files cannot reach the judging of a repository, and unusual right ones pass."""

from collections.abc import Iterator

import pytest
import repository_attacks as attacks
from tests.sampling import quick_ones

from unhack import Pool, Problem, Task, run_batch
from unhack.core.verdict import Verdict
from unhack.sandbox.limits import Limits
from unhack.verifiers.repository import RepositoryVerifier, pack_files
from unhack.verifiers.script import Mode

RIGHT = pack_files({"shop/basket.py": attacks.RIGHT_BODY})
MODES = quick_ones(Mode, [Mode.SEALED])
LIMITS = Limits(wall_s=30, cpu_s=20, memory_bytes=1 << 30, open_files=256)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(slots=1)
    yield made
    made.close()


def judge(pool: Pool, files: dict[str, str | None], mode: Mode) -> Verdict:
    verifier = RepositoryVerifier(
        attacks.TESTS, attacks.BASE, ("shop/",), attacks.EXPECTED, mode, limits=LIMITS
    )
    task = Task(Problem("shop", "", reference=RIGHT), verifier)
    return run_batch(task, [pack_files(files)], backend=pool).verdicts[0]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", attacks.IN_SOURCE)
def test_the_declared_source_cannot_forge_a_pass(pool: Pool, name: str, mode: Mode):
    payload = attacks.IN_SOURCE[name]
    for text in (attacks.WRONG_BODY + payload, payload + attacks.WRONG_BODY):
        verdict = judge(pool, {"shop/basket.py": text}, mode)
        assert verdict.score == 0.0, verdict.reason


@pytest.mark.parametrize(
    "name",
    [
        *quick_ones(attacks.PASS_ANY_TEST[:-1], attacks.PASS_ANY_TEST[:2]),
        pytest.param(attacks.PASS_ANY_TEST[-1], marks=[pytest.mark.slow, pytest.mark.sample]),
    ],
)
def test_what_passes_every_test_passes_its_twins_too(pool: Pool, name: str):
    text = attacks.WRONG_BODY + attacks.IN_SOURCE[name]
    verdict = judge(pool, {"shop/basket.py": text}, Mode.AS_WRITTEN)
    assert verdict.details["accepted_twins"] > 0
    assert "changed expectation" in verdict.reason


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", attacks.FILES)
def test_files_outside_the_declared_folder_reach_nothing(pool: Pool, name: str, mode: Mode):
    files = {**attacks.FILES[name], "shop/basket.py": attacks.WRONG_BODY}
    assert judge(pool, files, mode).score == 0.0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", attacks.INSIDE)
def test_files_inside_the_declared_folder_reach_nothing(pool: Pool, name: str, mode: Mode):
    assert judge(pool, attacks.INSIDE[name], mode).score == 0.0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", attacks.HONEST)
def test_the_fault_may_be_mended(pool: Pool, name: str, mode: Mode):
    verdict = judge(pool, attacks.HONEST[name], mode)
    assert verdict.passed, verdict.reason
