"""Mode `repository`: named tests of a repository, each with a result of its own.

Sealed, the tests are in this process and the packages are the candidate's (`judge.packages`). As
written, tests and packages share the process; then the tests are compiled from the message and
stand in no file, run in the order of their files, and whatever is reported is a claim that the host
tells by other runs, in which some of them are twins.

A test has passed when its set-up, its call and its tear-down did; a skip, an expected failure and
an unexpected success are failures. In a sealed run a test also fails when something in it could
not cross, or when the candidate has ended; its result says how often the solution's own classes
decided that two of its objects are equal (`verifiers.repository.unverified`).

Covered: tests that are not asked for are not run; ids collected twice fail; a test file that cannot
be imported fails its own tests only.
Not covered: tracebacks in what the solution logs.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import os
import sys
import types
from typing import Any

from unhack.sandbox.guest.candidate import runner
from unhack.sandbox.guest.judge.connection import CandidateConnection
from unhack.sandbox.guest.judge.pytest_runs import test_files

_CHARS = 300


class ExactCollector:
    """A plugin of pytest that runs the asked-for tests and sends one line for each."""

    def __init__(self, job: dict[str, Any], channel: runner.Channel, seal: Any) -> None:
        self._send = channel.send
        self._seal: CandidateConnection | None = seal
        self._wanted = frozenset(job.get("wanted", ()))
        self._functions = frozenset(job.get("functions", ()))
        self._sources: dict[str, str] = job.get("sources", {})
        self._home = ""
        self._troubles: dict[str, str] = {}
        """Test file, or "" for all, -> why its tests fail."""
        self._twice: set[str] = set()
        self._failed: dict[str, str] = {}
        self._called: set[str] = set()
        self._unverified = 0

    def pytest_configure(self, config: Any) -> None:
        """Take note of the folder of the tests."""
        self._home = str(config.rootpath)

    def pytest_collection(self) -> None:
        """Take note of what could not cross before the first test file was read."""
        self._blame("")

    def pytest_pycollect_makemodule(self, module_path: Any, parent: Any) -> Any:
        """A test file whose text came with the message."""
        name = os.path.relpath(module_path, self._home)
        if name not in self._sources:
            return None
        return _collected_from(self._sources[name]).from_parent(parent, path=module_path)

    def pytest_collectreport(self, report: Any) -> None:
        """Keep why a file could not be collected."""
        file = report.nodeid.partition("::")[0]
        if report.failed:
            self._troubles.setdefault(file, f"not collected: {_reason(report)}"[:_CHARS])
        self._blame(file)

    def _blame(self, file: str) -> None:
        if self._seal is not None and self._seal.violation:
            self._troubles.setdefault(file, self._seal.violation)
            self._seal.violation = ""

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Leave the asked-for tests."""
        kept, left = [], []
        seen: set[str] = set()
        for item in items:
            function = getattr(item, "originalname", None) or item.name
            asked = item.nodeid in self._wanted or function in self._functions
            (kept if asked else left).append(item)
            if item.nodeid in seen:
                self._twice.add(item.nodeid)
            seen.add(item.nodeid)
        config.hook.pytest_deselected(items=left)
        items[:] = kept

    def pytest_runtest_setup(self, item: Any) -> None:
        """Let an exit of the solution be one, and tell what it logs where a test looks."""
        if self._seal is not None:
            self._seal.exits = True
            self._seal.process_state.logs = "caplog" in getattr(item, "fixturenames", ())

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep what speaks against a test."""
        name = report.nodeid
        if report.when == "call":
            self._called.add(name)
        if report.passed and not hasattr(report, "wasxfail"):
            return
        if report.failed:
            text = _reason(report)
        else:
            text = "expected to fail" if hasattr(report, "wasxfail") else "skipped"
        self._failed.setdefault(name, text[:_CHARS])

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Send the result of a test."""
        file = nodeid.partition("::")[0]
        reason = self._troubles.get("") or self._troubles.get(file) or self._failed.get(nodeid)
        if self._seal is not None:
            self._seal.exits = False
            reason = self._seal.violation or reason
            self._seal.violation = ""
            if self._seal.ended:
                reason = f"the solution has ended: {self._seal.ended}"
        if nodeid in self._twice:
            reason = "the test was collected twice"
        if not reason and nodeid not in self._called:
            reason = "the test was not called"
        line: list[Any] = [nodeid, not reason, (reason or "")[:_CHARS]]
        if self._seal is not None:
            line.append(self._seal.unverified - self._unverified)
            self._unverified = self._seal.unverified
        self._send(line)

    def finish(self) -> None:
        """Send why test files gave no results."""
        for file, text in self._troubles.items():
            self._send([file, False, text[:_CHARS]])


def _reason(report: Any) -> str:
    """One line that says why."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return str(crash.message).partition("\n")[0].strip() or "failed"
    lines = str(report.longrepr).strip().splitlines() or ["failed"]
    return lines[-1].removeprefix("E ").strip()


def _collected_from(source: str) -> Any:
    """The class of a test file with this text, which stands in no file."""
    import pytest  # only this mode and `pytest_runs.test_files` have it
    from _pytest.assertion.rewrite import rewrite_asserts

    class JudgesModule(pytest.Module):
        def _getobj(self) -> types.ModuleType:
            name, top = _name_of(str(self.path))
            if top not in sys.path:
                sys.path.insert(0, top)
            module = types.ModuleType(name)
            module.__file__ = str(self.path)
            module.__package__ = name.rpartition(".")[0]
            if module.__package__:
                importlib.import_module(module.__package__)
            tree = ast.parse(source)
            rewrite_asserts(tree, source.encode(), str(self.path), self.config)
            sys.modules[name] = module
            exec(compile(tree, str(self.path), "exec", dont_inherit=True), module.__dict__)
            self.config.pluginmanager.consider_module(module)
            return module

    return JudgesModule


def _name_of(path: str) -> tuple[str, str]:
    """The name of a test module, and the folder that it is found from, as pytest has them."""
    folder, name = os.path.split(path.removesuffix(".py"))
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, part = os.path.split(folder)
        name = f"{part}.{name}"
    return name, folder


def run(
    job: dict[str, Any], home: str, channel: runner.Channel, *, seal: CandidateConnection | None
) -> str:
    """Run the tests in `home` and send their results; what stopped pytest, empty for nothing."""
    import pytest  # only this mode and `pytest_runs.test_files` have it

    collector = ExactCollector(job, channel, seal)
    if seal is not None:
        test_files.explain_aside(seal)
        seal.process_state.share_files()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    options = ["-q", "--color=no", "--tb=line", "-p", "no:cacheprovider", "-c", "/dev/null"]
    options += ["--continue-on-collection-errors"]
    options += ["--rootdir", home, *([] if job["has_conftest"] else ["--noconftest"])]
    tests = [os.path.join(home, name) for name in job["tests"]]
    try:
        with contextlib.redirect_stderr(io.StringIO()) as told:
            plugins = [collector, test_files.reports(seal)]
            code = int(pytest.main([*options, *tests], plugins=plugins))
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        collector.finish()
    ended = code in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)
    last = [line.removeprefix("E ").strip() for line in told.getvalue().splitlines()][-1:]
    return f"pytest ended with code {code}: {' '.join(last)[:_CHARS]}" if ended else ""
