"""A submission's process answers calls, and can do nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.submission.compute import Computer, SubmissionError

pytestmark = pytest.mark.slow

LIMITS = Limits(
    wall_s=30, cpu_s=30, memory_bytes=1024 * MIB, output_bytes=16 * MIB, soft_slice_s=30
)

SOURCE = """
import os, sys, threading, time
import numpy as np
from helper import twice

def double(values): return twice(values)
def named(a, *, b=1): return {"a": a, "b": b, "t": (1, [2.5, None, b"x"])}
def wrong(): raise ValueError("no such thing")
def endless():
    while True: pass
def leave(code=3): os._exit(code)
def opaque(): return object()
def large(): return np.zeros(1 << 26, dtype=np.uint8)
def write():
    os.makedirs("out/deep")
    open("out/a.bin", "wb").write(b"abc")
    open("out/deep/b.bin", "wb").write(b"d")
    os.symlink("/etc/hostname", "out/link")
    return True
def forge():
    for _ in range(50): os.write(4, b"\\0" * 1000)
    return 1
def attempt(what):
    try: return repr(eval(what, {"os": os, "sys": sys, "np": np}))
    except Exception as error: return "denied: " + type(error).__name__
def keep():
    threading.Thread(target=lambda: time.sleep(600), daemon=False).start()
    return os.getpid()
def seen(): return sorted(os.listdir("/submission"))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "solution.py").write_text(SOURCE)
    (tmp_path / "helper.py").write_text("def twice(values): return values * 2\n")
    return tmp_path


@pytest.fixture
def submission(folder: Path):
    with Computer(folder, limits=LIMITS, preload=("numpy",)) as computer:
        yield computer


def test_arrays_go_there_and_back(submission: Computer) -> None:
    values = np.linspace(0, 1, 100_000, dtype=np.float32).reshape(100, 1000)
    got = submission.call("double", values, timeout_s=60)
    assert got.dtype == np.float32
    assert (got == 2 * values).all()
    answer = submission.call("named", "x", b=3, timeout_s=60)
    assert answer == {"a": "x", "b": 3, "t": (1, [2.5, None, b"x"])}


def test_what_it_raises_is_said_and_it_can_be_asked_again(submission: Computer) -> None:
    with pytest.raises(SubmissionError, match="ValueError: no such thing"):
        submission.call("wrong", timeout_s=60)
    with pytest.raises(SubmissionError, match="cannot cross"):
        submission.call("opaque", timeout_s=60)
    with pytest.raises(SubmissionError, match="no attribute 'absent'"):
        submission.call("absent", timeout_s=60)
    assert submission.call("double", 4, timeout_s=60) == 8


def test_a_late_answer_ends_the_process(submission: Computer) -> None:
    with pytest.raises(SubmissionError, match=r"did not answer within 0\.5 s"):
        submission.call("endless", timeout_s=0.5)
    with pytest.raises(SubmissionError, match="has ended"):
        submission.call("double", 4, timeout_s=60)


def test_leaving_early_is_no_answer(submission: Computer) -> None:
    with pytest.raises(SubmissionError, match=r"its process ended \(3\)"):
        submission.call("leave", timeout_s=60)


@pytest.mark.parametrize(
    ("call", "left"), [(("leave", 0), True), (("leave", 3), False), (("wrong",), False)]
)
def test_only_who_leaves_without_a_fault_while_asked_has_left(
    call: tuple[Any, ...], left: bool, submission: Computer
) -> None:
    with pytest.raises(SubmissionError):
        submission.call(*call, timeout_s=60)
    submission.close()
    assert submission.left is left


def test_a_submission_that_cannot_be_loaded_has_not_left(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text("def later(:\n")
    computer = Computer(tmp_path, limits=LIMITS)
    with pytest.raises(SubmissionError, match="SyntaxError"), computer:
        pass
    assert not computer.left


def test_an_answer_above_the_limit_is_refused(submission: Computer) -> None:
    with pytest.raises(SubmissionError, match="more than"):
        submission.call("large", timeout_s=60)


def test_bytes_written_past_the_frame_are_no_answer(submission: Computer) -> None:
    with pytest.raises(SubmissionError):
        submission.call("forge", timeout_s=60)


def test_files_that_it_wrote_come_out_without_links(submission: Computer) -> None:
    submission.call("write", timeout_s=60)
    with pytest.raises(SubmissionError):  # a link is not followed
        submission.files("out", timeout_s=60)
    assert submission.files("out/deep", timeout_s=60) == {"b.bin": b"d"}


@pytest.mark.parametrize(
    "what",
    [
        "os.fork()",
        "__import__('socket').create_connection(('127.0.0.1', 80), 1)",
        "open('/submission/solution.py', 'a')",
        "open('/proc/self/mem')",
        "os.listdir('/home')",
        "os.execv('/bin/true', ['true'])",
        "__import__('ctypes').CDLL(None).ptrace(0, 1, 0, 0) + 1 or 1 / 0",
    ],
)
def test_it_is_denied(submission: Computer, what: str) -> None:
    assert submission.call("attempt", what, timeout_s=60).startswith("denied")


def test_it_sees_only_its_own_files_and_no_environment(submission: Computer) -> None:
    assert submission.call("seen", timeout_s=60) == ["helper.py", "solution.py"]
    os.environ["UNHACK_TEST_SECRET"] = "s"
    try:
        assert "SECRET" not in submission.call("attempt", "dict(os.environ)", timeout_s=60)
    finally:
        del os.environ["UNHACK_TEST_SECRET"]


def test_closing_ends_its_threads(folder: Path) -> None:
    limits = LIMITS.with_(wall_s=300)
    with Computer(folder, limits=limits, preload=("numpy",)) as computer:
        computer.call("keep", timeout_s=60)
    assert computer.outcome is not None
    assert computer.outcome.limit == "", "its limit of 300 s has ended it"


def test_a_submission_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text("import nothing_of_that_name\n")
    with (
        pytest.raises(SubmissionError, match="ModuleNotFoundError"),
        Computer(tmp_path, limits=LIMITS),
    ):
        pass
