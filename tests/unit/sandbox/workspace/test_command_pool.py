"""Commands on states: what they leave is the next state, what they start dies with them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from unhack.core.errors import UsageError
from unhack.sandbox.limits import Limits
from unhack.sandbox.linux.processes import command_lines
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import BoundedOutput, Command, CommandResult, shell
from unhack.sandbox.workspace.states import WorkspaceState
from unhack.sandbox.workspace.supervisor import Supervisor

FILES = {"a.txt": b"a", "d/x": b"x", "d/y": b"y", "tool": b"#!/bin/sh\necho tool\n"}
Run = Callable[..., tuple[CommandResult, WorkspaceState]]
LIMITS = Limits(wall_s=60, cpu_s=60)


def with_pool(use: Callable[[CommandPool], Awaitable[None]]) -> None:
    """Run a test's coroutine with a pool of one supervisor."""

    async def main() -> None:
        async with CommandPool(slots=1) as pool:
            await use(pool)

    asyncio.run(main())


def one(command: Command, *, limits: Limits = LIMITS) -> tuple[CommandResult, WorkspaceState]:
    """The result of one command on FILES, and what it has left."""
    found: list[tuple[CommandResult, WorkspaceState]] = []

    async def use(pool: CommandPool) -> None:
        start = pool.states.load(FILES, executable={"tool"})
        found.append(await pool.run(start, command, limits=limits))

    with_pool(use)
    return found[0]


@pytest.mark.slow
def test_what_a_command_leaves_is_the_next_state() -> None:
    script = """
        ./tool; echo new > n.txt; rm a.txt d/x; mkdir empty; chmod 750 d; ln -s /etc l
        rm -r d && mkdir d && echo z > d/z
    """
    result, after = one(shell(script))
    assert (result.exit_code, result.stdout, result.stderr) == (0, "tool\n", "")
    assert [path for path, _ in after.tree.walk()] == ["d", "d/z", "empty", "l", "n.txt", "tool"]


@pytest.mark.slow
def test_a_state_is_seen_as_it_was_made_and_a_command_without_effect_changes_nothing() -> None:
    async def use(pool: CommandPool) -> None:
        start = pool.states.load(FILES, executable={"tool"})
        _, one = await pool.run(
            start, shell("rm -r d; mkdir -m 700 d; echo 1 > d/n"), limits=LIMITS
        )
        other = pool.states.edited(one, {"d/m": b"2", "a.txt": None})
        result, after = await pool.run(other, shell("ls -R; stat -c %a d tool"), limits=LIMITS)
        assert result.stdout == ".:\nd\ntool\n\n./d:\nm\nn\n700\n755\n"
        assert after is other
        assert after.id == other.id != one.id != start.id

    with_pool(use)


@pytest.mark.slow
def test_no_process_and_no_file_outside_the_workspace_survives() -> None:
    async def use(pool: CommandPool) -> None:
        start = pool.states.load({})
        mark = f"8{os.getpid()}.25"
        script = f"(setsid sleep {mark} &) ; echo 1 > /tmp/left; echo 1 > ~/left; touch /dev/shm/x"
        await pool.run(start, shell(script), limits=LIMITS)
        assert not [words for words in command_lines().values() if mark.encode() in words]
        result, _ = await pool.run(start, shell("ls -A /tmp ~ /dev/shm"), limits=LIMITS)
        assert result.stdout.split() == ["/dev/shm:", "/home/agent:", "/tmp:"]

    with_pool(use)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "code", "signalled"),
    [
        ("exit 3", 3, None),
        ("kill -SEGV $$", None, 11),
        ("kill -9 $$", None, 9),
        ("exit 137", 137, None),
    ],
)
def test_exit_codes_and_signals_are_told_apart(
    script: str, code: int | None, signalled: int | None
) -> None:
    result, _ = one(shell(script))
    assert (result.exit_code, result.signal, result.limit) == (code, signalled, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "limits", "limit"),
    [
        ("sleep 100", Limits(wall_s=0.5), "wall"),
        ("while :; do :; done", Limits(wall_s=60, cpu_s=60, wall_hard_s=0.5), "wall_hard"),
        ("while :; do :; done", Limits(wall_s=60, cpu_s=1), "cpu"),
        ("python3 -c 'x = bytearray(3 << 30)'", Limits(memory_bytes=64 << 20), "memory"),
    ],
)
def test_a_limit_that_ended_a_command_is_named(script: str, limits: Limits, limit: str) -> None:
    result, _ = one(shell(f"exec {script}" if limit == "memory" else script), limits=limits)
    if limit == "memory" and result.exit_code == 1:
        assert "MemoryError" in result.stderr  # without a control group the allocation fails
        return
    assert (result.exit_code, result.signal, result.limit) == (None, 9, limit)


