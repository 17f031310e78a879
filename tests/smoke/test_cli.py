"""The installed command in processes of its own: pipes, signals, terminals, the demo."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unhack.sandbox.linux import processes

pytestmark = pytest.mark.slow

UNHACK = str(Path(sys.executable).with_name("unhack"))
SEATS = "parsing/seat-ranges"
WRONG = "def expand_seats(spec):\n    return []\n"
INTERRUPTED = (
    "Interrupted: 0 of 1 completions were judged. Nothing was kept; "
    "with --run DIR the same command would resume.\n"
)
LOOP = "def expand_seats(spec):\n    while True:\n        pass\n"


def run(*arguments: str, stdin: str = "", **options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [UNHACK, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **options},
        check=False,
    )


def rows(*texts: str) -> str:
    return "".join(json.dumps({"completion": text}) + "\n" for text in texts)


def test_a_pipeline_of_rows_gives_a_pipeline_of_verdicts() -> None:
    done = run("score", SEATS, "--completions", "-", "--json", stdin=rows(WRONG, ""))
    assert done.returncode == 0
    statuses = [json.loads(line)["status"] for line in done.stdout.splitlines()]
    assert statuses == ["failed", "invalid"]
    assert done.stderr.startswith("2 completions: ")


@pytest.mark.parametrize("flags", [[], pytest.param(["--json"], marks=pytest.mark.slow)])
def test_nothing_that_goes_into_a_pipe_holds_an_escape_sequence(flags: list[str]) -> None:
    done = run(
        "score", SEATS, "--completions", "-", *flags, stdin=rows(WRONG), TERM="xterm-256color"
    )
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.sample
@pytest.mark.slow
def test_a_pipe_that_holds_only_ascii_is_enough() -> None:
    done = run(
        "score", SEATS, "--completions", "-", "--estimator", "grpo", stdin=rows(WRONG, ""),
        PYTHONIOENCODING="ascii",
    )  # fmt: skip
    assert done.returncode == 0
    assert "failed" in done.stdout
    assert done.stderr == ""


def test_a_reader_that_leaves_early_ends_the_command_quietly(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(rows(*(f"{WRONG}# {number}" for number in range(300))))
    command = [UNHACK, "score", SEATS, "--completions", str(path), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    first = json.loads(process.stdout.readline())
    process.stdout.close()
    words = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 141
    assert (first["id"], words) == (0, b"")


def descendants(pid: int) -> set[int]:
    """All processes below `pid`, by the kernel's own list."""
    found: set[int] = set()
    for child in processes.pids():
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid:
                found |= {child} | descendants(child)
    return found


def cpu_s(pid: int) -> float:
    """CPU seconds of a process; 0 when it has ended."""
    with contextlib.suppress(OSError):
        return processes.cpu_s(pid)
    return 0.0


def alive(pids: set[int]) -> set[int]:
    """Those that run; the dead that nobody has waited for do not count."""
    found: set[int] = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            if state not in "ZX":
                found.add(pid)
    return found


def wait_until(condition: object, seconds: float) -> bool:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_an_interrupt_ends_with_130_and_one_line_and_no_worker_is_left(tmp_path: Path) -> None:
    path = tmp_path / "loop.py"
    path.write_text(LOOP)
    process = subprocess.Popen(
        [UNHACK, "score", SEATS, "--completions", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # Shells start what runs in the background with interrupts ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    # Nothing but the endless completion takes seconds of the processor.
    assert wait_until(lambda: max(map(cpu_s, descendants(process.pid)), default=0.0) > 1.5, 60)
    before = descendants(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.decode()) == (130, b"", INTERRUPTED)
    assert wait_until(lambda: not alive(before), 60), f"still there: {alive(before)}"


def on_a_terminal(*arguments: str) -> tuple[int, str]:
    """Exit code and everything that a terminal would have shown."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS="80")
        for name in ("NO_COLOR", "CI"):
            os.environ.pop(name, None)
        os.execv(UNHACK, [UNHACK, *arguments])
    shown = b""
    with contextlib.suppress(OSError):  # the terminal closes when the command ends
        while data := os.read(terminal, 1 << 16):
            shown += data
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_terminal_gets_colour_and_a_progress_bar(tmp_path: Path) -> None:
    path = tmp_path / "slow.py"
    path.write_text("import time\ntime.sleep(0.6)\n" + WRONG)
    code, shown = on_a_terminal("score", SEATS, "--completions", str(path))
    assert code == 0
    assert "\x1b[31mfailed" in shown
    assert "scoring" in shown
    assert re.search(r"[01]/1", shown)


@pytest.mark.long  # `.ci/run` makes the demo itself
def test_the_demo_ends_well_and_says_what_it_measured(tmp_path: Path) -> None:
    done = run("demo", "--out", str(tmp_path / "demo"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Sealed: 0 of 9 do" in done.stdout
    assert "One process: 6 of 8 hacks get the full reward" in done.stdout
    assert re.search(r"^HumanEval, canonical solutions +164 +164 +0 ", done.stdout, re.MULTILINE)
    known, total = map(int, re.findall(r"(\d+) of (\d+) known outcomes", done.stdout)[0])
    assert known == total > 500
    assert "no hack found" in done.stdout
    assert "flagged: hardcoded_metric" in done.stdout
    pages = re.findall(r"file://(\S+)", done.stdout)
    assert len(pages) == 3
    assert all(Path(page).is_file() for page in pages)
