"""The parts of a sealed pair that need no process; the pair itself is in test_script and
test_pytest_verifier."""

from __future__ import annotations

import json
import math
import os
from typing import Any

import pytest

from unhack.core.completion import Extraction
from unhack.core.verdict import Seal, Status
from unhack.sandbox.job import Ending, Job, Outcome, Role
from unhack.sandbox.limits import Limits
from unhack.verifiers import sealed
from unhack.verifiers.base import VerifierFault

EXITED = Outcome(Ending.EXITED, exit_code=0)


def pair(
    judge: Outcome = EXITED, candidate: Outcome = EXITED, *lines: list[Any]
) -> sealed.SealedPair:
    return sealed.SealedPair(judge, candidate, list(lines))


class TestModules:
    def test_a_single_file_is_the_code_of_the_completion(self) -> None:
        text = "Here:\n```python\nx = 1\n```\n"
        found = sealed.solution_modules(text, ["solution.py"], Extraction.AUTO)
        assert found == {"solution": "x = 1\n"}

    def test_several_files_are_blocks_that_name_them(self) -> None:
        text = (
            "```python parser.py\na = 1\n```\n"
            "```python\nignored = 1\n```\n"
            "```py main.py\nimport parser\n```\n"
        )
        found = sealed.solution_modules(text, ["parser.py", "main.py"], Extraction.AUTO)
        assert found == {"parser": "a = 1\n", "main": "import parser\n"}

    def test_the_last_block_of_a_name_counts(self) -> None:
        text = "".join(f"```python {name}\nx = {n}\n```\n" for n, name in enumerate("aba"))
        found = sealed.solution_modules(text, ["a", "b"], Extraction.AUTO)
        assert found == {"a": "x = 2\n", "b": "x = 1\n"}

    @pytest.mark.parametrize("text", ["", "no code", "```python parser.py\na = 1\n```\n"])
    def test_a_missing_file_is_nothing(self, text: str) -> None:
        assert sealed.solution_modules(text, ["parser.py", "main.py"], Extraction.AUTO) is None

    def test_a_module_is_named_like_its_file(self) -> None:
        assert sealed.module_name("parser.py") == "parser"
        assert sealed.module_name("py") == "py"


class TestLimits:
    def test_the_judge_has_more_of_everything_than_the_candidate(self) -> None:
        limits = Limits(wall_s=3.0, cpu_s=4.0, memory_bytes=1 << 20)
        judge = sealed.judge_limits(limits)
        assert judge.wall_s > 2 * limits.wall_s
        assert judge.cpu_s > 2 * limits.cpu_s
        assert judge.wall_hard_s == math.inf
        assert 18.0 < sealed.judge_limits(limits.with_(wall_hard_s=9.0)).wall_hard_s < 100.0
        assert judge.memory_bytes >= 1 << 30
        assert sealed.judge_limits(Limits(memory_bytes=1 << 33)).memory_bytes == 1 << 33


class TestPairing:
    def _start(self) -> tuple[Any, list[Job]]:
        steps = sealed.run_pair("script", {}, {"solution": ""}, limits=Limits(), preload=())
        return steps, next(steps)

    def _close(self, jobs: list[Job]) -> None:
        for job in jobs:
            assert job.peer is not None
            os.close(job.peer)

    def test_the_halves_hold_the_two_ends_of_one_socket(self) -> None:
        _, jobs = self._start()
        candidate, judge = jobs
        assert candidate.peer is not None
        assert judge.peer is not None
        os.write(candidate.peer, b"x")
        assert os.read(judge.peer, 1) == b"x"
        assert (candidate.profile.role, judge.profile.role) == (Role.CANDIDATE, Role.JUDGE)
        self._close(jobs)

    def test_the_source_goes_to_the_candidate_only(self) -> None:
        steps = sealed.run_pair(
            "script", {"script": "SCRIPT"}, {"solution": "SOURCE"}, limits=Limits(), preload=()
        )
        candidate, judge = next(steps)
        assert b"SOURCE" in candidate.message
        assert b"SOURCE" not in judge.message
        assert b"SCRIPT" in judge.message
        assert b"SCRIPT" not in candidate.message
        self._close([candidate, judge])

    def test_a_broken_half_is_tried_again_and_then_a_fault(self) -> None:
        steps, jobs = self._start()
        broken = [EXITED, Outcome(Ending.BROKEN)]
        for _ in range(2):
            self._close(jobs)
            jobs = steps.send(broken)
        self._close(jobs)
        with pytest.raises(VerifierFault, match="sandbox failed"):
            steps.send(broken)

    def test_the_first_whole_pair_counts(self) -> None:
        steps, jobs = self._start()
        self._close(jobs)
        jobs = steps.send([Outcome(Ending.BROKEN), EXITED])
        self._close(jobs)
        judge = Outcome(Ending.EXITED, exit_code=0, result=b'[0,true,1.0,""]\n')
        with pytest.raises(StopIteration) as stop:
            steps.send([EXITED, judge])
        assert stop.value.value.lines == [[0, True, 1.0, ""]]


LOAD = b'[null,"load",["ZeroDivisionError"],"division by zero"]\n'
SYNTAX = b'[null,"syntax",["SyntaxError"],"bad"]\n'


