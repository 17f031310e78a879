"""Checks that a well-behaved job gets what it needs."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from pathlib import Path

from unhack.sandbox.conformance.probe import (
    NO_ARGUMENTS,
    ConformanceCheck,
    Probe,
    SkipError,
    describe,
    expect,
    lines,
)
from unhack.sandbox.job import Ending, Isolation, Job, Kind, Profile, Role
from unhack.sandbox.linux.sockets import receive


def _answers(probe: Probe) -> None:
    value = probe.ask("def f(a, b): return [a + b, len(b)]", ["x", "yz"])
    expect(value == ["xyz", 2], f"f('x', 'yz') answered {value!r}")


def _types(probe: Probe) -> None:
    given = [(1, 2), {3}, b"\x00\xff", {"k": None}, 1.5, float("inf"), 1 << 2000, "é\ud800"]
    value = probe.ask("def f(*args): return list(args)", given)
    same = [type(item) for item in value] == [type(item) for item in given] and value == given
    expect(same, f"{given!r} came back as {value!r}")


def _exceptions(probe: Probe) -> None:
    outcome = probe.calls("def f(x): raise KeyError('gone')", [[1]])
    expect(outcome.ending is Ending.EXITED, describe(outcome))
    expect(lines(outcome.result)[0][:2] == [0, "raise"], describe(outcome))
    expect("KeyError" in lines(outcome.result)[0][2], describe(outcome))


def _streams(probe: Probe) -> None:
    source = "import sys\nprint(sys.stdin.read()[::-1])\nprint('aside', file=sys.stderr)"
    outcome = probe.script(source, stdin=b"olleh")
    expect(outcome.stdout == b"hello\n", f"stdout: {outcome.stdout!r}")
    expect(outcome.stderr == b"aside\n", f"stderr: {outcome.stderr!r}")


def _exit_codes(probe: Probe) -> None:
    for source, code in (("raise SystemExit(7)", 7), ("import os; os._exit(9)", 9), ("", 0)):
        outcome = probe.script(source)
        ended = outcome.ending is Ending.EXITED and outcome.exit_code == code
        expect(ended, f"{source!r} ended as {describe(outcome)}")


def _signals(probe: Probe) -> None:
    outcome = probe.script("import ctypes; ctypes.string_at(0)")
    crashed = outcome.ending is Ending.SIGNALED and outcome.signal == signal.SIGSEGV
    expect(crashed, f"a null pointer was read, and the job ended as {describe(outcome)}")


def _programs(probe: Probe) -> None:
    ended = probe.python("import os, sys; print(os.getcwd()); sys.exit(5)")
    expect(ended.code == 5, f"exit code {ended.code}: {describe(ended.outcome)}")
    expect(ended.text() == "/scratch/work\n", f"the directory is {ended.text()!r}")


def _program_signals(probe: Probe) -> None:
    ended = probe.python("import os; os.kill(os.getpid(), 15)")
    expect(ended.signal == signal.SIGTERM, f"signal {ended.signal}: {describe(ended.outcome)}")


def _files(probe: Probe) -> None:
    ended = probe.command(
        ["sh", "-c", "cat in/data in/data > out"], files={"in/data": b"\x00ab"},
        collect=["out", "absent"],
    )  # fmt: skip
    expect(ended.files == {"out": b"\x00ab\x00ab"}, f"{ended.files!r}: {describe(ended.outcome)}")


def _sink(probe: Probe) -> None:
    ended = probe.python("open('/dev/null', 'w').write('x'); print(len(open('/dev/null').read()))")
    expect(ended.text() == "0\n", describe(ended.outcome))


def _binds(probe: Probe) -> None:
    if probe.backend.isolation is Isolation.LANDLOCK:
        raise SkipError("mounting a host file into the sandbox needs namespaces")
    source = """
def f(path):
    text = open(path).read()
    try:
        open(path, "a").write("x")
    except OSError:
        return text
    return "written"
