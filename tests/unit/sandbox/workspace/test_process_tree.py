"""A process tree: one workspace, one network of its own, one life."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from unhack.core.errors import SandboxUnavailableError, UsageError
from unhack.sandbox.linux import freezer, seccomp
from unhack.sandbox.linux.processes import command_lines
from unhack.sandbox.rootfs import inside, interpreter
from unhack.sandbox.workspace.process_tree import ProcessTree, ProcessTreePlan

SMALL = ProcessTreePlan(disk_bytes=32 << 20, memory_bytes=1 << 30, processes=64)


def shell(command: str, *, plan: ProcessTreePlan = SMALL) -> tuple[str, ProcessTree]:
    """What a shell prints inside until it ends, and its process tree, closed."""
    with ProcessTree(["/bin/sh", "-c", command], plan=plan) as tree:
        assert tree.wait(timeout_s=60)
        os.set_blocking(tree.stdout, False)
        os.set_blocking(tree.stderr, False)
        said = b""
        for fd in (tree.stdout, tree.stderr):
            with contextlib.suppress(BlockingIOError):
                said += os.read(fd, 1 << 16)
    return said.decode(), tree


def alive(needle: str) -> int:
    """How many processes of the host have this in their command line."""
    others = {pid: words for pid, words in command_lines().items() if pid != os.getpid()}
    return sum(needle.encode() in words for words in others.values())


def settles(function: object, *, within_s: float = 60.0) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if function():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False


def test_files_go_in_and_come_out() -> None:
    plan = ProcessTreePlan(
        workspace={"given/a.txt": b"given"},
        home={"bin/tool": b"#!/bin/sh\necho tool ran\n", ".settings": b"s"},
        disk_bytes=32 << 20,
    )
    command = ["/bin/sh", "-c", "cat given/a.txt ~/.settings > out.txt; tool; mkdir d; id > d/id"]
    with ProcessTree(command, plan=plan) as tree:
        assert tree.wait(timeout_s=60)
        assert tree.exit_status is not None
        assert tree.exit_status.exit_code == 0
        assert os.read(tree.stdout, 100) == b"tool ran\n"
        files = tree.read(("**",), max_files=9, max_bytes=9999)
    assert files["out.txt"] == b"givens"
    assert set(files) == {"given/a.txt", "out.txt", "d/id"}


@pytest.mark.parametrize("path", ["../x", "/x", "a//b", "a/./b", ""])
def test_a_file_cannot_be_put_outside(path: str) -> None:
    with pytest.raises(ValueError, match="no relative path"), ProcessTree(
        ["/bin/true"], plan=ProcessTreePlan(workspace={path: b""})
    ):  # fmt: skip
        pass


def test_reading_stops_when_there_is_too_much() -> None:
    command = "for i in 1 2 3 4 5 6 7 8 9; do head -c 1000 /dev/zero > f$i; done; sleep 60"
    with ProcessTree(["/bin/sh", "-c", command], plan=SMALL) as tree:
        assert settles(lambda: len(tree.read(("f*",), max_files=99, max_bytes=99999)) == 9)
        assert len(tree.read(("f*",), max_files=3, max_bytes=99999)) == 4
        assert sum(map(len, tree.read(("f*",), max_files=99, max_bytes=1500).values())) == 1501


def test_the_exit_code_is_that_of_the_command() -> None:
    assert shell("exit 7")[1].exit_status.exit_code == 7  # type: ignore[union-attr]
    assert shell("kill -9 $$")[1].exit_status.exit_code == 137  # type: ignore[union-attr]


def test_a_tree_whose_supervisor_left_an_order_unread_has_ended() -> None:
    with ProcessTree(["/bin/sleep", "600"], plan=SMALL) as tree:
        status = Path(f"/proc/{tree.pid}/status").read_text()
        supervisor = int(status.partition("PPid:")[2].split()[0])
        os.kill(supervisor, signal.SIGSTOP)
        tree.kill()  # it will not read this
        os.kill(supervisor, signal.SIGKILL)
        assert tree.wait(timeout_s=60)
        assert tree.exit_status is not None
        assert tree.exit_status.exit_code is None


def test_a_command_that_is_not_there_is_told() -> None:
    with ProcessTree(["/usr/bin/no-such-command"], plan=SMALL) as tree:
        assert tree.wait(timeout_s=60)
        assert "no-such-command" in tree.failure


def test_a_socket_inside_is_served_from_outside() -> None:
    code = (
        "import socket; s = socket.create_connection(('127.0.0.1', 8080), 60); "
        "s.sendall(b'hello'); print(s.recv(10).decode())"
    )
    with ProcessTree([inside(interpreter()), "-I", "-c", code], plan=SMALL) as tree:
        link, _ = tree.listeners[0].accept()
        with link:
            link.sendall(link.recv(10).upper())
        assert tree.wait(timeout_s=60)
        assert os.read(tree.stdout, 100) == b"HELLO\n"


def test_a_terminal_of_its_own_can_be_opened() -> None:
    said, _ = shell(f"{inside(interpreter())} -I -c 'import pty; pty.spawn([\"tty\"])'")
    assert "/dev/pts/0" in said


def test_a_program_below_a_covered_directory_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "shown"
    folder.mkdir()
    (folder / "a.txt").write_text("seen")
    folder.chmod(0o755)
    (folder / "a.txt").chmod(0o644)
    inside = "/tmp/deep/down"
    plan = ProcessTreePlan(binds=((str(folder), inside),), disk_bytes=32 << 20)
    said, _ = shell(f"cat {inside}/a.txt; echo x > {inside}/a.txt; rm -rf {inside}", plan=plan)
    assert said.startswith("seen")
    assert (folder / "a.txt").read_text() == "seen"


def test_a_bind_that_is_not_there_is_bad_usage() -> None:
    with pytest.raises(UsageError), ProcessTree(
        ["/bin/true"], plan=ProcessTreePlan(binds=(("/no/such/folder", "/x"),))
    ):  # fmt: skip
        pass


def counting(tree: ProcessTree) -> int:
    return len(tree.read(("ticks",), max_files=1, max_bytes=1 << 24).get("ticks", b""))


TICKING = ["/bin/sh", "-c", "while true; do printf x >> ticks; sleep 0.02; done"]


@pytest.mark.slow
def test_a_frozen_tree_stands_still_and_goes_on_after() -> None:
    with ProcessTree(TICKING, plan=SMALL) as tree:
        assert settles(lambda: counting(tree) > 3)
        tree.freeze()
        before = counting(tree)
        time.sleep(0.3)
        assert counting(tree) == before
        tree.thaw()
        assert settles(lambda: counting(tree) > before)


@pytest.mark.slow
def test_it_stands_still_until_every_holder_has_let_go() -> None:
    with ProcessTree(TICKING, plan=SMALL) as tree:
        assert settles(lambda: counting(tree) > 0)
        tree.freeze()
        tree.freeze(holder="other")
        tree.thaw(holder="other")
        before = counting(tree)
        time.sleep(0.2)
        assert counting(tree) == before
        tree.thaw()
        assert settles(lambda: counting(tree) > before)


def test_what_starts_programs_all_the_time_can_be_stopped_by_signals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A shell that called vfork(2) hears nothing while its child is stopped."""
    only(monkeypatch, 0)
    loop = ["/bin/sh", "-c", "touch ticks; while true; do /bin/true; done"]
    with ProcessTree(loop, plan=SMALL) as tree:
        assert settles(lambda: "ticks" in tree.read(("ticks",), max_files=1, max_bytes=1))
        for _ in range(40):
            tree.freeze()
            tree.thaw()


