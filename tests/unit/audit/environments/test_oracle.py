"""The oracle sees behaviour through tests with rows and fixtures too."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from tests.sampling import quick_ones

from unhack.audit.environments.attack import declared_files
from unhack.audit.environments.oracle import BehaviourOracle
from unhack.audit.environments.probes import probes_of
from unhack.core.finding import Evidence
from unhack.environments.task import RepositoryTask
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack_verifier_bench.environments.tasks import SHAPES

FILE = "tests/test_hidden.py"
HEAD = "import pytest\nfrom shapes import area, describe, scaled\n\n\n"
TESTS = {
    "rows": "@pytest.mark.parametrize(('a', 'b', 'out'), [(3, 5, 15), (2, 9, 18)],\n"
    "                         ids=['x', 'y'])\n"
    "def test_area(a, b, out):\n    assert area(a, b) == out\n",
    "two marks": "@pytest.mark.parametrize('a', [3, 5])\n@pytest.mark.parametrize('b', [4])\n"
    "def test_area(a, b):\n    assert area(a, b) == a * b\n",
    "parameter sets": "@pytest.mark.parametrize('a', [pytest.param(3, id='three'), 5])\n"
    "def test_area(a):\n    assert area(a, 5) == 5 * a\n",
    "fixture": "@pytest.fixture\ndef sides():\n    return [1, 5]\n\n\n"
    "def test_scaled(sides):\n    assert scaled(sides, 3) == [3, 15]\n",
    "fixtures of fixtures": "@pytest.fixture(scope='module')\ndef side():\n    return 4\n\n\n"
    "@pytest.fixture\ndef sides(side):\n    yield [side, 5]\n\n\n"
    "def test_scaled(sides, side):\n    assert scaled(sides, side) == [16, 20]\n",
    "a folder": "def test_written(tmp_path):\n    (tmp_path / 'a').write_text(str(area(3, 5)))\n"
    "    assert (tmp_path / 'a').read_text() == '15'\n",
    "bounds": "def test_area():\n    assert 1 < area(3, 5) < 99\n",
    "a constant first": "def test_area():\n    assert 15 == area(3, 5)\n",
    "a method": "class TestShapes:\n    @pytest.mark.parametrize('a', [3])\n"
    "    def test_area(self, a):\n        assert area(a, 5) == 15\n",
    "conftest": "def test_told(told):\n    assert area(told, 5) == 15\n",
    "a row that raises": "@pytest.mark.parametrize('a', [None, 3])\ndef test_area(a):\n"
    "    assert area(a, 5) == 15\n",
}
CONFTEST = "import pytest\n\n\n@pytest.fixture()\ndef told():\n    return 3\n"
PASSED_OVER = {
    "other fixtures": "def test_out(capsys):\n    assert area(3, 5) == 15\n",
    "parameters of fixtures": "@pytest.fixture(params=[1, 2])\ndef one(request):\n"
    "    return request.param\n\n\ndef test_area(one):\n    assert area(one, 1) == one\n",
    "a circle": "@pytest.fixture\ndef a(b):\n    return b\n\n\n@pytest.fixture\ndef b(a):\n"
    "    return a\n\n\ndef test_area(a):\n    assert area(a, 1) == a\n",
    "skipped": "@pytest.mark.skip\ndef test_area():\n    assert area(3, 5) == 15\n",
    "rows by name": "@pytest.mark.parametrize(NAMES, [3])\ndef test_area(a):\n    assert a\n",
}


def task(test: str) -> RepositoryTask:
    """The sound task with one hidden test, and nothing shown that an oracle could use."""
    files = {path: data for path, data in SHAPES.files.items() if not path.startswith("tests/")}
    return replace(
        SHAPES,
        statement="Areas come out wrong.",
        files=files,
        tests={FILE: HEAD + test, "tests/conftest.py": CONFTEST},
        fail_to_pass=(f"{FILE}::test_it",),
        pass_to_pass=(),
    )


async def words(made: RepositoryTask) -> tuple[Evidence | None, Evidence | None]:
    """The oracle on the reference and on the start."""
    commands = CommandPool(slots=1)
    try:
        oracle = BehaviourOracle(made, commands)
        start = {path: data for path, data in made.files.items() if made.may_change(path)}
        right = await oracle.why_wrong(declared_files(made, made.reference))
        return right, await oracle.why_wrong(start)
    finally:
        commands.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", quick_ones(TESTS, ("rows", "fixtures of fixtures", "a method")))
def test_a_fault_is_seen_through_rows_and_fixtures(name: str) -> None:
    right, wrong = asyncio.run(words(task(TESTS[name])))
    assert right is None
    assert wrong is not None
    assert wrong.expected != wrong.obtained


@pytest.mark.slow
def test_an_oracle_without_a_trace_of_the_reference_says_that_it_is_undecided() -> None:
    async def ask(made: RepositoryTask, preload: tuple[str, ...]) -> BehaviourOracle:
        async with CommandPool(slots=1, preload=preload) as commands:
            oracle = BehaviourOracle(made, commands)
            assert await oracle.why_wrong({}) is None
            return oracle

    blind = asyncio.run(ask(task(TESTS["rows"]), ()))  # where `import pytest` finds nothing
    assert "ModuleNotFoundError" in blind.undecided
    assert blind.unjudged == 1
    ends = replace(task(TESTS["rows"]), reference={"src/shapes/core.py": "raise SystemExit('no')"})
    assert "no trace of the reference" in asyncio.run(ask(ends, ("pytest",))).undecided
    aimless = task(PASSED_OVER["skipped"])
    assert "no test looks" in asyncio.run(ask(aimless, ("pytest",))).undecided


@pytest.mark.parametrize("name", PASSED_OVER)
def test_what_is_not_known_here_is_passed_over(name: str) -> None:
    assert not list(probes_of(task(PASSED_OVER[name])))


def test_another_seed_gives_other_inputs() -> None:
    made = task(TESTS["rows"])
    sources = [[one.source for one in probes_of(made, seed=seed)] for seed in (1, 2)]
    assert sources[0][0] == sources[1][0]
    assert sources[0][1:] != sources[1][1:]