"""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        file = Path(folder, "data")
        file.write_text("given")
        file.chmod(0o666)
        for kind in probe.kinds():
            profile = Profile(kind=kind, binds=((str(file), "/data/given"),))
            if kind is Kind.PROGRAM:
                ended = probe.command(["cat", "/data/given"], profile=profile)
                expect(ended.text() == "given", describe(ended.outcome))
            value = probe.ask(source, ["/data/given"], profile=profile)
            expect(value == "given", f"a {kind} job read {value!r}")
        expect(file.read_text() == "given", "the host's file was changed")


def _standard_library(probe: Probe) -> None:
    source = """
import importlib
def f(names):
    missing = []
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    return missing
"""
    names = ["array", "csv", "dataclasses", "decimal", "enum", "fractions", "hashlib", "statistics"]
    names += ["textwrap", "threading", "unicodedata", "zlib"]
    for kind in probe.kinds(Kind.FUNCTION, Kind.SCRATCH):
        missing = probe.ask(source, [names], kind=kind)
        expect(not missing, f"a {kind} job cannot import these modules: {', '.join(missing)}")


def _judges(probe: Probe) -> None:
    value = probe.ask("def f(x): return x + 1", [1], profile=Profile(role=Role.JUDGE))
    expect(value == 2, f"f(1) answered {value!r}")


def _peers(probe: Probe) -> None:
    source = """
import os
def f():
    os.write(4, b"ask\\n")
    got = os.read(4, 100)
    os.write(4, got[::-1])
    return [got, os.read(4, 100)]
"""
    ours, theirs = socket.socketpair()
    ours.settimeout(30.0)
    job = probe.job(source, NO_ARGUMENTS)
    _, wait = probe.start(Job(job.message, job.limits, job.profile, peer=theirs.detach()))
    with ours:
        asked = receive(ours.recv, 100)
        expect(asked == b"ask\n", f"the candidate said {asked!r}")
        ours.send(b"abc")
        answer = receive(ours.recv, 100)
        expect(answer == b"cba", f"the candidate answered {answer!r}")
    outcome = wait()
    got = lines(outcome.result)[0][2]
    ended = got == [{"$bytes": "YWJj"}, {"$bytes": ""}]
    expect(ended, f"after the hang-up: {describe(outcome)}")


def _many(probe: Probe) -> None:
    source = "def f(x): return x"
    jobs = [probe.job(source, [[number]]) for number in range(12)]
    waits = [probe.start(job)[1] for job in jobs]
    values = [lines(wait().result)[0][2] for wait in waits]
    expect(values == list(range(12)), f"twelve jobs answered {values!r}")


CHECKS = (
    ConformanceCheck("a function job returns its answers", _answers, benign=True),
    ConformanceCheck("answers keep their types", _types, benign=True),
    ConformanceCheck("an exception comes back as data", _exceptions, benign=True),
    ConformanceCheck("a script reads stdin and writes stdout and stderr", _streams, benign=True),
    ConformanceCheck("exit codes come through", _exit_codes, benign=True),
    ConformanceCheck("a fatal signal comes through", _signals, benign=True),
    ConformanceCheck(
        "a program runs in a private directory and its exit code comes through",
        _programs,
        benign=True,
    ),
    ConformanceCheck("the signal that ends a program comes through", _program_signals, benign=True),
    ConformanceCheck(
        "files reach a program, and those asked for come back",
        _files,
        benign=True,
        harmless=False,
    ),
    ConformanceCheck("a program may write to /dev/null", _sink, benign=True),
    ConformanceCheck("a bound host file can be read and not written", _binds, benign=True),
    ConformanceCheck("the standard library can be imported", _standard_library, benign=True),
    ConformanceCheck("a judge's job runs", _judges, benign=True),
    ConformanceCheck("a candidate can talk with the other side of a seal", _peers, benign=True),
    ConformanceCheck("each of many jobs gets its own answer", _many, benign=True),
)
