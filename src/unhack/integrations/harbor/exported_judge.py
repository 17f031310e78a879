"""The judge that an exported Harbor folder carries: lays the hidden tests, runs them, writes the
reward. It is copied as `tests/judge.py` and needs pytest and the standard library.

The tests run in a child; the reward is written by the parent, by the exact ids that the child
reported at its end. So an early exit and a missing test are a 0.
Not covered: code that forges the child's report; it shares a process with the tests.
"""

# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent


class _Passed:
    """A plugin of pytest that keeps the ids of the tests that passed."""

    def __init__(self) -> None:
        self.good: set[str] = set()
        self.bad: set[str] = set()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the outcome of one phase."""
        if not report.passed or hasattr(report, "wasxfail"):
            self.bad.add(report.nodeid)
        elif report.when == "call":
            twice = report.nodeid in self.good
            (self.bad if twice else self.good).add(report.nodeid)


def _run(plan: dict[str, Any], writer: int) -> None:
    import pytest  # the parent must not need it

    top = os.getcwd()
    sys.path[0:0] = [os.path.join(top, root) if root else top for root in plan["roots"]]
    files = list(dict.fromkeys(name.partition("::")[0] for name in plan["expected"]))
    passed = _Passed()
    options = ["-q", "--color=no", "--tb=line", "-p", "no:cacheprovider", "-c", "/dev/null"]
    options += ["--rootdir", top, "--continue-on-collection-errors"]
    pytest.main([*options, *files], plugins=[passed])
    with os.fdopen(writer, "w") as pipe:
        json.dump(sorted(passed.good - passed.bad), pipe)


def main() -> None:
    """Judge the working directory."""
    plan = json.loads((_HERE / "expected.json").read_text())
    for path in plan["files"]:
        place = Path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_HERE / "hidden" / path, place)
    reader, writer = os.pipe()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ["PYTEST_ADDOPTS"] = ""
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            _run(plan, writer)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, errors="replace") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    try:
        good = set(json.loads(said))
    except (ValueError, TypeError):
        good = set[str]()
    reward = int(good.issuperset(plan["expected"]))
    logs = Path("/logs/verifier")
    logs.mkdir(parents=True, exist_ok=True)
    (logs / "reward.txt").write_text(f"{reward}\n")


if __name__ == "__main__":
    main()
