"""Result channels that a hostile candidate fills: the lines that the host parses are counted."""

from __future__ import annotations

from typing import Any

import pytest

from unhack.core.problem import Problem
from unhack.core.verdict import Status
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers import jobs
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.jobs import read_claims
from unhack.verifiers.values.compare import Compare

SIZE = 1_000_000
HOSTILE = {
    "blank lines": b"\n",
    "carriage returns": b"\r\n",
    "one letter": b"x\n",
    "open brackets": b"[\n",
    "open braces": b"{\n",
    "empty lists": b"[]\n",
    "lists of an index": b"[0]\n",
    "indices beyond the cases": b'[900,"ok",1]\n',
    "kinds that are not known": b'[0,"what",1]\n',
    "tags that are not known": b'[0,"ok",{"$q":1}]\n',
    "nulls": b"[null]\n",
    "loads that are malformed": b'[null,"load",[]]\n',
    "answers with white space before": b' [0,"ok",1]\n',
    "no newline at all": b"[",
    "negative indices": b'[-1,"ok",1]\n',
    "flags for indices": b'[true,"ok",1]\n',
    "strings": b'"0"\n',
    "numbers": b"0\n",
}


class TestWork:
    @pytest.mark.parametrize("name", HOSTILE)
    @pytest.mark.parametrize("cases", [1, 100])
    def test_a_megabyte_costs_a_line_for_each_case_and_a_few(self, name: str, cases: int) -> None:
        seen: list[bytes] = []
        parse = jobs._parse_line  # pyright: ignore[reportPrivateUsage]

        def count(line: bytes) -> Any:
            seen.append(line)
            return parse(line)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jobs, "_parse_line", count)
            claims = read_claims(HOSTILE[name] * (SIZE // len(HOSTILE[name])), cases)
        assert len(seen) <= cases + jobs.SPARE_LINES
        assert sum(map(len, seen)) <= SIZE
        assert claims.answers == [None] * cases

    def test_answers_behind_a_little_noise_count(self) -> None:
        noise = b"\n\nhello\n[]\n" * 20
        claims = read_claims(noise + b'[0,"ok",5]\n[1,"ok",6]', 2)
        assert [answer.value for answer in claims.answers if answer] == [5, 6]

    @pytest.mark.slow
    def test_a_hundred_thousand_honest_answers_are_all_read(self) -> None:
        data = b"".join(b'[%d,"ok",%d]\n' % (index, index) for index in range(100_000))
        claims = read_claims(data, 100_000)
        assert [answer.value for answer in claims.answers if answer] == list(range(100_000))

    def test_the_lines_of_a_judge_are_all_read(self) -> None:
        data = b'["test",true,1.0,""]\n' * 50_000
        assert len(jobs.result_lines(data)) == 50_000

    def test_lines_are_what_a_reader_of_every_line_finds(self) -> None:
        data = b'[1]\n\n{"a":1}\n[2\n[3]\nnull\n[]\n[[4]]\n"[5]"\n[6]'
        assert jobs.result_lines(data) == [[1], [3], [[4]], [6]]
        assert jobs.result_lines(b"") == []
        assert jobs.result_lines(b"x\n[1]\n") == [[1]]
        assert jobs.result_lines(b"[1]\n[2]\n[3]\n", most=2) == [[1], [2]]


@pytest.mark.parametrize("name", ["blank lines", "one letter", "lists of an index", "nulls"])
@pytest.mark.parametrize("compare", [Compare.EXACT, Compare.EQUAL])
def test_a_completion_that_fills_its_channel_scores_zero(
    pool: Pool, name: str, compare: Compare
) -> None:
    verifier = FunctionVerifier("f", (Case((3,), expected=9),), compare=compare)
    source = (
        f"import os\ndata = {HOSTILE[name]!r} * ({SIZE} // {len(HOSTILE[name])})\n"
        "while data: data = data[os.write(3, data):]\nos._exit(0)\n"
    )
    [verdict] = run_batch(Task(Problem("p", ""), verifier), [source], backend=pool).verdicts
    assert (verdict.score, verdict.status) == (0.0, Status.ERROR)
