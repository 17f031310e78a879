from __future__ import annotations

from collections.abc import Callable

import pytest

from unhack.sandbox.job import Ending, Outcome, Profile, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.verifiers import jobs

Run = Callable[..., Outcome]


@pytest.fixture
def run(pool: Pool) -> Run:
    """`run(source, stdin=b"")`: the outcome of a program."""

    def run(source: str, stdin: bytes = b"", limits: Limits | None = None) -> Outcome:
        chosen = limits or Limits()
        job = jobs.main(source, stdin=stdin, limits=chosen, profile=Profile())
        return run_one(pool, job)

    return run


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("exit()", 0),
        ("quit(0)", 0),
        ("exit(3)", 3),
        ("import sys; sys.exit()", 0),
        ("import sys; sys.exit(256 + 7)", 7),
        ("import sys; sys.exit(-1)", 255),
        ("import sys; sys.exit('why')", 1),
        ("raise SystemExit", 0),
        ("1 / 0", 1),
        ("import os; os._exit(5)", 5),
        ("import sys; sys.stderr.close()", 0),
        ("import sys; sys.stderr.close(); 1 / 0", 1),
        ("import sys; sys.stdout.close()", 0),
        ("import sys; sys.stdout = None", 0),
        ("import sys; sys.excepthook = None; 1 / 0", 1),
    ],
)
def test_every_way_to_exit_has_the_code_of_plain_python(
    run: Run, statement: str, code: int
) -> None:
    outcome = run(f"print('before', flush=True)\n{statement}\n")
    assert (outcome.ending, outcome.exit_code) == (Ending.EXITED, code)
    assert outcome.stdout == b"before\n"


def test_a_traceback_shows_the_program_alone(run: Run) -> None:
    outcome = run("def f():\n    return 1 / 0\nf()\n")
    text = outcome.stderr.decode()
    assert text.count("  File ") == 2
    assert 'solution.py", line 2, in f' in text
    assert "    return 1 / 0" in text


def test_output_that_nobody_flushed_is_there_at_the_end(run: Run) -> None:
    source = (
        "import atexit, io, os\n"
        "class Last:\n    def __del__(self): print(NAME)\n"
        "NAME = 'deleted'\nlast = Last()\n"
        "out = open(1, 'w', closefd=False)\nout.write('open\\n')\n"
        "atexit.register(print, 'exit')\nprint('main')\n"
    )
    lines = run(source).stdout.split()
    assert sorted(lines) == [b"deleted", b"exit", b"main", b"open"]


def test_debug_output_beyond_the_limit_ends_no_program(run: Run) -> None:
    source = "import sys\nfor _ in range(300): print('x' * 999, file=sys.stderr)\nprint(1)\n1 / 0\n"
    outcome = run(source, limits=Limits(output_bytes=50_000))
    assert (outcome.ending, outcome.exit_code, outcome.stdout) == (Ending.EXITED, 1, b"1\n")
    assert len(outcome.stderr) == 50_000
    assert outcome.stderr.endswith(b"ZeroDivisionError: division by zero\n")


def test_debug_output_without_end_does(run: Run) -> None:
    source = "import os\nwhile True: os.write(2, b'x' * 65536)\n"
    outcome = run(source, limits=Limits(output_bytes=50_000))
    assert (outcome.ending, outcome.limit) == (Ending.LIMIT, "output")


def test_a_thread_may_ask_for_a_stack_larger_than_the_memory(run: Run) -> None:
    source = (
        "import sys, threading\nthreading.stack_size(2**30)\nsys.setrecursionlimit(10**6)\n"
        "def f(n): return n and 1 + f(n - 1)\n"
        "t = threading.Thread(target=lambda: print(f(50_000)))\nt.start()\nt.join()\n"
        "print(threading.stack_size() == 2**30)\n"
    )
    assert run(source).stdout == b"50000\nTrue\n"


def test_no_program_finds_the_shims_that_it_does_not_name(run: Run) -> None:
    source = (
        "import threading, io\nprint(type(open), open is io.open, type(threading.Thread.start))\n"
    )
    assert run(source).stdout.startswith(b"<class 'builtin_function_or_method'> True")