@pytest.mark.slow
def test_a_full_disk_and_a_crowd_of_processes_are_the_commands_own_trouble() -> None:
    limits = LIMITS.with_(disk_bytes=1 << 20, processes=8, file_bytes=1 << 24)
    script = """
        head -c 3000000 /dev/zero > big || echo full
        python3 -c 'import os, sys
        try:
            for _ in range(50): os.fork() or os.execvp("sleep", ["sleep", "30"])
        except OSError: print("crowded")'
    """
    result, _ = one(shell(textwrap.dedent(script)), limits=limits)
    assert "full" in result.stdout
    assert "crowded" in result.stdout


@pytest.mark.slow
def test_output_that_is_too_much_keeps_its_beginning_and_its_end() -> None:
    result, _ = one(shell("seq 100000"), limits=LIMITS.with_(output_bytes=100))
    assert result.stdout.startswith("1\n2\n3\n")
    assert result.stdout.endswith("99999\n100000\n")
    assert f"{result.cut_bytes:,} bytes cut" in result.stdout


def test_output_that_fits_is_whole_whatever_its_pieces() -> None:
    kept = BoundedOutput(10)
    for piece in (b"abc", b"defg", b"hij"):
        kept.add(piece)
    assert (kept.text, kept.cut) == ("abcdefghij", 0)
    kept.add(b"k")
    assert (kept.text, kept.cut) == ("abcde\n[... 1 bytes cut ...]\nghijk", 1)


@pytest.mark.slow
def test_standard_input_arguments_environment_and_folder_reach_the_command() -> None:
    command = Command(
        ("bash", "-c", 'cat | wc -c; echo "$1|$X"; pwd', "-", "a b"),
        stdin=b"x" * 200_000,
        cwd="d",
        environ={"X": "1"},
    )
    result, _ = one(command)
    assert result.stdout.split("\n") == ["200000", "a b|1", "/workspace/d", ""]


@pytest.mark.slow
def test_a_command_that_is_not_there_says_so() -> None:
    result, _ = one(Command(("no-such-command",)))
    assert result.exit_code == 127
    assert "no-such-command" in result.stderr
    result, _ = one(Command(("true",), cwd="gone"))
    assert result.exit_code == 127


