"""Right programs in every style are judged as plain CPython judges them, and so are wrong ones."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from unhack import Case, FunctionVerifier, Problem, StdioVerifier, Task, run_batch
from unhack.core.completion import Extraction
from unhack.sandbox.pool.pool import Pool
from unhack.verifiers.stdio import StdioCase, StdioCompare

from .plain import accepts, run_program

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
SAMPLE = 36
"""Programs of the run by default, half of them right."""


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


CORPUS = [item for path in sorted((HERE / "programs").glob("*.jsonl")) for item in read_lines(path)]
PROBES = read_lines(HERE / "probes.jsonl")


def expected_of(case: dict[str, Any]) -> Any:
    """The expected value, of a type that JSON lacks where the case says so."""
    if "expected_py" not in case:
        return case["expected"]
    return eval(case["expected_py"], {"inf": math.inf, "nan": math.nan})


def task_of(item: dict[str, Any]) -> Task:
    """The task that an entry of the corpus is about."""
    if item["kind"] == "function":
        cases = tuple(
            Case(tuple(case.get("args", ())), case.get("kwargs", {}), expected_of(case))
            for case in item["cases"]
        )
        verifier: Any = FunctionVerifier(item["entry"], cases, extraction=Extraction.RAW)
    else:
        verifier = StdioVerifier(
            tuple(StdioCase(case["stdin"], case["stdout"]) for case in item["cases"]),
            extraction=Extraction.RAW,
        )
    return Task(Problem(item["id"], ""), verifier)


def programs(items: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """(name, entry, source) of every program, right ones and wrong ones."""
    for item in items:
        yield f"{item['id']} right", item, item["source"]
        for number, (old, new) in enumerate(item["wrong"]):
            assert item["source"].count(old) == 1
            yield f"{item['id']} wrong {number}", item, item["source"].replace(old, new)


def differences(chosen: list[tuple[str, dict[str, Any], str]], pool: Pool) -> list[str]:
    """Programs that the two judge differently."""
    tasks = {item["id"]: task_of(item) for _, item, _ in chosen}
    verdicts = run_batch(
        [tasks[item["id"]] for _, item, _ in chosen],
        [source for _, _, source in chosen],
        backend=pool,
    ).verdicts
    return [
        f"{name}: plain {plain}, sealed {verdict.score} ({verdict.reason})"
        for (name, item, source), verdict in zip(chosen, verdicts, strict=True)
        if (verdict.score == 1.0) is not (plain := accepts(item, source))
    ]


def test_a_sample_is_judged_as_plain_python_judges_it(pool: Pool) -> None:
    every = list(programs(CORPUS))
    draw = random.Random(14)
    right = [row for row in every if row[0].endswith("right")]
    wrong = [row for row in every if not row[0].endswith("right")]
    chosen = draw.sample(right, SAMPLE // 2) + draw.sample(wrong, SAMPLE // 2)
    assert differences(chosen, pool) == []


@pytest.mark.slow
def test_every_program_is_judged_as_plain_python_judges_it(pool: Pool) -> None:
    assert differences(list(programs(CORPUS)), pool) == []


def test_the_corpus_is_as_large_and_as_varied_as_it_says() -> None:
    every = list(programs(CORPUS))
    assert len({name for name, _, _ in every}) == len(every)
    assert sum(name.endswith("right") for name, _, _ in every) >= 300
    assert sum(not name.endswith("right") for name, _, _ in every) >= 300
    assert len(Counter(item["style"] for item in CORPUS)) >= 8


def _probed(probes: list[dict[str, Any]], pool: Pool) -> list[str]:
    """Probes whose output differs, to the byte, from that of plain Python."""
    plain = [run_program(probe["source"], probe["stdin"]) for probe in probes]
    tasks = [
        Task(
            Problem(probe["id"], ""),
            StdioVerifier(
                (StdioCase(probe["stdin"], output.decode("utf-8", "surrogateescape")),),
                compare=StdioCompare.EXACT,
                extraction=Extraction.RAW,
            ),
        )
        for probe, (_, output) in zip(probes, plain, strict=True)
    ]
    verdicts = run_batch(tasks, [probe["source"] for probe in probes], backend=pool).verdicts
    return [
        f"{probe['id']}: plain exit code {code}, sealed {verdict.score} ({verdict.reason})"
        for probe, (code, _), verdict in zip(probes, plain, verdicts, strict=True)
        if (verdict.score == 1.0) is not (code == 0)
    ]


def test_a_sample_of_probes_prints_what_plain_python_prints(pool: Pool) -> None:
    assert _probed(PROBES[::4], pool) == []


@pytest.mark.sample
@pytest.mark.slow
def test_every_probe_prints_what_plain_python_prints(pool: Pool) -> None:
    assert _probed(PROBES, pool) == []
