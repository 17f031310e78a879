from __future__ import annotations

import pytest

from unhack import run_batch
from unhack.core.completion import MAX_CHARS
from unhack.core.problem import Problem
from unhack.core.verdict import Seal, Status
from unhack.sandbox.job import Ending, Outcome
from unhack.tasks.task import Task
from unhack.verifiers.base import VerifierFault, invalid_verdict
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.jobs import bad_ending, require_sandbox, usage_of


class TestOutcomes:
    def test_a_broken_sandbox_is_a_fault_of_the_verifier(self) -> None:
        with pytest.raises(VerifierFault, match="its worker died"):
            require_sandbox(Outcome(Ending.BROKEN, error="its worker died"))

    def test_every_other_end_is_no_fault(self) -> None:
        faults: list[Ending] = []
        for ending in Ending:
            try:
                require_sandbox(Outcome(ending))
            except VerifierFault:
                faults.append(ending)
        assert faults == [Ending.BROKEN]

    def test_a_limit_says_why_there_was_no_second_run(self) -> None:
        found = bad_ending(Outcome(Ending.LIMIT, limit="cpu", error="no time was left"))
        assert found == (Status.TIMEOUT, "cpu time limit reached: no time was left")

    @pytest.mark.parametrize(
        ("limit", "status"),
        [
            ("wall", Status.TIMEOUT),
            ("cpu", Status.TIMEOUT),
            ("memory", Status.LIMIT),
            ("output", Status.LIMIT),
            ("file", Status.LIMIT),
        ],
    )
    def test_each_limit_has_its_status_and_is_named(self, limit: str, status: Status) -> None:
        found = bad_ending(Outcome(Ending.LIMIT, limit=limit))
        assert found is not None
        assert found[0] is status
        assert limit in found[1]

    def test_a_signal_is_an_error_that_names_it(self) -> None:
        assert bad_ending(Outcome(Ending.SIGNALED, signal=11)) == (
            Status.ERROR,
            "ended by signal 11",
        )

    @pytest.mark.parametrize("ending", [Ending.EXITED, Ending.STOPPED])
    def test_an_end_of_its_own_is_not_bad(self, ending: Ending) -> None:
        assert bad_ending(Outcome(ending, exit_code=1)) is None

    def test_use_adds_times_and_takes_the_largest_memory(self) -> None:
        first = Outcome(Ending.EXITED, wall_s=1.0, cpu_s=0.5, max_rss_bytes=10)
        second = Outcome(Ending.EXITED, wall_s=2.0, cpu_s=0.25, max_rss_bytes=30)
        usage = usage_of(first, second)
        assert (usage.wall_s, usage.cpu_s, usage.max_rss_bytes) == (3.0, 0.75, 30)
        assert usage_of().max_rss_bytes == 0

    def test_an_invalid_completion_scores_zero_under_its_seal(self) -> None:
        verdict = invalid_verdict("no code", seal=Seal.AS_WRITTEN)
        assert (verdict.status, verdict.score, verdict.seal) == (
            Status.INVALID,
            0.0,
            Seal.AS_WRITTEN,
        )


def test_a_text_that_is_too_long_to_look_through_is_told_so() -> None:
    code = "```python\ndef f():\n    return 1\n```\n"
    task = Task(Problem("f", ""), FunctionVerifier("f", (Case((), expected=1),)))
    fits, over = (code + " " * (MAX_CHARS + more - len(code)) for more in (0, 1))
    batch = run_batch(task, [fits, over])
    assert batch.rewards == (1.0, 0.0)
    assert batch.verdicts[1].status is Status.INVALID
    assert str(MAX_CHARS) in batch.verdicts[1].reason
