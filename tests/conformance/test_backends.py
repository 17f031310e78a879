"""Every backend keeps every promise, as root and as an ordinary user."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox import conformance
from unhack.sandbox.conformance import CHECKS, CheckState, ConformanceCheck, Probe
from unhack.sandbox.job import Isolation
from unhack.sandbox.pool.pool import Pool

LEVELS = ["namespaces", "landlock"]
ONLY_WITH_NAMESPACES = 16
"""Claims about files and programs, which the level `landlock` refuses to run."""


@pytest.fixture(scope="module", params=LEVELS)
def probe(request: pytest.FixtureRequest) -> Generator[Probe]:
    tested = Pool(slots=2, isolation=Isolation(request.param))
    yield Probe(tested)
    tested.close()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.claim)
def test_a_backend_meets_the_claim(probe: Probe, check: ConformanceCheck) -> None:
    result = conformance.run_check(check, probe)
    assert result.state is not CheckState.FAILED, result.reason
    if probe.backend.isolation is not Isolation.LANDLOCK:
        assert result.state is CheckState.PASSED, result.reason


def test_every_claim_is_made_once() -> None:
    claims = [check.claim for check in CHECKS]
    assert len(set(claims)) == len(claims) >= 40


@pytest.mark.parametrize(
    "level",
    [
        "landlock",
        pytest.param("namespaces", marks=[pytest.mark.slow, pytest.mark.sample]),
    ],
)
def test_a_backend_meets_every_claim_as_a_process_of_its_own(examine, uid, level: str) -> None:
    results = examine("checks", level, uid=uid)
    failed = [(claim, reason) for claim, state, reason in results if state == CheckState.FAILED]
    assert not failed
    passed = sum(state == CheckState.PASSED for _, state, _ in results)
    skipped = len(CHECKS) - passed
    assert skipped == 0 if level != "landlock" else skipped <= ONLY_WITH_NAMESPACES


# What the checks see of a pool without any layer, whoever runs it. The others may pass there:
# they are about what jobs get, limits that every level has, or what the kernel denies anyone.
SEEN_THROUGH = {
    "no host file can be read",
    "nothing of /proc and /sys can be read",
    "function jobs cannot start a process",
    "no network and no socket of the host can be reached",
    "memory that was written cannot be executed by function jobs",
    "the filter denies mount",
    "the filter denies unshare",
    "the filter denies bpf",
    "the filter denies keyctl",
    "the filter denies perf_event_open",
    "the filter denies personality",
    "the filter denies socket",
    "the filter denies every other forbidden call",
}


@pytest.mark.slow
def test_the_checks_see_that_nothing_is_sealed() -> None:
    pool = Pool(slots=1, isolation=Isolation.NONE)
    try:
        harmless = [check for check in CHECKS if check.harmless and check.claim in SEEN_THROUGH]
        results = conformance.run_checks(pool, harmless)
    finally:
        pool.close()
    assert {result.claim for result in results if result.state is CheckState.FAILED} == SEEN_THROUGH


def test_a_backend_that_breaks_fails_its_checks() -> None:
    class Broken:
        isolation = Isolation.NAMESPACES
        slots = 1

        def submit(self, job: object, on_done: object) -> None:
            raise SandboxUnavailableError("nothing works here")

    results = conformance.run_checks(Broken(), CHECKS[:3])  # type: ignore[arg-type]
    assert [result.state for result in results] == [CheckState.FAILED] * 3
    assert "nothing works here" in results[0].reason