def only(monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    """Leave one kind of freezer: a control group of version 1 or 2, or signals (0)."""
    found = [place for place in freezer.parents() if place[1] == version]
    if version and not found:
        pytest.skip(f"this host delegates no freezer of version {version}")
    monkeypatch.setattr(freezer, "parents", lambda: found)


@pytest.mark.parametrize("version", [2, 1, 0])
def test_every_kind_of_freezer_stops_a_tree(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, version)
    with ProcessTree(TICKING, plan=SMALL) as tree:
        made = tree._freezer
        assert made is not None
        assert made.version == version
        assert settles(lambda: counting(tree) > 0)
        tree.freeze()
        tree.freeze()
        before = counting(tree)
        time.sleep(0.2)
        assert counting(tree) == before
        tree.thaw()
        assert settles(lambda: counting(tree) > before)
        group = list(made.group.directories)
    assert not any(path.exists() for path in group)


STUBBORN = (
    "import os, signal, sys, time\n"
    "for number in range(1, 65):\n"
    "    try: signal.signal(number, signal.SIG_IGN)\n"
    "    except (OSError, ValueError): pass\n"
    "for _ in range(3):\n"
    "    if os.fork() == 0: os.setsid()\n"
    "open('ready', 'a').write('x')\n"
    "while True: time.sleep(1)\n"
)


@pytest.mark.parametrize("version", [2, 1, 0])
@pytest.mark.parametrize("frozen", [False, True])
def test_killing_it_leaves_no_process(
    frozen: bool, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, version)
    mark = f"mark-{os.getpid()}-{frozen}-{version}"
    with ProcessTree([inside(interpreter()), "-I", "-c", STUBBORN, mark], plan=SMALL) as tree:
        assert settles(lambda: alive(mark) >= 8)
        if frozen:
            tree.freeze()
        tree.kill()
        assert tree.wait(timeout_s=60)
        assert settles(lambda: alive(mark) == 0)


HOST = """
    import sys, time
    from unhack.sandbox.linux import freezer
    from unhack.sandbox.workspace.process_tree import ProcessTree, ProcessTreePlan
    places = [place for place in freezer.parents() if place[1] == {version}]
    freezer.parents = lambda: places
    with ProcessTree([{python!r}, "-I", "-c", {code!r}, {mark!r}], plan=ProcessTreePlan()) as tree:
        if {frozen}:
            while tree.read(("ready",), max_files=1, max_bytes=9) != {{"ready": b"x" * 8}}:
                time.sleep(0.02)
            tree.freeze()
        print("up", flush=True)
        time.sleep(120)
"""


@pytest.mark.slow
@pytest.mark.parametrize("version", [2, 1, 0])
@pytest.mark.parametrize("frozen", [False, True])
def test_killing_the_host_leaves_no_process(frozen: bool, version: int) -> None:
    mark = f"mark-host-{os.getpid()}-{frozen}-{version}"
    values = {"code": STUBBORN, "mark": mark, "frozen": frozen, "version": version}
    code = textwrap.dedent(HOST.format(python=inside(interpreter()), **values))
    host = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert host.stdout is not None
    try:
        assert host.stdout.readline() == b"up\n"
        assert settles(lambda: alive(mark) >= 9)
    finally:
        host.kill()
        host.wait()
        host.stdout.close()
    assert settles(lambda: alive(mark) == 0)


def test_two_trees_do_not_see_each_other() -> None:
    with ProcessTree(["/bin/sh", "-c", "echo mine > secret; sleep 60"], plan=SMALL) as other:
        assert settles(lambda: other.read(("secret",), max_files=1, max_bytes=99))
        said, _ = shell("ls /workspace; ls /proc | grep -c '^[0-9]'; cat /workspace/secret")
    assert "mine" not in said


def test_the_environment_is_the_plan_s_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "real-key")
    said, _ = shell("env", plan=ProcessTreePlan(environ={"A": "b"}, disk_bytes=32 << 20))
    assert "real-key" not in said
    names = {line.partition("=")[0] for line in said.splitlines()}
    assert names <= {"A", "HOME", "TMPDIR", "PATH", "LANG", "PWD", "OLDPWD", "SHLVL", "_"}


