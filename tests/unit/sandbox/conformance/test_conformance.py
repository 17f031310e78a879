"""How a check becomes a result."""

from __future__ import annotations

import pytest

from unhack.sandbox import conformance
from unhack.sandbox.conformance import CheckResult, CheckState, ConformanceCheck, Probe
from unhack.sandbox.conformance.kernel import FORBIDDEN
from unhack.sandbox.conformance.probe import ConformanceError, SkipError, describe, expect, lines
from unhack.sandbox.job import Ending, Isolation, Job, Kind, Outcome


class Silent:
    """A backend that answers each job with one prepared outcome."""

    isolation = Isolation.LANDLOCK
    slots = 1

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome

    def submit(self, job: Job, on_done) -> None:
        on_done(self.outcome)

    def call_soon(self, function) -> None:
        function()

    def close(self) -> None:
        pass


def probe(**outcome) -> Probe:
    return Probe(Silent(Outcome(**{"ending": Ending.EXITED, "exit_code": 0, **outcome})))


def result_of(error: Exception | None) -> CheckResult:
    def test(probe: Probe) -> None:
        if error is not None:
            raise error

    return conformance.run_check(ConformanceCheck("it works", test), probe())


@pytest.mark.parametrize(
    ("error", "state", "reason"),
    [
        (None, CheckState.PASSED, ""),
        (ConformanceError("it does not"), CheckState.FAILED, "it does not"),
        (SkipError("not here"), CheckState.NOT_APPLICABLE, "not here"),
        (KeyError("x"), CheckState.FAILED, "KeyError: 'x'"),
    ],
)
def test_a_check_passes_only_when_it_returns(error, state: CheckState, reason: str) -> None:
    assert result_of(error) == CheckResult("it works", state, reason)


def test_results_are_heard_of_in_order() -> None:
    heard: list[CheckResult] = []
    checks = [ConformanceCheck(name, lambda probe: None) for name in ("first", "second")]
    results = conformance.run_checks(probe().backend, checks, on_result=heard.append)
    assert [result.claim for result in heard] == ["first", "second"]
    assert heard == results


@pytest.mark.parametrize("ending", [Ending.BROKEN, Ending.REFUSED])
def test_a_job_that_did_not_run_meets_no_claim(ending: Ending) -> None:
    with pytest.raises(ConformanceError, match="out of order"):
        probe(ending=ending, error="out of order").ask("def f(): return 1")


def test_an_answer_is_read_from_the_result_lines() -> None:
    assert probe(result=b'[0,"ok",{"$tuple":[1]}]\n').ask("") == (1,)


def test_a_missing_answer_is_told_with_the_outcome() -> None:
    with pytest.raises(ConformanceError, match="signal 11"):
        probe(ending=Ending.SIGNALED, exit_code=None, signal=11).ask("")


def test_kinds_that_the_level_cannot_hold_are_not_tried() -> None:
    landlock = probe()
    assert landlock.kinds() == [Kind.FUNCTION]
    with pytest.raises(SkipError, match="needs namespaces"):
        landlock.require(Kind.PROGRAM)


def test_half_a_line_is_no_result() -> None:
    assert lines(b"[1,2]\n[3,") == [[1, 2]]


def test_a_description_is_never_empty() -> None:
    assert describe(Outcome(Ending.EXITED)) == "exited"
    with pytest.raises(ConformanceError, match="because"):
        expect(False, "because")


def test_forbidden_calls_have_distinct_names_and_numbers() -> None:
    for numbers in ([call.x86_64 for call in FORBIDDEN], [call.aarch64 for call in FORBIDDEN]):
        assert len(set(numbers)) == len(FORBIDDEN)
    assert len({call.name for call in FORBIDDEN}) == len(FORBIDDEN)
