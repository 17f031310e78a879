"""An agent's commands, `test` and the judge find the same packages, scripts and interpreter."""

from __future__ import annotations

import asyncio

import pytest

from unhack.environments.environment import RepositoryEnvironment
from unhack.environments.task import RepositoryTask

PACKAGE = (
    "import idna, sys\n\n\ndef seen():\n    return [idna.__file__, sys.version, sys.path[-1]]\n"
)
Call = tuple[str, dict[str, str]]
CHECK = "from pk import seen\n\n\ndef test_seen():\n    assert seen()[:2] == {}\n"


def told(preload: tuple[str, ...], *calls: Call) -> list[str]:
    """The observations of some actions, and the score at the end."""
    task = RepositoryTask(
        id="packages", statement="none", files={"pk/__init__.py": PACKAGE.encode()},
        editable=("pk/",), tests={"tests/test_h.py": CHECK.format("seen()[:2]")},
        reference={"pk/__init__.py": PACKAGE + "\n"}, fail_to_pass=("tests/test_h.py::test_seen",),
        preload=preload,
    )  # fmt: skip

    async def main() -> list[str]:
        async with RepositoryEnvironment([task]) as env:
            await env.reset(seed=0)
            said = [(await env.step(call))[0].text for call in calls]
            *_, info = await env.step(("submit", {}))
            return [*said, str(info["outcome"])]

    return asyncio.run(main())


@pytest.mark.slow
@pytest.mark.sample
def test_the_packages_of_a_task_are_those_of_its_judge() -> None:
    ask = "python3 -c 'import pk; print(*pk.seen()[:2], sep=chr(10))'"
    (said, *_) = told(("idna",), ("run", {"command": ask}))
    place, version = said.splitlines()[:2]
    check = CHECK.format([place, version])
    test = ("write", {"path": "tests/test_v.py", "text": check})
    ways: list[Call] = [
        ("test", {}),
        ("run", {"command": "pytest -q -o pythonpath=."}),
        ("run", {"command": "python -m pytest"}),
    ]
    *said, outcome = told(("idna",), test, *ways)
    assert all("1 passed" in one for one in said[1:]), said
    assert outcome == "1.0"


@pytest.mark.slow
def test_a_package_that_no_task_asks_for_is_not_there() -> None:
    said, outcome = told((), ("run", {"command": "python3 -c 'import idna'; idna --help"}))
    assert "No module named 'idna'" in said
    assert "idna: command not found" in said
    assert outcome == "0.0"