@pytest.mark.parametrize("argv", [(), ("",), ("a\0b",), ("x" * 200_000,)])
def test_a_command_that_cannot_be_given_is_refused(argv: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        Command(argv)


@pytest.mark.slow
def test_a_module_runs_warm_as_it_does_cold() -> None:
    async def use(pool: CommandPool) -> None:
        tests = b"import sys\ndef test_a(): assert sys.argv[1:] == ['-q', 't.py']\n"
        start = pool.states.load({"t.py": tests + b"def test_b(): assert 0\n"})
        runs = [
            (await pool.run(start, command, limits=LIMITS))[0]
            for command in (
                Command(("pytest", "-q", "t.py"), module=True),
                Command(("python3", "-m", "pytest", "-q", "t.py")),
            )
        ]
        assert [run.exit_code for run in runs] == [1, 1]
        for run in runs:
            assert "1 failed, 1 passed" in run.stdout, run
        other = await pool.run(start, Command(("json.tool", "--help"), module=True), limits=LIMITS)
        assert "usage" in other[0].stdout

    with_pool(use)


@pytest.mark.slow
def test_sockets_and_pipes_are_left_out_and_told() -> None:
    result, after = one(shell("mkfifo p; touch f"))
    assert result.left_out == ("p",)
    assert "p" not in after.tree.entries
    assert "f" in after.tree.entries


@pytest.mark.slow
def test_a_workspace_that_nobody_may_enter_is_a_state_as_any_other() -> None:
    async def use(pool: CommandPool) -> None:
        start = pool.states.load(FILES)
        _, shut = await pool.run(start, shell("chmod 0 d/x d ."), limits=LIMITS)
        result, after = await pool.run(shut, shell("true"), limits=LIMITS)
        assert result.exit_code == 127
        assert after is shut
        opened = pool.states.edited(shut, {"a.txt": b"b"})
        assert opened.read("d/x") == b"x"

    with_pool(use)


async def sleeps(mark: str) -> None:
    """Wait until a `sleep` of so many seconds runs."""
    deadline = time.monotonic() + 60
    while not any(b"sleep\0" + mark.encode() in words for words in command_lines().values()):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


@pytest.mark.slow
def test_a_lost_supervisor_is_replaced_and_its_command_run_again() -> None:
    async def use(pool: CommandPool) -> None:
        start = pool.states.load({})
        await pool.run(start, shell("true"), limits=LIMITS)
        mark = f"3.00{os.getpid()}"
        running = asyncio.ensure_future(
            pool.run(start, shell(f"sleep {mark}; echo done > f"), limits=LIMITS)
        )
        await sleeps(mark)
        os.kill(pool.supervisor_pids()[0], signal.SIGKILL)
        result, after = await running
        assert (result.exit_code, pool.replaced) == (0, 1)
        assert after.read("f") == b"done\n"

    with_pool(use)


@pytest.mark.slow
def test_a_cancelled_command_ends_and_its_place_is_free_again() -> None:
    async def use(pool: CommandPool) -> None:
        start = pool.states.load({})
        mark = f"7{os.getpid()}.5"
        running = asyncio.ensure_future(pool.run(start, shell(f"sleep {mark}"), limits=LIMITS))
        await sleeps(mark)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        result, _ = await pool.run(start, shell("echo next"), limits=LIMITS)
        assert result.stdout == "next\n"
        assert not [words for words in command_lines().values() if mark.encode() in words]

    with_pool(use)


@pytest.mark.slow
def test_nothing_is_left_of_a_host_that_was_killed(tmp_path: Path) -> None:
    program = textwrap.dedent(
        f"""
        import asyncio
        from pathlib import Path
        from unhack.sandbox.limits import Limits
        from unhack.sandbox.workspace.command_pool import CommandPool
        from unhack.sandbox.workspace.commands import shell
        async def main():
            pool = CommandPool(slots=1)
            start = pool.states.load({{"a": b"1"}})
            Path({str(tmp_path / "top")!r}).write_text(pool.states.layers.top)
            await pool.run(start, shell("sleep 6{os.getpid()}.75"), limits=Limits(wall_s=600))
        asyncio.run(main())
        """
    )
    host = subprocess.Popen([sys.executable, "-c", program])
    mark = f"6{os.getpid()}.75".encode()
    deadline = time.monotonic() + 60

    def alive() -> bool:
        return any(b"sleep\0" + mark in words for words in command_lines().values())

    while not alive() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive()
    host.kill()
    host.wait()
    top = Path((tmp_path / "top").read_text())
    deadline = time.monotonic() + 60
    while (alive() or top.exists()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive()
    assert not top.exists()


@pytest.mark.slow
def test_where_overlays_are_refused_a_plain_copy_gives_the_same_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = Supervisor.start

    async def without_overlay(supervisor: Supervisor) -> None:
        await started(supervisor)
        supervisor.overlay = False

    script = """
        ./tool; echo new > n.txt; rm a.txt d/x; mkdir empty; chmod 750 d; ln -s /etc l
        rm -r d && mkdir d && echo z > d/z
    """

    async def ids(pool: CommandPool) -> list[str]:
        start = pool.states.load(FILES, executable={"tool"})
        result, one = await pool.run(start, shell(script), limits=LIMITS)
        assert (result.stdout, pool.overlay) == ("tool\n", overlay)
        edited = pool.states.edited(one, {"d/m": b"2", "n.txt": None})
        _, two = await pool.run(edited, shell("cat d/m > m; rm -r d; touch d"), limits=LIMITS)
        same, three = await pool.run(two, shell("ls -a"), limits=LIMITS)
        assert same.stdout.split() == [".", "..", "d", "empty", "l", "m", "tool"]
        assert three is two
        return [start.id, one.id, edited.id, two.id]

    found: list[list[str]] = []
    for overlay in (True, False):
        if not overlay:
            monkeypatch.setattr(Supervisor, "start", without_overlay)

        async def use(pool: CommandPool) -> None:
            found.append(await ids(pool))

        with_pool(use)
    assert found[0] == found[1]


KEPT = (("/tmp", ".tmp"), ("/home/agent", ".home"))


def test_tmp_and_home_last_where_they_are_folders_of_the_workspace() -> None:
    async def main() -> None:
        async with CommandPool(slots=1, preload=(), kept=KEPT) as pool:
            start = pool.states.load({})
            _, after = await pool.run(start, shell("echo t > /tmp/t; echo h > ~/h"), limits=LIMITS)
            assert after.read(".tmp/t") == b"t\n"
            result, _ = await pool.run(after, shell("cat /tmp/t ~/h"), limits=LIMITS)
            assert result.stdout == "t\nh\n"

    asyncio.run(main())


@pytest.mark.parametrize("target", ["/", "/.layers", "/etc", "/proc/1", "nothing"])
def test_a_link_in_the_place_of_a_kept_folder_is_not_followed(target: str) -> None:
    async def main() -> None:
        async with CommandPool(slots=1, preload=(), kept=KEPT) as pool:
            script = f"rm -rf .tmp .home; ln -s {target} .tmp; ln -s {target} .home"
            _, after = await pool.run(pool.states.load({}), shell(script), limits=LIMITS)
            result, _ = await pool.run(after, shell("ls -A /tmp ~; touch /tmp/x"), limits=LIMITS)
            assert (result.exit_code, result.stdout) == (0, "/home/agent:\n\n/tmp:\n")

    asyncio.run(main())