@pytest.mark.slow
def test_a_thread_of_the_host_may_end_while_it_runs() -> None:
    trees: list[ProcessTree] = []

    def start() -> None:
        tree = ProcessTree(["/bin/sh", "-c", "sleep 1; echo on"], plan=SMALL)
        trees.append(tree.__enter__())

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    [tree] = trees
    try:
        assert tree.wait(timeout_s=60)
        assert tree.exit_status is not None
        assert tree.exit_status.exit_code == 0
    finally:
        tree.close()


def test_a_listening_port_of_the_host_is_not_inside() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        _, tree = shell(f'{inside(interpreter())} -I -c "{code}"')
    assert tree.exit_status is not None
    assert tree.exit_status.exit_code != 0


def test_a_host_that_cannot_filter_calls_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "is_supported", lambda: False)
    with (
        pytest.raises(SandboxUnavailableError, match="doctor"),
        ProcessTree(["/bin/true"], plan=SMALL),
    ):
        pass


@pytest.mark.slow
def test_a_host_without_namespaces_refuses_and_says_why() -> None:
    # A user namespace of its own with no room for others stands for such a host.
    code = (
        "from unhack.core.errors import SandboxUnavailableError as E\n"
        "from unhack.sandbox.workspace.process_tree import ProcessTree, ProcessTreePlan\n"
        "from unhack.sandbox.linux import calls\n"
        "open('/proc/sys/user/max_user_namespaces')\n"
        "calls.unshare(calls.CLONE_NEWUSER)\n"
        "open('/proc/sys/user/max_user_namespaces', 'w').write('0')\n"
        "try:\n"
        "    ProcessTree(['/bin/true'], plan=ProcessTreePlan()).__enter__()\n"
        "except E as error: print('refused:', error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    if "Permission" in done.stderr:
        pytest.skip("this host does not let a user namespace be limited")
    assert "refused: no agent can be isolated here" in done.stdout, done.stderr
    assert "unhack doctor" in done.stdout
