"""Rule 2 and the steps of a verifier, with verifiers that do one odd thing each."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from unhack.core.errors import PoolClosedError, SandboxUnavailableError
from unhack.core.problem import Problem
from unhack.core.verdict import Seal, Status, Verdict
from unhack.sandbox.job import Isolation, Job, Outcome, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.execution.driver import Run
from unhack.tasks.task import Task
from unhack.verifiers.base import HostCall, VerifierFault
from unhack.verifiers.function import Case, FunctionVerifier

PASSED = Verdict(Status.PASSED, 1.0, "fine")
FAILED = Verdict(Status.FAILED, 0.0, "wrong")


class Scripted:
    """Does with each completion what a table says; knows its canary."""

    kind = "scripted"

    def __init__(self, **steps: Callable[[], Any]) -> None:
        self.steps = steps
        self.seen: list[str] = []

    def verify(self, problem: Problem, completion: str) -> Any:
        self.seen.append(completion)
        return self.steps[completion]()

    def canary(self) -> str:
        return "canary"


def says(verdict: Verdict) -> Callable[[], Any]:
    def steps() -> Any:
        return verdict
        yield []

    return steps


def raises(error: Exception) -> Callable[[], Any]:
    def steps() -> Any:
        raise error
        yield []

    return steps


def asks(*requests: Any) -> Callable[[], Any]:
    """Yields requests and passes with what it received as its reason."""

    def steps() -> Any:
        received = []
        for request in requests:
            received.append((yield request))
        return Verdict(Status.PASSED, 1.0, repr(received))

    return steps


@pytest.fixture
def judge(pool: Pool) -> Callable[..., Verdict]:
    def run(verifier: Scripted, completion: str = "it", reference: str | None = None) -> Verdict:
        task = Task(Problem("p", "", reference=reference), verifier)
        return run_batch(task, [completion], backend=pool).verdicts[0]

    return run


class TestControl:
    @pytest.mark.parametrize("error", [VerifierFault("it broke"), KeyError("it broke")])
    def test_a_fault_is_the_completions_when_the_reference_passes(
        self, judge: Callable[..., Verdict], error: Exception
    ) -> None:
        verifier = Scripted(it=raises(error), reference=says(PASSED))
        verdict = judge(verifier, reference="reference")
        assert (verdict.status, verdict.score) == (Status.ERROR, 0.0)
        assert "could not judge it" in verdict.reason
        assert "it broke" in verdict.reason
        assert verifier.seen == ["it", "reference"]

    @pytest.mark.parametrize("control", [says(FAILED), raises(VerifierFault("again"))])
    def test_a_fault_is_ours_when_the_reference_does_not_pass(
        self, judge: Callable[..., Verdict], control: Callable[[], Any]
    ) -> None:
        verifier = Scripted(it=raises(VerifierFault("it broke")), reference=control)
        verdict = judge(verifier, reference="reference")
        assert (verdict.status, verdict.score) == (Status.UNSCORED, None)
        assert "it broke" in verdict.reason

    @pytest.mark.parametrize("control", [says(FAILED), says(PASSED)])
    def test_without_a_reference_any_scored_canary_is_enough(
        self, judge: Callable[..., Verdict], control: Callable[[], Any]
    ) -> None:
        verifier = Scripted(it=raises(VerifierFault("it broke")), canary=control)
        assert judge(verifier).score == 0.0
        assert verifier.seen == ["it", "canary"]

    def test_without_a_reference_a_broken_canary_leaves_it_unscored(
        self, judge: Callable[..., Verdict]
    ) -> None:
        verifier = Scripted(
            it=raises(VerifierFault("it broke")), canary=raises(VerifierFault("me too"))
        )
        verdict = judge(verifier)
        assert verdict.status is Status.UNSCORED
        assert "it broke" in verdict.reason
        assert "me too" in verdict.reason

    def test_a_verdict_is_never_questioned(self, judge: Callable[..., Verdict]) -> None:
        verifier = Scripted(it=says(FAILED), reference=says(PASSED))
        assert judge(verifier, reference="reference") is FAILED
        assert verifier.seen == ["it"]

    def test_an_unscored_verdict_of_a_control_is_no_proof(
        self, judge: Callable[..., Verdict]
    ) -> None:
        from unhack.core.verdict import unscored_verdict

        verifier = Scripted(
            it=raises(VerifierFault("it broke")), canary=says(unscored_verdict("no"))
        )
        assert judge(verifier).status is Status.UNSCORED

    def test_long_reasons_are_cut(self, judge: Callable[..., Verdict]) -> None:
        verifier = Scripted(it=raises(VerifierFault("x" * 10_000)), canary=says(FAILED))
        assert len(judge(verifier).reason) <= 1000

    def test_the_blamed_completion_takes_seal_and_isolation_from_the_control(
        self, judge: Callable[..., Verdict]
    ) -> None:
        control = Verdict(Status.PASSED, 1.0, seal=Seal.AS_WRITTEN, isolation="landlock")
        verifier = Scripted(it=raises(VerifierFault("it broke")), reference=says(control))
        verdict = judge(verifier, reference="reference")
        assert (verdict.seal, verdict.isolation) == (Seal.AS_WRITTEN, "landlock")
        assert (verdict.status, verdict.score) == (Status.ERROR, 0.0)


class TestHostCalls:
    def test_the_value_comes_back_to_the_verifier(self, judge: Callable[..., Verdict]) -> None:
        assert judge(Scripted(it=asks(HostCall(lambda: 6 * 7)))).reason == "[42]"

    def test_it_runs_off_the_thread_of_the_pool(
        self, judge: Callable[..., Verdict], pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        def ask_the_pool() -> str:
            return run_one(pool, calls_job("def f(): return 1")).ending.value

        assert judge(Scripted(it=asks(HostCall(ask_the_pool)))).reason == "['exited']"

    def test_what_it_raises_is_a_fault(self, judge: Callable[..., Verdict]) -> None:
        def fail() -> None:
            raise LookupError("in the callable")

        verifier = Scripted(it=asks(HostCall(fail)), canary=says(FAILED))
        verdict = judge(verifier)
        assert verdict.score == 0.0
        assert "LookupError: in the callable" in verdict.reason

    def test_several_run_at_once(self, pool: Pool) -> None:
        meeting = threading.Barrier(3, timeout=60)
        names = ["a", "b", "c"]
        verifier = Scripted(**{name: asks(HostCall(meeting.wait)) for name in names})
        batch = run_batch(Task(Problem("p", ""), verifier), names, backend=pool)
        assert batch.rewards == (1.0, 1.0, 1.0)


class TestSteps:
    @pytest.mark.slow
    def test_outcomes_come_in_the_order_of_the_jobs(
        self, pool: Pool, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]
    ) -> None:
        slow = calls_job("import time\ndef f(): time.sleep(0.3); return 'slow'")
        quick = calls_job("def f(): return 'quick'")
        found: list[list[Any]] = []

        def steps() -> Any:
            for _ in range(2):
                outcomes = yield [slow, quick, quick]
                found.append([value_of(outcome) for outcome in outcomes])
            return PASSED

        run_batch(Task(Problem("p", ""), Scripted(it=steps)), ["it"], backend=pool)
        assert found == [["slow", "quick", "quick"]] * 2

    def test_a_step_without_jobs_goes_on_at_once(
        self, judge: Callable[..., Verdict], unless_it_hangs: Callable[..., Any]
    ) -> None:
        verdict = unless_it_hangs(lambda: judge(Scripted(it=asks([]))), timeout_s=60)
        assert verdict.reason == "[[]]"

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    @pytest.mark.parametrize(
        "steps",
        [
            pytest.param(lambda: 1 / 0, id="raises before it is a generator"),
            pytest.param(lambda: None, id="is no generator"),
            pytest.param(asks(None), id="asks for nothing"),
            pytest.param(asks("text"), id="asks for a text"),
            pytest.param(asks([None]), id="asks for no job"),
            pytest.param(says("passed"), id="returns no verdict"),  # type: ignore[arg-type]
        ],
    )
    def test_a_verifier_that_breaks_the_protocol_is_a_fault(
        self, steps: Callable[[], Any], unless_it_hangs: Callable[..., Any]
    ) -> None:
        task = Task(Problem("p", ""), Scripted(it=steps, canary=says(FAILED)))
        own_pool = Pool(slots=1)
        try:
            batch = unless_it_hangs(lambda: run_batch(task, ["it"], backend=own_pool), timeout_s=60)
        finally:
            own_pool.close()
        assert isinstance(batch.verdicts[0], Verdict)
        assert batch.rewards == (0.0,)


class TestRunsThatFail:
    def test_a_host_that_cannot_isolate_is_an_error_with_advice(self) -> None:
        verifier = FunctionVerifier("f", (Case((), expected=1),), scratch=True)
        task = Task(Problem("p", ""), verifier)
        with (
            closing(Pool(slots=1, isolation=Isolation.LANDLOCK)) as pool,
            pytest.raises(SandboxUnavailableError, match="unhack doctor"),
        ):
            run_batch(task, ["def f(): return 1"] * 3, backend=pool, dedupe=False)

    def test_after_a_failed_run_the_pool_serves_others(self, calls_job: Callable[..., Job]) -> None:
        cases = (Case((), expected=1),)
        scratch = Task(Problem("p", ""), FunctionVerifier("f", cases, scratch=True))
        plain = Task(Problem("p", ""), FunctionVerifier("f", cases))
        with closing(Pool(slots=1, isolation=Isolation.LANDLOCK)) as pool:
            with pytest.raises(SandboxUnavailableError):
                run_batch(scratch, ["def f(): return 1"], backend=pool)
            assert run_batch(plain, ["def f(): return 1"], backend=pool).rewards == (1.0,)

    @pytest.mark.slow
    def test_a_job_that_the_host_refuses_never_becomes_a_verdict(self, pool: Pool) -> None:
        verifier = FunctionVerifier("f", (Case((), expected=1),), preload=("no_such_module",))
        with pytest.raises(SandboxUnavailableError, match="no_such_module"):
            run_batch(Task(Problem("p", ""), verifier), ["def f(): return 1"], backend=pool)

    def test_a_cancelled_run_gives_no_verdict_and_frees_the_pool(
        self, pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        verifier = FunctionVerifier("f", (Case((), expected=1),), limits=Limits(wall_s=50))
        run = Run(pool)
        task = Task(Problem("p", ""), verifier)
        run.add([(n, task, f"def f():\n    while True: pass  # {n}") for n in range(2)])
        run.cancel()
        run_one(pool, calls_job("def f(): return 1"))
        with contextlib.suppress(PoolClosedError):
            assert run.take(timeout_s=0.2) == []


class TestTakes:
    def test_take_waits_for_as_many_as_were_asked_or_are_open(self, pool: Pool) -> None:
        verifier = Scripted(**{str(n): says(PASSED) for n in range(5)})
        task = Task(Problem("p", ""), verifier)
        run = Run(pool)
        run.add([(n, task, str(n)) for n in range(5)])
        assert run.open == 5
        taken = run.take(at_least=3)
        assert len(taken) >= 3
        while run.open:
            taken += run.take(at_least=100)
        assert sorted(index for index, _ in taken) == list(range(5))

    def test_take_with_nothing_open_comes_back_at_once(self, pool: Pool) -> None:
        assert Run(pool).take() == []

    def test_a_failed_run_raises_at_every_take(self, pool: Pool) -> None:
        run = Run(pool)
        run.fail(PoolClosedError("closed"))
        for _ in range(2):
            with pytest.raises(PoolClosedError):
                run.take()
