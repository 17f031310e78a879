"""Mode `pytest`: the judge's own test files, run by pytest.

Covered: results come from a collector of the judge's own; while pytest explains an outcome nothing
is asked of the solution; skips and expected failures count as their author's where the suite's text
decides them (`judge.pytest_runs.static_marks`), and as failures where the solution could have.
Not covered: what the solution logs; a test that uses `caplog` is refused.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from typing import Any

from unhack.sandbox.guest.judge.connection import CandidateConnection
from unhack.sandbox.guest.judge.exceptions import CandidateEndedError
from unhack.sandbox.guest.judge.pytest_runs.static_marks import static_marks

_EXPLAIN = ("_saferepr", "_should_repr_global_name", "_format_assertmsg", "_call_reprcompare")
"""Functions that a rewritten `assert` calls once it has failed."""


class Collector:
    """The judge's own record of a pytest run; a plugin of it."""

    def __init__(self, files: dict[str, str], seal: CandidateConnection | None) -> None:
        """`files`: test file -> text."""
        self.seal = seal
        self.seen: dict[str, tuple[bool, str]] = {}
        self.uncollected = ""
        self._files = files
        self._marks: dict[str, dict[str, frozenset[str]]] = {}
        self._decided: dict[str, tuple[bool, Any]] = {}
        """Test -> whether its own text skips it, and how its failure is expected, or None."""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Take note of marks before a test runs."""
        for item in items:
            decided = self._static(item)
            if decided:
                self._note(item, decided)

    def _static(self, item: Any) -> frozenset[str]:
        file, _, rest = item.nodeid.partition("::")
        if file not in self._files:
            return frozenset()
        if file not in self._marks:
            self._marks[file] = static_marks(self._files[file])
        name = rest.partition("[")[0].replace("::", ".")
        return self._marks[file].get(name, frozenset())

    def _note(self, item: Any, decided: frozenset[str]) -> None:
        from _pytest import skipping  # only this mode has pytest

        skips = "skip" in decided and skipping.evaluate_skip_marks(item) is not None
        expected = skipping.evaluate_xfail_marks(item) if "xfail" in decided else None
        self._decided[item.nodeid] = (skips or _is_unittest_skip(item, decided), expected)

    def pytest_runtest_setup(self, item: Any) -> None:
        """Refuse a test that looks at what the solution logs."""
        if self.seal is not None and "caplog" in getattr(item, "fixturenames", ()):
            raise self.seal.violate("caplog: what the solution logs stays with it")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep one result for a test."""
        passed, reason = self.seen.get(report.nodeid, (True, ""))
        skipped, expected = self._decided.get(report.nodeid, (False, None))
        is_failed_as_expected = report.skipped and hasattr(report, "wasxfail")
        if report.skipped and (skipped or (expected and is_failed_as_expected)):
            if skipped or not (expected.strict and expected.raises):
                self.seen.pop(report.nodeid, None)  # it says nothing about the solution
                return
            if report.ended:
                passed, reason = False, "the solution ended"
        elif report.skipped or (report.failed and passed):
            text = "skipped" if report.skipped else str(report.longrepr).strip()
            passed, reason = False, text.splitlines()[-1][:300] if text else "failed"
        elif report.when == "teardown" and report.nodeid not in self.seen:
            return
        self.seen[report.nodeid] = (passed, reason)

    def pytest_collectreport(self, report: Any) -> None:
        """Keep the first failure of a collection."""
        if report.failed:
            text = str(report.longrepr).strip()
            self.uncollected = self.uncollected or f"{report.nodeid}: {text[-300:]}"


def reports(seal: CandidateConnection | None) -> Any:
    """A plugin that makes descriptions of outcomes without asking the solution."""
    import pytest  # only this mode has it

    class Reports:
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_makereport(self, call: Any) -> Generator[None, Any, Any]:
            """Describe an outcome, and say whether the solution's end is one."""
            if seal is not None:
                seal.is_aside = True
            try:
                report = yield
            finally:
                if seal is not None:
                    seal.is_aside = False
            report.ended = call.excinfo is not None and call.excinfo.type is CandidateEndedError
            return report

    return Reports()


def _is_unittest_skip(item: Any, decided: frozenset[str]) -> bool:
    """True for a test that `unittest.skip` and its like mark."""
    marked = (getattr(item, "obj", None), getattr(item, "cls", None))
    return "skip" in decided and any(
        getattr(one, "__unittest_skip__", False) for one in marked if one is not None
    )


def explain_aside(seal: CandidateConnection) -> None:
    """Ask nothing while a failed `assert` is put into words."""
    from _pytest.assertion import rewrite  # only this mode has pytest

    def aside(function: Callable[..., Any]) -> Callable[..., Any]:
        def explained(*args: Any) -> Any:
            before, seal.is_aside = seal.is_aside, True
            try:
                return function(*args)
            finally:
                seal.is_aside = before

        return explained

    for name in _EXPLAIN:
        setattr(rewrite, name, aside(getattr(rewrite, name)))


def run(
    job: dict[str, Any], home: str, seal: CandidateConnection | None
) -> tuple[Collector, BaseException | str]:
    """The record of a run of the tests in `home`, and what stopped pytest; empty for nothing."""
    import pytest  # only this mode has it

    collector = Collector(
        {name: job["files"][name] for name in job["tests"] if name in job["files"]}, seal
    )
    if seal is not None:
        explain_aside(seal)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    options = ["-q", "--color=no", "--tb=line", "-p", "no:cacheprovider"]
    options += ["-c", os.path.join(home, "_judge.ini"), "--rootdir", home]
    options += ["--import-mode=importlib"]
    try:
        code = int(pytest.main([*options, *job["tests"]], plugins=[collector, reports(seal)]))
    except BaseException as error:
        return collector, error
    ended = code in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)
    return collector, f"pytest ended with code {code}" if ended else ""