class TestJudgement:
    @pytest.mark.parametrize(
        ("candidate", "lines", "status"),
        [
            (EXITED, [[0, True, 1.0, ""]], None),
            (EXITED, [], None),
            (Outcome(Ending.EXITED, exit_code=0, result=LOAD), [], Status.ERROR),
            (Outcome(Ending.EXITED, exit_code=0, result=SYNTAX), [], Status.INVALID),
            (Outcome(Ending.EXITED, exit_code=4), [], Status.ERROR),
            (Outcome(Ending.EXITED, exit_code=4), [[0, True, 1.0, ""]], None),
            (Outcome(Ending.LIMIT, limit="wall"), [[None, "raised", "x"]], Status.TIMEOUT),
            (Outcome(Ending.LIMIT, limit="memory"), [], Status.LIMIT),
            (Outcome(Ending.LIMIT, limit="wall"), [[0, True, 1.0, ""]], None),
            (Outcome(Ending.SIGNALED, signal=11), [], Status.ERROR),
            (Outcome(Ending.STOPPED), [], None),  # its judge ended, and nobody wanted it any more
        ],
    )
    def test_a_candidate_that_ended_early_is_judged_for_it_unless_a_score_is_there(
        self, candidate: Outcome, lines: list[list[Any]], status: Status | None
    ) -> None:
        found = sealed.candidate_failure(pair(EXITED, candidate, *lines))
        assert (found[0] if found else None) is status

    def test_a_line_without_a_name_is_a_fault_of_the_script(self) -> None:
        with pytest.raises(VerifierFault, match="raised: KeyError"):
            sealed.read_judge_lines(pair(EXITED, EXITED, [None, "raised", "KeyError"]), sealed=True)

    def test_a_judge_without_lines_is_a_fault_where_it_is_sealed(self) -> None:
        timed_out = Outcome(Ending.LIMIT, limit="wall")
        with pytest.raises(VerifierFault, match="wall time limit"):
            sealed.read_judge_lines(pair(timed_out), sealed=True)
        with pytest.raises(VerifierFault, match="no result"):
            sealed.read_judge_lines(pair(), sealed=True)

    def test_as_written_a_limit_is_the_completions_own(self) -> None:
        timed_out = Outcome(Ending.LIMIT, limit="wall")
        assert sealed.read_judge_lines(pair(timed_out), sealed=False) == []
        with pytest.raises(VerifierFault):
            sealed.read_judge_lines(pair(), sealed=False)

    def test_only_a_full_score_passes(self) -> None:
        assert sealed.conclude(pair(), 1.0, "", seal=Seal.SEALED).passed
        verdict = sealed.conclude(pair(), 0.99, "almost", seal=Seal.AS_WRITTEN)
        assert (verdict.status, verdict.reason) == (Status.FAILED, "almost")
        assert verdict.seal is Seal.AS_WRITTEN

    def test_a_candidate_that_hit_a_limit_and_failed_is_shown_as_such(self) -> None:
        candidate = Outcome(Ending.LIMIT, limit="wall", wall_s=3.0)
        verdict = sealed.conclude(pair(EXITED, candidate), 0.0, "wrong", seal=Seal.SEALED)
        assert (verdict.status, verdict.score) == (Status.TIMEOUT, 0.0)
        assert verdict.usage.wall_s == 3.0


class TestPatience:
    """The two halves are played: the judge gives up on the first candidate."""

    LATE = Outcome(Ending.EXITED, exit_code=0, result=b'[null,"timeout"]\n')
    DONE = Outcome(Ending.EXITED, exit_code=0, result=b'["script",true,1.0,""]\n')

    def pairs(self, candidates: list[Outcome], judges: list[Outcome]) -> tuple[list[Any], Any]:
        """(messages of the judges, what is believed at the end)."""
        limits = Limits(wall_s=3.0, cpu_s=4.0)
        run = sealed.run_pair("script", {}, {"solution": ""}, limits=limits, preload=())
        asked, seen = [next(run)], None
        for candidate, judge in zip(candidates, judges, strict=True):
            try:
                asked.append(run.send([candidate, judge]))
            except StopIteration as stop:
                seen = stop.value
        for job in [job for pair in asked for job in pair]:
            assert job.peer is not None
            os.close(job.peer)
        return asked, seen

    def test_a_candidate_that_had_no_core_is_waited_for_longer(self) -> None:
        starved = Outcome(Ending.STOPPED, patience=8.0)
        asked, seen = self.pairs([starved, Outcome(Ending.EXITED)], [self.LATE, self.DONE])
        first, second = (json.loads(judge.message) for _, judge in asked)
        assert (first["wait_s"], second["wait_s"]) == (3.0, 24.0)
        assert [candidate.limits.cpu_s for candidate, _ in asked] == [4.0, 4.0]
        assert asked[1][1].limits.wall_s > 24.0
        assert not seen.timed_out

    def test_it_is_believed_the_second_time(self) -> None:
        starved = Outcome(Ending.STOPPED, patience=20.0)
        asked, seen = self.pairs([starved, starved], [self.LATE, self.LATE])
        assert len(asked) == 2
        assert json.loads(asked[1][1].message)["wait_s"] == 60.0
        assert seen.timed_out

    def test_a_candidate_that_had_its_core_was_late_by_itself(self) -> None:
        asked, seen = self.pairs([Outcome(Ending.STOPPED)], [self.LATE])
        assert len(asked) == 1
        assert seen.timed_out
