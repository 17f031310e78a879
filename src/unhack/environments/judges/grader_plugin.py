"""A plugin of pytest that the grader's own run loads inside an image: each test in a process apart.

The process that counts results never runs what the agent handed in: each test is run by a fork,
which reports by a pipe, and whose own processes end with it. Where a test file loads the agent's
code when it is imported, each file is run by a fork of its own, as a whole. A test that was seen in
a file and not reported as passed is a failure, whatever became of the process that ran it.

Covered: an agent's code that ends the process, patches the runner, waits to write a reward later,
reads the memory of the runner or of its shell, or makes the reward impossible to write.
Not covered: what that code makes of the one test that runs it, or of a file whose import runs it; a
conftest that loads it; runs on several workers. Fixtures of a wider scope than a test are made for
each test.

This file is run by the image's Python, from 3.7 on, and imports nothing of the engine. It ends
processes by their numbers: its place is a pid namespace of its own.
"""

# pyright: basic
# Annotations would be evaluated by Pythons that know fewer of them.

import ast
import contextlib
import ctypes
import importlib.machinery
import json
import os
import select
import shutil
import signal
import sys

import pytest

REWARDS = "/logs/verifier"
STARTED = "/logs/pytest-started"
MOST_BYTES = 16 << 20
CAP_KILL = 5


def pytest_configure(config):
    """Take the plugin's place, unless there are several workers or nothing is to be run."""
    with contextlib.suppress(OSError), open(STARTED, "w"):
        pass
    several = getattr(config.option, "numprocesses", None) or hasattr(config, "workerinput")
    if not several and not config.option.collectonly and hasattr(os, "fork"):
        config.pluginmanager.register(ForkedTests(config), "unhack-apart")


class ForkedTests:
    """The process that counts."""

    def __init__(self, config):
        self.config = config
        self.before = processes()
        self.rewards = listed(REWARDS)
        self.whole = False
        prctl(4, 0)  # PR_SET_DUMPABLE: nobody of its user reads its memory

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session):
        """Run each file in a fork where a test file loads what was handed in."""
        wanted = {}
        for arg in self.config.args:
            for file in test_files(arg.partition("::")[0]):
                wanted.setdefault(file, []).append(
                    arg if os.path.isfile(arg.partition("::")[0]) else file
                )
        files = list(wanted)
        if not any(map(loads_foreign, files)):
            return None
        self.whole = True
        reports = [
            one
            for file in files
            for one in self.forked(
                lambda send, args=wanted[file]: self.run_session(session, send, args)
            )
        ]
        expected = {name for file in files for name in test_names(file)}
        passed = {}
        for one in reports:
            file, _, rest = str(one.get("name")).partition("[")[0].partition("::")
            name = f"{file.rpartition('/')[2]}::{rest}"
            passed[name] = passed.get(name, True) and one.get("outcome") in ("passed", "skipped")
        wrong = sorted(name for name in expected if not passed.get(name, False))
        wrong += sorted(name for name, fine in passed.items() if not fine and name not in expected)
        for name in wrong:
            print(f"not reported as passed: {name}")
        session.items = []
        session.testscollected = max(len(passed), len(wrong))
        session.testsfailed = len(wrong)
        return True

    def run_session(self, session, send, args):
        """The part of a session that `args` name, in the fork."""
        self.config.args = args
        self.config.pluginmanager.unregister(self)
        self.config.pluginmanager.register(ReportStream(send), "unhack-sender")
        self.config.hook.pytest_collection(session=session)
        self.config.hook.pytest_runtestloop(session=session)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        """Run each test in a fork."""
        if self.whole:
            return True
        if session.testsfailed and not session.config.option.continue_on_collection_errors:
            return None
        for item in session.items:
            hook = item.ihook
            hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            for report in self.reports_of(item):
                hook.pytest_runtest_logreport(report=report)
            hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
        return True

    def reports_of(self, item):
        """The reports of one test, as its fork has sent them."""
        hook = self.config.hook

        def run(send):
            from _pytest.runner import runtestprotocol

            for report in runtestprotocol(item, nextitem=None, log=False):
                send(hook.pytest_report_to_serializable(config=self.config, report=report))

        found = self.forked(run)
        reports = []
        try:
            for data in found:
                report = hook.pytest_report_from_serializable(config=self.config, data=data)
                if report.nodeid == item.nodeid and report.when in ("setup", "call", "teardown"):
                    reports.append(report)
        except Exception:
            reports = []
        steps = [report.when for report in reports]
        ran = any(report.when == "setup" and not report.passed for report in reports)
        if steps[:1] != ["setup"] or steps[-1:] != ["teardown"] or not (ran or "call" in steps):
            reports = [report for report in reports if not report.passed] or [lost(item)]
        return reports

    def forked(self, run):
        """The values that a fork has sent. All that it has started ends with it."""
        sys.stdout.flush()
        sys.stderr.flush()
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(reader)
                give_up_killing()
                run(lambda value: os.write(writer, (json.dumps(value) + "\n").encode()))
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(0)
        os.close(writer)
        data, ended = b"", 0
        while len(data) < MOST_BYTES:
            # What the fork has started may keep the pipe open: its own end counts.
            if not select.select([reader], [], [], 0 if ended else 0.05)[0]:
                if ended:
                    break
                ended, _ = os.waitpid(child, os.WNOHANG)
                continue
            more = os.read(reader, 1 << 16)
            if not more:
                break
            data += more
        os.close(reader)
        if not ended:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        end_strangers(self.before)
        clean_rewards(self.rewards)
        found = []
        for line in data.splitlines():
            try:
                found.append(json.loads(line.decode()))
            except ValueError:
                continue
        return [one for one in found if isinstance(one, dict)]


class ReportStream:
    """In the fork that runs a whole session: the outcome of each test."""

    def __init__(self, send):
        self.send = send

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or not report.passed:
            self.send({"name": report.nodeid, "outcome": report.outcome})

    def pytest_collectreport(self, report):
        if not report.passed:
            self.send({"name": report.nodeid, "outcome": "failed"})


def lost(item):
    from _pytest.reports import TestReport

    text = "the process of this test ended without a report"
    return TestReport(item.nodeid, item.location, {}, "failed", text, "call")


def test_files(path):
    """The Python files that an argument of pytest's stands for."""
    if os.path.isfile(path):
        return [path]
    return [
        os.path.join(top, name)
        for top, _, names in os.walk(path)
        for name in names
        if name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
    ]


def parsed(path):
    try:
        with open(path, "rb") as file:
            return ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return ast.parse("")


def loads_foreign(path):
    """True for a file that loads, when it is imported, what the interpreter does not find now."""
    stack = [*ast.iter_child_nodes(parsed(path))]
    names = []
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Import):
            names += [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or ".")
        elif isinstance(node, ast.Call):
            called = node.func
            name = getattr(called, "attr", getattr(called, "id", ""))
            if name in (
                "exec",
                "eval",
                "__import__",
                "import_module",
                "exec_module",
                "run_path",
                "load_module",
                "run_module",
            ):
                return True
        stack.extend(ast.iter_child_nodes(node))
    return not all(map(is_known, names))


def is_known(name):
    """True for a module of the interpreter's own folders, which hold nothing that was handed in."""
    top = name.partition(".")[0]
    if top in sys.builtin_module_names:
        return True
    prefixes = {os.path.realpath(one) for one in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    packages = ("site-packages", "dist-packages")
    own = [
        path
        for path in map(os.path.realpath, filter(None, sys.path))
        if os.path.basename(path) in packages
        or any(path.startswith(os.path.join(one, "lib")) for one in prefixes)
    ]
    return bool(top) and importlib.machinery.PathFinder.find_spec(top, own) is not None


def test_names(path):
    """The tests that a file shows: their node ids, without parameters."""
    base = os.path.basename(path)
    found = []
    for node in parsed(path).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            found.append(f"{base}::{node.name}")
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            found += [
                f"{base}::{node.name}::{one.name}"
                for one in node.body
                if isinstance(one, ast.FunctionDef) and one.name.startswith("test")
            ]
    return found


def processes():
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def end_strangers(before):
    """End every process that was not there at the beginning."""
    own = os.getpid()
    for _ in range(200):
        new = processes() - before - {own}
        for pid in new:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not {pid for pid in new if is_alive(pid)}:
            return


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def listed(folder):
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def opened(folder):
    """Let this process write to a folder and to those below it."""
    for top, names, _ in os.walk(folder):
        for path in (top, *(os.path.join(top, name) for name in names)):
            if not os.path.islink(path):
                with contextlib.suppress(OSError):
                    os.chmod(path, 0o777)


def clean_rewards(before):
    """Remove rewards that nobody but a test can have written."""
    opened(REWARDS)
    if os.path.islink(REWARDS) or not os.path.isdir(REWARDS):
        with contextlib.suppress(OSError):
            os.unlink(REWARDS)
        with contextlib.suppress(OSError):
            os.makedirs(REWARDS)
    for name in listed(REWARDS) - before:
        path = os.path.join(REWARDS, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)


def prctl(*words):
    try:
        return ctypes.CDLL(None).prctl(*words, *[0] * (5 - len(words)))
    except (OSError, AttributeError):
        return -1


def give_up_killing():
    """Be less than the shell that started all this: the kernel then keeps its memory apart."""
    prctl(24, CAP_KILL)  # PR_CAPBSET_DROP
    prctl(38, 1)  # PR_SET_NO_NEW_PRIVS
    try:
        libc = ctypes.CDLL(None)
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        data = (ctypes.c_uint32 * 6)()
        if libc.capget(header, data) == 0:
            for at in range(3):
                data[at] &= ~(1 << CAP_KILL)
            libc.capset(header, data)
    except (OSError, AttributeError):
        pass
